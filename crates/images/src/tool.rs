//! Running the system's tools (mmdebstrap, mke2fs, tar, cp): found, limited in time, and gone when we are gone.
//!
//! Nothing here knows what the tools are for.

use machines::process::{Launch, Process, ProcessError};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Administrators' tools are not on every user's search path, so the usual places are named here.
const PLACES: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Lines of a failed tool's output that are shown.
const TAIL_LINES: usize = 20;

/// Lines that may wait between a tool's output and the one who is told; the tool waits beyond that.
const LINES_IN_FLIGHT: usize = 256;

/// How long the last words of a tool that has ended may take to reach us.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a silent tool is looked at.
const POLL: Duration = Duration::from_millis(100);

/// A program and the Debian package it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    pub program: &'static str,
    pub package: &'static str,
}

pub(crate) const MMDEBSTRAP: Tool = Tool { program: "mmdebstrap", package: "mmdebstrap" };
pub(crate) const MKE2FS: Tool = Tool { program: "mke2fs", package: "e2fsprogs" };
pub(crate) const TAR: Tool = Tool { program: "tar", package: "tar" };
pub(crate) const CP: Tool = Tool { program: "cp", package: "coreutils" };
const ENV: Tool = Tool { program: "env", package: "coreutils" };
const UNSHARE: Tool = Tool { program: "unshare", package: "util-linux" };

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{program} is not installed; on Debian: apt-get install {package}")]
    Missing { program: &'static str, package: &'static str },
    #[error("{program} cannot be run: {cause}")]
    NotRun { program: &'static str, cause: std::io::Error },
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("{program} failed ({status}); its last words:\n{tail}")]
    Failed { program: &'static str, status: ExitStatus, tail: String },
    #[error("{program} was stopped after {} s; its last words:\n{tail}", .limit.as_secs())]
    TooLong { program: &'static str, limit: Duration, tail: String },
}

impl Tool {
    /// Where the program is.
    pub fn find(self) -> Result<PathBuf, ToolError> {
        let mut candidates = PLACES.split(':').map(|place| Path::new(place).join(self.program));
        candidates
            .find(|path| path.is_file())
            .ok_or(ToolError::Missing { program: self.program, package: self.package })
    }

    /// The first line it says when asked for its version.
    pub fn version(self, option: &str) -> Result<String, ToolError> {
        let output = Command::new(self.find()?).arg(option).stdin(Stdio::null()).output();
        let output = output.map_err(|cause| ToolError::NotRun { program: self.program, cause })?;
        let said = if output.stdout.is_empty() { output.stderr } else { output.stdout };
        Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned())
    }

    /// A call of the program.
    pub fn call(self) -> Result<Call, ToolError> {
        Ok(Call { tool: self, environment: Vec::new(), wrapper: Vec::new(), arguments: vec![self.find()?.into()] })
    }

    /// A call in which our user looks like root to the program, so that files it copies belong to root. For root it is
    /// a plain [`Tool::call`].
    pub fn call_as_owner(self) -> Result<Call, ToolError> {
        let call = self.call()?;
        if rustix::process::geteuid().is_root() {
            return Ok(call);
        }
        Ok(call.wrapped_in(UNSHARE.find()?, &["--map-root-user", "--"]))
    }

    /// A call with process and mount namespaces of its own: whatever it started or mounted ends with it. For users,
    /// and where a container forbids namespaces, it is a plain [`Tool::call`].
    pub fn call_contained(self) -> Result<Call, ToolError> {
        let contain = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"];
        let unshare = UNSHARE.find()?;
        let attempt = Command::new(&unshare).args(contain).arg("true").stderr(Stdio::null()).status();
        let call = self.call()?;
        Ok(if attempt.is_ok_and(|status| status.success()) { call.wrapped_in(unshare, &contain) } else { call })
    }
}

/// A command line that is ready to run.
pub(crate) struct Call {
    tool: Tool,
    environment: Vec<OsString>,
    wrapper: Vec<OsString>,
    /// Begins with the program.
    arguments: Vec<OsString>,
}

