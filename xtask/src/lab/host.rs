//! A lab's host that has booted, reached by ssh.

use super::LabKind;
use anyhow::{Context, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// An emulated system shuts down within this, also beside other work.
const DOWN_LIMIT: Duration = Duration::from_mins(3);
/// A command in the lab that takes longer hangs: seconds, as timeout takes them.
const COMMAND_LIMIT_S: &str = "3000";
const POLL: Duration = Duration::from_millis(500);
/// Where programs of this checkout are in the lab: on a disk with room, to which a link in the path leads.
const PROGRAMS: &str = "/srv/ext4";

pub struct LabHost {
    /// Its disks, key, process id and port.
    pub folder: PathBuf,
}

impl LabHost {
    pub fn of(root: &Path, kind: LabKind) -> Self {
        Self { folder: root.join("target/lab").join(kind.name()) }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The process id of its QEMU, if that runs.
    fn process(&self) -> Option<u32> {
        let process: u32 = fs::read_to_string(self.file("pid")).ok()?.trim().parse().ok()?;
        let program = fs::read_link(format!("/proc/{process}/exe")).ok()?;
        program.to_string_lossy().contains("qemu").then_some(process)
    }

    pub fn is_up(&self) -> bool {
        self.process().is_some()
    }

    /// Waits until someone can log in.
    pub fn greeted(&self, limit: Duration) -> anyhow::Result<()> {
        let begin = Instant::now();
        loop {
            let mut login = self.ssh("root")?;
            let login =
                login.args(["-o", "ConnectTimeout=5", "systemctl", "is-active", "lab.service"]).stderr(Stdio::null());
            if login.output()?.stdout.starts_with(b"active") {
                return Ok(());
            }
            ensure!(self.is_up(), "it ended; its console is {}", self.file("console").display());
            ensure!(
                begin.elapsed() < limit,
                "no login after {limit:?}; its console is {}",
                self.file("console").display()
            );
            std::thread::sleep(POLL);
        }
    }

    fn ssh(&self, user: &str) -> anyhow::Result<Command> {
        let port = fs::read_to_string(self.file("port")).context("the lab's port")?;
        let mut ssh = Command::new("timeout");
        ssh.args([COMMAND_LIMIT_S, "ssh"]);
        let options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"];
        ssh.args(options.iter().flat_map(|option| ["-o", option]));
        ssh.arg("-i").arg(self.file("key")).args(["-p", port.trim(), &format!("{user}@127.0.0.1")]);
        Ok(ssh)
    }

    /// Copies a program of this checkout into the lab, unless it is the one that is there.
    pub fn receive(&self, program: &Path) -> anyhow::Result<()> {
        let built = program.metadata()?.modified()?;
        let sent = self.file("sent").metadata().and_then(|sent| sent.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        if built <= sent {
            return Ok(());
        }
        let name = program.file_name().context("a program has a name")?.to_string_lossy();
        // A program that runs cannot be written to, but replaced.
        let place = format!("{PROGRAMS}/{name}");
        let taking = format!("cat > {place}.new && chmod 755 {place}.new && mv {place}.new {place}");
        self.feed("root", &taking, File::open(program)?.into())?;
        File::create(self.file("sent"))?;
        Ok(())
    }

    /// Runs a shell's text there with this input.
    pub fn feed(&self, user: &str, script: &str, input: Stdio) -> anyhow::Result<()> {
        let status = self.ssh(user)?.arg(script).stdin(input).status()?;
        ensure!(status.success(), "{script:?} failed in the lab: {status}");
        Ok(())
    }

    /// Runs a shell's text there; its output goes to `to`.
    pub fn send(&self, user: &str, script: &str, to: Stdio) -> anyhow::Result<()> {
        let status = self.ssh(user)?.arg(script).stdin(Stdio::null()).stdout(to).status()?;
        ensure!(status.success(), "{script:?} failed in the lab: {status}");
        Ok(())
    }

    /// The output of a shell's text there, however it ends.
    pub fn output(&self, user: &str, script: &str) -> anyhow::Result<String> {
        let output = self.ssh(user)?.arg(script).stdin(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a command there; its output is ours. Returns its exit code.
    pub fn run(&self, user: &str, command: &[String]) -> anyhow::Result<u8> {
        let status = self.ssh(user)?.args(command).status()?;
        status.code().and_then(|code| u8::try_from(code).ok()).context("ssh was killed")
    }

    pub fn down(&self) -> anyhow::Result<()> {
        let Some(process) = self.process() else { return Ok(()) };
        // The connection ends with the host.
        let _ = self.ssh("root")?.arg("poweroff").status();
        let begin = Instant::now();
        while self.process() == Some(process) {
            if begin.elapsed() > DOWN_LIMIT {
                bail!("it did not power off within {DOWN_LIMIT:?}; `kill {process}` ends it");
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}
