//! Lines between pairs of sockets, with the kernel's own ring. Where it has none, nothing is tested.

use super::*;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

const LONG: Duration = Duration::from_secs(20);

/// The ring, or none where the kernel has none; then nothing can be tested here.
fn ring() -> Option<Ring> {
    Ring::new().map_err(|error| eprintln!("not tested: {error}")).ok()
}

fn pair(ring: &Ring, token: u32) -> (Line, UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    theirs.set_read_timeout(Some(LONG)).unwrap();
    (ring.attach(ours.as_fd(), token).unwrap(), ours, theirs)
}

/// Waits until this token is reported.
fn wait_for(ring: &Ring, token: u32) {
    let (mut ready, begin) = (Vec::new(), Instant::now());
    while !ready.contains(&token) {
        assert!(begin.elapsed() < LONG, "{token} is not reported");
        ring.wait(LONG, &mut ready).unwrap();
    }
}

fn received(line: &Line) -> Result<Vec<u8>, io::ErrorKind> {
    let mut space = [0; 100];
    let count = line.receive(&mut space).map_err(|error| error.kind())?;
    Ok(space[..count].to_vec())
}

#[test]
fn bytes_go_both_ways_and_the_end_is_told_after_them() {
    let Some(ring) = ring() else { return };
    let (line, _ours, mut theirs) = pair(&ring, 7);
    assert_eq!(received(&line), Err(io::ErrorKind::WouldBlock));
    assert_eq!(line.send(b"question").unwrap(), 8);
    ring.wait(Duration::ZERO, &mut Vec::new()).unwrap();
    let mut heard = [0; 8];
    theirs.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"question");
    theirs.write_all(b"answer").unwrap();
    drop(theirs);
    wait_for(&ring, 7);
    while received(&line) == Err(io::ErrorKind::WouldBlock) {
        ring.wait(LONG, &mut Vec::new()).unwrap();
    }
    // The answer was taken by the loop's last look, so only the end is left.
    let begin = Instant::now();
    while received(&line) != Ok(Vec::new()) {
        assert!(begin.elapsed() < LONG);
        ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
    }
}

#[test]
fn many_sockets_are_served_by_one_wait_and_keep_their_own_bytes() {
    let Some(ring) = ring() else { return };
    // More than there are buffers, and more than requests fit.
    let mut all: Vec<_> = (0..600).map(|token| pair(&ring, token)).collect();
    for round in 0..3_u32 {
        for ((line, ..), token) in all.iter().zip(0_u32..) {
            line.send(&(token + round).to_ne_bytes()).unwrap();
        }
        ring.wait(Duration::ZERO, &mut Vec::new()).unwrap();
        for (_, _, theirs) in &mut all {
            let mut bytes = [0; 4];
            theirs.read_exact(&mut bytes).unwrap();
            theirs.write_all(&bytes).unwrap();
        }
        let (mut heard, begin) = (vec![Vec::new(); all.len()], Instant::now());
        while heard.iter().any(|bytes: &Vec<u8>| bytes.len() < 4) {
            assert!(begin.elapsed() < LONG);
            let mut ready = Vec::new();
            ring.wait(LONG, &mut ready).unwrap();
            for token in ready {
                if let Ok(bytes) = received(&all[token as usize].0) {
                    heard[token as usize].extend(bytes);
                }
            }
        }
        for (bytes, token) in heard.iter().zip(0_u32..) {
            assert_eq!(bytes, &(token + round).to_ne_bytes());
        }
    }
}

