//! Contenders with several hosts that are measured at the same time, with load from other hosts. All of them are this one, reached by
//! ssh, and look like machines of their own.

use crate::setting::{Place, missing, none_failed, text};
use crate::sshd::{SSHD, Sshd};
use machines::process::Launch;
use record::event::Event;
use record::event_log::read_events;
use record::trial::Outcome;
use std::collections::BTreeSet;
use std::path::Path;

/// Hosts, and a configuration of ssh that knows them all.
struct Fleet {
    _hosts: Vec<Sshd>,
    config: tempfile::NamedTempFile,
}

/// A server that looks like another machine: it seems to have booted at another time. Only root can do this.
fn other_machine(name: &str) -> Sshd {
    Sshd::started(name, &|config: &str| {
        let boot = format!("{config}.boot");
        std::fs::write(&boot, format!("{name}\n")).unwrap();
        let script = format!("mount --bind {boot} /proc/sys/kernel/random/boot_id && exec {SSHD} -D -f {config}");
        Launch::new(&["unshare", "--mount", "sh", "-c", &script])
    })
}

impl Fleet {
    /// `None` where this cannot be done, and the test is skipped.
    fn of(names: &[&str]) -> Option<Self> {
        if missing("ssh", Sshd::is_installed()) || missing("root", rustix::process::getuid().is_root()) {
            return None;
        }
        let hosts: Vec<Sshd> = names.iter().map(|name| other_machine(name)).collect();
        let config = tempfile::NamedTempFile::new().unwrap();
        let includes = hosts.iter().map(|host| format!("Include {}\n", host.file("ssh_config").display()));
        std::fs::write(config.path(), includes.collect::<Vec<_>>().concat()).unwrap();
        Some(Self { _hosts: hosts, config })
    }

    fn contender(&self, name: &str, hosts: &[&str]) -> String {
        format!(
            "[[contender]]\nname = \"{name}\"\nplatform = {{ kind = \"host\", server = \"installed\", hosts = {hosts:?}, ssh_options = {:?} }}\n",
            ["-F", self.config()]
        )
    }

    fn config(&self) -> &str {
        self.config.path().to_str().unwrap()
    }
}

/// For tests that are about hosts and not about a server on them.
pub fn study_in_a_file(contenders: &str) -> String {
    study("placement = \"inside\"", contenders).replace("postgres", "sqlite")
}

pub fn study(load: &str, contenders: &str) -> String {
    format!(
        "question = \"Do they differ?\"\nseed = 7\nblocks = 2\n[machine]\nvcpus = 1\nmemory = \"512MiB\"\n[engine]\nkind = \"postgres\"\n\
         [workload]\nkind = \"dvd-store\"\ndb_size = \"1MB\"\n[load]\narrivals = \"40/s\"\nsessions = 4\nwarmup = \"0s\"\nmeasure = \"1s\"\n{load}\n{contenders}"
    )
}

