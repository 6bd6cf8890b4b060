//! A list of runs, the brief of one, and how a measure went over them.

use super::keys;
use analysis::many_runs::trend::{Trend, TrendQuery, trend};
use analysis::many_runs::{Brief, brief};
use analysis::summary::analyse;
use record::synthetic;
use report::many_runs::FolderRead;
use std::collections::BTreeSet;

/// Runs of three days. On the second day the load did less; on the third the server was a different one.
fn runs() -> Vec<Brief> {
    let on_day = |(day, per_hundred): (u32, u64)| {
        let mut run = synthetic::run(3);
        run.dir = format!("runs/202611{day:02}T020000Z-quickstart").into();
        for trial in &mut run.trials {
            trial.record.started = format!("2026-11-{day:02}T02:00:11Z");
            let kinds = trial.record.driver.iter_mut().flat_map(|driver| &mut driver.kinds).take(1);
            kinds.for_each(|kind| kind.committed = kind.committed * per_hundred / 100);
            for server in trial.record.server.iter_mut().filter(|_| day == 3) {
                "3.52.0".clone_into(&mut server.version);
            }
        }
        brief(&run, &analyse(&run))
    };
    [(1, 100), (2, 80), (3, 99)].map(on_day).into()
}

fn of_throughput() -> Trend {
    trend(&runs(), TrendQuery { measure: "throughput", ..TrendQuery::default() }).expect("runs that have it")
}

#[test]
fn the_terminal_shows_a_table_and_a_plot() {
    insta::assert_snapshot!(report::trend::text(&of_throughput()));
}

#[test]
fn a_page_draws_what_markdown_has_as_a_table() {
    let document = report::trend::document(&of_throughput());
    let (html, markdown) = (report::html::write(&document), report::markdown::write(&document.without_figures()));
    // Each of two contenders has three points with an interval, and one of them has three ratios.
    assert_eq!(html.matches("<circle class=\"point ").count(), 9);
    assert_eq!(html.matches("<line class=\"bar ").count(), 27);
    assert_eq!(html.matches("<line class=\"reference\"").count(), 1);
    assert!(!markdown.contains("report.html"), "{markdown}");
    for part in ["20261102T020000Z-quickstart", "mean over runs", "server was "] {
        assert!(html.contains(part) && markdown.contains(part), "{part}: {markdown}");
    }
}

/// Response times are kept in microseconds and shown in milliseconds.
#[test]
fn a_figure_is_in_the_unit_of_its_title() {
    let trend = trend(&runs(), TrendQuery { measure: "response.p50/new-order", ..TrendQuery::default() }).unwrap();
    let html = report::html::write(&report::trend::document(&trend));
    assert!(
        html.contains(">new-order p50, ms</text>") && html.contains("<desc>native: 2.52, 2.52, 2.52; kvm"),
        "{html}"
    );
    assert!(html.contains(">Relative to the baseline of each run</text>"));
}

#[test]
fn a_table_for_spreadsheets_has_a_line_for_each_run_and_contrast() {
    let table = report::trend::csv(&of_throughput()).unwrap();
    let mut lines = csv::Reader::from_reader(&table[..]);
    let lines: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 9);
    for line in &lines {
        let number = |place: usize| line[place].parse::<f64>().unwrap();
        assert!(number(11) < number(9) && number(9) < number(12), "{line:?}");
    }
    assert_eq!(lines.iter().filter(|line| &line[8] == "native").count(), 3);
}

#[test]
fn a_list_names_every_run_and_what_is_wrong_with_it() {
    let mut brief = runs().remove(0);
    let damaged = FolderRead::Damaged { run: "b\x1b[2J".to_owned(), why: "b/plan.json: no\x07".to_owned() };
    let mut entries = vec![FolderRead::Read(brief.clone()), damaged];
    brief.run = "c".to_owned();
    brief.cells[1].wrong_data = true;
    entries.push(FolderRead::Read(brief.clone()));
    brief.cells.truncate(1);
    entries.push(FolderRead::Read(brief));
    insta::assert_snapshot!(report::many_runs::list(&entries));
}

#[test]
fn what_is_kept_of_a_run_can_be_shown_for_one_measure() {
    let brief = runs().remove(2);
    insta::assert_snapshot!(report::many_runs::show(&brief, |id| id.starts_with("response.p50/")));
}

#[test]
fn every_key_of_what_is_told_of_many_runs_is_described() {
    let mut found = BTreeSet::new();
    let trend = of_throughput();
    let damaged = FolderRead::Damaged { run: "b".to_owned(), why: "no plan".to_owned() };
    let entries: Vec<FolderRead> = runs().into_iter().map(FolderRead::Read).chain([damaged]).collect();
    let list: Vec<_> = entries.iter().map(report::many_runs::listed).collect();
    keys(&serde_json::to_value(&list).unwrap(), &mut found);
    keys(&serde_json::to_value(&trend).unwrap(), &mut found);
    let mut brief = runs().remove(0);
    brief.host.clear();
    keys(&serde_json::to_value(&brief).unwrap(), &mut found);
    assert!(found.contains("mean_contrast") && found.contains("answer"), "{found:?}");
    super::all_are_described(&found);
}
