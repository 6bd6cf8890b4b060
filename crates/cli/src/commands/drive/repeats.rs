//! The results of one or several equal measurements: for people at the end, for programs as a document.

use super::summary::DriveResult;
use analysis::estimate::{Bounds, CONFIDENCE};
use analysis::student::{FEWEST_BLOCKS, geometric_mean};
use record::trial::Metric;
use report::format::{decimal, quantity};
use serde_json::{Map, Value, json};

/// The measurements, oldest first.
#[derive(Default)]
pub struct Repeats {
    /// Each measurement, for programs.
    results: Vec<Map<String, Value>>,
    metric: Option<Metric>,
    /// Throughput of the last one, if it counts as far as is known before its data is checked.
    last: Option<f64>,
    /// Throughput of each that counts, as in a report.
    valid: Vec<f64>,
}

impl Repeats {
    pub fn add(&mut self, measured: &DriveResult<'_>, result: Map<String, Value>, is_valid: bool) {
        self.results.push(result);
        self.metric = Some(measured.driven.facts.metric.clone());
        self.last = measured.throughput().filter(|_| is_valid);
    }

    /// Ends the last measurement; it counts only if nothing was found wrong with its data.
    pub fn settle(&mut self, is_right: bool) {
        self.valid.extend(self.last.take().filter(|_| is_right));
    }

    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// "5 measurements: 9,100 NOPM (95 % CI 8,900 to 9,300); each: 9,050, …".
    pub fn text(&self) -> Option<String> {
        let metric = self.metric.as_ref().filter(|_| self.results.len() > 1)?;
        let rate = quantity;
        let of = if self.valid.len() == self.results.len() {
            format!("{} measurements", self.results.len())
        } else {
            format!("{} of {} measurements count", self.valid.len(), self.results.len())
        };
        let Some(mean) = geometric_mean(&self.valid) else { return Some(of) };
        let interval = match mean.bounds {
            Bounds::Known { low, high } => {
                let level = decimal(CONFIDENCE * 100.0, 0);
                format!("{level} % CI {} to {}", rate(low), rate(high))
            }
            Bounds::Unknown { .. } => {
                format!("no confidence interval: it needs {FEWEST_BLOCKS} measurements that count")
            }
        };
        let each: Vec<String> = self.valid.iter().map(|value| rate(*value)).collect();
        Some(format!("{of}: {} {} ({interval}); each: {}", rate(mean.point), metric.name, each.join(", ")))
    }

    /// A single measurement as it is; several as a list, with their mean.
    pub fn json(&self) -> Map<String, Value> {
        if self.results.len() < 2 {
            return self.results.first().cloned().unwrap_or_default();
        }
        let metric = self.metric.as_ref().map(|metric| json!({ "name": metric.name, "unit": metric.unit }));
        let mean = geometric_mean(&self.valid);
        let bounds = mean.as_ref().and_then(|mean| mean.bounds.known());
        let interval = bounds.map(|(low, high)| json!({ "low": low, "high": high, "confidence": CONFIDENCE }));
        Map::from_iter([
            ("throughput".to_owned(), json!(mean.map(|mean| mean.point))),
            ("interval".to_owned(), json!(interval)),
            ("metric".to_owned(), json!(metric)),
            ("repeats".to_owned(), json!(self.results)),
        ])
    }
}
