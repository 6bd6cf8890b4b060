//! The grid of seconds that all shards share, and which of them are measured.
//!
//! Warm-up and measured time are whole seconds, counted from one start. What finishes in a second belongs to it.

use crate::clock::Nanos;
use crate::plan::DrivePlan;

const MILLIS_PER_SECOND: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub start: Nanos,
    pub warmup_s: u64,
    pub measure_s: u64,
    /// Driven and not measured, after the rest.
    pub tail_s: u64,
}

impl Window {
    pub fn new(plan: &DrivePlan, start: Nanos) -> Self {
        let window_ms = plan.window_ms();
        let warmup_s = window_ms.start / MILLIS_PER_SECOND;
        let measure_s = (window_ms.end - window_ms.start) / MILLIS_PER_SECOND;
        Self { start, warmup_s, measure_s, tail_s: plan.together.map_or(0, |together| together.tail_s) }
    }

    /// Of warm-up and measured time.
    pub fn seconds(&self) -> u64 {
        self.warmup_s + self.measure_s
    }

    /// When no further transaction begins.
    pub fn end(&self) -> Nanos {
        self.second_start(self.seconds() + self.tail_s)
    }

    pub fn second_of(&self, moment: Nanos) -> u64 {
        moment.since(self.start).whole_seconds()
    }

    pub fn second_start(&self, second: u64) -> Nanos {
        self.start + Nanos::from_seconds(second)
    }

    pub fn measured_start(&self) -> Nanos {
        self.second_start(self.warmup_s)
    }

    pub fn measured_end(&self) -> Nanos {
        self.second_start(self.seconds())
    }

    pub fn is_measured(&self, second: u64) -> bool {
        (self.warmup_s..self.seconds()).contains(&second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Pacing;

    fn window(warmup_ms: u64, measure_ms: u64) -> Window {
        let plan = DrivePlan {
            pacing: Pacing::Clients { clients: 1 },
            shards: 1,
            warmup_ms,
            measure_ms,
            seed: 1,
            retries: 0,
            together: None,
            away_limit_ms: 3_000,
        };
        Window::new(&plan, Nanos::from_millis(700))
    }

    #[test]
    fn spans_become_whole_seconds() {
        let window = window(1_001, 2_000);
        assert_eq!((window.warmup_s, window.measure_s), (2, 2));
        assert_eq!(window.end(), Nanos::from_millis(4_700));
    }

    #[test]
    fn a_boundary_belongs_to_the_second_it_begins() {
        let window = window(1_000, 1_000);
        assert_eq!(window.second_of(Nanos::from_millis(1_700)), 1);
        assert_eq!(window.second_of(Nanos(1_699_999_999)), 0);
        assert!(!window.is_measured(0));
        assert!(window.is_measured(1));
        assert!(!window.is_measured(2));
    }
}
