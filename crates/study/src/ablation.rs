//! `[ablation]`: single changes to one contender, each of which becomes a contender of its own.

use crate::catalogs::Catalogs;
use crate::keys::ABLATION;
use crate::named::{Named, named};
use crate::overrides::{Tables, overlap};
use crate::problems::{Flaw, below, quoted};
use crate::source::{Leaf, WrittenAblation};
use record::ablation::{Ablation, Change, Direction};
use record::settings::key::KIND;
use serde::Deserialize;
use serde_json::Map;
use settings::{Holds, Key, nearest};

pub const TABLE: &str = "ablation";
const CHANGE: &str = "ablation.change";
const PLATFORM: &str = "platform";
const UNKNOWN: &str = "unknown key";

#[derive(Deserialize)]
struct AblationTable {
    of: String,
    direction: Direction,
}

/// What is wrong with one contender: by itself, and because its platform cannot make it here.
#[derive(Debug, Default)]
pub struct Wrong {
    pub mistakes: Vec<Flaw>,
    pub refused: Vec<Flaw>,
}

/// What an ablation is made of.
pub struct Ground<'a> {
    pub catalogs: &'a Catalogs,
    /// The tables that every contender begins with.
    pub base: &'a Tables,
    pub check: &'a dyn Fn(&Tables) -> Wrong,
}

/// Adds a contender for each change. Changes that the platform cannot make are kept, with the reason.
pub fn expand(
    written: &WrittenAblation,
    ground: &Ground<'_>,
    contenders: &mut Vec<Named>,
    problems: &mut Vec<Flaw>,
) -> Option<Ablation> {
    let changes = named(CHANGE, &["name", "set"], &written.changes, problems);
    if changes.is_empty() {
        let expected = format!("at least one [[{CHANGE}]] table");
        problems.push(Flaw::new(Some(written.line), CHANGE, "missing", expected));
    }
    for one in changes.iter().filter(|one| one.overrides.is_empty()) {
        let expected = "keys of a contender that it changes, such as set = { \"platform.huge_pages\" = true }";
        problems.push(Flaw::new(Some(one.line), CHANGE, format!("\"{}\" changes nothing", one.name), expected));
    }
    let AblationTable { of, direction } = read(written, problems)?;
    let Some(at) = contenders.iter().position(|contender| contender.name == of) else {
        let names = || contenders.iter().map(|contender| contender.name.as_str());
        let problem = Flaw::new(line(written, "of"), "ablation.of", format!("found \"{of}\""), quoted(names()));
        problems.push(problem.with_nearest(nearest(&of, names())));
        return None;
    };
    let own = contenders[at].overrides.clone();
    let are_apart = direction == Direction::AddOne || apart(&changes, problems);
    let reasons: Vec<Option<String>> = changes.iter().map(|change| ground.why_not(&own, change, problems)).collect();
    let possible: Vec<&Named> =
        changes.iter().zip(&reasons).filter(|(_, why)| why.is_none()).map(|(one, _)| one).collect();
    if are_apart {
        settle_baseline(&of, direction, contenders, problems);
        let of_study = contenders.len();
        for one in added(&of, &own, direction, &possible) {
            if let Some(other) = contenders[..of_study].iter().find(|other| other.name == one.name) {
                let expected = format!("a name that no contender has; the one in line {} has it", other.line);
                let found = format!("found \"{}\"", one.name);
                problems.push(Flaw::new(Some(one.line), &below(CHANGE, "name"), found, expected));
            }
            contenders.push(one);
        }
    }
    let change = |(one, skipped): (&Named, Option<String>)| Change {
        name: one.name.clone(),
        set: one.overrides.iter().map(|leaf| (leaf.path.clone(), leaf.value.clone())).collect(),
        contender: contender_of(&one.name, direction),
        skipped,
    };
    Some(Ablation { of, direction, changes: changes.iter().zip(reasons).map(change).collect() })
}

/// What the changes are compared with is the baseline: the contender as it is, or the one with all changes.
fn settle_baseline(of: &str, direction: Direction, contenders: &mut [Named], problems: &mut Vec<Flaw>) {
    for one in contenders {
        let is_it = direction == Direction::AddOne && one.name == of;
        if one.baseline == Some(true) && !is_it {
            let compared = if direction == Direction::AddOne { of.to_owned() } else { with_all(of) };
            let expected = format!("no baseline, because changes are compared with \"{compared}\"");
            let found = format!("found true for \"{}\"", one.name);
            problems.push(Flaw::new(Some(one.line), "contender.baseline", found, expected));
        }
        one.baseline = Some(is_it);
    }
}

/// The name of the contender with all changes.
fn with_all(of: &str) -> String {
    format!("{of} with all")
}

