//! Audits of durability with a known outcome: settings that are honest, and settings that lose what they acknowledge.

use crate::leftovers::Leftovers;
use crate::running::{Running, a_moment, command_line, send};
use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use record::durability::{Durability, Fault, RebuiltCut};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Enough cuts to say that something is kept.
const SHORT: &str =
    "[audit.durability]\ndrive = \"4s\"\nholds = 6\ncuts = { acknowledged = 6, unflushed = 4, growing = 2 }\n";

/// A study of contenders that differ as these tables say, with a database that recovers and is checked in no time.
fn study_of(engine: &str, contenders: &[(&str, &str)]) -> String {
    let native = "[[contender]]\nname = \"native\"\nplatform = { kind = \"native\" }\n";
    let contenders = contenders.iter().map(|(name, keys)| format!("[[contender]]\nname = \"{name}\"\n{keys}\n"));
    let all =
        study(engine, "512MiB", "").replace(native, &format!("{SHORT}{}", contenders.collect::<Vec<_>>().concat()));
    let order_entry = "kind = \"order-entry\"\nwarehouses = 1";
    assert!(all.contains(order_entry), "{all}");
    all.replace(order_entry, "kind = \"sysbench-oltp\"\ntables = 1\ntable_size = 1000")
}

/// Native, with these keys of the engine.
fn native(settings: &str) -> String {
    format!("platform = {{ kind = \"native\" }}\nengine = {{ {settings} }}")
}

/// The audits' folder, their exit code, and what was told.
fn audited(study: &str, more: &[&str]) -> (Place, Option<i32>, String) {
    let place = Place::new(study);
    let output = place.bakeoff(&[&["audit", "durability", "study.toml"], more].concat());
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    (place, output.status.code(), told)
}

fn of<'a>(all: &'a [Durability], contender: &str) -> &'a Durability {
    all.iter().find(|one| one.contender == contender).unwrap_or_else(|| panic!("{contender} in {all:?}"))
}

fn can_be_audited() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    !missing("fuse", is_root && Path::new("/dev/fuse").exists())
}

/// Nothing is lost by any fault or said too early, and the planted liar is found.
fn is_kept(found: &Durability) {
    assert!(found.not_audited.is_none() && found.acknowledged > 0, "{found:?}");
    assert!(found.cuts.iter().all(RebuiltCut::is_clean), "{found:?}");
    assert_eq!(found.scan.map(|scan| scan.unflushed + scan.unwritten), Some(0), "{found:?}");
    assert!(found.holds.iter().all(|hold| hold.acknowledged == 0), "{found:?}");
    assert!(found.planted.iter().any(RebuiltCut::is_proof), "{found:?}");
    let cost = found.cost.as_ref().expect("what a commit costs");
    assert!(cost.flushes > 0.1 && cost.slope > Some(0.1), "{cost:?}");
}

/// All three tests find it.
fn is_lost(found: &Durability) {
    assert!(found.cuts.iter().any(|cut| cut.fault() == Fault::HostLost && cut.is_proof()), "{found:?}");
    assert!(found.scan.is_some_and(|scan| scan.unflushed + scan.unwritten > 0), "{found:?}");
    assert!(found.holds.iter().any(|hold| hold.acknowledged > 0), "{found:?}");
}

/// A name has no equals sign.
fn name_of(declared: &str) -> String {
    declared.replace('=', " ")
}

