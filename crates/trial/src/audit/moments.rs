//! When to cut the power: moments of a disk's log, and what had been acknowledged by then. Pure, except that it reads the log.

use disk::{DiskEvent, DiskLogError, DiskOrders, LogReader};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use record::durability::{CutMoment, Hold};
use std::path::Path;

const NANOS_PER_MS: u64 = 1_000_000;
/// Files still grow in the first of so many parts of a drive.
const GROWING: usize = 5;

/// A receipt, and when its transaction was under way, by the host's clock. How far that clock and the machine's may be apart is
/// taken into account: the transaction began no earlier, and had been acknowledged no later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnReceipt {
    pub number: i64,
    pub sent_ns: u64,
    pub done_ns: u64,
}

/// The times of a log's entries.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Of each entry.
    times: Vec<u64>,
    /// Entries that end a flush, and the bytes that were written since the one before ended.
    flushed: Vec<(u64, u64)>,
    /// The entries between which flushes were held.
    held: Vec<(u64, u64)>,
}

/// A moment at which the power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    pub moment: CutMoment,
    /// How many entries of the log had happened.
    pub position: u64,
    /// No acknowledgement that a user got by then may be wrong.
    pub at_ns: u64,
}

/// How many moments of each kind are drawn, besides the holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MomentCounts {
    pub acknowledged: usize,
    pub unflushed: usize,
    pub growing: usize,
}

impl Timeline {
    pub fn read(log: &Path) -> Result<Self, DiskLogError> {
        let (mut reader, mut found, mut since, mut unflushed) = (LogReader::open(log)?, Self::default(), None, 0);
        while let Some(entry) = reader.next_entry()? {
            match entry.event {
                DiskEvent::Ended { is_flush: true, .. } => {
                    found.flushed.push((entry.index, std::mem::take(&mut unflushed)));
                }
                DiskEvent::Write { length, .. } => unflushed += u64::from(length),
                DiskEvent::Told(DiskOrders::Stall) => since = Some(entry.index),
                DiskEvent::Told(DiskOrders::Go) => found.held.extend(since.take().map(|since| (since, entry.index))),
                _ => {}
            }
            found.times.push(entry.nanoseconds);
        }
        Ok(found)
    }

    /// How many entries had happened at this moment.
    pub fn position_at(&self, at_ns: u64) -> u64 {
        self.times.partition_point(|time| *time <= at_ns) as u64
    }

    fn time_of(&self, entry: u64) -> u64 {
        usize::try_from(entry).ok().and_then(|entry| self.times.get(entry)).copied().unwrap_or_default()
    }

    /// The times in which flushes were held, and how many transactions were begun and acknowledged meanwhile.
    pub fn holds(&self, all: &[DrawnReceipt]) -> Vec<Hold> {
        let hold = |(from, to): &(u64, u64)| {
            let (from_ns, to_ns) = (self.time_of(*from), self.time_of(*to));
            let within = all.iter().filter(|own| own.sent_ns >= from_ns && own.done_ns <= to_ns);
            Hold {
                position: *to,
                length_ms: to_ns.saturating_sub(from_ns) / NANOS_PER_MS,
                acknowledged: within.count() as u64,
            }
        };
        self.held.iter().map(hold).collect()
    }

    /// The end of each hold, and as many moments of the other kinds as are asked for. The same seed draws the same ones.
    pub fn draw(&self, all: &[DrawnReceipt], counts: &MomentCounts, seed: u64) -> Vec<Drawn> {
        let mut chance = Pcg64Mcg::seed_from_u64(seed);
        let mut drawn: Vec<Drawn> =
            self.held.iter().map(|(_, to)| just_before(CutMoment::Held, *to, self.time_of(*to))).collect();
        let mut sorted: Vec<u64> = all.iter().map(|own| own.done_ns).collect();
        sorted.sort_unstable();
        let early = sorted.len().div_ceil(GROWING);
        for (moment, times, count) in [
            (CutMoment::Acknowledged, &sorted[..], counts.acknowledged),
            (CutMoment::Growing, &sorted[..early], counts.growing),
        ] {
            for at_ns in chosen(&mut chance, times, count) {
                drawn.push(Drawn { moment, position: self.position_at(at_ns), at_ns });
            }
        }
        for ended in self.heavy_flushes(&mut chance, counts.unflushed) {
            drawn.push(just_before(CutMoment::Unflushed, ended, self.time_of(ended.saturating_sub(1))));
        }
        drawn
    }

    /// Some entries that end a flush, each with a chance in proportion to what the flush had to save.
    fn heavy_flushes(&self, chance: &mut Pcg64Mcg, count: usize) -> Vec<u64> {
        let mut sum = 0;
        let mut upto = Vec::new();
        for (_, bytes) in &self.flushed {
            sum += bytes + 1;
            upto.push(sum);
        }
        let count = if sum == 0 { 0 } else { count };
        let at: Vec<u64> = (0..count).map(|_| chance.next_u64() % sum).collect();
        at.into_iter().map(|at| self.flushed[upto.partition_point(|upto| *upto <= at)].0).collect()
    }

