//! Lines over a real NATS server, which is killed in the middle.
#![allow(clippy::missing_panics_doc, clippy::print_stderr, clippy::unwrap_used)]

mod hostile;
mod logins;
mod nats_server;

use fleet::agent::{self, Me};
use fleet::bridge::{Bridge, FarProgram};
use fleet::{Arrangement, Build, FleetError};
use machines::printed::Printed;
use machines::process::{Launch, Process};
use nats_server::{Access, NatsServer};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_mins(1);

/// Skips a test with a message if there is no server, or fails it if `REQUIRE` names that part.
fn missing() -> bool {
    let required = std::env::var("REQUIRE").unwrap_or_default();
    let is_there = NatsServer::is_installed();
    assert!(is_there || !required.split(',').any(|part| part == "nats"), "nats is required but not here");
    if !is_there {
        eprintln!("SKIPPED: nats is not here");
    }
    !is_there
}

fn arrangement(server: &NatsServer, further: &str) -> Arrangement {
    std::fs::write(server.file(), server.text(further)).unwrap();
    Arrangement::read(&server.file()).unwrap()
}

fn lab(server: &NatsServer) -> Arrangement {
    arrangement(server, "")
}

fn build(digit: char) -> Build {
    Build { version: "1".to_owned(), sha256: digit.to_string().repeat(64) }
}

fn me(name: &str) -> Me {
    Me { name: name.to_owned(), build: build('a'), machine: format!("machine of {name}") }
}

type Agent = JoinHandle<Result<agent::AgentEnd, FleetError>>;

/// An agent in a thread, which is in the fleet when this returns.
fn agent(server: &NatsServer, name: &'static str) -> Agent {
    let arrangement = lab(server);
    let (tell, told) = std::sync::mpsc::channel();
    let agent = std::thread::spawn(move || agent::serve(&arrangement, &me(name), &mut |_| tell.send(()).unwrap()));
    assert!(told.recv_timeout(LONG).is_ok(), "the agent is not in the fleet: {:?}", agent.join());
    agent
}

fn run(bridge: &Bridge, script: &str) -> (FarProgram, Printed) {
    let (printed, errors) = Printed::pipe().unwrap();
    (bridge.run("b.example", script, errors).unwrap(), printed)
}

/// Bytes that are all different in any stretch of eight.
fn bytes(count: usize) -> Vec<u8> {
    (0..count as u64 / 8).flat_map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect()
}

#[test]
fn a_program_has_its_streams_and_its_status() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let going = agent(&server, "b.example");
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let (mut program, mut errors) = run(&bridge, "echo no >&2; tr a-z A-Z; test -x \"$BAKEOFF_PROGRAM\" && exit 7");
    program.input.write_all(b"hello").unwrap();
    assert_eq!(program.end.wait(Duration::from_millis(300)), None);
    drop(program.input);
    let mut said = String::new();
    program.output.read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), program.end.wait(LONG)), ("HELLO", Some(7)));
    assert_eq!(errors.to_the_end(), "no");
    let (mut program, _) = run(&bridge, "echo $BAKEOFF_CONNECTION; kill -9 $$");
    said.clear();
    program.output.read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), program.end.wait(LONG)), ("127.0.0.1 0 127.0.0.1 0\n", Some(137)));
    // Who is there, and then is not.
    let seen = bridge.roll_call().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].present.name.as_str(), seen[0].present.build == build('a')), ("b.example", true));
    assert!(seen[0].clock_offset_ns.unsigned_abs() <= seen[0].clock_error_ns, "it has our clock: {:?}", seen[0]);
    assert_eq!(bridge.down(LONG).unwrap().asked.len(), 1);
    assert_eq!(going.join().unwrap().unwrap(), agent::AgentEnd::Asked);
    assert!(bridge.roll_call().unwrap().is_empty());
}

