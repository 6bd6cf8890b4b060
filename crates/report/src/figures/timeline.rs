//! Throughput over time: one panel for each block, so that drift and disturbances can be seen where they happened.

use super::chart::{Axis, Chart, Paper};
use super::{Figure, Panel, look};
use crate::format;
use crate::table::id;
use analysis::batches::Second;
use analysis::cells::CellResult;
use analysis::steadiness::Settled;
use analysis::throughput::TrialThroughput;
use std::collections::BTreeSet;

const MARK_RADIUS: f64 = 3.0;

/// Room above the highest line, for the word in the shaded part.
const HEADROOM: f64 = 1.15;

/// What one contender did in one block.
struct Line<'a> {
    index: usize,
    contender: &'a str,
    trial: &'a TrialThroughput,
}

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let lines: Vec<Line<'_>> = cells.iter().enumerate().flat_map(lines_of).collect();
    let seconds = || lines.iter().flat_map(|line| &line.trial.seconds);
    let highest = seconds().map(|second| second.rate).fold(0.0, f64::max);
    let length_s = seconds().map(end_s).fold(0.0, f64::max);
    if lines.is_empty() || highest <= 0.0 {
        return None;
    }
    let blocks: BTreeSet<u32> = lines.iter().map(|line| line.trial.block).collect();
    let unit = cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput");
    let (x, y) = (Axis::from_zero("seconds", length_s), Axis::from_zero(unit, highest * HEADROOM));
    let panels = blocks.into_iter().map(|block| {
        let own: Vec<&Line<'_>> = lines.iter().filter(|line| line.trial.block == block).collect();
        panel(block, &own, &x, &y)
    });
    let description = format!(
        "{unit}, second by second, since driving began. Each panel is a block. The shaded part is warm-up and does not \
         count; the thin level line is the figure of the measured window. A dot on the axis is where MSER-5 would begin."
    );
    let id = id("throughput-over-time", &cells[0].coordinates);
    Figure::of(id, "Throughput over time", description, panels.collect())
}

fn lines_of<'a>((index, cell): (usize, &&'a CellResult)) -> Vec<Line<'a>> {
    let drawn = cell.trials.iter().filter(|trial| !trial.seconds.is_empty());
    drawn.map(|trial| Line { index, contender: &cell.contender, trial }).collect()
}

fn end_s(second: &Second) -> f64 {
    second.start_ms as f64 / 1000.0 + 1.0
}

fn panel(block: u32, lines: &[&Line<'_>], x: &Axis<'_>, y: &Axis<'_>) -> Panel {
    let mut chart = Chart::new(Paper::SMALL, &format!("Block {block}"), x, y);
    let warmup_s = lines.iter().filter_map(|line| measured_from_s(&line.trial.seconds)).fold(f64::INFINITY, f64::min);
    if warmup_s.is_finite() && warmup_s > 0.0 {
        chart.shade(0.0, warmup_s, "warm-up");
    }
    for line in lines {
        draw(&mut chart, line);
    }
    let last = |line: &Line<'_>| line.trial.value.or_else(|| line.trial.seconds.last().map(|second| second.rate));
    let names: Vec<_> =
        lines.iter().map(|line| (line.index, line.contender, Some(last(line).unwrap_or(0.0)))).collect();
    chart.names(&names);
    let said = lines.iter().map(|line| {
        let value = line.trial.value.map_or_else(|| "nothing".to_owned(), format::quantity);
        format!("{} {value}{}", line.contender, if line.trial.valid { "" } else { " (does not count)" })
    });
    let (said, unit) = (said.collect::<Vec<_>>().join(", "), y.unit);
    chart.finish(&format!("Throughput in block {block}"), &format!("In the measured window, {unit}: {said}."))
}

fn measured_from_s(seconds: &[Second]) -> Option<f64> {
    seconds.iter().find(|second| second.measured).map(|second| second.start_ms as f64 / 1000.0)
}

fn draw(chart: &mut Chart, line: &Line<'_>) {
    let (seconds, look, name) = (&line.trial.seconds, look(line.index), line.contender);
    let faded = if line.trial.valid { "" } else { " faded" };
    let middles = seconds.iter().map(|second| (second.start_ms as f64 / 1000.0 + 0.5, second.rate));
    chart.line(&format!("line {look}{faded}"), name, middles);
    if let (Some(value), Some(from_s)) = (line.trial.value, measured_from_s(seconds)) {
        let to_s = seconds.iter().filter(|second| second.measured).map(end_s).fold(0.0, f64::max);
        let window = [(from_s, value), (to_s, value)];
        chart.line(&format!("level {look}{faded}"), format!("{name}, measured window"), window);
    }
    // On the axis of time, where MSER-5 would begin; as far as it says.
    if let Settled::At { start_ms, .. } = line.trial.steadiness.settled {
        chart.dot(&look, format!("{name}, settled by MSER-5"), (start_ms as f64 / 1000.0, 0.0), MARK_RADIUS);
    }
}
