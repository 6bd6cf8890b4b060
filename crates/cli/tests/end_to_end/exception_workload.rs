//! A machine with its own workload beside a measured one: each is loaded, driven and checked with its own workload.

use crate::runs::{ORDERS, small, with_time};
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, text};
use record::check::{CheckResult, Moment};
use record::run::StoredTrial;
use record::trial::Outcome;
use std::collections::BTreeSet;
use std::path::Path;

const NATIVE: &str = "platform = { kind = \"native\" }";
const LOOKUPS: &str = "{ kind = \"sysbench-oltp\", table_size = 2000 }";

/// A trial of two machines; the first has three clients and its own workload.
fn beside(engine: &str, memory: &str, own_workload: &str) -> String {
    let exception = format!("exception = {{ number = 1, clients = 3, workload = {own_workload} }}");
    let machine = format!("count = 2\noversubscribe = true\nvcpus = 1\n{exception}");
    with_time(&small(engine, memory, "")).replace("vcpus = 1", &machine)
}

/// Names of the workloads that were checked at this moment.
fn checked(machine: &StoredTrial, moment: Moment) -> BTreeSet<&str> {
    let findings = machine.findings.iter().filter(|finding| finding.moment == moment);
    findings.filter_map(|finding| finding.name.split_once('/')).map(|(workload, _)| workload).collect()
}

/// Expects that the machine held the data of only this workload and did its work, and that both were checked.
fn did(machine: &StoredTrial, workload: &str, metric: &str, clients: u32) {
    assert_eq!(machine.record.outcome, Outcome::Completed);
    assert_eq!(machine.record.workload.as_ref().expect("which it had")["kind"], workload);
    let driver = machine.record.driver.as_ref().expect("it was driven");
    assert_eq!((driver.metric.name.as_str(), driver.clients), (metric, clients));
    assert!(driver.kinds.iter().any(|kind| kind.committed > 0), "{driver:?}");
    for moment in [Moment::AfterLoad, Moment::AfterTrial] {
        assert_eq!(checked(machine, moment), [workload].into());
    }
    assert!(machine.findings.iter().any(|finding| finding.checksum_of().is_some()), "{:?}", machine.findings);
    assert!(!machine.findings.iter().any(CheckResult::is_violated), "{:?}", machine.findings);
}

fn reports(run: &Path) -> Vec<Vec<u8>> {
    let files = ["report.html", "report.md", "report.json", "analysis.json"];
    files.iter().map(|file| std::fs::read(run.join(file)).expect("a part of the report")).collect()
}

fn lookups_beside_orders(study: &str) {
    let place = Place::new(study);
    let output = place.bakeoff(&["run", "study.toml"]);
    assert_eq!(output.status.code(), NOT_USABLE, "{}", text(&output.stderr));
    let run = place.record();
    let noted: Vec<&str> = run.plan.workloads.iter().map(|note| note.kind.as_str()).collect();
    assert_eq!(noted, ["dvd-store", "sysbench-oltp"]);
    let trial = &run.trials[0];
    did(&trial.machines[0], "sysbench-oltp", "TPS", 3);
    did(&trial.machines[1], "dvd-store", "OPM", 2);
    assert_eq!(trial.record.workload.as_ref().expect("that which is measured")["kind"], "dvd-store");
    let measured = trial.machines[1].record.driver.as_ref().expect("it was driven");
    assert_eq!(trial.record.driver.as_ref().expect("composed").kinds, measured.kinds, "the other is in no total");
    assert_eq!(trial.findings.len(), trial.machines.iter().map(|machine| machine.findings.len()).sum::<usize>());
    let folder = place.run_folder();
    let markdown = std::fs::read_to_string(folder.join("report.md")).expect("a report");
    for said in
        ["<summary>The workload sysbench-oltp", "machine 1 held other data than the others", "While it worked it did"]
    {
        assert!(markdown.contains(said), "{said}:\n{markdown}");
    }
    assert!(!markdown.contains("should be alike"), "{markdown}");
    let first = reports(&folder);
    assert_eq!(place.bakeoff(&["report", &folder.to_string_lossy()]).status.code(), NOT_USABLE);
    assert!(reports(&folder) == first, "another report of the same record");
}

#[test]
fn a_native_machine_serves_lookups_beside_one_that_takes_orders() {
    if missing("qemu", has_qemu()) {
        return;
    }
    lookups_beside_orders(&beside("sqlite", "384MiB", LOOKUPS));
}

#[test]
fn lookups_and_orders_come_from_outside_over_the_network() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let inside = beside("postgres", "1GiB", LOOKUPS);
    lookups_beside_orders(&inside.replace("clients = 2", "clients = 2\nplacement = \"outside\""));
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_serves_lookups_beside_one_that_takes_orders() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let guest = "platform = { kind = \"qemu\", accelerator = \"tcg\" }";
    lookups_beside_orders(&beside("sqlite", "384MiB", LOOKUPS).replace(NATIVE, guest));
}

/// The orders of one warehouse do not fit on the disk, though all rows of the other do.
#[test]
fn data_that_do_not_fit_the_exceptions_disk_are_refused_before_anything_begins() {
    let orders = format!("{{ {} }}", ORDERS.replace('\n', ", "));
    let study = beside("sqlite", "384MiB", &orders).replace("\"1000MiB\"", "\"64MiB\"");
    let place = Place::new(&study);
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("found 64 MiB") && told.contains("machine.exception.workload"), "{told}");
    assert!(place.begun_run().is_none());
}
