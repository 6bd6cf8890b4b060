//! Makes the disk as it may be after a power cut.
//!
//! What had to survive is known from the log: each write whose flush, begun after it, has ended, and each write with `fua` that
//! has ended. Of all others a real disk may have kept any part, in any order. A later write that is kept without an earlier one
//! *is* a change of order, so it is enough to choose for each sector of each write whether it is kept.

use crate::entry::DiskEvent;
use crate::reader::{DiskLogError, LogReader};
use crate::served::punch;
use images::data::{CloneMethod, DataError};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// A discard of a whole disk is chosen from in at most so many parts.
const MOST_PARTS: u64 = 1 << 16;

/// So many are kept in memory: more than a log of the greatest length has if each writes a sector.
const MOST_CHANGES: usize = 1 << 25;

/// A power cut: the moment, and what of the writes that were not flushed is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many entries of the log have happened.
    pub position: u64,
    pub keep: Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: what remains is what must.
    Durable,
    /// Each part with this chance. The same seed keeps the same parts.
    Subset { seed: u64, grain: Grain, percent: u8 },
    /// All, as if only the machine had died and not the disk.
    All,
}

/// What a disk writes whole or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// Older disks' sectors, on whose size databases rely.
    Bytes512,
    Bytes4096,
}

impl Grain {
    fn bytes(self) -> u64 {
        match self {
            Grain::Bytes512 => 512,
            Grain::Bytes4096 => 4096,
        }
    }
}

