//! Scales of data: whole hundredths, so that every one of them is a number that people write.

use serde::Deserialize;
use serde_json::{Map, Value};
use settings::Problem;

const KEY: &str = "scale";
const EXPECTED: &str = "a number from 0.01 to 1000 with at most two digits after the point";

pub const SMALLEST: f64 = 0.01;
pub const LARGEST: f64 = 1_000.0;
const LARGEST_HUNDREDTHS: u32 = 100_000;

/// A scale in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct DataScale(pub(crate) u32);

impl TryFrom<f64> for DataScale {
    type Error = &'static str;

    fn try_from(scale: f64) -> Result<Self, Self::Error> {
        Self::of(scale).ok_or(EXPECTED)
    }
}

impl DataScale {
    /// `None` if it has more than two digits after the point, or is out of range.
    pub fn of(scale: f64) -> Option<Self> {
        (1..=LARGEST_HUNDREDTHS).map(Self).find(|known| known.plain().to_bits() == scale.to_bits())
    }

    pub const fn hundredths(self) -> u32 {
        self.0
    }

    pub fn plain(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

/// The key is a number to the settings, so what it means is checked here.
pub fn check(table: &Map<String, Value>) -> Result<(), Vec<Problem>> {
    let scale = table.get(KEY).and_then(Value::as_f64);
    let Some(wrong) = scale.filter(|scale| DataScale::of(*scale).is_none()) else { return Ok(()) };
    Err(vec![Problem::new(KEY, format!("found {wrong}"), EXPECTED)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_whole_hundredths() {
        for wrong in [0.0, 0.005, 0.015, 0.3 + 0.3 + 0.3, 1_000.01, f64::NAN, -1.0] {
            assert_eq!(DataScale::of(wrong), None, "{wrong}");
        }
        assert_eq!([0.01, 0.29, 300.0].map(DataScale::of), [1, 29, 30_000].map(DataScale).map(Some));
    }
}
