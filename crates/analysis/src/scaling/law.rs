//! A fitted law with intervals over blocks, and whether its peak is a finding or an extrapolation.

use super::fit::{self, AMDAHL, Fit, Terms, UNIVERSAL};
use crate::estimate::{Bounds, Estimate, EstimateMethod};
use crate::missing::Missing;
use crate::student;
use serde::{Deserialize, Serialize};

/// With fewer sizes, the three numbers of the law come near the points in any case, and a peak is found where there is
/// none.
const FEWEST_SIZES_FOR_A_PEAK: usize = 6;

/// A peak further out than this many times the largest measured size lies where nothing was seen.
const FURTHEST_PEAK: f64 = 2.0;

/// Points of a drawn curve.
const CURVE_POINTS: u32 = 40;

/// The Universal Scalability Law through one contender's sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UniversalLaw {
    /// The sizes to which it was fitted.
    pub sizes: Vec<f64>,
    /// How many blocks have all sizes; only these are used.
    pub blocks: usize,
    /// λ.
    pub rate_of_one: Estimate,
    /// σ.
    pub contention: Estimate,
    /// κ.
    pub coherency: Estimate,
    /// The largest relative distance of a point from the curve; a point value.
    pub furthest_off: f64,
    pub peak: LawPeak,
    /// For drawing, within the measured sizes.
    pub curve: Vec<LawPoint>,
}

/// Amdahl's law for the same sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmdahlsLaw {
    pub rate_of_one: Estimate,
    pub contention: Estimate,
    pub furthest_off: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LawPoint {
    pub size: f64,
    pub throughput: f64,
}

/// The size beyond which throughput falls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "peak", rename_all = "kebab-case")]
pub enum LawPeak {
    Determined {
        size: Estimate,
    },
    /// The data do not show where it is.
    NotDetermined {
        /// Where the curve would peak if it continued as fitted; this is not a finding.
        extrapolated: Option<f64>,
        why: Vec<Missing>,
    },
}

/// From one row for each block that has all sizes, in the order of blocks, with one positive throughput for each size.
pub fn universal(sizes: &[f64], blocks: &[Vec<f64>]) -> Option<UniversalLaw> {
    let found = Fitted::of(UNIVERSAL, sizes, blocks)?;
    let [rate_of_one, contention, coherency] = found.estimates();
    let size = found.positive(|fit| fit.peak().unwrap_or(f64::INFINITY));
    Some(UniversalLaw {
        sizes: sizes.to_vec(),
        blocks: blocks.len(),
        peak: peak(&found.fit, &coherency, size, sizes),
        rate_of_one,
        contention,
        coherency,
        furthest_off: furthest_off(&found.fit, &found.points),
        curve: curve(&found.fit, &found.points),
    })
}

pub fn amdahl(sizes: &[f64], blocks: &[Vec<f64>]) -> Option<AmdahlsLaw> {
    let found = Fitted::of(AMDAHL, sizes, blocks)?;
    let [rate_of_one, contention, _] = found.estimates();
    Some(AmdahlsLaw { rate_of_one, contention, furthest_off: furthest_off(&found.fit, &found.points) })
}

/// Each size with its geometric mean throughput over these blocks.
fn means<'a>(sizes: &[f64], blocks: impl Iterator<Item = &'a Vec<f64>>) -> Option<Vec<(f64, f64)>> {
    let blocks: Vec<&Vec<f64>> = blocks.collect();
    let mean = |place: usize| (blocks.iter().map(|row| row[place].ln()).sum::<f64>() / blocks.len() as f64).exp();
    let points = sizes.iter().enumerate().map(|(place, size)| (*size, mean(place)));
    (!blocks.is_empty()).then(|| points.collect())
}

/// The law fitted to all blocks, and without each of them in turn.
struct Fitted {
    points: Vec<(f64, f64)>,
    fit: Fit,
    without: Vec<Fit>,
    blocks: usize,
}

impl Fitted {
    fn of(law: Terms, sizes: &[f64], blocks: &[Vec<f64>]) -> Option<Self> {
        let points = means(sizes, blocks.iter())?;
        let fit = fit::fit(law, &points)?;
        let but = |left_out: usize| blocks[..left_out].iter().chain(&blocks[left_out + 1..]);
        let without = (0..blocks.len()).filter_map(|block| fit::fit(law, &means(sizes, but(block))?)).collect();
        Some(Self { points, fit, without, blocks: blocks.len() })
    }

