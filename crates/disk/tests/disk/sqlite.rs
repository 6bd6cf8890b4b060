//! SQLite on ext4 on a loop device on the disk, with settings of which it is known what they lose.

use crate::place::{Mounted, Place};
use disk::cut::{Grain, Keep};
use disk::scan::{Acknowledged, Safety, count, scan};
use disk::{DiskEvent, LogReader};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

const DISK_BYTES: u64 = 64 << 20;
const TRANSACTIONS: u32 = 120;
const CUTS: u32 = 10;
/// As many as a short trial has.
const MANY_TRANSACTIONS: u32 = 3000;
/// One acknowledgement of so many is made to come too early. With fewer in each scan there would have to be more scans,
/// and each reads the whole log.
const EARLY: usize = 200;
const SEEDS: u64 = 40;
/// For so many of them the power is cut.
const SEEDS_CUT: u64 = 20;
const DATABASE: &str = "audit.db";

/// A transaction that was acknowledged, and where the log was then.
struct Receipt {
    marker: String,
    position: u64,
}

/// What was driven on a disk.
struct Driven {
    place: Place,
    receipts: Vec<Receipt>,
}

/// Drives SQLite with these settings. `None` where there is no such disk or no mount.
fn drive(journal: &str, synchronous: &str, transactions: u32) -> Option<Driven> {
    let folder = tempfile::tempdir().unwrap();
    let (empty, base) = (folder.path().join("empty"), folder.path().join("base"));
    std::fs::create_dir(&empty).unwrap();
    images::data::make_from_folder(&empty, &base, DISK_BYTES, "disk").unwrap();
    let mut place = Place::on(folder, base, |_| ())?;
    let Some(mounted) = Mounted::of(&place.settings.mount, place.folder().join("mounted")) else {
        place.end();
        return None;
    };
    let mut control = place.control();
    let path = mounted.path().join(DATABASE);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", journal).unwrap();
    connection.pragma_update(None, "synchronous", synchronous).unwrap();
    connection.execute("CREATE TABLE done (number INTEGER PRIMARY KEY, marker TEXT)", ()).unwrap();
    // The table is not under test, so it is on the disk before the first transaction.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
    for synced in [path.as_path(), mounted.path()] {
        File::open(synced).unwrap().sync_all().unwrap();
    }
    let mut receipts = Vec::new();
    for number in 1..=transactions {
        let marker = format!("{:016x}", u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        connection.execute("INSERT INTO done VALUES (?1, ?2)", (number, &marker)).unwrap();
        let position = control.mark(&marker).unwrap();
        receipts.push(Receipt { marker, position });
    }
    drop(connection);
    drop(mounted);
    place.end();
    Some(Driven { place, receipts })
}

impl Driven {
    /// How many acknowledged transactions are missing after each cut, each of which is right behind an acknowledgement.
    fn lost(&mut self, keep: impl Fn(u32) -> Keep) -> Vec<u32> {
        let cuts = (1..=CUTS).map(|cut| cut * TRANSACTIONS / CUTS);
        let cuts: Vec<(u32, u64)> =
            cuts.map(|number| (number, self.receipts[usize::try_from(number).unwrap() - 1].position)).collect();
        let lost = cuts.into_iter().map(|(number, position)| {
            let image = self.place.cut(position, keep(number));
            number.saturating_sub(kept(&image))
        });
        lost.collect()
    }

    fn scanned(&self) -> Vec<Safety> {
        self.scanned_with(&BTreeMap::new())
    }

    /// The same if these transactions, by their place among the receipts, had been acknowledged at other positions.
    fn scanned_with(&self, others: &BTreeMap<usize, u64>) -> Vec<Safety> {
        let receipts = self.receipts.iter().enumerate();
        let acknowledged: Vec<Acknowledged<'_>> = receipts
            .map(|(place, receipt)| {
                let position = others.get(&place).copied().unwrap_or(receipt.position);
                Acknowledged { marker: receipt.marker.as_bytes(), position }
            })
            .collect();
        scan(&self.place.settings.log, &acknowledged).unwrap()
    }

    /// For each transaction the last position at which its acknowledgement would have been too early: where the first flush that
    /// began after its marker was written is about to end.
    fn last_early(&self) -> Vec<u64> {
        let mut reader = LogReader::open(&self.place.settings.log).unwrap();
        let (mut early, mut written, mut data) = (Vec::new(), None, Vec::new());
        while let Some(entry) = reader.next_entry().unwrap() {
            // There is one client, so that whatever is not of this transaction was done before it.
            let Some(receipt) = self.receipts.get(early.len()) else { break };
            match entry.event {
                DiskEvent::Write { .. } if written.is_none() => {
                    reader.data(&mut data).unwrap();
                    if data.windows(receipt.marker.len()).any(|text| text == receipt.marker.as_bytes()) {
                        written = Some(entry.index);
                    }
                }
                DiskEvent::Ended { begun, is_flush: true, .. } if written.is_some_and(|written| written < begun) => {
                    early.push(entry.index);
                    written = None;
                }
                _ => {}
            }
        }
        early
    }
}

/// How many transactions SQLite finds on this disk. They must be the first ones.
fn kept(image: &Path) -> u32 {
    let mounted = Mounted::of(image, image.with_extension("mounted")).unwrap();
    let connection = Connection::open(mounted.path().join(DATABASE)).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let counted = "SELECT count(*), ifnull(max(number), 0) FROM done";
    let (rows, last): (u32, u32) = connection.query_row(counted, (), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(rows, last, "an earlier one is missing");
    rows
}

fn half(seed: u32) -> Keep {
    Keep::Subset { seed: u64::from(seed), grain: Grain::Bytes4096, percent: 50 }
}

#[test]
fn a_synced_wal_keeps_all() {
    let Some(mut driven) = drive("WAL", "FULL", TRANSACTIONS) else { return };
    assert!(driven.scanned().iter().all(|safety| *safety == Safety::Covered));
    assert_eq!(driven.lost(|_| Keep::Durable), [0; CUTS as usize]);
    assert_eq!(driven.lost(half), [0; CUTS as usize]);
    let [first, last] = [&driven.receipts[0], &driven.receipts[driven.receipts.len() - 1]];
    let commits = u64::from(TRANSACTIONS - 1);
    let counts = count(&driven.place.settings.log, first.position..last.position).unwrap();
    assert!(counts.flushes >= commits && counts.written_bytes > 4096 * commits, "{counts:?}");
}

#[test]
fn of_thousands_the_few_that_were_acknowledged_early_are_named_and_no_other() {
    let Some(mut driven) = drive("WAL", "FULL", MANY_TRANSACTIONS) else { return };
    assert!(driven.scanned().iter().all(|safety| *safety == Safety::Covered));
    let last_early = driven.last_early();
    assert_eq!(last_early.len(), driven.receipts.len());
    for seed in 0..SEEDS {
        let mut chance = Pcg64Mcg::seed_from_u64(seed);
        let mut planted = BTreeMap::new();
        while planted.len() < (driven.receipts.len() / EARLY).max(1) {
            let place = usize::try_from(chance.next_u64() % driven.receipts.len() as u64).unwrap();
            // The acknowledgement before it is where it began.
            let begun = place.checked_sub(1).map_or(0, |before| driven.receipts[before].position);
            planted.insert(place, begun + chance.next_u64() % (last_early[place] - begun + 1));
        }
        let scanned = driven.scanned_with(&planted);
        let named = (0..scanned.len()).filter(|place| scanned[*place] != Safety::Covered);
        assert!(named.eq(planted.keys().copied()), "seed {seed}: {planted:?}");
        // A cut at such a moment loses the transaction.
        let (place, position) = planted.into_iter().next().unwrap();
        if seed < SEEDS_CUT {
            let image = driven.place.cut(position, Keep::Durable);
            assert!(kept(&image) as usize <= place, "seed {seed}: {place} at {position}");
        }
    }
}

#[test]
fn a_wal_that_is_not_synced_loses() {
    let Some(mut driven) = drive("WAL", "NORMAL", TRANSACTIONS) else { return };
    let scanned = driven.scanned();
    let uncovered = scanned.iter().filter(|safety| **safety != Safety::Covered).count();
    assert!(uncovered > scanned.len() / 2, "{scanned:?}");
    let lost = driven.lost(|_| Keep::Durable);
    assert!(lost.iter().any(|lost| *lost > 1), "{lost:?}");
}

#[test]
fn a_rollback_journal_loses_the_last_one_and_the_scan_does_not_see_it() {
    let Some(mut driven) = drive("DELETE", "FULL", TRANSACTIONS) else { return };
    let lost = driven.lost(|_| Keep::Durable);
    assert!(lost.iter().all(|lost| *lost <= 1) && lost.iter().sum::<u32>() > CUTS / 2, "{lost:?}");
    assert!(driven.scanned().iter().all(|safety| *safety == Safety::Covered));
}

#[test]
fn a_rollback_journal_whose_folder_is_synced_keeps_all() {
    let Some(mut driven) = drive("DELETE", "EXTRA", TRANSACTIONS) else { return };
    assert_eq!(driven.lost(|_| Keep::Durable), [0; CUTS as usize]);
    assert_eq!(driven.lost(half), [0; CUTS as usize]);
}
