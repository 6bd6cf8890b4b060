//! `bakeoff list`: the catalogs, and the keys of each entry.

use crate::arguments::ListOptions;
use crate::catalog::{Entry, entries};
use crate::display::print;
use crate::exit::{EndedWith, Exit};
use anyhow::Result;
use serde_json::json;
use settings::{Key, nearest};
use std::fmt::Write as _;

pub fn list(options: &ListOptions) -> Result<Exit> {
    let mut entries = entries();
    if let Some(wanted) = &options.entry {
        let known: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
        if !known.contains(&wanted.as_str()) {
            let near = nearest(wanted, known.iter().copied());
            let near = near.map(|word| format!("; did you mean {word}?")).unwrap_or_default();
            let known = known.join(", ");
            return Err(EndedWith::bad_input(format!("there is no entry {wanted:?}{near}\nknown are {known}")).into());
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
