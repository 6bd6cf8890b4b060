//! How much of a run is left: from trials of the same kind that have ended, or from the plan until there is one.

use record::plan::{Plan, PlannedTrial};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use study::{TypedCell, TypedPlan};

/// The times that a plan lets expect.
#[derive(Debug, Default)]
pub struct Expected {
    /// Of what the trials share.
    preparing: Duration,
    /// Of a trial, by cell.
    of_cells: BTreeMap<u32, Duration>,
    /// How many trials run at the same time.
    at_once: u32,
}

impl Expected {
    pub fn of(plan: &TypedPlan, preparing: Duration) -> Self {
        let of_cell = |cell: &TypedCell| {
            let trial = plan.trials.iter().find(|trial| trial.cell == cell.written.id);
            let estimate = study::estimate(&plan.with_trials(trial.into_iter().cloned().collect()));
            (cell.written.id, Duration::from_millis(estimate.total_ms - estimate.preparing_ms))
        };
        let of_cells = plan.planned().map(of_cell).collect();
        let at_once = u32::try_from(study::lanes(plan, &plan.trials).len()).unwrap_or(u32::MAX);
        Self { preparing, of_cells, at_once }
    }
}

#[derive(Debug)]
pub struct LiveClock {
    begun: Instant,
    expected: Expected,
    left: Vec<LeftTrial>,
    /// When each running trial began.
    running: BTreeMap<u32, Instant>,
    /// Lengths of ended trials, by cell and by contender.
    by_cell: BTreeMap<u32, Vec<Duration>>,
    by_contender: BTreeMap<String, Vec<Duration>>,
    /// The time shown last; it never rises unless the plan grows.
    shown: Option<Duration>,
}

/// A trial that has not ended.
#[derive(Debug)]
struct LeftTrial {
    id: u32,
    cell: u32,
    contender: String,
    planned: Duration,
}

impl LiveClock {
    /// For the trials of a plan.
    pub fn new(plan: &Plan, expected: Expected, now: Instant) -> Self {
        let (by_cell, by_contender) = Default::default();
        let (left, running) = (Vec::new(), BTreeMap::new());
        let mut clock = Self { begun: now, expected, left, running, by_cell, by_contender, shown: None };
        clock.add(plan, &plan.trials);
        clock
    }

    /// Adds these trials, by which the plan has grown.
    pub fn add(&mut self, plan: &Plan, trials: &[PlannedTrial]) {
        for trial in trials {
            let Some(cell) = plan.cells.iter().find(|cell| cell.id == trial.cell) else { continue };
            let planned = self.expected.of_cells.get(&cell.id).copied().unwrap_or_default();
            self.left.push(LeftTrial { id: trial.id, cell: cell.id, contender: cell.contender.clone(), planned });
        }
        self.shown = None;
    }

    pub fn trial_begins(&mut self, id: u32, now: Instant) {
        self.running.insert(id, now);
    }

    pub fn trial_ends(&mut self, id: u32, now: Instant) {
        let begun = self.running.remove(&id).unwrap_or(now);
        let Some(place) = self.left.iter().position(|left| left.id == id) else { return };
        let left = self.left.remove(place);
        self.by_cell.entry(left.cell).or_default().push(now - begun);
        self.by_contender.entry(left.contender).or_default().push(now - begun);
    }

    pub fn left(&mut self, now: Instant) -> Duration {
        let trials: Duration = self.left.iter().map(|left| self.rest(left, now)).sum();
        let trials = trials / self.expected.at_once.max(1);
        let nothing_began = self.by_cell.is_empty() && self.running.is_empty();
        let estimate =
            if nothing_began { trials + self.expected.preparing.saturating_sub(now - self.begun) } else { trials };
        let shown = self.shown.map_or(estimate, |shown| shown.min(estimate));
        self.shown = Some(shown);
        shown
    }

    /// The share of the total time that has passed, in thousandths.
    pub fn permille(&mut self, now: Instant) -> u64 {
        let (passed, left) = ((now - self.begun).as_millis(), self.left(now).as_millis());
        u64::try_from(passed * 1000 / (passed + left).max(1)).unwrap_or(1000)
    }

    fn rest(&self, left: &LeftTrial, now: Instant) -> Duration {
        let passed = self.running.get(&left.id).map_or(Duration::ZERO, |begun| now - *begun);
        self.length(left).saturating_sub(passed)
    }

    fn length(&self, left: &LeftTrial) -> Duration {
        let seen = self.by_cell.get(&left.cell).or_else(|| self.by_contender.get(&left.contender));
        let mean = |seen: &Vec<Duration>| seen.iter().sum::<Duration>() / u32::try_from(seen.len()).unwrap_or(1);
        seen.map_or(left.planned, mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn what_is_left_follows_trials_of_the_same_contender_and_never_rises() {
        let plan = synthetic::run(2).plan;
        let begun = Instant::now();
        let second = |seconds: u64| begun + Duration::from_secs(seconds);
        let of_cells = plan.cells.iter().map(|cell| (cell.id, Duration::from_secs(20))).collect();
        let expected = Expected { preparing: Duration::from_secs(30), of_cells, at_once: 1 };
        let mut clock = LiveClock::new(&plan, expected, begun);
        let planned = clock.left(second(0));
        assert_eq!(clock.left(second(10)) + Duration::from_secs(10), planned, "preparing counts down");
        // Every trial of one contender takes 5 s, of the other 11 s.
        let length = |cell: u32| if cell == plan.cells[0].id { 5 } else { 11 };
        let (mut now, mut last) = (30, planned);
        for trial in &plan.trials {
            clock.trial_begins(trial.id, second(now));
            for passed in 0..length(trial.cell) {
                let left = clock.left(second(now + passed));
                assert!(left <= last, "{left:?} after {last:?}");
                last = left;
            }
            now += length(trial.cell);
            clock.trial_ends(trial.id, second(now));
        }
        assert_eq!((clock.left(second(now)), clock.permille(second(now))), (Duration::ZERO, 1000));

        let mut clock = LiveClock::new(&plan, Expected::default(), begun);
        let mut now = 0;
        for trial in &plan.trials[..2] {
            clock.trial_begins(trial.id, second(now));
            now += length(trial.cell);
            clock.trial_ends(trial.id, second(now));
        }
        let rest: u64 = plan.trials[2..].iter().map(|trial| length(trial.cell)).sum();
        assert_eq!(clock.left(second(now)), Duration::from_secs(rest), "both contenders were seen in the first block");
    }
}
