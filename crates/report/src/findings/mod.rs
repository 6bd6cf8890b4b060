//! Findings in words: a sentence or two for each one, and what each code means and what to do.

pub mod of_runs;

use crate::document::Warning;
use crate::format::{
    self, Style, at, clipped, count, counted, decimal, distinct, grouped_by, joined, listed, outcome, trials, within,
};
use crate::table::said;
use crate::words::words;
use crate::{measures, missing};
use analysis::findings::{
    EngineWait, FactDiffers, Finding, InTrials, OfMachines, Property, SharedValue, Subject, TableSums, UnequalWork,
    What, WhichRun, code,
};
use analysis::measures::work::{READ_BYTES, REDO_BYTES, WRITTEN_BYTES};
use analysis::missing::Missing;
use of_runs::{change, changed_work, compared, some};
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
        Some(WhichRun::Old) => format!("in the old run, {text}"),
        Some(WhichRun::New) => format!("in the new run, {text}"),
        None => text,
    }
}

words! {
    /// Without the run that it is about.
    fn of_run(finding: &Finding) {
        &finding.what;
        let (who, place, trials) = subject(finding);
    }
    What {
        Rehearsed => "this run was rehearsed: no database was driven, and no figure means anything";
        TrialNotCompleted { outcome: how } => "{who} {} ({trials})", outcome(how);
        TrialsMissing { planned } => "{} of {planned} planned trials were not completed ({trials})", finding.subject.trials.len();
        CheckViolated { check, rule, seen } => "data check {check} failed on {who} ({trials}). Rule: {}. Seen: {}",
            rule.trim_end_matches('.'), seen.as_deref().unwrap_or("nothing noted");
        DataUnchecked => "no check looked at the data of {who} after a trial";
        RecordDisagrees { how } => "the record disagrees with itself: {how} ({trials})";
        VmEmulated { how } => "{who}'s CPU was emulated in software{}{}. Emulation is many times slower than a real VM",
            first_cause(how), within(" (", &trials, ")");
        ClockWrong { share } =>
            "{who}'s clock was up to {} faster or slower than the host's ({trials}). Times taken inside are wrong by as much",
            format::share(*share, 2);
        NotedByTrial { note } => "{who}: {note} ({trials})";
        LittlesLaw { trial, machine: Some(machine), accounted, at_least, at_most, tolerance } =>
            "{who}'s timings do not add up ({trials}). In trial {trial} on machine {machine} they account for {}",
            clients(*accounted, *at_least, *at_most, *tolerance);
        LittlesLaw { trial, machine: None, accounted, at_least, at_most, tolerance } =>
            "{who}'s timings do not add up ({trials}). In trial {trial} they account for {}",
            clients(*accounted, *at_least, *at_most, *tolerance);
        NotHonoured { wish, fact } => "{who}: {wish} is {fact} ({trials})";
        TransactionsFailed { failed, of } => "{who}: {} of {} transactions failed", count(*failed), count(*of);

        SettingsDiffer { settings } => "{}", differ(settings, "database setting", &place);
        ServersDiffer { servers } => "the database servers differ{place}: {}",
            joined(servers.iter().map(|one| format!("{} runs {}", one.contender, one.value)), "; ");
        LoadedDataDiffer { tables } => "the contenders did not begin with the same data{place}: table {}",
            joined(tables.iter().map(loaded), " — ");
        WorkUnequal { work } => "a transaction did not cost the same work on both sides{place}: {}", unequal(work);
        DiskWorkUnequal { work } => "the disks did not do the same work{place}: {}. {}", unequal(work), why_of_disks(work);
        StorageDiffers { fact, values } if fact == DATA_CACHED_TWICE =>
            "“{fact}” differs between contenders{place}: {}. “Yes” means additional memory for reads", each_on(values);
        StorageDiffers { fact, values } => "“{fact}” differs between contenders{place}: {}", each_on(values);
        MachinesDiffer { fact, values } => "“{fact}” differs between contenders{place}: {}", each_on(values);
        SendingDiffers { values } => "the load engine sent by different system calls{place}: {}", each_on(values);
        NotDurable { verdict } =>
            "{who}{place} {verdict}: an acknowledged transaction may be missing after a fault, and no setting says so. Its throughput is \
             that of less work";
        DurabilityDiffers { values } => "acknowledged transactions are not equally safe on all contenders{place}: {}",
            joined(values.iter().map(|one| format!("{}: {}", one.contenders.join(", "), one.value)), "; ");
        NoBaseline => "no contender is the baseline{place}, so nothing is compared";
        TooFewBlocks { blocks, needed } =>
            "{} {} too few for a confidence interval, which needs {needed}. Chance alone may explain a difference",
            counted((*blocks).into(), "block"), if *blocks == 1 { "is" } else { "are" };
        HostIsGuest { of } => "the host is itself a guest{}, so “native” is not bare metal, and guests on KVM are nested",
            within(" of ", of.as_deref().unwrap_or_default(), "");
        HostsApart { baseline, baseline_hosts, hosts } =>
            "{who}{place} ran on {}, and {baseline} on {}: what differs between these hosts is part of the difference",
            listed(hosts), listed(baseline_hosts);
        HostsDisagree { ratios } => "the change of {who}{place} depends on the host: {}",
            joined(ratios.iter().map(|one| format!("{} on {}", said(&one.ratio, Style::EFFECT), one.host)), ", ");
        SystemsDiffer { facts } => "{}", differ(facts, "system fact", "");

        MachinesUnlike { properties } => "{who}{place}: machines side by side should be alike, but differ in {} ({trials})",
            joined(properties.iter().map(property).collect::<BTreeSet<String>>(), "; ");
        TrialsLeftOut { beside: None, why } => "the scores of {who}{place} leave out valid trials: {}", reasons(why);
        TrialsLeftOut { beside: Some(machine), why } =>
            "the figures of {who}{place} beside machine {machine} leave out valid trials: {}", reasons(why);
        WindowsApart { worst_ms } =>
            "{who}{place}: machines side by side measured windows up to {worst_ms:.0} ms apart ({trials}). Meanwhile some had more of \
             the host than others";

        TrialsApart { times, spread } => "{who}'s fastest trial was {times:.1} times as fast as its slowest{place}{}",
            if *spread > 0.0 { format!(", with a standard deviation of {}", format::share(*spread, 0)) } else { String::new() };
        NotSteady { drift, drifting, of } =>
            "{who}'s throughput changed by {}{place} while it was measured ({drifting} of {of} trials show it by themselves)",
            said(drift, Style::CHANGE);
        NotSettled { unsettled, of } => "{who} was still warming up{place} in {unsettled} of {of} trials";
        HalvesUnlike { second_half } =>
            "{who}'s throughput in the second half of its window was {} of that in the first half{place}", format::share(*second_half, 0);
        WarmUpTooShort { late, of, change } =>
            "{who}'s warm-up was too short{place} in {late} of {of} trials. A later start would make throughput {} {}",
            format::share(change.abs(), 1), if *change < 0.0 { "lower" } else { "higher" };
        WindowTooShort => "{who}'s measured window covers no whole checkpoint cycle{place}";

        HostChanged { fact, values } => "{} of this host changed between trials: {}",
            missing::host_fact(*fact), in_trials(values);
        MachineChanged { fact, values } => "{who}: “{fact}” of the machine changed between trials: {}", in_trials(values);
        HostBusyBesideOne { loud, most, quiet, least } =>
            "other processes took {} of the host's CPU time beside {loud}, but {} beside {quiet}",
            format::share(*most, 1), format::share(*least, 1);
        EngineWaited { waits } => "the load engine waited for CPUs{place}, in the worst trial: {}",
            joined(waits.iter().map(engine_waited), "; ");
        HostDiskBusyBesideOne { loud, most, quiet, least } =>
            "other processes read and wrote {:.1} MB/s on this host's disks beside {loud}, but {:.1} MB/s beside {quiet}",
            most / 1e6, least / 1e6;
        HostBusy { share } if trials.is_empty() =>
            "other processes took up to {} of the host's CPU time while the cost of a commit was measured ({who})",
            format::share(*share, 1);
        HostBusy { share } => "other processes took up to {} of the host's CPU time ({trials})", format::share(*share, 1);
        HostCpuStolen { share } => "the hypervisor below this host took up to {} of its CPU time ({trials})", format::share(*share, 1);
        HostMemoryShort { share } => "processes of this host waited for memory in up to {} of a window ({trials})",
            format::share(*share, 1);
        HostSwapping { pages } => "this host swapped up to {pages:.0} pages within a window ({trials})";
        HostFrequency { slow_trial, low_mhz, fast_trial, high_mhz } =>
            "the host's CPUs ran at {low_mhz:.0} MHz in trial {slow_trial} and at {high_mhz:.0} MHz in trial {fast_trial}";

        HostsDiffer { changes } => "the hosts differ: {}", some(changes, change);
        HostRestarted => "the host was restarted between the runs";
        BuildsDiffer { old, new } => "the builds of bakeoff differ: it was {old} and is {new}";
        SeedsDiffer { old, new } => "the seeds differ: it was {old} and is {new}, so clients sent other inputs";
        RunsDiffer { part, cells, changes } => "{} of {} differ: {}", compared(*part), cells.join(", "), some(changes, change);
        WorkChanged { cells, work } => "the work of a transaction of {} differs: {}", cells.join(", "), some(work, changed_work);
    }
}

