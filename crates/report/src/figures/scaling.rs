//! Throughput over vCPUs, clients or another number: a point with its interval for each size, and the fitted law as a line.

use super::chart::{Axis, Chart, POINT, Paper, Spacing};
use super::{Figure, Panel, Point, look};
use crate::table::id;
use analysis::scaling::Scaling;
use record::settings::key;

const HEADROOM: f64 = 1.08;

/// The highest drawn value, at most, as a multiple of the highest point.
const MOST_ABOVE: f64 = 1.6;

/// One panel for each group of curves over the same sizes.
pub fn figure(groups: &[Vec<&Scaling>], contenders: &[&str]) -> Option<Figure> {
    let panels: Vec<Panel> = groups.iter().filter_map(|group| panel(group, contenders)).collect();
    let points = "Points are geometric means over blocks, bars their 95 % confidence intervals.";
    let lines = " Lines are the fitted Universal Scalability Law, drawn only where it was fitted.";
    let has_law = groups.iter().flatten().any(|curve| curve.universal.is_some());
    let description = format!("{points}{}", if has_law { lines } else { "" });
    Figure::of(id("throughput-over-size", ""), "Throughput over size", &description, panels)
}

fn panel(curves: &[&Scaling], contenders: &[&str]) -> Option<Panel> {
    let first = curves.first()?;
    let measured = |curve: &Scaling| -> Vec<Point> {
        let points = curve.points.iter();
        points.filter_map(|point| Some(Point::of(Some(point.size), point.throughput.as_ref()?))).collect()
    };
    let all: Vec<Point> = curves.iter().flat_map(|curve| measured(curve)).collect();
    // A wide interval must not press all points to the bottom; its bar then runs out of the frame.
    let highest = MOST_ABOVE * all.iter().map(|point| point.y).fold(0.0, f64::max);
    let ends = all.iter().map(|point| point.high.unwrap_or(point.y).min(highest));
    let head = if first.held.is_empty() { "Throughput" } else { &first.held };
    let (name, axis) = (of_slowest(first, &first.metric.name), plural(&first.axis));
    let sizes = curves.iter().flat_map(|curve| &curve.points).map(|point| point.size);
    let x = Axis::of(axis, Spacing::Linear, sizes, 1.0)?;
    let y = Axis::of(&name, Spacing::Linear, ends, HEADROOM)?;
    let mut chart = Chart::new(Paper::LARGE, head, &x, &y);
    for curve in curves {
        let index = contenders.iter().position(|name| *name == curve.contender).unwrap_or(0);
        let (look, points) = (look(index), measured(curve));
        if let Some(law) = &curve.universal {
            let points = law.curve.iter().map(|point| (point.size, point.throughput));
            chart.line(&format!("line {look}"), format!("{}, fitted", curve.contender), points);
        }
        chart.name(index, &curve.contender, points.last().map(|point| point.y));
        chart.points(POINT, &look, &curve.contender, points, None);
    }
    Some(chart.finish(&format!("{name} over {axis}")))
}

/// Over numbers of machines, the metric is the minimum.
pub fn of_slowest(curve: &Scaling, metric: &str) -> String {
    if curve.axis == key::COUNT { format!("{metric}, of the slowest machine") } else { metric.to_owned() }
}

/// The name of what grows, in the plural.
pub fn plural(axis: &str) -> &str {
    match axis {
        key::VCPUS => "vCPUs",
        key::COUNT => "machines",
        other => other.rsplit('.').next().unwrap_or(other),
    }
}
