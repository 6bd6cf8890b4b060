//! The worth of one column over a window, or the parts of one: the difference of a count, or the mean of a reading.

use super::CountedRate;
use super::window::SideWindow;
use record::telemetry::Behaviour;

/// The samples around an end of the window may be this far apart, or a twentieth of the window. If they are further
/// apart, it is unknown on which side of the end something was counted.
const FURTHEST_APART_NS: u64 = 2_500_000_000;
const FURTHEST_SHARE: u64 = 20;

/// A sample this near to an end may stand for it where there is none beyond: the clocks of the two sides agree no better.
const NEAR_NS: u64 = 100_000_000;

/// For counts that grow by a few per second, rates over less than this are mostly chance.
const SHORTEST_NS: u64 = 500_000_000;

/// The worth of a column over all parts, from its samples `(at_ns, value)`; `None` if they do not determine it.
pub fn worth(behaviour: Behaviour, points: &[(u64, u64)], parts: &[SideWindow]) -> Option<f64> {
    match behaviour {
        Behaviour::Counts => parts.iter().map(|part| difference(points, part)).sum(),
        Behaviour::Stands => {
            let weighted = |part: &SideWindow| Some(mean(points, part)? * part.seconds());
            let seconds: f64 = parts.iter().map(SideWindow::seconds).sum();
            Some(parts.iter().map(weighted).sum::<Option<f64>>()? / seconds)
        }
    }
}

/// How much a count grew within the window. A count that fell was reset or overflowed, and is unusable.
fn difference(points: &[(u64, u64)], window: &SideWindow) -> Option<f64> {
    let (first, second) = around(points, window.start_ns, window)?;
    let (last_but_one, last) = around(points, window.end_ns, window)?;
    let within = points.get(first..=last)?;
    if !within.is_sorted_by_key(|&(_, value)| value) {
        return None;
    }
    let at = |edge_ns: u64, one: usize, other: usize| between(points[first].1, points[one], points[other], edge_ns);
    let (start_ns, end_ns) = (window.start_ns.max(points[first].0), window.end_ns.min(points[last].0));
    let grown = at(end_ns, last_but_one, last) - at(start_ns, first, second);
    let seen_ns = end_ns.checked_sub(start_ns).filter(|seen_ns| *seen_ns > 0)?;
    // Samples may fall short of the window by up to `NEAR_NS` at either end; that part is extrapolated.
    Some(grown * (window.length_ns() as f64 / seen_ns as f64))
}

/// The indexes of the samples around an end: the last one not after it and the first one not before it.
fn around(points: &[(u64, u64)], edge_ns: u64, window: &SideWindow) -> Option<(usize, usize)> {
    let after = points.partition_point(|&(at_ns, _)| at_ns < edge_ns);
    let is_near = |place: usize| points.get(place).is_some_and(|&(at_ns, _)| at_ns.abs_diff(edge_ns) <= NEAR_NS);
    if after == points.len() {
        let last = after.checked_sub(1)?;
        return is_near(last).then_some((last, last));
    }
    if points[after].0 == edge_ns {
        return Some((after, after));
    }
    let Some(before) = after.checked_sub(1) else { return is_near(after).then_some((after, after)) };
    let furthest_ns = FURTHEST_APART_NS.max(window.length_ns() / FURTHEST_SHARE);
    (points[after].0 - points[before].0 <= furthest_ns).then_some((before, after))
}

/// The value at a moment between two samples, minus `base`, which is not above either of them.
fn between(base: u64, (one_ns, one): (u64, u64), (other_ns, other): (u64, u64), at_ns: u64) -> f64 {
    // Subtract first: counters may be larger than a float can represent exactly.
    let (low, high) = ((one - base) as f64, (other - base) as f64);
    let share = if other_ns > one_ns { (at_ns - one_ns) as f64 / (other_ns - one_ns) as f64 } else { 0.0 };
    low + (high - low) * share
}

