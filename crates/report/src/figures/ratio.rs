//! Ratios with their intervals: every block's point above the bar that was made from them.

use super::look;
use super::scale::{Scale, logarithmic_ticks, ticks};
use super::svg::{Anchor, Canvas};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::compare::{self, Comparison};
use analysis::contrast::Contrast;
use analysis::measures::throughput::THROUGHPUT;
use analysis::summary::Analysis;

const WIDTH: f64 = 400.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
const ROW: f64 = 46.0;

/// Ratios further apart than this are drawn on a logarithmic axis.
const LARGEST_LINEAR: f64 = 3.0;

struct Row<'a> {
    name: String,
    detail: String,
    ratio: &'a Contrast,
    look: String,
}

pub fn figure(analysis: &Analysis) -> Option<Figure> {
    let rows = analysis.comparisons.iter().flat_map(|one| self::rows(analysis, one));
    let (throughput, latency): (Vec<Row<'_>>, Vec<Row<'_>>) = rows.partition(|row| row.ratio.measure == THROUGHPUT);
    let panels = [
        ("Throughput relative to the baseline", "faster →", throughput),
        ("Response time relative to the baseline", "slower →", latency),
    ];
    let drawn = panels.into_iter().filter(|(_, _, rows)| !rows.is_empty());
    let panels: Vec<Panel> = drawn.map(|(title, right, rows)| Panel { svg: panel(title, right, &rows) }).collect();
    (!panels.is_empty()).then(|| Figure {
        title: "Ratios".to_owned(),
        description: "Small points are single blocks, the large one their geometric mean, the bar its 95 % interval. The upright \
                      line at 1 is the baseline."
            .to_owned(),
        panels,
        wide: true,
    })
}

/// Of the measures by which contenders are judged.
fn rows<'a>(analysis: &Analysis, comparison: &'a Comparison) -> Vec<Row<'a>> {
    let headline = compare::headline(&comparison.metric.counted);
    let row = |ratio: &'a Contrast| {
        // "response.p95/new-order"
        let figure = ratio.measure.split_once('.').map_or("", |(_, figure)| figure);
        let (figure, kind) = figure.split_once('/').unwrap_or_default();
        let said = |parts: [&str; 2], between| {
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
        };
        Row {
            name: said([&comparison.contender, figure], " "),
            detail: said([kind, &comparison.coordinates], ", "),
            ratio,
            look: look_of(analysis, comparison),
        }
    };
    headline.iter().filter_map(|measure| comparison.contrast(measure)).map(row).collect()
}

/// The look that the contender has in the other figures: its place among the cells of its group.
fn look_of(analysis: &Analysis, comparison: &Comparison) -> String {
    let group = analysis.cells.iter().filter(|cell| cell.coordinates == comparison.coordinates);
    look(group.enumerate().find(|(_, cell)| cell.cell == comparison.contender_cell).map_or(1, |(index, _)| index))
}

/// The values that must be on the paper: all points, all intervals, and one.
fn range(rows: &[Row<'_>]) -> (f64, f64) {
    let points = rows.iter().flat_map(|row| row.ratio.blocks.iter().map(|block| block.value));
    let ends = rows.iter().filter_map(|row| row.ratio.estimate.bounds.known()).flat_map(|(low, high)| [low, high]);
    let values: Vec<f64> = points.chain(ends).chain([1.0]).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let margin = if low > 0.0 && high / low > LARGEST_LINEAR { 1.15 } else { 1.0 };
    let beyond = if margin > 1.0 { 0.0 } else { ((high - low) * 0.08).max(0.01) };
    (low / margin - beyond, high * margin + beyond)
}

/// Where the values go, and the round numbers that mark the way.
fn axis(rows: &[Row<'_>]) -> (Scale, Vec<f64>) {
    let (low, high) = range(rows);
    if low > 0.0 && high / low > LARGEST_LINEAR {
        (Scale::logarithmic((low, high), (LEFT, RIGHT)), logarithmic_ticks(low, high))
    } else {
        (Scale::linear((low, high), (LEFT, RIGHT)), ticks(low, high, 5.0))
    }
}

/// Round numbers with as many decimals as the finest of them needs.
fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let exact = |decimals: i32| {
        let power = 10_f64.powi(decimals);
        ticks.iter().all(|tick| ((tick * power).round() / power - tick).abs() < 1e-9)
    };
    let decimals = (0..=4).find(|decimals| exact(*decimals)).unwrap_or(4);
    ticks.iter().map(|tick| format::decimal(*tick, usize::try_from(decimals).unwrap_or(0))).collect()
}

fn panel(title: &str, right: &str, rows: &[Row<'_>]) -> String {
    let bottom = TOP + ROW * rows.len() as f64;
    let mut canvas = Canvas::new(WIDTH, bottom + 30.0);
    let (across, marks) = axis(rows);
    canvas.text("head", (0.0, 14.0), Anchor::Start, title);
    canvas.text("small", (RIGHT, 14.0), Anchor::End, right);
    for (tick, text) in marks.iter().zip(tick_labels(&marks)) {
        canvas.line("grid", (across.at(*tick), TOP), (across.at(*tick), bottom));
        canvas.text("tick", (across.at(*tick), bottom + 17.0), Anchor::Middle, &text);
    }
    canvas.line("reference", (across.at(1.0), TOP), (across.at(1.0), bottom + 4.0));
    for (row, index) in rows.iter().zip(0_u32..) {
        draw(&mut canvas, row, across, TOP + ROW * f64::from(index));
    }
    let said: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {}: {}", row.name, row.detail, format::estimate(&row.ratio.estimate, format::ratio)))
        .collect();
    canvas.finish(title, &format!("{}.", said.join("; ")))
}

fn draw(canvas: &mut Canvas, row: &Row<'_>, across: Scale, top: f64) {
    let middle = top + ROW * 0.62;
    canvas.text("label", (0.0, middle - 2.0), Anchor::Start, &row.name);
    canvas.text("small", (0.0, middle + 12.0), Anchor::Start, &row.detail);
    for block in &row.ratio.blocks {
        canvas.circle(&format!("block {}", row.look), (across.at(block.value), top + ROW * 0.26), 3.0);
    }
    let estimate = &row.ratio.estimate;
    if let Some((low, high)) = estimate.bounds.known() {
        let (left, right) = (across.at(low), across.at(high));
        canvas.line(&format!("bar {}", row.look), (left, middle), (right, middle));
        for end in [left, right] {
            canvas.line(&format!("bar {}", row.look), (end, middle - 5.0), (end, middle + 5.0));
        }
    }
    canvas.circle(&format!("point {}", row.look), (across.at(estimate.point), middle), 5.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_show_the_decimals_they_need() {
        assert_eq!(tick_labels(&[0.85, 0.9, 0.95]), ["0.85", "0.90", "0.95"]);
        assert_eq!(tick_labels(&[0.1, 1.0, 10.0]), ["0.1", "1.0", "10.0"]);
        assert_eq!(tick_labels(&[0.975, 1.0]), ["0.975", "1.000"]);
    }
}
