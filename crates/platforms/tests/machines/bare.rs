//! The simplest platform, for tests of code that uses one: a machine is only its agent's process, and its data are a
//! folder. It needs no image, no root and no tool, so a machine starts in milliseconds.
//!
//! The words in its setting `script` are passed to the agent, so that tests can have one that misbehaves. With `tcp`
//! the agent listens at a port of this host instead of talking over pipes.

use machines::link::AgentLink;
use machines::listening::LISTENS_AT;
use machines::machine::{LaunchFacts, Machine, MachineError, WatchedMachine};
use machines::printed::Printed;
use machines::process::{Launch, Process};
use machines::scratch;
use machines::token::{Token, random_bytes};
use machines::transport::Transport;
use platforms::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use platforms::entry::{PlatformEntry, PlatformSettings};
use platforms::lease::Lease;
use platforms::order::{Launched, MachineOrder};
use platforms::platform::{OpenOrder, Platform, plain};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use telemetry::Targets;

pub static BARE: PlatformEntry = PlatformEntry {
    kind: "bare",
    meaning: "a process of this host, for tests",
    keys: &[],
    read: |table| Ok(Arc::new(Bare(table.clone()))),
};

/// Its table.
#[derive(Debug, Clone)]
struct Bare(Map<String, Value>);

impl PlatformSettings for Bare {
    fn can(&self) -> Capabilities {
        Capabilities { image: ImageUse::None, data: DataHome::Folder, executes: true, server: ServerUse::Started }
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        let Self(table) = self.clone();
        Ok(plain(Lease::of_a_folder, move |order, launched| start(&table, order, launched)))
    }
}

const GREETING_LIMIT: Duration = Duration::from_secs(30);

struct BareMachine {
    link: Option<AgentLink>,
    process: Process,
    stderr: Printed,
    facts: LaunchFacts,
}

fn start(
    table: &Map<String, Value>,
    order: &MachineOrder,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    let images::data::DataDisk::Folder(data) = &order.data else { panic!("a folder was leased") };
    let logs = order.scratch.join("logs");
    std::fs::create_dir_all(&logs).map_err(failing("making a folder"))?;
    let path = |path: &PathBuf| path.display().to_string();
    let mut command_line = vec![path(&order.agent), "agent".to_owned(), "--data".to_owned(), path(data)];
    command_line.extend(["--logs".to_owned(), path(&logs)]);
    if let Some(script) = table.get("script").and_then(Value::as_str) {
        command_line.extend(["--name".to_owned(), order.name.clone()]);
        command_line.extend(script.split_whitespace().map(str::to_owned));
    }
    let token_file = order.scratch.join("token");
    let listens = table.get("tcp") == Some(&Value::Bool(true));
    if listens {
        make_token(&token_file).map_err(failing("making a token"))?;
        command_line.extend(["--listen".to_owned(), "127.0.0.1:0".to_owned()]);
        command_line.extend(["--token-file".to_owned(), path(&token_file)]);
    }
    let (mut stderr, printing) = Printed::pipe().map_err(failing("making a pipe"))?;
    let launch = Launch::new(&command_line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(printing);
    let mut process = Process::start(launch).map_err(|error| failing("starting the agent")(io::Error::other(error)))?;
    scratch::record_process(&order.scratch, process.identity()).unwrap();
    launched();
    let transport = if listens {
        let address = listened(&mut process, &mut stderr)?;
        Transport::Tcp { address, token: Token::of_file(&token_file).unwrap() }
    } else {
        let (stdin, stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
        Transport::pipe(stdout, stdin)
    };
    let link = match transport.connect(GREETING_LIMIT) {
        Err(error) if error.is_end() => return Err(ended(&mut process, &mut stderr, GREETING_LIMIT)?),
        link => link?,
    };
    let said = |name: &str, word: &str| (name.to_owned(), Ok(word.to_owned()));
    let decided = [said("processor", "the host's own"), said("data cached twice", "no")].into();
    Ok(Box::new(BareMachine {
        link: Some(link),
        process,
        stderr,
        facts: LaunchFacts { command_line, decided, listens_on: Ipv4Addr::LOCALHOST.into() },
    }))
}

/// Makes a token file like a user would.
fn make_token(file: &Path) -> io::Result<()> {
    let token = u128::from_ne_bytes(random_bytes()?);
    let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(file)?;
    writeln!(file, "{token:032x}")
}

/// The address at which the agent says that it listens.
fn listened(process: &mut Process, stderr: &mut Printed) -> Result<SocketAddr, MachineError> {
    let deadline = Instant::now() + GREETING_LIMIT;
    loop {
        let said = stderr.text();
        if let Some(address) = said.lines().find_map(|line| line.strip_prefix(LISTENS_AT)?.parse().ok()) {
            return Ok(address);
        }
        let has_ended = process.wait(Duration::from_millis(10)).is_ok_and(|status| status.is_some());
        if has_ended || Instant::now() > deadline {
            return Err(ended(process, stderr, Duration::ZERO)?);
        }
    }
}

fn failing(doing: &'static str) -> impl FnOnce(io::Error) -> MachineError {
    move |source| MachineError::Io { doing: doing.to_owned(), source }
}

/// How the process ended, as an error value; `Err` if it still runs.
fn ended(process: &mut Process, stderr: &mut Printed, limit: Duration) -> Result<MachineError, MachineError> {
    let what = "the bare machine".to_owned();
    let status = process.wait(limit).map_err(|error| failing("waiting")(io::Error::other(error)))?;
    let Some(status) = status else {
        return Err(MachineError::Silent { what, limit_s: limit.as_secs(), console: stderr.text() });
    };
    Ok(MachineError::Ended { what, status: status.to_string(), console: stderr.to_the_end() })
}

impl Machine for BareMachine {
    fn link(&mut self) -> &mut AgentLink {
        self.link.as_mut().unwrap()
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        Some((Ipv4Addr::LOCALHOST, port).into())
    }

    fn watched(&mut self) -> WatchedMachine {
        let targets = Targets { without_system: true, ..Targets::default() };
        WatchedMachine { targets, asked: Vec::new() }
    }

    fn console(&self) -> String {
        self.stderr.text()
    }

    fn stop(mut self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        self.link = None;
        match ended(&mut self.process, &mut self.stderr, limit)? {
            MachineError::Ended { status, .. } if status == "exit status: 0" => Ok(()),
            error => Err(error),
        }
    }

    fn cut(mut self: Box<Self>) -> Result<(), MachineError> {
        self.process.kill().map(drop).map_err(|error| failing("ending the agent")(io::Error::other(error)))
    }
}
