//! From a study file to a plan.

use crate::accept::accepted;
use crate::again;
use crate::audit::asked_for;
use crate::catalogs::Catalogs;
use crate::cells::{drafts, unknown_at_top};
use crate::decide::{decide, wrong};
use crate::host::Host;
use crate::keys::STUDY;
use crate::overrides::Tables;
use crate::precision::{blocks_and_precision, nothing_to_compare};
use crate::problems::{Flaw, in_order};
use crate::several_hosts::{self, hosts};
use crate::source::{self, Leaf};
use crate::trials::trials;
use images::Recipe;
use record::plan::{Cell, Plan};
use record::settings::at;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What each contender is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    Baseline,
    /// Each contender with itself, under another name: an A/A study.
    Itself,
}

/// Reads a study and decides everything, or returns every problem. `study` is its name, from its file's name.
pub fn plan(study: &str, text: &str, against: Against, catalogs: &Catalogs, host: &Host) -> Result<Plan, Vec<Flaw>> {
    let (source, mut problems) = source::read(text);
    if !problems.is_empty() && source.base.is_empty() {
        return Err(in_order(problems));
    }
    let top = top(&source.base, &mut problems);
    problems.extend(unknown_at_top(&source));
    let own = own_recipes(&top, catalogs, &source.base, &mut problems);
    let catalogs = &Catalogs { images: images::replaced(catalogs.images.clone(), own.clone()), ..catalogs.clone() };
    let accept = accepted(&source.base, &catalogs.codes, &mut problems);
    let (blocks, precision) = blocks_and_precision(&top, &source.base, &mut problems);
    let aa = against == Against::Itself;
    let most_blocks = u64::from(precision.map_or(blocks, |precision| precision.max_blocks));
    let check = |tables: &Tables| wrong(tables, catalogs, host);
    let most = if aa { 2 * most_blocks } else { most_blocks };
    let (drafts, ablation) = drafts(&source, most, catalogs, &check, &mut problems);
    let contenders = source.contenders.len() + ablation.as_ref().map_or(0, |ablation| ablation.changes.len());
    problems.extend(nothing_to_compare(contenders, &source.base).filter(|_| !aa));
    let (cells, workloads) = decide(&drafts, catalogs, host, &mut problems);
    let seed = top.get("seed").and_then(Value::as_u64).unwrap_or_default();
    let durability = asked_for(&source.base, seed, &mut problems);
    if !problems.is_empty() {
        return Err(in_order(problems));
    }
    let question = top.get("question").and_then(Value::as_str).unwrap_or_default();
    let (question, cells, study) = match against {
        Against::Baseline => (question.to_owned(), cells, study.to_owned()),
        Against::Itself => (again::question(question), again::doubled(&cells), format!("{study}{RUNS_OF_AA}")),
    };
    let line = source.base.iter().find(|leaf| leaf.path == "blocks").map(|leaf| leaf.line);
    let hosts = hosts(&cells, catalogs);
    if let Some(problem) = several_hosts::problem(blocks, &cells, &hosts, line) {
        return Err(vec![problem]);
    }
    let hosts: Vec<_> = cells.iter().map(|cell| cell.id).zip(hosts.iter().map(Vec::as_slice)).collect();
    let trials = trials(seed, blocks, &hosts);
    let format = record::FORMAT;
    let rehearsed = false;
    let margin = top.get("margin").and_then(Value::as_f64);
    Ok(Plan {
        format,
        question,
        study,
        seed,
        blocks,
        aa,
        rehearsed,
        precision,
        margin,
        accept,
        durability,
        ablation: ablation.filter(|_| !aa),
        recipes: texts_of_used(own, &cells),
        cells,
        trials,
        workloads,
    })
}

/// Runs of a study and of its A/A version (`--aa`) share a folder, so their names must differ.
const RUNS_OF_AA: &str = "-aa";

/// The recipes in the folder that the study names.
fn own_recipes(top: &Map<String, Value>, catalogs: &Catalogs, base: &[Leaf], problems: &mut Vec<Flaw>) -> Vec<Recipe> {
    const RECIPES: &str = "recipes";
    let Some(folder) = top.get(RECIPES).and_then(Value::as_str) else { return Vec::new() };
    (catalogs.recipes.0)(folder).unwrap_or_else(|why| {
        let line = base.iter().find(|leaf| leaf.path == RECIPES).map(|leaf| leaf.line);
        let expected = format!("a folder whose recipes can be read ({why})");
        problems.push(Flaw::new(line, RECIPES, format!("found {folder:?}"), expected));
        Vec::new()
    })
}

/// The texts of those recipes that a cell's image is made from, by name.
fn texts_of_used(recipes: Vec<Recipe>, cells: &[Cell]) -> BTreeMap<String, String> {
    let is_used = |recipe: &Recipe| {
        cells.iter().any(|cell| at(cell.settings.tables(), "machine.image") == Some(&Value::from(recipe.name.as_str())))
    };
    recipes.into_iter().filter(is_used).map(|recipe| (recipe.name, recipe.text)).collect()
}

/// The top-level keys that are not tables, checked.
fn top(base: &[Leaf], problems: &mut Vec<Flaw>) -> Map<String, Value> {
    let own = base.iter().filter(|leaf| STUDY.iter().any(|key| key.name == leaf.path));
    let table = own.clone().map(|leaf| (leaf.path.clone(), leaf.value.clone())).collect();
    settings::check_written(&table, STUDY).unwrap_or_else(|found| {
        for problem in found {
            let line = own.clone().find(|leaf| leaf.path == problem.path).map(|leaf| leaf.line);
            problems.push(Flaw::from_table("", line, problem));
        }
        Map::new()
    })
}
