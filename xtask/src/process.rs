//! Runs a process to its end within a limit, and measures what it cost.

use anyhow::{Context, ensure};
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The unit in which the kernel reports CPU time to other processes, on every Linux we know.
const TICKS_PER_SECOND: f64 = 100.0;
/// How often a running process's memory is read.
const LOOK: Duration = Duration::from_millis(50);
/// Fields of a process's stat file after the command's name: its CPU time, user and system, and that of children that it
/// has waited for.
const USER: usize = 11;
const SYSTEM: usize = 12;
const CHILDREN_USER: usize = 13;
const CHILDREN_SYSTEM: usize = 14;

/// The output and cost of a finished process.
pub struct Finished {
    pub output: String,
    pub cpu_s: f64,
    pub peak_memory_bytes: u64,
}

/// Runs the command and waits for it, regularly calling `meanwhile` with the time since its start. The process is
/// killed after `limit`.
pub fn run(
    command: &mut Command,
    limit: Duration,
    meanwhile: impl FnMut(Duration) -> anyhow::Result<()>,
) -> anyhow::Result<Finished> {
    run_allowing(&[0], command, limit, meanwhile)
}

/// The same for a command that also succeeds with other exit codes.
pub fn run_allowing(
    codes: &[i32],
    command: &mut Command,
    limit: Duration,
    mut meanwhile: impl FnMut(Duration) -> anyhow::Result<()>,
) -> anyhow::Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    let before = cpu_of_children()?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = WatchedProcess(child.with_context(|| format!("starting {name}"))?);
    let (output, errors) = (child.0.stdout.take(), child.0.stderr.take());
    let (output, errors) = output.zip(errors).context("both streams are piped")?;
    let output = read_aside(output);
    let errors = read_aside(errors);
    let begin = Instant::now();
    let mut peak_memory_bytes = 0;
    let status = loop {
        if let Some(status) = child.0.try_wait()? {
            break status;
        }
        peak_memory_bytes = peak_memory(child.0.id()).unwrap_or(peak_memory_bytes);
        meanwhile(begin.elapsed())?;
        ensure!(begin.elapsed() < limit, "{name} did not end within {limit:?}");
        std::thread::sleep(LOOK);
    };
    let cpu_s = cpu_of_children()? - before;
    let said = |reader: std::thread::JoinHandle<String>| reader.join().unwrap_or_default();
    let (output, errors) = (said(output), said(errors));
    let done = status.code().is_some_and(|code| codes.contains(&code));
    ensure!(done, "{name} ended with {status}:\n{errors}{output}");
    Ok(Finished { output, cpu_s, peak_memory_bytes })
}

/// Reads a pipe in a thread, since a full pipe would block its writer.
fn read_aside(mut stream: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        // After an error, what was read so far is all there is to show.
        let _ = stream.read_to_string(&mut text);
        text
    })
}

/// A process that does not outlive its race, also if the race fails.
pub struct WatchedProcess(pub Child);

impl Drop for WatchedProcess {
    fn drop(&mut self) {
        // It has already ended unless something failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// CPU time of all processes that this one has started and waited for.
pub fn cpu_of_children() -> anyhow::Result<f64> {
    cpu(std::process::id(), &[CHILDREN_USER, CHILDREN_SYSTEM])
}

/// CPU time of a process and of its children that have ended.
pub fn cpu_of(process: u32) -> anyhow::Result<f64> {
    cpu(process, &[USER, SYSTEM, CHILDREN_USER, CHILDREN_SYSTEM])
}

fn cpu(process: u32, wanted: &[usize]) -> anyhow::Result<f64> {
    let file = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(&file).with_context(|| format!("reading {file}"))?;
    let after_name = stat.rsplit_once(") ").context("a stat line holds a name")?.1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |index: &usize| fields.get(*index)?.parse::<f64>().ok();
    let ticks: Option<f64> = wanted.iter().map(ticks).sum();
    Ok(ticks.context("a stat line has 52 fields")? / TICKS_PER_SECOND)
}

pub fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Every process that this one started, directly or indirectly.
pub fn descendants(of: u32) -> anyhow::Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").context("listing processes")?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // It may have ended meanwhile.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let parent = after_name.split_whitespace().nth(1).and_then(|field| field.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (process, parent)));
    }
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(process, _)| *process));
        next += 1;
    }
    Ok(found.split_off(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_child_costs_cpu_and_says_what_it_said() {
        let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done";
        let finished = run(Command::new("sh").args(["-c", script]), Duration::from_mins(1), |_| Ok(())).unwrap();
        assert_eq!(finished.output, "done\n");
        assert!(finished.cpu_s > 0.0);
        assert!(finished.peak_memory_bytes > 0);
    }

    #[test]
    fn a_failing_child_is_an_error_with_its_words() {
        let script = "echo no such table >&2; exit 3";
        let failed = run(Command::new("sh").args(["-c", script]), Duration::from_mins(1), |_| Ok(()));
        assert!(failed.err().unwrap().to_string().contains("no such table"));
    }

    #[test]
    fn a_child_is_a_descendant() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = descendants(std::process::id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found.contains(&child.id()));
    }
}
