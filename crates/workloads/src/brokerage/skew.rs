//! Skewed draws whose weight lies on ranges of values, of trade ids and of times.
//!
//! The original's masks are made for its smallest published size. A smaller range has a smaller mask, so that it covers about
//! the same share of the range.

use super::size::BrokerageSize;
use crate::random::RandomStream;

/// Draws between two values, skewed by a mask that is shifted, so that neighbours have the same weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShiftedSkew {
    low: i64,
    high: i64,
    mask: i64,
    shift: u32,
}

impl ShiftedSkew {
    pub const fn new(low: i64, high: i64, mask: i64, shift: u32) -> Self {
        Self { low, high, mask, shift }
    }

    pub fn draw(self, stream: &mut RandomStream) -> i64 {
        let value = stream.uniform(self.low, self.high);
        let mask = stream.uniform(0, self.mask) << self.shift;
        (value | mask) % (self.high - self.low + 1) + self.low
    }

    /// Over a range from 1, with a mask that fits it.
    fn scaled(high: i64, original: Original) -> Self {
        let bits = original.mask_bits + original.shift;
        let halvings = (original.high as f64 / high as f64).log2().round().max(0.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 64")]
        let bits = bits.saturating_sub(halvings as u32);
        let mask_bits = bits.min(original.mask_bits);
        Self::new(1, high.max(1), (1 << mask_bits) - 1, bits - mask_bits)
    }
}

/// A mask and the range that it was made for.
#[derive(Clone, Copy)]
struct Original {
    high: i64,
    mask_bits: u32,
    shift: u32,
}

const PUBLISHED: BrokerageSize = BrokerageSize { customers: 5_000, days: 300, scale_factor: 500 };

/// The number of an initial order. It may be one that was given up.
pub fn orders(size: BrokerageSize) -> ShiftedSkew {
    let original = Original { high: PUBLISHED.orders().cast_signed(), mask_bits: 16, shift: 7 };
    ShiftedSkew::scaled(size.orders().cast_signed(), original)
}

/// A time of the initial trading in milliseconds, so long before its end.
pub fn times(size: BrokerageSize, before_end_ms: i64) -> ShiftedSkew {
    let original = Original { high: PUBLISHED.trading_ms(), mask_bits: 12, shift: 16 };
    ShiftedSkew::scaled(size.trading_ms() - before_end_ms, original)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_shrink_with_their_ranges() {
        assert_eq!(orders(PUBLISHED), ShiftedSkew::new(1, 87_264_000, 65_535, 7));
        let small = BrokerageSize { customers: 1_000, days: 25, scale_factor: 500 };
        assert_eq!(orders(small), ShiftedSkew::new(1, 1_454_400, 65_535, 1));
        assert_eq!(times(small, 0), ShiftedSkew::new(1, 720_000_000, 4_095, 12));
        let tiny = BrokerageSize { customers: 1_000, days: 5, scale_factor: 20_000 };
        assert_eq!(orders(tiny), ShiftedSkew::new(1, 7_272, 511, 0));
    }

    #[test]
    fn draws_stay_in_their_range_and_prefer_set_bits() {
        let skew = ShiftedSkew::new(1, 1_000, 63, 2);
        let mut stream = RandomStream::new(42, "test", [0, 0]);
        let draws: Vec<_> = (0..10_000).map(|_| skew.draw(&mut stream)).collect();
        assert!(draws.iter().all(|drawn| (1..=1_000).contains(drawn)));
        let set = draws.iter().filter(|drawn| ((*drawn - 1) >> 2) & 1 == 1).count();
        assert!(set > 7_000, "{set}");
    }
}