/// An honest contender, and some whose settings give durability up: their keys, and what the audit names of them.
fn kept_and_declared(engine: &str, honest: &str, relaxed: &[(&str, &str)]) {
    let mut contenders = vec![("honest".to_owned(), native(honest))];
    contenders.extend(relaxed.iter().map(|(keys, declared)| (name_of(declared), native(keys))));
    let contenders: Vec<(&str, &str)> = contenders.iter().map(|(name, keys)| (name.as_str(), keys.as_str())).collect();
    let (place, code, told) = audited(&study_of(engine, &contenders), &[]);
    assert_eq!(code, Some(0), "{told}");
    let all = place.record().durability;
    is_kept(of(&all, "honest"));
    assert!(told.contains("honest kept every acknowledged transaction in "), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for (_, declared) in relaxed {
        let found = of(&all, &name_of(declared));
        is_lost(found);
        assert_eq!(found.declared, [*declared]);
        assert!(told.contains(&format!("as {declared} declares")), "{told}");
    }
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(markdown.contains("| the host lost power |"), "{markdown}");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn sqlite_keeps_what_it_acknowledges_unless_it_is_relaxed() {
    if can_be_audited() {
        kept_and_declared("sqlite", "profile = \"durable\"", &[("profile = \"relaxed\"", "synchronous=1")]);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn postgres_keeps_what_it_acknowledges_unless_it_is_told_not_to_wait_or_flush() {
    if missing("postgres", Path::new("/usr/lib/postgresql").is_dir()) || !can_be_audited() {
        return;
    }
    let unwaited = ("synchronous_commit = \"off\"", "synchronous_commit=off");
    kept_and_declared("postgres", "profile = \"sized\"", &[unwaited, ("fsync = false", "fsync=off")]);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn mariadb_keeps_what_it_acknowledges_unless_its_log_waits() {
    if missing("mariadb", Path::new("/usr/sbin/mariadbd").exists()) || !can_be_audited() {
        return;
    }
    let flush = "innodb_flush_log_at_trx_commit";
    let (written, none) = (format!("{flush} = 2"), format!("{flush} = 0"));
    let (told_written, told_none) = (format!("{flush}=2"), format!("{flush}=0"));
    let relaxed = [(written.as_str(), told_written.as_str()), (&none, &told_none)];
    kept_and_declared("mariadb", "profile = \"sized\"", &relaxed);
}

/// The file system drops the flushes, whatever the database asks for.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_file_system_without_barriers_loses_as_its_options_declare() {
    if !can_be_audited() {
        return;
    }
    let keys = native("profile = \"durable\"") + "\nmachine = { disk = { mount_options = \"nobarrier\" } }";
    let (place, code, told) = audited(&study_of("sqlite", &[("unflushed", &keys)]), &[]);
    assert_eq!(code, Some(0), "{told}");
    let all = place.record().durability;
    is_lost(of(&all, "unflushed"));
    assert_eq!(of(&all, "unflushed").declared, ["mount_options=nobarrier"]);
    // A reason names no folder, which nobody could look at later.
    let folder = place.cache().to_string_lossy();
    let reasons = of(&all, "unflushed").cuts.iter().filter_map(|cut| cut.broken.as_deref());
    assert_eq!(reasons.filter(|why| why.contains(&*folder)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_whose_hypervisor_drops_flushes_is_a_liar() {
    if missing("qemu", has_qemu()) || !can_be_audited() {
        return;
    }
    let guest = |cache: &str| {
        format!("platform = {{ kind = \"qemu\", accelerator = \"tcg\", disk = {{ cache = \"{cache}\" }} }}\n")
    };
    let study = study_of("sqlite", &[("none", &guest("none")), ("unsafe", &guest("unsafe"))]);
    let (place, code, told) = audited(&study, &[]);
    assert_eq!(code, Some(11), "{told}");
    let all = place.record().durability;
    is_kept(of(&all, "none"));
    is_lost(of(&all, "unsafe"));
    // What QEMU has written outlives it.
    let of_guest = |cut: &&RebuiltCut| cut.fault() == Fault::GuestLost;
    assert!(of(&all, "unsafe").cuts.iter().filter(of_guest).count() > 0);
    assert!(of(&all, "unsafe").cuts.iter().filter(of_guest).all(RebuiltCut::is_clean), "{told}");
    assert!(of(&all, "unsafe").declared.is_empty());
}

/// Its kernel drops the flushes with one, and QEMU 7.2's nvme drops the flag of a write that must be safe with the other. A newer
/// QEMU may have mended that.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn guests_lose_by_their_file_system_and_by_an_emulated_nvme() {
    if missing("qemu", has_qemu()) || !can_be_audited() {
        return;
    }
    let guest = |disk: &str| format!("platform = {{ kind = \"qemu\", accelerator = \"tcg\", disk = {{ {disk} }} }}\n");
    let unflushed = guest("cache = \"none\"") + "machine = { disk = { mount_options = \"nobarrier\" } }";
    let nvme = guest("cache = \"none\", adapter = \"nvme\"");
    let study = study_of("sqlite", &[("unflushed", &unflushed), ("nvme", &nvme)]);
    let (place, code, told) = audited(&study, &[]);
    let all = place.record().durability;
    is_lost(of(&all, "unflushed"));
    let nvme = of(&all, "nvme");
    let lost: Vec<u64> = nvme.cuts.iter().filter(|cut| cut.is_proof()).map(|cut| cut.lost).collect();
    assert_eq!(code, Some(if lost.is_empty() { 0 } else { 11 }), "{told}");
    assert!(lost.iter().all(|lost| *lost == 1), "{nvme:?}");
    assert_eq!(nvme.scan.map(|scan| scan.unflushed + scan.unwritten), Some(0), "the scan is blind to it: {nvme:?}");
    let version = Command::new("qemu-system-x86_64").arg("--version").output().unwrap();
    assert!(!lost.is_empty() || !text(&version.stdout).contains("version 7.2"), "{told}");
}

/// PostgreSQL does not start or finds its data damaged if a page was torn that it cannot write anew.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn torn_pages_break_postgres_without_full_page_writes() {
    if missing("postgres", Path::new("/usr/lib/postgresql").is_dir()) || !can_be_audited() {
        return;
    }
    let keys = "checkpoint_timeout = \"30s\", max_wal_size = \"32MiB\", shared_buffers = \"16MiB\"";
    let torn = native(&format!("full_page_writes = false, {keys}"));
    let study = study_of("postgres", &[("whole", &native(keys)), ("torn", &torn)]);
    let small = "kind = \"sysbench-oltp\"\ntables = 1\ntable_size = 1000";
    assert!(study.contains(small), "{study}");
    let slob = "kind = \"slob\"\nscale = \"64MiB\"\nwork_unit = 64\nupdate_pct = 100\nredo_stress = \"heavy\"";
    let study = study.replace(small, slob).replace(SHORT, &SHORT.replace("unflushed = 4", "unflushed = 30"));
    let (place, code, told) = audited(&study, &[]);
    assert_eq!(code, Some(0), "{told}");
    let all = place.record().durability;
    is_kept(of(&all, "whole"));
    let torn = of(&all, "torn");
    assert!(torn.cuts.iter().any(|cut| cut.broken.is_some() && cut.is_proof()), "{torn:?}");
    assert_eq!(torn.declared, ["full_page_writes=off"]);
}

/// 300 cuts of each.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn honest_settings_are_never_accused() {
    for (engine, is_there) in [("sqlite", true), ("postgres", Path::new("/usr/lib/postgresql").is_dir())] {
        if missing(engine, is_there) || !can_be_audited() {
            continue;
        }
        let study = study_of(engine, &[("honest", "platform = { kind = \"native\" }")]);
        let cuts = "cuts = { acknowledged = 6, unflushed = 4, growing = 2 }";
        assert!(study.contains(cuts), "{study}");
        let many = study.replace(cuts, "cuts = { acknowledged = 80, unflushed = 50, growing = 20 }");
        let (place, code, told) = audited(&many, &["--set", "audit.durability.drive=10s"]);
        assert_eq!(code, Some(0), "{told}");
        let all = place.record().durability;
        let honest = of(&all, "honest");
        is_kept(honest);
        assert!(honest.declared.is_empty() && honest.cuts.len() >= 300, "{}", honest.cuts.len());
    }
}

/// Killed when the disk is there, when a cut is looked at, and when the liar is driven: the next call removes what is left, and
/// goes on with the contenders that are missing.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn an_audit_that_is_killed_leaves_nothing_and_goes_on() {
    if missing("qemu", has_qemu()) || !can_be_audited() {
        return;
    }
    let keys = native("profile = \"durable\"");
    let place = Place::apart(&study_of("sqlite", &[("first", &keys), ("second", &keys)]), "micro");
    let mut leftovers = Leftovers::of(&place);
    for step in ["disk", "cut-", "liar"] {
        let mut running = Running::begin(&place, arguments(&place));
        running.until("record:");
        let deadline = Instant::now() + STEP_LIMIT;
        while !has_begun(&place, step) {
            assert!(Instant::now() < deadline, "it never came to {step}");
            leftovers.watch(&running);
        }
        running.strike(Signal::KILL);
        running.end();
    }
    let output = place.bakeoff(arguments(&place));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let all = place.record().durability;
    assert_eq!(all.iter().map(|one| one.contender.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    all.iter().for_each(is_kept);
    leftovers.none();
}

/// The second contender is audited all the same.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn an_audit_whose_disk_dies_has_failed() {
    if !can_be_audited() {
        return;
    }
    let keys = native("profile = \"durable\"");
    let place = Place::new(&study_of("sqlite", &[("first", &keys), ("second", &keys)]));
    let mut running = Running::begin(&place, arguments(&place));
    running.until("record:");
    let deadline = Instant::now() + STEP_LIMIT;
    let disk = loop {
        let all: Vec<(u32, String)> =
            running.descendants().into_iter().map(|process| (process, command_line(process))).collect();
        let is = |line: &str, word: &str| line.split('\0').nth(1) == Some(word);
        // Before there is an agent on it, nothing could be mounted, and the audit is one that cannot be made.
        let has_agent = all.iter().any(|(_, line)| is(line, "agent"));
        if let Some((disk, _)) = all.iter().find(|(_, line)| has_agent && is(line, "disk")) {
            break *disk;
        }
        assert!(Instant::now() < deadline, "there was no disk");
        a_moment();
    };
    send(disk, Signal::KILL);
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let all = place.record().durability;
    let first = of(&all, "first");
    assert!(first.failed, "{first:?}");
    assert!(first.not_audited.as_ref().is_some_and(|why| why.starts_with("the audit failed: ")), "{first:?}");
    is_kept(of(&all, "second"));
    assert!(told.contains("first could not be audited: the audit failed"), "{told}");
}

/// A killed audit gets this far within this time.
const STEP_LIMIT: Duration = Duration::from_mins(3);

fn arguments(place: &Place) -> &'static [&'static str] {
    let begin = &["audit", "durability", "study.toml"];
    if place.begun_run().is_some() { &["audit", "durability", "study.toml", "--resume"] } else { begin }
}

/// Whether an audit has a folder in its scratch whose name begins so.
fn has_begun(place: &Place, step: &str) -> bool {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = entries(&place.cache().join("scratch")).flat_map(|run| entries(&run.path()).collect::<Vec<_>>());
    let steps = runs.flat_map(|audit| entries(&audit.path()).collect::<Vec<_>>());
    steps.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(step))
}
