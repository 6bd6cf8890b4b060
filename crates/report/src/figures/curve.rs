//! Curves of one thing over another, one panel for each block: throughput over clients, a queue over time.

use super::chart::{Axis, Chart, Paper, Spacing};
use super::{Panel, look};
use crate::format::{self, joined};
use std::collections::BTreeSet;

const MARK_RADIUS: f64 = 4.0;
const HEADROOM: f64 = 1.08;

/// The curve of one contender in one block.
pub struct Curve<'a> {
    pub block: u32,
    /// The contender's index, which decides its look.
    pub index: usize,
    pub contender: &'a str,
    /// Sorted from left to right.
    pub points: Vec<(f64, f64)>,
    /// A point to highlight.
    pub mark: Option<(f64, f64)>,
}

/// One panel for each block, all with the same axes; none if there is nothing to draw.
pub fn panels(curves: &[Curve<'_>], (across, spacing): (&str, Spacing), up: &str) -> Vec<Panel> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points().map(|point| point.1).fold(0.0, f64::max);
    let first = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let last = points().map(|point| point.0).fold(0.0, f64::max);
    if highest <= 0.0 || !first.is_finite() {
        return Vec::new();
    }
    let low = if spacing == Spacing::Logarithmic { first.max(1.0) } else { 0.0 };
    let (x, y) = (Axis { unit: across, range: (low, last), spacing }, Axis::from_zero(up, highest * HEADROOM));
    let blocks: BTreeSet<u32> = curves.iter().map(|curve| curve.block).collect();
    let of_block = |block: u32| curves.iter().filter(|curve| curve.block == block).collect::<Vec<_>>();
    blocks.into_iter().map(|block| panel(block, &of_block(block), &x, &y)).collect()
}

fn panel(block: u32, curves: &[&Curve<'_>], x: &Axis<'_>, y: &Axis<'_>) -> Panel {
    let mut chart = Chart::new(Paper::SMALL, &format!("Block {block}"), x, y);
    for curve in curves {
        chart.contender(curve.index, curve.contender, curve.points.iter().copied());
        if let Some(mark) = curve.mark {
            chart.dot(&look(curve.index), format!("{}, chosen", curve.contender), mark, MARK_RADIUS);
        }
    }
    let said = curves.iter().map(|curve| {
        let most = curve.points.iter().map(|point| point.1).fold(0.0, f64::max);
        format!("{} at most {}", curve.contender, format::quantity(most))
    });
    chart.finish(&format!("{} over {} in block {block}", y.unit, x.unit), &format!("{}.", joined(said, ", ")))
}
