//! Load that comes from other hosts. All of them are this one, reached by ssh under several names.

use crate::faults::{Stopped, for_a_while};
use crate::running::{Running, command_line, send};
use crate::runs::small;
use crate::setting::{Place, has_qemu, missing, none_failed, text};
use crate::sshd::Sshd;
use record::trial::{Outcome, TrialRecord};
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

/// Long enough to be a stall, and short enough to be in a window more than once.
const STOP: Duration = Duration::from_millis(700);

/// A study whose load comes from both of these hosts.
fn from_two_hosts(sshd: &Sshd, engine: &str, more: &str) -> String {
    let options = &sshd.table(Path::new("/"), "installed")["ssh_options"];
    let load =
        format!("clients = 4\nplacement = \"outside\"\nfrom = [\"here\", \"here-too\"]\nssh_options = {options}");
    small(engine, "1GiB", more).replace("clients = 2", &load)
}

fn sshd() -> Option<Sshd> {
    (!missing("ssh", Sshd::is_installed())).then(Sshd::start)
}

/// Both hosts did half of the work, and started together.
fn both_drove(record: &TrialRecord) {
    let names: Vec<&str> = record.load_hosts.iter().map(|facts| facts.host.as_str()).collect();
    assert_eq!(names, ["here", "here-too"]);
    let driver = record.driver.as_ref().unwrap();
    for facts in &record.load_hosts {
        assert!(facts.sessions >= 2 && facts.testimony.cpu_ns > 0, "{facts:?}");
        assert!(facts.late_us.is_some_and(|late_us| late_us < 100_000), "{facts:?}");
        assert!(facts.inside.contains_key("kernel.release"));
        // Their clock is this host's.
        assert!(facts.clock.len() >= 3 && facts.clock.iter().all(|reading| reading.offset_ns.abs() < 1_000_000_000));
    }
    let statements: u64 = record.load_hosts.iter().map(|facts| facts.statements).sum();
    assert_eq!(statements, driver.work.statements);
    assert_eq!((driver.placement.as_str(), driver.clients), ("outside", 4));
}

#[test]
fn two_hosts_drive_a_native_server() {
    both_drive("{ kind = \"native\" }");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn two_hosts_drive_a_guest() {
    both_drive("{ kind = \"qemu\", accelerator = \"tcg\" }");
}

fn both_drive(platform: &str) {
    let Some(sshd) = sshd() else { return };
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&from_two_hosts(&sshd, "postgres", "").replace("{ kind = \"native\" }", platform));
    place.bakeoff(&["run", "study.toml"]);
    none_failed(&place, 1);
    for trial in &place.record().trials {
        assert!(trial.findings.len() >= 12 && trial.findings.iter().all(|finding| !finding.is_violated()));
        assert!(trial.disagreements.is_empty(), "{:?}", trial.disagreements);
        both_drove(&trial.record);
    }
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    // A trial that this host made invalid has no load in the report.
    let counts = place.record().trials.iter().any(|trial| trial.record.outcome == Outcome::Completed);
    assert!(!counts || page.contains("driven from outside the machine, by here and here-too"), "{page}");
    let table = page.split("Load hosts").nth(1).expect("a section");
    assert!(table.contains("| here-too | 3 |") || table.contains("| here-too |"), "{table}");
}

/// At each step the hosts share the clients, and the peak is a multiple of their number.
#[test]
fn two_hosts_climb_to_the_peak_together() {
    let Some(sshd) = sshd() else { return };
    let study =
        from_two_hosts(&sshd, "postgres", "").replace("clients = 4", "clients = \"peak\"\npeak = { max_clients = 4 }");
    let place = Place::new(&study);
    place.bakeoff(&["run", "study.toml"]);
    none_failed(&place, 1);
    let record = &place.record().trials[0].record;
    let ladder = record.driver.as_ref().unwrap().ladder.as_ref().expect("a climb");
    assert!(ladder.rungs.len() > 1 && ladder.rungs.iter().all(|rung| rung.clients % 2 == 0), "{ladder:?}");
    assert_eq!(record.load_hosts.len(), 2);
}

/// The processes of a load host whose command line has all of these words.
fn on_host(words: &[&str]) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|process| words.iter().all(|word| command_line(*process).contains(word))).collect()
}

/// A run that begins to drive. On a busy host, its window is reported when it is over.
fn begun(sshd: &Sshd) -> (Place, Running) {
    let place = Place::new(&from_two_hosts(sshd, "postgres", "").replace("measure = \"1s\"", "measure = \"4s\""));
    let mut running = Running::begin(&place, &["run", "study.toml"]);
    running.until(": warm up");
    (place, running)
}

fn why_invalid(place: &Place, running: Running) -> String {
    let (code, told) = running.end();
    assert_eq!(code, Some(4), "{told}");
    let outcome = &place.record().trials[0].record.outcome;
    let Outcome::Invalid { why } = outcome else { panic!("{outcome:?}") };
    why.clone()
}

#[test]
fn a_load_host_that_is_lost_makes_the_trial_invalid_by_name() {
    let Some(sshd) = sshd() else { return };
    let (place, running) = begun(&sshd);
    let lines = running.descendants().into_iter();
    let way = lines
        .filter(|process| command_line(*process).contains("here-too") && command_line(*process).contains("there run"));
    let ways: Vec<u32> = way.collect();
    assert_eq!(ways.len(), 1, "the connection of one agent");
    send(ways[0], Signal::KILL);
    let why = why_invalid(&place, running);
    assert!(why.starts_with("the load host here-too was lost: "), "{why}");
    // What ran there has ended by itself.
    let run = place.run_folder().file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(on_host(&["there\0run", &run]), Vec::<u32>::new());
}

#[test]
fn a_load_host_that_stands_still_makes_the_trial_invalid_by_name() {
    let Some(sshd) = sshd() else { return };
    let (place, running) = begun(&sshd);
    let run = place.run_folder().file_name().unwrap().to_str().unwrap().to_owned();
    let agents = || on_host(&[&run, "-load-2/", "agent\0"]);
    assert!(!agents().is_empty(), "no agent on the second host");
    // Wherever its window lies, it has a whole stop.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !agents().is_empty() && Instant::now() < deadline {
        let stopped = Stopped::all(agents());
        for_a_while(STOP);
        drop(stopped);
        for_a_while(STOP);
    }
    let why = why_invalid(&place, running);
    assert!(why.starts_with("the load host here-too: the load generator stood still for"), "{why}");
}

#[test]
fn load_hosts_that_cannot_be_are_refused_by_name() {
    let Some(sshd) = sshd() else { return };
    let study = from_two_hosts(&sshd, "postgres", "");
    let refused = |study: &str, words: &str| {
        let place = Place::new(study);
        let output = place.bakeoff(&["run", "study.toml"]);
        let told = text(&output.stderr) + &text(&output.stdout);
        assert!(output.status.code() != Some(0) && told.contains(words), "{words} is not in:\n{told}");
    };
    refused(
        &study.replace("placement = \"outside\"", "placement = \"inside\""),
        "load.from: given; expected this key only beside",
    );
    refused(&study.replace("\"here-too\"", "\"nowhere.invalid\""), "ssh does not reach the host nowhere.invalid");
    let brokerage = "kind = \"brokerage\"\ncustomers = 1000\ninitial_trade_days = 5";
    let brokerage = study.replace("kind = \"dvd-store\"\ndb_size = \"1MB\"", brokerage);
    refused(&brokerage, "workload brokerage cannot be driven from several hosts");
}