    /// λ, σ and κ.
    fn estimates(&self) -> [Estimate; 3] {
        [self.positive(|fit| fit.rate_of_one), self.share(|fit| fit.contention), self.share(|fit| fit.coherency)]
    }

    /// A number that cannot be negative: an interval reaches below zero only because it is symmetric.
    fn share(&self, number: fn(&Fit) -> f64) -> Estimate {
        estimate(number(&self.fit), self.bounds(number).map(|end| end.max(0.0)))
    }

    fn positive(&self, number: fn(&Fit) -> f64) -> Estimate {
        estimate(number(&self.fit), self.bounds(|fit| number(fit).ln()).map(f64::exp))
    }

    fn bounds(&self, number: impl Fn(&Fit) -> f64) -> Bounds {
        if self.blocks < student::FEWEST_BLOCKS {
            return student::too_few(self.blocks);
        }
        let without: Vec<f64> = self.without.iter().map(&number).collect();
        let is_whole = without.len() == self.blocks;
        match student::jackknife(number(&self.fit), &without) {
            // An end of an interval must be a finite number.
            Bounds::Known { low, high } if is_whole && low.is_finite() && high.is_finite() => {
                Bounds::Known { low, high }
            }
            _ => Bounds::Unknown { why: Missing::NeedsEveryBlock },
        }
    }
}

fn estimate(point: f64, bounds: Bounds) -> Estimate {
    Estimate { point, bounds, method: EstimateMethod::ScalabilityLaw }
}

fn peak(fit: &Fit, coherency: &Estimate, size: Estimate, sizes: &[f64]) -> LawPeak {
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let mut why = match fit.peak() {
        None => vec![Missing::NoCoherency],
        Some(peak) if peak > FURTHEST_PEAK * largest => vec![Missing::PeakBeyond { times: FURTHEST_PEAK, largest }],
        Some(peak) if peak < smallest => vec![Missing::PeakBelow { smallest }],
        Some(_) => Vec::new(),
    };
    if sizes.len() < FEWEST_SIZES_FOR_A_PEAK {
        why.push(Missing::TooFewSizes { sizes: sizes.len(), needed: FEWEST_SIZES_FOR_A_PEAK });
    }
    match &coherency.bounds {
        Bounds::Unknown { why: reason } => why.push(Missing::NoInterval { why: Box::new(reason.clone()) }),
        Bounds::Known { low, .. } if *low <= 0.0 && fit.peak().is_some() => {
            why.push(Missing::CoherencyMayBeZero);
        }
        Bounds::Known { .. } => {}
    }
    if why.is_empty() && size.bounds.known().is_none() {
        why.push(Missing::NoUpperEnd);
    }
    if why.is_empty() { LawPeak::Determined { size } } else { LawPeak::NotDetermined { extrapolated: fit.peak(), why } }
}

fn furthest_off(fit: &Fit, points: &[(f64, f64)]) -> f64 {
    points.iter().map(|&(size, rate)| (fit.at(size) / rate - 1.0).abs()).fold(0.0, f64::max)
}

