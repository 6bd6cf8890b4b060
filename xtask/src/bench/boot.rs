//! From start to the first transaction in a guest, against a hand-written QEMU command line.
//!
//! Both boot the same kernel, initramfs and loaded disk, and ask the agent inside to start SQLite and drive. Ours is
//! what `bakeoff run` does from the beginning of a trial's boot, with everything it reads before it drives. Theirs is
//! the command line below and the two requests that are indispensable.

use super::RaceGround;
use super::conversation::TimedConversation;
use super::ratio::{judge, rounds};
use super::study;
use crate::process::WatchedProcess;
use anyhow::{Context, bail, ensure};
use machines::transport::Transport;
use serde_json::{Value, json};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BAR: f64 = 1.2;
/// QEMU creates its socket within this time.
const SOCKET_LIMIT: Duration = Duration::from_secs(30);
const SOCKET_POLL: Duration = Duration::from_millis(5);
const MEMORY_BYTES: u64 = 1 << 30;

/// One trial, as short as possible.
const STUDY: &str = r#"
question = "How long does it take to the first transaction?"
seed     = 1
blocks   = 1

[machine]
vcpus  = 1
memory = "1GiB"
disk   = { size = "1GiB" }

[engine]
kind = "sqlite"

[workload]
kind       = "order-entry"
warehouses = 1

[load]
placement = "inside"
clients   = 1
warmup    = "0s"
measure   = "1s"

[[contender]]
name     = "vm"
baseline = true
platform = { kind = "qemu", accelerator = "auto" }
"#;

pub fn race(ground: &RaceGround, count: u32) -> anyhow::Result<()> {
    // The first run builds what later ones reuse, and shows exactly what was booted.
    let (_, recorded) = one_run(ground)?;
    let guest = HandMadeGuest::from_record(&recorded, ground)?;
    let rounds = rounds(count, || one_run(ground).map(|(taken, _)| taken), || guest.first_transaction(ground))?;
    judge("from start to the first transaction", &rounds, BAR)
}

/// Runs the study. Returns the time from boot to the first transaction, from its events, and the trial's record.
fn one_run(ground: &RaceGround) -> anyhow::Result<(Duration, Value)> {
    let run = study::run(ground, "boot", STUDY)?;
    let events = run.text("events.jsonl")?;
    let taken = first_transaction(&events).with_context(|| format!("no transaction in this run:\n{}", run.said))?;
    Ok((taken, run.json("trials/0001/trial.json")?))
}

/// From the beginning of the phase `boot` to the beginning of driving, which follows from the first second's report.
fn first_transaction(events: &str) -> Option<Duration> {
    let events: Vec<Value> = events.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let boot = events.iter().find(|event| event["event"] == "phase-started" && event["phase"] == "boot")?;
    let tick = events.iter().find(|event| event["event"] == "throughput")?;
    let begin_ms = tick["at_ms"].as_u64()?.checked_sub(tick["elapsed_ms"].as_u64()?)?;
    Some(Duration::from_millis(begin_ms.checked_sub(boot["at_ms"].as_u64()?)?))
}

/// What the hand-written command line boots.
#[derive(Debug)]
struct HandMadeGuest {
    kernel: String,
    initramfs: String,
    /// Words for the kernel's command line.
    append: String,
    /// "kvm" or "tcg", as our run decided.
    accelerator: String,
    cpu: String,
    /// A copy of the loaded disk.
    disk: PathBuf,
}

