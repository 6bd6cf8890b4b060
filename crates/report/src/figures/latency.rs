//! The distribution of response times: one panel for each kind of transaction, both axes logarithmic, so that the tail
//! has as much room as the middle.

use super::chart::{Axis, Chart, Paper, Spacing};
use super::{Figure, Panel};
use crate::format::{self, grouped_by, joined};
use crate::table::id;
use analysis::cells::CellResult;
use analysis::latency::Latency;
use record::intervals::Span;

/// The highest percentile that is drawn.
const RAREST: f64 = 0.9995;

struct Curve<'a> {
    index: usize,
    contender: &'a str,
    latency: &'a Latency,
}

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let of_cell = |(index, cell)| {
        let cell: &CellResult = cell;
        cell.latency.iter().map(move |latency| Curve { index, contender: &cell.contender, latency })
    };
    let curves = cells.iter().copied().enumerate().flat_map(of_cell);
    let curves: Vec<Curve<'_>> =
        curves.filter(|curve| curve.latency.span == Span::Response && curve.latency.curve.len() > 1).collect();
    let values = || curves.iter().flat_map(|curve| &curve.latency.curve).map(|point| point.value_us as f64 / 1000.0);
    let range = (values().fold(f64::INFINITY, f64::min) / 1.1, values().fold(0.0, f64::max) * 1.1);
    let kinds = grouped_by(&curves, |curve| &curve.latency.kind);
    let panels = kinds.iter().map(|own| panel(&own[0].latency.kind, own, range));
    let description = "Response time over percentile, both on logarithmic axes, for each kind of transaction. All trials \
            together; point values.";
    let id = id("distribution-of-response-times", &cells.first()?.coordinates);
    Figure::of(id, "Response times", description, panels.collect())
}

fn panel(kind: &str, curves: &[&Curve<'_>], range: (f64, f64)) -> Panel {
    let x = Axis { unit: "quantile", range: (0.0, RAREST), spacing: Spacing::Rarity };
    let y = Axis { unit: "ms", range, spacing: Spacing::Logarithmic };
    let mut chart = Chart::new(Paper::SMALL, kind, &x, &y);
    for curve in curves {
        let points = curve.latency.curve.iter().map(|point| (point.quantile, point.value_us as f64 / 1000.0));
        chart.contender(curve.index, curve.contender, points);
    }
    let said = joined(curves.iter().map(|curve| in_words(curve)), "; ");
    chart.finish(&format!("Response times of {kind}"), &format!("{said}."))
}

fn in_words(curve: &Curve<'_>) -> String {
    let of = |quantile: f64| curve.latency.curve.iter().find(|point| (point.quantile - quantile).abs() < 1e-9);
    let said = [0.5, 0.95, 0.99].into_iter().filter_map(|quantile| {
        let value = format::milliseconds(of(quantile)?.value_us as f64);
        Some(format!("{} {value} ms", format::percentile(quantile)))
    });
    format!("{}: {}", curve.contender, joined(said, ", "))
}