    /// Moments just after some of these acknowledgements, which came before a flush.
    pub fn suspects(&self, done_ns: &[u64], most: usize, seed: u64) -> Vec<Drawn> {
        let mut chance = Pcg64Mcg::seed_from_u64(seed);
        let some = chosen(&mut chance, done_ns, most.min(done_ns.len()));
        some.map(|at_ns| Drawn { moment: CutMoment::Suspect, position: self.position_at(at_ns), at_ns }).collect()
    }
}

fn just_before(moment: CutMoment, entry: u64, at_ns: u64) -> Drawn {
    Drawn { moment, position: entry, at_ns }
}

/// Some of these, each by chance; none if there are none.
fn chosen<'a>(chance: &'a mut Pcg64Mcg, from: &'a [u64], count: usize) -> impl Iterator<Item = u64> + 'a {
    let count = if from.is_empty() { 0 } else { count };
    let of = from.len() as u64;
    (0..count).filter_map(move |_| from.get(usize::try_from(chance.next_u64() % of).ok()?).copied())
}

/// The receipts that must be there after a cut at this moment.
pub fn due(all: &[DrawnReceipt], at_ns: u64) -> impl Iterator<Item = i64> + '_ {
    all.iter().filter(move |own| own.done_ns <= at_ns).map(|own| own.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        // Entry 3 holds flushes and entry 6 gives them; entries 2 and 7 end flushes.
        Timeline {
            times: vec![10, 20, 30, 40, 50, 60, 70, 80],
            flushed: vec![(2, 4096), (7, 8192)],
            held: vec![(3, 6)],
        }
    }

    fn acknowledged(number: i64, sent_ns: u64, done_ns: u64) -> DrawnReceipt {
        DrawnReceipt { number, sent_ns, done_ns }
    }

    #[test]
    fn a_moment_has_the_entries_before_it() {
        let positions = [5, 10, 35, 70, 99].map(|at_ns| timeline().position_at(at_ns));
        assert_eq!(positions, [0, 1, 3, 7, 8]);
    }

    #[test]
    fn in_a_hold_only_what_began_in_it_counts() {
        let all = [acknowledged(1, 35, 45), acknowledged(2, 41, 45), acknowledged(3, 41, 70), acknowledged(4, 41, 71)];
        assert_eq!(timeline().holds(&all), [Hold { position: 6, length_ms: 0, acknowledged: 2 }]);
    }

    #[test]
    fn moments_are_of_all_kinds_and_the_seed_decides_them() {
        let all: Vec<_> = (0..100).map(|number| acknowledged(number, 0, 12 + number.unsigned_abs() / 2)).collect();
        let counts = MomentCounts { acknowledged: 40, unflushed: 10, growing: 10 };
        let drawn = timeline().draw(&all, &counts, 7);
        assert_eq!(drawn, timeline().draw(&all, &counts, 7));
        assert_ne!(drawn, timeline().draw(&all, &counts, 8));
        let of = |moment| drawn.iter().filter(move |one| one.moment == moment);
        assert_eq!(
            of(CutMoment::Held).collect::<Vec<_>>(),
            [&Drawn { moment: CutMoment::Held, position: 6, at_ns: 70 }]
        );
        assert_eq!((of(CutMoment::Acknowledged).count(), of(CutMoment::Unflushed).count()), (40, 10));
        assert!(of(CutMoment::Growing).all(|one| one.at_ns <= 21), "{drawn:?}");
        // The flush of entry 2 has not ended when two entries have happened.
        assert!(
            of(CutMoment::Unflushed).all(|one| [(2, 20), (7, 70)].contains(&(one.position, one.at_ns))),
            "{drawn:?}"
        );
        assert!(drawn.iter().all(|one| one.position <= timeline().position_at(one.at_ns)));
    }

    #[test]
    fn without_flushes_and_acknowledgements_nothing_is_drawn() {
        let counts = MomentCounts { acknowledged: 4, unflushed: 4, growing: 4 };
        assert!(Timeline::default().draw(&[], &counts, 1).is_empty());
    }

    #[test]
    fn a_flush_that_saves_more_is_cut_more_often() {
        let timeline = Timeline { flushed: vec![(2, 9_999), (7, 0), (9, 89_999)], ..timeline() };
        let drawn = timeline.heavy_flushes(&mut Pcg64Mcg::seed_from_u64(1), 1_000);
        let of = |entry| drawn.iter().filter(|drawn| **drawn == entry).count();
        assert!(of(2) > 50 && of(7) < 10 && of(9) > 850, "{} {} {}", of(2), of(7), of(9));
        assert_eq!(of(2) + of(7) + of(9), 1_000);
        assert!(Timeline::default().heavy_flushes(&mut Pcg64Mcg::seed_from_u64(1), 5).is_empty());
    }

    #[test]
    fn suspects_are_cut_just_after_their_acknowledgement() {
        let drawn = timeline().suspects(&[45, 61], 20, 1);
        assert_eq!(drawn.len(), 2);
        let expected = [(4, 45), (6, 61)];
        assert!(drawn.iter().all(|one| expected.contains(&(one.position, one.at_ns))), "{drawn:?}");
    }

    #[test]
    fn due_is_what_was_acknowledged_by_then() {
        let all = [acknowledged(1, 0, 10), acknowledged(2, 0, 20), acknowledged(3, 0, 21)];
        assert_eq!(due(&all, 20).collect::<Vec<_>>(), [1, 2]);
    }
}
