//! The standard normal distribution: below which value lies which share, and back.

/// Beyond this many standard deviations the share is 0 or 1 to the last bit of a double.
const FARTHEST: f64 = 8.3;

/// Halvings of the range after which no double lies between the ends.
const HALVINGS: usize = 60;

/// The density at `value`.
pub fn density(value: f64) -> f64 {
    (-0.5 * value * value).exp() / std::f64::consts::TAU.sqrt()
}

/// The share of values below `value`: the Taylor series of the integral of the density (Marsaglia 2004), whose terms
/// are all of one sign, so that nothing cancels.
pub fn share_below(value: f64) -> f64 {
    if value.abs() >= FARTHEST || value.is_nan() {
        return if value < 0.0 { 0.0 } else { 1.0 };
    }
    let (mut term, mut sum, mut odd) = (value, value, 1.0);
    while (sum + term).abs() > sum.abs() || odd < 3.0 {
        odd += 2.0;
        term *= value * value / odd;
        sum += term;
        if term == 0.0 {
            break;
        }
    }
    0.5 + sum * density(value)
}

/// The value below which lies this share. Shares of 0 and 1 give the farthest value that can be told apart.
pub fn value_at(share: f64) -> f64 {
    let (mut low, mut high) = (-FARTHEST, FARTHEST);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if share_below(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `scipy.stats.norm.cdf` of -3, -1, 0.5, 1.96 and 6 (scipy 1.17.1).
    #[test]
    fn shares_are_those_scipy_finds() {
        let expected = [
            (-3.0, 0.001_349_898_031_630_093),
            (-1.0, 0.158_655_253_931_457_07),
            (0.5, 0.691_462_461_274_013_1),
            (1.96, 0.975_002_104_851_779_5),
            (6.0, 0.999_999_999_013_412_3),
        ];
        for (value, share) in expected {
            assert!((share_below(value) - share).abs() < 1e-15, "{value}: {}", share_below(value));
        }
        assert_eq!((share_below(0.0), share_below(-9.0), share_below(9.0)), (0.5, 0.0, 1.0));
    }

    /// `scipy.stats.norm.ppf` of 0.025, 0.6, 0.9999 and 0.00001 (scipy 1.17.1).
    #[test]
    fn values_are_those_scipy_finds() {
        let expected = [
            (0.025, -1.959_963_984_540_054_5),
            (0.6, 0.253_347_103_135_799_7),
            (0.9999, 3.719_016_485_455_709),
            (1e-5, -4.264_890_793_922_825),
        ];
        for (share, value) in expected {
            assert!((value_at(share) - value).abs() < 1e-10, "{share}: {}", value_at(share));
        }
    }

    proptest! {
        #[test]
        fn going_there_and_back_is_going_nowhere(value in -5.0..5.0_f64) {
            prop_assert!((value_at(share_below(value)) - value).abs() < 1e-8);
        }

        #[test]
        fn both_sides_are_mirror_images(value in -8.0..8.0_f64) {
            prop_assert!((share_below(value) + share_below(-value) - 1.0).abs() < 1e-14);
        }
    }
}
