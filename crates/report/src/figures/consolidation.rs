//! What each machine did in each block, cell by cell, with the minimum marked.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look};
use crate::document::{Figure, Panel};
use crate::format;
use crate::sections::consolidation::has_scores;
use analysis::consolidation::Consolidation;
use analysis::summary::Analysis;

const WIDTH: f64 = 400.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
/// Height of a cell of few machines, and what each further one takes up to the height of a cell of many.
const LEAST_ROW: f64 = 40.0;
const EACH_MACHINE: f64 = 10.0;
const MOST_ROW: f64 = 160.0;
/// Room between two cells.
const BETWEEN: f64 = 12.0;
const DOT_RADIUS: f64 = 2.5;
const POINT_RADIUS: f64 = 4.0;
const HEADROOM: f64 = 1.05;

/// `None` if no trial has scores.
pub fn figure(analysis: &Analysis) -> Option<Figure> {
    let found: Vec<&Consolidation> =
        analysis.consolidation.iter().filter(|one| has_scores(one) && !one.trials.is_empty()).collect();
    let unit = &found.first()?.metric.name;
    let rates = || found.iter().flat_map(|one| &one.trials).flat_map(|trial| &trial.machines).map(|(_, rate)| *rate);
    let highest = rates().fold(0.0, f64::max) * HEADROOM;
    let heights: Vec<f64> = found.iter().map(|one| height(one)).collect();
    let bottom = TOP + heights.iter().sum::<f64>();
    let mut canvas = Canvas::new(WIDTH, bottom + 30.0);
    let across = Scale::linear((0.0, highest), (LEFT, RIGHT));
    canvas.text("head", (0.0, 14.0), Anchor::Start, "Each machine in each block");
    canvas.text("small", (RIGHT, 14.0), Anchor::End, unit);
    for tick in ticks(0.0, highest, 5.0) {
        canvas.line(if tick == 0.0 { "axis" } else { "grid" }, (across.at(tick), TOP), (across.at(tick), bottom));
        canvas.text("tick", (across.at(tick), bottom + 17.0), Anchor::Middle, &format::quantity(tick));
    }
    let mut top = TOP;
    for (one, height) in found.iter().zip(heights) {
        draw(&mut canvas, one, &look_of(analysis, one), across, (top, height));
        top += height;
    }
    let said: Vec<String> = found.iter().map(|one| said(one)).collect();
    let svg = canvas.finish("What each machine did", &format!("{}.", said.join("; ")));
    Some(Figure {
        title: "Machines side by side".to_owned(),
        description:
            "Small points are what each machine did in each block, machine 1 on top. The large point below them is the \
                      minimum over machines, the bar its 95 % interval over blocks."
                .to_owned(),
        panels: vec![Panel { svg }],
        wide: true,
    })
}

fn height(one: &Consolidation) -> f64 {
    (EACH_MACHINE * lanes(one) + BETWEEN).clamp(LEAST_ROW, MOST_ROW)
}

/// One for each machine, and one below them for the minimum.
fn lanes(one: &Consolidation) -> f64 {
    one.machines as f64 + 1.0
}

/// The look that the contender has in the other figures: its place among the cells of its group.
fn look_of(analysis: &Analysis, one: &Consolidation) -> String {
    let group = analysis.cells.iter().filter(|cell| cell.coordinates == one.coordinates);
    look(group.enumerate().find(|(_, cell)| cell.cell == one.cell).map_or(0, |(index, _)| index))
}

fn draw(canvas: &mut Canvas, one: &Consolidation, look: &str, across: Scale, (top, height): (f64, f64)) {
    let middle = top + height / 2.0;
    canvas.text("label", (0.0, middle - 2.0), Anchor::Start, &label(&one.contender));
    canvas.text("small", (0.0, middle + 12.0), Anchor::Start, &label(&one.coordinates));
    let lane = (height - BETWEEN) / lanes(one);
    let in_lane = |place: f64| top + BETWEEN / 2.0 + lane * (place + 0.5);
    for trial in &one.trials {
        for (place, (_, rate)) in trial.machines.iter().enumerate() {
            canvas.circle(&format!("block {look}"), (across.at(*rate), in_lane(place as f64)), DOT_RADIUS);
        }
    }
    let Some(minimum) = &one.scores.minimum else { return };
    let (at, below) = (across.at(minimum.point), in_lane(one.machines as f64));
    canvas.line(&format!("level {look}"), (at, top + 2.0), (at, below));
    if let Some((low, high)) = minimum.bounds.known() {
        canvas.line(&format!("bar {look}"), (across.at(low), below), (across.at(high), below));
    }
    canvas.circle(&format!("point {look}"), (at, below), POINT_RADIUS);
}

fn said(one: &Consolidation) -> String {
    let machines: Vec<String> = one
        .slots
        .iter()
        .filter_map(|slot| {
            Some(format!("machine {} {}", slot.machine, format::quantity(slot.throughput.as_ref()?.point)))
        })
        .collect();
    let minimum = one.scores.minimum.as_ref().map_or_else(|| "–".to_owned(), |found| format::quantity(found.point));
    format!("{}: {}, minimum {minimum}", crate::consolidation::who(one), machines.join(", "))
}