/// The subject in words: the contender, the point of the study, and the trials.
fn subject(finding: &Finding) -> (&str, String, String) {
    let Subject { contender, coordinates, trials: numbers, .. } = &finding.subject;
    let trials = if numbers.is_empty() { String::new() } else { trials(numbers) };
    (contender.as_deref().unwrap_or_default(), at(coordinates), trials)
}

fn clients(accounted: f64, at_least: Option<f64>, at_most: f64, tolerance: f64) -> String {
    let due = match at_least {
        Some(least) if least < at_most => format!("{least:.1} to {at_most:.1}"),
        Some(least) => format!("{least:.1}"),
        None => format!("at most {at_most:.1}"),
    };
    format!("{accounted:.1} busy clients, but {due} were busy (tolerated: {})", format::share(tolerance, 1))
}

fn engine_waited(wait: &EngineWait) -> String {
    let (share, each_us) = (format::share(wait.share, 0), wait.us_per_turn);
    format!("{} for {share} of the window, {each_us:.0} µs at a time", wait.contender)
}

/// Values with the contenders that have them: "ext4 on native; xfs on vm".
fn each_on(values: &[SharedValue]) -> String {
    joined(values.iter().map(|one| format!("{} on {}", one.value, one.contenders.join(", "))), "; ")
}

