//! Why contenders or machines differ, in words: the reasons that rules found, each with its quantities and their intervals.

use crate::attribution::joined;
use crate::words::{number, percent, with_interval, with_unit};
use crate::{format, measures, missing};
use analysis::consolidation::reasons::{self, Cause, OwnAndOthers, Suspect};
use analysis::estimate::Estimate;
use analysis::explanation::evidence::{Cost, OfBoth};
use analysis::explanation::rules::{HeldBackDisk, Operation, Reason, ShareOf, SharedCpu, Unknown};
use analysis::missing::Missing;
use record::telemetry::Side;

const KHZ_PER_GHZ: f64 = 1e6;

fn share(estimate: &Estimate) -> String {
    with_unit(estimate, percent, "%")
}

fn ms(estimate: &Estimate) -> String {
    with_unit(estimate, number, "ms")
}

fn times(estimate: &Estimate) -> String {
    with_unit(estimate, number, "times")
}

/// A rule's reason about two contenders.
pub fn sentence(reason: &Reason) -> String {
    match reason {
        Reason::HeldBackDisk(found) => held_back(found),
        Reason::SharedCpu(found) => shared(found),
        Reason::StolenTime(ShareOf { who, share: stolen }) => {
            format!("{who} saw {} of the time of its CPUs stolen by others.", share(stolen))
        }
        Reason::StolenDisagreement { who, by_host, by_machine } => format!(
            "Two counters disagree on how long {who}'s vCPUs waited for a CPU: {} of the window by the host, {} by the \
            guest (steal time).",
            share(by_host),
            share(by_machine)
        ),
        Reason::CpuQuota(ShareOf { who, share: held }) => format!(
            "{who} was throttled for {} of the window: its control group had used up its CPU time.",
            share(held)
        ),
        Reason::MigratingVcpus { who, per_second } => {
            format!("{who}'s vCPUs changed their CPU {} a second.", times(per_second))
        }
        Reason::CpuFrequency { pair: OfBoth { baseline, contender, of_baseline, of_contender }, ratio } => format!(
            "The host's CPUs ran at {} GHz beside {contender} and at {} GHz beside {baseline}: {} as fast.",
            number(of_contender.point / KHZ_PER_GHZ),
            number(of_baseline.point / KHZ_PER_GHZ),
            times(ratio)
        ),
        Reason::DiskTimeBetweenLayers { who, operation: kind, longer, guest, host } => {
            let word = if longer.point > 0.0 { "longer" } else { "less" };
            let took = with_unit(longer, |value| number(value.abs()), &format!("ms {word}"));
            let (kind, guest, host) = (operation(*kind), ms(guest), ms(host));
            format!("A disk {kind} took {took} in {who}'s guest than on the host: {guest} and {host}.")
        }
        Reason::DiskTimeOfContenders { operation: kind, pair, ratio } => format!(
            "A disk {} took {} {} as long as {}, each by its own count: {} against {}.",
            operation(*kind),
            pair.contender,
            times(ratio),
            pair.baseline,
            ms(&pair.of_contender),
            ms(&pair.of_baseline)
        ),
        Reason::WorkPerTransaction(cost) => work(cost),
        Reason::ExitsPerTransaction { who, exits } => {
            format!("Each transaction made the hypervisor take over from {who}'s guest {}.", times(exits))
        }
        Reason::Locks { who, waited_ms, share: of_response } => format!(
            "Each transaction of {who} waited {} for locks of rows, {} of its response.",
            ms(waited_ms),
            share(of_response)
        ),
        Reason::MemoryPressure(ShareOf { who, share: waited }) => {
            format!("In {} of the window a task inside {who} waited for memory.", share(waited))
        }
        Reason::Swapping { who, per_second } => {
            format!("{who} swapped {} a second.", with_unit(per_second, number, "pages"))
        }
        Reason::StoragePressure(OfBoth { baseline, contender, of_baseline, of_contender }) => format!(
            "A task inside {contender} waited for storage in {} of the window, inside {baseline} in {}.",
            share(of_contender),
            share(of_baseline)
        ),
    }
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

fn held_back(found: &HeldBackDisk) -> String {
    let HeldBackDisk { who, busy, per_second, varies, guest, host, busy_below } = found;
    let busy_below = busy_below.as_ref().map(|busy| format!(" and was busy for {}", share(busy)));
    format!(
        "{who}'s disk looks limited: the guest's device was busy for {} of the window at a steady {} operations a \
         second (varying by {}), {} each. The host's device below took {}{}.",
        share(busy),
        with_interval(per_second, number),
        share(varies),
        ms(guest),
        ms(host),
        busy_below.unwrap_or_default()
    )
}

fn work(Cost { measure, pair, ratio }: &Cost) -> String {
    let style = measures::style(&measure.unit);
    let level = |estimate: &Estimate| [&style.text(estimate.point), style.unit].join(" ").trim().to_owned();
    let OfBoth { baseline, contender, of_baseline, of_contender } = pair;
    format!(
        "For each transaction, {}: {} of {contender}, {} of {baseline}, {}.",
        measures::words(&measure.id).0,
        level(of_contender),
        level(of_baseline),
        format::effect_of(ratio)
    )
}

/// What could not be said, and why.
pub fn unknown(unknown: &Unknown) -> String {
    match unknown {
        Unknown::TooFewBlocks { blocks, needed } => {
            format!("No reasons are given: {blocks} blocks have telemetry of both, and intervals need {needed}.")
        }
        Unknown::TooFewSamples { who, needed } => {
            format!("No reasons are given: a window of {who} has fewer than {needed} samples.")
        }
        Unknown::VcpusNotSampled => {
            "Not known: whether vCPUs waited for a CPU of the host, because their threads were not sampled.".to_owned()
        }
        Unknown::SharingBehindQuota { who } => format!(
            "Not known: whether {who}'s vCPUs share a CPU: their control group was throttled, and some kernels count that as waiting for \
             a CPU."
        ),
        Unknown::DisksNotCounted => {
            "Not known: how long disk operations took, because the data device was not counted in both machines."
                .to_owned()
        }
        Unknown::DiskBelowNotCounted { who, busy } => format!(
            "Not known: whether {who}'s disk, busy for {} of the window, is limited: the host's device below was not counted.",
            share(busy)
        ),
        Unknown::LocksNotAddedUp => {
            "Not known: how long transactions waited for row locks, because these databases do not count it.".to_owned()
        }
        Unknown::NotCounted { contenders, side, probe, why } => {
            // Some reasons are about one column, and some about a whole side.
            let of_cpus = matches!(why, Missing::CpusOfOneMachine | Missing::CpusUnknown | Missing::CpusOverlap);
            let all = if of_cpus { "what is counted of the CPUs of a machine alone" } else { "everything" };
            let (probe, why) = (probe.as_deref().unwrap_or(all), missing::why(why));
            let place = match side {
                Side::Machine => "inside the machine",
                Side::Host => "on the host",
            };
            format!("Not counted of {}: {probe} {place}, because {why}.", contenders.join(" and "))
        }
    }
}

/// Why one of several machines gets less than the others.
pub fn of_machine(reason: &reasons::Reason) -> String {
    let machine = reason.machine;
    match &reason.cause {
        Cause::CpuQuota { found: OwnAndOthers { own, others, .. }, several_cpus, quota_of_study } => {
            let others = if others.point > 0.0 {
                format!("the others for {}", share(others))
            } else {
                "the others never were".to_owned()
            };
            let cpus = if *several_cpus { ", added up over its CPUs" } else { "" };
            let study = quota_of_study.map_or_else(String::new, |quota| {
                format!(" The study holds it to {} % of the time of its vCPUs (machine.odd).", percent(quota))
            });
            format!(
                "Machine {machine} was throttled by its CPU quota for {} of the window{cpus}; {others}.{study}",
                share(own)
            )
        }
        Cause::WaitingForCpu(OwnAndOthers { own, others, .. }) => format!(
            "Machine {machine} waited for a CPU of the host in {} of the time in which it wanted to run; the others in {}.",
            share(own),
            share(others)
        ),
        Cause::StolenTime(OwnAndOthers { own, others, .. }) => format!(
            "Machine {machine} saw {} of the time of its CPUs stolen; the others {}.",
            share(own),
            share(others)
        ),
        Cause::DiskTime(OwnAndOthers { own, others, times: slower }) => format!(
            "An operation of machine {machine}'s disk took {} as long as one of the others': {} against {}.",
            slower.as_ref().map(times).unwrap_or_default(),
            ms(own),
            ms(others)
        ),
        Cause::Interrupts(OwnAndOthers { own, others, times: more }) => format!(
            "Each transaction of machine {machine} came with {} as many interrupts as one of the others: {} against {}.",
            more.as_ref().map(times).unwrap_or_default(),
            with_interval(own, number),
            with_interval(others, number)
        ),
        Cause::QuotaNotSeen { quota_of_study } => format!(
            "The study holds machine {machine} to {} % of the time of its vCPUs (machine.odd), but it was not seen to be throttled more \
             than the others.",
            percent(*quota_of_study)
        ),
        Cause::OwnClients { clients } => {
            format!("The study gives machine {machine} a number of clients of its own, {clients} (machine.odd).")
        }
        Cause::NotKnown { alike, not_counted } => not_known(machine, alike, not_counted),
    }
}

fn not_known(machine: u32, alike: &[Suspect], not_counted: &[Suspect]) -> String {
    let name = |suspect: &Suspect| match suspect {
        Suspect::CpuQuota => "a CPU quota",
        Suspect::WaitingForCpu => "waiting for a CPU of the host",
        Suspect::StolenTime => "stolen time",
        Suspect::DiskTime => "the time of its disk's operations",
        Suspect::Interrupts => "interrupts",
    };
    let [alike, missing] = [alike, not_counted].map(|all| all.iter().map(name).collect::<Vec<_>>());
    let not_counted = if missing.is_empty() {
        String::new()
    } else {
        format!(" Not counted of all machines: {}.", missing.join(", "))
    };
    let known = match &alike[..] {
        [] => "nothing was counted of all machines of a trial.".to_owned(),
        [only] => format!("{only} does not surely set it apart.{not_counted}"),
        _ => format!("neither {} surely sets it apart.{not_counted}", joined(&alike, "nor")),
    };
    format!("Why machine {machine} gets less than the others is not known: {known}")
}

#[cfg(test)]
mod tests;
