//! Every way to offer work, end to end: climbing to the peak, terminals that share sessions, arrivals that overload a database.

use crate::runs::study;
use crate::setting::{Place, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::run::StoredTrial;
use record::trial::{Outcome, Pacing};

const SCENARIOS: &str = r#"
[[scenario]]
name = "peak"
set = { "load.clients" = "peak", "load.peak.max_clients" = 4 }
[[scenario]]
name = "terminals"
set = { "load.terminals" = 400, "load.sessions" = 3 }
[[scenario]]
name = "overload"
set = { "load.arrivals" = "90000/s", "load.process" = "uniform" }
"#;

fn sound(trial: &StoredTrial) {
    assert!(counts_or_was_starved(&trial.record), "{:?}", trial.record.outcome);
    agreeing(trial);
}

fn agreeing(trial: &StoredTrial) {
    let violated: Vec<_> = trial.findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

#[test]
fn work_is_offered_in_every_way_and_the_data_agrees_with_all_of_it() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(
        &study("sqlite", "512MiB", SCENARIOS)
            .replace("blocks = 2", "blocks = 1")
            .replace("measure = \"3s\"", "measure = \"2s\""),
    );
    let output = place.bakeoff(&["run", "study.toml"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    let run = place.record();
    let of = |scenario: &str| {
        let cell = run.plan.cells.iter().find(|cell| cell.scenario.as_deref() == Some(scenario)).expect("a cell");
        run.trials.iter().find(|trial| trial.record.cell == cell.id).expect("its trial")
    };
    peaked(of("peak"));
    typed(of("terminals"));
    overloaded(of("overload"));
    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).expect("a report");
    assert!(markdown.contains("The climb to the peak") && markdown.contains("Waiting for a session"));
}

fn peaked(trial: &StoredTrial) {
    sound(trial);
    let driver = trial.record.driver.as_ref().expect("driver facts");
    let ladder = driver.ladder.as_ref().expect("a climb");
    let tried: Vec<u32> = ladder.rungs.iter().map(|rung| rung.clients).collect();
    assert_eq!(tried[..3], [1, 2, 4], "{tried:?}");
    assert!(tried.contains(&ladder.chosen) && ladder.smallest_tied <= 4, "{ladder:?}");
    assert_eq!(driver.pacing, Some(Pacing::Clients { clients: ladder.chosen }), "measured afresh at the peak");
    assert!(ladder.rungs.iter().all(|rung| rung.per_second > 0.0 && rung.p99_us > 0), "{ladder:?}");
    assert!(ladder.rungs.iter().all(|rung| rung.cpu.is_some_and(|cpu| cpu.busy > 0.0)), "{ladder:?}");
    assert!(trial.record.phases.iter().any(|phase| phase.phase == "climb"));
}

fn typed(trial: &StoredTrial) {
    sound(trial);
    let driver = trial.record.driver.as_ref().expect("driver facts");
    assert_eq!(driver.clients, 400);
    let queue = driver.queue.as_ref().expect("who waited");
    assert_eq!((queue.limit, queue.turned_away), (400, 0));
    // Nearly twenty arrive per second, each after half a minute of typing and thinking.
    assert!((20..=120).contains(&queue.came), "{queue:?}");
}

fn overloaded(trial: &StoredTrial) {
    agreeing(trial);
    let Outcome::Invalid { why } = &trial.record.outcome else { panic!("{:?}", trial.record.outcome) };
    assert!(why.starts_with("the rate was missed: "), "{why}");
    let driver = trial.record.driver.as_ref().expect("driver facts");
    let queue = driver.queue.as_ref().expect("who waited");
    assert_eq!(queue.came, 180_000, "two seconds of arrivals, whatever the database does");
    assert!(queue.turned_away > 100_000 && queue.longest <= queue.limit, "{queue:?}");
    assert!(trial.record.warnings.iter().any(|text| text.contains("less than was asked of it")));
}
