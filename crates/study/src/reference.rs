//! A study with every existing key, each with its meaning, its allowed values and its default.
//!
//! It is made from the same lists that studies are checked against, so the two always agree.

use crate::ablation;
use crate::catalogs::{Catalogs, Kind};
use crate::keys::{ABLATION, DURABILITY, ENGINE, LOAD, MACHINE, STUDY};
use crate::problems::below;
use record::settings::key::KIND;
use settings::{Holds, Key};
use std::fmt::Write;

const HEAD: &str = "\
# Every key of a study: its meaning, what it may hold, and its default. This study can be planned.
#
# Keys with a default may be left out; a key that is commented out has none and is absent unless given. Where a table is
# commented out, it is what the table above it holds for another kind. Unknown keys are errors.
";

const CONTENDERS: &str = r#"
# Contenders: what is compared. Each has a name and those keys of any table that are to differ for it, either in tables as
# here or dotted as in set = { "machine.kernel" = "debian-13" }. Exactly one is the baseline that the others are compared
# with: the one marked so, else the first.
"#;

const OVERRIDES: &str = r#"
# Scenarios (optional): named sets of overrides, each crossed with every contender.
[[scenario]]
name = "large disk"
set = { "machine.disk.size" = "20GiB" }

[[scenario]]
name = "small disk"
set = { "machine.disk.size" = "10GiB" }

# Sweeps (optional): lists of values, crossed with each other, with every scenario and with every contender. A key that a
# contender or a scenario sets cannot be swept.
[sweep]
"load.clients" = [1, 4]
"#;

const ABLATION_HEAD: &str = r"
# One change at a time (optional): each change of a contender becomes a contender of its own, and the report has its effect.
# Changes that its platform cannot make are skipped and reported.
# [ablation]
";

const CHANGE: &str = r#"#
# A change: a name, and keys of any table as a contender has them.
# [[ablation.change]]
# name = "writeback"
# set = { "platform.disk.cache" = "writeback" }
"#;

const ACCEPT: &str = r#"
# Findings that are known and do not matter here (optional): their codes, each with the reason. The report lists them with
# it, below what it warns of. "bakeoff explain" lists all codes; those that make figures wrong cannot be accepted.
[accept]
# host-is-guest = "we only compare guests with each other"
"#;

/// Examples for required keys, or for one of several of which one is required: what a person would write first.
const EXAMPLES: [(&str, &str); 8] = [
    ("ablation.of", "\"qemu\""),
    ("question", "\"What does each platform cost an order-entry database?\""),
    ("machine.vcpus", "1"),
    ("machine.memory", "\"1GiB\""),
    ("load.clients", "4"),
    ("load.warmup", "\"30s\""),
    ("load.measure", "\"2m\""),
    ("platform.host", "\"…\""),
];

/// Comments are as wide as code.
const WIDTH: usize = 120;

