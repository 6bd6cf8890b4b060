//! Exact numbers with a fraction, on their way to every engine and back.

use std::fmt;

/// A number of units of 10 to the minus `scale`: 12.50 is 1250 units of scale 2. Decimals are equal if their values are.
///
/// Units have 128 bits because sums need more than 64: Σ price·(1−discount)·(1+tax) of a large database, exact in units
/// of 10⁻⁶, is about 2·10¹⁹. A number of more than 38 digits may not fit. It comes back as a text, which
/// [`ResultSet::decimal`](crate::session::ResultSet::decimal) refuses.
///
/// SQLite has no decimals. It would convert them to floating point, whose sums are inexact, and texts neither add up
/// nor compare as numbers. So a decimal is stored there as the integer of its units, in a column declared as
/// `DECIMAL(digits, scale)`:
/// * A value that is bound to a statement, or rendered into a text, must have the scale that the statement expects.
/// * Loading brings values to the scale of their columns, and refuses those that would lose digits.
/// * Plain columns come back as decimals. A computed value is an integer of units, and the statement must state their
///   scale: `SELECT SUM(price * (100 - discount)) || 'e-4'`.
/// * SQLite itself refuses a sum that exceeds 64 bits.
#[derive(Clone, Copy)]
pub struct Decimal {
    units: Units,
    scale: u8,
}

/// Aligned no more strictly than the other kinds of value, since that would make all of them larger.
#[derive(Debug, Clone, Copy)]
#[repr(Rust, packed(8))]
pub(crate) struct Units(i128);

impl Decimal {
    pub const fn new(units: i128, scale: u8) -> Self {
        Self { units: Units(units), scale }
    }

    pub const fn units(self) -> i128 {
        self.units.0
    }

    pub const fn scale(self) -> u8 {
        self.scale
    }

    pub(crate) const fn parts(self) -> (Units, u8) {
        (self.units, self.scale)
    }

    pub(crate) const fn of_parts(units: Units, scale: u8) -> Self {
        Self { units, scale }
    }

    /// The same value in units of another scale; `None` if it would lose digits or exceed 128 bits.
    pub fn at_scale(self, scale: u8) -> Option<Self> {
        let units = self.units();
        let factor = 10_i128.checked_pow(u32::from(scale.abs_diff(self.scale)));
        let units = match factor {
            _ if units == 0 => 0,
            Some(factor) if scale >= self.scale => units.checked_mul(factor)?,
            Some(factor) if units % factor == 0 => units / factor,
            _ => return None,
        };
        Some(Self::new(units, scale))
    }

    /// The same value without trailing zeros in its fraction.
    #[must_use]
    pub fn shortest(self) -> Self {
        let (mut units, mut scale) = (self.units(), self.scale);
        while scale > 0 && units % 10 == 0 {
            units /= 10;
            scale -= 1;
        }
        Self::new(units, scale)
    }

    /// Reads digits with an optional sign, fraction and exponent. `None` for any other text, and for more digits than
    /// fit.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (number, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i16>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let units = append(append(0, whole)?, fraction)?;
        let units = if unsigned.len() < text.len() { -units } else { units };
        let scale = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        match u8::try_from(scale) {
            Ok(scale) => Some(Self::new(units, scale)),
            Err(_) if scale < 0 => {
                let factor = 10_i128.checked_pow(u32::try_from(-scale).ok()?);
                Some(Self::new(if units == 0 { 0 } else { units.checked_mul(factor?)? }, 0))
            }
            Err(_) => None,
        }
    }

    /// The form that SQL and every text protocol use, in a buffer of its own.
    pub fn shown(self) -> ShownDecimal {
        const IN_CHUNK: usize = 19;
        const CHUNK: u128 = 10_u128.pow(19);
        let chunk = |of: u128| u64::try_from(of % CHUNK).unwrap_or(0);
        let scale = usize::from(self.scale);
        let magnitude = self.units().unsigned_abs();
        let (mut left, mut above) = (chunk(magnitude), magnitude / CHUNK);
        let mut shown = ShownDecimal { bytes: [b'0'; ShownDecimal::LONGEST], start: ShownDecimal::LONGEST };
        let mut digits = 0;
        while left > 0 || above > 0 || digits <= scale {
            if digits == scale && scale > 0 {
                shown.put(b'.');
            }
            shown.put(b'0' + (left % 10) as u8);
            left /= 10;
            digits += 1;
            // Division of 128 bits is slow, so one division yields many digits.
            if digits % IN_CHUNK == 0 {
                (left, above) = (chunk(above), above / CHUNK);
            }
        }
        if self.units() < 0 {
            shown.put(b'-');
        }
        shown
    }
}

