//! Distributions of row numbers, as load generators for databases use them: which rows are hot, and how hot.
//!
//! Each is over `0..count` and is set up once for its count. Only pareto and zipfian values depend on the
//! mathematical library; uniform, gaussian and special ones are the same on every machine.

use super::RandomStream;
use super::zipf::Zipf;

/// The shape of a distribution, whatever its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistributionShape {
    Uniform,
    /// A bell over the whole range: the mean of several uniform draws.
    Gaussian {
        draws: u32,
    },
    /// A bell, and a band in its middle that is hit uniformly.
    SpecialOf04(Special),
    /// As in sysbench 1.0: the same draw selects the band and the place in it, so the band's share never hits its
    /// lowest values.
    SpecialOf10(Special),
    /// `count · U^p` with p = ln h / ln (1 − h): a share of 1 − h of the draws falls into the lowest share h of the range.
    Pareto {
        h: f64,
    },
    /// The lowest value is the most frequent.
    Zipfian {
        exponent: f64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// Uniform draws whose mean makes the bell.
    pub draws: u32,
    /// Width of the band in percent of the range.
    pub band_percent: u32,
    /// The percentage of values meant for the band; below 100.
    pub into_band_percent: u32,
}

/// A shape over `0..count`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution {
    count: u64,
    form: DistributionForm,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum DistributionForm {
    Uniform,
    Gaussian { draws: u32 },
    SpecialOf04 { draws: u32, band: Band, drawn_from: u64 },
    SpecialOf10 { draws: u32, band: Band, into_bell: f64 },
    Pareto { power: f64 },
    Zipfian(Zipf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Band {
    start: u64,
    width: u64,
}

impl Band {
    fn of(special: Special, count: u64) -> Self {
        let width = (count * u64::from(special.band_percent) / 100).max(1);
        Self { start: count / 2 - width / 2, width }
    }
}

impl Distribution {
    /// `count` must be at least 1.
    pub fn new(shape: DistributionShape, count: u64) -> Self {
        let form = match shape {
            DistributionShape::Uniform => DistributionForm::Uniform,
            DistributionShape::Gaussian { draws } => DistributionForm::Gaussian { draws },
            DistributionShape::SpecialOf04(special) => DistributionForm::SpecialOf04 {
                draws: special.draws,
                band: Band::of(special, count),
                drawn_from: count * 100 / u64::from(100 - special.into_band_percent),
            },
            DistributionShape::SpecialOf10(special) => DistributionForm::SpecialOf10 {
                draws: special.draws,
                band: Band::of(special, count),
                into_bell: f64::from(100 - special.into_band_percent) / 100.0,
            },
            DistributionShape::Pareto { h } => DistributionForm::Pareto { power: h.ln() / (-h).ln_1p() },
            DistributionShape::Zipfian { exponent } => DistributionForm::Zipfian(Zipf::new(exponent, count)),
        };
        Self { count, form }
    }

    pub fn draw(&self, stream: &mut RandomStream) -> u64 {
        let drawn = match &self.form {
            DistributionForm::Uniform => stream.below(self.count),
            DistributionForm::Gaussian { draws } => self.bell(stream, *draws),
            DistributionForm::SpecialOf04 { draws, band, drawn_from } => match stream.below(*drawn_from) {
                inside if inside >= self.count => band.start + inside % band.width,
                _ => self.bell(stream, *draws),
            },
            DistributionForm::SpecialOf10 { draws, band, into_bell } => match stream.fraction() {
                inside if inside >= *into_bell => band.start + whole(inside * band.width as f64),
                _ => self.bell(stream, *draws),
            },
            DistributionForm::Pareto { power } => whole(stream.fraction().powf(*power) * self.count as f64),
            DistributionForm::Zipfian(zipf) => whole(zipf.draw(stream)) - 1,
        };
        drawn.min(self.count - 1)
    }

    fn bell(&self, stream: &mut RandomStream, draws: u32) -> u64 {
        let sum: f64 = (0..draws).map(|_| stream.fraction()).sum();
        whole(sum / f64::from(draws) * self.count as f64)
    }
}

/// The whole part of a number that is not negative and far below 2^53.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what it is for")]
fn whole(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests;
