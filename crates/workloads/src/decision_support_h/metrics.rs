//! The figures of a trial: questions per hour in each phase, and both together. They are pure functions of what a record holds.

use super::questions::{COUNT, NAMES};
use super::{POWER, THROUGHPUT};
use record::intervals::{Measured, Span};
use record::script::{PhaseDone, PhaseEnd};

/// Questions per hour, without the refresh functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics {
    /// Asked one after another: as many as if each took the geometric mean of their times.
    pub one_at_a_time: f64,
    /// Asked by several streams, from the first question to the end of the last stream.
    pub together: f64,
    /// The geometric mean of both.
    pub combined: f64,
}

const SECONDS_PER_HOUR: f64 = 3_600.0;
const MICROSECONDS_PER_SECOND: f64 = 1_000_000.0;
const MILLISECONDS_PER_SECOND: f64 = 1_000.0;

/// `None` if a stream did not get an answer to each of its questions, or a phase did not end by itself.
pub fn metrics(phases: &[PhaseDone], measured: &Measured) -> Option<Metrics> {
    let phase = |name: &str| phases.iter().find(|phase| phase.name == name && phase.ended == PhaseEnd::Streams);
    let (power, throughput) = (phase(POWER)?, phase(THROUGHPUT)?);
    let one_at_a_time = SECONDS_PER_HOUR / geometric_mean(&times(power, measured)?);
    let streams = throughput.streams.first()?.pacing.clients();
    let are_answered = NAMES.iter().all(|name| answered(throughput, name) == u64::from(streams));
    let seconds = throughput.measured_ms as f64 / MILLISECONDS_PER_SECOND;
    if !are_answered || seconds <= 0.0 {
        return None;
    }
    let together = f64::from(streams) * COUNT as f64 * SECONDS_PER_HOUR / seconds;
    Some(Metrics { one_at_a_time, together, combined: (one_at_a_time * together).sqrt() })
}

fn answered(phase: &PhaseDone, name: &str) -> u64 {
    phase.kinds.iter().find(|totals| totals.kind == name).map_or(0, |totals| totals.committed)
}

/// The time of each question in a phase that asks each once, in seconds.
fn times(phase: &PhaseDone, measured: &Measured) -> Option<Vec<f64>> {
    let within = phase.start_ms..phase.start_ms + phase.warmup_ms + phase.measured_ms.max(1);
    let time = |name: &&str| {
        let kind = measured.kinds.iter().position(|known| known == name)?;
        let seconds = measured.intervals.iter().filter(|interval| within.contains(&interval.start_ms));
        let of_kind = seconds
            .flat_map(|interval| &interval.kinds)
            .filter(|part| usize::from(part.kind) == kind && part.span == Span::Response);
        match of_kind.flat_map(|part| &part.counts).collect::<Vec<_>>()[..] {
            [&(microseconds, 1)] => Some(microseconds as f64 / MICROSECONDS_PER_SECOND),
            _ => None,
        }
    };
    NAMES.iter().map(time).collect()
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::intervals::{Interval, KindInterval};
    use record::script::Stream;
    use record::trial::{KindTotals, Pacing};

    fn phase(name: &str, start_ms: u64, clients: u32, each: u64) -> PhaseDone {
        let totals = |name: &str| KindTotals { kind: name.to_owned(), committed: each, ..KindTotals::default() };
        PhaseDone {
            name: name.to_owned(),
            start_ms,
            warmup_ms: 0,
            measured_ms: 4_000,
            ended: PhaseEnd::Streams,
            streams: vec![Stream::of(0, Pacing::Clients { clients })],
            kinds: NAMES.map(totals).to_vec(),
        }
    }

    /// Half of the questions take 0.01 s and half 0.04 s, so their geometric mean is 0.02 s. The second phase has other times.
    fn series() -> Measured {
        let part =
            |kind: u16, microseconds| KindInterval { kind, span: Span::Response, counts: vec![(microseconds, 1)] };
        let second = |start_ms, times: [u64; 2]| Interval {
            start_ms,
            length_ms: 1_000,
            measured: true,
            kinds: (0..22).map(|kind| part(kind, times[usize::from(kind % 2)])).collect(),
        };
        let intervals = vec![second(1_000, [10_000, 40_000]), second(6_000, [70_000, 80_000])];
        Measured { kinds: NAMES.map(str::to_owned).to_vec(), intervals }
    }

    #[test]
    fn both_phases_count_questions_per_hour() {
        let phases = [phase(POWER, 0, 1, 1), phase(THROUGHPUT, 5_000, 3, 3)];
        let found = metrics(&phases, &series()).unwrap();
        let expected = [180_000.0, 59_400.0, (180_000.0_f64 * 59_400.0).sqrt()];
        for (found, expected) in [found.one_at_a_time, found.together, found.combined].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} instead of {expected}");
        }
    }

    #[test]
    fn what_is_not_answered_leaves_no_figure() {
        let whole = [phase(POWER, 0, 1, 1), phase(THROUGHPUT, 5_000, 3, 3)];
        let mut fewer = whole.clone();
        fewer[1].kinds[4].committed = 2;
        assert_eq!(metrics(&fewer, &series()), None);
        let mut over = whole.clone();
        over[0].ended = PhaseEnd::Limit;
        assert_eq!(metrics(&over, &series()), None);
        let mut missing = series();
        missing.intervals[0].kinds.pop();
        assert_eq!(metrics(&whole, &missing), None);
        assert_eq!(metrics(&whole[..1], &series()), None);
    }
}
