//! Asks a log which texts were safe at which moment, and what a stretch of it did. One pass, without rebuilding a disk.
//!
//! Found is a text that was written in one request, as it is. One that a database compresses, encrypts or splits is not.

use crate::entry::DiskEvent;
use crate::reader::{DiskLogError, LogReader};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Shorter texts occur by chance.
pub const LEAST_MARKER_BYTES: usize = 8;
/// So that few of the eight bytes at any place look like the end of a marker: bits of the sieve for each.
const SIEVE_BITS_PER_MARKER: usize = 64;
const LEAST_SIEVE_BITS: usize = 1 << 12;
/// Spreads the bits of a number (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A text that was acknowledged as safe, when the log had `position` entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged<'a> {
    pub marker: &'a [u8],
    pub position: u64,
}

/// What the disk had of a text when it was said to be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Safety {
    /// It was written, and a flush that began after that had ended; or it was written with `fua`.
    Covered,
    /// It was written, but a power cut may take it.
    NotFlushed,
    /// It had not reached the disk.
    NotWritten,
}

#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    #[error(transparent)]
    Log(#[from] DiskLogError),
    #[error("marker {number} has {bytes} bytes, and at least {LEAST_MARKER_BYTES} are needed to find it")]
    Short { number: usize, bytes: usize },
    #[error("marker {number} is the same as marker {earlier}, so nothing shows whose a write is")]
    Twice { number: usize, earlier: usize },
}

/// Returns for each of the texts, in their order, how safe it was when it was acknowledged.
pub fn scan(log: &Path, acknowledged: &[Acknowledged<'_>]) -> Result<Vec<Safety>, ScanError> {
    let sieve = Sieve::of(acknowledged)?;
    let mut by_position: Vec<usize> = (0..acknowledged.len()).collect();
    by_position.sort_by_key(|number| acknowledged[*number].position);
    let mut found = FoundMarkers { first: vec![None; acknowledged.len()], settled: vec![false; acknowledged.len()] };
    let mut safety = vec![Safety::NotWritten; acknowledged.len()];
    let mut reader = LogReader::open(log)?;
    let (mut flushed, mut data) = (0, Vec::new());
    // Markers in writes with `fua` that have not ended.
    let mut under_way: HashMap<u64, Vec<usize>> = HashMap::new();
    for number in by_position {
        while let Some(entry) = reader.entry_before(acknowledged[number].position)? {
            match entry.event {
                DiskEvent::Write { fua, .. } => {
                    reader.data(&mut data)?;
                    sieve.each_in(&data, &mut |marker| {
                        found.first[marker].get_or_insert(entry.index);
                        if fua {
                            under_way.entry(entry.index).or_default().push(marker);
                        }
                    });
                }
                DiskEvent::Ended { begun, is_flush: true, .. } => flushed = flushed.max(begun),
                DiskEvent::Ended { begun, .. } => {
                    under_way.remove(&begun).into_iter().flatten().for_each(|marker| found.settled[marker] = true);
                }
                _ => {}
            }
        }
        safety[number] = found.safety(number, flushed);
    }
    Ok(safety)
}

/// Where markers were found so far.
struct FoundMarkers {
    /// The first write with it. If any write of it was flushed, this one was.
    first: Vec<Option<u64>>,
    /// Whether a write of it with `fua` has ended.
    settled: Vec<bool>,
}

impl FoundMarkers {
    fn safety(&self, number: usize, flushed: u64) -> Safety {
        match self.first[number] {
            None => Safety::NotWritten,
            Some(first) if first < flushed || self.settled[number] => Safety::Covered,
            Some(_) => Safety::NotFlushed,
        }
    }
}

/// Finds many texts at once. A stretch between two bytes that no marker has is passed over if it is shorter than all markers. In a
/// longer one, two bits of one word show for nearly every place that none ends there.
struct Sieve<'a> {
    /// Which bytes are in a marker.
    letters: [bool; 256],
    words: Vec<u64>,
    /// Leaves the bits of a hash that number the words.
    shift: u32,
    numbers: HashMap<&'a [u8], usize, BuildHasherDefault<ShortHasher>>,
    /// The lengths that occur. Usually all have the same.
    lengths: BTreeSet<usize>,
}

