//! What is seen while load is driven: seconds of the series, ticks, looks at the server's counters, and the host around the window.

use crate::asking::BootedMachine;
use crate::context::TrialContext;
use crate::conversation::AskError;
use crate::log::TrialLog;
use agent::looks::{Edge, LookWatch};
use agent::protocol::{Reply, Request};
use driver::plan::{DrivePlan, Tick};
use machines::clock::monotonic_ns;
use record::host_state::{HostReading, HostState};
use record::intervals::Interval;
use record::looks::{Look, Looks};
use std::time::Duration;

/// Time from when the sessions of all machines are open to their common start. Agents must have the start by then.
const START_LEAD_NS: u64 = 300_000_000;
/// Before later phases, machines that were done early end what kept their databases busy, which takes about a second.
const LATER_START_LEAD_NS: u64 = 2_000_000_000;
const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// One driving of a machine's databases.
pub(crate) struct LiveDriving<'l, 'a> {
    pub context: TrialContext<'l>,
    pub log: &'l mut TrialLog<'a>,
    /// Counters over the measured window, by database.
    pub looks: Vec<Option<Looks>>,
    /// `None` if this machine's trial has the host's readings from another, or if the host is not its own.
    host: Option<HostWatch>,
    start: JointStart,
}

impl<'l, 'a> LiveDriving<'l, 'a> {
    pub fn of(context: TrialContext<'l>, log: &'l mut TrialLog<'a>, plan: &DrivePlan) -> Self {
        // The host is the same for all machines of a trial.
        let reads_host = context.leads() && context.executes() && !context.is_elsewhere();
        let looks = vec![None; log.databases.len()];
        Self { context, log, looks, host: reads_host.then(|| HostWatch::over(plan)), start: JointStart::default() }
    }

    pub fn keep(&mut self, instance: u16, second: &Interval) {
        if let Some(own) = self.log.databases.get_mut(usize::from(instance)) {
            own.keep(second);
        }
    }

    pub fn keep_looks(&mut self, instance: u16, looks: Option<Looks>) {
        if let Some(own) = self.looks.get_mut(usize::from(instance)) {
            *own = looks;
        }
    }

    /// See [`JointStart::meet`]; later on a machine whose load is to start later.
    pub fn meet_for_start(&mut self, lead_ns: u64) -> Result<u64, AskError> {
        Ok(self.start.meet(&self.context, lead_ns)? + in_nanos(self.context.start_delay()))
    }

    pub fn tick(&mut self, tick: &Tick) {
        let elapsed_ms = tick.elapsed_ms + in_millis(self.context.start_delay());
        self.log.tick(tick, elapsed_ms);
        if let Some(host) = &mut self.host {
            host.tick(tick, self.context.site.read_host);
        }
    }

    /// A second of driving from outside is over.
    pub fn look_and_tick(&mut self, booted: &mut BootedMachine<'_>, watches: &mut [LookWatch], tick: &Tick) {
        for (instance, watch) in (0..).zip(watches) {
            watch.tick(tick, &mut |edge| look(booted, instance, edge));
        }
        self.tick(tick);
    }

    /// The looks, and the host's state around the window.
    pub fn end(self) -> (Vec<Option<Looks>>, Option<HostState>) {
        (self.looks, self.host.and_then(HostWatch::state))
    }
}

/// A look that fails costs its figures, not the trial. If the cause matters, it will show again.
fn look(booted: &mut BootedMachine<'_>, instance: u16, edge: Edge) -> Option<Look> {
    match booted.ask(instance, &Request::Look { edge }, booted.context.limits().start) {
        Ok(Reply::Look(look)) => Some(*look),
        Ok(_) | Err(_) => None,
    }
}

/// The starts of all machines' phases, by the host's clock.
#[derive(Default)]
pub(crate) struct JointStart {
    began_ns: Option<u64>,
}

impl JointStart {
    /// Waits until all machines can start; returns their common start, at least so far away. Further phases begin whole
    /// seconds after the first, so that the seconds of all machines coincide.
    pub fn meet(&mut self, context: &TrialContext<'_>, lead_ns: u64) -> Result<u64, AskError> {
        let began_ns = self.began_ns;
        let start_ns = context.meet_with(|| {
            let usual_ns = if began_ns.is_some() { LATER_START_LEAD_NS } else { START_LEAD_NS };
            let soonest_ns = monotonic_ns() + usual_ns.max(lead_ns);
            began_ns.map_or(soonest_ns, |began_ns| next_on_grid(began_ns, soonest_ns))
        })?;
        self.began_ns.get_or_insert(start_ns);
        Ok(start_ns)
    }
}

/// The first whole second after `began_ns` that is not before `soonest_ns`.
fn next_on_grid(began_ns: u64, soonest_ns: u64) -> u64 {
    began_ns + soonest_ns.saturating_sub(began_ns).next_multiple_of(NANOS_PER_SECOND)
}

fn in_nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn in_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Without warm-up the window begins before the first tick.
const FIRST_TICK_MS: u64 = 1_000;

/// Reads the host in the tick that begins the measured window and in the one that ends it. Wherever it drives, the driver ticks
/// once a second, on a thread that drives nothing. Without warm-up the first reading is a second late.
#[derive(Debug, Default)]
struct HostWatch {
    start_ms: u64,
    end_ms: u64,
    start: Option<HostReading>,
    end: Option<HostReading>,
}

impl HostWatch {
    fn over(plan: &DrivePlan) -> Self {
        let window = plan.window_ms();
        Self { start_ms: window.start.max(FIRST_TICK_MS), end_ms: window.end, start: None, end: None }
    }

    fn tick(&mut self, tick: &Tick, read: impl FnOnce() -> HostReading) {
        if tick.elapsed_ms == self.start_ms {
            self.start = Some(read());
        } else if tick.elapsed_ms == self.end_ms {
            self.end = Some(read());
        }
    }

    /// The two readings; `None` if driving ended early.
    fn state(self) -> Option<HostState> {
        Some(HostState { start: self.start?, end: self.end? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::plan::Pacing;
    use std::path::Path;

    #[test]
    fn later_phases_begin_whole_seconds_after_the_first() {
        assert_eq!(next_on_grid(300, 300), 300);
        assert_eq!(next_on_grid(300, 301), NANOS_PER_SECOND + 300);
        assert_eq!(next_on_grid(300, 7 * NANOS_PER_SECOND + 300), 7 * NANOS_PER_SECOND + 300);
    }

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
