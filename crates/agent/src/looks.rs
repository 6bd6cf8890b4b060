//! Looks at the counters of database and device, twice within the measured window, while load is driven.
//!
//! The driver calls once a second, on a thread that drives no load. One look is taken in the call that begins the
//! window, and one in the call a second before its end. So both lie within the load, and no session or shard waits for
//! them. A look costs a query over a connection that is already open, and reading a file of the kernel's. Between the
//! looks, what sessions wait for is sampled, if anything is sampled at all ([`crate::waits`]).

use driver::plan::{DrivePlan, Tick};
use record::looks::{Look, Looks};
use serde::{Deserialize, Serialize};

/// This long before its end the load has surely not ended yet, and this long after its start it has surely begun.
const MARGIN_MS: u64 = 1_000;

/// Whether a look is taken at the start or at the end of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    Start,
    End,
}

/// Decides when to look, and keeps the looks.
#[derive(Debug)]
pub struct LookWatch {
    start_ms: u64,
    end_ms: u64,
    start: Option<Look>,
    end: Option<Look>,
}

impl LookWatch {
    pub fn over(plan: &DrivePlan) -> Self {
        let window = plan.window_ms();
        // With several phases there is no single window for the looks.
        let end_ms = if plan.phases.len() == 1 { window.end.saturating_sub(MARGIN_MS) } else { 0 };
        let start_ms = window.start.max(MARGIN_MS);
        Self { start_ms, end_ms, start: None, end: None }
    }

    /// Looks if this is the moment for it. A look that failed is not tried again. Without the first look there is no
    /// second, because it would be useless.
    pub fn tick(&mut self, tick: &Tick, look: &mut dyn FnMut(Edge) -> Option<Look>) {
        let passed_ms = tick.elapsed_ms;
        if passed_ms == self.start_ms && passed_ms < self.end_ms {
            self.start = look(Edge::Start);
        } else if passed_ms == self.end_ms && self.start.is_some() {
            self.end = look(Edge::End);
        }
    }

    /// Both looks; `None` if driving ended early, or if the window is too short for two looks.
    pub fn looks(self) -> Option<Looks> {
        Some(Looks { start: self.start?, end: self.end? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::plan::Pacing;
    use record::looks::Reading;

    /// The seconds at whose end a look was taken.
    fn looked_at(warmup_ms: u64, measure_ms: u64, ticks: u64) -> Option<(u64, u64)> {
        let plan = DrivePlan::timed(Pacing::Clients { clients: 1 }, warmup_ms, measure_ms, 1);
        let mut watch = LookWatch::over(&plan);
        let mut watched = Vec::new();
        for second in 1..=ticks {
            let tick = Tick { elapsed_ms: second * 1_000, measured: true, counted: 0, committed: 0, errors: 0 };
            let unread = || Reading::Unavailable(String::new());
            let (database, device) = (Reading::Unavailable(String::new()), unread());
            let cpu = Reading::Unavailable(String::new());
            let look = Look { at_ns: second, took_ns: 0, database, device, cpu, counters: [].into(), waits: None };
            watch.tick(&tick, &mut |edge| {
                assert_eq!(edge == Edge::Start, watched.is_empty());
                watched.push(second);
                Some(look.clone())
            });
        }
        watch.looks().map(|looks| (looks.start.at_ns, looks.end.at_ns))
    }

    #[test]
    fn both_looks_lie_within_the_window() {
        assert_eq!(looked_at(5_000, 10_000, 15), Some((5, 14)));
        assert_eq!(looked_at(4_500, 2_000, 7), Some((5, 6)));
        assert_eq!(looked_at(0, 3_000, 3), Some((1, 2)), "driving has surely begun after a second");
    }

    #[test]
    fn windows_that_are_short_or_cut_short_have_no_looks() {
        assert_eq!(looked_at(5_000, 1_000, 6), None);
        assert_eq!(looked_at(0, 2_000, 2), None);
        assert_eq!(looked_at(5_000, 10_000, 9), None);
    }
}
