//! OpenMetrics text, version 1.0: families of samples written out, with names, units and escapes as that demands.
//!
//! Pure, and knows nothing of runs. Histograms, summaries, exemplars and timestamps are left out: nothing here needs them.

use std::borrow::Cow;
use std::fmt::Write;

/// What a reader of the text is told that it is.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only grows while it is there; its samples' names end in `_total`.
    Counter,
    Gauge,
    /// Labels that do not change, of the value 1; its samples' names end in `_info`.
    Info,
    /// One of several states, which are told apart by a label with the family's own name.
    StateSet,
}

/// Samples of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// Ends in the unit if there is one, and has no suffix that its kind demands of samples.
    pub name: Cow<'static, str>,
    pub kind: Kind,
    pub unit: Cow<'static, str>,
    pub help: Cow<'static, str>,
    pub samples: Vec<Sample>,
}

pub type Labels = Vec<(&'static str, String)>;

#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub labels: Labels,
    pub value: Value,
}

/// A number; whole ones are written to the last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Whole(u64),
    Real(f64),
}

impl Family {
    pub fn new(kind: Kind, name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name: name.into(), kind, unit: unit.into(), help: help.into(), samples: Vec::new() }
    }

    pub fn with(mut self, labels: Labels, value: Value) -> Self {
        self.samples.push(Sample { labels, value });
        self
    }

    pub fn maybe_with(self, labels: Labels, value: Option<Value>) -> Self {
        match value {
            Some(value) => self.with(labels, value),
            None => self,
        }
    }
}

/// The whole text. A family without samples is left out.
pub fn text(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        // Writing to a string does not fail.
        let _ = write_family(&mut text, family);
    }
    text.push_str("# EOF\n");
    text
}

fn write_family(text: &mut String, family: &Family) -> std::fmt::Result {
    let Family { name, kind, unit, help, samples } = family;
    writeln!(text, "# TYPE {name} {}", kind.name())?;
    if !unit.is_empty() {
        writeln!(text, "# UNIT {name} {unit}")?;
    }
    writeln!(text, "# HELP {name} {}", escaped(help))?;
    for sample in samples {
        write!(text, "{name}{}", kind.suffix())?;
        write_labels(text, &sample.labels)?;
        match sample.value {
            Value::Whole(value) => writeln!(text, " {value}")?,
            Value::Real(value) => writeln!(text, " {value}")?,
        }
    }
    Ok(())
}

fn write_labels(text: &mut String, labels: &Labels) -> std::fmt::Result {
    for (place, (name, value)) in labels.iter().enumerate() {
        let before = if place == 0 { '{' } else { ',' };
        write!(text, "{before}{name}=\"{}\"", escaped(value))?;
    }
    text.push_str(if labels.is_empty() { "" } else { "}" });
    Ok(())
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Info => "info",
            Self::StateSet => "stateset",
        }
    }

    /// What follows the family's name in those of its samples.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::StateSet => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_every_kind() {
        let families = [
            Family::new(Kind::Info, "a", "", "What it is.").with(vec![("x", "1".to_owned())], Value::Whole(1)),
            Family::new(Kind::Counter, "b_seconds", "seconds", "Time.")
                .with(vec![("of", "0".to_owned()), ("side", "host".to_owned())], Value::Real(0.25))
                .with(vec![], Value::Whole(u64::MAX)),
            Family::new(Kind::Gauge, "left_out", "", "Without samples.").maybe_with(Vec::new(), None),
            Family::new(Kind::StateSet, "c", "", "States.")
                .with(vec![("c", "on".to_owned())], Value::Whole(1))
                .with(vec![("c", "off".to_owned())], Value::Whole(0)),
        ];
        insta::assert_snapshot!(text(&families), @r#"
        # TYPE a info
        # HELP a What it is.
        a_info{x="1"} 1
        # TYPE b_seconds counter
        # UNIT b_seconds seconds
        # HELP b_seconds Time.
        b_seconds_total{of="0",side="host"} 0.25
        b_seconds_total 18446744073709551615
        # TYPE c stateset
        # HELP c States.
        c{c="on"} 1
        c{c="off"} 0
        # EOF
        "#);
    }

    #[test]
    fn what_would_end_a_label_or_a_line_is_escaped() {
        let family = Family::new(Kind::Gauge, "a", "", "one\ntwo \\ \"three\"");
        let text = text(&[family.with(vec![("x", "a\"b\\c\nd".to_owned())], Value::Whole(1))]);
        let expected = "# TYPE a gauge\n# HELP a one\\ntwo \\\\ \\\"three\\\"\na{x=\"a\\\"b\\\\c\\nd\"} 1\n# EOF\n";
        assert_eq!(text, expected);
    }
}