fn curve(fit: &Fit, points: &[(f64, f64)]) -> Vec<LawPoint> {
    let (first, last) = (points.first().map_or(0.0, |point| point.0), points.last().map_or(0.0, |point| point.0));
    let size = |step: u32| first + (last - first) * f64::from(step) / f64::from(CURVE_POINTS);
    (0..=CURVE_POINTS).map(|step| LawPoint { size: size(step), throughput: fit.at(size(step)) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    /// Blocks that follow the law with errors of about one per cent, different for each size.
    fn blocks(truth: &Fit, count: u32) -> Vec<Vec<f64>> {
        let error = |block: u32, place: u32| 1.0 + 0.01 * (f64::from(block * 7 + place * 3) * 1.7).sin();
        let of_block =
            |block: u32| (0..).zip(SIZES).map(|(place, size)| truth.at(size) * error(block, place)).collect();
        (0..count).map(of_block).collect()
    }

    #[test]
    fn a_peak_that_was_passed_is_determined_and_its_interval_holds_it() {
        let truth = Fit { rate_of_one: 1000.0, contention: 0.02, coherency: 0.001 };
        let blocks = blocks(&truth, 6);
        let law = universal(&SIZES, &blocks).unwrap();
        let LawPeak::Determined { size } = &law.peak else { panic!("{law:?}") };
        assert_eq!(size.bounds.contain(truth.peak().unwrap()), Some(true), "{size:?}");
        assert_eq!(law.contention.bounds.contain(0.02), Some(true), "{law:?}");
        assert_eq!(law.coherency.bounds.contain(0.001), Some(true), "{law:?}");
        assert!(law.furthest_off < 0.02);
        assert_eq!(law.curve.len(), 41);
    }

    /// The law is fitted as in [`super::super::fit`] to all six blocks and to each five of them. The half widths below
    /// are for the logarithms of λ and of the peak, and for plain σ and κ (scipy 1.17.1):
    /// `scipy.stats.t.ppf(0.975, 5) * (5 / 6 * ((v - v.mean())**2).sum())**0.5`.
    #[test]
    fn intervals_are_those_of_scipy() {
        let truth = Fit { rate_of_one: 1000.0, contention: 0.02, coherency: 0.001 };
        let law = universal(&SIZES, &blocks(&truth, 6)).unwrap();
        let LawPeak::Determined { size } = &law.peak else { panic!("{law:?}") };
        for (found, point, low, high) in [
            (&law.rate_of_one, 999.223_826, 992.850_421, 1_005.638_14),
            (&law.contention, 0.019_693_137_7, 0.017_844_030_6, 0.021_542_244_9),
            (&law.coherency, 0.001_010_944_18, 0.000_978_702_902, 0.001_043_185_45),
            (size, 31.139_915_8, 30.676_393_1, 31.610_442_4),
        ] {
            let (found_low, found_high) = found.bounds.known().unwrap();
            for (found, expected) in [(found.point, point), (found_low, low), (found_high, high)] {
                assert!((found / expected - 1.0).abs() < 1e-5, "found {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn without_a_bend_there_is_no_peak() {
        let truth = Fit { rate_of_one: 1000.0, contention: 0.05, coherency: 0.0 };
        let blocks = blocks(&truth, 6);
        let law = universal(&SIZES, &blocks).unwrap();
        let LawPeak::NotDetermined { why, .. } = &law.peak else { panic!("{law:?}") };
        assert!(!why.is_empty());
        let amdahl = amdahl(&SIZES, &blocks).unwrap();
        assert_eq!(amdahl.contention.bounds.contain(0.05), Some(true), "{amdahl:?}");
    }

    /// The law that has a peak with seven sizes has none that is believed with five.
    #[test]
    fn five_sizes_name_no_peak() {
        let truth = Fit { rate_of_one: 1000.0, contention: 0.02, coherency: 0.001 };
        let blocks: Vec<Vec<f64>> = blocks(&truth, 6).into_iter().map(|block| block[2..].to_vec()).collect();
        let law = universal(&SIZES[2..], &blocks).unwrap();
        let LawPeak::NotDetermined { extrapolated: Some(size), why } = &law.peak else { panic!("{law:?}") };
        assert!((25.0..40.0).contains(size), "{law:?}");
        assert_eq!(why, &[Missing::TooFewSizes { sizes: 5, needed: 6 }]);
    }

    #[test]
    fn every_reason_against_a_peak_is_given() {
        let truth = Fit { rate_of_one: 1000.0, contention: 0.0, coherency: 0.0001 };
        let blocks = vec![[1.0, 2.0, 4.0].map(|size| truth.at(size)).to_vec(); 2];
        let law = universal(&[1.0, 2.0, 4.0], &blocks).unwrap();
        let LawPeak::NotDetermined { extrapolated, why } = law.peak else { panic!("two blocks and three sizes") };
        assert!((extrapolated.unwrap() - 100.0).abs() < 1e-3);
        assert_eq!(why.len(), 3, "{why:?}");
        assert!(
            matches!(
                why[..],
                [Missing::PeakBeyond { .. }, Missing::TooFewSizes { sizes: 3, .. }, Missing::NoInterval { .. }]
            ),
            "{why:?}"
        );
    }

    #[test]
    fn nothing_measured_is_no_law() {
        assert_eq!(universal(&SIZES, &[]), None);
        assert_eq!(amdahl(&[1.0], &[vec![1.0]]), None);
    }
}
