//! Three real runs, kept here as recorded: whatever a report says about them, all its forms say the same.
//!
//! Two are order entry natively on `SQLite` and on PostgreSQL, with settings that differ. In the third, on `SQLite`,
//! something else took the host's CPUs for a while.

use analysis::cells::CellResult;
use analysis::compare::headline;
use analysis::contrast::Contrast;
use analysis::measures::{Measure, Scale};
use analysis::summary::{Analysis, analyse};
use analysis::two_runs;
use record::plan::Plan;
use record::run::Run;
use record::synthetic;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub const RUNS: [&str; 3] = ["sqlite", "postgres", "disturbed"];

pub fn opened(name: &str) -> (Run, Analysis) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runs").join(name);
    let run = Run::open(&folder).unwrap_or_else(|error| panic!("{name}: {error}"));
    let analysis = analyse(&run);
    (run, analysis)
}

/// The measures by which contenders are judged, with the level of a cell as reports write it.
fn judged<'a>(analysis: &'a Analysis, cell: &CellResult) -> Vec<(&'a Measure, f64, String)> {
    let of_measure = |id: &String| {
        let measure = &analysis.observations.measure(id)?.measure;
        let point = cell.level(id)?.point;
        Some((measure, point, report::measures::number(&measure.unit, point)))
    };
    headline(&cell.metric.counted).iter().filter_map(of_measure).collect()
}

#[test]
fn all_forms_of_a_report_say_the_same() {
    for name in RUNS {
        let (run, analysis) = opened(name);
        // The page keeps numbers and units together with a no-break space.
        let html = report::html(&run, &analysis).replace('\u{a0}', " ");
        let markdown = report::markdown(&run, &analysis);
        let terminal = report::terminal(&run, &analysis);
        let json: serde_json::Value = serde_json::from_str(&report::json(&run, &analysis).unwrap()).unwrap();
        let two = report::two_runs::text(&two_runs::compare(&run, &run, None).unwrap());
        for (place, cell) in analysis.cells.iter().enumerate() {
            let figures = judged(&analysis, cell);
            assert!(figures.len() >= 3, "{name}: {figures:?}");
            for (measure, point, shown) in figures {
                for (form, text) in [("html", &html), ("md", &markdown), ("terminal", &terminal), ("compare", &two)] {
                    assert!(
                        text.contains(&shown),
                        "{name}: {} of {} is {shown}, not in {form}",
                        measure.id,
                        cell.contender
                    );
                }
                let levels = json["analysis"]["cells"][place]["levels"].as_array().unwrap();
                let own = levels.iter().find(|level| level["measure"] == measure.id.as_str()).unwrap();
                assert!((own["point"].as_f64().unwrap() / point - 1.0).abs() < 1e-12, "{name}: {own}");
            }
        }
        for comparison in &analysis.comparisons {
            for contrast in headline(&comparison.metric.counted).iter().filter_map(|id| comparison.contrast(id)) {
                let shown = report::format::effect(contrast.estimate.point);
                for (form, text) in [("html", &html), ("md", &markdown), ("terminal", &terminal)] {
                    assert!(text.contains(&shown), "{name}: {} is {shown}, not in {form}", contrast.measure);
                }
            }
        }
    }
}

/// If no block is left out, the quotient of two levels is the ratio shown with them, in every measure.
#[test]
fn the_ratio_of_levels_is_the_relative_one() {
    for name in RUNS {
        let (_, analysis) = opened(name);
        for comparison in analysis.comparisons.iter().filter(|one| one.left_out.is_empty()) {
            let level = |cell: u32, id: &str| analysis.observations.level(id, cell).unwrap().estimate.point;
            for Contrast { measure, scale, estimate, blocks, .. } in &comparison.contrasts {
                // A measure that some trial lacks is compared over the others.
                if blocks.len() < analysis.cells[0].trials.len() {
                    continue;
                }
                let (base, own) = (level(comparison.baseline_cell, measure), level(comparison.contender_cell, measure));
                let apart = match scale {
                    Scale::Ratio => own / base / estimate.point - 1.0,
                    Scale::Difference | Scale::Proportion => (own - base - estimate.point) / base.abs().max(1.0),
                };
                assert!(apart.abs() < 1e-9, "{name}: {measure}: {base}, {own}, {estimate:?}");
            }
        }
    }
}

/// The table for spreadsheets holds what levels are made from: they are geometric means by block.
#[test]
fn levels_can_be_made_again_from_the_table_of_observations() {
    for name in RUNS {
        let (run, analysis) = opened(name);
        let table = report::observations(&run, &analysis).unwrap();
        let mut lines = csv::Reader::from_reader(&table[..]);
        let mut logarithms: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for line in lines.records().map(Result::unwrap) {
            let (contender, measure, value) = (line[3].to_owned(), line[6].to_owned(), &line[7]);
            if measure == "throughput" || measure.starts_with("response.p50/") {
                logarithms.entry((contender, measure)).or_default().push(value.parse::<f64>().unwrap().ln());
            }
        }
        assert!(logarithms.len() >= 4, "{name}: {logarithms:?}");
        for ((contender, measure), values) in logarithms {
            let mean = (values.iter().sum::<f64>() / values.len() as f64).exp();
            let cell = analysis.cells.iter().find(|cell| cell.contender == contender).unwrap();
            let level = cell.level(&measure).unwrap().point;
            assert!((mean / level - 1.0).abs() < 1e-9, "{name}: {contender}, {measure}: {mean}, {level}");
        }
    }
}

/// A trial that others disturbed beyond the study's limit is void and was run again; the report names what is left out.
#[test]
fn a_disturbed_run_says_that_it_was() {
    let (run, analysis) = opened("disturbed");
    let again: usize =
        run.trials.iter().flat_map(|trial| &trial.record.other_load).map(|load| load.disturbed.len()).sum();
    assert!(again > 0, "no trial was run again");
    let markdown = report::markdown(&run, &analysis);
    assert!(markdown.contains("because others used"), "{markdown}");
}

#[test]
fn a_plan_is_written_back_as_it_was() {
    let written = |plan: &Plan| serde_json::to_value(plan).unwrap();
    for name in RUNS {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runs").join(name).join("plan.json");
        let text = std::fs::read_to_string(path).unwrap();
        let plan: Plan = serde_json::from_str(&text).unwrap();
        let as_it_was: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written(&plan), as_it_was, "{name}");
        for (place, cell) in plan.cells.iter().enumerate() {
            let tables = as_it_was["cells"][place]["settings"].to_string();
            assert_eq!(serde_json::to_string(&cell.settings).unwrap(), tables, "{name}: in the same order, too");
        }
    }
    let loads = ["same", "idle", "stops", "starts", "burst"];
    let made_up = [synthetic::run(1), synthetic::consolidated::run(1, None), synthetic::neighbour::run(1, &loads)]
        .map(|run| run.plan);
    for plan in made_up {
        let read: Plan = serde_json::from_value(written(&plan)).unwrap();
        assert_eq!((written(&read), &read), (written(&plan), &plan), "{}", plan.study);
        assert!(plan.cells.iter().all(|cell| cell.settings.machine().vcpus == Some(2)), "{}", plan.study);
    }
}
