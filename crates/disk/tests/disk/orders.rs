//! What a disk does when it is told to stall, to freeze, to be slow or to lie.

use crate::place::{LONG, Place, until};
use disk::cut::Keep;
use disk::{DiskEvent, DiskOrders};
use rustix::fs::fdatasync;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::Duration;

const SIZE: u64 = 1 << 20;
/// The kernel's numbers of the system calls in which the tests' threads wait.
const PWRITE: &str = "18 ";

/// Does something with the disk on a thread of its own. Its id comes first, then its end.
fn beside(file: File, work: impl FnOnce(&File) + Send + 'static) -> (rustix::thread::Pid, Receiver<()>) {
    let ((tell_id, id), (tell_end, end)) = (channel(), channel());
    thread::spawn(move || {
        tell_id.send(rustix::thread::gettid()).unwrap();
        work(&file);
        // Nobody waits for it where the test has failed.
        let _ = tell_end.send(());
    });
    (id.recv().unwrap(), end)
}

fn count(events: &[DiskEvent], wanted: impl Fn(&DiskEvent) -> bool) -> usize {
    events.iter().filter(|event| wanted(event)).count()
}

#[test]
fn a_stalled_flush_waits_for_go() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let mut control = place.control();
    control.stall().unwrap();
    let file = place.open();
    file.write_all_at(&[1; 512], 0).unwrap();
    let (_, end) = beside(file, |file| fdatasync(file).unwrap());
    until("the flush", || place.events().contains(&DiskEvent::FlushBegun));
    let during = control.mark("held").unwrap();
    assert_eq!(end.try_recv(), Err(TryRecvError::Empty), "the flush was answered");
    control.go().unwrap();
    end.recv_timeout(LONG).unwrap();
    let events = place.events();
    let at = |wanted: &dyn Fn(&DiskEvent) -> bool| events.iter().position(wanted).unwrap();
    let go = at(&|event| *event == DiskEvent::Told(DiskOrders::Go));
    assert!(at(&|event| matches!(event, DiskEvent::Ended { .. })) > go, "{events:?}");
    let is_there = |path| fs::read(path).unwrap()[0] == 1;
    assert!(!is_there(place.cut(during, Keep::Durable)));
    let position = control.position().unwrap();
    assert!(is_there(place.cut(position, Keep::Durable)));
    place.end();
}

#[test]
fn a_stalled_disk_holds_writes_that_must_be_on_it_and_goes_when_it_is_told_to_quit() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    place.control().stall().unwrap();
    let file = File::options().write(true).custom_flags(0o10_000).open(&place.settings.mount).unwrap();
    let (_, end) = beside(file, |file| file.write_all_at(&[1; 512], 0).unwrap());
    until("the write", || place.events() != [DiskEvent::Told(DiskOrders::Stall)]);
    assert_eq!(end.try_recv(), Err(TryRecvError::Empty), "the write was answered");
    place.end();
    end.recv_timeout(LONG).unwrap();
    assert!(matches!(place.events()[..], [_, DiskEvent::Write { fua: true, .. }, DiskEvent::Ended { begun: 1, .. }]));
}

#[test]
fn nothing_reaches_a_frozen_disk() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let mut control = place.control();
    let frozen = control.freeze().unwrap();
    let (id, end) = beside(place.open(), |file| {
        file.write_all_at(&[1; 512], 0).unwrap();
        fdatasync(file).unwrap();
    });
    let call = format!("/proc/self/task/{id}/syscall");
    until("the write", || fs::read_to_string(&call).unwrap().starts_with(PWRITE));
    // Reads go on, and find what was there.
    assert!(fs::read(&place.settings.mount).unwrap().iter().all(|byte| *byte == 0));
    assert_eq!(control.position().unwrap(), frozen);
    assert_eq!(end.try_recv(), Err(TryRecvError::Empty), "the write was answered");
    control.thaw().unwrap();
    end.recv_timeout(LONG).unwrap();
    let events = place.events();
    assert!(
        matches!(
            events[..],
            [
                DiskEvent::Told(DiskOrders::Freeze),
                DiskEvent::Told(DiskOrders::Thaw),
                DiskEvent::Write { length: 512, .. },
                DiskEvent::FlushBegun,
                DiskEvent::Ended { .. },
            ]
        ),
        "{events:?}"
    );
    place.end();
}

