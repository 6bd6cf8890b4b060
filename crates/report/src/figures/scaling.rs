//! Throughput over vCPUs or clients: a point with its interval for each size, and the fitted law as a line.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look, spread};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::scaling::{Point, Scaling};

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = WIDTH - 70.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 40.0;
const LABELS_APART: f64 = 14.0;
const POINT_RADIUS: f64 = 4.0;

/// Paper above the highest point, at most, as a multiple of its height.
const MOST_HEADROOM: f64 = 1.6;

/// Half the length of the strokes that end an interval.
const WHISKER: f64 = 4.0;

/// One panel for each group of curves over the same sizes.
pub fn figure(groups: &[Vec<&Scaling>], contenders: &[&str]) -> Option<Figure> {
    let panels: Vec<Panel> = groups.iter().filter_map(|group| panel(group, contenders)).collect();
    (!panels.is_empty()).then(|| Figure {
        title: "Throughput over size".to_owned(),
        description:
            "Points are geometric means over blocks, bars their 95 % intervals. Lines are the fitted Universal \
                      Scalability Law, drawn only where it was fitted."
                .to_owned(),
        panels,
        wide: true,
    })
}

fn panel(curves: &[&Scaling], contenders: &[&str]) -> Option<Panel> {
    let first = curves.first()?;
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let largest = points().map(|point| point.size).max().map(f64::from)?;
    // An interval that says little must not press all points to the floor; its bar then runs out of the paper.
    let highest_point = points().filter_map(middle).fold(0.0, f64::max);
    let highest = points().filter_map(upper_end).fold(0.0, f64::max).min(MOST_HEADROOM * highest_point);
    if highest <= 0.0 {
        return None;
    }
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let across = Scale::linear((0.0, largest), (LEFT, RIGHT));
    let up = Scale::linear((0.0, highest * 1.08), (BOTTOM, TOP));
    axes(&mut canvas, (across, largest), (up, highest * 1.08), first.resource.plural());
    canvas.text("head", (LEFT, 14.0), Anchor::Start, if first.held.is_empty() { "Throughput" } else { &first.held });
    canvas.text("small", (RIGHT, 14.0), Anchor::End, &first.metric.name);
    let place = |curve: &Scaling| contenders.iter().position(|name| *name == curve.contender).unwrap_or(0);
    for curve in curves {
        draw(&mut canvas, curve, &look(place(curve)), across, up);
    }
    let end = |curve: &&Scaling| curve.points.iter().rev().find_map(middle).map_or(BOTTOM, |value| up.at(value)) + 4.0;
    let heights: Vec<f64> = curves.iter().map(end).collect();
    for (curve, height) in curves.iter().zip(spread(&heights, LABELS_APART, BOTTOM)) {
        let class = format!("name {}", look(place(curve)));
        canvas.text(&class, (RIGHT + 8.0, height), Anchor::Start, &label(&curve.contender));
    }
    let said: Vec<String> = curves.iter().copied().map(said).collect();
    let title = format!("{} over {}", first.metric.name, first.resource.plural());
    Some(Panel { svg: canvas.finish(&title, &format!("{}.", said.join("; "))) })
}

fn middle(point: &Point) -> Option<f64> {
    point.throughput.as_ref().map(|estimate| estimate.point)
}

fn upper_end(point: &Point) -> Option<f64> {
    let estimate = point.throughput.as_ref()?;
    Some(estimate.bounds.known().map_or(estimate.point, |(_, high)| high))
}

fn axes(canvas: &mut Canvas, (across, largest): (Scale, f64), (up, highest): (Scale, f64), unit: &str) {
    for tick in ticks(0.0, highest, 4.0) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        canvas.line(class, (LEFT, up.at(tick)), (RIGHT, up.at(tick)));
        canvas.text("tick", (LEFT - 6.0, up.at(tick) + 4.0), Anchor::End, &format::quantity(tick));
    }
    for tick in ticks(0.0, largest, 6.0) {
        canvas.line("axis", (across.at(tick), BOTTOM), (across.at(tick), BOTTOM + 4.0));
        canvas.text("tick", (across.at(tick), BOTTOM + 17.0), Anchor::Middle, &tick_label(tick));
    }
    canvas.text("small", (RIGHT, BOTTOM + 33.0), Anchor::End, unit);
}

fn draw(canvas: &mut Canvas, curve: &Scaling, look: &str, across: Scale, up: Scale) {
    if let Some(law) = &curve.universal {
        let points = law.curve.iter().map(|point| (across.at(point.size), up.at(point.throughput)));
        canvas.path(&format!("line {look}"), points);
    }
    for point in &curve.points {
        let (Some(estimate), x) = (&point.throughput, across.at(f64::from(point.size))) else { continue };
        if let Some((low, high)) = estimate.bounds.known() {
            canvas.line(&format!("bar {look}"), (x, up.at(low)), (x, up.at(high)));
            for end in [low, high] {
                canvas.line(&format!("bar {look}"), (x - WHISKER, up.at(end)), (x + WHISKER, up.at(end)));
            }
        }
        canvas.circle(&format!("point {look}"), (x, up.at(estimate.point)), POINT_RADIUS);
    }
}

fn said(curve: &Scaling) -> String {
    let value = |point: &Point| Some(format!("{} with {}", format::quantity(middle(point)?), point.size));
    let values: Vec<String> = curve.points.iter().filter_map(value).collect();
    format!("{} {}", curve.contender, values.join(", "))
}

/// Sizes are whole; a tick between two of them has a decimal.
fn tick_label(tick: f64) -> String {
    format::decimal(tick, usize::from(tick.fract() != 0.0))
}
