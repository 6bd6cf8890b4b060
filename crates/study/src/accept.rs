//! `[accept]`: codes of findings that the study's author knows about, each with the reason why they do not matter.

use crate::problems::Flaw;
use crate::source::Leaf;
use settings::nearest;
use std::collections::BTreeMap;

pub const ACCEPT: &str = "accept";

/// The code of a finding, and whether a study may accept it.
#[derive(Debug, Clone, Copy)]
pub struct FindingCode {
    pub name: &'static str,
    pub acceptable: bool,
}

/// Accepted codes with their reasons.
pub fn accepted(base: &[Leaf], codes: &[FindingCode], problems: &mut Vec<Flaw>) -> BTreeMap<String, String> {
    let mut accepted = BTreeMap::new();
    for leaf in base {
        if leaf.path == ACCEPT && !leaf.value.as_object().is_some_and(serde_json::Map::is_empty) {
            let found = format!("found {}", leaf.value);
            problems.push(Flaw::new(Some(leaf.line), ACCEPT, found, "a table of codes with reasons"));
        } else if let Some(code) = leaf.path.strip_prefix(ACCEPT).and_then(|path| path.strip_prefix('.')) {
            problems.extend(problem(leaf, code, codes));
            accepted.insert(code.to_owned(), leaf.value.as_str().unwrap_or_default().trim().to_owned());
        }
    }
    accepted
}

fn problem(leaf: &Leaf, name: &str, codes: &[FindingCode]) -> Option<Flaw> {
    let told = |found: String, expected: &str| Some(Flaw::new(Some(leaf.line), &leaf.path, found, expected));
    let Some(code) = codes.iter().find(|code| code.name == name) else {
        let near = nearest(name, codes.iter().map(|code| code.name));
        let unknown = told("unknown code".to_owned(), "the code of a finding (bakeoff explain lists them)");
        return unknown.map(|problem| problem.with_nearest(near));
    };
    if !code.acceptable {
        let expected = "a code that a study may accept; this one makes figures wrong whatever the reason";
        return told(format!("found \"{name}\""), expected);
    }
    let has_reason = leaf.value.as_str().is_some_and(|reason| !reason.trim().is_empty());
    if has_reason { None } else { told(format!("found {}", leaf.value), "the reason, as text in quotes") }
}
