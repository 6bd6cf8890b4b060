//! What a reader divides in a table is what stands below it.

use analysis::summary::analyse;
use analysis::two_runs;
use record::run::Run;
use record::synthetic;

/// Trials that differ much in how fast they were, and the fast ones did more.
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

/// The first number of each cell of a row but the first.
fn numbers(row: &str) -> Vec<f64> {
    let number = |cell: &str| cell.split_whitespace().next()?.replace(',', "").parse().ok();
    row.split('|').skip(2).filter_map(number).collect()
}

#[test]
fn in_the_table_the_ratio_of_levels_is_the_relative_one() {
    let run = uneven();
    let markdown = report::markdown(&run, &analyse(&run));
    let from = markdown.find("## Comparison").expect("a section");
    let lines: Vec<&str> = markdown[from..].lines().take_while(|line| !line.starts_with("*Below")).collect();
    let mut compared = 0;
    for pair in lines.windows(2).filter(|pair| pair[1].starts_with("| relative ")) {
        let (levels, ratios) = (numbers(pair[0]), numbers(pair[1]));
        // Three digits of each are shown.
        let apart = levels[1] / levels[0] / ratios[1] - 1.0;
        assert!(apart.abs() < 0.015, "{pair:?}");
        compared += 1;
    }
    assert_eq!(compared, 4, "throughput and three percentiles");
}

/// And what `bakeoff compare` says of the same trials.
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
            assert!(markdown.contains(&format!(" {level} (")) && text.contains(&level), "{level} in {text}");
            compared += 1;
        }
    }
    assert_eq!(compared, 6);
}
