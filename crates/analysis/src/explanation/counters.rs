//! Every telemetry column per transaction, for two contenders side by side, sorted by how certainly they differ.
//!
//! Like is compared with like: counters read inside with counters read inside, the host's with the host's.

use super::evidence::{BOTH, Evidence, ValuePair, Who};
use crate::contrast::{self, Contrast};
use crate::counted::unit::CountedUnit;
use crate::counted::{Counted, CountedTrial};
use crate::estimate::{CONFIDENCE, Estimate};
use record::telemetry::{Behaviour, Side};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Counters that are lower than this on both sides are left out: so little cannot explain a response time.
const FEWEST_PER_SECOND: f64 = 1.0;
const FEWEST_BYTES_PER_SECOND: f64 = 1_024.0;
/// A thousandth of the time of one CPU.
const FEWEST_MILLIS_PER_SECOND: f64 = 1.0;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CounterComparison {
    /// Rows that differ most certainly come first.
    pub rows: Vec<CounterRow>,
    /// Columns that only one of the two contenders has.
    pub one_sided: Vec<OneSided>,
    /// How many columns of both are too small to matter.
    pub negligible: usize,
    /// How many columns were tested for a difference, and how many are found to differ. On average at most 5 % of the
    /// latter do so by chance.
    pub asked: usize,
    pub differing: usize,
}

/// One column of both contenders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CounterRow {
    pub side: Side,
    pub name: String,
    pub unit: CountedUnit,
    /// Counts are per transaction; readings are means over the window.
    pub behaviour: Behaviour,
    pub baseline: Estimate,
    pub contender: Estimate,
    /// Contender over baseline, paired by block; `None` if a block has zero on one side.
    pub ratio: Option<Estimate>,
    /// Contender minus baseline, paired by block: a mean over blocks, even where there is a ratio.
    pub difference: Estimate,
    /// The rank: the smallest difference that the interval leaves, taken at its end nearer to zero, as a share of the
    /// larger side. The interval is widened for the number of counters. It is 0 for counters that may differ by chance,
    /// and `None` without an interval.
    pub surely_apart: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneSided {
    pub side: Side,
    pub name: String,
    /// The contender that has it.
    pub on: String,
}

pub fn compare(evidence: &Evidence<'_>) -> CounterComparison {
    let mut found = CounterComparison::default();
    let mut tested: Vec<(CounterRow, Contrast)> = Vec::new();
    for side in [Side::Machine, Side::Host] {
        let [baseline, contender] = BOTH.map(|who| columns(evidence, side, who));
        if baseline.is_empty() || contender.is_empty() {
            continue;
        }
        let names: BTreeSet<&String> = baseline.keys().chain(contender.keys()).collect();
        for name in names {
            match (baseline.get(name), contender.get(name)) {
                (Some(column), Some(_)) => match row(evidence, side, name, column) {
                    Some((.., true)) => found.negligible += 1,
                    row => tested.extend(row.map(|(row, difference, _)| (row, difference))),
                },
                (one, _) => {
                    let on = evidence.name(if one.is_some() { Who::Baseline } else { Who::Contender });
                    found.one_sided.push(OneSided { side, name: name.clone(), on });
                }
            }
        }
    }
    let p_values: Vec<f64> = tested.iter().filter_map(|(_, difference)| difference.p_equal()).collect();
    (found.asked, found.differing) = (p_values.len(), contrast::discoveries(&p_values));
    // Intervals of selected counters are widened to make up for the selection (Benjamini and Yekutieli).
    let tails = (1.0 - CONFIDENCE) * found.differing as f64 / found.asked.max(1) as f64;
    let ranked = |(row, difference): (CounterRow, Contrast)| {
        let least = |(low, high): (f64, f64)| if found.differing == 0 { 0.0 } else { low.max(-high).max(0.0) };
        let surely_apart = difference.bounds_but_for(tails).known().map(|ends| least(ends) / larger(&row));
        CounterRow { surely_apart, ..row }
    };
    found.rows = tested.into_iter().map(ranked).collect();
    // The difference as a share of the larger side, certain or not, decides between those that are equally certain.
    let rank = |row: &CounterRow| (row.surely_apart.unwrap_or(0.0), row.difference.point.abs() / larger(row));
    found.rows.sort_by(|one, other| {
        let ((sure, point), (other_sure, other_point)) = (rank(one), rank(other));
        other_sure.total_cmp(&sure).then(other_point.total_cmp(&point)).then_with(|| one.name.cmp(&other.name))
    });
    found
}

fn larger(row: &CounterRow) -> f64 {
    row.baseline.point.max(row.contender.point)
}

/// The columns for which any trial of a contender has a worth.
fn columns<'a>(evidence: &Evidence<'a>, side: Side, who: Who) -> BTreeMap<String, &'a Counted> {
    let counted = evidence.trials(who).filter_map(|trial| trial.side(side)).flat_map(|counts| &counts.columns);
    counted.filter(|(_, column)| column.worth.is_some()).map(|(name, column)| (name.clone(), column)).collect()
}

