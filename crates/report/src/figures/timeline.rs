//! Throughput over time: every block of every contender as a thin line, and their mean as a thick one.

use super::chart::{Axis, Chart, Paper, Spacing};
use super::{Figure, Panel, look};
use crate::sections::comparison::metric_of;
use crate::table::id;
use analysis::batches::BatchSecond;
use analysis::cells::CellResult;
use analysis::throughput::TrialThroughput;
use std::collections::BTreeMap;

/// Room above the highest line, for the label of the shaded part.
const HEADROOM: f64 = 1.15;

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let seconds = || cells.iter().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.seconds);
    let unit = metric_of(cells).unwrap_or("throughput");
    let x = Axis::of("seconds", Spacing::Linear, seconds().map(|second| start_s(second) + 1.0), 1.0)?;
    let y = Axis::of(unit, Spacing::Linear, seconds().map(|second| second.rate), HEADROOM)?;
    let description = format!(
        "{unit} in each second since driving began. Thin lines are single blocks, the thick one is their mean. The shaded \
         part is the warm-up, which does not count."
    );
    let id = id("throughput-over-time", &cells[0].coordinates);
    Figure::of(id, "Throughput over time", description, vec![panel(cells, &x, &y)])
}

fn start_s(second: &BatchSecond) -> f64 {
    second.start_ms as f64 / 1000.0
}

fn panel(cells: &[&CellResult], x: &Axis<'_>, y: &Axis<'_>) -> Panel {
    let mut chart = Chart::new(Paper::WIDE, "", x, y);
    let measured = |trial: &TrialThroughput| trial.seconds.iter().find(|second| second.measured).map(start_s);
    let warmup_s = cells.iter().flat_map(|cell| &cell.trials).filter_map(measured).reduce(f64::min);
    if let Some(warmup_s) = warmup_s.filter(|length| *length > 0.0) {
        chart.shade(0.0, warmup_s, "warm-up");
    }
    for (index, cell) in cells.iter().enumerate() {
        let (own, name) = (look(index), cell.contender.as_str());
        for trial in cell.trials.iter().filter(|trial| !trial.seconds.is_empty()) {
            let (faded, not) = if trial.valid { ("", "") } else { (" faded", ", does not count") };
            let middles = trial.seconds.iter().map(|second| (start_s(second) + 0.5, second.rate));
            chart.line(&format!("line thin {own}{faded}"), format!("{name}, block {}{not}", trial.block), middles);
        }
        let mean = mean(cell);
        if !mean.is_empty() {
            chart.line(&format!("line mean {own}"), name, mean.iter().copied());
            chart.name(index, name, mean.last().map(|last| last.1));
        }
    }
    chart.finish("Throughput over time")
}

/// The mean of the valid trials, second by second, as far as all of them go.
fn mean(cell: &CellResult) -> Vec<(f64, f64)> {
    let counted: Vec<&TrialThroughput> =
        cell.trials.iter().filter(|trial| trial.valid && !trial.seconds.is_empty()).collect();
    let mut sums: BTreeMap<u64, (f64, usize)> = BTreeMap::new();
    for second in counted.iter().flat_map(|trial| &trial.seconds) {
        let sum = sums.entry(second.start_ms / 1000).or_default();
        (sum.0, sum.1) = (sum.0 + second.rate, sum.1 + 1);
    }
    let full = sums.into_iter().filter(|(_, (_, trials))| *trials == counted.len());
    full.map(|(second, (sum, trials))| (second as f64 + 0.5, sum / trials as f64)).collect()
}
