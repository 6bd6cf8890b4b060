//! What the others did in each second, on average over the trials, with the time shaded in which their neighbour worked.

use super::look;
use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::consolidation::Consolidation;
use analysis::consolidation::neighbour::Neighbour;
use analysis::consolidation::neighbour::parts::Work;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = HEIGHT - 36.0;
/// Room above the highest point, for the words in the shaded part.
const HEADROOM: f64 = 1.2;

/// `None` if no neighbour's load comes or goes.
pub fn figure(found: &[Consolidation]) -> Option<Figure> {
    let mut contenders: Vec<&str> = Vec::new();
    for one in found {
        if !contenders.contains(&one.contender.as_str()) {
            contenders.push(&one.contender);
        }
    }
    let panels = found.iter().filter_map(|one| {
        let neighbour = one.neighbour.as_ref()?;
        let place = contenders.iter().position(|name| *name == one.contender)?;
        panel(one, neighbour, neighbour.work?, &look(place))
    });
    let panels: Vec<Panel> = panels.collect();
    (!panels.is_empty()).then(|| Figure {
        title: "The others over time".to_owned(),
        description: "Mean throughput of the others in each second of their measured windows, on average over the trials. In the \
                      shaded part their neighbour worked; these are plain readings."
            .to_owned(),
        panels,
        wide: false,
    })
}

fn panel(one: &Consolidation, neighbour: &Neighbour, work: Work, look: &str) -> Option<Panel> {
    let highest = neighbour.course.iter().copied().fold(0.0, f64::max) * HEADROOM;
    if highest <= 0.0 {
        return None;
    }
    let length_s = neighbour.course.len() as f64;
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let across = Scale::linear((0.0, length_s), (LEFT, RIGHT));
    let up = Scale::linear((0.0, highest), (BOTTOM, TOP));
    let (from_s, to_s) = (work.from_s.unwrap_or(0.0), work.to_s.unwrap_or(length_s));
    let (from, to) = (across.at(from_s), across.at(to_s));
    canvas.rectangle("shade", (from, TOP), (to - from, BOTTOM - TOP));
    axes(&mut canvas, (across, length_s), (up, highest));
    let said = format!("machine {} works", neighbour.machine);
    canvas.text("small", (f64::midpoint(from, to), TOP + 12.0), Anchor::Middle, &said);
    canvas.text("head", (LEFT, 14.0), Anchor::Start, &crate::consolidation::who(one));
    canvas.text("small", (LEFT, 28.0), Anchor::Start, &one.metric.name);
    let middles = (0..neighbour.course.len()).map(|second| second as f64 + 0.5);
    let points = middles.zip(&neighbour.course).map(|(at_s, rate)| (across.at(at_s), up.at(*rate)));
    canvas.path(&format!("line {look}"), points);
    let described = crate::neighbour::headline(one).unwrap_or_default();
    Some(Panel { svg: canvas.finish(&format!("The others over time, {}", crate::consolidation::who(one)), &described) })
}

fn axes(canvas: &mut Canvas, (across, length_s): (Scale, f64), (up, highest): (Scale, f64)) {
    for tick in ticks(0.0, highest, 4.0) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        canvas.line(class, (LEFT, up.at(tick)), (RIGHT, up.at(tick)));
        canvas.text("tick", (LEFT - 6.0, up.at(tick) + 4.0), Anchor::End, &format::quantity(tick));
    }
    for tick in ticks(0.0, length_s, 5.0) {
        canvas.line("axis", (across.at(tick), BOTTOM), (across.at(tick), BOTTOM + 4.0));
        let text = format!("{}{}", format::decimal(tick, 0), if tick == 0.0 { " s" } else { "" });
        canvas.text("tick", (across.at(tick), BOTTOM + 17.0), Anchor::Middle, &text);
    }
}
