//! Combines the seconds of several machines: histograms are added.
//!
//! Seconds belong together if they have the same distance from the beginning of their machine's measured window. The
//! distance of these windows on one clock is recorded elsewhere; it is far less than a second.

use crate::intervals::{Interval, KindInterval, Measured, Span};
use std::collections::BTreeMap;

/// Counts by value, for each kind and span.
type Counts = BTreeMap<(u16, Span), BTreeMap<u64, u32>>;

#[derive(Default)]
struct Second {
    length_ms: u64,
    measured: bool,
    counts: Counts,
}

pub fn merged(parts: &[&Measured]) -> Measured {
    let mut kinds: Vec<String> = Vec::new();
    for kind in parts.iter().flat_map(|part| &part.kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    // The longest warm-up of all, so that no second begins before 0.
    let warmup_ms = parts.iter().map(|part| window_start_ms(part)).max().unwrap_or(0);
    let mut seconds: BTreeMap<u64, Second> = BTreeMap::new();
    for part in parts {
        let number: Vec<Option<u16>> = part.kinds.iter().map(|kind| place(&kinds, kind)).collect();
        let later_ms = warmup_ms - window_start_ms(part);
        for interval in &part.intervals {
            let second = seconds.entry(interval.start_ms + later_ms).or_default();
            second.length_ms = second.length_ms.max(interval.length_ms);
            second.measured |= interval.measured;
            add(&mut second.counts, interval, &number);
        }
    }
    let intervals = seconds.into_iter().map(|(start_ms, second)| Interval {
        start_ms,
        length_ms: second.length_ms,
        measured: second.measured,
        kinds: second.counts.into_iter().map(of_kind).collect(),
    });
    Measured { kinds, intervals: intervals.collect() }
}

fn window_start_ms(part: &Measured) -> u64 {
    part.intervals.iter().find(|interval| interval.measured).map_or(0, |interval| interval.start_ms)
}

fn place(kinds: &[String], kind: &String) -> Option<u16> {
    u16::try_from(kinds.iter().position(|known| known == kind)?).ok()
}

fn add(counts: &mut Counts, interval: &Interval, number: &[Option<u16>]) {
    for part in &interval.kinds {
        let Some(kind) = number.get(usize::from(part.kind)).copied().flatten() else { continue };
        let own = counts.entry((kind, part.span)).or_default();
        for &(value_us, count) in &part.counts {
            let sum = own.entry(value_us).or_insert(0);
            *sum = sum.saturating_add(count);
        }
    }
}

fn of_kind(((kind, span), counts): ((u16, Span), BTreeMap<u64, u32>)) -> KindInterval {
    KindInterval { kind, span, counts: counts.into_iter().collect() }
}
