//! Runs that add blocks until they are precise enough, and runs that compare a contender with itself.

use crate::runs::{at_an_easy_pace, small};
use crate::setting::{NOT_USABLE, Place, has_qemu, missing, none_failed, text};
use record::event::Event;
use record::event_log::read_events;
use record::precision::StopReason;
use record::run::Run;
use record::trial::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const OTHER: &str = "[[contender]]\nname = \"other\"\nplatform = { kind = \"native\" }\n";

/// Short trials, without waiting for a disk that others may use.
fn short(more: &str, blocks: &str) -> String {
    let study = small("sqlite", "512MiB", more).replace("blocks = 1", blocks);
    at_an_easy_pace(&study).replace("kind = \"sqlite\"", "kind = \"sqlite\"\nprofile = \"relaxed\"")
}

/// Begins a run and kills it as soon as it has printed these words.
fn killed_at(place: &Place, arguments: &[&str], words: &str) {
    let mut child = place.command(arguments).stderr(Stdio::piped()).spawn().expect("starting bakeoff");
    let mut lines = BufReader::new(child.stderr.take().expect("its standard error")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains(words)), "it never said {words:?}");
    kill_process(Pid::from_child(&child), Signal::KILL).expect("killing it");
    child.wait().expect("its end");
}

/// When each trial was started; a repeated trial would show a later time.
fn started(run: &Run) -> BTreeMap<u32, String> {
    run.trials.iter().map(|trial| (trial.record.id, trial.record.started.clone())).collect()
}

fn events(place: &Place) -> Vec<Event> {
    let events = read_events(&place.run_folder().join("events.jsonl")).expect("readable events");
    events.into_iter().map(|stamped| stamped.event).collect()
}

/// Eleven blocks of one second each never reach a precision of a thousandth.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn blocks_are_added_up_to_the_greatest_number_also_by_a_run_that_was_killed_in_between() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let study = small("sqlite", "512MiB", OTHER).replace("blocks = 1", "precision = \"0.1%\"\nmax_blocks = 11");
    // Clients at full speed differ from block to block, where arrivals would all be served.
    let place = Place::new(&study.replace("kind = \"sqlite\"", "kind = \"sqlite\"\nprofile = \"relaxed\""));
    killed_at(&place, &["run", "study.toml"], "block 11 is added: other against native is known to within ±");
    let before = place.record();
    assert_eq!((before.plan.blocks, before.trials.len()), (11, 20));
    assert_eq!(before.plan.precision.and_then(|wish| wish.ended), None);
    let output = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&[output.stderr, output.stdout].concat()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(matches!(output.status.code(), Some(0) | NOT_USABLE), "{told}");
    let sentence = "Precision not reached after 11 blocks (10 planned, 1 added), the greatest number allowed: other against \
                    native is known to within ±";
    assert_eq!(told.matches(sentence).count(), 2, "once when it is decided, once below the answer: {told}");
    let run = place.record();
    assert_eq!((run.plan.blocks, run.trials.len()), (11, 22));
    assert_eq!(run.plan.precision.and_then(|wish| wish.ended), Some(StopReason::MaxBlocks));
    let (earlier, later) = (started(&before), started(&run));
    assert!(earlier.iter().all(|(id, started)| later[id] == *started), "a trial was repeated");
    let is_told = |wanted: fn(&Event) -> bool| events(&place).iter().filter(|event| wanted(event)).count();
    assert_eq!(is_told(|event| matches!(event, Event::BlockAdded { block: 11, trials: 2, .. })), 1);
    assert_eq!(is_told(|event| matches!(event, Event::PrecisionEnded { blocks: 11, .. })), 1);
    let again = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(again.status.code(), output.status.code(), "{}", text(&again.stderr));
    assert_eq!(started(&place.record()), later, "what was decided stays decided");
}

