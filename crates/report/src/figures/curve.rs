//! Curves of one thing over another, one panel for each block: throughput over clients, a queue over time.

use super::scale::{Scale, logarithmic_ticks, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look, spread};
use crate::document::Panel;
use crate::format;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 64.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 36.0;
const LABELS_APART: f64 = 14.0;
const MARK_RADIUS: f64 = 4.0;

/// What one contender did in one block.
pub struct Curve<'a> {
    pub block: u32,
    /// The contender's place, which decides its look.
    pub index: usize,
    pub contender: &'a str,
    /// From left to right.
    pub points: Vec<(f64, f64)>,
    /// A point to be seen first.
    pub mark: Option<(f64, f64)>,
}

/// What the axes are.
pub struct Axes<'a> {
    pub across: &'a str,
    pub up: &'a str,
    /// Whether equal distances to the right are equal ratios.
    pub logarithmic: bool,
}

/// One panel for each block, all with the same axes; none if there is nothing to draw.
pub fn panels(curves: &[Curve<'_>], axes: &Axes<'_>) -> Vec<Panel> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    let first = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let last = points().map(|point| point.0).fold(0.0, f64::max);
    if highest <= 0.0 || !first.is_finite() {
        return Vec::new();
    }
    let mut blocks: Vec<u32> = curves.iter().map(|curve| curve.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let range = if axes.logarithmic { (first.max(1.0), last) } else { (0.0, last) };
    let panel = |block: u32| {
        let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| curve.block == block).collect();
        Panel { svg: panel(block, &own, axes, range, highest * 1.08) }
    };
    blocks.into_iter().map(panel).collect()
}

fn panel(block: u32, curves: &[&Curve<'_>], axes: &Axes<'_>, (low, high): (f64, f64), highest: f64) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let scale = if axes.logarithmic { Scale::logarithmic } else { Scale::linear };
    let across = scale((low, high), (LEFT, RIGHT));
    let up = Scale::linear((0.0, highest), (BOTTOM, TOP));
    for tick in ticks(0.0, highest, 4.0) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        canvas.line(class, (LEFT, up.at(tick)), (RIGHT, up.at(tick)));
        canvas.text("tick", (LEFT - 6.0, up.at(tick) + 4.0), Anchor::End, &format::quantity(tick));
    }
    let marks = if axes.logarithmic { logarithmic_ticks(low, high) } else { ticks(low, high, 5.0) };
    for tick in marks {
        canvas.line("axis", (across.at(tick), BOTTOM), (across.at(tick), BOTTOM + 4.0));
        canvas.text("tick", (across.at(tick), BOTTOM + 17.0), Anchor::Middle, &format::decimal(tick, 0));
    }
    canvas.text("small", (RIGHT, BOTTOM + 31.0), Anchor::End, axes.across);
    canvas.text("head", (LEFT, 14.0), Anchor::Start, &format!("Block {block}"));
    canvas.text("small", (RIGHT, 14.0), Anchor::End, axes.up);
    for curve in curves {
        let look = look(curve.index);
        let place = |(x, y): (f64, f64)| (across.at(x), up.at(y));
        canvas.path(&format!("line {look}"), curve.points.iter().copied().map(place));
        if let Some(mark) = curve.mark {
            canvas.circle(&format!("point {look}"), place(mark), MARK_RADIUS);
        }
    }
    let end = |curve: &&Curve<'_>| curve.points.last().map_or(BOTTOM, |point| up.at(point.1)) + 4.0;
    let heights: Vec<f64> = curves.iter().map(end).collect();
    for (curve, height) in curves.iter().zip(spread(&heights, LABELS_APART, BOTTOM)) {
        canvas.text(
            &format!("name {}", look(curve.index)),
            (RIGHT + 6.0, height),
            Anchor::Start,
            &label(curve.contender),
        );
    }
    let said = curves.iter().map(|curve| {
        let most = curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
        format!("{} at most {}", curve.contender, format::quantity(most))
    });
    let said = said.collect::<Vec<_>>().join(", ");
    canvas.finish(&format!("{} over {} in block {block}", axes.up, axes.across), &format!("{said}."))
}