impl HandMadeGuest {
    fn from_record(record: &Value, ground: &RaceGround) -> anyhow::Result<Self> {
        let line: Vec<&str> =
            record["machine"]["command_line"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let after = |option: &str| {
            let value = line.iter().skip_while(|word| **word != option).nth(1);
            value.map(|word| (*word).to_owned()).with_context(|| format!("the recorded command line has no {option}"))
        };
        let accelerator = after("-accel")?.split(',').next().unwrap_or_default().to_owned();
        let guest = Self {
            kernel: after("-kernel")?,
            initramfs: after("-initrd")?,
            append: after("-append")?,
            accelerator,
            cpu: after("-cpu")?,
            disk: ground.folder.join("disk.img"),
        };
        ensure!(Path::new(&guest.initramfs).exists(), "{} was not kept", guest.initramfs);
        Ok(guest)
    }

    fn first_transaction(&self, ground: &RaceGround) -> anyhow::Result<Duration> {
        self.clone_disk(ground)?;
        let socket = ground.folder.join("agent.sock");
        let begin = Instant::now();
        let mut qemu =
            WatchedProcess(self.command(&socket, &ground.folder.join("console.txt")).spawn().context("starting QEMU")?);
        let stream = connect(&socket, &mut qemu.0)?;
        let mut agent = TimedConversation::over(Transport::pipe(stream.try_clone()?, stream))?;
        let settings = json!({ "profile": "durable", "busy_timeout": 10_000, "wal_autocheckpoint": 1000 });
        agent.ask(&json!({
            "request": "start-server",
            "engine": { "kind": "sqlite", "settings": settings },
            "shape": { "vcpus": 1, "memory_bytes": MEMORY_BYTES },
            "listen": null,
        }))?;
        let settings = json!({ "warehouses": 1, "delivery": "deferred", "transactions": "client", "statements": "plain", "data_seed": 42 });
        let stream = json!({ "actor": 0, "pacing": { "kind": "clients", "clients": 1 } });
        let until = json!({ "until": "time", "measure_ms": 1_000 });
        let plan = json!({
            "phases": [{ "name": "load", "warmup_ms": 0, "until": until, "streams": [stream] }],
            "shards": 1, "seed": 1, "retries": 3, "away_limit_ms": 3_000, "drain_limit_ms": 10_000,
        });
        let drive = json!({
            "request": "drive", "workload": { "kind": "order-entry", "settings": settings }, "plans": [plan],
        });
        let tick = agent.ask_until(&drive, |reply| reply["reply"] == "tick")?;
        let elapsed =
            tick["with"]["elapsed_ms"].as_u64().map(Duration::from_millis).context("a tick says how late it is")?;
        Ok(begin.elapsed().saturating_sub(elapsed))
    }

    fn command(&self, socket: &Path, console: &Path) -> Command {
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-machine", "q35", "-accel", &self.accelerator, "-cpu", &self.cpu, "-smp", "1", "-m", "1G"])
            .args(["-nodefaults", "-display", "none", "-no-reboot"])
            .args(["-kernel", &self.kernel, "-initrd", &self.initramfs, "-append", &self.append])
            .args(["-serial", &format!("file:{}", console.display())])
            .args(["-drive", &format!("file={},format=raw,if=virtio,cache=none", self.disk.display())])
            .args(["-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=bakeoff.agent"])
            .args(["-chardev", &format!("socket,id=agent,path={},server=on,wait=off", socket.display())])
            .args(["-device", "virtio-rng-pci", "-nic", "user,model=virtio-net-pci"])
            .stdin(Stdio::null());
        command
    }

    /// Each round writes, so each gets its own copy of the disk in the cache.
    fn clone_disk(&self, ground: &RaceGround) -> anyhow::Result<()> {
        let loaded = loaded_disk(ground)?;
        let copied = Command::new("cp")
            .args([Path::new("--sparse=always"), Path::new("--reflink=auto"), &loaded, &self.disk])
            .status()
            .context("starting cp")?;
        ensure!(copied.success(), "the disk could not be copied");
        Ok(())
    }
}

/// The disk that our run left in the cache: the newest one, in case the study changes some day.
fn loaded_disk(ground: &RaceGround) -> anyhow::Result<PathBuf> {
    let folders = std::fs::read_dir(ground.cache.join("data")).context("looking for loaded disks")?;
    let disks = folders.filter_map(|entry| Some(entry.ok()?.path().join("disk.img")));
    let dated = disks.filter_map(|disk| Some((disk.metadata().ok()?.modified().ok()?, disk)));
    dated.max().map(|(_, disk)| disk).context("the cache holds no loaded disk")
}

fn connect(socket: &Path, qemu: &mut Child) -> anyhow::Result<UnixStream> {
    let deadline = Instant::now() + SOCKET_LIMIT;
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(stream),
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                return Err(error).context("connecting to the agent");
            }
            Err(_) => {}
        }
        if let Some(status) = qemu.try_wait()? {
            bail!("QEMU ended at once: {status}");
        }
        ensure!(Instant::now() < deadline, "QEMU made no socket within {SOCKET_LIMIT:?}");
        std::thread::sleep(SOCKET_POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_transaction_is_a_second_before_the_first_report() {
        let events = "{\"at_ms\":1000,\"event\":\"phase-started\",\"phase\":\"clone\"}\n\
                      {\"at_ms\":1500,\"event\":\"phase-started\",\"phase\":\"boot\"}\n\
                      {\"at_ms\":5520,\"event\":\"throughput\",\"elapsed_ms\":1000}\n\
                      {\"at_ms\":6520,\"event\":\"throughput\",\"elapsed_ms\":2000}\n";
        assert_eq!(first_transaction(events), Some(Duration::from_millis(3020)));
        assert_eq!(first_transaction(""), None);
    }

    #[test]
    fn a_guest_is_what_was_recorded() {
        let line =
            ["qemu", "-accel", "tcg,thread=multi", "-cpu", "max", "-kernel", "/k", "-initrd", "/", "-append", "a b"];
        let record = json!({ "machine": { "command_line": line } });
        let ground = RaceGround { root: "/".into(), bakeoff: "/".into(), folder: "/".into(), cache: "/".into() };
        let guest = HandMadeGuest::from_record(&record, &ground).unwrap();
        assert_eq!((guest.accelerator.as_str(), guest.append.as_str()), ("tcg", "a b"));
        assert!(HandMadeGuest::from_record(&json!({}), &ground).is_err());
    }
}
