//! Counters of two contenders over the measured window of one block, second by second.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look, spread};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::counted::Rate;
use analysis::counted::unit::Unit;
use analysis::explanation::{Course, Explanation};
use record::telemetry::Side;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 288.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 156.0;
const HEADROOM: f64 = 1.08;
const LABELS_APART: f64 = 13.0;

/// `None` if no counter's course is known.
pub fn figure(explanation: &Explanation) -> Option<Figure> {
    let names = [explanation.baseline.as_str(), explanation.contender.as_str()];
    let panels: Vec<Panel> = explanation.courses.iter().map(|course| Panel { svg: panel(course, names) }).collect();
    (!panels.is_empty()).then(|| Figure {
        title: "What differs most surely, over time".to_owned(),
        description:
            "Counters for each second of the measured window of the first block. They are plain readings, there to be \
                      looked at; intervals are in the table below."
                .to_owned(),
        panels,
        wide: false,
    })
}

fn panel(course: &Course, names: [&str; 2]) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let series = [&course.baseline, &course.contender];
    let all = || series.into_iter().flatten();
    let length_s = all().map(|rate| rate.at_s).fold(1.0, f64::max);
    let highest = all().map(|rate| rate.per_second).fold(0.0, f64::max) * HEADROOM;
    let across = Scale::linear((0.0, length_s), (LEFT, RIGHT));
    let up = Scale::linear((0.0, highest), (BOTTOM, TOP));
    axes(&mut canvas, across, up, (highest, length_s));
    let title = title(course);
    canvas.text("head", (LEFT, 14.0), Anchor::Start, &title);
    for (index, rates) in series.into_iter().enumerate() {
        let points = rates.iter().map(|rate| (across.at(rate.at_s), up.at(rate.per_second)));
        canvas.path(&format!("line {}", look(index)), points);
    }
    let heights = series.map(|rates| up.at(rates.last().map_or(0.0, |rate| rate.per_second)) + 4.0);
    for ((index, name), height) in names.iter().enumerate().zip(spread(&heights, LABELS_APART, BOTTOM)) {
        canvas.text(&format!("name {}", look(index)), (RIGHT + 6.0, height), Anchor::Start, &label(name));
    }
    let said: Vec<String> = names.iter().zip(series).map(|(name, rates)| format!("{name} {}", mean(rates))).collect();
    canvas.finish(&format!("{title} over time"), &format!("On average: {}.", said.join(", ")))
}

fn title(course: &Course) -> String {
    let place = match course.side {
        Side::Machine => "inside",
        Side::Host => "on the host",
    };
    let unit = match &course.unit {
        Unit::Things => String::new(),
        Unit::Milliseconds => "ms ".to_owned(),
        Unit::Bytes => "bytes ".to_owned(),
        Unit::Other(name) => format!("{name} "),
    };
    format!("{} {place}, {unit}a second", course.name)
}

fn mean(rates: &[Rate]) -> String {
    let sum: f64 = rates.iter().map(|rate| rate.per_second).sum();
    format::quantity(sum / rates.len().max(1) as f64)
}

fn axes(canvas: &mut Canvas, across: Scale, up: Scale, (highest, length_s): (f64, f64)) {
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
