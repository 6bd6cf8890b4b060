//! Combines the seconds of several machines: histograms are added.
//!
//! Seconds belong together if they have the same distance from the beginning of their machine's measured window. The
//! distance of these windows on one clock is recorded elsewhere; it is far less than a second.

use crate::intervals::{Interval, KindInterval, Measured};
use std::collections::BTreeMap;

pub fn merged(parts: &[&Measured]) -> Measured {
    let mut kinds: Vec<String> = Vec::new();
    for kind in parts.iter().flat_map(|part| &part.kinds) {
        if !kinds.contains(kind) {
            kinds.push(kind.clone());
        }
    }
    // The longest warm-up of all, so that no second begins before 0.
    let warmup_ms = parts.iter().map(|part| window_start_ms(part)).max().unwrap_or(0);
    let mut seconds: BTreeMap<u64, Interval> = BTreeMap::new();
    for part in parts {
        let number: Vec<Option<u16>> = part.kinds.iter().map(|kind| place(&kinds, kind)).collect();
        let later_ms = warmup_ms - window_start_ms(part);
        for own in &part.intervals {
            let start_ms = own.start_ms + later_ms;
            let empty = || Interval { start_ms, length_ms: 0, measured: false, kinds: Vec::new() };
            seconds.entry(start_ms).or_insert_with(empty).add(&renumbered(own, &number));
        }
    }
    let mut intervals: Vec<Interval> = seconds.into_values().collect();
    for second in &mut intervals {
        second.kinds.sort_by_key(|part| (part.kind, part.span));
    }
    Measured { kinds, intervals }
}

fn window_start_ms(part: &Measured) -> u64 {
    part.intervals.iter().find(|interval| interval.measured).map_or(0, |interval| interval.start_ms)
}

fn place(kinds: &[String], kind: &String) -> Option<u16> {
    u16::try_from(kinds.iter().position(|known| known == kind)?).ok()
}

/// With other numbers for its kinds; those without one are left out.
fn renumbered(interval: &Interval, number: &[Option<u16>]) -> Interval {
    let of_kind = |part: &KindInterval| {
        let kind = number.get(usize::from(part.kind)).copied().flatten()?;
        Some(KindInterval { kind, ..part.clone() })
    };
    Interval { kinds: interval.kinds.iter().filter_map(of_kind).collect(), ..interval.clone() }
}
