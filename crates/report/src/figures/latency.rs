//! The distribution of response times: one panel for each kind of transaction, both axes logarithmic, so that the tail
//! has as much room as the middle.

use super::scale::{Scale, logarithmic_ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look, spread};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::cells::CellResult;
use analysis::latency::Latency;
use record::intervals::Span;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 64.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 38.0;
const LABELS_APART: f64 = 14.0;

/// Percentiles marked below the panel, spaced by how rare it is to be above them.
const MARKED: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Share of transactions above the last drawn percentile.
const RAREST: f64 = 0.0005;

struct Curve<'a> {
    index: usize,
    contender: &'a str,
    latency: &'a Latency,
}

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let of_cell = |(index, cell): (usize, &&'_ CellResult)| (index, cell.contender.clone(), cell.latency.clone());
    let owned: Vec<_> = cells.iter().enumerate().map(of_cell).collect();
    let curves: Vec<Curve<'_>> = owned
        .iter()
        .flat_map(|(index, contender, latencies)| {
            latencies.iter().map(move |latency| Curve { index: *index, contender, latency })
        })
        .filter(|curve| curve.latency.span == Span::Response && curve.latency.curve.len() > 1)
        .collect();
    let mut kinds: Vec<&str> = Vec::new();
    for curve in &curves {
        if !kinds.contains(&curve.latency.kind.as_str()) {
            kinds.push(&curve.latency.kind);
        }
    }
    let values = || curves.iter().flat_map(|curve| &curve.latency.curve).map(|point| point.value_us as f64 / 1000.0);
    let range = (values().fold(f64::INFINITY, f64::min) / 1.1, values().fold(0.0, f64::max) * 1.1);
    let panels = kinds.iter().map(|kind| {
        let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| curve.latency.kind == *kind).collect();
        Panel { svg: panel(kind, &own, range) }
    });
    let panels: Vec<Panel> = panels.collect();
    (!panels.is_empty()).then(|| Figure {
        title: "Response times".to_owned(),
        description: "How long the slowest transactions took, from due to done: the percentile runs to the right with ever \
                      rarer transactions, the time in ms upwards, both on logarithmic axes. All trials together; plain readings."
            .to_owned(),
        panels,
        wide: false,
    })
}

fn panel(kind: &str, curves: &[&Curve<'_>], range: (f64, f64)) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let rarity = Scale::logarithmic((RAREST, 1.0), (RIGHT, LEFT));
    let up = Scale::logarithmic(range, (BOTTOM, TOP));
    canvas.line("axis", (LEFT, BOTTOM), (RIGHT, BOTTOM));
    for tick in logarithmic_ticks(range.0, range.1) {
        canvas.line("grid", (LEFT, up.at(tick)), (RIGHT, up.at(tick)));
        let decimals = if tick < 0.1 { 2 } else { usize::from(tick < 1.0) };
        canvas.text("tick", (LEFT - 6.0, up.at(tick) + 4.0), Anchor::End, &format::decimal(tick, decimals));
    }
    for quantile in MARKED {
        let x = rarity.at(1.0 - quantile);
        canvas.line("axis", (x, BOTTOM), (x, BOTTOM + 4.0));
        canvas.text("tick", (x, BOTTOM + 17.0), Anchor::Middle, &format::percentile(quantile));
    }
    canvas.text("head", (LEFT, 14.0), Anchor::Start, kind);
    canvas.text("small", (RIGHT, 14.0), Anchor::End, "ms");
    let height = |value_us: u64| up.at(value_us as f64 / 1000.0);
    for curve in curves {
        let points = curve.latency.curve.iter().map(|point| (rarity.at(1.0 - point.quantile), height(point.value_us)));
        canvas.path(&format!("line {}", look(curve.index)), points);
    }
    let ends: Vec<f64> = curves
        .iter()
        .map(|curve| curve.latency.curve.last().map_or(BOTTOM, |end| height(end.value_us)) + 4.0)
        .collect();
    for (curve, y) in curves.iter().zip(spread(&ends, LABELS_APART, BOTTOM)) {
        canvas.text(&format!("name {}", look(curve.index)), (RIGHT + 6.0, y), Anchor::Start, &label(curve.contender));
    }
    let said: Vec<String> = curves.iter().map(|curve| in_words(curve)).collect();
    canvas.finish(&format!("Response times of {kind}"), &format!("{}.", said.join("; ")))
}

fn in_words(curve: &Curve<'_>) -> String {
    let of = |quantile: f64| curve.latency.curve.iter().find(|point| (point.quantile - quantile).abs() < 1e-9);
    let said = [0.5, 0.95, 0.99].into_iter().filter_map(|quantile| {
        let value = format::milliseconds(of(quantile)?.value_us as f64);
        Some(format!("{} {value} ms", format::percentile(quantile)))
    });
    format!("{}: {}", curve.contender, said.collect::<Vec<_>>().join(", "))
}
