//! The parts of one trial: what its machines did before, while and after their neighbour worked.
//!
//! When the neighbour worked is what its own driver recorded, on the host's clock, not what was planned. Each second of
//! each other machine belongs to the part that contains its middle. Seconds beside a change are left out: transactions
//! begun before it end after it, a database that starts to work is cold, and clocks agree only roughly.

use crate::consolidation::{means, skew};
use crate::counted::window::{self, SideWindow};
use crate::latency::Counts;
use crate::missing::{Missing, NeighbourPart};
use crate::student::mean_of;
use crate::throughput;
use record::intervals::{Interval, KindInterval, Span};
use record::run::StoredTrial;
use record::telemetry::Side;
use record::trial::TrialRecord;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How far the middle of a second must be from a change. With grids that agree, one second is left out on either side.
const GUARD: Duration = Duration::from_secs(1);
/// Half a second of the grid.
const HALF_NS: u64 = 500_000_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SECOND: f64 = 1e9;

/// A single second says more about its own commits than about a neighbour.
pub const FEWEST_SECONDS: usize = 2;

/// The parts of one trial. All are point values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TrialParts {
    pub trial: u32,
    pub block: u32,
    pub work: NeighbourWork,
    /// How wrong these moments may be, since clocks are compared over a round trip and drift in between.
    pub uncertain_ms: f64,
    /// The parts that exist.
    pub parts: Vec<PartReading>,
    /// The mean of the others in each second of their windows.
    pub seconds: Vec<f64>,
}

impl TrialParts {
    pub fn part(&self, part: NeighbourPart) -> Option<&PartReading> {
        self.parts.iter().find(|reading| reading.part == part)
    }
}

/// When the neighbour worked, in seconds since the first of the others' windows began.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct NeighbourWork {
    /// `None` if it was already working at that moment.
    pub from_s: Option<f64>,
    /// `None` if it worked until the windows ended.
    pub to_s: Option<f64>,
}

/// What the others did in one part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartReading {
    pub part: NeighbourPart,
    /// The seconds of the machine that has fewest.
    pub seconds: usize,
    /// Each machine's number and mean rate.
    pub machines: Vec<(u32, f64)>,
    /// Response times of the counted kinds, all kinds together.
    #[serde(skip)]
    pub responses: Counts,
}

impl PartReading {
    pub fn mean(&self) -> f64 {
        mean_of(&self.machines.iter().map(|(_, rate)| *rate).collect::<Vec<_>>())
    }

    pub fn least(&self) -> f64 {
        self.machines.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min)
    }
}

/// The moments at which the neighbour's work changed, on the host's clock, if they lie within the others' windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Changes {
    begins_ns: Option<u64>,
    ends_ns: Option<u64>,
    guard: Duration,
}

impl Changes {
    /// `None` if the moment is too near to a change.
    fn part_at(&self, moment_ns: u64) -> Option<NeighbourPart> {
        let is_near = |change: &u64| Duration::from_nanos(change.abs_diff(moment_ns)) < self.guard;
        let part = match (self.begins_ns, self.ends_ns) {
            (Some(begins), _) if moment_ns < begins => NeighbourPart::Before,
            (_, Some(ends)) if moment_ns > ends => NeighbourPart::After,
            _ => NeighbourPart::During,
        };
        (!self.begins_ns.iter().chain(&self.ends_ns).any(is_near)).then_some(part)
    }

    /// The parts that should have seconds.
    fn parts(&self) -> impl Iterator<Item = NeighbourPart> {
        let before = self.begins_ns.map(|_| NeighbourPart::Before);
        before.into_iter().chain([NeighbourPart::During]).chain(self.ends_ns.map(|_| NeighbourPart::After))
    }
}

/// One of the other machines.
struct Other<'a> {
    number: u32,
    record: &'a TrialRecord,
    /// On the host's clock.
    window: SideWindow,
    seconds: Vec<CountedSecond>,
}

