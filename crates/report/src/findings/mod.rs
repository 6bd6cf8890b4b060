//! Findings in words: a sentence or two for each one, and what each code means and what to do.

pub mod of_runs;

use crate::document::Warning;
use crate::format::{
    at, count, counted, decimal, distinct, effect_of, grouped_by, joined, listed, outcome, trials, within,
};
use crate::{measures, missing};
use analysis::estimate::Estimate;
use analysis::findings::{
    FactDiffers, Finding, InTrials, OfMachines, Property, SharedValue, Subject, TableSums, UnequalWork, What, Which,
    code,
};
use analysis::measures::work::{READ_BYTES, REDO_BYTES, WRITTEN_BYTES};
use analysis::missing::Missing;
use record::facts::DATA_CACHED_TWICE;
use std::collections::BTreeSet;

/// Longer properties of machines side by side appear only in the record.
const LONGEST_PROPERTY: usize = 60;
/// More subjects than this are counted in a line.
const MOST_BESIDE: usize = 6;
/// Longer facts of the host are cut after this many characters.
const LONGEST_HOST_FACT: usize = 160;

/// Findings as a report shows them: a line for each code, with the worst finding in words and the subjects of all others.
pub fn lines<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Warning> {
    grouped_by(findings, |finding| (finding.what.code(), &finding.accepted)).iter().map(|group| line(group)).collect()
}

fn line(group: &[&Finding]) -> Warning {
    let first = warning(group[0]);
    let kinds = grouped_by(&group[1..], |finding| finding.what.kind().name);
    let also = within(". Also ", &joined(kinds.iter().map(|others| beside(others, first.kind)), "; "), "");
    Warning { text: first.text + &also, ..first }
}

/// "native at 4x1 and kvm at 1x1" of the same kind, "window-too-short of native and 2 more" of another.
fn beside(others: &[&&Finding], first: &str) -> String {
    let (kind, subjects): (_, Vec<String>) =
        (others[0].what.kind().name, others.iter().map(|one| about(one)).collect());
    let mut named = distinct(subjects.iter().filter(|subject| !subject.is_empty()));
    named.truncate(MOST_BESIDE);
    let more = subjects.iter().filter(|subject| !named.contains(subject)).count();
    let more = (more > 0).then(|| format!("{more} more"));
    let listed = listed(named.into_iter().chain(&more));
    if kind == first { listed } else { format!("{kind} of {listed}") }
}

/// "kvm at 4x1 (trials 3, 4)", or empty for the whole run.
fn about(finding: &Finding) -> String {
    let (who, place, trials) = subject(finding);
    match format!("{who}{place}").trim() {
        "" => trials,
        place => format!("{place}{}", within(" (", &trials, ")")),
    }
}

pub fn warning(finding: &Finding) -> Warning {
    let kind = finding.what.kind();
    Warning {
        severity: finding.severity,
        code: finding.what.code(),
        kind: kind.name,
        text: begun(finding),
        remedy: kind.remedy,
        evidence: code(finding.what.code()).map_or("", |code| code.evidence),
        accepted: finding.accepted.clone(),
    }
}

