//! Why a value or an interval is missing, in words that follow "because" or a colon.

use crate::format;
use analysis::estimate::Bounds;
use analysis::findings::HostFact;
use analysis::missing::{Missing, Part};
use record::telemetry::Side;

pub fn why(missing: &Missing) -> String {
    match missing {
        Missing::OfTrial { trial, why: of } => format!("trial {trial}: {}", why(of)),
        Missing::OfMachine { machine, why: of } => format!("machine {machine}: {}", why(of)),
        Missing::SamplingEnded { why } => format!("sampling ended before the window: {why}"),
        Missing::DatabaseNotAsked { why } => format!("the database could not be asked: {why}"),
        Missing::DeviceUnknown { why } => format!("nothing is known of the device: {why}"),
        Missing::Unavailable { why } => why.clone(),
        Missing::TooFewBlocks { blocks, needed } => {
            format!("too few trials: {}, at least {needed} are needed", format::counted(*blocks as u64, "block"))
        }
        Missing::TooFewRuns { runs, needed } => format!("too few runs: {runs}, at least {needed} are needed"),
        Missing::TooFewOfEach { old, new, needed } => {
            format!("too few trials: {old} and {new}, at least {needed} of each are needed")
        }
        Missing::BlocksIncomplete { blocks } => {
            format!("too few trials: of {} some are missing", format::counted(*blocks as u64, "block"))
        }
        Missing::WindowTooShort { seconds, needed } => {
            format!("the window has {seconds} s of the at least {needed} s needed")
        }
        Missing::DrivenTooShort { seconds, needed } => {
            format!("driving took {seconds} s of the at least {needed} s needed")
        }
        Missing::SecondsDepend { longer_than_s } => {
            format!("seconds depend on each other for longer than {longer_than_s} s")
        }
        Missing::DriftUndecided { low, high } => {
            format!("the drift may be anything from {:+.0} % to {:+.0} %", low * 100.0, high * 100.0)
        }
        Missing::NoInterval { why: of } => format!("there is no interval: {}", why(of)),
        Missing::PeakBeyond { times, largest } => {
            format!("it would lie beyond {times} times the largest size measured ({largest})")
        }
        Missing::PeakBelow { smallest } => format!("it would lie below the smallest size measured ({smallest})"),
        Missing::TooFewSizes { sizes, needed } => format!("{sizes} sizes were measured, at least {needed} are needed"),
        Missing::PartTooShort { part, seconds } => {
            format!("{} leaves {seconds} s a second away from a change, which is too few", time(*part))
        }
        Missing::TooFewTransactions { part } => format!("too few transactions in {}", time(*part)),
        Missing::NothingDoneIn { part } => format!("no transaction counted in {}", time(*part)),
        Missing::PhaseIncomplete { phase } => format!("phase {phase} was not done whole"),
        Missing::NoSuchMeasure { measure } => format!("it has no {measure}"),
        _ => plainly(missing).to_owned(),
    }
}

/// Why there is no interval; `None` if there is one.
pub fn of_interval(bounds: &Bounds) -> Option<String> {
    if let Bounds::Unknown { why: of } = bounds { Some(why(of)) } else { None }
}

fn plainly(missing: &Missing) -> &'static str {
    match missing {
        Missing::NotDriven => "nothing was driven",
        Missing::NoRecord => "the record of a machine is missing",
        Missing::NoMachine => "no machine was measured",
        Missing::OtherMachines => "it has other machines than the trials before",
        Missing::EndsWithItsWork => "its phases end with their work, so no second is like another",
        Missing::NothingDone => "no transaction counted",
        Missing::NotSampled { side: None } => "nothing was sampled",
        Missing::NotSampled { side: Some(Side::Host) } => "nothing was sampled on the host",
        Missing::NotSampled { side: Some(Side::Machine) } => "nothing was sampled inside the machine",
        Missing::NotLookedAt { several_machines: false } => "database and device were not looked at within the window",
        Missing::NotLookedAt { several_machines: true } => {
            "database and device of a machine were not looked at within the window, so there is no sum over machines"
        }
        Missing::CheckpointsNotCounted => "the engine does not count checkpoints",
        Missing::WindowStartUnknown => "the record does not say when the window began",
        Missing::WindowEmpty => "the window is empty",
        Missing::ClocksNotCompared => "the machine's clock was not compared with the host's",
        Missing::ClockOffsetImpossible => "the offset of the machine's clock cannot be right",
        Missing::ClockRanWrong => "the machine's clock ran too unlike the host's",
        Missing::CpusOfOneMachine => "the host tells the CPUs of one machine apart, and there are several",
        Missing::CpusUnknown => "the record does not tell which CPUs the machines had",
        Missing::CpusOverlap => "machines share some of their CPUs and not all",
        Missing::NeverSeen => "seen in no block",
        Missing::NeedsEveryBlock => "without one of the blocks there is no such number",
        Missing::NotANumber => "not a number",
        Missing::NoneLonger => "no transaction took longer",
        Missing::NoCycle => "no cycle was found",
        Missing::TooFewSeconds => "too few seconds",
        Missing::NothingMeasured => "not measured",
        Missing::NoTrial => "no trial counts",
        Missing::NoCoherency => "the curve rises for ever: no cost of coherency was seen",
        Missing::CoherencyMayBeZero => "the interval of the cost of coherency reaches zero",
        Missing::NoUpperEnd => "its interval has no upper end",
        Missing::NoNeighbour => "the neighbour's record is missing",
        Missing::NobodyBeside => "nobody was beside it",
        Missing::Rehearsed => "it was rehearsed, so its figures are made up",
        Missing::OfTrial { .. }
        | Missing::OfMachine { .. }
        | Missing::SamplingEnded { .. }
        | Missing::DatabaseNotAsked { .. }
        | Missing::DeviceUnknown { .. }
        | Missing::Unavailable { .. }
        | Missing::TooFewBlocks { .. }
        | Missing::TooFewRuns { .. }
        | Missing::TooFewOfEach { .. }
        | Missing::BlocksIncomplete { .. }
        | Missing::PhaseIncomplete { .. }
        | Missing::WindowTooShort { .. }
        | Missing::DrivenTooShort { .. }
        | Missing::SecondsDepend { .. }
        | Missing::DriftUndecided { .. }
        | Missing::NoInterval { .. }
        | Missing::PeakBeyond { .. }
        | Missing::PeakBelow { .. }
        | Missing::TooFewSizes { .. }
        | Missing::PartTooShort { .. }
        | Missing::TooFewTransactions { .. }
        | Missing::NothingDoneIn { .. }
        | Missing::NoSuchMeasure { .. } => "no reason is given",
    }
}

fn time(part: Part) -> &'static str {
    match part {
        Part::Before => "the time before the neighbour worked",
        Part::During => "the time in which the neighbour worked",
        Part::After => "the time after the neighbour worked",
    }
}

/// What is read of a host before and after each trial.
pub fn host_fact(fact: HostFact) -> &'static str {
    match fact {
        HostFact::Governor => "the frequency governor",
        HostFact::Turbo => "turbo",
        HostFact::Mitigations => "mitigations of the processor",
        HostFact::Frequency => "the frequency",
        HostFact::CpuTime => "the time of CPUs",
        HostFact::ProcessTime => "the time of processes",
        HostFact::Memory => "memory",
        HostFact::Stalls => "stalls",
    }
}
