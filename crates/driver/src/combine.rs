//! Combines several results into one: of successive phases, or of load generators that drove one database together.

use crate::counts::CountsSum;
use crate::plan::{Driven, SecondDone};
use record::intervals::{KindInterval, Span};
use record::together::driver;
use record::trial::DriverFacts;
use std::collections::BTreeMap;

/// Joins successive results of one load generator; `None` if there are none.
pub fn in_turn(phases: Vec<Driven>) -> Option<Driven> {
    combined(phases, driver::in_turn, |seconds| seconds.into_iter().flatten().collect())
}

/// Joins simultaneous results of several load generators, as if all their shards belonged to one; `None` if there are
/// none.
pub fn together(parts: Vec<Driven>) -> Option<Driven> {
    combined(parts, driver::added_up, |seconds| {
        let length = seconds.iter().map(Vec::len).max().unwrap_or(0);
        let sum = |second: usize| {
            let done = seconds.iter().filter_map(|part| part.get(second));
            done.fold(SecondDone::default(), |sum, own| SecondDone {
                counted: sum.counted + own.counted,
                ended: sum.ended + own.ended,
            })
        };
        (0..length).map(sum).collect()
    })
}

fn combined(
    mut parts: Vec<Driven>,
    facts: impl Fn(&[&DriverFacts]) -> Option<DriverFacts>,
    seconds: impl Fn(Vec<Vec<SecondDone>>) -> Vec<SecondDone>,
) -> Option<Driven> {
    if parts.len() <= 1 {
        return parts.pop();
    }
    let all: Vec<&DriverFacts> = parts.iter().map(|part| &part.facts).collect();
    Some(Driven {
        facts: facts(&all)?,
        latencies: latencies(parts.iter().flat_map(|part| &part.latencies)),
        stopped: parts.iter().any(|part| part.stopped),
        broke_off: parts.iter().find_map(|part| part.broke_off.clone()),
        log: logs(&parts),
        seconds: seconds(parts.into_iter().map(|part| part.seconds).collect()),
    })
}

/// Ordered by kind. All ended spans come before the unended ones.
fn latencies<'a>(parts: impl Iterator<Item = &'a KindInterval>) -> Vec<KindInterval> {
    let order = |span: Span| match span {
        Span::Response => 0_u8,
        Span::Service => 1,
        Span::Unended => 2,
    };
    let mut sums = BTreeMap::<(bool, u16, u8), (Span, CountsSum)>::new();
    for part in parts {
        let key = (part.span == Span::Unended, part.kind, order(part.span));
        sums.entry(key).or_insert_with(|| (part.span, CountsSum::default())).1.add(&part.counts);
    }
    let sums = sums.into_iter();
    sums.map(|((_, kind, _), (span, sum))| KindInterval { kind, span, counts: sum.counts() }).collect()
}

/// One heading, followed by the lines of all logs.
fn logs(parts: &[Driven]) -> String {
    let mut all = String::new();
    for log in parts.iter().map(|part| part.log.as_str()).filter(|log| !log.is_empty()) {
        let from = if all.is_empty() { 0 } else { log.find('\n').map_or(0, |end| end + 1) };
        all.push_str(&log[from..]);
    }
    all
}