/// The number with more digits appended.
fn append(number: i128, digits: &str) -> Option<i128> {
    /// 64 bits hold any number of this many digits.
    const PIECE: usize = 18;
    let mut number = number;
    for piece in digits.as_bytes().chunks(PIECE) {
        let (mut value, mut place) = (0_i64, 1_i64);
        for digit in piece {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value * 10 + i64::from(digit - b'0');
            place *= 10;
        }
        number = number.checked_mul(place.into())?.checked_add(value.into())?;
    }
    Some(number)
}

/// The text form of a decimal.
#[derive(Clone, Copy)]
pub struct ShownDecimal {
    bytes: [u8; Self::LONGEST],
    start: usize,
}

impl ShownDecimal {
    /// A sign, a digit, the point, and the longest fraction.
    const LONGEST: usize = 3 + u8::MAX as usize;

    fn put(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn as_str(&self) -> &str {
        // Only digits, a point and a sign were put there.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.shortest(), other.shortest());
        (one.units(), one.scale) == (other.units(), other.scale)
    }
}

impl Eq for Decimal {}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.shown().as_str())
    }
}

/// For messages: the units alone would mislead.
impl fmt::Debug for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(units: i128, scale: u8) -> String {
        Decimal::new(units, scale).to_string()
    }

    #[test]
    fn a_decimal_is_shown_with_all_digits_of_its_scale() {
        assert_eq!([shown(1250, 2), shown(-5, 2), shown(0, 3), shown(0, 0)], ["12.50", "-0.05", "0.000", "0"]);
        assert_eq!(shown(-70, 0), "-70");
        assert_eq!(shown(10_000_000_000_000_000_000, 6), "10000000000000.000000");
        assert_eq!(shown(i128::MIN, 38), "-1.70141183460469231731687303715884105728");
        assert_eq!(shown(-1, 255), format!("-0.{}1", "0".repeat(254)));
    }

    #[test]
    fn texts_are_read_with_their_exponents() {
        let parts = |text| Decimal::parse(text).map(|found| (found.units(), found.scale()));
        assert_eq!(parts("-12.50"), Some((-1250, 2)));
        assert_eq!((parts(".5"), parts("5."), parts("007")), (Some((5, 1)), Some((5, 0)), Some((7, 0))));
        assert_eq!(parts("20000000000000000001e-6"), Some((20_000_000_000_000_000_001, 6)));
        assert_eq!((parts("1.5e3"), parts("0e300"), parts("1e-255")), (Some((1500, 0)), Some((0, 0)), Some((1, 255))));
        for wrong in ["", "-", ".", "e5", "1e", "1e-256", "1e39", "+1", "1 ", "NaN", "Infinity", "1.2.3", "--1", "1é"]
        {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
        assert_eq!(parts(&"9".repeat(39)), None);
    }

    #[test]
    fn scales_change_without_loss_or_not_at_all() {
        let at = |units, scale, other| Decimal::new(units, scale).at_scale(other).map(Decimal::units);
        assert_eq!((at(125, 1, 2), at(1250, 2, 1), at(1251, 2, 1)), (Some(1250), Some(125), None));
        assert_eq!((at(i128::MAX, 0, 1), at(1, 0, 39), at(1, 39, 0), at(0, 0, 255)), (None, None, None, Some(0)));
    }

    #[test]
    fn values_are_compared_and_not_digits() {
        assert_eq!(Decimal::new(150, 2), Decimal::new(15, 1));
        assert_eq!(Decimal::new(0, 7), Decimal::new(0, 0));
        assert_ne!(Decimal::new(150, 2), Decimal::new(150, 1));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(units in -i128::MAX..=i128::MAX, shift in 0_u32..127, scale in any::<u8>()) {
            let units = units >> shift;
            let found = Decimal::parse(&shown(units, scale)).unwrap();
            prop_assert_eq!((found.units(), found.scale()), (units, scale));
            prop_assert_eq!(shown(units, 0), units.to_string());
        }

        #[test]
        fn arbitrary_texts_never_panic(text in "[-+.eE0-9]{0,60}|.{0,20}") {
            let _ = Decimal::parse(&text);
        }
    }
}
