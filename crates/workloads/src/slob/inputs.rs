//! The inputs of the operations, drawn completely before they run.
//!
//! Client `i` always works on schema `(i / threads_per_schema) mod schemas`. Each hundred operations of a client has
//! exactly its share of updates, and each hundred selects its share of scans. Hot operations have a fixed rhythm,
//! which clients begin at different beats, so that they do not all go to the same place at once.

use super::settings::{HotSpot, SlobSettings};
use crate::random::{Picks, RandomStream};
use std::time::Duration;

/// Quotas hold exactly in every hundred.
const HUNDRED: u32 = 100;
const MICROS_PER_MILLI: u64 = 1_000;

settings::names! {
    /// Index into the kinds of transaction, as the driver counts them, and into the statements of one schema.
    #[repr(u16)]
    pub enum SlobOperation {
        Read => "read",
        Update => "update",
        Scan => "scan",
    }
}

/// The inputs of one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlobInput {
    pub operation: SlobOperation,
    /// Counted from 0.
    pub schema: u32,
    /// Key of the first row.
    pub first: u32,
    /// The value from which the text of an update is drawn.
    pub text: u64,
    /// How long the client pauses afterwards.
    pub thought: Duration,
    /// This operation's evidence for the audit of the rules.
    pub evidence: SlobEvidence,
}

/// What can be compared with the rules once the operation has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SlobEvidence {
    /// It ended a hundred of its client, with this many updates in it.
    pub updates_of_hundred: Option<u32>,
    /// It ended a hundred selects of its client, with this many scans in it.
    pub scans_of_hundred: Option<u32>,
    /// It was meant for the hot spot.
    pub hot_spot: bool,
    /// It was meant for the hot schema.
    pub hot_schema: bool,
}

/// One emulated user.
#[derive(Debug, Clone)]
pub struct SlobClient {
    stream: RandomStream,
    schema: u32,
    updates: Quota,
    scans: Quota,
    hot_spot: Rhythm,
    hot_schema: Rhythm,
}

impl SlobClient {
    pub fn new(settings: &SlobSettings, seed: u64, index: u32) -> Self {
        let frequency = settings.hot_spot().map_or(0, |_| settings.hotspot_frequency);
        Self {
            stream: RandomStream::new(seed, "slob client", [index, 0]),
            schema: index / settings.threads_per_schema % settings.schemas,
            updates: Quota::new(settings.update_pct),
            scans: Quota::new(settings.scan_pct),
            hot_spot: Rhythm::new(frequency, index),
            hot_schema: Rhythm::new(settings.hot_schema_frequency, index),
        }
    }

    pub fn next(&mut self, settings: &SlobSettings) -> SlobInput {
        let mut evidence = SlobEvidence::default();
        let operation = self.operation(&mut evidence);
        evidence.hot_schema = self.hot_schema.beat();
        // The table for scans has no hot spot.
        evidence.hot_spot = operation != SlobOperation::Scan && self.hot_spot.beat();
        let hot = settings.hot_spot().filter(|_| evidence.hot_spot);
        SlobInput {
            operation,
            schema: if evidence.hot_schema { 0 } else { self.schema },
            first: self.first(settings, hot),
            text: self.stream.bits(),
            thought: self.thought(settings),
            evidence,
        }
    }

    fn operation(&mut self, evidence: &mut SlobEvidence) -> SlobOperation {
        let updates = self.updates.next(&mut self.stream);
        evidence.updates_of_hundred = self.updates.ended();
        if updates {
            return SlobOperation::Update;
        }
        let scans = self.scans.next(&mut self.stream);
        evidence.scans_of_hundred = self.scans.ended();
        if scans { SlobOperation::Scan } else { SlobOperation::Read }
    }

    /// Every range that lies wholly in the schema, or in its hot spot, has the same probability.
    fn first(&mut self, settings: &SlobSettings, hot: Option<HotSpot>) -> u32 {
        let within = hot.unwrap_or(HotSpot { offset: 0, rows: settings.scale });
        let ranges = within.rows - settings.rows_per_range() + 1;
        let drawn = self.stream.below(u64::from(ranges));
        within.offset + 1 + u32::try_from(drawn).unwrap_or_default()
    }

    fn thought(&mut self, settings: &SlobSettings) -> Duration {
        if settings.think_tm_frequency == 0 || !self.stream.once_in(settings.think_tm_frequency) {
            return Duration::ZERO;
        }
        let (shortest, longest) = (settings.think_tm_min * MICROS_PER_MILLI, settings.think_tm_max * MICROS_PER_MILLI);
        Duration::from_micros(shortest + self.stream.below(longest - shortest + 1))
    }
}

/// Picks an exact number of every hundred, at random places.
#[derive(Debug, Clone, Copy)]
struct Quota {
    wanted: u32,
    picks: Picks,
    drawn: u32,
    picked: u32,
}

impl Quota {
    fn new(wanted: u32) -> Self {
        Self { wanted, picks: Self::hundred(wanted), drawn: 0, picked: 0 }
    }

    fn hundred(wanted: u32) -> Picks {
        Picks::new(u64::from(wanted), u64::from(HUNDRED))
    }

    fn next(&mut self, stream: &mut RandomStream) -> bool {
        if self.drawn == HUNDRED {
            *self = Self::new(self.wanted);
        }
        let picked = self.picks.next(stream);
        self.drawn += 1;
        self.picked += u32::from(picked);
        picked
    }

    /// How many it picked of the hundred that ended with the last draw; `None` if that did not end one.
    fn ended(&self) -> Option<u32> {
        (self.drawn == HUNDRED).then_some(self.picked)
    }
}

