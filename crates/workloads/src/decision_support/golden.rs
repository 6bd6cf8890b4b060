//! Comparing answers with known ones.

use super::answers::AnswerFigures;
use engines::session::Decimal;

/// Rows of an answer, and the sum of its numbers, averages and ratios with four digits after the point.
pub type Golden = (u64, &'static str);

/// Scales at which answers are known, in hundredths.
pub const SCALES: [u32; 3] = [1, 10, 100];

/// What is wrong with an answer. Engines may round an average or a ratio differently in the last digit that is compared.
pub fn difference(found: &AnswerFigures, (rows, sum): Golden) -> Option<String> {
    let expected = Decimal::parse(sum).and_then(|sum| sum.at_scale(found.sum.scale()))?;
    let is_close = found.sum.units().abs_diff(expected.units()) <= u128::from(found.rounded) * LAST_DIGIT;
    (found.rows != rows || !is_close)
        .then(|| format!("{} rows with sum {} instead of {rows} with {expected}", found.rows, found.sum))
}

/// One in the fourth digit after the point, in units of ten to the minus six.
const LAST_DIGIT: u128 = 100;
