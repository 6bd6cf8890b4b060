//! How a measure went over runs: one panel for the contenders' levels, one for their ratios to the baseline.

use super::chart::{Axis, Chart, POINT, Paper, Spacing};
use super::scale::ends;
use super::{DrawnSeries, Panel, look};

/// Distance from the first and last run to the ends of the axis, in runs.
const INSET: f64 = 0.5;
/// Names of measures are long, so the panel uses two lines.
const PAPER: Paper = Paper { top: 38.0, two_lines: true, ..Paper::LARGE };
/// The share of the range of values that stays free above and below.
const HEADROOM: f64 = 0.08;

/// Contenders with their indices, which decide their looks. Each has a point for each run with a value, by the number of the run, counted
/// from 1. `None` if there is nothing to draw. Runs have equal distances, whatever the time between them. At `reference` both sides of a
/// comparison are equal.
pub fn panel(
    head: &str,
    unit: &str,
    runs: usize,
    lines: &[(usize, DrawnSeries)],
    reference: Option<f64>,
) -> Option<Panel> {
    let range = range(lines, reference)?;
    let x = Axis { unit: "runs, the oldest first", range: (INSET, runs as f64 + INSET), spacing: Spacing::Linear };
    let y = Axis { unit, range, spacing: Spacing::Linear };
    let mut chart = Chart::new(PAPER, head, &x, &y);
    if let Some(reference) = reference {
        let ends = [INSET, runs as f64 + INSET].map(|end| chart.place((end, reference)));
        chart.canvas.line("reference", ends[0], ends[1]);
    }
    for (index, DrawnSeries { name, points }) in lines {
        let look = look(*index);
        chart.path(&format!("line {look}"), name, points);
        chart.points(POINT, &look, name, points.clone(), None);
        chart.name(*index, name, points.last().map(|point| point.y));
    }
    Some(chart.finish(head))
}

fn range(lines: &[(usize, DrawnSeries)], reference: Option<f64>) -> Option<(f64, f64)> {
    let points = || lines.iter().flat_map(|(_, line)| &line.points);
    let values = points().flat_map(|point| [Some(point.y), point.low, point.high]).flatten();
    let (low, high) = points().next().and_then(|_| ends(values.chain(reference)))?;
    let room = ((high - low) * HEADROOM).max(high.abs() * 1e-3);
    Some((low - room, high + room))
}
