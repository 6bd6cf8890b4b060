//! Cuts and scans of logs that are written here entry by entry, against the rules applied one by one; and logs that no disk wrote.

use crate::cut::{Built, Cut, CutError, Grain, Keep, build};
use crate::entry::{DiskEvent, ENTRY_BYTES, HEADER_BYTES, Header, Raw};
use crate::log::Log;
use crate::reader::{DiskLogError, LogReader};
use crate::scan::Safety::{self, Covered, NotFlushed, NotWritten};
use crate::scan::{Acknowledged, LogCounts, ScanError, count, scan};
use proptest::prelude::*;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const SECTOR: usize = 512;
const SECTORS: usize = 128;
const SIZE: usize = SECTORS * SECTOR;

/// What a test does to a disk. Flushes and writes with `fua` end by their own number.
#[derive(Debug, Clone, Copy)]
enum DiskStep {
    Write {
        sector: usize,
        sectors: usize,
        byte: u8,
    },
    Fua {
        sector: usize,
        byte: u8,
    },
    Zero {
        sector: usize,
        sectors: usize,
    },
    Begin,
    /// Ends one of those under way.
    End(usize),
    Mark,
}

/// A base with a log, as a disk leaves them.
struct LeftLog {
    folder: TempDir,
    log: Log,
    /// Entries that have begun and not ended.
    under_way: Vec<u64>,
    cuts: usize,
}

