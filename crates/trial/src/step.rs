//! What is done on one machine of a trial: a list of steps, chosen before the first of them, and what still follows when one fails.

use crate::conversation::AskError;
use crate::error::AttemptError;
use platforms::catalog::Capabilities;
use record::phase::Phase;
use study::{Load, Offered};

/// In the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// A copy of the loaded data for this machine.
    Lease,
    AwaitTurn,
    Boot,
    Describe,
    StartServer,
    RequireRightClock,
    Climb,
    /// What the database has counted so far, and the trial's other machines.
    Gather,
    /// Clock and samples of what is counted from now on.
    Watch,
    Drive,
    /// In place of driving, of a machine without load.
    StandBy,
    /// What was driven, counted and sampled.
    Record,
    Check,
    /// In place of a check, where nothing was executed.
    LeaveUnchecked,
    StopServer,
    KeepServerLog,
    ShutDown,
    KeepConsole,
    Stop,
}

/// Those of a machine that can do this, under this load.
pub(crate) fn chosen(can: Capabilities, load: &Load, is_idle: bool) -> Vec<Step> {
    let mut steps = vec![Step::Lease, Step::AwaitTurn, Step::Boot, Step::Describe, Step::StartServer];
    steps.push(Step::RequireRightClock);
    if let Offered::Peak(_) = load.offered {
        steps.push(Step::Climb);
    }
    steps.push(Step::Gather);
    if is_idle {
        steps.push(Step::StandBy);
    } else {
        steps.extend([Step::Watch, Step::Drive, Step::Record]);
        steps.push(if can.executes { Step::Check } else { Step::LeaveUnchecked });
    }
    steps.extend([Step::StopServer, Step::KeepServerLog, Step::ShutDown, Step::KeepConsole, Step::Stop]);
    steps
}

impl Step {
    /// The phase that begins with it, or goes on; `None` if it belongs to whichever phase the step before it does.
    pub(crate) fn phase(self) -> Option<Phase> {
        Some(match self {
            Self::Lease => Phase::Clone,
            Self::Boot => Phase::Boot,
            Self::StartServer => Phase::Start,
            Self::Climb => Phase::Climb,
            // The measured window begins within it.
            Self::Drive | Self::StandBy => Phase::WarmUp,
            Self::Check | Self::LeaveUnchecked => Phase::Check,
            Self::StopServer | Self::ShutDown => Phase::ShutDown,
            Self::Stop => Phase::Stop,
            Self::AwaitTurn
            | Self::Describe
            | Self::RequireRightClock
            | Self::Gather
            | Self::Watch
            | Self::Record
            | Self::KeepServerLog
            | Self::KeepConsole => return None,
        })
    }

    /// Whether it is carried out although one before it failed. A machine that is not stopped is cut.
    pub(crate) fn follows(self, failed: Self, error: &AttemptError) -> bool {
        match self {
            // Who was waited for in vain is not asked again.
            Self::KeepServerLog => {
                (Self::Climb..Self::StopServer).contains(&failed)
                    && !matches!(error, AttemptError::Ask(AskError::Link(_)))
            }
            Self::KeepConsole => failed > Self::Boot,
            Self::Stop if failed > Self::Boot => match error {
                // How it ends tells why its agent is gone.
                AttemptError::Ask(AskError::Link(link)) => link.is_end(),
                // Nothing is wrong with this one.
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
        Load { placement, offered, warmup_ms, measure_ms, shards: 0, retries: 0, telemetry: false }
    }

    fn paced() -> Load {
        load(Offered::Paced(Pacing::Clients { clients: 1 }))
    }

    fn peak() -> Load {
        load(Offered::Peak(PeakLimits { max_clients: 9, error_limit: 0.1, p99_limit_ms: None }))
    }

    fn of(platform: &str) -> Capabilities {
        catalog::entry(platform).unwrap().can
    }

    #[test]
    fn steps_come_in_one_order_and_depend_on_platform_and_load() {
        let lists = [
            chosen(of("native"), &paced(), false),
            chosen(of("qemu"), &peak(), false),
            chosen(of("native"), &paced(), true),
            chosen(crate::rehearsal::REHEARSED.can, &paced(), false),
        ];
        assert!(lists.iter().all(|steps| steps.is_sorted()), "{lists:?}");
        let has = |step| lists.each_ref().map(|steps| steps.contains(&step));
        assert_eq!(has(Step::Climb), [false, true, false, false]);
        assert_eq!(has(Step::Drive), [true, true, false, true]);
        assert_eq!(has(Step::StandBy), [false, false, true, false]);
        assert_eq!(has(Step::Check), [true, true, false, false]);
        assert_eq!(has(Step::LeaveUnchecked), [false, false, false, true]);
    }

    /// What follows each step of a trial when it fails so.
    fn after(error: impl Fn() -> AskError) -> Vec<(Step, Vec<Step>)> {
        let steps = chosen(of("native"), &peak(), false);
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
        let refused = || AskError::Refused(agent::protocol::Failure { why: String::new(), log: String::new() });
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
