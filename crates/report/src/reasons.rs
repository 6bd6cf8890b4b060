//! Why contenders or machines differ, in words: the reasons that rules found, each with its quantities and their intervals.

use crate::format::{Digits, Style, listed, percent, ratio, within};
use crate::table::said;
use crate::words::words;
use crate::{measures, missing};
use analysis::consolidation::reasons::{self, Cause, OwnAndOthers, Suspect};
use analysis::estimate::Estimate;
use analysis::explanation::evidence::{MeasurePair, OfBoth};
use analysis::explanation::rules::{Operation, Reason, SharedCpu, Unknown};
use analysis::missing::Missing;
use record::telemetry::Side;

const KHZ_PER_GHZ: f64 = 1e6;

fn share(estimate: &Estimate) -> String {
    said(estimate, Style::PERCENT)
}

fn ms(estimate: &Estimate) -> String {
    said(estimate, Style::new("ms", Digits::Milliseconds))
}

fn times(estimate: &Estimate) -> String {
    said(estimate, Style::new("times", Digits::Milliseconds))
}

words! {
    /// A rule's reason about two contenders.
    pub fn sentence(reason: &Reason) {
        reason;
    }
    Reason {
        HeldBackDisk(found) =>
            "{}'s disk looks limited: the guest's device was busy for {} of the window at a steady {} operations a second (varying by {}), \
             {} each. The host's device below took {}{}.",
            found.who, share(&found.busy), said(&found.per_second, Style::RATIO), share(&found.varies), ms(&found.guest),
            ms(&found.host), within(" and was busy for ", &found.busy_below.as_ref().map(share).unwrap_or_default(), "");
        SharedCpu(found) => "{}", shared(found);
        StolenTime(found) => "{} saw {} of the time of its CPUs stolen by others.", found.who, share(&found.share);
        StolenDisagreement { who, by_host, by_machine } =>
            "Two counters disagree on how long {who}'s vCPUs waited for a CPU: {} of the window by the host, {} by the guest (steal time).",
            share(by_host), share(by_machine);
        CpuQuota(found) => "{} was throttled for {} of the window: its control group had used up its CPU time.",
            found.who, share(&found.share);
        MigratingVcpus { who, per_second } => "{who}'s vCPUs changed their CPU {} a second.", times(per_second);
        CpuFrequency { pair, ratio: over } => "The host's CPUs ran at {} GHz beside {} and at {} GHz beside {}: {} as fast.",
            ratio(pair.of_contender.point / KHZ_PER_GHZ), pair.contender,
            ratio(pair.of_baseline.point / KHZ_PER_GHZ), pair.baseline, times(over);
        DiskTimeBetweenLayers { who, operation: kind, longer, guest, host } =>
            "A disk {} took {} in {who}'s guest than on the host: {} and {}.",
            operation(*kind), than_on_the_host(longer), ms(guest), ms(host);
        DiskTimeOfContenders { operation: kind, pair, ratio } =>
            "A disk {} took {} {} as long as {}, each by its own count: {} against {}.",
            operation(*kind), pair.contender, times(ratio), pair.baseline, ms(&pair.of_contender), ms(&pair.of_baseline);
        WorkPerTransaction(cost) => "{}", work(cost);
        ExitsPerTransaction { who, exits } =>
            "Each transaction made the hypervisor take over from {who}'s guest {}.", times(exits);
        Locks { who, waited_ms, share: part } => "Each transaction of {who} waited {} for locks of rows, {} of its response.",
            ms(waited_ms), share(part);
        MemoryPressure(found) => "In {} of the window a task inside {} waited for memory.", share(&found.share), found.who;
        Swapping { who, per_second } => "{who} swapped {} a second.", said(per_second, Style::new("pages", Digits::Ratio));
        StoragePressure(pair) => "A task inside {} waited for storage in {} of the window, inside {} in {}.",
            pair.contender, share(&pair.of_contender), pair.baseline, share(&pair.of_baseline);
    }
}

fn than_on_the_host(longer: &Estimate) -> String {
    let unit = if longer.point > 0.0 { "ms longer" } else { "ms less" };
    said(longer, Style { scale: f64::abs, ..Style::new(unit, Digits::Ratio) })
}

fn shared(found: &SharedCpu) -> String {
    let SharedCpu { who, all, vcpu, of_wanted, of_window, other } = found;
    let other = other.as_ref().map(|other| format!(" ({}: {})", other.who, share(&other.share))).unwrap_or_default();
    let (which, that) = if *all {
        ("vCPUs".to_owned(), format!("vCPU {vcpu} waited longest:"))
    } else {
        (format!("vCPU {vcpu}"), "That is".to_owned())
    };
    format!(
        "{who}'s {which} waited {} of the window for a CPU of the host{other}. {that} {} of the time it was runnable.",
        share(of_window),
        share(of_wanted)
    )
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
    }
}

