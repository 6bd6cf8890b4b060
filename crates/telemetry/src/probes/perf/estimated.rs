//! A count of an event that was not always counted, made up for the gaps.
//!
//! A processor has room for a few events at a time, so the kernel gives each its turns. It tells for how long each was wanted
//! and for how long it was counted. What was counted since the last reading is scaled by that; the sum of these estimates only
//! grows, as a counter does.

/// What the kernel tells of one event of one CPU or thread, since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Told {
    pub count: u64,
    /// For how long it was to be counted; of a thread, while it ran.
    pub wanted_ns: u64,
    pub counted_ns: u64,
}

/// Estimates of what happened, added up from reading to reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Estimated {
    /// The last reading at which there was anything new to go by.
    last: Told,
    latest: Told,
    sum: u64,
}

impl Estimated {
    pub fn add(&mut self, now: Told) {
        self.latest = now;
        let counted_ns = now.counted_ns.saturating_sub(self.last.counted_ns);
        // What happened in a gap is made up for as soon as the event has had its turn.
        if counted_ns == 0 {
            return;
        }
        let count = now.count.saturating_sub(self.last.count);
        let wanted_ns = now.wanted_ns.saturating_sub(self.last.wanted_ns);
        self.sum = self.sum.saturating_add(scaled(count, wanted_ns, counted_ns));
        self.last = now;
    }

    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// It was to be counted and never was, so its sum says nothing.
    pub fn is_unknown(&self) -> bool {
        self.latest.wanted_ns > 0 && self.latest.counted_ns == 0
    }

    pub fn latest(&self) -> Told {
        self.latest
    }
}

fn scaled(count: u64, wanted_ns: u64, counted_ns: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(wanted_ns) / u128::from(counted_ns.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Which part of the time wanted was counted between two sums of times, in thousandths; all of no time.
pub fn permille(wanted_ns: u64, counted_ns: u64) -> u64 {
    scaled(1_000, counted_ns.min(wanted_ns), wanted_ns).max(if wanted_ns == 0 { 1_000 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(count: u64, wanted_ns: u64, counted_ns: u64) -> Told {
        Told { count, wanted_ns, counted_ns }
    }

    #[test]
    fn what_was_always_counted_is_as_counted() {
        let mut found = Estimated::default();
        found.add(told(7, 100, 100));
        found.add(told(1_000, 2_000, 2_000));
        assert_eq!(found.sum(), 1_000);
    }

    #[test]
    fn each_span_is_scaled_by_its_own_share() {
        let mut found = Estimated::default();
        found.add(told(100, 1_000, 1_000));
        // 50 more in a quarter of the next 1,000 ns.
        found.add(told(150, 2_000, 1_250));
        assert_eq!(found.sum(), 100 + 200);
    }

    #[test]
    fn a_gap_is_made_up_for_when_it_ends() {
        let mut found = Estimated::default();
        found.add(told(100, 1_000, 1_000));
        found.add(told(100, 2_000, 1_000));
        assert_eq!(found.sum(), 100);
        found.add(told(200, 3_000, 2_000));
        assert_eq!(found.sum(), 100 + 200, "100 in half of the time since the first reading");
    }

    #[test]
    fn what_never_had_a_turn_is_not_known_and_what_never_ran_is_nothing() {
        let mut found = Estimated::default();
        found.add(told(0, 0, 0));
        assert!(!found.is_unknown(), "a thread that did not run executed nothing");
        found.add(told(0, 500, 0));
        assert!(found.is_unknown());
        found.add(told(5, 1_000, 500));
        assert_eq!((found.is_unknown(), found.sum()), (false, 10));
    }

    #[test]
    fn shares_and_sums_have_bounds() {
        assert_eq!((permille(0, 0), permille(1_000, 250), permille(10, 0), permille(10, 99)), (1_000, 250, 0, 1_000));
        let mut found = Estimated::default();
        found.add(told(u64::MAX, u64::MAX, 1));
        found.add(told(0, 0, 5));
        assert_eq!(found.sum(), u64::MAX);
    }
}
