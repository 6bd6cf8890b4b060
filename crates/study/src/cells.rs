//! Contenders, scenarios and swept values, crossed into unchecked cells.

use crate::ablation::{self, Ground, Wrong};
use crate::audit::AUDIT;
use crate::catalogs::Catalogs;
use crate::keys::STUDY;
use crate::named::{Named, found, is_part, named, part_of_cell};
use crate::overrides::{Tables, is_inside, overlap};
use crate::problems::{Flaw, below};
use crate::source::{Leaf, Source};
use record::ablation::Ablation;
use record::plan::MOST_TRIALS;
use record::settings::TABLES;
use serde_json::{Map, Value};
use settings::nearest;

/// One combination of overrides, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub contender: String,
    pub baseline: bool,
    pub scenario: Option<String>,
    pub sweep: Map<String, Value>,
    pub tables: Tables,
}

/// A swept path and its values.
struct Swept {
    path: String,
    line: usize,
    values: Vec<Value>,
}

/// Crosses what the study says, and adds a contender for each change of an ablation. Adds every problem to `problems`. `blocks` counts
/// towards the limit of trials.
pub fn drafts(
    source: &Source,
    blocks: u64,
    catalogs: &Catalogs,
    check: &dyn Fn(&Tables) -> Wrong,
    problems: &mut Vec<Flaw>,
) -> (Vec<Draft>, Option<Ablation>) {
    let base = source.base.iter().filter(|leaf| is_part(&leaf.path)).cloned().collect::<Vec<_>>();
    let mut contenders = named("contender", &["name", "baseline", "set"], &source.contenders, problems);
    let scenarios = named("scenario", &["name", "set"], &source.scenarios, problems);
    let sweep = swept(&source.sweep, problems);
    if source.contenders.is_empty() {
        problems.push(Flaw::new(None, "contender", "missing", "at least one [[contender]] table"));
        // The base is checked anyway, so that its problems are reported at once.
        contenders.push(Named::new(String::new(), 0));
    }
    let base = Tables::new(&base);
    let ablation = source.ablation.as_ref().and_then(|written| {
        let ground = Ground { catalogs, base: &base, check };
        ablation::expand(written, &ground, &mut contenders, problems)
    });
    settle_baseline(&mut contenders, problems);
    refuse_overlaps(&contenders, &scenarios, &sweep, problems);
    if let Some(problem) = too_many(contenders.len(), scenarios.len(), &sweep, blocks) {
        problems.push(problem);
        // One cell of each contender is enough to report its problems, too.
        return (cross(&base, &contenders, &[], &[]), ablation);
    }
    (cross(&base, &contenders, &scenarios, &sweep), ablation)
}

/// Keys at the top of the study that do not exist.
pub fn unknown_at_top(source: &Source) -> Vec<Flaw> {
    let words = STUDY.iter().map(|key| key.name).chain(TABLES).chain([
        "accept",
        AUDIT,
        "contender",
        "scenario",
        "sweep",
        ablation::TABLE,
    ]);
    let words = words.collect::<Vec<_>>();
    let known = |leaf: &&Leaf| words.iter().any(|word| leaf.path == *word || is_inside(&leaf.path, word));
    let told = |leaf: &Leaf| {
        let word = leaf.path.split('.').next().unwrap_or_default();
        let expected = format!("one of {}", words.join(", "));
        Flaw::new(Some(leaf.line), word, "unknown key", expected).with_nearest(nearest(word, words.iter().copied()))
    };
    source.base.iter().filter(|leaf| !known(leaf)).map(told).collect()
}

fn swept(leaves: &[Leaf], problems: &mut Vec<Flaw>) -> Vec<Swept> {
    let mut sweep = Vec::new();
    for leaf in leaves {
        let path = below("sweep", &leaf.path);
        let problem = |found: String, expected: &str| Flaw::new(Some(leaf.line), &path, found, expected);
        if let Some(problem) = part_of_cell("sweep", &[], &leaf.path, leaf.line) {
            problems.push(problem);
            continue;
        }
        match &leaf.value {
            Value::Array(values) if values.is_empty() => {
                problems.push(problem("found an empty list".to_owned(), "at least one value"));
            }
            Value::Array(values) => {
                if let Some(value) =
                    values.iter().enumerate().find_map(|(at, value)| values[..at].contains(value).then_some(value))
                {
                    problems.push(problem(format!("found {value} twice"), "each value once"));
                }
                sweep.push(Swept { path: leaf.path.clone(), line: leaf.line, values: values.clone() });
            }
            other => problems.push(problem(found(other), "a list of values")),
        }
    }
    sweep
}

