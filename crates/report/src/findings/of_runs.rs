//! Differences between two runs, in words.

use crate::format::{decimal, joined};
use analysis::findings::{ChangedWork, ComparedPart, ValueChange};
use analysis::two_runs::questions::{Difference, DifferenceKind};

/// More differences than this are counted instead of listed.
const MOST_LISTED: usize = 8;

/// The part of two runs that is compared.
pub fn compared(part: ComparedPart) -> &'static str {
    match part {
        ComparedPart::Settings => "the study's settings",
        ComparedPart::Machines => "the machines",
        ComparedPart::Servers => "the database servers",
        ComparedPart::Loads => "the loads that were driven",
    }
}

/// "workload.warehouses was 1 and is 2".
pub fn change(change: &ValueChange) -> String {
    let [old, new] = values(change);
    match change.name.strip_prefix("inside/") {
        Some(name) => format!("{name} inside was {old} and is {new}"),
        None => format!("{} was {old} and is {new}", change.name),
    }
}

fn values(change: &ValueChange) -> [&str; 2] {
    [&change.old, &change.new].map(|value| value.as_deref().unwrap_or("not there"))
}

pub fn changed_work(changed: &ChangedWork) -> String {
    let (what, digits) = super::work(&changed.measure);
    let [old, new] = [changed.old, changed.new].map(|value| decimal(value, digits));
    format!("{what} per transaction were {old} and are {new}")
}

pub fn some<T>(changes: &[T], words: fn(&T) -> String) -> String {
    let more = changes.len().saturating_sub(MOST_LISTED);
    let more = (more > 0).then(|| format!("and {more} more"));
    joined(changes.iter().take(MOST_LISTED).map(words).chain(more), "; ")
}

/// Why two runs cannot be compared.
pub fn difference(difference: &Difference) -> String {
    match difference {
        Difference::NoCommonCell { old, new } => {
            format!("they have no cell in common: {} before, {} now", old.join(", "), new.join(", "))
        }
        Difference::OfCell { cell, what, change: changed } => {
            let [old, new] = values(changed);
            let told = match what {
                DifferenceKind::Key => change(changed),
                DifferenceKind::LoadedTable => format!("the loaded table {} had {old} and has {new}", changed.name),
                DifferenceKind::Throughput => format!("throughput was counted as {old} and is counted as {new}"),
            };
            format!("{cell}: {told}")
        }
    }
}
