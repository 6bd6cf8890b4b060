//! `bakeoff list`: the catalogs, and the keys of each entry.

use crate::arguments::ListOptions;
use crate::display::print;
use crate::exit::{Ended, Exit};
use anyhow::Result;
use serde_json::json;
use settings::{Key, nearest};
use std::fmt::Write as _;

/// One entry of any catalog.
struct Entry {
    catalog: &'static str,
    kind: &'static str,
    meaning: &'static str,
    keys: &'static [Key],
}

pub fn list(options: &ListOptions) -> Result<Exit> {
    let mut entries = entries();
    if let Some(wanted) = &options.entry {
        let known: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
        if !known.contains(&wanted.as_str()) {
            let near = nearest(wanted, known.iter().copied());
            let near = near.map(|word| format!("; did you mean {word}?")).unwrap_or_default();
            let known = known.join(", ");
            return Err(Ended::bad_input(format!("there is no entry {wanted:?}{near}\nknown are {known}")).into());
        }
        entries.retain(|entry| entry.kind == wanted);
    }
    if options.json {
        let entries: Vec<_> = entries.iter().map(as_json).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&entries)?));
    } else {
        print(&text(&entries, options.entry.is_some())?);
    }
    Ok(Exit::Done)
}

/// All kinds that can be asked for.
pub fn names() -> Vec<&'static str> {
    entries().into_iter().map(|entry| entry.kind).collect()
}

/// The keys of one entry.
pub fn keys(kind: &str) -> Option<&'static [Key]> {
    entries().into_iter().find(|entry| entry.kind == kind).map(|entry| entry.keys)
}

fn entries() -> Vec<Entry> {
    let platforms = platforms::catalog::PLATFORMS.iter();
    let engines = engines::catalog::ENGINES.iter();
    let workloads = workloads::catalog::WORKLOADS.iter();
    let study = [
        Entry { catalog: "study", kind: "study", meaning: "top of a study file", keys: study::STUDY },
        Entry { catalog: "study", kind: "machine", meaning: "the shape every contender gets", keys: study::MACHINE },
        Entry {
            catalog: "study",
            kind: "engine",
            meaning: "what the table of every engine holds, too",
            keys: study::ENGINE,
        },
        Entry { catalog: "study", kind: "load", meaning: "who works on the database, and how long", keys: study::LOAD },
        part("disk", "table in [machine]: disk = { size = \"4GiB\" }", disk()),
        part(
            "contender",
            "table [[contender]]: name, platform, baseline = true for one, and set = { \"KEY\" = value }",
            &[],
        ),
        part("scenario", "table [[scenario]]: name and set = { \"KEY\" = value }; every contender runs in each", &[]),
        part("sweep", "table [sweep]: \"KEY\" = [values]; every contender runs with each value", &[]),
        part(
            "ablation",
            "table [ablation]: of = CONTENDER, with [[ablation.change]]: name and set = { \"KEY\" = value }",
            study::ABLATION,
        ),
        part("accept", "table [accept]: CODE = \"reason\" accepts a warning (bakeoff explain CODE)", &[]),
    ];
    platforms
        .map(|entry| Entry { catalog: "platform", kind: entry.kind, meaning: entry.meaning, keys: entry.keys })
        .chain(engines.map(|entry| Entry {
            catalog: "engine",
            kind: entry.kind,
            meaning: entry.meaning,
            keys: entry.keys,
        }))
        .chain(workloads.map(|entry| Entry {
            catalog: "workload",
            kind: entry.kind,
            meaning: entry.meaning,
            keys: entry.keys,
        }))
        .chain(study)
        .collect()
}

/// A part of a study file that its author may look up.
const fn part(kind: &'static str, meaning: &'static str, keys: &'static [Key]) -> Entry {
    Entry { catalog: "study", kind, meaning, keys }
}

/// The keys of the table `machine.disk`.
fn disk() -> &'static [Key] {
    let holds = study::MACHINE.iter().find(|key| key.name == "disk").map(|key| key.holds);
    if let Some(settings::Holds::Table(inner)) = holds { inner } else { &[] }
}

fn text(entries: &[Entry], with_keys: bool) -> Result<String> {
    let mut text = String::new();
    for entry in entries {
        writeln!(text, "{:<9} {:<14} {}", entry.catalog, entry.kind, entry.meaning)?;
        if with_keys {
            write_keys(&mut text, entry.keys, "")?;
        }
    }
    if !with_keys {
        writeln!(text, "\n`bakeoff list ENTRY` shows its keys")?;
    }
    Ok(text)
}

fn write_keys(text: &mut String, keys: &[Key], above: &str) -> std::fmt::Result {
    for key in keys {
        let name = format!("{above}{}", key.name);
        let default = match key.default {
            None => "must be given".to_owned(),
            Some("") => "may be absent".to_owned(),
            Some(default) => format!("default {default}"),
        };
        writeln!(text, "    {name:<24} {}", key.meaning)?;
        writeln!(text, "    {:<24} {}; {default}", "", key.holds)?;
        if let settings::Holds::Table(inner) = key.holds {
            write_keys(text, inner, &format!("{name}."))?;
        }
    }
    Ok(())
}

fn as_json(entry: &Entry) -> serde_json::Value {
    json!({
        "catalog": entry.catalog, "kind": entry.kind, "meaning": entry.meaning, "keys": keys_as_json(entry.keys),
    })
}

fn keys_as_json(keys: &[Key]) -> Vec<serde_json::Value> {
    let one = |key: &Key| {
        let inner = if let settings::Holds::Table(inner) = key.holds { keys_as_json(inner) } else { Vec::new() };
        json!({
            "name": key.name, "meaning": key.meaning, "default": key.default,
            "expected": key.holds.to_string(), "keys": inner,
        })
    };
    keys.iter().map(one).collect()
}