/// The mean over the time between the samples in the window, interpolated linearly. Costly values are read only before
/// and after the window; for them it is the mean of these two.
fn mean(points: &[(u64, u64)], window: &SideWindow) -> Option<f64> {
    let is_in_or_near = |at_ns: u64| at_ns.abs_diff(at_ns.clamp(window.start_ns, window.end_ns)) <= NEAR_NS;
    let within: Vec<(u64, u64)> = points.iter().copied().filter(|&(at_ns, _)| is_in_or_near(at_ns)).collect();
    let (Some(first), Some(last)) = (within.first(), within.last()) else { return mean_of_both_sides(points, window) };
    let span_ns = (last.0 - first.0) as f64;
    if span_ns == 0.0 {
        return Some(first.1 as f64);
    }
    // Subtract first: what never changes is then its own mean, to the last digit.
    let base = within.iter().map(|point| point.1).min()?;
    let over = |value: u64| (value - base) as f64;
    let area = |pair: &[(u64, u64)]| (pair[1].0 - pair[0].0) as f64 * (over(pair[0].1) + over(pair[1].1)) / 2.0;
    Some(base as f64 + within.windows(2).map(area).sum::<f64>() / span_ns)
}

fn mean_of_both_sides(points: &[(u64, u64)], window: &SideWindow) -> Option<f64> {
    let after = points.partition_point(|&(at_ns, _)| at_ns < window.start_ns);
    let (before, after) = (points.get(after.checked_sub(1)?)?, points.get(after)?);
    Some(f64::midpoint(before.1 as f64, after.1 as f64))
}

/// The growth per second between one sample in a part and the next, times `factor`. Samples that follow closely say
/// little and are skipped; so is a decrease.
pub fn rates(points: &[(u64, u64)], parts: &[SideWindow], factor: f64) -> Vec<CountedRate> {
    let begin_ns = parts.first().map_or(0, |first| first.start_ns);
    parts.iter().flat_map(|part| rates_within(points, part, begin_ns, factor)).collect()
}

