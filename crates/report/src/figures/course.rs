//! Counters of two contenders over the measured window of one block, second by second.

use super::chart::{Axis, Chart, Paper};
use super::{Figure, Panel};
use crate::format::{self, joined};
use crate::table::id;
use analysis::counted::Rate;
use analysis::counted::unit::Unit;
use analysis::explanation::{Course, Explanation};
use record::telemetry::Side;

/// Names of counters are long, so the panel is wider.
const PAPER: Paper = Paper { width: 368.0, left: 72.0, right: 304.0, top: 34.0, two_lines: true, ..Paper::SMALL };
const HEADROOM: f64 = 1.08;

/// `None` if no counter's course is known.
pub fn figure(explanation: &Explanation) -> Option<Figure> {
    let names = [explanation.baseline.as_str(), explanation.contender.as_str()];
    let panels: Vec<Panel> = explanation.courses.iter().map(|course| panel(course, names)).collect();
    let description = "Counters in each second of the first block's measured window. These are point values; intervals are in \
            the table below.";
    Figure::of(
        id("counters-over-time", &place(explanation)),
        "Counters that differ most, over time",
        description,
        panels,
    )
}

fn panel(course: &Course, names: [&str; 2]) -> Panel {
    let series = [&course.baseline, &course.contender];
    let all = || series.into_iter().flatten();
    let length_s = all().map(|rate| rate.at_s).fold(1.0, f64::max);
    let highest = all().map(|rate| rate.per_second).fold(0.0, f64::max) * HEADROOM;
    let (title, unit) = title(course);
    let (x, y) = (Axis::from_zero("seconds", length_s), Axis::from_zero(&unit, highest));
    let mut chart = Chart::new(PAPER, &title, &x, &y);
    for ((index, name), rates) in names.iter().enumerate().zip(series) {
        chart.contender(index, name, rates.iter().map(|rate| (rate.at_s, rate.per_second)));
    }
    let said = joined(names.iter().zip(series).map(|(name, rates)| format!("{name} {}", mean(rates))), ", ");
    chart.finish(&format!("{title} over time, {unit}"), &format!("On average: {said}."))
}

/// What is counted and where, and in which unit.
fn title(course: &Course) -> (String, String) {
    let place = match course.side {
        Side::Machine => "inside",
        Side::Host => "on the host",
    };
    let unit = match &course.unit {
        Unit::Things => "a second".to_owned(),
        Unit::Milliseconds => "ms a second".to_owned(),
        Unit::Bytes => "bytes a second".to_owned(),
        Unit::Other(name) => format!("{name} a second"),
    };
    (format!("{} {place}", course.name), unit)
}

fn mean(rates: &[Rate]) -> String {
    let sum: f64 = rates.iter().map(|rate| rate.per_second).sum();
    format::quantity(sum / rates.len().max(1) as f64)
}

/// The comparison that a table or figure belongs to, for its id.
pub fn place(explanation: &Explanation) -> String {
    format!("{} {}", explanation.coordinates, explanation.contender)
}
