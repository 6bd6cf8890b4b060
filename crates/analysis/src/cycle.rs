//! Whether a series of seconds has a periodic cycle, as checkpoints, flushes and vacuums cause.
//!
//! Autocorrelated noise makes waves too, so the trend and what each second owes to the one before (an autoregressive
//! process of order one) are removed first. If there is no cycle, white noise is left. The periodogram is then searched
//! for a period whose harmonics together hold more power than white noise gives any: the H test of O. de Jager, J.
//! Swanepoel and B. Raubenheimer (1989). It assumes no shape: it finds a dip of three seconds every thirty as well as a
//! sine wave. Its tail is that of their (and I. Büsching's, 2010) formula, exp(−0.4 H).

use crate::{batches, student};
use std::f64::consts::TAU;

/// The highest rate at which noise alone may be called a cycle.
pub const LEVEL: f64 = 0.01;

/// In fewer seconds, a period of a few seconds does not recur often enough.
pub const FEWEST_SECONDS: usize = 32;

/// A cycle must recur at least this often.
const FEWEST_TIMES: usize = 4;

/// The shortest period, in samples.
const SHORTEST: usize = 4;

/// Longer series are averaged down to this many samples, since the search takes time with the square of their number.
const MOST_SAMPLES: usize = 3_600;

/// How many frequencies are searched for each independent one; a cycle between two of those would be missed.
const OVERSAMPLING: usize = 8;

/// The highest number of harmonics; sharper shapes are not distinguished.
const MOST_HARMONICS: usize = 20;

/// What the H test subtracts for each harmonic beyond the first.
const PENALTY: f64 = 4.0;

/// The slope of the tail of H.
const TAIL: f64 = 0.4;

/// If a half or a third of the best period explains nearly as much, it is the true period: its multiples always fit as well.
const NEARLY_AS_GOOD: f64 = 0.8;

/// The period of a cycle in values of consecutive seconds; `None` if none is found.
pub fn period_s(seconds: &[f64]) -> Option<f64> {
    let seconds_each = seconds.len().div_ceil(MOST_SAMPLES);
    let samples = batches::means(seconds, seconds_each);
    let white = whitened(&samples)?;
    let (score, period) = best(&white);
    let fundamentals = white.len() as f64 / 2.0;
    let needed = (fundamentals / LEVEL).ln() / TAIL;
    (score > needed).then_some(period * seconds_each as f64)
}

/// The series without its trend and without what each value owes to the one before, scaled to a variance of one. `None`
/// if nothing varies.
fn whitened(values: &[f64]) -> Option<Vec<f64>> {
    let count = values.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let times = || (0..values.len()).map(|index| index as f64 - middle);
    let mean = student::mean_of(values);
    let slope = times().zip(values).map(|(time, value)| time * value).sum::<f64>()
        / times().map(|time| time * time).sum::<f64>();
    let level: Vec<f64> = times().zip(values).map(|(time, value)| value - mean - slope * time).collect();
    let squares: f64 = level.iter().map(|value| value * value).sum();
    if squares <= f64::EPSILON * count * mean * mean {
        return None;
    }
    let memory = level.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
    // On average the estimate is too low by about this much (Marriott and Pope, 1954).
    let memory = (memory + (1.0 + 4.0 * memory) / count).clamp(-0.99, 0.99);
    let news: Vec<f64> = level.windows(2).map(|pair| pair[1] - memory * pair[0]).collect();
    let mean = student::mean_of(&news);
    let spread = (news.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / news.len() as f64).sqrt();
    (spread > 0.0).then(|| news.iter().map(|value| (value - mean) / spread).collect())
}

/// The highest H of any period, and that period in samples.
fn best(white: &[f64]) -> (f64, f64) {
    let power = periodogram(white);
    let (slowest, fastest) = (FEWEST_TIMES * OVERSAMPLING, white.len() * OVERSAMPLING / SHORTEST);
    let scores: Vec<f64> = (slowest..=fastest).map(|place| score(&power, place)).collect();
    let highest = |from: usize, to: usize| {
        let places = (from.max(slowest)..=to.min(fastest)).map(|place| (place, scores[place - slowest]));
        places.fold((slowest, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best })
    };
    let (mut place, best) = highest(slowest, fastest);
    for part in (2..=5).rev() {
        let (shorter, score) = highest(part * place - part, part * place + part);
        if score >= NEARLY_AS_GOOD * best {
            place = shorter;
            break;
        }
    }
    (best, (white.len() * OVERSAMPLING) as f64 / place as f64)
}

/// H of the frequency at this place of the periodogram: twice the power of the best number of harmonics, minus their penalty.
fn score(power: &[f64], place: usize) -> f64 {
    let harmonics = (1..=MOST_HARMONICS).map_while(|harmonic| power.get(harmonic * place));
    let mut sum = 0.0;
    let mut price = 0.0;
    harmonics.fold(f64::NEG_INFINITY, |best, power| {
        sum += 2.0 * power;
        let score = sum - price;
        price += PENALTY;
        best.max(score)
    })
}