impl<'a> Sieve<'a> {
    fn of(acknowledged: &[Acknowledged<'a>]) -> Result<Self, ScanError> {
        let bits = (acknowledged.len() * SIEVE_BITS_PER_MARKER).next_power_of_two().max(LEAST_SIEVE_BITS);
        let words = vec![0; bits / 64];
        let shift = 64 - words.len().ilog2();
        let (numbers, lengths) = (HashMap::default(), BTreeSet::new());
        let mut sieve = Sieve { letters: [false; 256], words, shift, numbers, lengths };
        for (number, &Acknowledged { marker, .. }) in acknowledged.iter().enumerate() {
            let Some(end) = marker.last_chunk() else {
                return Err(ScanError::Short { number, bytes: marker.len() });
            };
            let (word, bits) = sieve.place(*end);
            sieve.words[word] |= bits;
            sieve.lengths.insert(marker.len());
            for letter in marker {
                sieve.letters[usize::from(*letter)] = true;
            }
            if let Some(earlier) = sieve.numbers.insert(marker, number) {
                return Err(ScanError::Twice { number, earlier });
            }
        }
        Ok(sieve)
    }

    /// The word and the bits for eight bytes. The upper bits of the hash are the better ones.
    fn place(&self, end: [u8; LEAST_MARKER_BYTES]) -> (usize, u64) {
        let hash = u64::from_le_bytes(end).wrapping_mul(SPREAD);
        let bit = |below: u32| 1 << ((hash >> (self.shift - below)) % 64);
        // Less than the number of words.
        (usize::try_from(hash >> self.shift).unwrap_or(0), bit(6) | bit(12))
    }

    /// Calls `visit` with the number of each marker at each of its places in the data.
    fn each_in(&self, data: &[u8], visit: &mut dyn FnMut(usize)) {
        let shortest = self.lengths.first().copied().unwrap_or(LEAST_MARKER_BYTES);
        let is_other = |byte: &u8| !self.letters[usize::from(*byte)];
        // All markers that begin before this were found.
        let mut start = 0;
        while let Some(next) = data.get(start..).and_then(|rest| rest.get(..shortest)) {
            // The last such byte is looked for from the back, and no marker begins before it: most bytes are never looked at.
            if let Some(other) = next.iter().rposition(is_other) {
                start += other + 1;
                continue;
            }
            let after = start + shortest;
            let end = data[after..].iter().position(is_other).map_or(data.len(), |letters| after + letters);
            self.each_ending(&data[..end], after, visit);
            start = end + 1;
        }
    }

    /// The same for markers that end at `first` or behind it.
    fn each_ending(&self, data: &[u8], first: usize, visit: &mut dyn FnMut(usize)) {
        let ends = data[first - LEAST_MARKER_BYTES..].windows(LEAST_MARKER_BYTES);
        for (at, end) in (first..).zip(ends) {
            let mut bytes = [0; LEAST_MARKER_BYTES];
            bytes.copy_from_slice(end);
            let (word, bits) = self.place(bytes);
            if self.words[word] & bits == bits {
                self.look_up(&data[..at], visit);
            }
        }
    }

    /// Looks for markers that end where the data does.
    #[cold]
    fn look_up(&self, data: &[u8], visit: &mut dyn FnMut(usize)) {
        let ends = self.lengths.iter().filter_map(|length| data.len().checked_sub(*length));
        ends.filter_map(|start| self.numbers.get(&data[start..])).for_each(|number| visit(*number));
    }
}

/// Hashes short texts in less time than the library's own hasher, which also withstands texts that were chosen to collide. Markers
/// are the caller's own.
#[derive(Default)]
struct ShortHasher(u64);

impl Hasher for ShortHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_usize(&mut self, length: usize) {
        self.0 ^= length as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What the disk did in a stretch of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogCounts {
    pub writes: u64,
    pub written_bytes: u64,
    /// Of the writes, those with `fua`.
    pub fua_writes: u64,
    pub zeroed_bytes: u64,
    /// Flushes that ended.
    pub flushes: u64,
    /// From the begin to the end of these, added up.
    pub flush_time: Duration,
}

/// Counts what the entries in the range did.
pub fn count(log: &Path, positions: Range<u64>) -> Result<LogCounts, DiskLogError> {
    let mut reader = LogReader::open(log)?;
    let mut counts = LogCounts::default();
    while let Some(entry) = reader.entry_before(positions.end)? {
        if entry.index < positions.start {
            continue;
        }
        match entry.event {
            DiskEvent::Write { length, fua, .. } => {
                counts.writes += 1;
                counts.written_bytes += u64::from(length);
                counts.fua_writes += u64::from(fua);
            }
            DiskEvent::Zero { length, .. } => counts.zeroed_bytes = counts.zeroed_bytes.saturating_add(length),
            DiskEvent::Ended { is_flush: true, took_ns, .. } => {
                counts.flushes += 1;
                counts.flush_time = counts.flush_time.saturating_add(Duration::from_nanos(took_ns));
            }
            _ => {}
        }
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of few letters, so that they overlap, contain each other and come often.
    fn texts(letters: &'static str, count: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        let text = prop_oneof![3 => Just(8_usize), 1 => 9_usize..20]
            .prop_flat_map(move |length| proptest::collection::vec(prop::sample::select(letters.as_bytes()), length));
        proptest::collection::btree_set(text, 0..count).prop_map(|texts| texts.into_iter().collect())
    }

    proptest! {
        #[test]
        fn the_same_is_found_as_when_each_place_is_compared(
            markers in texts("aab", 12),
            pieces in proptest::collection::vec((any::<prop::sample::Index>(), texts("aab-", 2), "-{0,9}"), 0..24),
        ) {
            let mut data = Vec::new();
            for (marker, other, between) in &pieces {
                let marker = markers.get(marker.index(markers.len() + 1));
                marker.into_iter().chain(other).for_each(|text| data.extend_from_slice(text));
                data.extend_from_slice(between.as_bytes());
            }
            let acknowledged: Vec<_> = markers.iter().map(|marker| Acknowledged { marker, position: 0 }).collect();
            let sieve = Sieve::of(&acknowledged).unwrap();
            let mut found = Vec::new();
            sieve.each_in(&data, &mut |marker| found.push(marker));
            let mut expected = Vec::new();
            for end in 1..=data.len() {
                // Shorter ones first, as the lengths are looked up.
                let mut ending: Vec<usize> =
                    (0..markers.len()).filter(|marker| data[..end].ends_with(&markers[*marker])).collect();
                ending.sort_by_key(|marker| markers[*marker].len());
                expected.extend(ending);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn nothing_is_found_for_no_markers() {
        Sieve::of(&[]).unwrap().each_in(&[b'a'; 100], &mut |marker| panic!("{marker} is found"));
    }
}
