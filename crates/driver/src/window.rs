//! The grid of seconds that all shards share, and which of them are measured.
//!
//! Warm-up and measured time are whole seconds, counted from one start. A transaction belongs to the second in which it ends.

use crate::clock::Nanos;
use crate::plan::{DrivePlan, LoadPhase, Shape};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub start: Nanos,
    pub warmup_s: u64,
    /// The longest it can be, if the window is open.
    pub measure_s: u64,
    /// Driven after the rest, but not measured.
    pub tail_s: u64,
    /// The window ends with the last transaction of its streams.
    pub is_open: bool,
    /// Nothing in it counts, and it lasts until the driver learns that the others are done.
    pub is_filler: bool,
    /// When driving began: the start of the first phase. Later phases begin whole seconds after it.
    pub origin: Nanos,
}

impl Window {
    /// A window of no length.
    #[cfg(test)]
    pub const AT_ZERO: Self = Self {
        start: Nanos::ZERO,
        warmup_s: 0,
        measure_s: 0,
        tail_s: 0,
        is_open: false,
        is_filler: false,
        origin: Nanos::ZERO,
    };

    pub fn of(phase: &LoadPhase, plan: &DrivePlan, start: Nanos, origin: Nanos) -> Self {
        let Shape { warmup_s, measure_s, is_open } = Shape::of(phase);
        let tail_s = if is_open { 0 } else { plan.together.map_or(0, |together| together.tail_s) };
        Self { start, warmup_s, measure_s, tail_s, is_open, is_filler: false, origin }
    }

    /// For whoever is done with a phase before others are.
    pub fn filler(self, start: Nanos) -> Self {
        Self { start, is_filler: true, ..self }
    }

    /// From the start of driving to the start of this phase.
    pub fn offset_ms(&self) -> u64 {
        self.start.since(self.origin).as_millis()
    }

    /// The number of seconds of warm-up and measured time.
    pub fn seconds(&self) -> u64 {
        self.warmup_s + self.measure_s
    }

    /// From this moment on, no further transaction begins.
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
        let plan = DrivePlan::timed(Pacing::Clients { clients: 1 }, warmup_ms, measure_ms, 1);
        Window::of(&plan.phases[0], &plan, Nanos::from_millis(700), Nanos::from_millis(700))
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
