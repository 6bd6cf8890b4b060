//! Reasons why two contenders differ, as far as counters show: statements, and counters side by side.
//!
//! Everything is over the blocks in which both contenders are valid and have telemetry. A statement is made only by a
//! rule whose condition holds ([`rules::RULES`]); otherwise the report says what was missing. That something differs
//! together with the throughput does not make it the cause.

pub mod counters;
pub mod evidence;
pub mod rules;

use crate::counted::unit::CountedUnit;
use crate::counted::{self, CountedRate, CountedTrial};
use crate::groups::{self, Group};
use crate::measures::Scale;
use crate::measures::counted::COSTS;
use crate::observations::{MeasuredValues, Observations};
use crate::pairing::Pairing;
use counters::CounterComparison;
use evidence::{BOTH, Evidence, MeasurePair, PairedBlock};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use record::telemetry::{Behaviour, Side};
use rules::{Reason, Unknown};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of counters whose course is kept for drawing.
const DRAWN: usize = 4;

/// One contender against the baseline, under the same scenario and swept values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    pub coordinates: String,
    pub baseline: String,
    pub contender: String,
    /// How many blocks have telemetry of both.
    pub blocks: usize,
    pub reasons: Vec<Reason>,
    /// What could not be determined, and what was not counted.
    pub unknown: Vec<Unknown>,
    pub counters: CounterComparison,
    pub courses: Vec<CounterCourse>,
}

/// A counter of both contenders over the window of the first block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterCourse {
    pub side: Side,
    pub name: String,
    pub unit: CountedUnit,
    pub baseline: Vec<CountedRate>,
    pub contender: Vec<CountedRate>,
}

/// Explains every comparison that has telemetry on both sides in at least one block.
pub fn all(run: &Run, observations: &Observations) -> Vec<Explanation> {
    let counted = counted::of_run(run);
    let of_group = |group: Group<'_>| {
        let pairs = group.with_baseline();
        pairs.filter_map(|pair| of_pair(run, &group.coordinates, pair, &counted, observations)).collect::<Vec<_>>()
    };
    groups::of_plan(&run.plan).into_iter().flat_map(of_group).collect()
}

fn of_pair(
    run: &Run,
    coordinates: &str,
    [baseline, contender]: [&Cell; 2],
    counted: &BTreeMap<u32, CountedTrial>,
    observations: &Observations,
) -> Option<Explanation> {
    let pairing = Pairing::of(run, baseline, contender);
    let of_trials = |trials: &[&StoredTrial]| -> Option<Vec<&CountedTrial>> {
        trials.iter().map(|trial| counted.get(&trial.record.id)).collect()
    };
    let mut units: BTreeMap<u32, PairedBlock<'_>> = BTreeMap::new();
    for pair in &pairing.pairs {
        let Some((baseline, contender)) = of_trials(&pair.baseline).zip(of_trials(&pair.contender)) else { continue };
        let unit = units.entry(pair.unit).or_default();
        unit[0].extend(baseline);
        unit[1].extend(contender);
    }
    let (names, blocks) = ([baseline, contender].map(|cell| cell.contender.as_str()), units.into_values().collect());
    let mut evidence = Evidence { names, blocks, costs: Vec::new() };
    let of_costs = |name: &'static str| observations.measures().filter(move |one| one.measure.id.starts_with(name));
    evidence.costs = COSTS.into_iter().flat_map(of_costs).filter_map(|one| cost(one, &pairing, &evidence)).collect();
    (!evidence.blocks.is_empty()).then(|| explain(coordinates, &evidence))
}

/// `None` where there is no ratio.
fn cost(measured: &MeasuredValues, pairing: &Pairing<'_>, evidence: &Evidence<'_>) -> Option<MeasurePair> {
    let ratio = measured.paired(pairing).filter(|contrast| contrast.scale == Scale::Ratio)?.estimate;
    let level = |cell| measured.level(cell).map(|level| level.estimate);
    let pair = evidence.both(level(pairing.baseline)?, level(pairing.contender)?);
    Some(MeasurePair { measure: measured.measure.clone(), pair, ratio })
}

/// Everything that the evidence shows.
fn explain(coordinates: &str, evidence: &Evidence<'_>) -> Explanation {
    let counters = counters::compare(evidence);
    let (reasons, unknown) = rules::apply(evidence);
    let [baseline, contender] = BOTH.map(|who| evidence.name(who));
    let (coordinates, blocks, courses) = (coordinates.to_owned(), evidence.blocks.len(), courses(evidence, &counters));
    Explanation { coordinates, baseline, contender, blocks, reasons, unknown, counters, courses }
}

fn courses(evidence: &Evidence<'_>, counters: &CounterComparison) -> Vec<CounterCourse> {
    let Some([baseline, contender]) = evidence.blocks.first() else { return Vec::new() };
    let counts = counters.rows.iter().filter(|row| row.behaviour == Behaviour::Counts);
    let of_row = |row: &counters::CounterRow| {
        let rates = |trials: &[&CountedTrial]| {
            let column = trials.first()?.side(row.side)?.columns.get(&row.name)?;
            (!column.rates.is_empty()).then(|| column.rates.clone())
        };
        Some(CounterCourse {
            side: row.side,
            name: row.name.clone(),
            unit: row.unit.clone(),
            baseline: rates(baseline)?,
            contender: rates(contender)?,
        })
    };
    counts.filter_map(of_row).take(DRAWN).collect()
}

#[cfg(test)]
mod tests;
