//! Scales of data: whole hundredths, so that every one of them is a number that people write.

use serde_json::{Map, Value};
use settings::Problem;

const KEY: &str = "scale";
pub const EXPECTED: &str = "a number from 0.01 to 1000 with at most two digits after the point";

pub const SMALLEST: f64 = 0.01;
pub const LARGEST: f64 = 1_000.0;
const LARGEST_HUNDREDTHS: u32 = 100_000;

/// `None` if it has more than two digits after the point, or is out of range.
pub fn hundredths(scale: f64) -> Option<u32> {
    (1..=LARGEST_HUNDREDTHS).find(|hundredths| plain(*hundredths).to_bits() == scale.to_bits())
}

pub fn plain(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

/// The key is a number to the settings, so what it means is checked here.
pub fn check(table: &Map<String, Value>) -> Result<(), Vec<Problem>> {
    let scale = table.get(KEY).and_then(Value::as_f64);
    let Some(wrong) = scale.filter(|scale| hundredths(*scale).is_none()) else { return Ok(()) };
    Err(vec![Problem {
        path: KEY.to_owned(),
        found: format!("found {wrong}"),
        expected: EXPECTED.to_owned(),
        nearest: None,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_whole_hundredths() {
        for wrong in [0.0, 0.005, 0.015, 0.3 + 0.3 + 0.3, 1_000.01, f64::NAN, -1.0] {
            assert_eq!(hundredths(wrong), None, "{wrong}");
        }
        assert_eq!([0.01, 0.29, 300.0].map(hundredths), [Some(1), Some(29), Some(30_000)]);
    }
}