/// Beats at regular intervals.
#[derive(Debug, Clone, Copy)]
struct Rhythm {
    every: u64,
    since: u64,
}

impl Rhythm {
    /// It never beats if `every` is 0.
    fn new(every: u64, begin_at: u32) -> Self {
        Self { every, since: u64::from(begin_at).checked_rem(every).unwrap_or_default() }
    }

    fn beat(&mut self) -> bool {
        self.since += 1;
        let is_beat = self.since == self.every;
        if is_beat {
            self.since = 0;
        }
        is_beat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn settings(value: &Value) -> SlobSettings {
        ::settings::read(value.as_object().unwrap(), super::super::settings::KEYS).unwrap()
    }

    fn inputs(settings: &SlobSettings, index: u32, count: usize) -> Vec<SlobInput> {
        let mut client = SlobClient::new(settings, 7, index);
        (0..count).map(|_| client.next(settings)).collect()
    }

    #[test]
    fn golden_inputs() {
        let settings = settings(&json!({ "update_pct": 30, "scan_pct": 10, "schemas": 4, "threads_per_schema": 2 }));
        let shown: Vec<_> = inputs(&settings, 5, 6)
            .into_iter()
            .map(|input| (input.operation, input.schema, input.first, input.text % 1_000_000))
            .collect();
        let expected = [
            (SlobOperation::Read, 2, 5_333, 73_977),
            (SlobOperation::Read, 2, 4_061, 583_019),
            (SlobOperation::Update, 2, 7_006, 748_088),
            (SlobOperation::Read, 2, 605, 524_117),
            (SlobOperation::Read, 2, 4_888, 309_436),
            (SlobOperation::Scan, 2, 8_537, 289_405),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn clients_share_schemas_in_turn() {
        let settings = settings(&json!({ "schemas": 3, "threads_per_schema": 2 }));
        let schemas: Vec<u32> = (0..8).map(|index| inputs(&settings, index, 1)[0].schema).collect();
        assert_eq!(schemas, [0, 0, 1, 1, 2, 2, 0, 0]);
    }

    #[test]
    fn thoughts_are_as_frequent_and_as_long_as_asked_for() {
        let settings = settings(&json!({ "think_tm_frequency": 4, "think_tm_min": "1ms", "think_tm_max": "2ms" }));
        let thoughts: Vec<Duration> = inputs(&settings, 0, 40_000).iter().map(|input| input.thought).collect();
        let (none, some): (Vec<Duration>, Vec<Duration>) = thoughts.into_iter().partition(Duration::is_zero);
        // A quarter of 40,000, plus or minus five standard deviations of 87.
        assert!(some.len().abs_diff(10_000) < 5 * 87, "{}", some.len());
        assert_eq!(none.len() + some.len(), 40_000);
        assert!(some.iter().all(|thought| (1_000..=2_000).contains(&thought.as_micros())));
        let mean = some.iter().map(Duration::as_micros).sum::<u128>() / some.len() as u128;
        assert!((1_485..=1_515).contains(&mean), "{mean}");
    }

    #[test]
    fn all_rows_can_be_reached() {
        let settings = settings(&json!({ "scale": 1_024, "work_unit": 1_000 }));
        let firsts: std::collections::BTreeSet<u32> =
            inputs(&settings, 0, 2_000).iter().map(|input| input.first).collect();
        assert_eq!(firsts, (1..=26).collect());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_hundred_has_its_share(update_pct in 0_u32..=100, scan_pct in 0_u32..=100, index in 0_u32..50) {
            let settings = settings(&json!({ "update_pct": update_pct, "scan_pct": scan_pct }));
            let inputs = inputs(&settings, index, 1_000);
            for hundred in inputs.chunks(100) {
                let updates = hundred.iter().filter(|input| input.operation == SlobOperation::Update).count();
                prop_assert_eq!(updates, update_pct as usize);
                prop_assert_eq!(hundred[99].evidence.updates_of_hundred, Some(update_pct));
            }
            let selects: Vec<&SlobInput> = inputs.iter().filter(|input| input.operation != SlobOperation::Update).collect();
            for hundred in selects.chunks_exact(100) {
                let scans = hundred.iter().filter(|input| input.operation == SlobOperation::Scan).count();
                prop_assert_eq!(scans, scan_pct as usize);
            }
        }

        #[test]
        fn ranges_lie_within_the_schema_and_hot_ones_within_the_hot_spot(
            work_unit in 3_u32..=1_024, every in 1_u64..20, offset in 0_u32..=40, size in 8_u32..=40, index in 0_u32..50,
        ) {
            let settings = settings(&json!({
                "scale": "80MiB", "work_unit": work_unit, "do_hotspot": true, "hotspot_frequency": every,
                "hotspot_offset_mb": offset, "hotspot_mb": size, "hot_schema_frequency": every, "schemas": 3,
            }));
            let inputs = inputs(&settings, index, 400);
            let beats: Vec<usize> = (0..400).filter(|at| inputs[*at].evidence.hot_spot).collect();
            prop_assert!(beats.windows(2).all(|pair| (pair[1] - pair[0]) as u64 == every));
            prop_assert!((400 / every).abs_diff(beats.len() as u64) <= 1);
            for input in &inputs {
                let last = input.first + settings.rows_per_range() - 1;
                let hot = input.evidence.hot_spot;
                let (low, high) = if hot { (offset * 128 + 1, (offset + size) * 128) } else { (1, settings.scale) };
                prop_assert!(low <= input.first && last <= high);
                prop_assert_eq!(input.evidence.hot_schema, hot);
                prop_assert!(!hot || input.schema == 0);
            }
        }
    }
}