/// What a cut did with the writes and discards before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Built {
    pub method: CloneMethod,
    /// Those that had to be kept.
    pub durable: u64,
    /// Of the others: those kept as a whole, in part, and not at all.
    pub kept: u64,
    pub torn: u64,
    pub lost: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum CutError {
    #[error(transparent)]
    Log(#[from] DiskLogError),
    #[error("copying the base of the disk: {0}")]
    Copy(#[from] DataError),
    #[error("{} has {found} bytes, and the disk of the log has {expected}", .base.display())]
    Base { base: PathBuf, found: u64, expected: u64 },
    #[error("{} has more than {MOST_CHANGES} writes and discards", .log.display())]
    Changes { log: PathBuf },
    #[error("writing {}: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Builds the disk as it is after the cut, in a new file at `to`.
///
/// A loss that was found is built again under a new name before it is reported: the kernel may still keep pages of the old file.
pub fn build(base: &Path, log: &Path, cut: Cut, to: &Path) -> Result<Built, CutError> {
    let mut reader = LogReader::open(log)?;
    let history = History::until(cut.position, &mut reader)?;
    let expected = reader.header().size_bytes;
    let found = base.metadata().map_err(|source| CutError::Write { path: base.to_owned(), source })?.len();
    if found != expected {
        return Err(CutError::Base { base: base.to_owned(), found, expected });
    }
    let method = images::data::copy(base, to)?;
    let built = File::options().write(true).open(to).map_err(|source| CutError::Write { path: to.to_owned(), source });
    let built = built.and_then(|file| replay(&reader, &history, cut.keep, &file, to, method));
    if built.is_err() {
        // The cause is returned, not that half a disk is left.
        let _ = std::fs::remove_file(to);
    }
    built
}

/// Goes from the last write to the first, so that what is written over is neither read nor written.
fn replay(
    reader: &LogReader,
    history: &History,
    keep: Keep,
    file: &File,
    path: &Path,
    method: CloneMethod,
) -> Result<Built, CutError> {
    let failing = |source| CutError::Write { path: path.to_owned(), source };
    let mut built = Built { method, durable: 0, kept: 0, torn: 0, lost: 0 };
    let (mut written, mut data) = (Ranges::default(), Vec::new());
    for change in history.changes.iter().rev() {
        let is_durable = history.durable.has(change.index);
        let runs = kept_runs(if is_durable { Keep::All } else { keep }, change.index, change.offset, change.length);
        let kept: u64 = runs.iter().map(|(_, length)| length).sum();
        let count = match kept {
            _ if is_durable => &mut built.durable,
            kept if kept == change.length => &mut built.kept,
            0 => &mut built.lost,
            _ => &mut built.torn,
        };
        *count += 1;
        for part in runs.into_iter().flat_map(|(start, length)| written.add(start..start + length)) {
            let length = part.end - part.start;
            let done = match change.data_at {
                Some(data_at) => {
                    // No longer than a write.
                    data.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
                    reader.read_at(&mut data, data_at + (part.start - change.offset))?;
                    file.write_all_at(&data, part.start)
                }
                None => punch(file, part.start, length),
            };
            done.map_err(failing)?;
        }
    }
    Ok(built)
}

/// Disjoint ranges that do not touch: the end of each by its start.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range, and returns the parts of it that were not in yet.
    fn add(&mut self, range: Range<u64>) -> Vec<Range<u64>> {
        let before = self.0.range(..range.start).next_back().filter(|(_, end)| **end >= range.start);
        let first = before.map_or(range.start, |(start, _)| *start);
        let touching: Vec<(u64, u64)> = self.0.range(first..=range.end).map(|(start, end)| (*start, *end)).collect();
        let (mut new, mut at, mut joined) = (Vec::new(), range.start, range.clone());
        for (start, end) in touching {
            if at < start {
                new.push(at..start);
            }
            at = at.max(end);
            self.0.remove(&start);
            joined = joined.start.min(start)..joined.end.max(end);
        }
        if at < range.end {
            new.push(at..range.end);
        }
        if joined.start < joined.end {
            self.0.insert(joined.start, joined.end);
        }
        new
    }
}

/// Which ranges of a write or discard are kept, as offset and length. Parts side by side are one range.
fn kept_runs(keep: Keep, index: u64, offset: u64, length: u64) -> Vec<(u64, u64)> {
    let (seed, grain, percent) = match keep {
        Keep::Durable => return Vec::new(),
        Keep::All => return vec![(offset, length)],
        Keep::Subset { seed, grain, percent } => (seed, grain, percent),
    };
    let least = grain.bytes();
    let part_bytes = length.div_ceil(MOST_PARTS).next_multiple_of(least).max(least);
    let mut chance = chance(seed, index);
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let (mut at, end) = (offset, offset + length);
    while at < end {
        let part_end = (at / part_bytes + 1).saturating_mul(part_bytes).min(end);
        if chance.next_u32() % 100 < u32::from(percent) {
            match runs.last_mut() {
                Some((start, length)) if *start + *length == at => *length += part_end - at,
                _ => runs.push((at, part_end - at)),
            }
        }
        at = part_end;
    }
    runs
}

/// A stream for each entry, so that no choice depends on how many others were made.
fn chance(seed: u64, index: u64) -> Pcg64Mcg {
    let mut name = [0; 16];
    name[..8].copy_from_slice(&seed.to_le_bytes());
    name[8..].copy_from_slice(&index.to_le_bytes());
    Pcg64Mcg::from_seed(xxh3_128(&name).to_le_bytes())
}

/// What a log says of its disk until a position.
#[derive(Debug)]
struct History {
    durable: Durable,
    changes: Vec<DiskChange>,
}

/// A write or a discard.
#[derive(Debug)]
struct DiskChange {
    index: u64,
    offset: u64,
    length: u64,
    /// Where in the log its data is; none for a discard.
    data_at: Option<u64>,
}

impl History {
    fn until(position: u64, reader: &mut LogReader) -> Result<Self, CutError> {
        let (mut durable, mut changes) = (Durable { flushed: 0, settled: Vec::new() }, Vec::new());
        while let Some(entry) = reader.entry_before(position)? {
            let (offset, length, data_at) = match entry.event {
                DiskEvent::Write { offset, length, .. } => (offset, u64::from(length), Some(reader.data_at())),
                DiskEvent::Zero { offset, length } => (offset, length, None),
                DiskEvent::Ended { begun, is_flush: true, .. } => {
                    durable.flushed = durable.flushed.max(begun);
                    continue;
                }
                DiskEvent::Ended { begun, is_flush: false, .. } => {
                    durable.settle(begun);
                    continue;
                }
                _ => continue,
            };
            if changes.len() == MOST_CHANGES {
                return Err(CutError::Changes { log: reader.path().to_owned() });
            }
            changes.push(DiskChange { index: entry.index, offset, length, data_at });
        }
        Ok(Self { durable, changes })
    }
}

/// What must have survived at a position.
#[derive(Debug)]
struct Durable {
    /// All writes before this entry.
    flushed: u64,
    /// Writes with `fua` from there on: a bit for each entry.
    settled: Vec<u64>,
}

impl Durable {
    fn settle(&mut self, index: u64) {
        // A log that is read at all has fewer entries.
        let (word, bit) = (usize::try_from(index / 64).unwrap_or(usize::MAX), index % 64);
        if word >= self.settled.len() {
            self.settled.resize(word + 1, 0);
        }
        self.settled[word] |= 1 << bit;
    }

    fn has(&self, index: u64) -> bool {
        let word = usize::try_from(index / 64).ok().and_then(|word| self.settled.get(word));
        index < self.flushed || word.is_some_and(|word| word & (1 << (index % 64)) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn subset(seed: u64, grain: Grain, percent: u8) -> Keep {
        Keep::Subset { seed, grain, percent }
    }

    proptest! {
        #[test]
        fn of_a_range_only_what_is_new_is_told(ranges in proptest::collection::vec((0_u64..60, 0_u64..20), 0..40)) {
            let (mut all, mut seen) = (Ranges::default(), [false; 80]);
            for (start, length) in ranges {
                let added = start..start + length;
                let expected: Vec<u64> = added.clone().filter(|at| !seen[usize::try_from(*at).unwrap()]).collect();
                let new: Vec<u64> = all.add(added.clone()).into_iter().flatten().collect();
                prop_assert_eq!(new, expected);
                added.for_each(|at| seen[usize::try_from(at).unwrap()] = true);
                let ends: Vec<u64> = all.0.iter().flat_map(|(start, end)| [*start, *end]).collect();
                prop_assert!(ends.is_sorted_by(|one, next| one < next), "they are disjoint and do not touch: {ends:?}");
            }
        }

        #[test]
        fn parts_are_whole_sectors_within_the_write_and_the_same_again(
            seed: u64, index: u64, offset in 0_u64..100_000, length in 1_u64..100_000, percent in 0_u8..=100,
        ) {
            for grain in [Grain::Bytes512, Grain::Bytes4096] {
                let runs = kept_runs(subset(seed, grain, percent), index, offset, length);
                prop_assert_eq!(&runs, &kept_runs(subset(seed, grain, percent), index, offset, length));
                let mut last = None;
                for (start, run) in runs {
                    let end = start + run;
                    prop_assert!(run > 0 && start >= offset && end <= offset + length);
                    prop_assert!(start == offset || start % grain.bytes() == 0);
                    prop_assert!(end == offset + length || end % grain.bytes() == 0);
                    prop_assert!(last.is_none_or(|last| start > last), "ranges side by side are one");
                    last = Some(end);
                }
            }
        }

        #[test]
        fn all_percent_keep_all_and_none_nothing(seed: u64, index: u64, offset in 0_u64..9_000, length in 1_u64..9_000) {
            let runs = |percent| kept_runs(subset(seed, Grain::Bytes512, percent), index, offset, length);
            prop_assert_eq!(runs(100), vec![(offset, length)]);
            prop_assert_eq!(runs(0), vec![]);
        }
    }

    #[test]
    fn about_as_many_parts_are_kept_as_asked_for_and_each_entry_has_others() {
        let runs = |index| kept_runs(subset(1, Grain::Bytes512, 30), index, 0, 512 * 10_000);
        let kept: u64 = runs(5).iter().map(|(_, length)| length / 512).sum();
        assert!((2_800..3_200).contains(&kept), "{kept}");
        assert_ne!(runs(5), runs(6));
    }

    #[test]
    fn a_discard_of_everything_is_chosen_from_in_few_parts() {
        let runs = kept_runs(subset(1, Grain::Bytes512, 50), 0, 0, 1 << 50);
        assert!(runs.len() as u64 <= MOST_PARTS, "{}", runs.len());
        assert!(runs.len() as u64 > MOST_PARTS / 8, "{}", runs.len());
    }
}