#[test]
fn nothing_is_lost_when_the_server_is_killed_again_and_again() {
    if missing() {
        return;
    }
    let mut server = NatsServer::start();
    let going = agent(&server, "b.example");
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let sent = bytes(20 << 20);
    let (program, mut errors) = run(&bridge, "cat");
    let FarProgram { mut input, mut output, mut end } = program;
    let to_send = sent.clone();
    let sending = std::thread::spawn(move || {
        for piece in to_send.chunks(1 << 16) {
            input.write_all(piece).unwrap();
        }
    });
    let mut got = vec![0; 1 << 20];
    output.read_exact(&mut got).unwrap();
    for pause in [0, 200, 3000, 0] {
        // In the middle: most of it is still to come, because nobody has read it.
        server.is_killed_for(Duration::from_millis(pause));
        let mut more = vec![0; 2 << 20];
        output.read_exact(&mut more).unwrap();
        got.extend(more);
    }
    output.read_to_end(&mut got).unwrap();
    sending.join().unwrap();
    assert_eq!(end.wait(LONG), Some(0), "{}", errors.to_the_end());
    assert!(got == sent, "{} of {} bytes came", got.len(), sent.len());
    // An agent that is on its way back is asked, too.
    server.is_killed_for(Duration::ZERO);
    assert_eq!(bridge.down(LONG).unwrap().asked.len(), 1);
    going.join().unwrap().unwrap();
}

/// The agent is a process of its own here: this one, as the test below.
fn agent_process(server: &NatsServer) -> Process {
    let own = std::env::current_exe().unwrap();
    let launch = Launch::new(&[own.as_os_str()]).args(["--exact", "an_agent_until_it_is_killed", "--nocapture"]);
    let launch = launch.env("BAKEOFF_TEST_FLEET", server.file());
    let agent = Process::start(launch.log(&server.file().with_extension("log")).unwrap()).unwrap();
    let bridge = Bridge::connect(&lab(server), build('a')).unwrap();
    let deadline = Instant::now() + LONG;
    while bridge.roll_call().unwrap().is_empty() {
        assert!(Instant::now() < deadline, "the agent does not come");
    }
    agent
}

#[test]
fn an_agent_until_it_is_killed() {
    if let Some(file) = std::env::var_os("BAKEOFF_TEST_FLEET") {
        let arrangement = Arrangement::read(Path::new(&file)).unwrap();
        agent::serve(&arrangement, &me("b.example"), &mut |_| ()).unwrap();
    }
}

/// Waits until no process has this word in its command line.
fn gone(word: &str) -> bool {
    let has_word = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.filter_map(|process| std::fs::read_to_string(process.path().join("cmdline")).ok());
        lines.any(|line| line.contains(word))
    };
    let deadline = Instant::now() + LONG;
    while has_word() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

#[test]
fn a_program_ends_with_its_agent_and_the_conductor_is_told() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let mut going = agent_process(&server);
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let (mut program, mut errors) = run(&bridge, ": bakeoff-test-one; cat; echo ended >&2");
    program.input.write_all(b"x").unwrap();
    let mut byte = [0];
    program.output.read_exact(&mut byte).unwrap();
    going.signal(Signal::KILL);
    going.wait(LONG).unwrap();
    assert_eq!(program.end.wait(LONG), Some(255));
    assert!(errors.to_the_end().contains("the agent on b.example is lost: it has ended"), "{}", errors.text());
    assert!(gone("bakeoff-test-one"));
}

#[test]
fn a_program_ends_when_its_conductor_has() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let going = agent(&server, "b.example");
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let (mut program, _) = run(&bridge, ": bakeoff-test-two; cat");
    program.input.write_all(b"x").unwrap();
    let mut byte = [0];
    program.output.read_exact(&mut byte).unwrap();
    // As if it was killed: nothing more is said, though the input is open.
    drop(bridge);
    assert!(gone("bakeoff-test-two"));
    assert_eq!(program.end.wait(LONG), Some(255));
    Bridge::connect(&lab(&server), build('a')).unwrap().down(LONG).unwrap();
    going.join().unwrap().unwrap();
}