/// A second of a measured window.
struct CountedSecond {
    /// On the host's clock, by which the driver's window may be longer or shorter than by its own.
    middle_ns: u64,
    rate: f64,
    /// Of the counted kinds.
    responses: Vec<(u64, u64)>,
}

/// Divides a trial into parts, or says why that fails. `Ok(None)` if the neighbour did nothing at all.
pub fn of_trial(trial: &StoredTrial, neighbour: u32) -> Result<Option<TrialParts>, Missing> {
    let place = neighbour as usize - 1;
    let record = &trial.machines.get(place).ok_or(Missing::NoNeighbour)?.record;
    let Some(driver) = &record.driver else { return Ok(None) };
    let others = others(trial, neighbour)?;
    let first_ns = others.iter().map(|other| other.window.start_ns).min().ok_or(Missing::NobodyBeside)?;
    let last_ns = others.iter().map(|other| other.window.end_ns).max().ok_or(Missing::NobodyBeside)?;
    let worked = window::of_side(record, Side::Host).map_err(|why| why.of_machine(neighbour))?;
    let begins_ns = worked.start_ns.saturating_sub(driver.warmup_ms * NANOS_PER_MILLI);
    let records = others.iter().map(|other| other.record).chain([record]);
    let uncertain_ns = records.map(uncertain_ns).max().unwrap_or(0);
    let changes = Changes {
        begins_ns: Some(begins_ns).filter(|begins| *begins > first_ns + HALF_NS),
        ends_ns: Some(worked.end_ns).filter(|ends| ends + HALF_NS < last_ns),
        guard: GUARD.max(Duration::from_nanos(HALF_NS + uncertain_ns)),
    };
    let in_s = |moment_ns: u64| (moment_ns - first_ns) as f64 / NANOS_PER_SECOND;
    Ok(Some(TrialParts {
        trial: trial.record.id,
        block: trial.record.block,
        work: NeighbourWork { from_s: changes.begins_ns.map(in_s), to_s: changes.ends_ns.map(in_s) },
        uncertain_ms: uncertain_ns as f64 / NANOS_PER_MILLI as f64,
        parts: changes.parts().map(|part| reading(part, &others, &changes)).collect::<Result<_, _>>()?,
        seconds: course(&others),
    }))
}

/// What the others did in their whole windows, whatever the neighbour did.
pub fn whole(trial: &StoredTrial, neighbour: u32, part: NeighbourPart) -> Result<TrialParts, Missing> {
    let others = others(trial, neighbour)?;
    let changes = Changes { begins_ns: None, ends_ns: None, guard: Duration::ZERO };
    let parts = vec![PartReading { part, ..reading(NeighbourPart::During, &others, &changes)? }];
    Ok(TrialParts { trial: trial.record.id, block: trial.record.block, parts, ..TrialParts::default() })
}

/// All machines but the neighbour. One machine without data makes the whole trial unusable.
fn others(trial: &StoredTrial, neighbour: u32) -> Result<Vec<Other<'_>>, Missing> {
    let all = (1..).zip(&trial.machines).filter(|(number, _)| *number != neighbour);
    all.map(|(number, machine)| other(number, machine).map_err(|why| why.of_machine(number))).collect()
}

fn other(number: u32, machine: &StoredTrial) -> Result<Other<'_>, Missing> {
    let window = window::of_side(&machine.record, Side::Host)?;
    let driver = machine.record.driver.as_ref().ok_or(Missing::NotDriven)?;
    let measured = machine.measured.as_ref();
    let (kinds, intervals) =
        measured.map_or((&[][..], &[][..]), |measured| (&measured.kinds[..], &measured.intervals[..]));
    let is_counted = |own: &&KindInterval| {
        let name = kinds.get(usize::from(own.kind));
        own.span == Span::Response && name.is_some_and(|name| driver.metric.counts(name))
    };
    let intervals = || intervals.iter().filter(|interval| interval.measured);
    let first_ms = intervals().next().map_or(0, |first| first.start_ms);
    let second = |interval: &Interval| {
        let middle_ms = interval.start_ms.saturating_sub(first_ms) as f64 + interval.length_ms as f64 / 2.0;
        let share = middle_ms / driver.measured_ms.max(1) as f64;
        let counts = interval.kinds.iter().filter(is_counted).flat_map(|own| &own.counts);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Within the window.
        let after_ns = (window.length_ns() as f64 * share) as u64;
        CountedSecond {
            middle_ns: window.start_ns + after_ns,
            rate: throughput::rate_of(interval, kinds, driver).unwrap_or(0.0),
            responses: counts.map(|&(value_us, count)| (value_us, u64::from(count))).collect(),
        }
    };
    Ok(Other { number, record: &machine.record, window, seconds: intervals().map(second).collect() })
}

