//! Whole runs: what is measured, recorded and reported.

use crate::setting::{Place, end_of, has_qemu, missing, text};
use crate::starved::{counts_or_was_starved, was_starved};
use record::check::Moment;
use record::looks::Reading;
use record::run::{Run, StoredTrial};
use record::trial::Outcome;
use std::collections::BTreeSet;
use std::path::Path;

/// A short study with this engine, and further contenders or tables. Each trial copies the disk with its file system's journal, which is
/// four times as large from 1 GiB on.
pub fn study(engine: &str, memory: &str, more: &str) -> String {
    format!(
        r#"
question = "What does the platform cost?"
seed = 7
blocks = 2
[machine]
vcpus = 1
memory = "{memory}"
disk = {{ size = "1000MiB" }}
[engine]
kind = "{engine}"
[workload]
kind = "order-entry"
warehouses = 1
[load]
clients = 2
warmup = "1s"
measure = "3s"
[[contender]]
name = "native"
platform = {{ kind = "native" }}
{more}
"#
    )
}

/// What a study says of its workload.
pub const ORDERS: &str = "kind = \"order-entry\"\nwarehouses = 1";

/// One block of a second without warm-up on a shop of a megabyte, for tests that are about neither the workload nor a statistic.
pub fn small(engine: &str, memory: &str, more: &str) -> String {
    let shop = study(engine, memory, more).replace(ORDERS, "kind = \"dvd-store\"\ndb_size = \"1MB\"");
    let short = shop.replace("warmup = \"1s\"", "warmup = \"0s\"").replace("measure = \"3s\"", "measure = \"1s\"");
    short.replace("blocks = 2", "blocks = 1")
}

/// For trials that must count, although a busy machine may commit nothing within a second.
pub fn with_time(small: &str) -> String {
    let longer = small.replace("measure = \"1s\"", "measure = \"3s\"");
    assert_ne!(longer, small, "no window of a second");
    longer
}

/// For tests that neither count clients nor judge what they do: a window costs what this load costs, not all there is.
pub fn at_an_easy_pace(study: &str) -> String {
    let paced = study.replace("clients = 2", "arrivals = \"25/s\"\nsessions = 2");
    assert_ne!(paced, study, "no clients to pace");
    paced
}

const VM: &str = "[[contender]]\nname = \"vm\"\nplatform = { kind = \"qemu\", accelerator = \"tcg\" }\n";

/// The report's figures are the record's: recomputed here in the simplest way.
fn numbers_agree(place: &Place) {
    let run = place.record();
    let analysis = std::fs::read(place.run_folder().join("analysis.json")).unwrap();
    let analysis: serde_json::Value = serde_json::from_slice(&analysis).unwrap();
    let cells = analysis["cells"].as_array().expect("cells");
    for trial in run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed) {
        let driver = trial.record.driver.as_ref().expect("a completed trial has driven");
        let counted_kinds = driver.kinds.iter().filter(|kind| driver.metric.counted.contains(&kind.kind));
        let counted: u64 = counted_kinds.map(|kind| kind.committed + kind.rolled_back).sum();
        let by_hand = counted as f64 * driver.metric.per_ms as f64 / driver.measured_ms as f64;
        let listed = cells.iter().flat_map(|cell| cell["trials"].as_array().expect("trials of a cell"));
        let said = listed.filter(|listed| listed["trial"] == trial.record.id).collect::<Vec<_>>();
        let said = said.first().expect("the trial is in the analysis")["value"].as_f64().expect("its throughput");
        assert!((said - by_hand).abs() < 0.5, "trial {}: {said} in the analysis, {by_hand} by hand", trial.record.id);
    }
}

/// Every trial has its checks, looks and files. An emulated guest that this host let wait is no measurement; returns whether none is.
fn all_measured(place: &Place, trials: usize) -> bool {
    let run = place.record();
    assert_eq!(run.trials.len(), trials);
    for trial in &run.trials {
        let outcome = &trial.record.outcome;
        let is_excused = trial.record.contender == "vm" && was_starved(&trial.record);
        assert!(is_excused || *outcome == Outcome::Completed, "trial {}: {outcome:?}", trial.record.id);
        assert!(trial.findings.len() >= 12, "only {} data checks", trial.findings.len());
        for finding in &trial.findings {
            assert!(!finding.is_violated(), "{finding:?}");
        }
    }
    looked_at_within_their_windows(&run);
    for name in ["report.html", "report.md", "report.json", "analysis.json", "host.json", "study.toml", "events.jsonl"]
    {
        assert!(place.run_folder().join(name).exists(), "{name} is missing");
    }
    run.trials.iter().all(|trial| trial.record.outcome == Outcome::Completed)
}

