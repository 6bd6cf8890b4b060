//! Reads the host at both ends of the measured window.
//!
//! Wherever it drives, the driver ticks once a second, on a thread that drives nothing. The host is read in the tick
//! that begins the window and in the one that ends it. Without warm-up the first reading is a second late.

use driver::plan::{DrivePlan, Tick};
use record::host_state::{HostReading, HostState};

/// Without warm-up the window begins before the first tick.
const FIRST_TICK_MS: u64 = 1_000;

/// Decides when to read the host, and keeps the readings.
#[derive(Debug, Default)]
pub struct HostWatch {
    start_ms: u64,
    end_ms: u64,
    start: Option<HostReading>,
    end: Option<HostReading>,
}

impl HostWatch {
    pub fn over(plan: &DrivePlan) -> Self {
        let window = plan.window_ms();
        Self { start_ms: window.start.max(FIRST_TICK_MS), end_ms: window.end, start: None, end: None }
    }

    pub fn tick(&mut self, tick: &Tick, read: impl FnOnce() -> HostReading) {
        if tick.elapsed_ms == self.start_ms {
            self.start = Some(read());
        } else if tick.elapsed_ms == self.end_ms {
            self.end = Some(read());
        }
    }

    /// The two readings; `None` if driving ended early.
    pub fn state(self) -> Option<HostState> {
        Some(HostState { start: self.start?, end: self.end? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::plan::Pacing;
    use std::path::Path;

    /// The seconds at whose end the host was read.
    fn read_at(warmup_ms: u64, measure_ms: u64, ticks: u64) -> Option<(u64, u64)> {
        let plan = DrivePlan::timed(Pacing::Clients { clients: 1 }, warmup_ms, measure_ms, 1);
        let mut watch = HostWatch::over(&plan);
        for second in 1..=ticks {
            let tick = Tick { elapsed_ms: second * 1_000, measured: true, counted: 0, committed: 0, errors: 0 };
            watch.tick(&tick, || telemetry::host_state(Path::new("/nonexistent"), 1, &[], second));
        }
        watch.state().map(|state| (state.start.at_ns, state.end.at_ns))
    }

    #[test]
    fn the_host_is_read_where_the_window_begins_and_ends() {
        assert_eq!(read_at(5_000, 10_000, 15), Some((5, 15)));
        assert_eq!(read_at(4_500, 2_000, 7), Some((5, 7)));
        assert_eq!(read_at(0, 3_000, 3), Some((1, 3)), "there is no earlier tick");
        assert_eq!(read_at(5_000, 10_000, 14), None, "cut short");
    }
}
