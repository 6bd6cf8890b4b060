//! Named tables of a study: contenders, scenarios, and changes of an ablation. Each has a name and keys that it overrides.

use crate::overrides::is_inside;
use crate::problems::{Flaw, below};
use crate::source::{Leaf, Section};
use record::settings::TABLES;
use serde_json::{Map, Value};
use settings::nearest;

/// Names appear in headings and on the command line.
const LONGEST_NAME: usize = 40;

/// A `[[contender]]`, a `[[scenario]]` or a change of an ablation: a name and overrides.
pub struct Named {
    pub name: String,
    pub line: usize,
    pub baseline: Option<bool>,
    /// Overrides of the contender that this one is made from, which its own are laid over.
    pub inherited: Vec<Leaf>,
    pub overrides: Vec<Leaf>,
}

impl Named {
    pub fn new(name: String, line: usize) -> Self {
        Self { name, line, baseline: None, inherited: Vec::new(), overrides: Vec::new() }
    }
}

pub fn is_part(path: &str) -> bool {
    TABLES.iter().any(|part| path == *part || is_inside(path, part))
}

pub fn named(kind: &str, own_keys: &[&str], sections: &[Section], problems: &mut Vec<Flaw>) -> Vec<Named> {
    let mut all: Vec<Named> = Vec::new();
    for section in sections {
        let one = one_named(kind, own_keys, section, problems);
        if let Some(first) = all.iter().find(|other| other.name == one.name) {
            let expected = format!("a name of its own; the {kind} in line {} has this one", first.line);
            let found = format!("found \"{}\"", one.name);
            problems.push(Flaw::new(Some(line_of(section, "name")), &below(kind, "name"), found, expected));
        }
        all.push(one);
    }
    all
}

fn one_named(kind: &str, own_keys: &[&str], section: &Section, problems: &mut Vec<Flaw>) -> Named {
    // This name identifies problems until the section's own name is read.
    let name_so_far = format!("in line {}", section.line);
    let mut one = Named::new(name_so_far, section.line);
    for leaf in &section.leaves {
        match leaf.path.as_str() {
            "name" => {
                if let Some(text) = leaf.value.as_str().filter(|text| is_name(text)) {
                    text.clone_into(&mut one.name);
                } else {
                    let (path, found) = (below(kind, "name"), found(&leaf.value));
                    problems.push(Flaw::new(Some(leaf.line), &path, found, NAME_EXPECTED));
                }
            }
            "baseline" if own_keys.contains(&"baseline") => one.baseline = truth(kind, leaf, problems),
            "set" => problems.extend(empty_set(kind, leaf)),
            path => {
                let path = path.strip_prefix("set.").unwrap_or(path).to_owned();
                match part_of_cell(kind, own_keys, &path, leaf.line) {
                    None => one.overrides.push(Leaf { path, ..leaf.clone() }),
                    Some(problem) => problems.push(problem),
                }
            }
        }
    }
    if !section.leaves.iter().any(|leaf| leaf.path == "name") {
        match name_of_shape(&one.overrides).filter(|_| kind == "scenario") {
            Some(name) => one.name = name,
            None => problems.push(Flaw::new(Some(section.line), &below(kind, "name"), "missing", NAME_EXPECTED)),
        }
    }
    refuse_twice(kind, &mut one.overrides, problems);
    one
}

/// The usual name of a scenario that sets the number of machines and their size: "2x4" is two of four vCPUs.
fn name_of_shape(overrides: &[Leaf]) -> Option<String> {
    let number = |path: &str| overrides.iter().find(|leaf| leaf.path == path)?.value.as_u64();
    Some(format!("{}x{}", number("machine.count")?, number("machine.vcpus")?))
}

const NAME_EXPECTED: &str = "a name of at most 40 letters, digits, spaces and the signs - _ . +";

fn is_name(text: &str) -> bool {
    let allowed = |letter: char| letter.is_alphanumeric() || " -_.+".contains(letter);
    !text.trim().is_empty() && text.chars().all(allowed) && text.chars().count() <= LONGEST_NAME
}

fn truth(kind: &str, leaf: &Leaf, problems: &mut Vec<Flaw>) -> Option<bool> {
    if !leaf.value.is_boolean() {
        let path = below(kind, &leaf.path);
        problems.push(Flaw::new(Some(leaf.line), &path, found(&leaf.value), "true or false"));
    }
    leaf.value.as_bool()
}

fn empty_set(kind: &str, leaf: &Leaf) -> Option<Flaw> {
    let expected = "a table of dotted keys with values";
    let empty = leaf.value.as_object().is_some_and(Map::is_empty);
    (!empty).then(|| Flaw::new(Some(leaf.line), &below(kind, "set"), found(&leaf.value), expected))
}

/// Only keys of a cell's tables can differ between cells.
pub fn part_of_cell(kind: &str, own_keys: &[&str], path: &str, line: usize) -> Option<Flaw> {
    if is_part(path) {
        return None;
    }
    let words = own_keys.iter().copied().chain(TABLES).collect::<Vec<_>>();
    let word = path.split('.').next().unwrap_or_default();
    let expected = format!("one of {}", words.join(", "));
    let problem = Flaw::new(Some(line), &below(kind, path), "unknown key", expected);
    Some(problem.with_nearest(nearest(word, words)))
}

/// `set` and a table can both set the same path.
fn refuse_twice(kind: &str, overrides: &mut Vec<Leaf>, problems: &mut Vec<Flaw>) {
    let mut kept: Vec<Leaf> = Vec::new();
    for leaf in overrides.drain(..) {
        match kept.iter().find(|other| other.path == leaf.path) {
            None => kept.push(leaf),
            Some(first) => {
                let expected = format!("each key once; it is set in line {} already", first.line);
                problems.push(Flaw::new(Some(leaf.line), &below(kind, &leaf.path), "set twice", expected));
            }
        }
    }
    *overrides = kept;
}

fn line_of(section: &Section, path: &str) -> usize {
    section.leaves.iter().find(|leaf| leaf.path == path).map_or(section.line, |leaf| leaf.line)
}

pub fn found(value: &Value) -> String {
    match value {
        Value::Object(_) => "found a table".to_owned(),
        Value::Array(_) => "found a list".to_owned(),
        other => format!("found {other}"),
    }
}