fn in_trials(values: &[InTrials]) -> String {
    joined(
        values.iter().map(|one| format!("“{}” ({})", clipped(&one.value, LONGEST_HOST_FACT), trials(&one.trials))),
        "; ",
    )
}

/// "1 system fact differs between contenders: kernel.release".
fn differ(differing: &[FactDiffers], what: &str, place: &str) -> String {
    let (count, facts) = (differing.len(), joined(differing.iter().map(|one| &one.fact), ", "));
    let end = if count == 1 { "s" } else { "" };
    format!("{} differ{end} between contenders{place}: {facts}", counted(count as u64, what))
}

/// ", because /dev/kvm is not there", without the output of a failed program, which is in the record.
fn first_cause(how: &str) -> String {
    let cause = how.split_once("because ").map_or("", |(_, cause)| cause);
    let cause = cause.split([':', '(', ';']).next().unwrap_or_default().trim();
    within(", because ", cause, "")
}

fn loaded(table: &TableSums) -> String {
    let with = table.sums.iter().map(|told| format!("{} on {}", told.value, told.contender));
    let without = table.without.iter().map(|contender| format!("not there on {contender}"));
    format!("{}: {}", table.table, joined(with.chain(without), "; "))
}

/// Redo is written whether the cache is large or small.
fn why_of_disks(work: &[UnequalWork]) -> &'static str {
    if work.iter().all(|one| one.measure == REDO_BYTES) {
        "Whole pages after a checkpoint may be part of the difference"
    } else {
        "Caching may be part of the difference"
    }
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
        format::share(one.tolerance, 0)
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

#[cfg(test)]
mod tests;
