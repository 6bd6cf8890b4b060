//! Zipf's distribution over a bounded number of ranks, without a table of them.
//!
//! Rejection-inversion (Hörmann and Derflinger, 1996): the area under a continuous curve covers the bars of the
//! histogram. A point of that area is drawn by inverting its integral, and the few points above a bar are thrown
//! away. One or two draws are enough, whatever the number of ranks.

use super::RandomStream;

/// Ranks from 1 to `last`, each with a frequency in proportion to `rank^-exponent`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zipf {
    exponent: f64,
    last: f64,
    /// Where the area to draw from begins: the integral at the right edge of the first bar, less that bar's area of 1.
    area_begin: f64,
    area_end: f64,
    /// A point at most this far to the left of its rank is always below the bar.
    surely_below: f64,
}

impl Zipf {
    /// `exponent` above 0; `last` at least 1.
    pub fn new(exponent: f64, last: u64) -> Self {
        let mut zipf = Self { exponent, last: last as f64, area_begin: 0.0, area_end: 0.0, surely_below: 0.0 };
        zipf.area_begin = zipf.integral(1.5) - 1.0;
        zipf.area_end = zipf.integral(zipf.last + 0.5);
        zipf.surely_below = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.height(2.0));
        zipf
    }

    /// Draws a rank, which is a whole number.
    pub fn draw(&self, stream: &mut RandomStream) -> f64 {
        loop {
            let area = self.area_end + stream.fraction() * (self.area_begin - self.area_end);
            let place = self.integral_inverse(area);
            let rank = place.round().clamp(1.0, self.last);
            let is_below = rank - place <= self.surely_below;
            if is_below || area >= self.integral(rank + 0.5) - self.height(rank) {
                return rank;
            }
        }
    }

    /// The curve over the bars.
    fn height(&self, place: f64) -> f64 {
        (-self.exponent * place.ln()).exp()
    }

    /// Its integral from 1.
    fn integral(&self, place: f64) -> f64 {
        let log = place.ln();
        growth((1.0 - self.exponent) * log) * log
    }

    fn integral_inverse(&self, area: f64) -> f64 {
        // Only rounding makes it less than -1.
        let scaled = (area * (1.0 - self.exponent)).max(-1.0);
        (log_growth(scaled) * area).exp()
    }
}

/// Closer to 0 than this, the first terms of a series are more exact than a quotient of two vanishing numbers.
const NEAR_ZERO: f64 = 1e-8;

/// (e^x − 1) / x.
fn growth(x: f64) -> f64 {
    if x.abs() > NEAR_ZERO { x.exp_m1() / x } else { 1.0 + x / 2.0 }
}

/// ln(1 + x) / x.
fn log_growth(x: f64) -> f64 {
    if x.abs() > NEAR_ZERO { x.ln_1p() / x } else { 1.0 - x / 2.0 }
}