impl Call {
    pub fn args<Argument: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = Argument>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut pair = OsString::from(format!("{name}="));
        pair.push(value);
        self.environment.push(pair);
        self
    }

    fn wrapped_in(mut self, program: PathBuf, arguments: &[&str]) -> Self {
        self.wrapper = std::iter::once(program.into()).chain(arguments.iter().map(OsString::from)).collect();
        self
    }

    /// Runs to the end or to the limit. Each line the program writes to stderr is passed on as it comes.
    pub fn run(self, limit: Duration, progress: &mut dyn FnMut(&str)) -> Result<(), ToolError> {
        let program = self.tool.program;
        let deadline = Instant::now() + limit;
        let not_run = |cause| ToolError::NotRun { program, cause };
        let mut whole: Vec<OsString> =
            vec![ENV.find()?.into(), format!("PATH={PLACES}").into(), "LC_ALL=C.UTF-8".into()];
        whole.extend([self.environment, self.wrapper, self.arguments].concat());
        let (output, input) = std::io::pipe().map_err(not_run)?;
        let mut process = Process::start(Launch::new(&whole).stderr(input))?;
        let lines = lines_of(output);
        let mut tail = VecDeque::new();
        let status = follow(&mut process, &lines, deadline, |line| {
            progress(line);
            if tail.len() == TAIL_LINES {
                tail.pop_front();
            }
            tail.push_back(format!("  {line}"));
        })?;
        let tail = Vec::from(tail).join("\n");
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(ToolError::Failed { program, status, tail }),
            None => {
                process.kill()?;
                Err(ToolError::TooLong { program, limit, tail })
            }
        }
    }
}

/// Reads lines in a thread of its own, which ends when the last writer closes.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES_IN_FLIGHT);
    std::thread::spawn(move || {
        let mut reader = BufReader::new(output);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            bytes.clear();
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Passes lines on until the process has ended; `None` if it has not by the deadline.
fn follow(
    process: &mut Process,
    lines: &Receiver<String>,
    deadline: Instant,
    mut tell: impl FnMut(&str),
) -> Result<Option<ExitStatus>, ToolError> {
    while Instant::now() < deadline {
        match lines.recv_timeout(POLL) {
            Ok(line) => tell(&line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Ok(process.wait(deadline.saturating_duration_since(Instant::now()))?);
            }
        }
        if let Some(status) = process.wait(Duration::ZERO)? {
            // Something it left running may hold its output open, so this cannot wait for the end of it.
            while let Ok(line) = lines.recv_timeout(LAST_WORDS) {
                tell(&line);
            }
            return Ok(Some(status));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SH: Tool = Tool { program: "sh", package: "dash" };
    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn lines_are_told_as_they_come_and_a_failure_ends_with_them() {
        let mut told = Vec::new();
        let call = SH.call().unwrap().args(["-c", "echo one >&2; echo $WORD >&2; exit 3"]).env("WORD", "two");
        let error = call.run(LONG, &mut |line| told.push(line.to_owned())).unwrap_err();
        assert_eq!(told, ["one", "two"]);
        assert_eq!(error.to_string(), "sh failed (exit status: 3); its last words:\n  one\n  two");
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let call = SH.call().unwrap().args(["-c", "seq 1 1000 >&2; exit 1"]);
        let ToolError::Failed { tail, .. } = call.run(LONG, &mut |_| ()).unwrap_err() else { panic!("not a failure") };
        assert_eq!(tail.lines().count(), TAIL_LINES);
        assert!(tail.ends_with("  1000"));
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let call = SH.call().unwrap().args(["-c", "echo begun >&2; exec sleep 1000"]);
        let error = call.run(Duration::from_millis(300), &mut |_| ()).unwrap_err();
        assert!(matches!(error, ToolError::TooLong { .. }), "{error}");
    }

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let missing = Tool { program: "no-such-tool", package: "its-package" };
        let error = missing.call().err().unwrap();
        assert_eq!(error.to_string(), "no-such-tool is not installed; on Debian: apt-get install its-package");
    }
}
