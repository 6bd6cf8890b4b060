//! Bands of one-second throughput: how far the best and the worst seconds of each contender lie from its median.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::raggedness::Raggedness;

const WIDTH: f64 = 400.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 26.0;
const ROW: f64 = 34.0;
const POINT_RADIUS: f64 = 4.0;

/// Half the height of the box from p5 to p95.
const BOX: f64 = 6.0;

pub fn figure(ragged: &[&Raggedness]) -> Option<Figure> {
    let (low, high) = range(ragged)?;
    let bottom = TOP + ROW * ragged.len() as f64;
    let mut canvas = Canvas::new(WIDTH, bottom + 34.0);
    let across = Scale::linear((low, high), (LEFT, RIGHT));
    canvas.text("head", (0.0, 14.0), Anchor::Start, "Seconds over their median");
    for tick in ticks(low, high, 5.0) {
        canvas.line("grid", (across.at(tick), TOP), (across.at(tick), bottom));
        canvas.text("tick", (across.at(tick), bottom + 17.0), Anchor::Middle, &format::decimal(tick, 2));
    }
    canvas.line("reference", (across.at(1.0), TOP), (across.at(1.0), bottom + 4.0));
    for (index, one) in ragged.iter().enumerate() {
        draw(&mut canvas, one, &look(index), across, TOP + ROW * (index as f64 + 0.5));
    }
    let said: Vec<String> = ragged.iter().copied().map(said).collect();
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
fn range(ragged: &[&Raggedness]) -> Option<(f64, f64)> {
    let values = || ragged.iter().flat_map(|one| &one.bands).map(|band| band.value.point);
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    let margin = (high - low) * 0.05;
    (high > low).then_some(((low - margin).max(0.0), high + margin))
}

fn at(one: &Raggedness, quantile: f64) -> Option<f64> {
    one.bands.iter().find(|band| (band.quantile - quantile).abs() < 1e-9).map(|band| band.value.point)
}

fn draw(canvas: &mut Canvas, one: &Raggedness, look: &str, across: Scale, middle: f64) {
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

fn said(one: &Raggedness) -> String {
    let bands = one.bands.iter().filter(|band| (band.quantile - 0.5).abs() > 1e-9);
    let bands: Vec<String> = bands
        .map(|band| format!("{} {}", format::percentile(band.quantile), format::ratio(band.value.point)))
        .collect();
    format!("{}: {}", one.contender, if bands.is_empty() { "too few seconds".to_owned() } else { bands.join(", ") })
}
