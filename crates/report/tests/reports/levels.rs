//! The quotient of two levels in a table is the ratio shown with them.

use analysis::summary::analyse;
use analysis::two_runs;
use record::run::Run;
use record::synthetic;

/// Trials that differ much in speed; the fast ones did more.
fn uneven() -> Run {
    let mut run = synthetic::run(5);
    for trial in &mut run.trials {
        let slower = 1 + trial.record.id * 7 % 5;
        let intervals = trial.measured.iter_mut().flat_map(|measured| &mut measured.intervals);
        for (value_us, count) in intervals.flat_map(|interval| &mut interval.kinds).flat_map(|part| &mut part.counts) {
            *value_us *= u64::from(slower * slower);
            *count = count.div_ceil(slower);
        }
    }
    run
}

#[test]
fn in_the_table_the_ratio_of_levels_is_the_relative_one() {
    let run = uneven();
    let markdown = report::markdown(&run, &analyse(&run));
    let from = markdown.find("| | native | kvm | change |").or_else(|| markdown.find("|  | native | kvm | change |"));
    let mut compared = 0;
    for row in markdown[from.expect("a table")..].lines().skip(2).take(4) {
        let cells: Vec<&str> = row.split('|').skip(2).map(str::trim).collect();
        let level = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
        let shown = report::format::effect(level(cells[1]) / level(cells[0]));
        // Levels have three digits and changes two, so the last digit may differ by one.
        let percent = |text: &str| text.split(' ').next().unwrap().replace('−', "-").parse::<f64>().unwrap();
        assert!((percent(&shown) - percent(cells[2])).abs() <= 1.0, "{row}: {shown}");
        compared += 1;
    }
    assert_eq!(compared, 4, "throughput and three percentiles");
}

/// `bakeoff compare` shows the same levels for these trials.
#[test]
fn two_runs_are_compared_by_the_levels_of_their_reports() {
    let run = uneven();
    let analysis = analyse(&run);
    let markdown = report::markdown(&run, &analysis);
    let two = two_runs::compare(&run, &run, None).unwrap();
    let text = report::two_runs::text(&two);
    let mut compared = 0;
    for cell in &analysis.cells {
        for quantile in [0.50, 0.95, 0.99] {
            let level = report::format::milliseconds(cell.response("new-order", quantile).unwrap().point);
            assert!(markdown.contains(&format!(" {level} |")) && text.contains(&level), "{level} in {text}");
            compared += 1;
        }
    }
    assert_eq!(compared, 6);
}
