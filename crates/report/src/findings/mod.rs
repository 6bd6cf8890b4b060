//! What the analysis found, in words: a sentence or two for each finding, and what each code means and what to do.

pub mod explained;
pub mod of_runs;

use crate::document::Warning;
use crate::format::{at, outcome, trials};
use crate::missing;
use analysis::estimate::Estimate;
use analysis::findings::{FactDiffers, Finding, OfMachines, Property, Subject, TableSums, UnequalWork, What, Which};
use analysis::measures::work::{
    READ_BYTES, READS, REDO_BYTES, ROWS_CHANGED, ROWS_RETURNED, STATEMENTS, WRITES, WRITTEN_BYTES,
};
use analysis::missing::Missing;
use record::facts::DATA_CACHED_TWICE;
use std::collections::BTreeSet;

/// Longer values are looked up in the table of machines.
const LONGEST_FACT: usize = 48;
/// The same of machines side by side, whose properties are in the record only.
const LONGEST_PROPERTY: usize = 60;
/// Texts of the host are told by their beginning.
const LONGEST_HOST_FACT: usize = 160;

/// As a report shows them.
pub fn warnings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Warning> {
    findings.into_iter().map(warning).collect()
}

pub fn warning(finding: &Finding) -> Warning {
    Warning {
        severity: finding.severity,
        code: finding.what.code(),
        text: sentence(finding),
        accepted: finding.accepted.clone(),
    }
}

/// A sentence or two, without the full stop.
pub fn sentence(finding: &Finding) -> String {
    let text = of_run(finding);
    match finding.subject.run {
        Some(Which::Old) => format!("in the old run, {text}"),
        Some(Which::New) => format!("in the new run, {text}"),
        None => text,
    }
}

/// Each part knows its own codes.
fn of_run(finding: &Finding) -> String {
    let parts = [of_trials, of_contenders, of_machines, of_steadiness, of_host];
    let own = parts.iter().find_map(|part| part(finding));
    own.or_else(|| of_runs::sentence(&finding.what)).unwrap_or_else(|| finding.what.code().to_owned())
}

/// What sentences say of whom, where and in which trials.
fn subject(finding: &Finding) -> (&str, String, String) {
    let Subject { contender, coordinates, trials: numbers, .. } = &finding.subject;
    (contender.as_deref().unwrap_or_default(), at(coordinates), trials(numbers))
}

/// How trials went, and what their records are worth.
fn of_trials(finding: &Finding) -> Option<String> {
    let (who, _, trials) = subject(finding);
    Some(match &finding.what {
        What::Rehearsed => {
            "This run was rehearsed. No machine was started and no server was driven: every transaction took a time \
                            that was made up. No figure here means anything."
                .to_owned()
        }
        What::TrialNotCompleted { outcome: how } => format!("{who} {} ({trials})", outcome(how)),
        What::TrialsMissing { planned } => {
            format!("{} of {planned} planned trials were not run ({trials})", finding.subject.trials.len())
        }
        What::CheckViolated { check, rule, seen } => {
            let (rule, seen) = (rule.trim_end_matches('.'), seen.as_deref().unwrap_or("nothing noted"));
            format!("data check {check} is violated on {who} ({trials}). Rule: {rule}. Seen: {seen}")
        }
        What::RecordDisagrees { how } => format!("the record disagrees with itself: {how} ({trials})"),
        What::VmEmulated { how } => format!(
            "{who} ran {how} ({trials}). Its figures are those of an emulator, not of a hypervisor with hardware virtualization"
        ),
        What::ClockWrong { share } => format!(
            "the clock inside {who} ran up to {} or more faster or slower than the host's ({trials}); what was timed inside is wrong by \
             as much",
            percent(*share, 2)
        ),
        What::NotedByTrial { note } => format!("{who}: {note} ({trials})"),
        What::LittlesLaw { trial, machine, accounted, at_least, at_most, tolerance } => {
            let machine = machine.map_or_else(String::new, |machine| format!(", on machine {machine},"));
            let due = match at_least {
                Some(least) if least < at_most => format!("{least:.1} to {at_most:.1}"),
                Some(least) => format!("{least:.1}"),
                None => format!("at most {at_most:.1}"),
            };
            format!(
                "{who}: Little's law does not hold ({trials}): in trial {trial}{machine} response times and pauses account for \
                 {accounted:.1} clients at a time where {due} were (tolerated: {}). Something was not timed, or timed wrongly",
                percent(*tolerance, 1)
            )
        }
        What::NotHonoured { wish, fact } => format!("{who}: {wish} is {fact} ({trials})"),
        What::TransactionsFailed { failed, of } => format!("{who}: {failed} of {of} transactions failed"),
        _ => return None,
    })
}

