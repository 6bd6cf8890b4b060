//! Work that ends: phases in which every stream does each counted transaction once.
//!
//! The phase of the stream that works alone shows how long each transaction takes, whatever the others cost: its rate is one over
//! the geometric mean of their times. The phase of several streams shows how much gets done in the time that all of them need, also
//! if the user asked for only one stream. A phase in which
//! nothing counts has a length only. The figure of a machine is the geometric mean of the rates of its phases.

use crate::latency;
use crate::missing::Missing;
use record::intervals::{Interval, KindInterval, Measured, Span};
use record::run::StoredTrial;
use record::script::{PhaseDone, PhaseEnd};
use record::trial::{DriverFacts, KindTotals};

/// What one phase yielded.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseFigures {
    pub name: String,
    /// Counted transactions per unit of time, in the unit of the workload's metric. `None` if nothing in the phase counts.
    pub rate: Option<f64>,
    pub length_s: f64,
    /// The mean time of each counted kind, in microseconds. If nothing counts, of each kind.
    pub times: Vec<(String, f64)>,
}

/// The figures of each phase of a machine, or why there are none; `None` if its load does not end with its work.
pub fn of_machine(machine: &StoredTrial) -> Option<Result<Vec<PhaseFigures>, Missing>> {
    of(machine.record.driver.as_ref()?, machine.measured.as_ref())
}

/// The same of what was driven, and its series.
pub fn of(driver: &DriverFacts, measured: Option<&Measured>) -> Option<Result<Vec<PhaseFigures>, Missing>> {
    let phases = driver.ends_with_its_work().then(|| driver.phases.iter())?;
    Some(phases.map(|phase| of_phase(measured, driver, phase)).collect())
}

/// The geometric mean of the rates of all phases.
pub fn combined(phases: &[PhaseFigures]) -> f64 {
    let rates: Vec<_> = phases.iter().filter_map(|phase| phase.rate).collect();
    geometric_mean(rates.into_iter())
}

fn of_phase(measured: Option<&Measured>, driver: &DriverFacts, phase: &PhaseDone) -> Result<PhaseFigures, Missing> {
    let missing = || Missing::PhaseIncomplete { phase: phase.name.clone() };
    let was_tried = |kind: &&KindTotals| kind.committed + kind.failed > 0;
    let mut kinds: Vec<_> = phase.kinds.iter().filter(|kind| driver.metric.counts(&kind.kind)).collect();
    let counts_nothing = !kinds.iter().any(was_tried);
    if counts_nothing {
        kinds = phase.kinds.iter().filter(was_tried).collect();
    }
    let each = kinds.first().map_or(0, |kind| kind.committed);
    let is_whole = each > 0 && kinds.iter().all(|kind| kind.committed == each && kind.failed == 0);
    if phase.ended != PhaseEnd::Streams || !is_whole || phase.measured_ms == 0 {
        return Err(missing());
    }
    let times = kinds.iter().map(|kind| Some((kind.kind.clone(), mean_us(measured?, phase, &kind.kind, each)?)));
    let times: Vec<(String, f64)> = times.collect::<Option<_>>().ok_or_else(missing)?;
    let rate = if counts_nothing {
        None
    } else if phase.is_of_one_alone() {
        let per_us = driver.metric.per_ms as f64 * 1_000.0;
        Some(per_us / geometric_mean(times.iter().map(|(_, time_us)| *time_us)))
    } else {
        Some((each * kinds.len() as u64) as f64 * driver.metric.per_ms as f64 / phase.measured_ms as f64)
    };
    Ok(PhaseFigures { name: phase.name.clone(), rate, length_s: phase.measured_ms as f64 / 1_000.0, times })
}

/// The mean response time of one kind within a phase, if all that ended are in the series.
fn mean_us(measured: &Measured, phase: &PhaseDone, kind: &str, expected: u64) -> Option<f64> {
    let number = measured.kinds.iter().position(|known| known == kind)?;
    let within = phase.start_ms..phase.start_ms + phase.warmup_ms + phase.measured_ms;
    let is_within = |interval: &&Interval| interval.measured && within.contains(&interval.start_ms);
    let parts = measured.intervals.iter().filter(is_within).flat_map(|interval| &interval.kinds);
    let is_asked = |part: &&KindInterval| usize::from(part.kind) == number && part.span == Span::Response;
    let times = latency::of_parts(parts.filter(is_asked), Span::Response);
    times.mean().filter(|mean_us| times.total() == expected && *mean_us > 0.0)
}

fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    (values.map(f64::ln).sum::<f64>() / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::script::UserStream;
    use record::synthetic;
    use record::trial::Pacing;

    const KINDS: [&str; 2] = ["first", "second"];

    fn phase(name: &str, start_ms: u64, actor: u16, clients: u32) -> PhaseDone {
        let totals =
            |name: &str| KindTotals { kind: name.to_owned(), committed: clients.into(), ..KindTotals::default() };
        PhaseDone {
            name: name.to_owned(),
            start_ms,
            warmup_ms: 0,
            measured_ms: 4_000,
            ended: PhaseEnd::Streams,
            streams: vec![UserStream::of(actor, Pacing::Clients { clients })],
            kinds: KINDS.map(totals).to_vec(),
        }
    }

    /// Alone, the two kinds take 0.01 s and 0.04 s, whose geometric mean is 0.02 s. Three streams take other times.
    fn trial() -> StoredTrial {
        let part =
            |kind: u16, value_us, count| KindInterval { kind, span: Span::Response, counts: vec![(value_us, count)] };
        let second = |start_ms, times: [u64; 2], count| Interval {
            start_ms,
            length_ms: 1_000,
            measured: true,
            kinds: vec![part(0, times[0], count), part(1, times[1], count)],
        };
        let intervals = vec![second(1_000, [10_000, 40_000], 1), second(6_000, [70_000, 80_000], 3)];
        let mut trial = synthetic::run(3).trials.remove(0);
        trial.measured = Some(Measured { kinds: KINDS.map(str::to_owned).to_vec(), intervals });
        let driver = trial.record.driver.as_mut().unwrap();
        driver.metric.counted = KINDS.map(str::to_owned).to_vec();
        driver.metric.per_ms = 3_600_000;
        driver.phases = vec![phase("power", 0, 0, 1), phase("throughput", 5_000, 1, 3)];
        trial
    }

    fn phases_of(trial: &mut StoredTrial) -> &mut Vec<PhaseDone> {
        &mut trial.record.driver.as_mut().unwrap().phases
    }

    fn missing(trial: &StoredTrial) -> String {
        let Some(Err(Missing::PhaseIncomplete { phase })) = of_machine(trial) else {
            panic!("{:?}", of_machine(trial))
        };
        phase
    }

    #[test]
    fn a_stream_alone_counts_by_its_times_and_several_by_the_clock() {
        let found = of_machine(&trial()).unwrap().unwrap();
        let close =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
        close(found[0].rate.unwrap(), 180_000.0);
        close(found[1].rate.unwrap(), 6.0 * 900.0);
        close(combined(&found), (180_000.0_f64 * 5_400.0).sqrt());
        assert_eq!(found[1].times, [("first".to_owned(), 70_000.0), ("second".to_owned(), 80_000.0)]);
    }

    #[test]
    fn one_stream_of_several_counts_by_the_clock_as_well() {
        let mut trial = trial();
        phases_of(&mut trial)[1].kinds.iter_mut().for_each(|totals| totals.committed = 1);
        for part in &mut trial.measured.as_mut().unwrap().intervals[1].kinds {
            part.counts[0].1 = 1;
        }
        let rates: Vec<_> = of_machine(&trial).unwrap().unwrap().iter().map(|phase| phase.rate.unwrap()).collect();
        assert!((rates[0] / 180_000.0 - 1.0).abs() < 1e-9, "{rates:?}");
        assert!((rates[1] / (2.0 * 900.0) - 1.0).abs() < 1e-9, "two questions in four seconds: {rates:?}");
    }

    #[test]
    fn a_phase_in_which_nothing_counts_has_a_length_and_no_rate() {
        let mut trial = trial();
        let rates = |trial: &StoredTrial| combined(&of_machine(trial).unwrap().unwrap());
        let without = rates(&trial);
        let mut maintenance = phase("maintenance", 9_000, 2, 1);
        maintenance.kinds.iter_mut().for_each(|totals| totals.committed = 0);
        let deletes = KindTotals { kind: "delete".to_owned(), committed: 1, ..KindTotals::default() };
        maintenance.kinds.push(deletes);
        phases_of(&mut trial).push(maintenance);
        let measured = trial.measured.as_mut().unwrap();
        measured.kinds.push("delete".to_owned());
        let delete = KindInterval { kind: 2, span: Span::Response, counts: vec![(50_000, 1)] };
        let second = Interval { start_ms: 10_000, length_ms: 1_000, measured: true, kinds: vec![delete] };
        measured.intervals.push(second);
        let found = of_machine(&trial).unwrap().unwrap().remove(2);
        assert_eq!((found.rate, found.length_s), (None, 4.0));
        assert_eq!(found.times, [("delete".to_owned(), 50_000.0)]);
        assert_eq!(rates(&trial).to_bits(), without.to_bits());
        phases_of(&mut trial)[2].kinds[2].failed = 1;
        assert_eq!(missing(&trial), "maintenance");
    }

    #[test]
    fn what_is_not_done_whole_has_no_figure() {
        let mut fewer = trial();
        phases_of(&mut fewer)[1].kinds[1].committed = 2;
        assert_eq!(missing(&fewer), "throughput");
        let mut over = trial();
        phases_of(&mut over)[0].ended = PhaseEnd::Limit;
        assert_eq!(missing(&over), "power");
        let mut unrecorded = trial();
        unrecorded.measured.as_mut().unwrap().intervals.remove(1);
        assert_eq!(missing(&unrecorded), "throughput");
        let mut timed = trial();
        for phase in phases_of(&mut timed) {
            phase.ended = PhaseEnd::Time;
        }
        assert_eq!(of_machine(&timed), None);
    }
}