/// Exactly one contender is the baseline of the others: the one marked so, else the first.
fn settle_baseline(contenders: &mut [Named], problems: &mut Vec<Flaw>) {
    let mut marked = contenders.iter().filter(|contender| contender.baseline == Some(true));
    let first = marked.next();
    if let (Some(first), Some(second)) = (first, marked.next()) {
        let found = format!("found true for \"{}\" too", second.name);
        let expected = format!("one baseline; \"{}\" is it already", first.name);
        problems.push(Flaw::new(Some(second.line), "contender.baseline", found, expected));
    }
    if first.is_none()
        && let Some(contender) = contenders.first_mut()
    {
        contender.baseline = Some(true);
    }
}

/// If two kinds of override meet in one path, one would silently undo the other.
fn refuse_overlaps(contenders: &[Named], scenarios: &[Named], sweep: &[Swept], problems: &mut Vec<Flaw>) {
    let mut sets = Vec::new();
    sets.extend(contenders.iter().flat_map(|one| one.overrides.iter().map(move |leaf| ("contender", one, leaf))));
    sets.extend(scenarios.iter().flat_map(|one| one.overrides.iter().map(move |leaf| ("scenario", one, leaf))));
    for (kind, one, leaf) in &sets {
        for swept in sweep.iter().filter(|swept| overlap(&swept.path, &leaf.path)) {
            let expected =
                format!("a key that no {kind} sets; \"{}\" sets {} in line {}", one.name, leaf.path, leaf.line);
            problems.push(Flaw::new(Some(swept.line), &below("sweep", &swept.path), "swept and overridden", expected));
        }
    }
    for (_, scenario, leaf) in sets.iter().filter(|(kind, ..)| *kind == "scenario") {
        let contender =
            |(kind, _, other): &&(&str, &Named, &Leaf)| *kind == "contender" && overlap(&other.path, &leaf.path);
        if let Some((_, one, other)) = sets.iter().find(contender) {
            let expected =
                format!("a key that no contender sets; \"{}\" sets {} in line {}", one.name, other.path, other.line);
            let found = format!("overridden twice in scenario \"{}\"", scenario.name);
            problems.push(Flaw::new(Some(leaf.line), &below("scenario", &leaf.path), found, expected));
        }
    }
    for (at, one) in sweep.iter().enumerate() {
        for other in sweep[..at].iter().filter(|other| overlap(&other.path, &one.path)) {
            let expected = format!("paths apart from each other; {} is swept in line {}", other.path, other.line);
            problems.push(Flaw::new(Some(one.line), &below("sweep", &one.path), "swept twice", expected));
        }
    }
}

fn too_many(contenders: usize, scenarios: usize, sweep: &[Swept], blocks: u64) -> Option<Flaw> {
    let counts = [contenders, scenarios.max(1)].into_iter().chain(sweep.iter().map(|swept| swept.values.len()));
    let trials = counts.fold(blocks, |product, count| product.saturating_mul(count as u64));
    let line = sweep.first().map(|swept| swept.line);
    let found = format!("{trials} trials");
    let expected = format!("at most {MOST_TRIALS} (blocks × contenders × scenarios × swept values)");
    (trials > MOST_TRIALS).then(|| Flaw::new(line, "", found, expected))
}

fn cross(base: &Tables, contenders: &[Named], scenarios: &[Named], sweep: &[Swept]) -> Vec<Draft> {
    let scenarios: Vec<Option<&Named>> =
        if scenarios.is_empty() { vec![None] } else { scenarios.iter().map(Some).collect() };
    let mut drafts = Vec::new();
    for contender in contenders {
        for scenario in &scenarios {
            for combination in combinations(sweep) {
                let mut tables = base.clone();
                tables.lay_over(&contender.inherited);
                tables.lay_over(&contender.overrides);
                tables.lay_over(scenario.map_or(&[], |scenario| &scenario.overrides));
                tables.lay_over(&combination);
                drafts.push(Draft {
                    contender: contender.name.clone(),
                    baseline: contender.baseline == Some(true),
                    scenario: scenario.map(|scenario| scenario.name.clone()),
                    sweep: combination.into_iter().map(|leaf| (leaf.path, leaf.value)).collect(),
                    tables,
                });
            }
        }
    }
    drafts
}

/// Every combination of swept values; the last path varies fastest.
fn combinations(sweep: &[Swept]) -> Vec<Vec<Leaf>> {
    sweep.iter().fold(vec![Vec::new()], |combinations, swept| {
        let longer = |combination: &Vec<Leaf>, value: &Value| {
            let leaf = Leaf { path: swept.path.clone(), value: value.clone(), line: swept.line };
            combination.iter().cloned().chain([leaf]).collect::<Vec<_>>()
        };
        combinations.iter().flat_map(|one| swept.values.iter().map(move |value| longer(one, value))).collect()
    })
}
