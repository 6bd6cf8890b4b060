//! A machine that comes and goes beside another one.

use crate::runs::{at_an_easy_pace, small};
use crate::setting::{Place, end_of, has_qemu, missing, text};
use crate::starved::counts_or_was_starved;
use record::run::{Run, StoredTrial};
use record::trial::{DriverFacts, Outcome};
use serde_json::Value;

/// Two native machines; the second works in the middle third, not at all, or all the time.
fn comes_and_goes() -> String {
    let scenarios = r#"
[[scenario]]
name = "burst"
set = { "machine.exception" = { number = 2, load = "burst" }, "load.measure" = "12s" }
[[scenario]]
name = "idle"
set = { "machine.exception" = { number = 2, load = "idle" } }
[[scenario]]
name = "together"
"#;
    let own = small("sqlite", "384MiB", scenarios).replace("measure = \"1s\"", "measure = \"3s\"");
    at_an_easy_pace(&own).replace("vcpus = 1", "count = 2\noversubscribe = true\nvcpus = 1")
}

fn of<'a>(run: &'a Run, scenario: &str) -> &'a StoredTrial {
    let cell = run.plan.cells.iter().find(|cell| cell.scenario.as_deref() == Some(scenario)).expect("a cell");
    run.trials.iter().find(|trial| trial.record.cell == cell.id).expect("its trial")
}

fn driver(trial: &StoredTrial, place: usize) -> &DriverFacts {
    trial.machines[place].record.driver.as_ref().expect("it was driven")
}

/// Both machines use the host's clock, so the first one's seconds can be compared with the second one's work by hand.
fn seconds_by_hand(trial: &StoredTrial) -> [usize; 3] {
    let (other, neighbour) = (driver(trial, 0), driver(trial, 1));
    let start = |driver: &DriverFacts| driver.window_start_ns.expect("when it began").cast_signed();
    let begins = start(neighbour) - (neighbour.warmup_ms * 1_000_000).cast_signed();
    let ends = start(neighbour) + (neighbour.measured_ms * 1_000_000).cast_signed();
    let middles = (0..other.measured_ms / 1_000)
        .map(|second| start(other) + (second * 1_000_000_000 + 500_000_000).cast_signed());
    let guard = 1_000_000_000;
    let mut counts = [0; 3];
    for middle in middles {
        let parts =
            [middle + guard <= begins, begins + guard <= middle && middle + guard <= ends, ends + guard <= middle];
        counts.iter_mut().zip(parts).for_each(|(count, is_in)| *count += usize::from(is_in));
    }
    counts
}

#[test]
fn a_burst_is_split_as_it_was_recorded_and_an_idle_machine_held_against_one_at_work() {
    if missing("qemu", has_qemu()) {
        return;
    }
    let place = Place::new(&comes_and_goes());
    let output = place.bakeoff(&["run", "study.toml"]);
    let run = place.record();
    assert!(run.trials.len() == 3 && run.trials.iter().all(|trial| trial.machines.len() == 2));
    let all_completed = run.trials.iter().all(|trial| trial.record.outcome == Outcome::Completed);
    assert_eq!(output.status.code(), end_of(all_completed), "{}", text(&output.stderr));
    if !all_completed {
        let are_excused = run.trials.iter().all(|trial| counts_or_was_starved(&trial.record));
        assert!(are_excused, "{}", text(&output.stderr));
        return;
    }
    let (burst, idle) = (of(&run, "burst"), of(&run, "idle"));
    assert_eq!(
        (driver(burst, 0).measured_ms, driver(burst, 1).measured_ms, driver(burst, 1).warmup_ms),
        (12_000, 4_000, 0)
    );
    assert!(driver(burst, 1).kinds.iter().any(|kind| kind.committed > 0), "it did something");
    assert!(idle.machines[1].record.driver.is_none() && idle.machines[1].measured.is_none(), "it was not driven");

    let analysis = std::fs::read(place.run_folder().join("analysis.json")).unwrap();
    let analysis: Value = serde_json::from_slice(&analysis).unwrap();
    let cells = analysis["consolidation"].as_array().expect("cells of several machines");
    let neighbour = |scenario: &str| {
        let cell = cells.iter().find(|cell| cell["coordinates"] == scenario).expect("a cell");
        cell["neighbour"].clone()
    };
    let parts = neighbour("burst")["trials"][0]["parts"].as_array().expect("parts").clone();
    let seconds: Vec<(&str, usize)> = parts
        .iter()
        .map(|part| (part["part"].as_str().unwrap(), usize::try_from(part["seconds"].as_u64().unwrap()).unwrap()))
        .collect();
    let [before, during, after] = seconds_by_hand(burst);
    assert_eq!(seconds, [("before", before), ("during", during), ("after", after)]);
    assert_eq!(neighbour("idle")["beside"][0]["reference"]["coordinates"], "together");
    assert!(neighbour("idle")["effects"].as_array().unwrap().is_empty() && neighbour("together").is_null());

    let markdown = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    let section = &markdown[markdown.find("## Noisy neighbour").expect("a section")..];
    assert!(section.contains("native at burst: while machine 2 works, the other machine does"), "{section}");
    assert!(
        section.contains("native at idle: at together, where machine 2 works, the other machine does"),
        "{section}"
    );
}
