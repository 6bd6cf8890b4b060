//! Bands of one-second throughput: how far each contender's best and worst seconds are from its median.

use super::chart::{Axis, Chart, Spacing};
use super::{Figure, Point, label, look};
use crate::format::{self, joined};
use crate::table::id;
use analysis::cells::CellResult;
use analysis::measures::variability::{BANDS, band};

const ROW: f64 = 34.0;
const POINT_RADIUS: f64 = 4.0;

/// Half the height of the box from p5 to p95.
const BOX: f64 = 6.0;

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let axis = Axis { unit: "of the median second", range: range(cells)?, spacing: Spacing::Linear };
    let mut chart = Chart::rows("Seconds over their median", "", &axis, "quantile", ROW * cells.len() as f64, 0);
    chart.reference(1.0);
    for (index, one) in cells.iter().enumerate() {
        let middle = chart.top() + ROW * (index as f64 + 0.5);
        draw(&mut chart, one, &look(index), middle);
    }
    let said = joined(cells.iter().copied().map(said), "; ");
    let panel = chart.finish("Bands of one-second throughput", &format!("{said}."));
    let description = "Throughput of single seconds over the median second of their trial, as means over trials. The box holds \
                       the seconds from p5 to p95, the thin line those from p1 to p99, where there are enough to tell.";
    Figure::of(id("bands", &cells[0].coordinates), "Throughput from second to second", description, vec![panel])
}

/// The range to draw; `None` if no contender has a band beside the median.
fn range(cells: &[&CellResult]) -> Option<(f64, f64)> {
    let values = || cells.iter().flat_map(|one| BANDS.map(|quantile| at(one, quantile))).flatten();
    let (low, high) = (values().fold(1.0, f64::min), values().fold(1.0, f64::max));
    let margin = (high - low) * 0.05;
    (high > low).then_some(((low - margin).max(0.0), high + margin))
}

fn at(one: &CellResult, quantile: f64) -> Option<f64> {
    one.level(&band(quantile)).map(|found| found.point)
}

fn draw(chart: &mut Chart, one: &CellResult, look: &str, middle: f64) {
    chart.row_label(middle, &label(&one.contender), "");
    let ends = |low: f64, high: f64| Some((chart.across.at(at(one, low)?), chart.across.at(at(one, high)?)));
    let (line, inner, median) = (ends(0.01, 0.99), ends(0.05, 0.95), chart.across.at(1.0));
    if let Some((left, right)) = line {
        chart.canvas.line(&format!("level {look}"), (left, middle), (right, middle));
    }
    if let Some((left, right)) = inner {
        let (above, below) = (middle - BOX, middle + BOX);
        let corners = [(left, above), (right, above), (right, below), (left, below), (left, above)];
        for corner in corners.windows(2) {
            chart.canvas.line(&format!("bar {look}"), corner[0], corner[1]);
        }
    }
    chart.canvas.circle(&format!("point {look}"), (median, middle), POINT_RADIUS);
    chart.keep(&one.contender, BANDS.into_iter().filter_map(|quantile| Some(Point::new(quantile, at(one, quantile)?))));
}

fn said(one: &CellResult) -> String {
    let of_band = |quantile: f64| {
        at(one, quantile).map(|value| format!("{} {}", format::percentile(quantile), format::ratio(value)))
    };
    let bands: Vec<String> = BANDS.into_iter().filter_map(of_band).collect();
    format!("{}: {}", one.contender, if bands.is_empty() { "too few seconds".to_owned() } else { bands.join(", ") })
}