/// The text as the beginning of a sentence; a contender's name stays as it is.
fn begun(finding: &Finding) -> String {
    let text = sentence(finding);
    let is_named = finding.subject.contender.as_ref().is_some_and(|name| !name.is_empty() && text.starts_with(name));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !is_named => first.to_uppercase().chain(letters).collect(),
        _ => text,
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

/// Tries each group of codes in turn; each group handles its own.
fn of_run(finding: &Finding) -> String {
    let parts = [of_trials, of_contenders, of_machines, of_steadiness, of_host];
    let own = parts.iter().find_map(|part| part(finding));
    own.or_else(|| of_runs::sentence(&finding.what)).unwrap_or_else(|| finding.what.code().to_owned())
}

/// The subject in words: the contender, the point of the study, and the trials.
fn subject(finding: &Finding) -> (&str, String, String) {
    let Subject { contender, coordinates, trials: numbers, .. } = &finding.subject;
    let trials = if numbers.is_empty() { String::new() } else { trials(numbers) };
    (contender.as_deref().unwrap_or_default(), at(coordinates), trials)
}

/// Findings about how trials ended and whether their records can be trusted.
fn of_trials(finding: &Finding) -> Option<String> {
    let (who, _, trials) = subject(finding);
    Some(match &finding.what {
        What::Rehearsed => "this run was rehearsed: no database was driven, and no figure means anything".to_owned(),
        What::TrialNotCompleted { outcome: how } => format!("{who} {} ({trials})", outcome(how)),
        What::TrialsMissing { planned } => {
            format!("{} of {planned} planned trials were not completed ({trials})", finding.subject.trials.len())
        }
        What::CheckViolated { check, rule, seen } => {
            let (rule, seen) = (rule.trim_end_matches('.'), seen.as_deref().unwrap_or("nothing noted"));
            format!("data check {check} failed on {who} ({trials}). Rule: {rule}. Seen: {seen}")
        }
        What::DataUnchecked => format!("no check looked at the data of {who} after a trial"),
        What::RecordDisagrees { how } => format!("the record disagrees with itself: {how} ({trials})"),
        What::VmEmulated { how } => format!(
            "{who}'s CPU was emulated in software{}{}. That is many times slower than a real VM",
            first_cause(how),
            within(" (", &trials, ")")
        ),
        What::ClockWrong { share } => format!(
            "{who}'s clock was up to {} faster or slower than the host's ({trials}). Times taken inside are wrong by as much",
            percent(*share, 2)
        ),
        What::NotedByTrial { note } => format!("{who}: {note} ({trials})"),
        What::LittlesLaw { trial, machine, accounted, at_least, at_most, tolerance } => {
            let machine = machine.map_or_else(String::new, |machine| format!(" on machine {machine}"));
            let due = match at_least {
                Some(least) if least < at_most => format!("{least:.1} to {at_most:.1}"),
                Some(least) => format!("{least:.1}"),
                None => format!("at most {at_most:.1}"),
            };
            format!(
                "{who}'s timings do not add up ({trials}). In trial {trial}{machine} they account for {accounted:.1} busy clients, \
                 but {due} were busy (tolerated: {})",
                percent(*tolerance, 1)
            )
        }
        What::NotHonoured { wish, fact } => format!("{who}: {wish} is {fact} ({trials})"),
        What::TransactionsFailed { failed, of } => {
            format!("{who}: {} of {} transactions failed", count(*failed), count(*of))
        }
        _ => return None,
    })
}

/// Findings about what contenders should have in common.
fn of_contenders(finding: &Finding) -> Option<String> {
    let (who, place, _) = subject(finding);
    Some(match &finding.what {
        What::SettingsDiffer { settings } => {
            format!("{} between contenders{place}: {}", differ(settings.len(), "database setting"), facts(settings))
        }
        What::ServersDiffer { servers } => {
            let servers = servers.iter().map(|one| format!("{} runs {}", one.contender, one.value));
            format!("the database servers differ{place}: {}", joined(servers, "; "))
        }
        What::LoadedDataDiffer { tables } => {
            let tables = joined(tables.iter().map(loaded), " — ");
            format!("the contenders did not begin with the same data{place}: table {tables}")
        }
        What::WorkUnequal { work } => {
            format!("a transaction did not cost the same work on both sides{place}: {}", unequal(work))
        }
        What::DiskWorkUnequal { work } => {
            format!(
                "the disks did not do the same work{place}: {}. Part of the difference may be caching",
                unequal(work)
            )
        }
        What::StorageDiffers { fact, values } | What::MachinesDiffer { fact, values } => {
            let caches = if fact == DATA_CACHED_TWICE { ". “Yes” means additional memory for reads" } else { "" };
            format!("“{fact}” differs between contenders{place}: {}{caches}", each_on(values))
        }
        What::SendingDiffers { values } => {
            format!("the load engine sent by different system calls{place}: {}", each_on(values))
        }
        What::NotDurable { verdict } => format!(
            "{who}{place} {verdict}: an acknowledged transaction may be missing after a fault, and no setting says so. Its \
             throughput is that of less work"
        ),
        What::DurabilityDiffers { values } => {
            let values = values.iter().map(|one| format!("{}: {}", one.contenders.join(", "), one.value));
            let values = joined(values, "; ");
            format!("acknowledged transactions are not equally safe on all contenders{place}: {values}")
        }
        What::NoBaseline => format!("no contender is the baseline{place}, so nothing is compared"),
        What::TooFewBlocks { blocks, needed } => format!(
            "{} {} too few for a confidence interval, which needs {needed}. Chance alone may explain a difference",
            counted((*blocks).into(), "block"),
            if *blocks == 1 { "is" } else { "are" }
        ),
        What::HostIsGuest { of } => {
            let of = within(" of ", of.as_deref().unwrap_or_default(), "");
            format!("the host is itself a guest{of}, so “native” is not bare metal and VMs are nested")
        }
        What::HostsApart { baseline, baseline_hosts, hosts } => format!(
            "{who}{place} ran on {}, and {baseline} on {}: what differs between these hosts is part of the difference",
            listed(hosts),
            listed(baseline_hosts)
        ),
        What::HostsDisagree { ratios } => {
            let ratios = ratios.iter().map(|one| format!("{} on {}", effect_of(&one.ratio), one.host));
            format!("the change of {who}{place} depends on the host: {}", joined(ratios, ", "))
        }
        What::SystemsDiffer { facts: all } => {
            format!("{} between contenders: {}", differ(all.len(), "system fact"), facts(all))
        }
        _ => return None,
    })
}

fn facts(differing: &[FactDiffers]) -> String {
    joined(differing.iter().map(|one| &one.fact), ", ")
}

/// Findings about machines side by side.
fn of_machines(finding: &Finding) -> Option<String> {
    let (who, place, trials) = subject(finding);
    Some(match &finding.what {
        What::MachinesUnlike { properties } => {
            let properties = joined(properties.iter().map(property).collect::<BTreeSet<String>>(), "; ");
            format!("{who}{place}: machines side by side should be alike, but differ in {properties} ({trials})")
        }
        What::TrialsLeftOut { beside: None, why } => {
            format!("the scores of {who}{place} leave out valid trials: {}", reasons(why))
        }
        What::TrialsLeftOut { beside: Some(machine), why } => {
            format!("what {who}{place} gets beside machine {machine} leaves out valid trials: {}", reasons(why))
        }
        What::WindowsApart { worst_ms } => format!(
            "{who}{place}: machines side by side measured windows up to {worst_ms:.0} ms apart ({trials}). Meanwhile some had more of \
             the host than others"
        ),
        _ => return None,
    })
}

/// Findings about whether throughput stayed the same.
fn of_steadiness(finding: &Finding) -> Option<String> {
    let (who, place, _) = subject(finding);
    Some(match &finding.what {
        What::TrialsApart { times, spread } => {
            let spread = if *spread > 0.0 { percent(*spread, 0) } else { String::new() };
            let spread = within(", with a standard deviation of ", &spread, "");
            format!("{who}'s fastest trial was {times:.1} times as fast as its slowest{place}{spread}")
        }
        What::NotSteady { drift, drifting, of } => {
            format!(
                "{who}'s throughput {}{place} while it was measured ({drifting} of {of} trials drift)",
                course(drift)
            )
        }
        What::NotSettled { unsettled, of } => {
            format!("{who} was still warming up{place} in {unsettled} of {of} trials")
        }
        What::HalvesUnlike { second_half } => format!(
            "{who}'s throughput in the second half of its window was {} of that in the first half{place}",
            percent(*second_half, 0)
        ),
        What::WarmUpTooShort { late, of, change } => format!(
            "{who}'s warm-up was too short{place} in {late} of {of} trials. A later start would make throughput {} {}",
            percent(change.abs(), 1),
            if *change < 0.0 { "lower" } else { "higher" }
        ),
        What::WindowTooShort => format!("{who}'s measured window covers no whole checkpoint cycle{place}"),
        _ => return None,
    })
}

/// Values with the contenders that have them: "ext4 on native; xfs on vm".
fn each_on(values: &[SharedValue]) -> String {
    joined(values.iter().map(|one| format!("{} on {}", one.value, one.contenders.join(", "))), "; ")
}

fn in_trials(values: &[InTrials]) -> String {
    joined(values.iter().map(|one| format!("“{}” ({})", beginning(&one.value), trials(&one.trials))), "; ")
}

/// Findings about what happened on the host.
fn of_host(finding: &Finding) -> Option<String> {
    let (who, place, told) = subject(finding);
    Some(match &finding.what {
        What::HostChanged { fact, values } => {
            format!("{} of this host changed between trials: {}", missing::host_fact(*fact), in_trials(values))
        }
        What::MachineChanged { fact, values } => {
            format!("{who}: “{fact}” of the machine changed between trials: {}", in_trials(values))
        }
        What::HostBusyBesideOne { loud, most, quiet, least } => format!(
            "other processes took {} of the host's CPU time beside {loud}, but {} beside {quiet}",
            percent(*most, 1),
            percent(*least, 1)
        ),
        What::EngineWaited { waits } => {
            let each = waits.iter().map(|wait| {
                let (share, each_us) = (percent(wait.share, 0), wait.us_per_turn);
                format!("{} for {share} of the window, {each_us:.0} µs at a time", wait.contender)
            });
            format!("the load engine waited for CPUs{place}, in the worst trial: {}", joined(each, "; "))
        }
        What::HostDiskBusyBesideOne { loud, most, quiet, least } => format!(
            "other processes read and wrote {:.1} MB/s on this host's disks beside {loud}, but {:.1} MB/s beside {quiet}",
            most / 1e6,
            least / 1e6
        ),
        What::HostBusy { share } if told.is_empty() => format!(
            "other processes took up to {} of the host's CPU time while it was measured what a commit costs ({who})",
            percent(*share, 1)
        ),
        What::HostBusy { share } => {
            format!("other processes took up to {} of the host's CPU time ({told})", percent(*share, 1))
        }
        What::HostCpuStolen { share } => {
            format!("the hypervisor below this host took up to {} of its CPU time ({told})", percent(*share, 1))
        }
        What::HostMemoryShort { share } => {
            format!("processes of this host waited for memory in up to {} of a window ({told})", percent(*share, 1))
        }
        What::HostSwapping { pages } => format!("this host swapped up to {pages:.0} pages within a window ({told})"),
        What::HostFrequency { slow_trial, low_mhz, fast_trial, high_mhz } => format!(
            "the host's CPUs ran at {low_mhz:.0} MHz in trial {slow_trial} and at {high_mhz:.0} MHz in trial {fast_trial}"
        ),
        _ => return None,
    })
}

fn differ(count: usize, what: &str) -> String {
    format!("{} differ{}", counted(count as u64, what), if count == 1 { "s" } else { "" })
}

fn percent(share: f64, decimals: usize) -> String {
    format!("{:.decimals$} %", share * 100.0)
}

/// ", because /dev/kvm is not there", without the output of a failed program, which is in the record.
fn first_cause(how: &str) -> String {
    let cause = how.split_once("because ").map_or("", |(_, cause)| cause);
    let cause = cause.split([':', '(', ';']).next().unwrap_or_default().trim();
    within(", because ", cause, "")
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
    format!("{}: {}", table.table, joined(with.chain(without), "; "))
}

/// The first difference; the others are in the table of work.
fn unequal(all: &[UnequalWork]) -> String {
    let Some(one) = all.first() else { return String::new() };
    let (what, decimals) = work(&one.measure);
    let [base, own] = [one.of_baseline, one.of_contender].map(|value| decimal(value, decimals));
    let more = all.len() - 1;
    let others = if more > 0 { format!("; and {}", counted(more as u64, "other measure")) } else { String::new() };
    format!(
        "{base} {what} per transaction on {}, {own} on {} (tolerated: {}){others}",
        one.baseline,
        one.contender,
        percent(one.tolerance, 0)
    )
}

/// The name of a measure of work in a sentence, and its number of decimals.
fn work(measure: &str) -> (String, usize) {
    let (name, _) = measures::words(measure);
    match measure {
        READ_BYTES | WRITTEN_BYTES => (format!("bytes {name}"), 0),
        REDO_BYTES => (format!("bytes of {name}"), 0),
        _ => (name, 2),
    }
}

fn reasons(reasons: &[Missing]) -> String {
    joined(reasons.iter().map(missing::why), "; ")
}

fn property(property: &Property) -> String {
    let who =
        |machines: &[u32]| format!("machine{} {}", if machines.len() == 1 { "" } else { "s" }, joined(machines, ", "));
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
    format!("{name}: {}", joined(property.values.iter().map(told), ", "))
}

/// "fell by 8.1 % (95 % confidence interval 5.0 to 11.2 %)".
fn course(drift: &Estimate) -> String {
    let word = if drift.point < 0.0 { "fell" } else { "rose" };
    let shown = |share: f64| share * drift.point.signum() * 100.0;
    let interval = drift.bounds.known().map(|(low, high)| {
        let (one, other) = (shown(low), shown(high));
        format!(" (95 % confidence interval {:.1} to {:.1} %)", one.min(other), one.max(other))
    });
    format!("{word} by {:.1} %{}", shown(drift.point), interval.unwrap_or_default())
}

#[cfg(test)]
mod tests;
