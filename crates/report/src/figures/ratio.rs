//! Ratios with their intervals: every block's point above the bar that was computed from them.

use super::chart::{Axis, BLOCK, CHANGE, Chart, POINT, Spacing};
use super::scale::ends;
use super::{Figure, Panel, Point, look_in_group};
use crate::format::{self, filled};
use crate::table::id;
use analysis::compare::{self, Comparison};
use analysis::contrast::Contrast;
use analysis::measures::throughput::THROUGHPUT;
use analysis::summary::Analysis;

const ROW: f64 = 50.0;

/// Ratios that span more than this factor are drawn on a logarithmic axis.
const LARGEST_LINEAR: f64 = 3.0;
/// By this factor such an axis goes beyond what it shows.
const MARGIN: f64 = 1.15;

struct RatioRow<'a> {
    name: String,
    detail: String,
    ratio: &'a Contrast,
    look: String,
}

impl RatioRow<'_> {
    fn whole(&self) -> String {
        filled([&self.name, &self.detail], " ")
    }
}

pub fn figure(analysis: &Analysis) -> Option<Figure> {
    let rows = analysis.comparisons.iter().flat_map(|one| self::rows(analysis, one));
    let (throughput, latency): (Vec<RatioRow<'_>>, Vec<RatioRow<'_>>) =
        rows.partition(|row| row.ratio.measure == THROUGHPUT);
    let panels =
        [("Throughput", "← slower · faster →", throughput), ("Response time", "← shorter · longer →", latency)];
    let drawn = panels.into_iter().filter(|(_, _, rows)| !rows.is_empty());
    let panels: Vec<Panel> = drawn.map(|(title, right, rows)| panel(title, right, &rows)).collect();
    let description = "Small points are single blocks, the large one is their geometric mean, the bar is its 95 % confidence interval. \
                       The upright line is the baseline.";
    Figure::of(id("ratios", ""), "Change against the baseline", description, panels)
}

/// Rows for the measures by which contenders are judged.
fn rows<'a>(analysis: &Analysis, comparison: &'a Comparison) -> Vec<RatioRow<'a>> {
    let headline = compare::headline(&comparison.metric.counted);
    let row = |ratio: &'a Contrast| {
        // "response.p95/new-order"
        let figure = ratio.measure.split_once('.').map_or("", |(_, figure)| figure);
        let (figure, kind) = figure.split_once('/').unwrap_or_default();
        RatioRow {
            name: filled([comparison.contender.as_str(), figure], " "),
            detail: filled([kind, &comparison.coordinates], ", "),
            ratio,
            look: look_in_group(analysis, &comparison.coordinates, comparison.contender_cell),
        }
    };
    headline.iter().filter_map(|measure| comparison.contrast(measure)).map(row).collect()
}

/// All points, all intervals, and one.
fn axis(rows: &[RatioRow<'_>]) -> Axis<'static> {
    let points = rows.iter().flat_map(|row| row.ratio.blocks.iter().map(|block| block.value));
    let bounds = rows.iter().filter_map(|row| row.ratio.estimate.bounds.known()).flat_map(|(low, high)| [low, high]);
    let (low, high) = ends(points.chain(bounds).chain([1.0])).unwrap_or((1.0, 1.0));
    if low > 0.0 && high / low > LARGEST_LINEAR {
        return Axis { unit: CHANGE, range: (low / MARGIN, high * MARGIN), spacing: Spacing::Logarithmic };
    }
    let beyond = ((high - low) * 0.08).max(0.01);
    Axis { unit: CHANGE, range: (low - beyond, high + beyond), spacing: Spacing::Linear }
}

fn panel(title: &str, right: &str, rows: &[RatioRow<'_>]) -> Panel {
    let letters = rows.iter().map(|row| row.name.chars().count().max(row.detail.chars().count())).max().unwrap_or(0);
    let mut chart = Chart::rows(title, right, &axis(rows), "block", ROW * rows.len() as f64, letters);
    chart.reference(1.0);
    for (row, index) in rows.iter().zip(0_u32..) {
        let top = chart.top() + ROW * f64::from(index);
        draw(&mut chart, row, top);
    }
    chart.finish(title)
}

fn draw(chart: &mut Chart, row: &RatioRow<'_>, top: f64) {
    let (middle, estimate) = (top + ROW * 0.52, &row.ratio.estimate);
    chart.row_label(middle, &row.name, &row.detail);
    let blocks = row.ratio.blocks.iter().map(|one| Point::new(one.block.into(), one.value)).collect();
    chart.points(BLOCK, &row.look, format!("{}, blocks", row.whole()), blocks, Some(top + ROW * 0.18));
    chart.points(POINT, &row.look, row.whole(), vec![Point::of(None, estimate)], Some(middle));
    let at = (chart.across.at(estimate.point), middle + 17.0);
    chart.canvas.text("value", at, "middle", &format::effect(estimate.point));
}
