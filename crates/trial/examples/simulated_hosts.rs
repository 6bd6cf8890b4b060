//! Many hosts of a fleet that are not there, for `cargo xtask bench fleet`. To a conductor they look like hosts that drive load.
//!
//! `simulated_hosts agents COUNT FILE BAKEOFF` is an agent of the fleet for each, until they are asked to end. They claim to be the
//! program BAKEOFF. `simulated_hosts there …` takes the place of that program on a host: it answers like `bakeoff there …` and
//! the agent behind it, and starts at the common start, but drives only on a virtual clock. A second of that takes a second.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use agent::protocol::{Reply, Request};
use driver::plan::Driven;
use fleet::agent::{Me, serve};
use fleet::{Arrangement, Build};
use machines::clock::monotonic_ns;
use machines::frame::{Greeting, Message, read_frame, write_frame};
use machines::machine::Decided;
use platforms::host::there::{BINARY, Begun, Ready, RunOrder, Told};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use trial::rehearsal::answer;

/// An agent's thread needs little.
const STACK_BYTES: usize = 256 << 10;
const NANOS_PER_MILLI: u64 = 1_000_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["agents", count, file, bakeoff] => agents(count.parse().unwrap(), Path::new(file), Path::new(bakeoff)),
        // The last word is the script that stands for the binary that was brought.
        ["there", "keep", parent, name, connection, brought] => {
            keep(Path::new(parent), name, connection, Path::new(brought)).unwrap();
        }
        ["there", "run", ..] => run(&mut io::stdin(), &mut io::stdout()).unwrap(),
        _ => panic!("{words:?}"),
    }
}

fn agents(count: usize, file: &Path, bakeoff: &Path) {
    let arrangement = Arrangement::read(file).unwrap();
    let mut sha256 = String::new();
    for byte in Sha256::digest(std::fs::read(bakeoff).unwrap()) {
        write!(sha256, "{byte:02x}").unwrap();
    }
    let build = Build { version: env!("CARGO_PKG_VERSION").to_owned(), sha256 };
    let there = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..count {
            let (arrangement, build, there) = (&arrangement, build.clone(), &there);
            let work = move || {
                let name = format!("host-{number}");
                let me = Me { machine: name.clone(), name, build };
                let mut tell = |_: &str| {
                    if there.fetch_add(1, Ordering::Relaxed) + 1 == count {
                        println!("all are there");
                    }
                };
                serve(arrangement, &me, &mut tell).unwrap();
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).unwrap();
        }
    });
}

/// Owns a folder until the input ends, as the keeper of a run does.
fn keep(parent: &Path, name: &str, connection: &str, brought: &Path) -> io::Result<()> {
    let (folder, mut write) = (parent.join(name), io::stdout());
    std::fs::create_dir(&folder)?;
    std::fs::rename(brought, folder.join(BINARY))?;
    let word = |number: usize| connection.split(' ').nth(number).and_then(|word| word.parse().ok());
    let (from, address, machine) = (word(0), word(2), name.to_owned());
    write_frame(&mut write, &Greeting::ours())?;
    write_frame(&mut write, &Told::Ready(Ready { folder: folder.clone(), address, from, machine, notes: Vec::new() }))?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    std::fs::remove_dir_all(&folder)?;
    // Other hosts may still be there.
    let _ = std::fs::remove_dir(parent);
    Ok(())
}

/// Answers as an agent that drives load, until it is told to shut down.
fn run(read: &mut impl Read, write: &mut impl Write) -> io::Result<()> {
    read_frame::<RunOrder>(read)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    write_frame(write, &Begun::Started { decided: Decided::new(), command_line: Vec::new() })?;
    write_frame(write, &Greeting::ours())?;
    while let Some(Message { number, instance, body }) = read_frame::<Message<Request>>(read)? {
        let is_last = body == Request::Shutdown;
        let is_drive = matches!(body, Request::Drive { .. });
        let mut say = |instance, body: Reply| write_frame(write, &Message { number, instance, body });
        let begin_ns = if is_drive {
            say(0, Reply::Ready)?;
            start(read)?
        } else {
            0
        };
        let mut in_time = |instance, reply| {
            if let Reply::Tick(tick) = &reply {
                sleep_until(begin_ns + tick.elapsed_ms * NANOS_PER_MILLI);
            }
            if reply == Reply::Ready { Ok(()) } else { say(instance, reply) }
        };
        match answer(body, &mut in_time)? {
            Some(Reply::Driven(driven)) => say(instance, Reply::Driven(begun_at(begin_ns, driven)))?,
            Some(reply) => say(instance, reply)?,
            None => {}
        }
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Waits for the common start; returns when it really began, by this machine's clock.
fn start(read: &mut impl Read) -> io::Result<u64> {
    loop {
        let message = read_frame::<Message<Request>>(read)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if let Request::StartDriving { at_ns } = message.body {
            sleep_until(at_ns);
            return Ok(monotonic_ns());
        }
    }
}

fn sleep_until(at_ns: u64) {
    // Nothing comes on this channel.
    let (_held, never) = channel::<()>();
    let _ = never.recv_timeout(Duration::from_nanos(at_ns.saturating_sub(monotonic_ns())));
}

/// The virtual clock has another beginning.
fn begun_at(begin_ns: u64, mut driven: Vec<Driven>) -> Vec<Driven> {
    for Driven { facts, .. } in &mut driven {
        facts.window_start_ns = Some(begin_ns + facts.warmup_ms * NANOS_PER_MILLI);
    }
    driven
}
