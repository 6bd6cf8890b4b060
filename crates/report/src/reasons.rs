//! Why contenders or machines differ, in words: the reasons that rules found, each with its quantities and their intervals.

use crate::words::{interval, number, percent, with_interval, with_unit};
use crate::{format, measures, missing};
use analysis::consolidation::reasons::{self, Cause, Suspect};
use analysis::estimate::Estimate;
use analysis::explanation::evidence::OfBoth;
use analysis::explanation::rules::{Operation, Reason, Unknown};
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
    of_cpu(reason).or_else(|| of_disk(reason)).unwrap_or_else(|| of_work(reason))
}

fn of_cpu(reason: &Reason) -> Option<String> {
    Some(match reason {
        Reason::SharedCpu { who, all, vcpu, of_wanted, of_window, other } => {
            let (of_window, of_wanted) = (share(of_window), share(of_wanted));
            let other = other.as_ref().map(|other| format!(" ({}: {})", other.who, share(&other.share)));
            let other = other.unwrap_or_default();
            if *all {
                format!(
                    "{who}'s vCPUs waited {of_window} of the window for a CPU of the host{other}. vCPU {vcpu} waited longest: \
            {of_wanted} of the time it was runnable."
                )
            } else {
                format!(
                    "{who}'s vCPU {vcpu} waited {of_window} of the window for a CPU of the host{other}. That is {of_wanted} of \
            the time it was runnable."
                )
            }
        }
        Reason::StolenTime { who, share: stolen } => {
            format!("{who} saw {} of the time of its CPUs stolen by others.", share(stolen))
        }
        Reason::StolenDisagreement { who, by_host, by_machine } => format!(
            "Two counters disagree on how long {who}'s vCPUs waited for a CPU: {} of the window by the host, {} by the \
            guest (steal time).",
            share(by_host),
            share(by_machine)
        ),
        Reason::CpuQuota { who, share: held } => format!(
            "{who} was throttled for {} of the window: its control group had used up its CPU time.",
            share(held)
        ),
        Reason::MigratingVcpus { who, per_second } => {
            format!("{who}'s vCPUs changed their CPU {} a second.", times(per_second))
        }
        Reason::CpuFrequency { pair, ratio } => {
            let OfBoth { baseline, contender, of_baseline, of_contender } = pair;
            format!(
                "The host's CPUs ran at {} GHz beside {contender} and at {} GHz beside {baseline}: {} as fast.",
                number(of_contender.point / KHZ_PER_GHZ),
                number(of_baseline.point / KHZ_PER_GHZ),
                times(ratio)
            )
        }
        _ => return None,
    })
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
    }
}

fn of_disk(reason: &Reason) -> Option<String> {
    Some(match reason {
        Reason::HeldBackDisk { who, busy, per_second, varies, guest, host, busy_below } => {
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
        Reason::DiskTimeBetweenLayers { who, operation: kind, longer, guest, host } => {
            let word = if longer.point > 0.0 { "longer" } else { "less" };
            let positive = |value: f64| number(value.abs());
            format!(
                "A disk {} took {} ms {word}{} in {who}'s guest than on the host: {} and {}.",
                operation(*kind),
                positive(longer.point),
                interval(longer, positive),
                ms(guest),
                ms(host)
            )
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
        Reason::StoragePressure { pair } => format!(
            "A task inside {} waited for storage in {} of the window, inside {} in {}.",
            pair.contender,
            share(&pair.of_contender),
            pair.baseline,
            share(&pair.of_baseline)
        ),
        _ => return None,
    })
}

fn of_work(reason: &Reason) -> String {
    match reason {
        Reason::WorkPerTransaction { measure, pair, ratio } => {
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
        Reason::ExitsPerTransaction { who, exits } => {
            format!("Each transaction made the hypervisor take over from {who}'s guest {}.", times(exits))
        }
        Reason::Locks { who, waited_ms, share: of_response } => format!(
            "Each transaction of {who} waited {} for locks of rows, {} of its response.",
            ms(waited_ms),
            share(of_response)
        ),
        Reason::MemoryPressure { who, share: waited } => {
            format!("In {} of the window a task inside {who} waited for memory.", share(waited))
        }
        Reason::Swapping { who, per_second } => {
            format!("{who} swapped {} a second.", with_unit(per_second, number, "pages"))
        }
        _ => String::new(),
    }
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
        Cause::CpuQuota { own, others, several_cpus, quota_of_study } => {
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
        Cause::WaitingForCpu { own, others } => format!(
            "Machine {machine} waited for a CPU of the host in {} of the time in which it wanted to run; the others in {}.",
            share(own),
            share(others)
        ),
        Cause::StolenTime { own, others } => format!(
            "Machine {machine} saw {} of the time of its CPUs stolen; the others {}.",
            share(own),
            share(others)
        ),
        Cause::DiskTime { own, others, times: slower } => format!(
            "An operation of machine {machine}'s disk took {} as long as one of the others': {} against {}.",
            times(slower),
            ms(own),
            ms(others)
        ),
        Cause::Interrupts { own, others, times: more } => format!(
            "Each transaction of machine {machine} came with {} as many interrupts as one of the others: {} against {}.",
            times(more),
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
    let opening = format!("Why machine {machine} gets less than the others is not known");
    let not_counted = if missing.is_empty() {
        String::new()
    } else {
        format!(" Not counted of all machines: {}.", missing.join(", "))
    };
    match alike.split_last() {
        None => format!("{opening}: nothing was counted of all machines of a trial."),
        Some((last, [])) => format!("{opening}: {last} does not surely set it apart.{not_counted}"),
        Some((last, rest)) => {
            format!("{opening}: neither {} nor {last} surely sets it apart.{not_counted}", rest.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
