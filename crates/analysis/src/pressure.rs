//! What each trial records about how work was offered: the climb to the peak, and waiting for sessions.
//!
//! Readings as recorded, arranged for reading; nothing is estimated from them.

use crate::validity::trials_of;
use record::ladder::Ladder;
use record::run::Run;
use record::trial::{DriverFacts, KindTotals, Pacing, QueuedWork};
use serde::{Deserialize, Serialize};

/// The climb of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialClimb {
    pub trial: u32,
    pub block: u32,
    pub ladder: Ladder,
}

/// The queue for sessions in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialQueue {
    pub trial: u32,
    pub block: u32,
    /// The rate that the study asks for, if it asks for one.
    pub asked_per_s: Option<f64>,
    /// Transactions of all kinds per second that ended in the measured window as the workload demands.
    pub done_per_s: f64,
    pub response_p99_us: u64,
    pub session_wait_p99_us: u64,
    pub queue: QueuedWork,
}

pub fn climbs(run: &Run, cell: u32) -> Vec<TrialClimb> {
    let of_trial = |(trial, block, driver): (u32, u32, &DriverFacts)| {
        Some(TrialClimb { trial, block, ladder: driver.ladder.clone()? })
    };
    driven(run, cell).filter_map(of_trial).collect()
}

pub fn queues(run: &Run, cell: u32) -> Vec<TrialQueue> {
    let of_trial = |(trial, block, driver): (u32, u32, &DriverFacts)| {
        let asked = |pacing| if let Pacing::Arrivals { per_second, .. } = pacing { Some(per_second) } else { None };
        let done: u64 = driver.transactions().map(KindTotals::finished).sum();
        Some(TrialQueue {
            trial,
            block,
            asked_per_s: driver.pacing.and_then(asked),
            done_per_s: done as f64 * 1000.0 / driver.measured_ms.max(1) as f64,
            response_p99_us: driver.testimony.response.p99_us,
            session_wait_p99_us: driver.testimony.session_wait.p99_us,
            queue: driver.queue.clone()?,
        })
    };
    driven(run, cell).filter_map(of_trial).collect()
}

/// Number and block of each trial that was driven.
fn driven(run: &Run, cell: u32) -> impl Iterator<Item = (u32, u32, &DriverFacts)> {
    trials_of(run, cell).filter_map(|trial| Some((trial.record.id, trial.record.block, trial.record.driver.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;
    use record::trial::ArrivalProcess;

    #[test]
    fn only_trials_with_a_shared_queue_or_a_climb_are_told() {
        let mut run = synthetic::run(3);
        assert!(climbs(&run, 0).is_empty() && queues(&run, 0).is_empty());
        let driver = run.trials[0].record.driver.as_mut().unwrap();
        driver.pacing = Some(Pacing::Arrivals { per_second: 500.0, process: ArrivalProcess::Poisson, sessions: 64 });
        driver.queue = Some(QueuedWork { longest: 7, ..QueuedWork::default() });
        (driver.measured_ms, driver.kinds[0].committed) = (2_000, 1_000);
        driver.kinds[0].rolled_back = 10;
        driver.kinds.truncate(1);
        let (cell, id) = (run.trials[0].record.cell, run.trials[0].record.id);
        let told = queues(&run, cell);
        assert_eq!((told.len(), told[0].trial, told[0].asked_per_s, told[0].queue.longest), (1, id, Some(500.0), 7));
        assert!((told[0].done_per_s - 505.0).abs() < 1e-9);
    }
}
