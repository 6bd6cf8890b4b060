//! A run beside somebody who keeps a CPU busy, of a study that does not allow that.

use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use record::trial::Outcome;
use serde_json::Value;
use std::process::{Child, Command};

/// Keeps a CPU busy as long as it is there, and for two minutes at most.
struct Busy(Child);

impl Busy {
    fn new() -> Self {
        Self(Command::new("sh").args(["-c", "ulimit -t 120; while :; do :; done"]).spawn().expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_trial_that_others_disturb_is_run_again_and_then_no_measurement() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let limited = "measure = \"2s\"\nmax_other_cpu = \"0.1%\"\nmax_repeats = 1";
    let study = study("sqlite", "512MiB", "").replace("blocks = 2", "blocks = 1");
    let place = Place::new(&study.replace("measure = \"3s\"", limited));
    let planned = text(&place.bakeoff(&["plan", "study.toml"]).stdout);
    let again = "a trial beside which others use more than 0.1 % of the host's CPU time is run again, at most once\n";
    assert!(planned.contains(again) && planned.contains("with every such repeat about "), "{planned}");

    let busy = Busy::new();
    let output = place.bakeoff(&["run", "study.toml"]);
    drop(busy);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("trial 1 is run again, 1 of at most 1 times: others used "), "{told}");
    let record = place.record().trials.remove(0).record;
    let Outcome::Invalid { why } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(why.starts_with("others used ") && why.contains("more than the 0.1 % of load.max_other_cpu"), "{why}");
    let other_load = record.other_load.expect("the study has a limit");
    assert_eq!(other_load.disturbed.len(), 1);
    assert!(other_load.disturbed[0].by.other_cpu > 0.001, "{other_load:?}");
    let run = place.run_folder();
    assert!(run.join("earlier/0001-1/trial.json").exists());

    let analysis: Value = serde_json::from_slice(&std::fs::read(run.join("analysis.json")).unwrap()).unwrap();
    let others = &analysis["consistency"]["host"]["trials"][0]["others"];
    assert_eq!(others.as_f64().as_ref(), other_load.other_cpu.known(), "there is one figure");
    let report = std::fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("Trial 1 was run once more, because others used "), "{report}");
}
