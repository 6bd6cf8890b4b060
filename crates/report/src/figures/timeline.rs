//! Throughput over time: every block of every contender as a thin line, and their mean as a thick one.

use super::chart::{Axis, Chart, Paper};
use super::{Figure, Panel, look};
use crate::format::{self, joined};
use crate::table::id;
use analysis::batches::Second;
use analysis::cells::CellResult;
use analysis::steadiness::Settled;
use analysis::throughput::TrialThroughput;
use std::collections::BTreeMap;

const MARK_RADIUS: f64 = 3.0;

/// Room above the highest line, for the label of the shaded part.
const HEADROOM: f64 = 1.15;

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let seconds = || cells.iter().flat_map(|cell| &cell.trials).flat_map(|trial| &trial.seconds);
    let highest = seconds().map(|second| second.rate).fold(0.0, f64::max);
    let length_s = seconds().map(end_s).fold(0.0, f64::max);
    if highest <= 0.0 {
        return None;
    }
    let unit = cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput");
    let (x, y) = (Axis::from_zero("seconds", length_s), Axis::from_zero(unit, highest * HEADROOM));
    let has_dots = cells.iter().flat_map(|cell| &cell.trials).any(|trial| settled_at_s(trial).is_some());
    let dots = if has_dots { " A dot on the axis is where MSER-5 would begin to measure." } else { "" };
    let description = format!(
        "{unit} in each second since driving began. Thin lines are single blocks, the thick one is their mean. The shaded \
         part is the warm-up, which does not count.{dots}"
    );
    let id = id("throughput-over-time", &cells[0].coordinates);
    Figure::of(id, "Throughput over time", description, vec![panel(cells, &x, &y)])
}

fn end_s(second: &Second) -> f64 {
    second.start_ms as f64 / 1000.0 + 1.0
}

fn panel(cells: &[&CellResult], x: &Axis<'_>, y: &Axis<'_>) -> Panel {
    let mut chart = Chart::new(Paper::WIDE, "", x, y);
    let trials = || cells.iter().flat_map(|cell| &cell.trials);
    let warmup_s = trials().filter_map(|trial| measured_from_s(&trial.seconds)).fold(f64::INFINITY, f64::min);
    if warmup_s.is_finite() && warmup_s > 0.0 {
        chart.shade(0.0, warmup_s, "warm-up");
    }
    let mut said = Vec::new();
    for (index, cell) in cells.iter().enumerate() {
        let (own, name) = (look(index), cell.contender.as_str());
        for trial in cell.trials.iter().filter(|trial| !trial.seconds.is_empty()) {
            draw(&mut chart, &own, name, trial);
        }
        let mean = mean(cell);
        if !mean.is_empty() {
            chart.line(&format!("line mean {own}"), name, mean.iter().copied());
            chart.name(index, name, mean.last().map(|last| last.1));
        }
        let value = cell.throughput().map_or_else(|| "nothing".to_owned(), |level| format::quantity(level.point));
        said.push(format!("{name} {value}"));
    }
    let description = format!("In the measured windows, {}: {}.", y.unit, joined(said, ", "));
    chart.finish("Throughput over time", &description)
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

fn measured_from_s(seconds: &[Second]) -> Option<f64> {
    seconds.iter().find(|second| second.measured).map(|second| second.start_ms as f64 / 1000.0)
}

/// A trial as a thin line, with a dot where MSER-5 says that it settles.
fn draw(chart: &mut Chart, look: &str, contender: &str, trial: &TrialThroughput) {
    let (faded, not) = if trial.valid { ("", "") } else { (" faded", ", does not count") };
    let middles = trial.seconds.iter().map(|second| (second.start_ms as f64 / 1000.0 + 0.5, second.rate));
    chart.line(&format!("line thin {look}{faded}"), format!("{contender}, block {}{not}", trial.block), middles);
    if let Some(settled) = settled_at_s(trial) {
        chart.dot(look, format!("{contender}, block {}, settled by MSER-5", trial.block), (settled, 0.0), MARK_RADIUS);
    }
}

fn settled_at_s(trial: &TrialThroughput) -> Option<f64> {
    match trial.steadiness.settled {
        Settled::At { start_ms, .. } if !trial.seconds.is_empty() => Some(start_ms as f64 / 1000.0),
        _ => None,
    }
}