/// Power at every frequency up to half a cycle per sample, with [`OVERSAMPLING`] frequencies for each independent one.
/// White noise of variance one has a mean power of one.
fn periodogram(white: &[f64]) -> Vec<f64> {
    let places = white.len() * OVERSAMPLING;
    let power = |place: usize| {
        let (turn_sine, turn_cosine) = (TAU * place as f64 / places as f64).sin_cos();
        let (mut cosine, mut sine) = (1.0, 0.0);
        let (mut real, mut imaginary) = (0.0, 0.0);
        for value in white {
            real += value * cosine;
            imaginary += value * sine;
            (cosine, sine) = (cosine * turn_cosine - sine * turn_sine, sine * turn_cosine + cosine * turn_sine);
        }
        (real * real + imaginary * imaginary) / white.len() as f64
    };
    (0..=places / 2).map(power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    struct Noise(Pcg64Mcg);

    impl Noise {
        fn seeded(seed: u64) -> Self {
            Self(Pcg64Mcg::seed_from_u64(seed))
        }

        fn uniform(&mut self) -> f64 {
            (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn normal(&mut self) -> f64 {
            (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (TAU * self.uniform()).cos()
        }

        /// A series in which each value keeps a share of the one before.
        fn series(&mut self, length: usize, memory: f64) -> Vec<f64> {
            let mut last = 0.0;
            let mut next = || {
                last = memory * last + self.normal();
                last
            };
            (0..100).for_each(|_| {
                next();
            });
            (0..length).map(|_| next()).collect()
        }
    }

    fn deterministic(length: u32) -> Vec<f64> {
        (0..length)
            .map(|time| {
                f64::from((time * time * 7_919 + time * 31) % 1_009) / 1_009.0 - if time % 30 < 3 { 2.0 } else { 0.0 }
            })
            .collect()
    }

    /// `numpy.abs(numpy.fft.rfft(w, 8 * len(w))) ** 2 / len(w)`, and H computed from it by definition, with numpy
    /// 2.4.6, for the series above, whitened as here with plain loops.
    #[test]
    fn power_and_score_are_those_of_numpy() {
        let white = whitened(&deterministic(240)).unwrap();
        let power = periodogram(&white);
        for (place, expected) in POWER {
            assert!((power[place] - expected).abs() < 1e-6, "{place}: {}", power[place]);
        }
        let (score, period) = best(&white);
        assert!((score - SCORE.0).abs() < 1e-6 && (period - SCORE.1).abs() < 1e-9, "{score} {period}");
    }

    const POWER: [(usize, f64); 3] = [(8, 0.262_519_706_7), (64, 5.864_178_787_7), (500, 1.099_205_259_3)];
    const SCORE: (f64, f64) = (77.574_394_632_8, 29.875);

    #[track_caller]
    fn found(series: &[f64], period_s: f64) {
        let period = super::period_s(series).expect("a cycle");
        assert!((period / period_s - 1.0).abs() < 0.05, "{period}");
    }

    #[test]
    fn a_checkpoint_every_thirty_seconds_is_found() {
        for (length, depth, memory) in [(240, 50.0, 0.0), (600, 25.0, 0.0), (600, 35.0, 0.5), (1_200, 40.0, 0.7)] {
            let noise = Noise::seeded(7).series(length, memory);
            let series: Vec<f64> = noise
                .iter()
                .enumerate()
                .map(|(second, noise)| 1_000.0 + 10.0 * noise - if (second + 11) % 30 < 3 { depth } else { 0.0 })
                .collect();
            found(&series, 30.0);
        }
    }

    #[test]
    fn a_wave_is_found_at_its_own_period_and_not_at_a_multiple() {
        for seed in 0..20 {
            let noise = Noise::seeded(seed).series(600, 0.2);
            let wave = |second: usize| (TAU * second as f64 / 45.0).sin();
            let series: Vec<f64> =
                noise.iter().enumerate().map(|(second, noise)| 500.0 + noise + 1.5 * wave(second)).collect();
            found(&series, 45.0);
        }
    }

    #[test]
    fn long_series_keep_their_seconds() {
        let noise = Noise::seeded(3).series(9_000, 0.0);
        let series: Vec<f64> =
            noise.iter().enumerate().map(|(second, noise)| noise - if second % 300 < 40 { 3.0 } else { 0.0 }).collect();
        found(&series, 300.0);
    }

    /// White noise and autocorrelated noise, drifting or not: a thousand series of each kind.
    #[test]
    fn noise_is_called_a_cycle_no_more_often_than_stated() {
        for (length, memory, drift) in
            [(60, 0.0, 0.0), (120, 0.0, 0.0), (120, 0.5, 0.05), (120, 0.9, 0.0), (300, 0.7, 0.01)]
        {
            let mut noise = Noise::seeded(20_261_121);
            let called = (0..1_000).filter(|_| {
                let series = noise.series(length, memory);
                let series: Vec<f64> =
                    series.iter().enumerate().map(|(second, value)| value + drift * second as f64).collect();
                period_s(&series).is_some()
            });
            let called = called.count() as f64 / 1_000.0;
            assert!(called <= LEVEL, "{length} {memory}: {called}");
        }
    }

    #[test]
    fn what_does_not_vary_has_no_cycle() {
        assert_eq!(period_s(&[5.0; 100]), None);
        assert_eq!(period_s(&[0.0; 100]), None);
        assert_eq!(period_s(&(0..100).map(f64::from).collect::<Vec<_>>()), None);
    }
}