/// What contenders should have in common.
fn of_contenders(finding: &Finding) -> Option<String> {
    let (_, place, _) = subject(finding);
    Some(match &finding.what {
        What::SettingsDiffer { settings } => {
            format!("effective database settings differ between contenders{place}: {}", settings.join(", "))
        }
        What::ServersDiffer { servers } => {
            let servers: Vec<String> =
                servers.iter().map(|told| format!("{} runs {}", told.contender, told.value)).collect();
            format!("the database servers differ{place}: {}", servers.join("; "))
        }
        What::LoadedDataDiffer { tables } => {
            let tables: Vec<String> = tables.iter().map(loaded).collect();
            format!("the contenders did not begin with the same data{place}: table {}", tables.join(" — "))
        }
        What::WorkUnequal { work } => format!("the contenders did not do equal work{place}: {}", unequal(work)),
        What::DiskWorkUnequal { work } => {
            format!("the contenders' storage did not do equal work{place}: {}", unequal(work))
        }
        What::StorageDiffers { fact, values } => {
            let values: Vec<String> =
                values.iter().map(|one| format!("{} on {}", one.value, one.contenders.join(", "))).collect();
            let caches = if fact == DATA_CACHED_TWICE {
                ". Where it is yes, the host's page cache serves reads too: memory beyond the machine's shape"
            } else {
                ""
            };
            format!("“{fact}” differs between contenders{place}: {}{caches}", values.join("; "))
        }
        What::NoBaseline => format!("no contender is the baseline{place}: nothing is compared"),
        What::TooFewBlocks { blocks, needed } => format!(
            "the study has {blocks} of the at least {needed} blocks that an interval needs: ratios are plain readings, and chance alone \
             may explain them"
        ),
        What::HostIsGuest { of } => {
            let of = of.as_ref().map(|vendor| format!(" of {vendor}")).unwrap_or_default();
            format!(
                "the host is itself a guest{of}: what runs on it directly is not on bare metal, virtual machines on it are nested, and \
                 both share its hardware with guests that are not seen here"
            )
        }
        What::SystemsDiffer { facts } => {
            let facts: Vec<String> = facts.iter().map(fact_differs).collect();
            format!(
                "inside, contenders differ in what no platform is meant to change, so ratios are of that, too: {}",
                facts.join("; ")
            )
        }
        _ => return None,
    })
}

/// Machines side by side.
fn of_machines(finding: &Finding) -> Option<String> {
    let (who, place, trials) = subject(finding);
    Some(match &finding.what {
        What::MachinesUnlike { properties } => {
            let properties: BTreeSet<String> = properties.iter().map(property).collect();
            let properties = properties.into_iter().collect::<Vec<_>>().join("; ");
            format!("{who}{place}: machines side by side should be alike, and differ in {properties} ({trials})")
        }
        What::TrialsLeftOut { beside: None, why } => {
            format!("the scores of {who}{place} leave out valid trials: {}", joined(why))
        }
        What::TrialsLeftOut { beside: Some(machine), why } => {
            format!("what {who}{place} gets beside machine {machine} leaves out valid trials: {}", joined(why))
        }
        What::WindowsApart { worst_ms } => format!(
            "{who}{place}: the measured windows of machines side by side lie up to {worst_ms:.0} ms apart ({trials}); meanwhile some had \
             the host more to themselves than others"
        ),
        _ => return None,
    })
}

/// Whether throughput stayed the same.
fn of_steadiness(finding: &Finding) -> Option<String> {
    let (who, place, _) = subject(finding);
    Some(match &finding.what {
        What::TrialsApart { times } => format!(
            "{who} was {times:.1} times as fast in its fastest trial as in its slowest{place}: something else used this host, or the \
             database was not in a steady state. Measure again while the host is quiet"
        ),
        What::NotSteady { drift, drifting, of } => format!(
            "{who}{place} was in no steady state: its throughput {} over the measured window ({drifting} of {of} trials drift). Warm up \
             or measure longer",
            course(drift)
        ),
        What::NotSettled { unsettled, of } => format!(
            "{who}{place} was in no steady state: in {unsettled} of {of} trials MSER-5 finds no end of warming up within the first half. \
             Warm up or measure longer"
        ),
        What::HalvesUnlike { second_half } => format!(
            "{who}{place} did {} of the first half's throughput in the second half of its window: something changed in between",
            percent(*second_half, 0)
        ),
        What::WarmUpTooShort { late, of, change } => format!(
            "the warm-up of {who}{place} is too short: in {late} of {of} trials MSER-5 would begin later than the measured window, and \
             throughput would be {} {} on average",
            percent(change.abs(), 1),
            if *change < 0.0 { "lower" } else { "higher" }
        ),
        What::WindowTooShort => format!(
            "a measured window of {who}{place} covers no whole cycle from one checkpoint to the next: what checkpoints cost is in its \
             figure by chance. Measure longer, or let them come more often"
        ),
        _ => return None,
    })
}