/// Half a round trip for each of two clocks, plus how much the clock moved between the readings around the driving. At
/// any moment between them it was somewhere between the two.
fn uncertain_ns(record: &TrialRecord) -> u64 {
    skew::round_trip_ns(record) + window::drift_ns(record)
}

fn reading(part: NeighbourPart, others: &[Other<'_>], changes: &Changes) -> Result<PartReading, Missing> {
    let (mut machines, mut fewest, mut responses) = (Vec::new(), usize::MAX, Vec::new());
    for other in others {
        let is_own = |second: &&CountedSecond| changes.part_at(second.middle_ns) == Some(part);
        let own: Vec<&CountedSecond> = other.seconds.iter().filter(is_own).collect();
        fewest = fewest.min(own.len());
        machines.push((other.number, mean_of(&own.iter().map(|second| second.rate).collect::<Vec<_>>())));
        responses.extend(own.iter().flat_map(|second| &second.responses).copied());
    }
    if fewest < FEWEST_SECONDS {
        return Err(Missing::PartTooShort { part, seconds: fewest });
    }
    Ok(PartReading { part, seconds: fewest, machines, responses: Counts::of(responses) })
}

/// The mean of the others in each second from the beginning of their windows that all of them have.
fn course(others: &[Other<'_>]) -> Vec<f64> {
    let rates = |other: &Other<'_>| other.seconds.iter().map(|second| second.rate).collect();
    means(&others.iter().map(rates).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn parts_of(changes: &Changes, middles_ms: impl Iterator<Item = u64>) -> String {
        let letter = |part| match part {
            Some(NeighbourPart::Before) => 'b',
            Some(NeighbourPart::During) => 'd',
            Some(NeighbourPart::After) => 'a',
            None => '-',
        };
        middles_ms.map(|middle_ms| letter(changes.part_at(middle_ms * NANOS_PER_MILLI))).collect()
    }

    /// Middles of seconds on a grid that agrees with the changes to within some milliseconds, and on one that lies half-way.
    #[test]
    fn one_second_is_left_out_on_either_side_of_a_change() {
        let burst = |off_ms: u64| Changes {
            begins_ns: Some(4 * SECOND + off_ms * NANOS_PER_MILLI),
            ends_ns: Some(8 * SECOND + off_ms * NANOS_PER_MILLI),
            guard: GUARD,
        };
        let grid = |from_ms: u64| (0..12).map(move |second| second * 1_000 + from_ms);
        assert_eq!(parts_of(&burst(0), grid(500)), "bbb--dd--aaa");
        assert_eq!(parts_of(&burst(7), grid(500)), "bbb--dd--aaa");
        assert_eq!(parts_of(&burst(0), grid(493)), "bbb--dd--aaa");
        assert_eq!(parts_of(&burst(0), grid(0)), "bbbb-ddd-aaa", "the second across a change is the one");
        let stops = Changes { begins_ns: None, ..burst(0) };
        assert_eq!(parts_of(&stops, grid(500)), "ddddddd--aaa");
        let starts = Changes { ends_ns: None, ..burst(0) };
        assert_eq!(parts_of(&starts, grid(500)), "bbb--ddddddd");
        let unsure = Changes { guard: 2 * GUARD, ..burst(0) };
        assert_eq!(parts_of(&unsure, grid(500)), "bb--------aa");
    }
}
