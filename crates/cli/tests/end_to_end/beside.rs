//! Two at once: two calls that resume the same run, and two runs that measure on the same host.

use crate::running::Running;
use crate::runs::small;
use crate::setting::{NOT_USABLE, Place, end_of, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::event::Event;
use record::event_log::read_events;
use record::trial::Outcome;
use rustix::process::Signal;

#[test]
fn a_run_that_goes_on_is_not_gone_on_with_but_reported() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&small("sqlite", "512MiB", "").replace("blocks = 1", "blocks = 2"));
    let mut first = Running::begin(&place, &["run", "study.toml"]);
    first.until(": measure");
    let run = place.run_folder();
    let second = place.bakeoff(&["run", "study.toml", "--resume"]);
    let told = text(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{told}");
    assert!(told.contains(&format!("--resume: process {} has been working in runs/", first.id())), "{told}");
    assert!(told.contains("bakeoff report runs/"), "{told}");
    let report = place.bakeoff(&["report", run.to_str().unwrap()]);
    assert_eq!(report.status.code(), NOT_USABLE, "{}", text(&report.stderr));
    let (code, told) = first.end();
    assert_eq!(code, NOT_USABLE, "{told}");
    let ended = read_events(&run.join("events.jsonl")).unwrap().into_iter();
    let ended = ended.filter(|stamped| matches!(stamped.event, Event::TrialEnded { .. })).count();
    assert_eq!(ended, 2, "each trial was run once");
    assert_eq!(
        place.bakeoff(&["run", "study.toml", "--resume"]).status.code(),
        NOT_USABLE,
        "the lock went with its holder"
    );
}

#[test]
fn the_second_run_of_a_host_waits_for_the_first_and_says_so() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let short = small("sqlite", "512MiB", "");
    let place = Place::new(&short.replace("measure = \"1s\"", "measure = \"10m\""));
    let mut first = Running::begin(&place, &["run", "study.toml"]);
    first.until(": measure");
    let waits = format!("waiting for another bakeoff (process {})", first.id());
    let impatient = Place::behind(&place, &short);
    let mut stopped = Running::begin(&impatient, &["run", "study.toml"]);
    stopped.until(&waits);
    // A shell that starts tests in the background makes them ignore Ctrl-C.
    stopped.strike(Signal::TERM);
    assert_eq!(stopped.end().0, None, "the wait ends as any program does");
    assert!(!impatient.folder.path().join("runs").exists(), "something was begun");
    let behind = Place::behind(&place, &short);
    let mut second = Running::begin(&behind, &["run", "study.toml"]);
    second.until(&waits);
    // However the first run ends.
    first.strike(Signal::KILL);
    first.end();
    let (code, told) = second.end();
    let record = &behind.record().trials[0].record;
    assert!(counts_or_was_starved(record), "{:?}", record.outcome);
    assert_eq!(code, end_of(record.outcome == Outcome::Completed), "{told}");
    let events = read_events(&behind.run_folder().join("events.jsonl")).unwrap();
    let waited = |event: &Event| matches!(event, Event::Warning { text } if text.starts_with("waited "));
    assert!(events.iter().any(|stamped| waited(&stamped.event)), "{events:?}");
}
