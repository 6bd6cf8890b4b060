//! What the kernel's requests do to the disk and its log.

use crate::place::Place;
use disk::cut::{Grain, Keep};
use disk::{DiskEvent, DiskOrders};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::fs::{FallocateFlags, fallocate, fdatasync};
use rustix::io::Errno;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

const SIZE: u64 = 1 << 20;
/// `O_DSYNC` and `O_SYNC`.
const SYNCED: [i32; 2] = [0o10_000, 0o4_010_000];

fn write(offset: u64, length: u32) -> DiskEvent {
    DiskEvent::Write { offset, length, fua: false }
}

#[test]
fn what_is_flushed_is_kept_and_closing_flushes_nothing() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let file = place.open();
    file.write_all_at(&[1; 4096], 0).unwrap();
    fdatasync(&file).unwrap();
    file.write_all_at(&[2; 512], 8192).unwrap();
    drop(file);
    let position = place.control().position().unwrap();
    let events = place.events();
    assert_eq!(events[..2], [write(0, 4096), DiskEvent::FlushBegun]);
    assert!(matches!(events[2], DiskEvent::Ended { begun: 1, is_flush: true, .. }), "{events:?}");
    assert_eq!(events[3..], [write(8192, 512)]);
    let kept = fs::read(place.cut(position, Keep::Durable)).unwrap();
    assert!(kept[..4096].iter().all(|byte| *byte == 1) && kept[4096..].iter().all(|byte| *byte == 0));
    let all = fs::read(place.cut(position, Keep::All)).unwrap();
    assert!(all == fs::read(&place.settings.mount).unwrap());
    place.end();
}

#[test]
fn a_write_that_must_be_on_the_disk_is_logged_so_and_needs_no_flush() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    for (number, flags) in (0_u64..).zip(SYNCED) {
        let file = File::options().write(true).custom_flags(flags).open(&place.settings.mount).unwrap();
        file.write_all_at(&[7; 512], number * 512).unwrap();
    }
    let events = place.events();
    for (number, pair) in (0_u64..).zip(events.chunks(2)) {
        let [written, DiskEvent::Ended { begun, is_flush: false, .. }] = pair else { panic!("{events:?}") };
        assert_eq!((written, *begun), (&DiskEvent::Write { offset: number * 512, length: 512, fua: true }, number * 2));
    }
    assert_eq!(events.len(), 4);
    let kept = fs::read(place.cut(4, Keep::Durable)).unwrap();
    assert!(kept[..1024].iter().all(|byte| *byte == 7));
    place.end();
}

#[test]
fn space_is_zeroed_and_has_a_fixed_size() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let file = place.open();
    file.write_all_at(&[9; 16_384], 0).unwrap();
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(&file, punch, 4096, 4096).unwrap();
    fallocate(&file, FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE, 8192, 512).unwrap();
    fallocate(&file, FallocateFlags::KEEP_SIZE, 0, SIZE).unwrap();
    let zero = |offset, length| DiskEvent::Zero { offset, length };
    assert_eq!(place.events(), [write(0, 16_384), zero(4096, 4096), zero(8192, 512)]);
    let mut found = vec![0; 16_384];
    file.read_exact_at(&mut found, 0).unwrap();
    let is_zeroed = |at: &usize| (4096..8192 + 512).contains(at);
    assert!((0..found.len()).all(|at| found[at] == if is_zeroed(&at) { 0 } else { 9 }));
    assert!(fs::read(place.cut(3, Keep::All)).unwrap() == fs::read(&place.settings.mount).unwrap());
    assert!(file.set_len(SIZE / 2).is_err());
    assert_eq!(file.metadata().unwrap().len(), SIZE);
    assert!(file.write_all_at(&[1; 512], SIZE - 256).is_err());
    assert_eq!(file.metadata().unwrap().len(), SIZE, "a disk does not grow");
    drop(file);
    place.end();
}

#[test]
fn everything_at_the_end_is_the_live_disk() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let file = place.open();
    let mut chance = Pcg64Mcg::seed_from_u64(1);
    let mut draw = |below: u64| u64::from(chance.next_u32()) % below;
    for _ in 0..300 {
        let offset = draw(SIZE);
        let length = (draw(40_000) + 1).min(SIZE - offset);
        match draw(8) {
            0 => fdatasync(&file).unwrap(),
            1 => fallocate(&file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, length).unwrap(),
            _ => {
                let byte = u8::try_from(draw(255) + 1).unwrap();
                file.write_all_at(&vec![byte; usize::try_from(length).unwrap()], offset).unwrap();
            }
        }
    }
    drop(file);
    let position = place.control().position().unwrap();
    let live = fs::read(&place.settings.mount).unwrap();
    assert!(fs::read(place.cut(position, Keep::All)).unwrap() == live);
    let keep = Keep::Subset { seed: 3, grain: Grain::Bytes512, percent: 50 };
    let [once, again] = [0, 1].map(|_| fs::read(place.cut(position, keep)).unwrap());
    assert!(once == again, "the same seed gives the same disk");
    let other = Keep::Subset { seed: 4, grain: Grain::Bytes512, percent: 50 };
    assert!(once != fs::read(place.cut(position, other)).unwrap() && once != live);
    place.end();
    assert!(fs::read(&place.settings.backing).unwrap() == live);
}

#[test]
fn a_full_log_refuses_writes_and_says_why() {
    let Some(mut place) = Place::with(SIZE, |settings| settings.most_log_bytes = 8192) else { return };
    let file = place.open();
    file.write_all_at(&[1; 4096], 0).unwrap();
    let refused = file.write_all_at(&[2; 4096], 4096).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
    assert_eq!(fdatasync(&file).unwrap_err(), Errno::NOSPC);
    let mut control = place.control();
    for said in [control.position().unwrap_err(), control.mark("here").unwrap_err(), control.stall().unwrap_err()] {
        assert!(said.to_string().ends_with("the log has reached its limit of 8192 bytes"), "{said}");
    }
    drop(file);
    assert_eq!(place.events(), [write(0, 4096)], "what was refused is not in the log");
    place.end();
}

#[test]
fn what_it_was_told_is_in_the_log() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let mut control = place.control();
    let positions = [
        control.mark("client 1").unwrap(),
        control.stall().unwrap(),
        control.go().unwrap(),
        control.freeze().unwrap(),
        control.mark("while frozen").unwrap(),
        control.thaw().unwrap(),
        control.lie().unwrap(),
        control.be_honest().unwrap(),
    ];
    assert_eq!(positions, [1, 2, 3, 4, 5, 6, 7, 8]);
    let mark = |text: &str| DiskEvent::Mark(text.to_owned());
    let told =
        [DiskOrders::Stall, DiskOrders::Go, DiskOrders::Freeze, DiskOrders::Thaw, DiskOrders::Lie, DiskOrders::Honest]
            .map(DiskEvent::Told);
    let [stall, go, freeze, thaw, lie, honest] = told;
    assert_eq!(place.events(), [mark("client 1"), stall, go, freeze, mark("while frozen"), thaw, lie, honest]);
    place.end();
}