fn read(written: &WrittenAblation, problems: &mut Vec<Flaw>) -> Option<AblationTable> {
    let table: Map<_, _> = written.leaves.iter().map(|leaf| (leaf.path.clone(), leaf.value.clone())).collect();
    match settings::read(&table, ABLATION) {
        Ok(read) => Some(read),
        Err(found) => {
            problems.extend(found.into_iter().map(|problem| {
                let line = line(written, &problem.path).or(Some(written.line));
                Flaw::from_table(TABLE, line, problem)
            }));
            None
        }
    }
}

fn line(written: &WrittenAblation, name: &str) -> Option<usize> {
    written.leaves.iter().find(|leaf| leaf.path == name).map(|leaf| leaf.line)
}

/// The name of the contender that shows a change's effect.
fn contender_of(change: &str, direction: Direction) -> String {
    match direction {
        Direction::AddOne => change.to_owned(),
        Direction::LeaveOneOut => format!("without {change}"),
    }
}

/// The contenders that an ablation adds.
fn added(of: &str, own: &[Leaf], direction: Direction, possible: &[&Named]) -> Vec<Named> {
    let with = |name: String, changes: &[&Named], baseline: bool| Named {
        name,
        line: changes.first().map_or(0, |change| change.line),
        baseline: Some(baseline),
        inherited: own.to_vec(),
        overrides: changes.iter().flat_map(|change| change.overrides.clone()).collect(),
    };
    let one = |at: usize| {
        let change = possible[at];
        let name = contender_of(&change.name, direction);
        match direction {
            Direction::AddOne => with(name, &[change], false),
            Direction::LeaveOneOut => {
                let others: Vec<&Named> = possible.iter().filter(|other| other.name != change.name).copied().collect();
                with(name, &others, false)
            }
        }
    };
    let all = (direction == Direction::LeaveOneOut).then(|| with(with_all(of), possible, true));
    all.into_iter().chain((0..possible.len()).map(one)).collect()
}

/// Of two changes of one key, all changes would have only one.
fn apart(changes: &[Named], problems: &mut Vec<Flaw>) -> bool {
    let mut are_apart = true;
    for (at, one) in changes.iter().enumerate() {
        for other in &changes[..at] {
            let meets = |leaf: &&Leaf| other.overrides.iter().any(|before| overlap(&before.path, &leaf.path));
            if let Some(leaf) = one.overrides.iter().find(meets) {
                let expected = format!(
                    "keys that no other change sets, because of direction = \"leave-one-out\"; \"{}\" in line {} does",
                    other.name, other.line
                );
                problems.push(Flaw::new(Some(leaf.line), &below(CHANGE, &leaf.path), "changed twice", expected));
                are_apart = false;
            }
        }
    }
    are_apart
}

impl Ground<'_> {
    /// Why the platform cannot make a change. Mistakes of the change itself are problems; those of the contender are reported elsewhere.
    fn why_not(&self, own: &[Leaf], change: &Named, problems: &mut Vec<Flaw>) -> Option<String> {
        let tables = |changes: &[Leaf]| {
            let mut tables = self.base.clone();
            tables.lay_over(own);
            tables.lay_over(changes);
            tables
        };
        let (before, changed) = (tables(&[]), tables(&change.overrides));
        let (known, found) = ((self.check)(&before), (self.check)(&changed));
        let is_new = |problem: &&Flaw| ![&known.mistakes, &known.refused].into_iter().any(|all| all.contains(problem));
        let kind = changed.get(&below(PLATFORM, KIND)).and_then(|kind| kind.as_str()).unwrap_or_default();
        let (lacking, mistakes): (Vec<&Flaw>, Vec<&Flaw>) =
            found.mistakes.iter().filter(is_new).partition(|problem| self.is_of_another_platform(problem));
        problems.extend(
            mistakes.into_iter().map(|problem| Flaw { contenders: vec![change.name.clone()], ..problem.clone() }),
        );
        let lacking = lacking.first().map(|problem| format!("the platform {kind} has no {}", problem.path));
        lacking.or_else(|| {
            let refused = found.refused.iter().find(is_new)?;
            Some(format!("{}: {}; expected {}", refused.path, refused.found, refused.expected))
        })
    }

    /// Whether this is a key that this platform does not have, but another one has.
    fn is_of_another_platform(&self, problem: &Flaw) -> bool {
        let path = problem.path.strip_prefix(PLATFORM).and_then(|path| path.strip_prefix('.'));
        let Some(path) = path.filter(|_| problem.found == UNKNOWN) else { return false };
        self.catalogs.platforms.iter().any(|platform| has_key(platform.keys, path))
    }
}

fn has_key(keys: &[Key], path: &str) -> bool {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    keys.iter().any(|key| {
        key.name == name
            && match (rest, key.holds) {
                (None, _) => true,
                (Some(rest), Holds::Table(inner)) => has_key(inner, rest),
                (Some(_), _) => false,
            }
    })
}
