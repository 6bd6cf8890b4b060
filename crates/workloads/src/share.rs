//! Whether a share of events is what the rules for the inputs ask for.
//!
//! Chance alone takes a short run beyond what a rule allows. So the allowed range is widened to what all but one run
//! in ten thousand would show with correct inputs (normal approximation of the binomial distribution). With too few
//! events for that approximation, the verdict is undecided and says how many are needed.

use crate::judgement::holds_if;
use record::check::Verdict;

/// Chance exceeds this many standard deviations, on either side, once in ten thousand times.
pub const DEVIATIONS_ALLOWED: f64 = 3.89;
/// With fewer expected events than this on either side of a share, the approximation is poor.
pub const EVENTS_NEEDED: f64 = 10.0;

/// A share as it should be and as it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AllowedShare {
    /// The share with which the inputs are drawn.
    pub target: f64,
    pub low: f64,
    pub high: f64,
}

impl AllowedShare {
    pub const fn of([target, low, high]: [f64; 3]) -> Self {
        Self { target, low, high }
    }

    /// Only chance may take it from its target.
    pub const fn exactly(target: f64) -> Self {
        Self { target, low: target, high: target }
    }

    pub fn judge(&self, events: u64, of: u64) -> Verdict {
        let rarer = self.target.min(1.0 - self.target);
        // A share of 0 or 1 can be judged by a single event.
        let needed = if rarer > 0.0 { (EVENTS_NEEDED / rarer).ceil() } else { 1.0 };
        if (of as f64) < needed {
            return Verdict::Undecided { why: format!("{of} are too few to judge, at least {needed} are needed") };
        }
        let deviation = (self.target * (1.0 - self.target) / of as f64).sqrt();
        let low = (self.low - DEVIATIONS_ALLOWED * deviation).max(0.0);
        let high = (self.high + DEVIATIONS_ALLOWED * deviation).min(1.0);
        let found = events as f64 / of as f64;
        let range = if self.high < 1.0 {
            format!("{:.3} % to {:.3} %", low * 100.0, high * 100.0)
        } else {
            format!("at least {:.3} %", low * 100.0)
        };
        let seen = format!("{events} of {of}, {:.3} %; {range} allowed for this number", found * 100.0);
        within(found, low, high, seen)
    }
}

/// Whether the mean of a number of something is in its range. Single numbers have this standard deviation.
pub fn mean(sum: u64, of: u64, (low, high): (f64, f64), deviation: f64) -> Verdict {
    if (of as f64) < EVENTS_NEEDED {
        return Verdict::Undecided { why: format!("{of} are too few to judge, at least {EVENTS_NEEDED} are needed") };
    }
    let mean = sum as f64 / of as f64;
    let chance = DEVIATIONS_ALLOWED * deviation / (of as f64).sqrt();
    let (low, high) = (low - chance, high + chance);
    within(mean, low, high, format!("{mean:.3} on average; {low:.3} to {high:.3} allowed for this number"))
}

fn within(found: f64, low: f64, high: f64, seen: String) -> Verdict {
    holds_if((low..=high).contains(&found), seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_allowed_for_and_nothing_is_decided_from_a_handful() {
        let share = AllowedShare { target: 0.01, low: 0.009, high: 0.011 };
        assert!(matches!(share.judge(0, 999), Verdict::Undecided { .. }));
        // Of 1000, 10 are expected, with a standard deviation of 3.
        assert!(matches!(share.judge(20, 1_000), Verdict::Holds { .. }));
        assert!(matches!(share.judge(25, 1_000), Verdict::Violated { .. }));
        assert!(matches!(share.judge(20_000, 1_000_000), Verdict::Violated { .. }));
    }

    #[test]
    fn what_never_or_always_happens_is_judged_by_one() {
        assert!(matches!(AllowedShare::exactly(0.0).judge(0, 1), Verdict::Holds { .. }));
        assert!(matches!(AllowedShare::exactly(0.0).judge(1, 1_000), Verdict::Violated { .. }));
        assert!(matches!(AllowedShare::exactly(1.0).judge(999, 1_000), Verdict::Violated { .. }));
        assert!(matches!(AllowedShare::exactly(1.0).judge(0, 0), Verdict::Undecided { .. }));
    }
}