/// Neither a peer that does not read nor an owner that does not loses anything, and memory stays bounded.
#[test]
fn more_than_fits_waits() {
    let Some(ring) = ring() else { return };
    let (line, _ours, theirs) = pair(&ring, 1);
    let much: Vec<u8> = (0..=250_u8).cycle().take(5 << 20).collect();
    let (mut back, expected) = (theirs.try_clone().unwrap(), much.clone());
    // It answers only when it has heard everything.
    let talking = std::thread::spawn(move || {
        let (mut theirs, mut heard) = (theirs, vec![0; expected.len()]);
        theirs.read_exact(&mut heard).unwrap();
        assert!(heard == expected);
        back.write_all(&heard).unwrap();
    });
    let (mut sent, mut refused) = (0, 0);
    while sent < much.len() {
        match line.send(&much[sent..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                refused += 1;
                ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 0, "5 MiB do not fit");
    let (mut heard, mut space, begin) = (Vec::new(), vec![0; 70_000], Instant::now());
    while heard.len() < much.len() {
        assert!(begin.elapsed() < LONG);
        ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
        match line.receive(&mut space) {
            Ok(count) => heard.extend_from_slice(&space[..count]),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }
    assert!(heard == much);
    talking.join().unwrap();
}

#[test]
fn a_flood_that_nobody_takes_stops() {
    let Some(ring) = ring() else { return };
    let (line, _ours, mut theirs) = pair(&ring, 1);
    theirs.set_nonblocking(true).unwrap();
    let (mut written, mut stuck) = (0, 0);
    while stuck < 50 {
        ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
        match theirs.write(&[7; 8192]) {
            Ok(count) => (written, stuck) = (written + count, 0),
            Err(_) => stuck += 1,
        }
        assert!(written < 64 << 20, "somebody keeps it all");
    }
    let (mut space, mut heard, begin) = (vec![0; 65_536], 0, Instant::now());
    while heard < written {
        assert!(begin.elapsed() < LONG);
        ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
        while let Ok(count) = line.receive(&mut space) {
            heard += count;
        }
    }
    assert_eq!(heard, written);
}

#[test]
fn a_socket_that_is_left_gives_its_place_to_the_next_and_nothing_of_it_is_heard() {
    let Some(ring) = ring() else { return };
    for round in 0..50_u32 {
        let (line, ours, mut theirs) = pair(&ring, round);
        theirs.write_all(b"late").unwrap();
        line.send(b"never heard").unwrap();
        drop(line);
        rustix::net::shutdown(&ours, rustix::net::Shutdown::Both).unwrap();
        let mut ready = Vec::new();
        ring.wait(Duration::ZERO, &mut ready).unwrap();
        drop(ours);
        let (line, _ours, mut theirs) = pair(&ring, 1000 + round);
        theirs.write_all(b"fresh").unwrap();
        wait_for(&ring, 1000 + round);
        assert_eq!(received(&line), Ok(b"fresh".to_vec()));
    }
    let places = QUEUE.with_borrow(|queue| queue.as_ref().map(RingQueue::places));
    assert!(places.unwrap() <= 4, "places are used again: {places:?}");
}

#[test]
fn a_broken_connection_is_an_error() {
    let Some(ring) = ring() else { return };
    let (line, _ours, theirs) = pair(&ring, 3);
    drop(theirs);
    wait_for(&ring, 3);
    // Who did not look then is told again, because nothing else will come.
    line.send(b"anybody there?").unwrap();
    wait_for(&ring, 3);
    assert_eq!(received(&line), Ok(Vec::new()));
    let (line, _ours, theirs) = pair(&ring, 4);
    line.send(b"anybody there?").unwrap();
    drop(theirs);
    wait_for(&ring, 4);
    let begin = Instant::now();
    while received(&line) != Ok(Vec::new()) {
        assert!(begin.elapsed() < LONG);
        ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap();
    }
}

#[test]
fn a_watched_descriptor_ends_the_wait() {
    let Some(ring) = ring() else { return };
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    ring.watch(ours.as_fd()).unwrap();
    assert!(!ring.wait(Duration::from_millis(1), &mut Vec::new()).unwrap());
    for _ in 0..3 {
        theirs.write_all(b"x").unwrap();
        let (mut ready, begin) = (Vec::new(), Instant::now());
        while !ring.wait(LONG, &mut ready).unwrap() {
            assert!(begin.elapsed() < LONG);
        }
        assert!(ready.is_empty());
    }
}

#[test]
fn a_thread_has_one_ring_and_its_lines_end_with_it() {
    let Some(ring) = ring() else { return };
    assert_eq!(Ring::new().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let (line, _ours, mut theirs) = pair(&ring, 1);
    drop(ring);
    assert_eq!(line.send(b"x").unwrap_err().kind(), io::ErrorKind::NotConnected);
    // What arrives after the end of the ring goes nowhere, and certainly not into freed memory.
    theirs.write_all(b"late").unwrap();
    let ring = Ring::new().unwrap();
    let (_other, ..) = pair(&ring, 1);
    assert_eq!(received(&line), Err(io::ErrorKind::NotConnected), "it is not the first socket of this ring");
    drop((ring, line));
    // On another thread it is no line.
    let Some(ring) = self::ring() else { return };
    let (line, ..) = pair(&ring, 1);
    let elsewhere = std::thread::spawn(move || line.send(b"x").unwrap_err().kind());
    assert_eq!(elsewhere.join().unwrap(), io::ErrorKind::NotConnected);
}
