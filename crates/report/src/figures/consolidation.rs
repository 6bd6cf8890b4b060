//! What each machine did in each block, cell by cell, with the minimum marked.

use super::chart::{Axis, BLOCK, Chart, POINT, Spacing};
use super::{Figure, Point, label, look_in_group};
use crate::format::who;
use crate::table::id;
use analysis::consolidation::Consolidation;
use analysis::summary::Analysis;

/// Height of a cell with few machines, what each further machine adds, and the height of a cell with many.
const LEAST_ROW: f64 = 40.0;
const EACH_MACHINE: f64 = 10.0;
const MOST_ROW: f64 = 160.0;
/// Room between two cells.
const BETWEEN: f64 = 12.0;
const HEADROOM: f64 = 1.05;

/// `None` if no trial has scores.
pub fn figure(analysis: &Analysis, all: &[&Consolidation]) -> Option<Figure> {
    let found: Vec<&Consolidation> = all.iter().copied().filter(|one| !one.trials.is_empty()).collect();
    let unit = &found.first()?.metric.name;
    let rates = found.iter().flat_map(|one| &one.trials).flat_map(|trial| &trial.machines).map(|(_, rate)| *rate);
    let axis = Axis::of(unit, Spacing::Linear, rates, HEADROOM)?;
    let height = |one: &Consolidation| (EACH_MACHINE * lanes(one) + BETWEEN).clamp(LEAST_ROW, MOST_ROW);
    let heights: Vec<f64> = found.iter().map(|one| height(one)).collect();
    let mut chart = Chart::rows("Each machine in each block", unit, &axis, "block", heights.iter().sum(), 0);
    let mut top = chart.top();
    for (one, height) in found.iter().zip(heights) {
        draw(&mut chart, one, &look_in_group(analysis, &one.coordinates, one.cell), (top, height));
        top += height;
    }
    let panel = chart.finish("What each machine did");
    let description = "Small points are what each machine did in each block, machine 1 on top. The large point below them is the \
                       minimum over machines, the bar its 95 % confidence interval over blocks.";
    Figure::of(id("machines-side-by-side", ""), "Machines side by side", description, vec![panel])
}

/// One lane for each machine, and one below them for the minimum.
fn lanes(one: &Consolidation) -> f64 {
    one.machines as f64 + 1.0
}

fn draw(chart: &mut Chart, one: &Consolidation, look: &str, (top, height): (f64, f64)) {
    chart.row_label(top + height / 2.0, &label(&one.contender), &label(&one.coordinates));
    let lane = (height - BETWEEN) / lanes(one);
    let in_lane = |place: f64| top + BETWEEN / 2.0 + lane * (place + 0.5);
    for (place, slot) in one.slots.iter().enumerate() {
        let rates = one.trials.iter().filter_map(|trial| Some((trial.block, trial.machines.get(place)?.1)));
        let points = rates.map(|(block, rate)| Point::new(block.into(), rate)).collect();
        let name = format!("{}, machine {}", who(&one.contender, &one.coordinates), slot.machine);
        chart.points(BLOCK, look, name, points, Some(in_lane(place as f64)));
    }
    let Some(minimum) = &one.minimum else { return };
    let (at, below) = (chart.across.at(minimum.point), in_lane(one.machines as f64));
    chart.canvas.line(&format!("level {look}"), (at, top + 2.0), (at, below));
    let name = format!("{}, minimum", who(&one.contender, &one.coordinates));
    chart.points(POINT, look, name, vec![Point::of(None, minimum)], Some(below));
}
