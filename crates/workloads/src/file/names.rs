//! Names of scripts and their statements. A name must live as long as the program, since those of other workloads are
//! literals. So each is leaked once, however often a workload is made.

use super::PlannedScript;
use super::script::ScriptStatement;
use crate::workload::TransactionKind;
use std::sync::{Mutex, PoisonError};

static NAMES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
static KINDS: Mutex<Vec<&'static [TransactionKind]>> = Mutex::new(Vec::new());

pub fn kept(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.iter().find(|known| **known == name) {
        return known;
    }
    let new: &'static str = Box::leak(name.into());
    names.push(new);
    new
}

/// The name of a statement by its line, as in `transfer:12`; a second one of that line is `transfer:12.2`.
pub fn of_statement(script: &str, sql: &ScriptStatement) -> &'static str {
    let nth = if sql.nth == 1 { String::new() } else { format!(".{}", sql.nth) };
    kept(&format!("{script}:{}{nth}", sql.line))
}

/// The kinds: all scripts, which are counted, then the statements that are timed by themselves, as steps.
pub fn kinds(scripts: &[PlannedScript]) -> &'static [TransactionKind] {
    let transactions = scripts.iter().map(|planned| TransactionKind::transaction(planned.name, true));
    let timed = scripts.iter().filter(|planned| planned.first_step.is_some());
    let steps = timed.flat_map(|planned| {
        planned.script.statements.iter().map(|sql| TransactionKind::step(of_statement(planned.name, sql)))
    });
    let kinds: Vec<TransactionKind> = transactions.chain(steps).collect();
    let mut known = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = known.iter().find(|same| **same == kinds) {
        return same;
    }
    let new: &'static [TransactionKind] = Box::leak(kinds.into());
    known.push(new);
    new
}