/// Two looks at database and device lie within each measured window, and sessions are sampled between them.
fn looked_at_within_their_windows(run: &Run) {
    for trial in &run.trials {
        let looks = trial.looks.as_ref().unwrap_or_else(|| panic!("trial {} has no looks", trial.record.id));
        let measured_ms = trial.record.driver.as_ref().expect("a completed trial has driven").measured_ms;
        assert!((1..=measured_ms).contains(&(looks.span_ns() / 1_000_000)), "{measured_ms} ms: {looks:?}");
        let (start, end) = (looks.start.database.known().unwrap(), looks.end.database.known().unwrap());
        assert!(end.reads > start.reads || end.hits > start.hits, "{start:?} {end:?}");
        assert!(!looks.end.counters.is_empty());
        match (
            looks.waits().expect("what sessions wait for is sampled"),
            trial.record.server.as_ref().unwrap().engine.as_str(),
        ) {
            (Reading::Unavailable(why), "sqlite") => assert!(why.contains("has no server"), "{why}"),
            (Reading::Known(waits), _) => {
                assert!(waits.samples + waits.missed > 0 && waits.stopped.is_none(), "{waits:?}");
            }
            (unsampled, _) => panic!("{unsampled:?}"),
        }
        if let Some(why) = looks.end.device.why_not() {
            assert!(why.contains("block device"), "{why}");
        }
    }
}

/// Long enough for two looks, and for a server on an emulated CPU to finish some work even if this host is busy.
fn patient(study: &str) -> String {
    study.replace("measure = \"1s\"", "measure = \"6s\"")
}

fn runs(study: &str, trials: usize) -> Place {
    let place = Place::new(study);
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert!(told.contains("report.html"), "{told}");
    assert_eq!(output.status.code(), end_of(all_measured(&place, trials)), "{told}");
    numbers_agree(&place);
    place
}

fn report_again_is_the_same(place: &Place) {
    let html = place.run_folder().join("report.html");
    let first = std::fs::read(&html).unwrap();
    std::fs::remove_file(&html).unwrap();
    let run = place.run_folder();
    let output = place.bakeoff(&["report", run.to_str().unwrap()]);
    let all_completed = place.record().trials.iter().all(|trial| trial.record.outcome == Outcome::Completed);
    assert_eq!(output.status.code(), end_of(all_completed), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(&html).unwrap(), first);
}

#[test]
fn sqlite_natively_and_in_a_guest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    // A guest that gets little of an emulated CPU falls behind any rate.
    let place = runs(&patient(&small("sqlite", "512MiB", VM)).replace("clients = 2", "clients = 1"), 2);
    report_again_is_the_same(&place);
    let run = place.record();
    let guest = run.trials.iter().find(|trial| trial.record.contender == "vm").expect("a trial in the guest");
    let machine = guest.record.machine.as_ref().expect("facts about the guest");
    assert!(machine.command_line.iter().any(|word| word.contains("qemu-system")), "{:?}", machine.command_line);
    assert!(machine.inside.contains_key("kernel.release"), "{:?}", machine.inside);
    assert!(machine.clock.len() >= 3, "{:?}", machine.clock);
}

#[test]
fn slob_natively_on_postgres() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let slob = "kind = \"slob\"\nscale = \"16MiB\"\nschemas = 2\nwork_unit = 16\nupdate_pct = 20\nscan_pct = 5";
    let place = runs(&study("postgres", "512MiB", "").replace(ORDERS, slob).replace("blocks = 2", "blocks = 1"), 1);
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    for part in ["database: log written, MB/s |", "blocks read/s", "the database's cache has"] {
        assert!(markdown.contains(part), "{part} is missing from {markdown}");
    }
    // Two sessions are at work, so no sample has more than two.
    for trial in place.record().trials {
        let waits = trial.looks.as_ref().and_then(|looks| looks.waits()?.known()).expect("samples of a server");
        let sessions: u64 = waits.seen.iter().map(|one| one.sessions).sum();
        assert!(sessions > 0 && sessions <= 2 * waits.samples, "{waits:?}");
    }
    assert!(
        markdown.contains("<summary>What sessions waited for") && markdown.contains("samples of pg\\_stat\\_activity")
    );
}

