//! Records the measured driving of a database: whether it counts, and its counters.

use crate::context::TrialContext;
use crate::driving::{LoadSource, boot_of_database};
use crate::error::StepResult;
use crate::events::Heard;
use crate::log::TrialLog;
use crate::outcome::severity;
use crate::validity::{self, Invalid};
use driver::plan::Driven;
use machines::identity::boot_id;
use platforms::capabilities::{ImageUse, ServerUse};
use record::looks::StoredCounters;
use record::testimony::Stalls;
use record::trial::{DriverFacts, MachineFacts, Outcome};
use std::collections::BTreeMap;
use study::Placement;

pub(crate) fn record(
    context: &TrialContext<'_>,
    log: &mut TrialLog<'_>,
    source: &LoadSource<'_>,
    instance: u16,
    driven: &mut Driven,
    counters: &StoredCounters,
    settings: &BTreeMap<String, String>,
) -> StepResult {
    note_what_it_could_see(context, log, source, &mut driven.facts);
    let own = log.database(instance);
    if !driven.log.is_empty() {
        own.file(|folder| folder.write("logs/deferred.csv", driven.log.as_bytes()))?;
    }
    own.file(|folder| folder.write_json("counters.json", counters))?;
    let warnings = validity::warnings(&driven.facts, &driven.seconds);
    let numbered: Vec<String> = warnings.iter().map(|warning| log.of_instance(instance, warning)).collect();
    log.record.warnings.extend(numbered);
    let invalid = why_invalid(log, source, instance, driven, settings);
    let outcome = |why: &dyn Fn(&str) -> String| match (&driven.broke_off, &invalid) {
        (Some(broke_off), _) => Outcome::Failed { phase: log.phase().to_string(), why: why(broke_off) },
        (None, Some(invalid)) => Outcome::Invalid { why: why(&invalid.why) },
        (None, None) => Outcome::Completed,
    };
    let (of_machine, of_instance) = (outcome(&|why| log.of_instance(instance, why)), outcome(&str::to_owned));
    if instance == 0 || severity(&of_machine) > severity(&log.record.outcome) {
        log.record.outcome = of_machine;
    }
    let own = log.database(instance);
    (own.outcome, own.driver) = (of_instance, Some(driven.facts.clone()));
    let (looks, invalid) = (counters.window.as_ref(), invalid.as_ref());
    log.hear(Heard::Driven { driven, looks, warnings: &warnings, invalid });
    Ok(())
}

/// Changed settings come first: they can be mended, and may be the cause of all else.
fn why_invalid(
    log: &TrialLog<'_>,
    source: &LoadSource<'_>,
    instance: u16,
    driven: &Driven,
    settings: &BTreeMap<String, String>,
) -> Option<Invalid> {
    let of_load_host = || match source {
        LoadSource::Hosts(generators) if driven.broke_off.is_none() && !driven.stopped => generators.why_wrong(),
        _ => None,
    };
    let server = log.databases[usize::from(instance)].server.as_ref();
    let changed = server.and_then(|server| validity::why_changed(&server.effective, settings));
    let clock = log.record.machine.as_ref().map_or(&[][..], |machine| &machine.clock);
    let certain = changed.or_else(of_load_host).map(|why| Invalid { why, by_failures: false });
    certain.or_else(|| validity::why_not(clock, driven))
}

/// Completes what the driver says of itself by what only the trial knows: where it was, and how much of its host it saw from there.
fn note_what_it_could_see(
    context: &TrialContext<'_>,
    log: &TrialLog<'_>,
    source: &LoadSource<'_>,
    facts: &mut DriverFacts,
) {
    let (can, machine) = (context.can(), log.record.machine.as_ref());
    // An engine in the driver's process has no outside placement.
    let placement = if facts.in_process { Placement::Inside } else { context.cell.load.placement };
    let is_inside = placement == Placement::Inside;
    if is_inside { "inside" } else { "outside" }.clone_into(&mut facts.placement);
    if let Some(delay) = facts.testimony.run_delay.as_mut().filter(|_| !matches!(source, LoadSource::Hosts(_))) {
        let is_beside = is_inside && (facts.in_process || can.server != ServerUse::Anywhere);
        let here = || Some(boot_of_database(context, log)? == boot_id().ok()?);
        delay.beside_database = if is_beside { Some(true) } else { here() };
    }
    if let Some(machine) = machine.filter(|_| is_inside) {
        known_inside(&mut facts.testimony.stalls, machine, can.image);
    }
}

/// Leaves of what a load engine inside a machine counted what can be known there.
fn known_inside(stalls: &mut Stalls, machine: &MachineFacts, image: ImageUse) {
    let is_limited = machine.has_a_cpu_quota();
    if is_limited {
        // The limit holds for the load beside the database, too.
        stalls.scattered_ms = 0;
    }
    // Nothing inside a guest shows what holds the guest back, and a container does not know its group from those around it.
    let shows = !machine.is_a_guest() && (!is_limited || image == ImageUse::None);
    stalls.throttled_ms = stalls.throttled_ms.filter(|_| shows);
    stalls.without_waits &= shows;
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::facts::{CPU_QUOTA, Fact, HOSTS_OWN, PROCESSOR};

    /// Of 3 ms in pieces and 2 ms throttled: what is known inside a machine with such a processor and, perhaps, a limit.
    fn known(processor: &str, quota: Option<&str>, image: ImageUse) -> (u64, Option<u64>, bool) {
        let mut machine = MachineFacts::default();
        machine.decided.insert(PROCESSOR.to_owned(), Fact::known(processor));
        machine.decided.extend(quota.map(|quota| (CPU_QUOTA.to_owned(), Fact::known(quota))));
        let mut stalls = Stalls { scattered_ms: 3, throttled_ms: Some(2), without_waits: true, ..Stalls::default() };
        known_inside(&mut stalls, &machine, image);
        (stalls.scattered_ms, stalls.throttled_ms, stalls.without_waits)
    }

    #[test]
    fn a_load_engine_knows_of_limits_what_its_machine_shows() {
        assert_eq!(known(HOSTS_OWN, None, ImageUse::None), (3, Some(2), true), "native");
        assert_eq!(known(HOSTS_OWN, Some("1 CPU"), ImageUse::None), (0, Some(2), true), "native, limited by the study");
        assert_eq!(known(HOSTS_OWN, None, ImageUse::Tree), (3, Some(2), true), "a container");
        assert_eq!(known(HOSTS_OWN, Some("1 CPU"), ImageUse::Tree), (0, None, false), "a limited container");
        assert_eq!(known("virtual", None, ImageUse::TreeAndKernel), (3, None, false), "a guest");
    }
}