impl LeftLog {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = vec![b'-'; SIZE];
        fs::write(folder.path().join("base"), base).unwrap();
        let header = Header { size_bytes: SIZE as u64, base: "dashes".to_owned() };
        let log = Log::create(&folder.path().join("log"), &header, 1 << 20).unwrap();
        Self { folder, log, under_way: Vec::new(), cuts: 0 }
    }

    fn of(steps: &[DiskStep]) -> Self {
        let mut left = Self::new();
        for step in steps {
            left.step(*step);
        }
        left
    }

    fn write(&mut self, offset: u64, data: &[u8], fua: bool) {
        let mut bytes = vec![0; ENTRY_BYTES];
        bytes.extend_from_slice(data);
        let raw = Raw::Write { offset, length: u32::try_from(data.len()).unwrap(), fua };
        let index = self.log.append_with_data(raw, &mut bytes).unwrap();
        if fua {
            self.under_way.push(index);
        }
    }

    fn step(&mut self, step: DiskStep) {
        match step {
            DiskStep::Write { sector, sectors, byte } => {
                self.write((sector * SECTOR) as u64, &vec![byte; sectors * SECTOR], false);
            }
            DiskStep::Fua { sector, byte } => self.write((sector * SECTOR) as u64, &[byte; SECTOR], true),
            DiskStep::Zero { sector, sectors } => {
                let raw = Raw::Zero { offset: (sector * SECTOR) as u64, length: (sectors * SECTOR) as u64 };
                self.log.append(raw).unwrap();
            }
            DiskStep::Begin => {
                let begun = self.log.append(Raw::FlushBegun).unwrap();
                self.under_way.push(begun);
            }
            DiskStep::End(which) if !self.under_way.is_empty() => {
                let begun = self.under_way.remove(which % self.under_way.len());
                self.log.append(Raw::Ended { begun }).unwrap();
            }
            DiskStep::End(_) | DiskStep::Mark => {
                self.log.append_mark("here").unwrap();
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&mut self, position: u64, keep: Keep) -> Result<(Built, Vec<u8>), CutError> {
        self.cuts += 1;
        let to = self.path(&format!("cut-{}", self.cuts));
        let built = build(&self.path("base"), &self.path("log"), Cut { position, keep }, &to)?;
        Ok((built, fs::read(to).unwrap()))
    }

    /// The first byte of the first sectors after a cut.
    fn first_bytes(&mut self, position: u64, keep: Keep) -> String {
        let (_, bytes) = self.build(position, keep).unwrap();
        assert!(bytes.chunks(SECTOR).all(|sector| sector.iter().all(|byte| *byte == sector[0])), "a sector is torn");
        bytes.chunks(SECTOR).take(4).map(|sector| if sector[0] == 0 { '0' } else { char::from(sector[0]) }).collect()
    }
}

fn one(sector: usize, byte: u8) -> DiskStep {
    DiskStep::Write { sector, sectors: 1, byte }
}

#[test]
fn what_was_flushed_is_kept_and_nothing_else() {
    let mut left = LeftLog::of(&[one(0, b'a'), DiskStep::Begin, DiskStep::End(0), one(1, b'b')]);
    assert_eq!(left.first_bytes(4, Keep::Durable), "a---");
    assert_eq!(left.first_bytes(4, Keep::All), "ab--");
    assert_eq!(left.first_bytes(2, Keep::Durable), "----", "the flush has not ended");
    assert_eq!(left.first_bytes(3, Keep::Durable), "a---");
    let (built, _) = left.build(4, Keep::Durable).unwrap();
    assert_eq!((built.durable, built.kept, built.torn, built.lost), (1, 0, 0, 1));
}

#[test]
fn a_write_during_a_flush_is_not_saved_by_it() {
    let mut left = LeftLog::of(&[one(0, b'a'), DiskStep::Begin, one(1, b'b'), DiskStep::End(0), one(2, b'c')]);
    assert_eq!(left.first_bytes(5, Keep::Durable), "a---");
    left.step(DiskStep::Begin);
    left.step(DiskStep::End(0));
    assert_eq!(left.first_bytes(7, Keep::Durable), "abc-");
}

#[test]
fn a_write_with_fua_saves_itself_when_it_has_ended() {
    let mut left = LeftLog::of(&[one(0, b'a'), DiskStep::Fua { sector: 1, byte: b'f' }, DiskStep::End(0)]);
    assert_eq!(left.first_bytes(2, Keep::Durable), "----");
    assert_eq!(left.first_bytes(3, Keep::Durable), "-f--");
    left.step(one(1, b'b'));
    assert_eq!(left.first_bytes(4, Keep::Durable), "-f--", "what was written over it is lost");
}

#[test]
fn zeroes_are_saved_by_flushes_like_writes() {
    let zero = DiskStep::Zero { sector: 0, sectors: 2 };
    let mut left = LeftLog::of(&[
        one(0, b'a'),
        one(2, b'c'),
        DiskStep::Begin,
        DiskStep::End(0),
        zero,
        DiskStep::Begin,
        DiskStep::End(0),
    ]);
    assert_eq!(left.first_bytes(5, Keep::Durable), "a-c-");
    assert_eq!(left.first_bytes(5, Keep::All), "00c-");
    assert_eq!(left.first_bytes(7, Keep::Durable), "00c-");
}

#[test]
fn two_flushes_at_once_save_what_was_before_each() {
    let mut left = LeftLog::of(&[one(0, b'a'), DiskStep::Begin, one(1, b'b'), DiskStep::Begin, DiskStep::End(1)]);
    assert_eq!(left.first_bytes(5, Keep::Durable), "ab--", "the later flush has ended");
    left.step(DiskStep::End(0));
    assert_eq!(left.first_bytes(6, Keep::Durable), "ab--", "and the earlier one takes nothing back");
}

#[test]
fn a_cut_needs_its_base_and_its_position() {
    let mut left = LeftLog::of(&[one(0, b'a')]);
    let error = left.build(2, Keep::All).unwrap_err();
    assert!(matches!(error, CutError::Log(DiskLogError::Position { entries: 1, position: 2, .. })), "{error}");
    assert!(!left.path("cut-1").exists());
    fs::write(left.path("base"), "short").unwrap();
    let error = left.build(1, Keep::All).unwrap_err();
    assert!(matches!(error, CutError::Base { found: 5, .. }), "{error}");
}

/// The disk after a cut, by the rules, one entry after the other and without any of the product's shortcuts.
fn by_the_rules(left: &LeftLog, position: u64, keeps_all: bool) -> Vec<u8> {
    let mut reader = LogReader::open(&left.path("log")).unwrap();
    let mut events = Vec::new();
    let mut data = Vec::new();
    while let Some(entry) = reader.next_entry().unwrap() {
        reader.data(&mut data).unwrap();
        events.push((entry.event, data.clone()));
    }
    events.truncate(usize::try_from(position).unwrap());
    let is_durable = |index: u64| {
        events.iter().any(|(event, _)| match event {
            DiskEvent::Ended { begun, is_flush: true, .. } => index < *begun,
            DiskEvent::Ended { begun, is_flush: false, .. } => index == *begun,
            _ => false,
        })
    };
    let mut disk = vec![b'-'; SIZE];
    for (index, (event, data)) in (0..).zip(&events) {
        if !keeps_all && !is_durable(index) {
            continue;
        }
        match event {
            DiskEvent::Write { offset, .. } => {
                let offset = usize::try_from(*offset).unwrap();
                disk[offset..offset + data.len()].copy_from_slice(data);
            }
            DiskEvent::Zero { offset, length } => {
                let offset = usize::try_from(*offset).unwrap();
                disk[offset..offset + usize::try_from(*length).unwrap()].fill(0);
            }
            _ => {}
        }
    }
    disk
}

fn step() -> impl Strategy<Value = DiskStep> {
    let at = (0..SECTORS - 24, 1_usize..24, 1_u8..128);
    prop_oneof![
        6 => at.clone().prop_map(|(sector, sectors, byte)| DiskStep::Write { sector, sectors, byte }),
        2 => at.clone().prop_map(|(sector, _, byte)| DiskStep::Fua { sector, byte }),
        1 => at.prop_map(|(sector, sectors, _)| DiskStep::Zero { sector, sectors }),
        2 => Just(DiskStep::Begin),
        4 => any::<usize>().prop_map(DiskStep::End),
        1 => Just(DiskStep::Mark),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cuts_are_what_the_rules_say(steps in proptest::collection::vec(step(), 0..40), at: prop::sample::Index) {
        let mut left = LeftLog::of(&steps);
        let position = at.index(steps.len() + 1) as u64;
        for (keep, keeps_all) in [(Keep::Durable, false), (Keep::All, true)] {
            let (_, found) = left.build(position, keep).unwrap();
            prop_assert!(found == by_the_rules(&left, position, keeps_all), "{keep:?} at {position}");
        }
    }

    #[test]
    fn a_subset_lies_between_nothing_and_all(
        steps in proptest::collection::vec(step(), 0..40), seed: u64, percent in 0_u8..=100,
    ) {
        // Each step has a stretch of the disk of its own, so that its own sectors show what was kept.
        let own = |(number, step): (usize, &DiskStep)| match *step {
            DiskStep::Write { sectors, .. } => DiskStep::Write { sector: number * 3, sectors: sectors % 3 + 1, byte: b'w' },
            DiskStep::Fua { .. } => DiskStep::Fua { sector: number * 3, byte: b'f' },
            DiskStep::Zero { sectors, .. } => DiskStep::Zero { sector: number * 3, sectors: sectors % 3 + 1 },
            other => other,
        };
        let steps: Vec<DiskStep> = steps.iter().enumerate().map(own).collect();
        let (mut left, position) = (LeftLog::of(&steps), steps.len() as u64);
        let (_, durable) = left.build(position, Keep::Durable).unwrap();
        let (_, all) = left.build(position, Keep::All).unwrap();
        for grain in [Grain::Bytes512, Grain::Bytes4096] {
            let keep = Keep::Subset { seed, grain, percent };
            let (built, subset) = left.build(position, keep).unwrap();
            for at in 0..SIZE {
                prop_assert!(subset[at] == durable[at] || subset[at] == all[at], "byte {at}");
                prop_assert!(durable[at] == b'-' || subset[at] == durable[at], "byte {at} must be kept");
            }
            prop_assert_eq!((built, subset), left.build(position, keep).unwrap(), "the same seed, the same disk");
        }
    }

    #[test]
    fn no_damage_of_a_log_is_more_than_an_error(
        steps in proptest::collection::vec(step(), 1..12), at: prop::sample::Index, byte: u8, length: prop::sample::Index,
    ) {
        let mut left = LeftLog::of(&steps);
        let path = left.path("log");
        let whole = path.metadata().unwrap().len();
        let file = File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[byte], at.index(usize::try_from(whole).unwrap()) as u64).unwrap();
        file.set_len(whole - length.index(usize::try_from(whole).unwrap()) as u64 / 4).unwrap();
        let read = LogReader::open(&path).and_then(|mut reader| {
            while reader.next_entry()?.is_some() {}
            Ok(reader.entries())
        });
        let position = read.as_ref().map_or(steps.len() as u64, |entries| *entries);
        match left.build(position, Keep::All) {
            Ok(_) => prop_assert!(read.is_ok()),
            Err(CutError::Log(_)) => prop_assert!(read.is_err()),
            // The damage is in the size of the disk.
            Err(CutError::Base { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

fn error_of(change: impl FnOnce(&mut LeftLog)) -> String {
    let mut left = LeftLog::of(&[one(0, b'a'), DiskStep::Begin, DiskStep::End(0)]);
    change(&mut left);
    let path = left.path("log");
    let read = LogReader::open(&path).and_then(|mut reader| {
        while reader.next_entry()?.is_some() {}
        Ok(())
    });
    read.unwrap_err().to_string().replace(&path.display().to_string(), "LOG")
}

#[test]
fn errors_name_the_entry() {
    let shortened = |by: u64| {
        move |left: &mut LeftLog| {
            let file = File::options().write(true).open(left.path("log")).unwrap();
            file.set_len(file.metadata().unwrap().len() - by).unwrap();
        }
    };
    assert_eq!(error_of(shortened(1)), "LOG is cut off within entry 2");
    assert_eq!(error_of(shortened(ENTRY_BYTES as u64 * 2 + 1)), "LOG is cut off within entry 0");
    let bare = ENTRY_BYTES * 3 + SECTOR;
    assert_eq!(error_of(shortened(bare as u64 + 1)), "LOG is not a disk's log: it is shorter than a header");
    let again = |left: &mut LeftLog| {
        left.log.append(Raw::Ended { begun: 1 }).unwrap();
    };
    assert_eq!(error_of(again), "entry 3 of LOG is wrong: it ends entry 1, which is not under way");
    let plain = |left: &mut LeftLog| {
        left.log.append(Raw::Ended { begun: 0 }).unwrap();
    };
    assert_eq!(error_of(plain), "entry 3 of LOG is wrong: it ends entry 0, which is not under way");
    let beyond = |left: &mut LeftLog| left.write(SIZE as u64 - 1, b"ab", false);
    assert_eq!(error_of(beyond), "entry 3 of LOG is wrong: it ends behind the disk of 65536 bytes");
    let no_text = |left: &mut LeftLog| {
        let mut bytes = vec![0xff; ENTRY_BYTES + 1];
        left.log.append_with_data(Raw::Mark { length: 1 }, &mut bytes).unwrap();
    };
    assert_eq!(error_of(no_text), "entry 3 of LOG is wrong: its mark is not text");
    let huge = |left: &mut LeftLog| {
        File::options().write(true).open(left.path("log")).unwrap().set_len(1 << 40).unwrap();
    };
    assert_eq!(error_of(huge), "LOG has 1099511627776 bytes, and at most 17179869184 are read");
}

#[test]
fn flushes_without_an_end_do_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut log = Log::create(&path, &Header { size_bytes: 1, base: String::new() }, 1 << 30).unwrap();
    for _ in 0..=1 << 16 {
        log.append(Raw::FlushBegun).unwrap();
    }
    let mut reader = LogReader::open(&path).unwrap();
    let error = loop {
        match reader.next_entry() {
            Ok(entry) => assert!(entry.is_some(), "all were read"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("more than 65536 flushes are under way"), "{error}");
}

/// A database's page with a marker in it.
fn page(marker: &[u8]) -> Vec<u8> {
    let mut page = vec![0x55; 1500];
    page[701..701 + marker.len()].copy_from_slice(marker);
    page
}

#[test]
fn a_marker_is_as_safe_as_its_write_was_when_it_was_acknowledged() {
    let mut left = LeftLog::new();
    left.write(0, &page(b"first-marker"), false); // 0
    left.step(DiskStep::Begin); // 1
    left.write(4096, &page(b"other-marker"), false); // 2
    left.step(DiskStep::End(0)); // 3
    left.write(8192, &page(b"third-marker"), true); // 4
    left.step(DiskStep::End(0)); // 5
    left.write(12_288, &page(b"first-marker"), false); // 6
    let marker = |marker, position| Acknowledged { marker, position };
    let safety = |acknowledged: &[Acknowledged<'_>]| scan(&left.path("log"), acknowledged).unwrap();
    for (marker, found) in [
        (marker(b"first-marker", 0), NotWritten),
        (marker(b"first-marker", 1), NotFlushed),
        (marker(b"first-marker", 3), NotFlushed),
        (marker(b"first-marker", 4), Covered),
        (marker(b"first-marker", 7), Covered),
        (marker(b"other-marker", 7), NotFlushed),
        (marker(b"third-marker", 5), NotFlushed),
        (marker(b"third-marker", 6), Covered),
        (marker(b"absent-marker", 7), NotWritten),
        (marker(b"\x55\x55\x55\x55first-marker\x55", 7), Covered),
    ] {
        assert_eq!(safety(&[marker]), [found], "{marker:?}");
    }
    let all = [marker(b"third-marker", 6), marker(b"absent-marker", 7), marker(b"other-marker", 3)];
    assert_eq!(safety(&all), [Covered, NotWritten, NotFlushed]);
    let error = scan(&left.path("log"), &[all[0], all[2], all[0]]).unwrap_err();
    assert!(matches!(error, ScanError::Twice { number: 2, earlier: 0 }), "{error}");
    let error = scan(&left.path("log"), &[marker(b"1234567", 0)]).unwrap_err();
    assert!(matches!(error, ScanError::Short { number: 0, bytes: 7 }), "{error}");
    assert!(matches!(scan(&left.path("log"), &[marker(b"first-marker", 8)]).unwrap_err(), ScanError::Log(_)));
}

#[test]
fn markers_are_found_at_the_ends_of_writes_and_among_many() {
    let markers: Vec<String> = (0..2_000).map(|number| format!("{number:016x}")).collect();
    let mut left = LeftLog::new();
    for marker in &markers[..1_000] {
        left.write(0, marker.as_bytes(), false);
    }
    let position = left.log.position();
    let acknowledged: Vec<_> =
        markers.iter().map(|marker| Acknowledged { marker: marker.as_bytes(), position }).collect();
    let safety = scan(&left.path("log"), &acknowledged).unwrap();
    assert!(safety[..1_000].iter().all(|safety| *safety == Safety::NotFlushed));
    assert!(safety[1_000..].iter().all(|safety| *safety == Safety::NotWritten));
    let (begin, end) = markers[1_000].as_bytes().split_at(9);
    left.write(0, begin, false);
    left.write(9, end, false);
    let position = left.log.position();
    let split = [Acknowledged { marker: markers[1_000].as_bytes(), position }];
    assert_eq!(scan(&left.path("log"), &split).unwrap(), [NotWritten], "it was written in two requests");
    let tail = &markers[7].as_bytes()[8..];
    let nested = [Acknowledged { marker: tail, position }, acknowledged[7], acknowledged[1_007]];
    assert_eq!(scan(&left.path("log"), &nested).unwrap(), [NotFlushed, NotFlushed, NotWritten], "one ends another");
}

#[test]
fn a_stretch_is_counted() {
    let zero = DiskStep::Zero { sector: 0, sectors: 2 };
    let fua = DiskStep::Fua { sector: 1, byte: 1 };
    let left = LeftLog::of(&[
        one(0, 1),
        DiskStep::Begin,
        one(1, 2),
        DiskStep::End(0),
        fua,
        DiskStep::End(0),
        zero,
        DiskStep::Begin,
    ]);
    let counts = count(&left.path("log"), 2..8).unwrap();
    assert_eq!((counts.writes, counts.written_bytes, counts.fua_writes), (2, 1024, 1));
    assert_eq!((counts.zeroed_bytes, counts.flushes), (1024, 1));
    assert!(counts.flush_time > Duration::ZERO);
    let none = count(&left.path("log"), 4..4).unwrap();
    assert_eq!(none, LogCounts::default());
    let bytes = HEADER_BYTES + 8 * ENTRY_BYTES + 3 * SECTOR;
    assert_eq!(left.path("log").metadata().unwrap().len(), bytes as u64);
}