/// What happened on the host.
fn of_host(finding: &Finding) -> Option<String> {
    let (_, _, told) = subject(finding);
    Some(match &finding.what {
        What::HostChanged { fact, values } => {
            let values: Vec<String> =
                values.iter().map(|one| format!("“{}” ({})", beginning(&one.value), trials(&one.trials))).collect();
            format!("{} of this host was not the same in all trials: {}", missing::host_fact(*fact), values.join("; "))
        }
        What::HostBusyBesideOne { loud, most, quiet, least } => format!(
            "other processes took {} of the host's CPU time beside {loud} and {} beside {quiet}: the contenders were not measured under \
             the same conditions",
            percent(*most, 1),
            percent(*least, 1)
        ),
        What::HostBusy { share } => format!(
            "other processes of this host took up to {} of its CPU time ({told}). Measure again while it is quiet",
            percent(*share, 1)
        ),
        What::HostCpuStolen { share } => format!(
            "a hypervisor below this host took up to {} of its CPU time ({told}): the trials had less than others",
            percent(*share, 1)
        ),
        What::HostMemoryShort { share } => format!(
            "this host was short of memory: something waited for it in up to {} of a window ({told})",
            percent(*share, 1)
        ),
        What::HostSwapping { pages } => {
            format!("this host swapped up to {pages:.0} pages within a window ({told}): it was short of memory")
        }
        What::HostFrequency { slow_trial, low_mhz, fast_trial, high_mhz } => format!(
            "the CPUs of this host ran at {low_mhz:.0} MHz around trial {slow_trial} and at {high_mhz:.0} MHz around trial {fast_trial}: \
             their speed was not the same in all trials"
        ),
        _ => return None,
    })
}

fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", share * 100.0)
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(LONGEST_HOST_FACT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn loaded(table: &TableSums) -> String {
    let with = table.sums.iter().map(|told| format!("{} on {}", told.value, told.contender));
    let without = table.without.iter().map(|contender| format!("not there on {contender}"));
    format!("{}: {}", table.table, with.chain(without).collect::<Vec<_>>().join("; "))
}

fn unequal(all: &[UnequalWork]) -> String {
    let of_measure = |one: &UnequalWork| {
        let (what, digits) = work(&one.measure);
        let (baseline, contender) = (&one.baseline, &one.contender);
        format!(
            "{what} per transaction: {:.digits$} on {baseline}, {:.digits$} on {contender} (tolerated: {})",
            one.of_baseline,
            one.of_contender,
            percent(one.tolerance, 1)
        )
    };
    all.iter().map(of_measure).collect::<Vec<_>>().join("; ")
}

/// A measure of work as it is called in a sentence, and with how many decimals.
fn work(measure: &str) -> (&str, usize) {
    match measure {
        STATEMENTS => ("statements", 2),
        ROWS_RETURNED => ("rows returned", 2),
        ROWS_CHANGED => ("rows changed", 2),
        READS => ("reads of the device", 2),
        READ_BYTES => ("bytes read from the device", 0),
        WRITES => ("writes to the device", 2),
        WRITTEN_BYTES => ("bytes written to the device", 0),
        REDO_BYTES => ("bytes of redo", 0),
        other => (other, 2),
    }
}

fn fact_differs(differs: &FactDiffers) -> String {
    let is_short = differs.values.iter().all(|one| one.value.len() <= LONGEST_FACT);
    let shown: Vec<String> =
        differs.values.iter().map(|one| format!("{} ({})", one.value, one.contenders.join(", "))).collect();
    if is_short {
        format!("{}: {}", differs.fact, shown.join(", "))
    } else {
        format!("{} (see Machines)", differs.fact)
    }
}

fn joined(reasons: &[Missing]) -> String {
    reasons.iter().map(missing::why).collect::<Vec<_>>().join("; ")
}

fn property(property: &Property) -> String {
    let who = |machines: &[u32]| {
        let numbers = machines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        format!("machine{} {numbers}", if machines.len() == 1 { "" } else { "s" })
    };
    let told = |one: &OfMachines| match one.value.len() {
        ..=LONGEST_PROPERTY => format!("{} ({})", one.value, who(&one.machines)),
        _ => format!("another of {}", who(&one.machines)),
    };
    let name = match property.name.split_once('/') {
        Some(("setting", name)) => format!("setting {name}"),
        Some(("table", name)) => format!("loaded table {name}"),
        _ if property.name == "measured_ms" => "length of the measured window, ms".to_owned(),
        _ => property.name.clone(),
    };
    format!("{name}: {}", property.values.iter().map(told).collect::<Vec<_>>().join(", "))
}

/// "fell by 8.1 % (95 % interval 5.0 to 11.2 %)".
fn course(drift: &Estimate) -> String {
    let word = if drift.point < 0.0 { "fell" } else { "rose" };
    let shown = |share: f64| share * drift.point.signum() * 100.0;
    let interval = drift.bounds.known().map(|(low, high)| {
        let (one, other) = (shown(low), shown(high));
        format!(" (95 % interval {:.1} to {:.1} %)", one.min(other), one.max(other))
    });
    format!("{word} by {:.1} %{}", shown(drift.point), interval.unwrap_or_default())
}

#[cfg(test)]
mod tests;
