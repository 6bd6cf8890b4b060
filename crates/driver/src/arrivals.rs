//! The plan of arrivals: when each one is due and which user it belongs to, from the seed alone.
//!
//! Nothing here looks at the database or at a clock, so the plan does not depend on how fast anything is. Nor does it
//! depend on the number of shards: each draws the whole plan and keeps its own part. An arrival of another shard costs
//! a few nanoseconds, and shards need not communicate.

use crate::clock::Nanos;
use crate::slice::{ClientIndex, Slice};
use record::trial::ArrivalProcess;
use workloads::random::RandomStream;

/// How many users the arrivals come from. Each has a random stream and a home of its own. There are far more users than
/// transactions under way, so hardly any user has two at a time. They are enough for every home of a large data set.
pub const USERS: u32 = 10_000;

const NANOS_PER_SECOND: f64 = 1e9;

/// One shard's part of the plan, in order and endless.
#[derive(Debug, Clone)]
pub struct Arrivals {
    stream: RandomStream,
    process: ArrivalProcess,
    start: Nanos,
    gap_ns: f64,
    /// When the last drawn arrival is due, in nanoseconds since the start.
    at_ns: f64,
    drawn: u64,
    share: Slice,
}

impl Arrivals {
    pub fn new(stream: RandomStream, per_second: f64, process: ArrivalProcess, start: Nanos, share: Slice) -> Self {
        Self { stream, process, start, gap_ns: NANOS_PER_SECOND / per_second, at_ns: 0.0, drawn: 0, share }
    }

    /// The next arrival of the whole plan, in nanoseconds since the start.
    fn draw(&mut self) -> (f64, u32) {
        self.drawn += 1;
        self.at_ns = match self.process {
            ArrivalProcess::Uniform => self.drawn as f64 * self.gap_ns,
            ArrivalProcess::Poisson => self.at_ns - self.gap_ns * (1.0 - self.stream.fraction()).ln(),
        };
        // The result is below the number of users, which fits 32 bits.
        let user = u32::try_from(self.stream.below(u64::from(USERS))).unwrap_or(0);
        (self.at_ns, user)
    }
}

impl Iterator for Arrivals {
    type Item = (Nanos, ClientIndex);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at_ns, user) = self.draw();
            if user % self.share.of == self.share.shard {
                // It is never negative, and 64 bits of nanoseconds hold centuries.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let since_start = Nanos(at_ns as u64);
                return Some((self.start + since_start, user / self.share.of));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Generator;

    const ALONE: Slice = Slice { shard: 0, of: 1 };
    const START: Nanos = Nanos::from_seconds(5);

    fn plan(seed: u64, process: ArrivalProcess, share: Slice) -> Arrivals {
        Arrivals::new(RandomStream::new(seed, "arrivals", [0, 0]), 1_000.0, process, START, share)
    }

    #[test]
    fn uniform_arrivals_are_evenly_spaced() {
        let due: Vec<Nanos> =
            plan(1, ArrivalProcess::Uniform, ALONE).take(3).map(|(due, _)| due.since(START)).collect();
        assert_eq!(due, [Nanos::from_millis(1), Nanos::from_millis(2), Nanos::from_millis(3)]);
    }

    #[test]
    fn poisson_spans_have_the_mean_and_the_spread_of_exponential_ones() {
        let due: Vec<u64> =
            plan(1, ArrivalProcess::Poisson, ALONE).take(100_000).map(|(due, _)| due.since(START).0).collect();
        let spans: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = spans.iter().sum::<f64>() / spans.len() as f64;
        let variance = spans.iter().map(|span| (span - mean).powi(2)).sum::<f64>() / spans.len() as f64;
        // A thousand a second: spans have a mean and a deviation of 1 ms. Limits allow 4.5 times 1/√100,000 ≈ 0.3 %.
        assert!((mean - 1.0).abs() < 0.015, "{mean}");
        assert!((variance.sqrt() - 1.0).abs() < 0.02, "{variance}");
        let longer = spans.iter().filter(|span| **span > 3.0).count() as f64 / spans.len() as f64;
        assert!((longer - (-3.0_f64).exp()).abs() < 0.003, "{longer}");
    }

    #[test]
    fn shards_share_one_plan() {
        for process in [ArrivalProcess::Poisson, ArrivalProcess::Uniform] {
            let whole: Vec<_> = plan(7, process, ALONE).take(3_000).collect();
            let last = whole[2_999].0;
            let mut parts = Vec::new();
            for shard in 0..3 {
                let share = Slice { shard, of: 3 };
                let mine = plan(7, process, share).take_while(|(due, _)| *due <= last);
                parts.extend(mine.map(|(due, index)| (due, index * 3 + shard)));
            }
            parts.sort_unstable();
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn another_seed_is_another_plan() {
        let first = |seed| plan(seed, ArrivalProcess::Poisson, ALONE).next();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn load_generators_share_as_shards_do() {
        let mut all = Vec::new();
        for (number, shards) in [(0, 2), (1, 3)] {
            let generator = Generator { number, of: 2 };
            all.extend((0..shards).flat_map(|shard| generator.part_of(Slice { shard, of: shards }).of_all(1_000)));
        }
        all.sort_unstable();
        assert_eq!(all, (0..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn everything_is_of_one_shard() {
        let mut all: Vec<u32> = (0..3).flat_map(|shard| Slice { shard, of: 3 }.of_all(10)).collect();
        assert_eq!(Slice { shard: 1, of: 3 }.of_all(10), [1, 4, 7]);
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
    }
}