fn work(MeasurePair { measure, pair, ratio }: &MeasurePair) -> String {
    let style = measures::style(&measure.unit);
    let level = |estimate: &Estimate| [&style.text(estimate.point), style.unit].join(" ").trim().to_owned();
    let OfBoth { baseline, contender, of_baseline, of_contender } = pair;
    format!(
        "For each transaction, {}: {} of {contender}, {} of {baseline}, {}.",
        measures::words(&measure.id).0,
        level(of_contender),
        level(of_baseline),
        said(ratio, Style::EFFECT)
    )
}

words! {
    /// A reason that could not be looked for, and why.
    pub fn unknown(unknown: &Unknown) {
        unknown;
    }
    Unknown {
        TooFewBlocks { blocks, needed } =>
            "No reasons are given: {blocks} blocks have telemetry of both, and intervals need {needed}.";
        TooFewSamples { who, needed } => "No reasons are given: a window of {who} has fewer than {needed} samples.";
        VcpusNotSampled =>
            "Not known: whether vCPUs waited for a CPU of the host, because their threads were not sampled.";
        SharingBehindQuota { who } =>
            "Not known: whether {who}'s vCPUs share a CPU: their control group was throttled, and some kernels count that as waiting for \
             a CPU.";
        DisksNotCounted =>
            "Not known: how long disk operations took, because the data device was not counted in both machines.";
        DiskBelowNotCounted { who, busy } =>
            "Not known: whether {who}'s disk, busy for {} of the window, is limited: the host's device below was not counted.",
            share(busy);
        LocksNotAddedUp =>
            "Not known: how long transactions waited for row locks, because these databases do not count it.";
        NotCounted { contenders, side, probe, why } => "Not counted of {}: {} {}, because {}.",
            contenders.join(" and "), probe.as_deref().unwrap_or(all(why)), place(*side), missing::why(why);
    }
}

/// Some reasons are about one column, and some about a whole side.
fn all(why: &Missing) -> &'static str {
    match why {
        Missing::CpusOfOneMachine | Missing::CpusUnknown | Missing::CpusOverlap => {
            "what is counted of the CPUs of a machine alone"
        }
        _ => "everything",
    }
}

fn place(side: Side) -> &'static str {
    match side {
        Side::Machine => "inside the machine",
        Side::Host => "on the host",
    }
}

/// Why one of several machines gets less than the others.
pub fn of_machine(reason: &reasons::MachineReason) -> String {
    let machine = reason.machine;
    let mut study = String::new();
    let (did, of, style, found) = match &reason.cause {
        Cause::CpuQuota { found, quota_of_study, .. } => {
            let quota = quota_of_study.map(percent).unwrap_or_default();
            study = within(" The study holds it to ", &quota, " of the time of its vCPUs (machine.exception).");
            ("was throttled by its CPU quota for", " of the window", Style::PERCENT, found)
        }
        Cause::WaitingForCpu(found) => {
            ("waited for a CPU of the host for", " of the time in which it wanted to run", Style::PERCENT, found)
        }
        Cause::StolenTime(found) => ("saw", " of the time of its CPUs stolen", Style::PERCENT, found),
        Cause::DiskTime(found) => ("took", " for an operation of its disk", Style::new("ms", Digits::Ratio), found),
        Cause::Interrupts(found) => ("had", " interrupts for each transaction", Style::RATIO, found),
        Cause::QuotaNotSeen { quota_of_study } => {
            return format!(
                "The study holds machine {machine} to {} of the time of its vCPUs (machine.exception), but it was not seen to be throttled \
                 more than the others.",
                percent(*quota_of_study)
            );
        }
        Cause::OwnClients { clients } => {
            return format!(
                "The study gives machine {machine} a number of clients of its own, {clients} (machine.exception)."
            );
        }
        Cause::NotKnown { alike, not_counted } => return not_known(machine, alike, not_counted),
    };
    let OwnAndOthers { own, others, times: over } = found;
    let over = within(", ", &over.as_ref().map(times).unwrap_or_default(), " as much as they");
    format!("Machine {machine} {did} {}{of}{over}; the others: {}.{study}", said(own, style), said(others, style))
}

fn not_known(machine: u32, alike: &[Suspect], not_counted: &[Suspect]) -> String {
    let name = |suspect: &Suspect| match suspect {
        Suspect::CpuQuota => "a CPU quota",
        Suspect::WaitingForCpu => "waiting for a CPU of the host",
        Suspect::StolenTime => "stolen time",
        Suspect::DiskTime => "the time of its disk's operations",
        Suspect::Interrupts => "interrupts",
    };
    let [alike, not_counted] = [alike, not_counted].map(|all| listed(all.iter().map(name)));
    let why = format!("Why machine {machine} gets less than the others is not known");
    if alike.is_empty() {
        return format!("{why}: nothing was counted of all machines of a trial.");
    }
    format!(
        "{why}: it is not surely set apart by {alike}.{}",
        within(" Not counted of all machines: ", &not_counted, ".")
    )
}

#[cfg(test)]
mod tests;
