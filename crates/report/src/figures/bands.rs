//! Bands of one-second throughput: how far the best and the worst seconds of each contender lie from its median.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::cells::CellResult;
use analysis::measures::variability::{BANDS, band};

const WIDTH: f64 = 400.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
const ROW: f64 = 34.0;
const POINT_RADIUS: f64 = 4.0;

/// Half the height of the box from p5 to p95.
const BOX: f64 = 6.0;

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let (low, high) = range(cells)?;
    let bottom = TOP + ROW * cells.len() as f64;
    let mut canvas = Canvas::new(WIDTH, bottom + 34.0);
    let across = Scale::linear((low, high), (LEFT, RIGHT));
    canvas.text("head", (0.0, 14.0), Anchor::Start, "Seconds over their median");
    for tick in ticks(low, high, 5.0) {
        canvas.line("grid", (across.at(tick), TOP), (across.at(tick), bottom));
        canvas.text("tick", (across.at(tick), bottom + 17.0), Anchor::Middle, &format::decimal(tick, 2));
    }
    canvas.line("reference", (across.at(1.0), TOP), (across.at(1.0), bottom + 4.0));
    for (index, one) in cells.iter().enumerate() {
        draw(&mut canvas, one, &look(index), across, TOP + ROW * (index as f64 + 0.5));
    }
    let said: Vec<String> = cells.iter().copied().map(said).collect();
    let svg = canvas.finish("Bands of one-second throughput", &format!("{}.", said.join("; ")));
    Some(Figure {
        title: "How even".to_owned(),
        description:
            "Throughput of single seconds over the median second of their trial, as means over trials. The box holds \
                      the seconds from p5 to p95, the thin line those from p1 to p99, where there are enough to tell."
                .to_owned(),
        panels: vec![Panel { svg }],
        wide: true,
    })
}

/// What must be on the paper; `None` if no contender has a band beside the median.
fn range(cells: &[&CellResult]) -> Option<(f64, f64)> {
    let values = || cells.iter().flat_map(|one| BANDS.map(|quantile| at(one, quantile))).flatten();
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    let margin = (high - low) * 0.05;
    (high > low).then_some(((low - margin).max(0.0), high + margin))
}

fn at(one: &CellResult, quantile: f64) -> Option<f64> {
    one.level(&band(quantile)).map(|found| found.point)
}

fn draw(canvas: &mut Canvas, one: &CellResult, look: &str, across: Scale, middle: f64) {
    canvas.text("label", (0.0, middle + 4.0), Anchor::Start, &label(&one.contender));
    if let (Some(low), Some(high)) = (at(one, 0.01), at(one, 0.99)) {
        canvas.line(&format!("level {look}"), (across.at(low), middle), (across.at(high), middle));
    }
    if let (Some(low), Some(high)) = (at(one, 0.05), at(one, 0.95)) {
        let (left, right) = (across.at(low), across.at(high));
        for height in [middle - BOX, middle + BOX] {
            canvas.line(&format!("bar {look}"), (left, height), (right, height));
        }
        for side in [left, right] {
            canvas.line(&format!("bar {look}"), (side, middle - BOX), (side, middle + BOX));
        }
    }
    canvas.circle(&format!("point {look}"), (across.at(1.0), middle), POINT_RADIUS);
}

fn said(one: &CellResult) -> String {
    let of_band = |quantile: f64| {
        at(one, quantile).map(|value| format!("{} {}", format::percentile(quantile), format::ratio(value)))
    };
    let bands: Vec<String> = BANDS.into_iter().filter_map(of_band).collect();
    format!("{}: {}", one.contender, if bands.is_empty() { "too few seconds".to_owned() } else { bands.join(", ") })
}
