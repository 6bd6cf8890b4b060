//! One number as a probe reads it: a column of the record and its current value.

use record::telemetry::{Behaviour, Column};
use std::borrow::Cow;

/// A column and its value at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Dotted and stable, the probe first.
    pub name: String,
    /// "ns", "bytes", "ticks", …, or empty for numbers of events.
    pub unit: Cow<'static, str>,
    pub behaviour: Behaviour,
    pub value: u64,
}

impl Counter {
    /// A counter that only grows.
    pub fn counts(name: impl Into<String>, unit: impl Into<Cow<'static, str>>, value: u64) -> Self {
        Self { name: name.into(), unit: unit.into(), behaviour: Behaviour::Counts, value }
    }

    /// A momentary reading.
    pub fn stands(name: impl Into<String>, unit: impl Into<Cow<'static, str>>, value: u64) -> Self {
        Self { name: name.into(), unit: unit.into(), behaviour: Behaviour::Stands, value }
    }

    pub(crate) fn column(&self) -> Column {
        Column { name: self.name.clone(), unit: self.unit.to_string(), behaviour: self.behaviour }
    }
}

/// A name from the kernel or QEMU as one part of a dotted name; devices may be called `eth0.100` or `cciss!c0d0`.
pub fn part(text: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    text.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_no_dots_and_nothing_that_a_table_would_trip_over() {
        assert_eq!(part("eth0.100"), "eth0_100");
        assert_eq!(part("a,\"b\"\n"), "a__b__");
        assert_eq!(part("nvme-0"), "nvme-0");
    }
}
