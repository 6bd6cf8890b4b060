//! The distribution of response times: one panel for each kind of transaction, both axes logarithmic, so that the tail
//! has as much room as the middle.

use super::chart::{Axis, Chart, Paper, Spacing};
use super::{Figure, Panel, look};
use crate::format::{self, distinct};
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
    let kinds = distinct(curves.iter().map(|curve| curve.latency.kind.as_str()));
    let values = || curves.iter().flat_map(|curve| &curve.latency.curve).map(|point| point.value_us as f64 / 1000.0);
    let range = (values().fold(f64::INFINITY, f64::min) / 1.1, values().fold(0.0, f64::max) * 1.1);
    let panels = kinds.iter().map(|kind| {
        let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| curve.latency.kind == *kind).collect();
        panel(kind, &own, range)
    });
    let description = "Response time over percentile, both on logarithmic axes, for each kind of transaction. All trials \
            together; point values.";
    let id = id("distribution-of-response-times", &cells.first()?.coordinates);
    Figure::of(id, "Response times", description, panels.collect())
}

fn panel(kind: &str, curves: &[&Curve<'_>], range: (f64, f64)) -> Panel {
    let x = Axis { unit: "quantile", range: (0.0, RAREST), spacing: Spacing::Rarity };
    let y = Axis { unit: "ms", range, spacing: Spacing::Logarithmic };
    let mut chart = Chart::new(Paper::SMALL, kind, &x, &y);
    let ms = |value_us: u64| value_us as f64 / 1000.0;
    for curve in curves {
        let points = curve.latency.curve.iter().map(|point| (point.quantile, ms(point.value_us)));
        chart.line(&format!("line {}", look(curve.index)), curve.contender, points);
    }
    let end = |curve: &&Curve<'_>| curve.latency.curve.last().map(|end| ms(end.value_us));
    let names: Vec<_> = curves.iter().map(|curve| (curve.index, curve.contender, end(curve))).collect();
    chart.names(&names);
    let said: Vec<String> = curves.iter().map(|curve| in_words(curve)).collect();
    chart.finish(&format!("Response times of {kind}"), &format!("{}.", said.join("; ")))
}

fn in_words(curve: &Curve<'_>) -> String {
    let of = |quantile: f64| curve.latency.curve.iter().find(|point| (point.quantile - quantile).abs() < 1e-9);
    let said = [0.5, 0.95, 0.99].into_iter().filter_map(|quantile| {
        let value = format::milliseconds(of(quantile)?.value_us as f64);
        Some(format!("{} {value} ms", format::percentile(quantile)))
    });
    format!("{}: {}", curve.contender, said.collect::<Vec<_>>().join(", "))
}
