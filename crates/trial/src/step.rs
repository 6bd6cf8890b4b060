//! The steps on one machine of a trial: a list chosen before the first step, and what still follows a failed step.

use crate::conversation::AskError;
use crate::error::AttemptError;
use platforms::capabilities::{Capabilities, ServerUse};
use record::phase::Phase;
use study::{Load, Offered};

/// A piece of work on a database, in the order in which it is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    Clean,
    Load,
    Drive,
    Check,
}

impl Task {
    /// Those of a trial. Where bakeoff starts the server, data are loaded before it.
    pub(crate) fn of_a_trial(server: ServerUse) -> &'static [Self] {
        match server {
            ServerUse::Started => &[Self::Drive, Self::Check],
            ServerUse::Running | ServerUse::Anywhere => &[Self::Load, Self::Drive, Self::Check],
        }
    }
}

/// In the order in which a trial takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Copies the loaded data for this machine.
    Lease,
    AwaitTurn,
    Boot,
    Describe,
    StartServer,
    RequireRightClock,
    /// Replaces the start of a server.
    UseServer,
    /// Drops what an earlier trial that was killed has left on a server that runs already.
    DropLeftovers,
    Clean,
    Load,
    /// Checks that the tables for this task exist. For driving, they must also have the size that the workload's settings give.
    RequireTables(Task),
    /// Reads the state that a check after driving compares with, if the data were not loaded for the trial.
    ReadState,
    /// Starts an agent on each host that the load comes from.
    StartGenerators,
    Climb,
    /// Reads the database's counters, and waits for the trial's other machines.
    Gather,
    /// Reads the clock and starts sampling.
    Watch,
    Drive,
    /// Replaces driving on a machine without load.
    StandBy,
    /// Records what was driven, counted and sampled.
    Record,
    StopGenerators,
    Check,
    /// Replaces the check if nothing was executed.
    LeaveUnchecked,
    StopServer,
    KeepServerLog,
    ShutDown,
    /// Drops what this trial loaded on a server that runs already.
    DropLoaded,
    /// Replaces the stop of a server and its machine: the server stays, and all our connections to it are closed.
    LeaveServer,
    KeepConsole,
    Stop,
}

/// The steps of a machine with these capabilities, under this load.
pub(crate) fn chosen(can: Capabilities, load: &Load, is_idle: bool, asked: &[Task]) -> Vec<Step> {
    let mut steps = vec![Step::Lease, Step::AwaitTurn, Step::Boot];
    steps.extend_from_slice(match can.server {
        ServerUse::Started => &[Step::Describe, Step::StartServer, Step::RequireRightClock],
        ServerUse::Running => &[Step::Describe, Step::RequireRightClock, Step::UseServer, Step::DropLeftovers],
        ServerUse::Anywhere => &[Step::UseServer],
    });
    for task in asked {
        match task {
            Task::Clean => steps.push(Step::Clean),
            Task::Load => steps.push(Step::Load),
            Task::Drive => {
                if !can.starts_server() {
                    steps.push(Step::RequireTables(*task));
                    steps.extend(asked.contains(&Task::Check).then_some(Step::ReadState));
                }
                let is_from_hosts = !load.from.is_empty() && !is_idle;
                steps.extend(is_from_hosts.then_some(Step::StartGenerators));
                steps.extend(matches!(load.offered, Offered::Peak(_)).then_some(Step::Climb));
                steps.push(Step::Gather);
                steps.extend_from_slice(if is_idle {
                    &[Step::StandBy]
                } else {
                    &[Step::Watch, Step::Drive, Step::Record]
                });
                steps.extend(is_from_hosts.then_some(Step::StopGenerators));
            }
            Task::Check if is_idle => {}
            Task::Check => {
                steps.extend((!can.starts_server()).then_some(Step::RequireTables(*task)));
                steps.push(if can.executes { Step::Check } else { Step::LeaveUnchecked });
            }
        }
    }
    steps.extend_from_slice(match can.server {
        ServerUse::Started => &[Step::StopServer, Step::KeepServerLog, Step::ShutDown, Step::KeepConsole],
        ServerUse::Running => &[Step::DropLoaded, Step::LeaveServer, Step::KeepConsole],
        ServerUse::Anywhere => &[Step::LeaveServer],
    });
    steps.push(Step::Stop);
    steps
}

