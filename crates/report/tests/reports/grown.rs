//! Reports of a study that varies a machine's vCPUs.

use analysis::summary::analyse;
use record::facts::Fact;
use record::plan::PlannedTrial;
use record::run::Run;
use record::synthetic;
use serde_json::{Value, json};

const SIZES: [u64; 7] = [1, 2, 3, 4, 6, 8, 16];

/// Both contenders of the made-up run with one to sixteen vCPUs, on a host of eight cores with two threads each.
pub fn grown(blocks: u32) -> Run {
    let mut run = synthetic::run(blocks);
    let (cells, trials) = (run.plan.cells.clone(), run.trials.clone());
    run.plan.cells.clear();
    run.trials.clear();
    for (number, vcpus) in (0_u32..).zip(SIZES) {
        for cell in &cells {
            let mut cell = cell.clone();
            cell.id += 2 * number;
            cell.settings.set("machine.vcpus", json!(vcpus)).expect("it can be so");
            cell.sweep.insert("machine.vcpus".to_owned(), Value::from(vcpus));
            run.plan.cells.push(cell);
        }
        for trial in &trials {
            let mut trial = trial.clone();
            trial.record.cell += 2 * number;
            trial.record.id += 2 * blocks * number;
            let size = vcpus as f64;
            let slowed = 1.0
                + 0.02 * (size - 1.0)
                + 0.004 * size * (size - 1.0) * (1.0 + 0.1 * f64::from(trial.record.block % 3));
            let kinds = &mut trial.record.driver.as_mut().expect("made-up trials have driven").kinds;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            for kind in kinds.iter_mut() {
                kind.committed = (kind.committed as f64 * size / slowed) as u64;
            }
            let cpus = (0..vcpus).map(|cpu| cpu.to_string()).collect::<Vec<_>>().join(",");
            let machine = trial.record.machine.as_mut().expect("made-up trials have a machine");
            machine.decided.insert("host CPUs".to_owned(), Fact::known(cpus));
            run.trials.push(trial);
        }
    }
    let planned = |trial: &record::run::StoredTrial| {
        let record = &trial.record;
        PlannedTrial { id: record.id, block: record.block, cell: record.cell, seed: record.seed, host: None }
    };
    run.plan.trials = run.trials.iter().map(planned).collect();
    let cores: Vec<String> = (0..8).map(|core| format!("{core},{}", core + 8)).collect();
    for (name, text) in [
        ("cpu.cores", "8"),
        ("cpu.threads", "16"),
        ("cpu.core_cpus", &cores.join("; ")),
        ("memory.numa_nodes", "2"),
        ("memory.node_cpus", "0-3,8-11; 4-7,12-15"),
    ] {
        run.host.insert(name.to_owned(), Fact::known(text));
    }
    run
}

#[test]
fn growth_is_told_with_its_borders_and_its_peak() {
    let run = grown(4);
    let analysis = analyse(&run);
    let markdown = report::markdown(&run, &analysis);
    let from = markdown.find("## Growth with size").expect("a section");
    let section = &markdown[from..];
    insta::assert_snapshot!(&section[..section[3..].find("\n## ").unwrap() + 3]);
    let html = report::html(&run, &analysis);
    assert_eq!(html.matches("<title>NOPM over vCPUs</title>").count(), 1);
    assert!(
        !html.contains("NaN,") && !html.contains("\"NaN") && !html.contains("inf\""),
        "every coordinate is a number"
    );
}

#[test]
fn a_study_of_one_size_has_no_such_section() {
    let run = synthetic::run(3);
    assert!(!report::markdown(&run, &analyse(&run)).contains("Growth with size"));
}