#[test]
fn an_aa_study_of_one_contender_says_how_precise_it_is_and_then_serves_as_a_pilot() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&short("", "precision = \"50%\"\nmax_blocks = 10"));
    let refused = place.bakeoff(&["run", "study.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains(":4: precision: found 1 contender"), "{}", text(&refused.stderr));
    let plan = text(&place.bakeoff(&["plan", "study.toml", "--aa"]).stdout);
    assert!(plan.contains("A/A study") && plan.contains("native (again) against native"), "{plan}");
    assert!(plan.contains("known to within ±50 %; at most 10 blocks"), "{plan}");

    killed_at(&place, &["run", "study.toml", "--aa"], "trial 3/20");
    let without = place.bakeoff(&["run", "study.toml", &format!("--resume={}", place.run_folder().display())]);
    assert_eq!(without.status.code(), Some(2), "{}", text(&without.stderr));
    let only = place.bakeoff(&["run", "study.toml", "--aa", "--resume", "--only", "native", "--only", "block=10"]);
    has_results(&place, &only);
    let of_last = place.record().trials.iter().filter(|trial| trial.record.block == 10).count();
    assert_eq!(of_last, 2, "both of the contender");

    let output = place.bakeoff(&["run", "study.toml", "--aa", "--resume"]);
    has_results(&place, &output);
    let told = text(&[output.stderr, output.stdout].concat()).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("This is an A/A study: each contender is compared with itself"), "{told}");
    let run = place.record();
    assert_eq!(run.trials.len(), 20);
    // A host that others use may be too noisy even for this.
    let sentence = match run.plan.precision.and_then(|wish| wish.ended) {
        Some(StopReason::Reached) => {
            "Precision reached after 10 blocks (as planned): the throughput ratio is known to within ±"
        }
        Some(StopReason::MaxBlocks) => {
            "Precision not reached after 10 blocks (as planned), the greatest number allowed: "
        }
        other => panic!("{other:?}: {told}"),
    };
    assert!(told.contains(sentence), "{told}");
    let html = std::fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(
        html.contains("<h1>A/A study: does each contender equal itself? Asked of: What does the platform cost?</h1>")
    );
    serves_as_a_pilot(&place);
}

/// On a busy host, a trial of one second may count nothing.
fn has_results(place: &Place, output: &std::process::Output) {
    assert!(matches!(output.status.code(), Some(0 | 4) | NOT_USABLE), "{}", text(&output.stderr));
    let trials = place.record().trials;
    none_failed(place, trials.len());
}

fn serves_as_a_pilot(place: &Place) {
    let pilot = place.run_folder().display().to_string();
    let plan = |more: &[&str]| place.bakeoff(&[&["plan", "study.toml", "--aa", "--pilot", &pilot], more].concat());
    let output = plan(&[]);
    let run = place.record();
    let counts = |block: u32| {
        let own = run.trials.iter().filter(|trial| trial.record.block == block);
        own.filter(|trial| trial.record.outcome == Outcome::Completed).count() == 2
    };
    // On a busy host, a trial of one second may count nothing, which loses its block.
    let whole = (1..=10).filter(|block| counts(*block)).count();
    if whole < 5 {
        let expected = format!("only {whole} of its blocks have valid trials of both");
        assert!(text(&output.stderr).contains(&expected), "{}", text(&output.stderr));
        return;
    }
    let told = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("native (again) against native: the ratio differed by about "), "{told}");
    let blocks = told.split(" between its ").nth(1).and_then(|rest| rest.split(' ').next());
    let blocks = blocks.and_then(|count| count.parse::<u64>().ok()).unwrap_or_else(|| panic!("{told}"));
    assert!((5..=10).contains(&blocks), "{told}");
    assert!(told.contains("10 blocks will show the ratio to about ±"), "{told}");
    assert!(told.contains(" blocks take about ") && !told.contains(" in all"), "one time, the pilot's: {told}");
    assert!(told.contains("and will probably miss a difference smaller than "), "{told}");
    assert!(told.contains("±50 % needs "), "the study's own wish: {told}");
    // A number alone is in per cent.
    for wish in ["0.5%", "0.5"] {
        let told = text(&plan(&["--precision", wish]).stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("±0.5 % needs "), "{told}");
    }
    let json: serde_json::Value = serde_json::from_slice(&plan(&["--json"]).stdout).unwrap();
    assert_eq!(json["outlook"]["comparisons"][0]["pilot_blocks"], blocks);
    assert!(json["outlook"]["block_ms"].as_u64().unwrap() > 2_000);
    let refused = |output: std::process::Output, expected: &str| {
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    };
    refused(plan(&["--precision", "200%"]), "--precision: found \"200%\"; expected a share such as \"5%\"");
    refused(place.bakeoff(&["plan", "study.toml", "--aa", "--pilot", "nowhere"]), "--pilot nowhere: ");
    let other = Place::new(&short(OTHER, "blocks = 3"));
    refused(other.bakeoff(&["plan", "study.toml", "--pilot", &pilot]), "it has no other to learn from; it has native");
    let larger = Place::new(&short("", "blocks = 3").replace("sessions = 2", "sessions = 3"));
    let told = "it is of another study: for native, load.sessions differ from the plan's";
    refused(larger.bakeoff(&["plan", "study.toml", "--aa", "--pilot", &pilot]), told);
    for block in 5..=10 {
        for trial in [2 * block - 1, 2 * block] {
            std::fs::remove_file(place.run_folder().join(format!("trials/{trial:04}/trial.json"))).unwrap();
        }
    }
    let left = (1..=4).filter(|block| counts(*block)).count();
    refused(
        plan(&[]),
        &format!(
            "only {left} of its blocks have valid trials of both native (again) and native; at least 5 are needed"
        ),
    );
}