/// What each event of a run is about, where it is the start or the end of a trial.
fn starts_and_ends(place: &Place) -> Vec<(bool, u32)> {
    let events = read_events(&place.run_folder().join("events.jsonl")).unwrap();
    let events = events.into_iter().filter_map(|stamped| match stamped.event {
        Event::TrialStarted { trial, .. } => Some((true, trial)),
        Event::TrialEnded { trial, .. } => Some((false, trial)),
        _ => None,
    });
    events.collect()
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn four_hosts_are_measured_at_once_with_load_from_two_others() {
    let Some(fleet) = Fleet::of(&["a", "b", "c", "d", "x", "y"]) else { return };
    let load = format!("placement = \"outside\"\nfrom = [\"x\", \"y\"]\nssh_options = {:?}", ["-F", fleet.config()]);
    let contenders = fleet.contender("old", &["a", "b"]) + &fleet.contender("new", &["c", "d"]);
    let place = Place::new(&study(&load, &contenders));
    place.bakeoff(&["run", "study.toml"]);
    let all_count = none_failed(&place, 4);
    let run = place.record();
    let hosts: BTreeSet<(u32, &str)> =
        run.plan.trials.iter().map(|trial| (trial.block, trial.host.as_deref().unwrap())).collect();
    assert_eq!(hosts, BTreeSet::from([(1, "a"), (1, "c"), (2, "b"), (2, "d")]));
    for (trial, planned) in run.trials.iter().zip(&run.plan.trials) {
        let record = &trial.record;
        assert!(trial.findings.len() >= 12 && trial.findings.iter().all(|finding| !finding.is_violated()));
        let boot = &record.machine.as_ref().unwrap().inside["system.boot_id"];
        assert_eq!(boot.to_string(), planned.host.clone().unwrap(), "it ran where it was planned");
        let drove: Vec<&str> = record.load_hosts.iter().map(|facts| facts.host.as_str()).collect();
        assert_eq!(drove, ["x", "y"]);
    }
    let events = starts_and_ends(&place);
    assert!(events[..4].iter().all(|(is_start, _)| *is_start), "all four went on at once: {events:?}");
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    assert!(page.contains("## Hosts") && (!all_count || page.contains("| old | a | 1 |")), "{page}");
    assert!(page.contains("new ran on c and d, and old on a and b"), "{page}");
}

/// Both contenders are on both hosts, and each block is within one.
#[test]
fn a_block_is_within_one_host_and_a_run_goes_on_after_it_was_stopped() {
    let Some(fleet) = Fleet::of(&["a", "b"]) else { return };
    let contenders = fleet.contender("one", &["a", "b"]) + &fleet.contender("other", &["a", "b"]);
    let place = Place::new(&study_in_a_file(&contenders));
    place.bakeoff(&["run", "study.toml", "--only", "block=1"]);
    none_failed(&place, 2);
    place.bakeoff(&["run", "study.toml", "--resume"]);
    let all_count = none_failed(&place, 4);
    let run = place.record();
    for trial in &run.plan.trials {
        assert_eq!(trial.host.as_deref(), Some(if trial.block == 1 { "a" } else { "b" }));
    }
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    let over_hosts = page.contains("| other against one | over hosts | 2 |");
    assert!((over_hosts || !all_count) && !page.contains("hosts-apart"), "{page}");
}

#[test]
fn two_names_of_one_machine_are_refused_and_the_other_hosts_go_on() {
    let Some(fleet) = Fleet::of(&["a"]) else { return };
    let alias = std::fs::read_to_string(fleet.config()).unwrap();
    let own = std::fs::read_to_string(Path::new(alias.trim_start_matches("Include ").trim())).unwrap();
    std::fs::write(fleet.config(), own.replace("Host a\n", "Host a also-a\n")).unwrap();
    let place = Place::new(
        &study_in_a_file(&fleet.contender("one", &["a", "also-a", "nowhere.invalid"]))
            .replace("blocks = 2", "blocks = 3"),
    );
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("ssh does not reach the host nowhere.invalid"), "{told}");
    let run = place.record();
    let outcomes: Vec<&Outcome> = run.trials.iter().map(|trial| &trial.record.outcome).collect();
    let completed = outcomes.iter().filter(|outcome| ***outcome == Outcome::Completed).count();
    let refused = |outcome: &&&Outcome| matches!(outcome, Outcome::Failed { why, .. } if why.contains("refer to the same machine"));
    assert_eq!((completed, outcomes.iter().filter(refused).count()), (1, 1), "{outcomes:?}");
}

#[test]
fn load_from_a_host_that_is_measured_is_refused() {
    let Some(fleet) = Fleet::of(&["a"]) else { return };
    let load = format!("placement = \"outside\"\nfrom = [\"a\"]\nssh_options = {:?}", ["-F", fleet.config()]);
    let contender = fleet.contender("one", &["a"]);
    let place = Place::new(&study(&load, &contender).replace("blocks = 2", "blocks = 1"));
    place.bakeoff(&["run", "study.toml"]);
    let outcome = &place.record().trials[0].record.outcome;
    assert!(matches!(outcome, Outcome::Failed { why, .. } if why.contains("refer to the same machine")), "{outcome:?}");
}
