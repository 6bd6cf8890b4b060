//! Why a value or an interval is missing, in words that follow "because" or a colon.

use crate::format::counted;
use crate::words::words;
use analysis::estimate::Bounds;
use analysis::findings::HostFact;
use analysis::missing::{Missing, NeighbourPart};
use record::telemetry::Side;

words! {
    pub fn why(missing: &Missing) {
        missing;
    }
    Missing {
        OfTrial { trial, why: of } => "trial {trial}: {}", why(of);
        OfMachine { machine, why: of } => "machine {machine}: {}", why(of);

        NotDriven => "nothing was driven";
        NoRecord => "the record of a machine is missing";
        NoMachine => "no machine was measured";
        OtherMachines => "it has other machines than the trials before";
        NothingDone => "no transaction counted";
        NotSampled { side: None } => "nothing was sampled";
        NotSampled { side: Some(Side::Host) } => "nothing was sampled on the host";
        NotSampled { side: Some(Side::Machine) } => "nothing was sampled inside the machine";
        SamplingEnded { why } => "sampling ended before the window: {why}";
        NotLookedAt { several_machines: false } => "database and device were not looked at within the window";
        NotLookedAt { several_machines: true } =>
            "database and device of a machine were not looked at within the window, so there is no sum over machines";
        DatabaseNotAsked { why } => "the database could not be asked: {why}";
        DeviceUnknown { why } => "nothing is known of the device: {why}";
        Unavailable { why } => "{why}";
        CheckpointsNotCounted => "the engine does not count checkpoints";
        WindowStartUnknown => "the record does not say when the window began";
        WindowEmpty => "the window is empty";
        ClocksNotCompared => "the machine's clock was not compared with the host's";
        ClockOffsetImpossible => "the offset of the machine's clock cannot be right";
        ClockRanWrong => "the machine's clock ran too unlike the host's";
        CpusOfOneMachine => "the host distinguishes CPUs of one machine only, and there are several";
        CpusUnknown => "the record does not say which CPUs the machines had";
        CpusOverlap => "machines share some of their CPUs and not all";

        NotANumber => "not a number";
        NoneLonger => "no transaction took longer";
        PhaseIncomplete { phase } => "phase {phase} was not done whole";
        EndsWithItsWork => "its phases end with their work, so no second is like another";
        NoCycle => "no cycle was found";
        TooFewSeconds => "too few seconds";
        NothingMeasured => "not measured";
        NoTrial => "no trial counts";

        TooFewBlocks { blocks, needed } => "too few trials: {}, at least {needed} are needed", counted(*blocks as u64, "block");
        TooFewRuns { runs, needed } => "too few runs: {runs}, at least {needed} are needed";
        TooFewOfEach { old, new, needed } => "too few trials: {old} and {new}, at least {needed} of each are needed";
        BlocksIncomplete { blocks } => "too few trials: of {} some are missing", counted(*blocks as u64, "block");
        NeverSeen => "seen in no block";
        NeedsEveryBlock => "without one of the blocks there is no such number";
        WindowTooShort { seconds, needed } => "the window has {seconds} s of the at least {needed} s needed";
        DrivenTooShort { seconds, needed } => "driving took {seconds} s of the at least {needed} s needed";
        SecondsDepend { longer_than_s } => "seconds depend on each other for longer than {longer_than_s} s";
        DriftUndecided { low, high } => "the drift may be anything from {:+.0} % to {:+.0} %", low * 100.0, high * 100.0;

        NoInterval { why: of } => "there is no interval: {}", why(of);
        PeakBeyond { times, largest } => "it would lie beyond {times} times the largest size measured ({largest})";
        PeakBelow { smallest } => "it would lie below the smallest size measured ({smallest})";
        NoCoherency => "the curve rises for ever: no cost of coherency was seen";
        CoherencyMayBeZero => "the interval of the cost of coherency reaches zero";
        NoUpperEnd => "its interval has no upper end";
        TooFewSizes { sizes, needed } => "{sizes} sizes were measured, at least {needed} are needed";

        NoNeighbour => "the neighbour's record is missing";
        NobodyBeside => "nobody was beside it";
        PartTooShort { part, seconds } => "{} leaves {seconds} s a second away from a change, which is too few", time(*part);
        TooFewTransactions { part } => "too few transactions in {}", time(*part);
        NothingDoneIn { part } => "no transaction counted in {}", time(*part);
        Rehearsed => "it was rehearsed, so its figures are made up";
        NoSuchMeasure { measure } => "it has no {measure}";
    }
}

/// Why there is no interval; `None` if there is one.
pub fn of_interval(bounds: &Bounds) -> Option<String> {
    if let Bounds::Unknown { why: of } = bounds { Some(why(of)) } else { None }
}

fn time(part: NeighbourPart) -> &'static str {
    match part {
        NeighbourPart::Before => "the time before the neighbour worked",
        NeighbourPart::During => "the time in which the neighbour worked",
        NeighbourPart::After => "the time after the neighbour worked",
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
