//! The answers at the parameters of validation, as numbers of rows and sums of all numbers.
//!
//! They do not come from our SQL but from plain loops over the rows, which are among the tests. At scale 1 they are also those that
//! other people published for the same data.

use super::answers::Figures;
use super::questions::COUNT;
use super::scale::Scale;
use engines::session::Decimal;

/// Rows of an answer, and the sum of its numbers, averages and ratios with four digits after the point.
type Golden = (u64, &'static str);

const AT_ONE_HUNDREDTH: [Golden; COUNT] = [
    (4, "6234292168.453825"),
    (4, "11266.29"),
    (10, "2581810.3552"),
    (5, "535"),
    (5, "3391042.9114"),
    (1, "1193053.2253"),
    (4, "1580168.249"),
    (2, "3991"),
    (173, "65313958.4643"),
    (20, "6548783.841"),
    (1, "13272625.89"),
    (2, "307"),
    (33, "2028"),
    (1, "15.4865"),
    (1, "1161120.4636"),
    (296, "8763"),
    (1, "0"),
    (2, "899539.88"),
    (1, "22923.028"),
    (1, "0"),
    (1, "9"),
    (7, "566477.92"),
];

const AT_ONE_TENTH: [Golden; COUNT] = [
    (4, "62608868978.388113"),
    (44, "655471.66"),
    (10, "7058841.8233"),
    (5, "5093"),
    (5, "30276617.6762"),
    (1, "11803420.2534"),
    (4, "21660127.5395"),
    (2, "3991.0469"),
    (175, "679864197.2239"),
    (20, "9125561.0216"),
    (22, "272337071.22"),
    (2, "3155"),
    (37, "15666"),
    (1, "16.2839"),
    (1, "1615087.2928"),
    (2762, "78979"),
    (1, "23512.7529"),
    (5, "3822312.59"),
    (1, "168597.286"),
    (9, "0"),
    (47, "465"),
    (7, "4810347.95"),
];

const AT_ONE: [Golden; COUNT] = [
    (4, "665167060991.051409"),
    (100, "10730820.98"),
    (10, "30185038.3935"),
    (5, "52523"),
    (5, "261967310.1186"),
    (1, "123141078.2283"),
    (4, "214333093.7333"),
    (2, "3991.0759"),
    (175, "7540810161.1232"),
    (20, "13756556.8606"),
    (1048, "9647102111.57"),
    (2, "30988"),
    (42, "150861"),
    (1, "16.3808"),
    (1, "1781076.2087"),
    (18_314, "568393"),
    (1, "348406.0543"),
    (57, "208705616.34"),
    (1, "3083843.0578"),
    (186, "0"),
    (100, "1407"),
    (7, "47916790"),
];

/// The known answers at a scale, if there are any.
pub fn answers(scale: Scale) -> Option<&'static [Golden; COUNT]> {
    match scale.hundredths() {
        1 => Some(&AT_ONE_HUNDREDTH),
        10 => Some(&AT_ONE_TENTH),
        100 => Some(&AT_ONE),
        _ => None,
    }
}

/// What is wrong with an answer. Engines may round an average or a ratio differently in the last digit that is compared.
pub fn difference(found: &Figures, (rows, sum): Golden) -> Option<String> {
    let expected = Decimal::parse(sum).and_then(|sum| sum.at_scale(found.sum.scale()))?;
    let is_close = found.sum.units().abs_diff(expected.units()) <= LAST_DIGITS;
    (found.rows != rows || !is_close)
        .then(|| format!("{} rows with sum {} instead of {rows} with {expected}", found.rows, found.sum))
}

/// One in the fourth digit after the point, for each average of an answer that has most, in units of ten to the minus six.
const LAST_DIGITS: u128 = 12 * 100;