/// The whole reference, as TOML.
pub fn reference(catalogs: &Catalogs) -> String {
    let mut text = HEAD.to_owned();
    keys(&mut text, "", "", STUDY, ReferenceText::Live);
    table(&mut text, "machine", "The shape that every contender gets.", MACHINE);
    kinds(&mut text, "engine", &catalogs.engines, ENGINE);
    kinds(&mut text, "workload", &catalogs.workloads, &[]);
    table(
        &mut text,
        "load",
        "Who works on the database of each machine, and for how long. decision-support workloads have phases of their own, which \
            decide that: beside them, clients, warmup, measure and what belongs to them are left out.",
        LOAD,
    );
    table(
        &mut text,
        "audit.durability",
        "Whether acknowledged transactions survive (optional): with this table, a run audits each contender after its trials.",
        DURABILITY,
    );
    text.push_str(ACCEPT);
    text.push_str(CONTENDERS);
    for (at, platform) in catalogs.platforms.iter().enumerate() {
        contender(&mut text, platform, at == 0);
    }
    text.push_str(OVERRIDES);
    text.push_str(ABLATION_HEAD);
    keys(&mut text, ablation::TABLE, ablation::TABLE, ABLATION, ReferenceText::CommentedOut);
    text.push_str(CHANGE);
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReferenceText {
    Live,
    CommentedOut,
}

fn table(text: &mut String, name: &str, meaning: &str, list: &[Key]) {
    text.push('\n');
    comment(text, meaning);
    line(text, &format!("[{name}]"), ReferenceText::Live);
    keys(text, name, name, list, ReferenceText::Live);
}

/// The first kind is live; the others are comments that show their keys. `common` are keys that all kinds have.
fn kinds(text: &mut String, part: &str, kinds: &[Kind], common: &[Key]) {
    for (at, entry) in kinds.iter().enumerate() {
        let written = if at == 0 { ReferenceText::Live } else { ReferenceText::CommentedOut };
        text.push('\n');
        comment(text, &capitalized(entry.meaning));
        line(text, &format!("[{part}]"), written);
        line(text, &format!("{KIND} = \"{}\"", entry.kind), written);
        keys(text, part, part, entry.keys, written);
        if written == ReferenceText::Live {
            keys(text, part, part, common, written);
        }
    }
}

fn contender(text: &mut String, platform: &Kind, baseline: bool) {
    text.push('\n');
    comment(text, &capitalized(platform.meaning));
    let head = format!("[[contender]]\nname = \"{}\"\nbaseline = {baseline}\n", platform.kind);
    let head = format!("{head}\n[contender.platform]\n{KIND} = \"{}\"\n", platform.kind);
    text.push_str(&head);
    keys(text, "platform", "contender.platform", platform.keys, ReferenceText::Live);
}

/// The keys of the table with this TOML `header`; inner tables come last, as TOML requires.
fn keys(text: &mut String, path: &str, header: &str, list: &[Key], written: ReferenceText) {
    let is_table = |key: &&Key| matches!(key.holds, Holds::Table(_));
    for key in list.iter().filter(|key| !is_table(key)) {
        text.push_str(if written == ReferenceText::Live { "\n" } else { "#\n" });
        comment(text, &told(key));
        comment(text, &holds(key));
        let path = below(path, key.name);
        let absent =
            if key.default == Some("") && example(&path).is_none() { ReferenceText::CommentedOut } else { written };
        line(text, &format!("{} = {}", key.name, value(&path, key)), absent);
    }
    for key in list.iter().filter(is_table) {
        let Holds::Table(inner) = key.holds else { continue };
        let header = below(header, key.name);
        let written = if key.default == Some("") { ReferenceText::CommentedOut } else { written };
        text.push_str(if written == ReferenceText::Live { "\n" } else { "#\n" });
        comment(text, &told(key));
        line(text, &format!("[{header}]"), written);
        keys(text, &below(path, key.name), &header, inner, written);
    }
}

/// A key's meaning as the start of a sentence. A word that is a value of the key keeps its case.
fn told(key: &Key) -> String {
    let first = key.meaning.split([' ', ':', ',']).next().unwrap_or_default();
    match key.holds {
        Holds::Choice(words) if words.contains(&first) => key.meaning.to_owned(),
        _ => capitalized(key.meaning),
    }
}

fn capitalized(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A key's allowed values and its default, as a sentence.
fn holds(key: &Key) -> String {
    let holds = key.holds.to_string();
    let holds = capitalized(&holds);
    match key.default {
        None => format!("{holds}; must be given."),
        Some("") => format!("{holds}; absent unless given."),
        Some(default) => format!("{holds}; default {}.", in_toml(default, key.holds)),
    }
}

/// The value to show: the default, or an example.
fn value(path: &str, key: &Key) -> String {
    let example = example(path);
    let default = key.default.filter(|default| !default.is_empty()).map(|default| in_toml(default, key.holds));
    default.or(example).unwrap_or_else(|| any(key.holds))
}

fn example(path: &str) -> Option<String> {
    EXAMPLES.iter().find(|(name, _)| *name == path).map(|(_, value)| (*value).to_owned())
}

/// A default as TOML; catalogs may omit its quotes.
fn in_toml(default: &str, holds: Holds) -> String {
    let is_text = match holds {
        Holds::Text | Holds::Choice(_) | Holds::Span { .. } | Holds::Rate { .. } | Holds::Share { .. } => true,
        Holds::Size { .. } | Holds::Count { .. } | Holds::IntegerOr { .. } => default.parse::<u64>().is_err(),
        Holds::Boolean
        | Holds::Integer { .. }
        | Holds::Number { .. }
        | Holds::Table(_)
        | Holds::Entry
        | Holds::Words
        | Holds::Files { .. } => false,
    };
    if is_text { format!("\"{}\"", default.trim_matches('"')) } else { default.to_owned() }
}

/// Some value that the key accepts.
fn any(holds: Holds) -> String {
    match holds {
        Holds::Boolean => "false".to_owned(),
        Holds::Integer { min, .. } | Holds::IntegerOr { min, .. } => min.to_string(),
        Holds::Count { min, .. } => min.to_string(),
        Holds::Number { min, .. } => format!("{min:?}"),
        Holds::Text => "\"…\"".to_owned(),
        Holds::Words => "[\"…\"]".to_owned(),
        Holds::Choice(words) => format!("\"{}\"", words.first().copied().unwrap_or_default()),
        Holds::Size { min, .. } => format!("\"{}\"", settings::Bytes(min)),
        Holds::Span { min_ms, .. } => format!("\"{}\"", settings::TimeSpan(min_ms)),
        Holds::Rate { .. } => "\"500/s\"".to_owned(),
        Holds::Share { .. } => "\"1%\"".to_owned(),
        Holds::Table(_) => "{}".to_owned(),
        Holds::Entry => "{ kind = \"…\" }".to_owned(),
        Holds::Files { .. } => "[{ name = \"one\", text = \"SELECT 1;\" }]".to_owned(),
    }
}

fn line(text: &mut String, content: &str, written: ReferenceText) {
    let sign = if written == ReferenceText::Live { "" } else { "# " };
    let _ = writeln!(text, "{sign}{content}");
}

/// Writes a comment, broken between words and ending in a full stop, which catalogs omit.
fn comment(text: &mut String, sentence: &str) {
    let sentence = sentence.trim_end_matches('.');
    let stop = if sentence.is_empty() { "" } else { "." };
    let sentence = format!("{sentence}{stop}");
    let mut width = 0;
    for word in sentence.split_whitespace() {
        let needed = word.chars().count() + 1;
        if width == 0 || width + needed > WIDTH {
            text.push_str(if width == 0 { "#" } else { "\n#" });
            width = 1;
        }
        let _ = write!(text, " {word}");
        width += needed;
    }
    if width > 0 {
        text.push('\n');
    }
}