fn rates_within(points: &[(u64, u64)], window: &SideWindow, begin_ns: u64, factor: f64) -> Vec<CountedRate> {
    let mut rates = Vec::new();
    let mut within = points.iter().filter(|&&(at_ns, _)| window.holds(at_ns));
    let Some(mut before) = within.next() else { return rates };
    for point in within {
        let length_ns = point.0 - before.0;
        if length_ns < SHORTEST_NS {
            continue;
        }
        if let Some(grown) = point.1.checked_sub(before.1) {
            let at_s = ((before.0 - begin_ns) as f64 + length_ns as f64 / 2.0) / 1e9;
            rates.push(CountedRate { at_s, per_second: grown as f64 * factor * 1e9 / length_ns as f64 });
        }
        before = point;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use Behaviour::{Counts, Stands};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn window(start: f64, end: f64) -> [SideWindow; 1] {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        [SideWindow { start_ns: nanos(start), end_ns: nanos(end) }]
    }

    fn each_second(values: &[u64]) -> Vec<(u64, u64)> {
        (0..).map(|second| second * SECOND).zip(values.iter().copied()).collect()
    }

    fn close(found: Option<f64>, expected: f64) {
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}, not {expected}");
    }

    #[test]
    fn what_never_changes_is_its_own_mean() {
        let total = 25_276_510_208;
        let points: Vec<(u64, u64)> = (0..9).map(|second| (second * (SECOND + 3_337_219), total)).collect();
        assert_eq!(worth(Stands, &points, &window(0.1, 8.0)), Some(total as f64));
    }

    /// `numpy.diff(numpy.interp([1.25, 4.5], [0, 1, 2, 3, 4, 5], [100, 110, 150, 150, 200, 300]))` is 130: from 120 to 250.
    #[test]
    fn a_count_is_differenced_between_the_samples_around_the_ends() {
        let points = each_second(&[100, 110, 150, 150, 200, 300]);
        close(worth(Counts, &points, &window(1.25, 4.5)), 130.0);
        close(worth(Counts, &points, &window(1.0, 5.0)), 190.0);
    }

    #[test]
    fn counts_larger_than_a_float_resolves_are_not_rounded() {
        let high = u64::MAX - 1_000;
        close(worth(Counts, &each_second(&[high, high + 3, high + 5]), &window(0.0, 2.0)), 5.0);
    }

    #[test]
    fn a_reset_within_the_window_leaves_no_worth_and_one_outside_does() {
        let points = each_second(&[900, 950, 3, 5, 9]);
        assert_eq!(worth(Counts, &points, &window(0.5, 3.5)), None);
        close(worth(Counts, &points, &window(2.0, 4.0)), 6.0);
    }

    #[test]
    fn what_was_not_sampled_is_not_nothing() {
        assert_eq!(worth(Counts, &[], &window(1.0, 2.0)), None);
        assert_eq!(worth(Counts, &each_second(&[5, 6]), &window(0.5, 3.0)), None);
        assert_eq!(worth(Stands, &each_second(&[5, 6]), &window(3.0, 4.0)), None);
        // Three seconds have no sample around the end of a window of six.
        let points = [(0, 0), (SECOND, 10), (2 * SECOND, 20), (5 * SECOND, 50), (8 * SECOND, 80)];
        assert_eq!(worth(Counts, &points, &window(0.0, 6.0)), None);
        close(worth(Counts, &points, &window(0.0, 5.0)), 50.0);
    }

    /// The last sample was taken 50 ms before the end; the rest is added at the same rate.
    #[test]
    fn a_sample_just_short_of_the_end_stands_for_it() {
        let points = [(0, 0), (SECOND, 100), (1_950_000_000, 195)];
        close(worth(Counts, &points, &window(0.0, 2.0)), 200.0);
        assert_eq!(worth(Counts, &points, &window(0.0, 2.2)), None);
    }

    /// `numpy.trapezoid([4, 8, 8], [1, 2, 4]) / 3` is 22/3.
    #[test]
    fn what_stands_is_averaged_over_time() {
        let points = [(0, 1_000), (SECOND, 4), (2 * SECOND, 8), (4 * SECOND, 8), (5 * SECOND, 1_000)];
        close(worth(Stands, &points, &window(0.95, 4.05)), 22.0 / 3.0);
        close(worth(Stands, &[(SECOND, 7)], &window(0.0, 2.0)), 7.0);
    }

    #[test]
    fn rates_are_between_neighbouring_samples_of_the_window() {
        let points = [
            (0, 0),
            (SECOND, 10),
            (1_100_000_000, 90),
            (3 * SECOND, 50),
            (4 * SECOND, 7),
            (5 * SECOND, 27),
            (9 * SECOND, 0),
        ];
        let found = rates(&points, &window(0.5, 6.0), 2.0);
        let expected = [CountedRate { at_s: 1.5, per_second: 40.0 }, CountedRate { at_s: 4.0, per_second: 40.0 }];
        assert_eq!(found, expected, "ten to fifty in two seconds, then a reset, then seven to twenty-seven in one");
    }

    #[test]
    fn what_happens_between_the_parts_is_not_counted() {
        let points = each_second(&[0, 10, 20, 1_020, 1_030, 1_040]);
        let parts = [window(0.0, 2.0), window(3.0, 4.0)].concat();
        close(worth(Counts, &points, &parts), 30.0);
        close(
            worth(Stands, &each_second(&[4, 4, 4, 900, 7, 7, 7]), &[window(0.0, 2.0), window(4.0, 5.0)].concat()),
            5.0,
        );
        let at: Vec<f64> = rates(&points, &parts, 1.0).iter().map(|rate| rate.at_s).collect();
        assert_eq!(at, [0.5, 1.5, 3.5]);
        assert_eq!(worth(Counts, &points, &[window(0.0, 2.0), window(8.0, 9.0)].concat()), None);
    }

    proptest! {
        #[test]
        fn two_halves_are_worth_the_whole(
            steps in vec(0..1_000_u64, 6..20), start in 0.0..1.0_f64, middle in 2.0..3.0_f64, end in 3.5..5.0_f64,
        ) {
            let sums: Vec<u64> = steps.iter().scan(7, |sum, step| { *sum += step; Some(*sum) }).collect();
            let points = each_second(&sums);
            let of = |start, end| worth(Counts, &points, &window(start, end)).unwrap();
            prop_assert!((of(start, middle) + of(middle, end) - of(start, end)).abs() < 1e-3);
        }

        #[test]
        fn no_samples_make_it_panic_or_negative(points in vec((0..9 * SECOND, 0..100_u64), 0..12), start in 0.0..9.0_f64, length in 0.0..5.0_f64) {
            let mut points = points;
            points.sort_unstable();
            for behaviour in [Counts, Stands] {
                let worth = worth(behaviour, &points, &window(start, start + length));
                prop_assert!(worth.is_none_or(|worth| worth >= 0.0 && worth.is_finite()), "{worth:?}");
            }
        }
    }
}