#[test]
fn a_flush_takes_as_much_longer_as_it_was_told() {
    const DELAY: Duration = Duration::from_millis(15);
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    place.control().delay_flushes(DELAY).unwrap();
    let file = place.open();
    for _ in 0..3 {
        file.write_all_at(&[1; 512], 0).unwrap();
        fdatasync(&file).unwrap();
    }
    drop(file);
    let events = place.events();
    let took = events.iter().filter_map(|event| match event {
        DiskEvent::Ended { took_ns, .. } => Some(Duration::from_nanos(*took_ns)),
        _ => None,
    });
    let took: Vec<Duration> = took.collect();
    assert!(took.len() == 3 && took.iter().all(|took| *took >= DELAY), "{took:?}");
    place.end();
}

#[test]
fn all_that_a_liar_was_given_is_lost_until_it_is_honest() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let mut control = place.control();
    let file = File::options().write(true).custom_flags(0o10_000).open(&place.settings.mount).unwrap();
    let save = |byte: u8| {
        file.write_all_at(&[byte; 512], u64::from(byte) * 512).unwrap();
        fdatasync(&file).unwrap();
    };
    save(1);
    control.lie().unwrap();
    save(2);
    save(3);
    let lying = control.be_honest().unwrap();
    let firsts = |path| {
        let disk = fs::read(path).unwrap();
        [512, 1024, 1536, 2048].map(|at| disk[at])
    };
    assert_eq!(firsts(place.cut(lying, Keep::Durable)), [1, 0, 0, 0]);
    assert_eq!(firsts(place.cut(lying, Keep::All)), [1, 2, 3, 0]);
    save(4);
    let honest = control.position().unwrap();
    assert_eq!(firsts(place.cut(honest, Keep::Durable)), [1, 2, 3, 4], "an honest flush saves all before it");
    let is_flush = |event: &DiskEvent| *event == DiskEvent::FlushBegun;
    assert_eq!(count(&place.events(), is_flush), 2);
    drop(file);
    place.end();
}

#[test]
fn flushes_can_be_passed_on_to_the_host() {
    let Some(mut place) = Place::with(SIZE, |settings| settings.flushes_backing = true) else { return };
    let file = place.open();
    file.write_all_at(&[1; 512], 0).unwrap();
    fdatasync(&file).unwrap();
    drop(file);
    assert_eq!(place.events().len(), 3);
    place.end();
}

#[test]
fn marks_of_many_threads_are_all_in_the_log() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    thread::scope(|scope| {
        for client in 0..8 {
            let mut control = place.control();
            scope.spawn(move || {
                for number in 0..50 {
                    control.mark(&format!("{client} {number}")).unwrap();
                }
            });
        }
    });
    let events = place.events();
    for client in 0..8 {
        let own = format!("{client} ");
        let own = events.iter().filter_map(|event| match event {
            DiskEvent::Mark(text) => text.strip_prefix(&own),
            _ => None,
        });
        assert!(own.eq((0..50).map(|number| number.to_string())), "client {client}");
    }
    place.end();
}

#[test]
fn nonsense_on_the_socket_is_answered_and_harms_nothing() {
    let Some(mut place) = Place::with(SIZE, |_| ()) else { return };
    let say = |words: &[u8]| {
        let mut stream = UnixStream::connect(&place.settings.control).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(words).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).map(|_| said)
    };
    assert_eq!(say(b"jump\nposition\n").unwrap(), "error a disk does not know `jump`\nok 0\n");
    assert_eq!(say(b"mark half").unwrap(), "");
    assert_eq!(say(b"\xff\n").unwrap(), "");
    assert_eq!(place.control().mark("still there").unwrap(), 1);
    place.end();
}