impl Step {
    /// The phase that this step begins or continues; `None` if it belongs to the phase of the step before it.
    pub(crate) fn phase(self) -> Option<Phase> {
        Some(match self {
            Self::Lease => Phase::Clone,
            Self::Boot => Phase::Boot,
            Self::StartServer | Self::UseServer => Phase::Start,
            Self::DropLeftovers | Self::Clean | Self::Load => Phase::Load,
            Self::Climb => Phase::Climb,
            // The measured window begins within this phase.
            Self::Drive | Self::StandBy => Phase::WarmUp,
            Self::Check | Self::LeaveUnchecked => Phase::Check,
            Self::StopServer | Self::ShutDown | Self::DropLoaded | Self::LeaveServer => Phase::ShutDown,
            Self::Stop => Phase::Stop,
            Self::AwaitTurn
            | Self::Describe
            | Self::RequireRightClock
            | Self::RequireTables(_)
            | Self::ReadState
            | Self::StartGenerators
            | Self::StopGenerators
            | Self::Gather
            | Self::Watch
            | Self::Record
            | Self::KeepServerLog
            | Self::KeepConsole => return None,
        })
    }

    /// True if this step is carried out although an earlier one failed. A machine that is not stopped is cut.
    pub(crate) fn follows(self, failed: Self, error: &AttemptError) -> bool {
        // An agent that did not answer is not asked again.
        let is_heard = !matches!(error, AttemptError::Ask(AskError::Link(_)));
        match self {
            Self::KeepServerLog => is_heard && (Self::Climb..Self::StopServer).contains(&failed),
            Self::DropLoaded => is_heard && failed >= Self::Load,
            Self::LeaveServer => is_heard && failed > Self::Boot,
            Self::KeepConsole => failed > Self::Boot,
            Self::Stop if failed > Self::Boot => match error {
                // The way the machine ends tells why its agent is gone.
                AttemptError::Ask(AskError::Link(link)) => link.is_end(),
                // Nothing is wrong with this machine.
                AttemptError::Ask(AskError::OthersFailed) => true,
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::plan::Pacing;
    use machines::link::LinkError;
    use platforms::catalog;
    use std::time::Duration;
    use study::{PeakLimits, Placement};

    fn load(offered: Offered) -> Load {
        let span = settings::Span(1_000);
        let (placement, warmup_ms, measure_ms) = (Placement::Inside, span, span);
        Load {
            placement,
            from: Vec::new(),
            offered,
            ramp_rate: None,
            transactions: None,
            warmup_ms,
            measure_ms,
            shards: 0,
            retries: 0,
            telemetry: false,
            other_load: None,
        }
    }

    fn paced() -> Load {
        load(Offered::Paced(Pacing::Clients { clients: 1 }))
    }

    fn peak() -> Load {
        load(Offered::Peak(PeakLimits { max_clients: 9, error_limit: 0.1, p99_limit_ms: None }))
    }

    fn of(platform: &str) -> Capabilities {
        (catalog::entry(platform).unwrap().can)(&serde_json::Map::new())
    }

    #[test]
    fn steps_come_in_one_order_and_depend_on_platform_and_load() {
        let lists = [
            chosen(of("native"), &paced(), false, Task::of_a_trial(ServerUse::Started)),
            chosen(of("qemu"), &peak(), false, Task::of_a_trial(ServerUse::Started)),
            chosen(of("native"), &paced(), true, Task::of_a_trial(ServerUse::Started)),
            chosen(
                (crate::rehearsal::REHEARSED.can)(&serde_json::Map::new()),
                &paced(),
                false,
                Task::of_a_trial(ServerUse::Started),
            ),
        ];
        assert!(lists.iter().all(|steps| steps.is_sorted()), "{lists:?}");
        let has = |step| lists.each_ref().map(|steps| steps.contains(&step));
        assert_eq!(has(Step::Climb), [false, true, false, false]);
        assert_eq!(has(Step::Drive), [true, true, false, true]);
        assert_eq!(has(Step::StandBy), [false, false, true, false]);
        assert_eq!(has(Step::Check), [true, true, false, false]);
        assert_eq!(has(Step::LeaveUnchecked), [false, false, false, true]);
    }

    #[test]
    fn on_a_server_that_is_there_the_steps_are_those_that_are_asked_for() {
        let can = (crate::existing::EXTERNAL.can)(&serde_json::Map::new());
        let middle = |asked: &[Task]| {
            let steps = chosen(can, &paced(), false, asked);
            assert_eq!(steps[..4], [Step::Lease, Step::AwaitTurn, Step::Boot, Step::UseServer]);
            assert_eq!(steps[steps.len() - 2..], [Step::LeaveServer, Step::Stop]);
            steps[4..steps.len() - 2].to_vec()
        };
        assert_eq!(middle(&[Task::Clean]), [Step::Clean]);
        let driven = [Step::Gather, Step::Watch, Step::Drive, Step::Record];
        let [to_drive, to_check] = [Task::Drive, Task::Check].map(Step::RequireTables);
        assert_eq!(middle(&[Task::Drive]), [&[to_drive], &driven[..]].concat());
        let (before, after) = ([Step::Load, to_drive, Step::ReadState], [to_check, Step::Check]);
        assert_eq!(middle(&[Task::Load, Task::Drive, Task::Check]), [&before, &driven[..], &after].concat());
    }

    #[test]
    fn on_a_server_that_runs_in_the_machine_a_trial_loads_its_tables_and_drops_them_whatever_happens() {
        let table = serde_json::json!({ "server": "running" });
        let can = (catalog::entry("host").unwrap().can)(table.as_object().unwrap());
        let steps = chosen(can, &paced(), false, Task::of_a_trial(can.server));
        let order = [Step::DropLeftovers, Step::Load, Step::Drive, Step::Check, Step::DropLoaded, Step::LeaveServer];
        let found: Vec<_> = steps.iter().copied().filter(|step| order.contains(step)).collect();
        assert_eq!(found, order);
        assert!(!steps.contains(&Step::StartServer) && !steps.contains(&Step::StopServer));
        let refused = AttemptError::from(AskError::Interrupted);
        let follows = |failed| Step::DropLoaded.follows(failed, &refused);
        assert_eq!([Step::UseServer, Step::Load, Step::Drive, Step::Check].map(follows), [false, true, true, true]);
    }

    /// The steps that follow each step of a trial that fails with this error.
    fn after(error: impl Fn() -> AskError) -> Vec<(Step, Vec<Step>)> {
        let steps = chosen(of("native"), &peak(), false, Task::of_a_trial(ServerUse::Started));
        let error = AttemptError::from(error());
        let rest = |index: usize| steps[index + 1..].iter().copied();
        let following = |(index, failed): (usize, &Step)| {
            (*failed, rest(index).filter(|step| step.follows(*failed, &error)).collect())
        };
        steps.iter().enumerate().map(following).collect()
    }

    #[test]
    fn what_follows_a_failure_depends_on_where_and_what_it_was() {
        let [console, log, stop] = [Step::KeepConsole, Step::KeepServerLog, Step::Stop];
        let refused =
            || AskError::Refused(agent::protocol::Failure { why: String::new(), instance: None, log: String::new() });
        for (failed, following) in after(refused) {
            let expected = match failed {
                Step::Climb | Step::Gather | Step::Watch | Step::Drive | Step::Record | Step::Check => {
                    vec![log, console]
                }
                Step::Lease | Step::AwaitTurn | Step::Boot | Step::KeepConsole | Step::Stop => vec![],
                _ => vec![console],
            };
            assert_eq!(following, expected, "{failed:?}");
        }
        for (failed, following) in after(|| LinkError::Closed.into()) {
            let is_there = (Step::Describe..=Step::ShutDown).contains(&failed);
            assert_eq!(following == [console, stop], is_there, "{failed:?}: {following:?}");
        }
        for (failed, following) in after(|| LinkError::Lifeless(Duration::ZERO).into()) {
            let is_there = (Step::Describe..=Step::ShutDown).contains(&failed);
            assert_eq!(following == [console], is_there, "{failed:?}: {following:?}");
        }
        for (failed, following) in after(|| AskError::OthersFailed) {
            assert_eq!(following.contains(&stop), (Step::Describe..Step::Stop).contains(&failed), "{failed:?}");
        }
    }
}