#[test]
fn what_is_not_there_or_not_ours_is_refused_by_name() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    std::fs::write(server.file(), server.text("").replace("token_file = \"token\"", "")).unwrap();
    let wrong = Bridge::connect(&Arrangement::read(&server.file()).unwrap(), build('a')).unwrap_err();
    assert!(matches!(&wrong, FleetError::Login { .. }), "{wrong}");
    let going = agent(&server, "b.example");
    let taken = agent::serve(&lab(&server), &me("b.example"), &mut |_| ()).unwrap_err();
    assert_eq!(taken.to_string(), "an agent named b.example is already there, on the machine machine of b.example");
    let other = Bridge::connect(&lab(&server), build('b')).unwrap();
    let (_, errors) = Printed::pipe().unwrap();
    let refused = other.run("b.example", "true", errors).unwrap_err().to_string();
    assert!(refused.contains("start the agent again with the same program"), "{refused}");
    let (_, errors) = Printed::pipe().unwrap();
    let nobody = other.run("c", "true", errors).unwrap_err().to_string();
    assert!(nobody.starts_with("no agent named c is in the fleet lab"), "{nobody}");
    other.down(LONG).unwrap();
    going.join().unwrap().unwrap();
}

#[test]
fn an_agent_is_there_until_its_programs_have_ended() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let going = agent(&server, "b.example");
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let held = server.file().with_extension("held");
    std::fs::write(&held, "").unwrap();
    let script = format!("cat > /dev/null; while [ -e {} ]; do sleep 0.1; done", held.display());
    let (mut program, _) = run(&bridge, &script);
    let left = bridge.down(Duration::ZERO).unwrap().left;
    assert_eq!(left.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["b.example"]);
    let (_, errors) = Printed::pipe().unwrap();
    let refused = bridge.run("b.example", "true", errors).unwrap_err().to_string();
    assert!(refused.contains("it is about to end"), "{refused}");
    std::fs::remove_file(held).unwrap();
    assert!(bridge.down(LONG).unwrap().left.is_empty());
    assert_eq!(program.end.wait(LONG), Some(0));
    assert_eq!(going.join().unwrap().unwrap(), agent::AgentEnd::Asked);
}

/// Even if a program has more to print than anybody can be told.
#[test]
fn an_agent_whose_server_stays_away_ends() {
    if missing() {
        return;
    }
    let server = NatsServer::start();
    let arrangement = arrangement(&server, "away = \"2s\"\n");
    let (tell, told) = std::sync::mpsc::channel();
    let going =
        std::thread::spawn(move || agent::serve(&arrangement, &me("b.example"), &mut |_| tell.send(()).unwrap()));
    told.recv_timeout(LONG).unwrap();
    let bridge = Bridge::connect(&lab(&server), build('a')).unwrap();
    let (mut program, _) = run(&bridge, "echo; read line; head -c 20000000 /dev/zero; cat > /dev/null");
    let mut byte = [0];
    program.output.read_exact(&mut byte).unwrap();
    program.input.write_all(b"\n").unwrap();
    // Some of it has come, and nobody reads the rest.
    program.output.read_exact(&mut byte).unwrap();
    drop(server);
    assert_eq!(going.join().unwrap().unwrap(), agent::AgentEnd::Alone);
}

#[test]
fn a_server_with_a_low_limit_on_messages_is_refused_with_the_setting_to_change() {
    if missing() {
        return;
    }
    let config = "max_payload: 65536".to_owned();
    let server = NatsServer::with(|_, _| Access { config, scheme: "nats", keys: String::new() });
    let refused = Bridge::connect(&lab(&server), build('a')).unwrap_err().to_string();
    assert!(refused.contains("65536 bytes") && refused.contains("max_payload"), "{refused}");
}