/// The row without its rank, its difference, and whether it is negligible. `None` if no block has the column on both sides.
fn row(evidence: &Evidence<'_>, side: Side, name: &str, column: &Counted) -> Option<(CounterRow, Contrast, bool)> {
    let each = |trial: &CountedTrial| {
        let worth = trial.side(side)?.worth(name)?;
        Some(if column.behaviour == Behaviour::Counts { worth / trial.transactions } else { worth })
    };
    let rate = |trial: &CountedTrial| trial.side(side)?.per_second(name);
    let (pair, rates) = (evidence.pair(&each)?, evidence.pair(&rate)?);
    let is_negligible = is_negligible(column, &pair, rates.baseline.point.max(rates.contender.point));
    let ValuePair { baseline, contender, ratio, difference: contrast } = pair;
    let (name, unit, behaviour) = (name.to_owned(), column.unit.clone(), column.behaviour);
    let difference = contrast.estimate.clone();
    let row = CounterRow { side, name, unit, behaviour, baseline, contender, ratio, difference, surely_apart: None };
    Some((row, contrast, is_negligible))
}

fn is_negligible(column: &Counted, pair: &ValuePair, per_second: f64) -> bool {
    let nothing_stands = pair.baseline.point.max(pair.contender.point) <= 0.0;
    match (column.behaviour, &column.unit) {
        (Behaviour::Stands, _) => nothing_stands,
        (Behaviour::Counts, CountedUnit::Things | CountedUnit::Other(_)) => per_second < FEWEST_PER_SECOND,
        (Behaviour::Counts, CountedUnit::Bytes) => per_second < FEWEST_BYTES_PER_SECOND,
        (Behaviour::Counts, CountedUnit::Milliseconds) => per_second < FEWEST_MILLIS_PER_SECOND,
    }
}

#[cfg(test)]
mod tests {
    use super::super::evidence::tests::trial;
    use super::*;
    use crate::counted::SideCounts;
    use record::synthetic;

    fn with(columns: &[(&str, f64)]) -> CountedTrial {
        let counted = |worth| Counted {
            unit: CountedUnit::Things,
            behaviour: Behaviour::Counts,
            worth: Some(worth),
            rates: Vec::new(),
        };
        let columns = columns.iter().map(|&(name, worth)| (name.to_owned(), counted(worth))).collect();
        let machine = Ok(SideCounts { seconds: 10.0, samples: 10, columns, unavailable: [].into() });
        CountedTrial { machine, host: Err(crate::missing::Missing::NotDriven), ..trial(100.0) }
    }

    fn compared(baseline: &[CountedTrial], contender: &[CountedTrial]) -> CounterComparison {
        let block = |(one, other)| [vec![one], vec![other]];
        let blocks = baseline.iter().zip(contender).map(block).collect();
        compare(&Evidence { names: ["native", "kvm"], blocks, costs: Vec::new() })
    }

    /// `a` doubles steadily. `b` triples on average, but by such different amounts that it may not differ at all. `c`
    /// differs slightly but certainly. `d` happens on one side only.
    #[test]
    fn what_differs_most_surely_comes_first() {
        let baseline = [0.0, 1.0, 2.0]
            .map(|wobble| with(&[("a", 500.0 + wobble), ("b", 100.0), ("c", 800.0), ("d", 0.0), ("e", 3.0)]));
        let contender = [(0.0, 40.0), (2.0, 800.0), (1.0, 60.0)].map(|(wobble, b)| {
            with(&[("a", 1_000.0 + wobble), ("b", b), ("c", 820.0 + wobble), ("d", 50.0 + wobble), ("e", 4.0)])
        });
        let found = compared(&baseline, &contender);
        let names: Vec<&str> = found.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["d", "a", "c", "b"]);
        assert_eq!(found.negligible, 1, "e happens less than once a second");
        let sure: Vec<f64> = found.rows.iter().map(|row| row.surely_apart.unwrap()).collect();
        assert!(sure[0] > 0.9 && (0.45..0.5).contains(&sure[1]) && (0.0..0.03).contains(&sure[2]), "{sure:?}");
        assert_eq!(sure[3].to_bits(), 0.0_f64.to_bits());
        assert_eq!(found.rows[0].ratio, None);
        let a = &found.rows[1];
        assert!((a.baseline.point - 5.01).abs() < 1e-3 && (a.contender.point - 10.01).abs() < 1e-3, "{a:?}");
        assert!((a.ratio.as_ref().unwrap().point - 2.0).abs() < 0.01);
    }

    /// 150 counters that vary by a fifth and do not differ. With intervals for each alone, some would rank high.
    #[test]
    fn counters_that_differ_by_chance_have_no_rank() {
        let mut chance = synthetic::Chance::new(20_261_122);
        let names: Vec<String> = (0..150).map(|number| format!("counter.{number}")).collect();
        let mut one = || {
            let columns: Vec<(&str, f64)> =
                names.iter().map(|name| (name.as_str(), 1_000.0 * (0.2 * chance.normal()).exp())).collect();
            with(&columns)
        };
        let sides: Vec<(CountedTrial, CountedTrial)> = (0..5).map(|_| (one(), one())).collect();
        let (baseline, contender): (Vec<_>, Vec<_>) = sides.into_iter().unzip();
        let found = compared(&baseline, &contender);
        let alone = found.rows.iter().filter(|row| row.difference.bounds.contain(0.0) == Some(false)).count();
        assert!(alone > 3, "{alone}");
        assert_eq!((found.asked, found.differing), (150, 0));
        assert!(found.rows.iter().all(|row| row.surely_apart == Some(0.0)));
    }

    #[test]
    fn columns_of_one_side_are_listed_and_not_compared() {
        let found = compared(&[with(&[("a", 500.0)])], &[with(&[("a", 900.0), ("kvm.exits", 7.0)])]);
        let expected = OneSided { side: Side::Machine, name: "kvm.exits".to_owned(), on: "kvm".to_owned() };
        assert_eq!(found.one_sided, [expected]);
        assert_eq!((found.rows.len(), found.rows[0].surely_apart), (1, None));
    }
}
