//! OpenMetrics text, version 1.0: families of samples, written for scrapers.
//!
//! It knows nothing about runs. `prometheus_client` writes the text. It escapes labels but not help texts, so that is
//! done here. It has no state sets; these are gauges with the value 0 or 1.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::borrow::Cow;
use std::fmt;

/// The content type in answers.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows while it exists; its samples' names end in `_total`.
    Counter,
    Gauge,
    /// Constant labels with the value 1; its samples' names end in `_info`.
    Info,
}

/// Samples with one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Ends in the unit if there is one, and lacks the suffix that its kind adds to samples.
    pub name: Cow<'static, str>,
    pub kind: MetricKind,
    pub unit: Cow<'static, str>,
    pub help: Cow<'static, str>,
    pub samples: Vec<MetricSample>,
}

pub type Labels = Vec<(&'static str, String)>;

#[derive(Debug, Clone, PartialEq)]
pub struct MetricSample {
    pub labels: Labels,
    pub value: MetricValue,
}

/// A number; whole numbers are written exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricValue {
    Whole(u64),
    Real(f64),
}

impl Family {
    pub fn new(kind: MetricKind, name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name: name.into(), kind, unit: unit.into(), help: help.into(), samples: Vec::new() }
    }

    pub fn with(mut self, labels: Labels, value: MetricValue) -> Self {
        self.samples.push(MetricSample { labels, value });
        self
    }

    pub fn maybe_with(self, labels: Labels, value: Option<MetricValue>) -> Self {
        match value {
            Some(value) => self.with(labels, value),
            None => self,
        }
    }
}

/// The complete text. A family without samples is left out.
pub fn text(families: Vec<Family>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families)));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, &registry);
    text
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = self.0.iter().filter(|family| !family.samples.is_empty());
        families.try_for_each(|family| family.encode(&mut encoder))
    }
}

impl Family {
    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let unit = Some(&*self.unit).filter(|unit| !unit.is_empty());
        // The encoder appends the unit to the name.
        let name = unit.and_then(|unit| self.name.strip_suffix(unit)?.strip_suffix('_')).unwrap_or(&self.name);
        let unit = unit.map(|unit| Unit::Other(unit.to_owned()));
        let help = self.help.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let mut metric = encoder.encode_descriptor(name, &help, unit.as_ref(), self.kind.into())?;
        for MetricSample { labels, value } in &self.samples {
            match self.kind {
                MetricKind::Info => metric.encode_info(labels)?,
                _ if labels.is_empty() => value.encode(self.kind, &mut metric)?,
                _ => value.encode(self.kind, &mut metric.encode_family(labels)?)?,
            }
        }
        Ok(())
    }
}

impl MetricValue {
    fn encode(self, kind: MetricKind, metric: &mut MetricEncoder<'_>) -> fmt::Result {
        match (kind, self) {
            (MetricKind::Counter, Self::Whole(value)) => metric.encode_counter::<NoLabelSet, _, u64>(&value, None),
            (MetricKind::Counter, Self::Real(value)) => metric.encode_counter::<NoLabelSet, _, u64>(&value, None),
            (_, Self::Whole(value)) => metric.encode_gauge(&value),
            (_, Self::Real(value)) => metric.encode_gauge(&value),
        }
    }
}

impl MetricKind {
    /// What the names of its samples add to the family's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge => "",
        }
    }
}

impl From<MetricKind> for MetricType {
    fn from(kind: MetricKind) -> Self {
        match kind {
            MetricKind::Counter => Self::Counter,
            MetricKind::Gauge => Self::Gauge,
            MetricKind::Info => Self::Info,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_every_kind() {
        let families = vec![
            Family::new(MetricKind::Info, "a", "", "What it is.")
                .with(vec![("x", "1".to_owned())], MetricValue::Whole(1)),
            Family::new(MetricKind::Counter, "b_seconds", "seconds", "Time.")
                .with(vec![("of", "0".to_owned()), ("side", "host".to_owned())], MetricValue::Real(0.25))
                .with(vec![], MetricValue::Whole(u64::MAX)),
            Family::new(MetricKind::Gauge, "left_out", "", "Without samples.").maybe_with(Vec::new(), None),
            Family::new(MetricKind::Gauge, "c_bytes", "bytes", "Sizes.")
                .with(vec![("c", "large".to_owned())], MetricValue::Whole(u64::MAX))
                .with(vec![("c", "small".to_owned())], MetricValue::Whole(3)),
        ];
        insta::assert_snapshot!(text(families), @r#"
        # HELP a What it is.
        # TYPE a info
        a_info{x="1"} 1
        # HELP b_seconds Time.
        # TYPE b_seconds counter
        # UNIT b_seconds seconds
        b_seconds_total{of="0",side="host"} 0.25
        b_seconds_total 18446744073709551615
        # HELP c_bytes Sizes.
        # TYPE c_bytes gauge
        # UNIT c_bytes bytes
        c_bytes{c="large"} 18446744073709551615
        c_bytes{c="small"} 3
        # EOF
        "#);
    }

    #[test]
    fn what_would_end_a_label_or_a_line_is_escaped() {
        let family = Family::new(MetricKind::Gauge, "a", "", "one\ntwo \\ \"three\"");
        let text = text(vec![family.with(vec![("x", "a\"b\\c\nd".to_owned())], MetricValue::Whole(1))]);
        let expected = "# HELP a one\\ntwo \\\\ \\\"three\\\"\n# TYPE a gauge\na{x=\"a\\\"b\\\\c\\nd\"} 1\n# EOF\n";
        assert_eq!(text, expected);
    }
}