#[test]
fn postgres_natively_and_in_a_guest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = runs(&patient(&small("postgres", "1GiB", VM)).replace("clients = 2", "clients = 1"), 2);
    for trial in place.record().trials {
        let server = trial.record.server.expect("facts about the server");
        assert!(server.effective.contains_key("shared_buffers"), "{:?}", server.effective);
        assert!(server.version.starts_with("PostgreSQL 15."), "{}", server.version);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn load_from_outside_reaches_two_servers_in_a_guest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let two = from_outside("postgres").replace("kind = \"postgres\"", "kind = \"postgres\"\ninstances = 2");
    let place = runs(&two, 2);
    for trial in place.record().trials {
        assert_eq!(trial.record.driver.expect("driver facts").placement, "outside");
        let ports = trial.instances.iter().map(|own| &own.record.server.as_ref().unwrap().effective["port"]);
        assert_eq!(ports.collect::<BTreeSet<_>>().len(), 2, "each is reached at a port of its own");
        for own in &trial.instances {
            let driver = own.record.driver.as_ref().unwrap();
            assert!(driver.clients == 1 && driver.work.transactions > 0, "{driver:?}");
            assert!(own.findings.iter().filter(|finding| finding.moment == Moment::AfterTrial).count() >= 12);
        }
    }
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    let shares = page.split("## Databases of each machine").nth(1).expect("what each database did");
    assert!(shares.contains("| contender | database | throughput | share, % |"), "{shares}");
}

/// One server has both databases. On PostgreSQL the second is a copy of the first; on MariaDB it is loaded.
#[test]
fn two_databases_of_one_server_are_driven_checked_and_counted() {
    if missing("qemu", has_qemu()) {
        return;
    }
    for engine in ["postgres", "mariadb"] {
        let one = small(engine, "1GiB", "").replace("measure = \"1s\"", "measure = \"3s\"");
        let kind = format!("kind = \"{engine}\"");
        let place = runs(&one.replace(&kind, &format!("{kind}\ninstances = 2\nshared_server = true")), 1);
        let trial = place.record().trials.remove(0);
        let server = |own: &StoredTrial| own.record.server.clone().unwrap();
        assert_eq!(server(&trial.instances[0]), server(&trial.instances[1]));
        for own in &trial.instances {
            let driver = own.record.driver.as_ref().unwrap();
            assert!(driver.clients == 1 && driver.work.transactions > 0, "{driver:?}");
            assert!(own.findings.iter().filter(|finding| finding.moment == Moment::AfterTrial).count() >= 12);
            assert!(own.findings.iter().all(|finding| !finding.is_violated()), "{:?}", own.findings);
        }
        let counts = |of: &StoredTrial| of.looks.clone().unwrap().end.database.known().cloned().unwrap();
        let (all, first, second) = (counts(&trial), counts(&trial.instances[0]), counts(&trial.instances[1]));
        assert_eq!((all.log_bytes, second.log_bytes), (first.log_bytes, None), "the server has one log");
        assert_eq!(all.data_bytes, first.data_bytes.zip(second.data_bytes).map(|(one, other)| one + other));
        let columns = std::fs::read_to_string(place.run_folder().join("trials/0001/telemetry-machine.csv")).unwrap();
        assert!(columns.contains("server") && !columns.contains("server-2"), "one server is sampled");
    }
}

/// One block with the load outside the machine.
fn from_outside(engine: &str) -> String {
    patient(&small(engine, "1GiB", VM)).replace("clients = 2", "clients = 2\nplacement = \"outside\"")
}

/// Over the network, which needs everything that the socket needs, plus the password.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn mariadb_natively_and_in_a_guest() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = runs(&from_outside("mariadb"), 2);
    for trial in place.record().trials {
        let server = trial.record.server.expect("facts about the server");
        assert_eq!(server.effective["tx_isolation"], "READ-COMMITTED");
        assert!(server.version.starts_with("MariaDB 10.11."), "{}", server.version);
    }
}

#[test]
fn a_contender_that_cannot_run_here_is_skipped_and_the_rest_runs() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let kvm = "[[contender]]\nname = \"kvm\"\nplatform = { kind = \"qemu\", accelerator = \"kvm\" }\n";
    let place = Place::new(&small("sqlite", "512MiB", kvm));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    let run = place.record();
    let outcomes = |name: &str| {
        let of = run.trials.iter().filter(|trial| trial.record.contender == name);
        of.map(|trial| trial.record.outcome.clone()).collect::<Vec<_>>()
    };
    let mut native = run.trials.iter().filter(|trial| trial.record.contender == "native");
    assert!(native.all(|trial| counts_or_was_starved(&trial.record)), "{told}");
    let is_measured = outcomes("native").contains(&Outcome::Completed);
    // On a host where KVM works, this study simply completes.
    if outcomes("kvm").iter().all(|outcome| *outcome == Outcome::Completed) {
        assert_eq!(output.status.code(), end_of(is_measured), "{told}");
    } else {
        assert!(outcomes("kvm").iter().all(|outcome| matches!(outcome, Outcome::Skipped { why } if !why.is_empty())));
        assert_eq!(output.status.code(), Some(if is_measured { 5 } else { 4 }), "{told}");
        assert!(told.contains("skipped"), "{told}");
    }
}

#[test]
fn a_run_folder_that_is_none_is_named() {
    let place = Place::new("");
    let output = place.bakeoff(&["report", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nowhere"));
    assert!(!Path::new("nowhere").exists());
}
