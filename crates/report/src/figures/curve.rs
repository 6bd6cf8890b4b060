//! Lines of contenders over one thing: throughput over clients, a queue or counters over time, response times over percentiles.

use super::chart::{Axis, Chart, POINT, Paper, Spacing};
use super::{Figure, Panel, Point, look};
use crate::format::grouped_by;
use crate::table::id;
use analysis::cells::CellResult;
use analysis::counted::unit::CountedUnit;
use analysis::explanation::{CounterCourse, Explanation};
use record::intervals::Span;
use record::telemetry::Side;

const HEADROOM: f64 = 1.08;
/// Names of counters are long, so their panels are wider.
const OF_COUNTERS: Paper = Paper { width: 368.0, left: 72.0, right: 304.0, top: 34.0, two_lines: true, ..Paper::SMALL };

/// The line of one contender in a panel.
pub struct Curve<'a> {
    /// The heading of the panel: its block, its kind of transaction, its counter.
    pub head: String,
    /// The contender's index, which decides its look.
    pub index: usize,
    pub contender: &'a str,
    /// Sorted from left to right.
    pub points: Vec<(f64, f64)>,
    /// A point to highlight.
    pub mark: Option<(f64, f64)>,
}

/// One panel for each heading, all with the same axes; none if there is nothing to draw.
pub fn panels(paper: Paper, curves: &[Curve<'_>], [across, up]: [(&str, Spacing); 2]) -> Vec<Panel> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Axis::of(across.0, across.1, points().map(|point| point.0), 1.0);
    let y = Axis::of(up.0, up.1, points().map(|point| point.1), HEADROOM);
    let Some((x, y)) = x.zip(y) else { return Vec::new() };
    let of_head = |curves: &Vec<&Curve<'_>>| {
        let mut chart = Chart::new(paper, &curves[0].head, &x, &y);
        for Curve { index, contender, points, mark, .. } in curves {
            chart.name(*index, contender, points.last().map(|last| last.1));
            chart.line(&format!("line {}", look(*index)), *contender, points.iter().copied());
            if let Some(mark) = mark {
                chart.points(
                    POINT,
                    &look(*index),
                    format!("{contender}, chosen"),
                    vec![Point::new(mark.0, mark.1)],
                    None,
                );
            }
        }
        chart.finish(&format!("{}: {} over {}", curves[0].head, y.unit, x.unit))
    };
    grouped_by(curves, |curve| &curve.head).iter().map(of_head).collect()
}

/// The distribution of response times of each kind. Both axes are logarithmic, so that the tail has as much room as the middle.
pub fn of_response_times(cells: &[&CellResult]) -> Option<Figure> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        let drawn = cell.latency.iter().filter(|one| one.span == Span::Response && one.curve.len() > 1);
        drawn.map(move |latency| {
            let points = latency.curve.iter().map(|point| (point.quantile, point.value_us as f64 / 1000.0));
            let head = latency.kind.clone();
            Curve { head, index, contender: &cell.contender, points: points.collect(), mark: None }
        })
    });
    let axes = [("quantile", Spacing::Rarity), ("ms", Spacing::Logarithmic)];
    let panels = panels(Paper::SMALL, &curves.collect::<Vec<_>>(), axes);
    let description = "Response time over percentile, both on logarithmic axes, for each kind of transaction. All trials \
            together; point values.";
    let id = id("distribution-of-response-times", &cells.first()?.coordinates);
    Figure::of(id, "Response times", description, panels)
}

/// Counters of two contenders over the measured window of one block, second by second.
pub fn of_counters(explanation: &Explanation) -> Option<Figure> {
    let panels = explanation.courses.iter().flat_map(|course| {
        let (head, unit) = counter(course);
        let of = [(&explanation.baseline, &course.baseline), (&explanation.contender, &course.contender)];
        let curves = of.into_iter().enumerate().map(|(index, (contender, rates))| {
            let points = rates.iter().map(|rate| (rate.at_s, rate.per_second)).collect();
            Curve { head: head.clone(), index, contender, points, mark: None }
        });
        let axes = [("seconds", Spacing::Linear), (unit.as_str(), Spacing::Linear)];
        panels(OF_COUNTERS, &curves.collect::<Vec<_>>(), axes)
    });
    let description = "Counters in each second of the first block's measured window. These are point values; intervals are in \
            the table below.";
    let id = id("counters-over-time", &place(explanation));
    Figure::of(id, "Counters that differ most, over time", description, panels.collect())
}

/// The counter, its side and its unit.
fn counter(course: &CounterCourse) -> (String, String) {
    let place = match course.side {
        Side::Machine => "inside",
        Side::Host => "on the host",
    };
    let unit = match &course.unit {
        CountedUnit::Things => "a second".to_owned(),
        CountedUnit::Milliseconds => "ms a second".to_owned(),
        CountedUnit::Bytes => "bytes a second".to_owned(),
        CountedUnit::Other(name) => format!("{name} a second"),
    };
    (format!("{} {place}", course.name), unit)
}

/// The comparison that a table or figure belongs to, for its id.
pub fn place(explanation: &Explanation) -> String {
    format!("{} {}", explanation.coordinates, explanation.contender)
}
