//! Estimates the count of an event that was not counted all the time.
//!
//! A processor has room for a few events at a time, so the kernel lets them take turns. It reports how long each was
//! wanted and how long it was counted. The count since the last reading is scaled by that ratio. The sum of these
//! estimates only grows, like a counter.

/// The kernel's report on one event of one CPU or thread, since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelCount {
    pub count: u64,
    /// How long it should have been counted; for a thread, only while it ran.
    pub wanted_ns: u64,
    pub counted_ns: u64,
}

/// Estimated numbers of events, added up from reading to reading.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Estimated {
    /// The last reading before which the event was counted for some time.
    last: KernelCount,
    latest: KernelCount,
    sum: u64,
}

impl Estimated {
    pub fn add(&mut self, now: KernelCount) {
        self.latest = now;
        let counted_ns = now.counted_ns.saturating_sub(self.last.counted_ns);
        // The estimate for a gap is added once the event has had its turn.
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

    /// Whether it should have been counted and never was, so that its sum says nothing.
    pub fn is_unknown(&self) -> bool {
        self.latest.wanted_ns > 0 && self.latest.counted_ns == 0
    }

    pub fn latest(&self) -> KernelCount {
        self.latest
    }
}

fn scaled(count: u64, wanted_ns: u64, counted_ns: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(wanted_ns) / u128::from(counted_ns.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// The share of the wanted time that was counted, in thousandths; 1,000 if no time was wanted.
pub fn permille(wanted_ns: u64, counted_ns: u64) -> u64 {
    scaled(1_000, counted_ns.min(wanted_ns), wanted_ns).max(if wanted_ns == 0 { 1_000 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(count: u64, wanted_ns: u64, counted_ns: u64) -> KernelCount {
        KernelCount { count, wanted_ns, counted_ns }
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
