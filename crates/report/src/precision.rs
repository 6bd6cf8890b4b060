//! Whether the wished precision was reached, in sentences: for the report, the terminal and the live display.

use crate::format;
use analysis::stopping::{Attained, RatioPrecision};
use record::precision::StopReason;

/// Whether the wished precision was reached, after how many blocks, and why if not.
pub fn sentence(attained: &Attained) -> String {
    let wished = within(attained.wish.half_width);
    let blocks = blocks(attained);
    let why = match attained.wish.ended {
        Some(StopReason::Reached) => {
            let widest = attained.ratios.iter().filter_map(|ratio| ratio.half_width_found).fold(0.0, f64::max);
            let ratios = if attained.ratios.len() == 1 { "the throughput ratio" } else { "every throughput ratio" };
            let found = within(widest);
            return format!(
                "Precision reached after {blocks}: {ratios} is known to within {found}; wished was {wished}."
            );
        }
        Some(StopReason::MaxBlocks) => ", the greatest number allowed".to_owned(),
        Some(StopReason::TimeLimit) => {
            let limit = attained.wish.time_limit_ms.map(format::span).unwrap_or_default();
            format!("; another would not have ended within {limit}")
        }
        Some(StopReason::OutOfReach) => ", and too few of them are valid to reach it".to_owned(),
        None => {
            return format!(
                "The run stopped after {blocks}, before it was decided whether the wished precision of {wished} needs more; \
                 `--resume` goes on."
            );
        }
    };
    format!("Precision not reached after {blocks}{why}: {}.", shortfall(attained))
}

/// The ratios that are less precise than wished, as a phrase.
pub fn shortfall(attained: &Attained) -> String {
    let wished = within(attained.wish.half_width);
    let lacking = attained.lacking().map(|ratio| known(ratio, attained.ratios.len() > 1));
    format!("{}; wished is {wished}", format::listed(lacking))
}

fn known(ratio: &RatioPrecision, several: bool) -> String {
    let place = if several { format::at(&ratio.coordinates) } else { String::new() };
    let who = format!("{} against {}{place}", ratio.contender, ratio.baseline);
    match ratio.half_width_found {
        Some(_) if !ratio.in_reach => format!("{who} gets no verdict, because data is wrong"),
        Some(found) => format!("{who} is known to within {}", within(found)),
        None => format!("{who} has too few valid blocks for an interval"),
    }
}

/// "14 blocks (10 planned, 4 added)".
fn blocks(attained: &Attained) -> String {
    let (planned, all) = (attained.wish.least_blocks, attained.blocks);
    match all.saturating_sub(planned) {
        0 => format!("{all} blocks (as planned)"),
        added => format!("{all} blocks ({planned} planned, {added} added)"),
    }
}

/// "±1.25 %".
fn within(half_width: f64) -> String {
    format!("±{} %", format::short(&format::ratio(half_width * 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::precision::Precision;

    fn attained(ended: Option<StopReason>, found: &[Option<f64>]) -> Attained {
        let ratio = |(index, half_width_found): (usize, &Option<f64>)| RatioPrecision {
            coordinates: format!("clients = {}", index + 1),
            baseline: "native".to_owned(),
            contender: "vm".to_owned(),
            half_width_found: *half_width_found,
            in_reach: half_width_found.is_some(),
        };
        let wish =
            Precision { half_width: 0.01, least_blocks: 10, max_blocks: 40, time_limit_ms: Some(7_200_000), ended };
        Attained { wish, blocks: 14, ratios: found.iter().enumerate().map(ratio).collect() }
    }

    #[test]
    fn each_end_has_its_sentence() {
        let of = |ended, found: &[Option<f64>]| sentence(&attained(ended, found));
        insta::assert_snapshot!(of(Some(StopReason::Reached), &[Some(0.009_34)]), @"Precision reached after 14 blocks (10 planned, 4 added): the throughput ratio is known to within ±0.934 %; wished was ±1 %.");
        insta::assert_snapshot!(of(Some(StopReason::Reached), &[Some(0.009_34), Some(0.005)]), @"Precision reached after 14 blocks (10 planned, 4 added): every throughput ratio is known to within ±0.934 %; wished was ±1 %.");
        insta::assert_snapshot!(of(Some(StopReason::MaxBlocks), &[Some(0.012_5)]), @"Precision not reached after 14 blocks (10 planned, 4 added), the greatest number allowed: vm against native is known to within ±1.25 %; wished is ±1 %.");
        insta::assert_snapshot!(of(Some(StopReason::TimeLimit), &[Some(0.02), Some(0.005), Some(0.03)]), @"Precision not reached after 14 blocks (10 planned, 4 added); another would not have ended within 120 min 0 s: vm against native at clients = 1 is known to within ±2 % and vm against native at clients = 3 is known to within ±3 %; wished is ±1 %.");
        insta::assert_snapshot!(of(Some(StopReason::OutOfReach), &[None]), @"Precision not reached after 14 blocks (10 planned, 4 added), and too few of them are valid to reach it: vm against native has too few valid blocks for an interval; wished is ±1 %.");
        insta::assert_snapshot!(of(None, &[Some(0.02)]), @"The run stopped after 14 blocks (10 planned, 4 added), before it was decided whether the wished precision of ±1 % needs more; `--resume` goes on.");
    }

    #[test]
    fn whole_per_cents_have_no_idle_digits() {
        assert_eq!([0.01, 0.012_5, 0.2, 1.2].map(within), ["±1 %", "±1.25 %", "±20 %", "±120 %"]);
    }

    #[test]
    fn a_run_without_added_blocks_says_so() {
        let planned = Attained { blocks: 10, ..attained(Some(StopReason::Reached), &[Some(0.0051)]) };
        assert!(sentence(&planned).starts_with("Precision reached after 10 blocks (as planned): "));
    }
}
