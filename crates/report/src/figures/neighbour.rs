//! What the others did in each second, averaged over the trials, with the time in which their neighbour worked shaded.

use super::chart::{Axis, Chart, Paper, Spacing};
use super::{Figure, Panel, look};
use crate::format::{distinct, who};
use crate::table::id;
use analysis::consolidation::Consolidation;
use analysis::consolidation::neighbour::Neighbour;
use analysis::consolidation::neighbour::parts::NeighbourWork;

/// The only line needs no name; the metric's name is long.
const PAPER: Paper = Paper { right: 308.0, top: 34.0, two_lines: true, ..Paper::SMALL };
/// Room above the highest point for the label of the shaded part.
const HEADROOM: f64 = 1.2;

/// `None` if no neighbour's load comes or goes.
pub fn figure(found: &[Consolidation]) -> Option<Figure> {
    let contenders = distinct(found.iter().map(|one| one.contender.as_str()));
    let panels = found.iter().filter_map(|one| {
        let neighbour = one.neighbour.as_ref()?;
        let place = contenders.iter().position(|name| *name == one.contender)?;
        panel(one, neighbour, neighbour.work?, &look(place))
    });
    let description = "Mean throughput of the others in each second of their measured windows, on average over the trials. In the \
                       shaded part their neighbour worked; these are point values.";
    Figure::of(id("others-over-time", ""), "The others over time", description, panels.collect())
}

fn panel(one: &Consolidation, neighbour: &Neighbour, work: NeighbourWork, look: &str) -> Option<Panel> {
    let length_s = neighbour.course.len() as f64;
    let x = Axis::of("seconds", Spacing::Linear, [length_s].into_iter(), 1.0)?;
    let y = Axis::of(&one.metric.name, Spacing::Linear, neighbour.course.iter().copied(), HEADROOM)?;
    let who = who(&one.contender, &one.coordinates);
    let mut chart = Chart::new(PAPER, &who, &x, &y);
    let said = format!("machine {} works", neighbour.machine);
    chart.shade(work.from_s.unwrap_or(0.0), work.to_s.unwrap_or(length_s), &said);
    let middles = (0..neighbour.course.len()).map(|second| second as f64 + 0.5);
    chart.line(&format!("line {look}"), who.as_str(), middles.zip(neighbour.course.iter().copied()));
    Some(chart.finish(&format!("The others over time, {who}")))
}
