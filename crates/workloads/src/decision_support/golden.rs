//! Comparing answers with known ones.

use super::answers::Figures;
use super::asked::Asked;
use super::asking;
use engines::admin::Admin;
use engines::session::{Decimal, SessionError};
use record::check::Verdict;

/// Rows of an answer, and the sum of its numbers, averages and ratios with four digits after the point.
pub type Golden = (u64, &'static str);

pub const RULE: &str = "The answers to all questions are those that are known for the loaded data.";

/// Asks all questions, from the first on, whose answers are known.
pub fn judge(
    admin: &mut dyn Admin,
    known: impl Iterator<Item = Golden>,
    question: impl Fn(u8) -> Result<Vec<Asked>, SessionError>,
) -> Result<Verdict, SessionError> {
    let mut wrong = Vec::new();
    for (golden, number) in known.zip(1..) {
        let statements = question(number)?;
        let names: Vec<_> = statements.iter().map(|statement| statement.name).collect();
        let found = asking::ask_admin(admin, &statements)?;
        wrong.extend(difference(&found, golden).map(|why| format!("{} has {why}", names.join(" and "))));
    }
    let holds = wrong.is_empty();
    Ok(if holds { Verdict::Holds { seen: None } } else { Verdict::Violated { seen: wrong.join("; ") } })
}

/// What is wrong with an answer. Engines may round an average or a ratio differently in the last digit that is compared.
fn difference(found: &Figures, (rows, sum): Golden) -> Option<String> {
    let expected = Decimal::parse(sum).and_then(|sum| sum.at_scale(found.sum.scale()))?;
    let is_close = found.sum.units().abs_diff(expected.units()) <= u128::from(found.rounded) * LAST_DIGIT;
    (found.rows != rows || !is_close)
        .then(|| format!("{} rows with sum {} instead of {rows} with {expected}", found.rows, found.sum))
}

/// One in the fourth digit after the point, in units of ten to the minus six.
const LAST_DIGIT: u128 = 100;
