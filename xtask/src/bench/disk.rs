//! What the disk that can lose power adds to a commit when it loses nothing: ext4 on a loop device on it, against ext4 on a loop
//! device on a plain file. Both flush the host's own disk.
//!
//! The disk and the commits are examples of the crate `disk`, because nothing of ours is linked here.

use super::bar::{Bar, BarSize, median, spread, verdict};
use super::{Emptied, target};
use anyhow::{Context, bail, ensure};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SIZE_BYTES: u64 = 256 << 20;
const MOST_LOG_BYTES: u64 = 2 << 30;
const MOST_RATIO: f64 = 1.25;
/// A process that was asked to end does so within this, or is killed.
const END_LIMIT: Duration = Duration::from_secs(20);
const LOADS: [(&str, &str); 2] =
    [("fdatasync", "8 KiB and fdatasync"), ("sqlite", "a row inserted into SQLite (WAL, FULL)")];

pub fn race(root: &Path, rounds: u32, commits: u32) -> anyhow::Result<()> {
    ensure!(rounds > 0 && commits > 0, "a race has at least one round and one commit");
    let examples = examples(root)?;
    let folder = tempfile_in(root)?;
    let plain = Formatted::new(&folder.0, "plain", None)?;
    let disk = Formatted::new(&folder.0, "flushing", Some((&examples, true)))?;
    let idle = Formatted::new(&folder.0, "in-memory", Some((&examples, false)))?;
    let mut bars = Vec::new();
    for (load, what) in LOADS {
        let time = |place: &Formatted| one_turn(&examples, load, &place.mounted, commits);
        // Unmeasured: the first commits of a file system make its journal.
        let _ = (time(&plain)?, time(&disk)?, time(&idle)?);
        let mut turns = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..rounds {
            // Each is first, second and third equally often.
            for place in 0..3 {
                let which = (place + round as usize) % 3;
                turns[which].push(time([&plain, &disk, &idle][which])?);
            }
        }
        let [plain, disk, idle] = turns;
        let ratios: Vec<f64> = disk.iter().zip(&plain).map(|(ours, theirs)| ours / theirs).collect();
        println!("{what}: {} µs on the plain file", spread(plain));
        println!("{what}: {} µs on the disk that flushes the host's", spread(disk));
        println!("{what}: {} µs on the disk that does not, as in an audit", spread(idle));
        println!("{what}: {} times as long", spread(ratios.clone()));
        let found = median(ratios);
        bars.push(Bar { what: format!("{what}: time, of a plain file's"), found, asked: BarSize::AtMost(MOST_RATIO) });
    }
    bars.extend(rebuilt(&examples, &folder.0, &idle)?);
    verdict(&bars)
}

/// How long a cut and a scan take with the log that the race has left.
fn rebuilt(examples: &Path, folder: &Path, disk: &Formatted) -> anyhow::Result<Vec<Bar>> {
    let log = disk.image.with_extension("log");
    let said = done(Command::new(examples.join("rebuild")).args([&disk.base, &log]).arg(folder))?;
    let figures: Result<Vec<f64>, _> = said.lines().map(str::parse).collect();
    let figures = figures.context("the times of cuts")?;
    let [log_mb, durable_ms, torn_ms, scan_ms] = figures[..] else { bail!("four figures, not {said}") };
    let what =
        format!("{durable_ms:.0} ms for a durable cut, {torn_ms:.0} ms for a torn one, {scan_ms:.0} ms for a scan");
    println!("log of {log_mb:.0} MB: {what}");
    // Their time grows with the log.
    let for_64_mib = |ms: f64| ms / 1e3 * f64::from(64 << 20) / 1e6 / log_mb;
    Ok(vec![
        Bar {
            what: "torn cut, s for 64 MiB of log".to_owned(),
            found: for_64_mib(torn_ms),
            asked: BarSize::AtMost(1.0),
        },
        Bar { what: "scan, GB/s".to_owned(), found: log_mb / scan_ms, asked: BarSize::AtLeast(1.0) },
    ])
}

/// Builds the examples, and returns their folder.
fn examples(root: &Path) -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--release", "--package", "disk", "--examples"])
        .current_dir(root)
        .status()
        .context("starting cargo")?;
    ensure!(built.success(), "the examples of the disk could not be built");
    Ok(target(root).join("x86_64-unknown-linux-gnu/release/examples"))
}

/// A folder on the disk on which the project is built, not in memory.
fn tempfile_in(root: &Path) -> anyhow::Result<Emptied> {
    let folder = target(root).join(format!("race-of-disks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    Ok(Emptied(folder))
}

/// The median of a turn's commits, in microseconds.
fn one_turn(examples: &Path, load: &str, folder: &Path, commits: u32) -> anyhow::Result<f64> {
    let said = done(Command::new(examples.join("commits")).arg(load).arg(folder).arg(commits.to_string()))?;
    let times: Result<Vec<f64>, _> = said.lines().map(str::parse).collect();
    Ok(median(times.context("the times of commits")?))
}

/// An ext4 on a loop device, on a file or on a disk of ours.
struct Formatted {
    image: PathBuf,
    /// The same as it was at first.
    base: PathBuf,
    mounted: PathBuf,
    /// Ends after the file system on it.
    _served: Option<DiskProcess>,
}

impl Formatted {
    fn new(folder: &Path, name: &str, disk: Option<(&Path, bool)>) -> anyhow::Result<Self> {
        let (image, mounted) = (folder.join(name), folder.join(format!("{name}-mounted")));
        File::create(&image)?.set_len(SIZE_BYTES).with_context(|| format!("making {}", image.display()))?;
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        done(Command::new("mke2fs").args(["-q", "-F", "-t", "ext4", "-E", options]).arg(&image))?;
        let base = image.with_extension("base");
        done(Command::new("cp").arg("--sparse=always").args([&image, &base]))?;
        // What is allocated only while it is written costs the host's journal, in both.
        done(Command::new("fallocate").args(["--length", &SIZE_BYTES.to_string()]).arg(&image))?;
        let served = disk.map(|(examples, flushes)| DiskProcess::start(examples, &image, flushes)).transpose()?;
        std::fs::create_dir(&mounted).with_context(|| format!("making {}", mounted.display()))?;
        let file = served.as_ref().map_or(&image, |served| &served.mount);
        done(Command::new("mount").args(["-o", "loop"]).args([file, &mounted]))?;
        Ok(Self { image, base, mounted, _served: served })
    }
}

impl Drop for Formatted {
    fn drop(&mut self) {
        if let Err(error) = done(Command::new("timeout").args(["60", "umount"]).arg(&self.mounted)) {
            eprintln!("{error}");
        }
    }
}

/// The process of a disk.
struct DiskProcess {
    process: Child,
    mount: PathBuf,
    control: PathBuf,
}

impl DiskProcess {
    fn start(examples: &Path, backing: &Path, flushes_backing: bool) -> anyhow::Result<Self> {
        let [mount, log, control] = ["disk", "log", "control"].map(|end| backing.with_extension(end));
        File::create(&mount).with_context(|| format!("making {}", mount.display()))?;
        let settings = json!({
            "backing": backing, "mount": mount, "log": log, "control": control, "base": "race",
            "most_log_bytes": MOST_LOG_BYTES, "flushes_backing": flushes_backing,
        });
        let mut serve = Command::new(examples.join("serve"));
        let process = serve.arg(settings.to_string()).stdout(Stdio::piped()).spawn().context("starting the disk")?;
        let mut served = Self { process, mount, control };
        let said = served.process.stdout.take().context("its output is piped")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line)?;
        ensure!(line == "ready\n", "the disk says: {line}");
        Ok(served)
    }

    fn quit(&mut self) -> anyhow::Result<()> {
        let mut control = UnixStream::connect(&self.control)?;
        control.set_write_timeout(Some(END_LIMIT))?;
        control.write_all(b"quit\n")?;
        let begun = Instant::now();
        while self.process.try_wait()?.is_none() {
            ensure!(begun.elapsed() < END_LIMIT, "the disk does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

impl Drop for DiskProcess {
    fn drop(&mut self) {
        if let Err(error) = self.quit() {
            eprintln!("{}: {error}", self.mount.display());
            // It may have ended by now.
            let _ = self.process.kill();
            let _ = self.process.wait();
            let _ = done(Command::new("umount").arg("--lazy").arg(&self.mount));
        }
    }
}

fn done(command: &mut Command) -> anyhow::Result<String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().with_context(|| format!("{name} was not found"))?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr).trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
