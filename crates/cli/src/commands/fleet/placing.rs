//! Starts and ends agents: over ssh, or as a job of Slurm.

use super::there::missing;
use crate::arguments::fleet::FleetUpOptions;
use crate::display::{say, shell_word};
use crate::exit::{EndedWith, Exit};
use crate::fleet::{build, connect, read};
use anyhow::{Context, Result};
use fleet::bridge::{Bridge, Goodbye, SeenAgent};
use fleet::{AgentStarter, Arrangement};
use machines::process::{Launch, Process};
use report::format::counted;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Hosts that are started at the same time.
const AT_ONCE: usize = 8;
const SSH_LIMIT: Duration = Duration::from_mins(5);
const SLURM_LIMIT: Duration = Duration::from_secs(30);
/// All agents have said goodbye within this.
const DOWN_LIMIT: Duration = Duration::from_mins(6);
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Looks between two questions to a scheduler.
const LOOKS: u32 = 10;
/// The names in the folder of an agent.
const PROGRAM: &str = "bakeoff";
const FILE: &str = "fleet.toml";

/// Unpacks what follows on standard input, and starts the agent; ends when the agent is in the fleet, or has ended. The agent
/// inherits the lock, so that a machine with two names has one agent. What it printed is read also if it has removed its folder.
const START: &str = "\
umask 077; folder=/var/tmp/bakeoff-fleet-{fleet}-$(id -u); mkdir -p \"$folder\" || exit 1; \
if [ ! -O \"$folder\" ] || [ -L \"$folder\" ]; then echo \"$folder belongs to somebody else\" >&2; exit 1; fi; cd \"$folder\" && \
exec 9> lock || exit 1; if ! flock --nonblock 9; then \
echo 'an agent of this fleet is on this machine already, under this name or another' >&2; exit 1; fi; \
tar --extract --file=- --no-same-owner && : > agent.log && exec 8< agent.log || exit 1; \
umask 022; setsid ./bakeoff fleet agent fleet.toml --name {name} --remove \"$folder\" > agent.log 2>&1 < /dev/null 8<&- & \
for second in $(seq 30); do \
if grep -q 'is in the fleet' agent.log 2>/dev/null; then exit 0; fi; \
if ! kill -0 $! 2>/dev/null; then cat <&8 >&2; exit 1; fi; sleep 1; done; \
kill -KILL $! 2>/dev/null; rm -rf \"$folder\"; \
echo 'the agent did not reach the server within 30 s' >&2; exit 1";

pub fn up(options: &FleetUpOptions) -> Result<Exit> {
    let file = &options.fleet.file;
    let arrangement = read(file)?;
    let Some(placement) = &arrangement.placement else {
        return Err(EndedWith::bad_input(format!(
            "{} has no [placement]; give one, or start `bakeoff fleet agent {}` on each host",
            file.display(),
            shell_word(&file.to_string_lossy())
        ))
        .into());
    };
    if matches!(placement, AgentStarter::Kubernetes { .. }) {
        let word = shell_word(&file.to_string_lossy());
        let told =
            format!("a Kubernetes cluster starts its agents by `bakeoff fleet manifest {word} | kubectl apply -f -`");
        return Err(EndedWith::bad_input(told).into());
    }
    // A missing server is reported before anything is started.
    let bridge = connect(&arrangement)?;
    let there = bridge.roll_call()?;
    require_own_build(&there, file)?;
    match placement {
        AgentStarter::Ssh { hosts, ssh_options } => {
            over_ssh(&arrangement, hosts, ssh_options, &there)?;
            until(&bridge, &AwaitedAgents { agents: hosts.len(), hosts }, options.wait, &mut || SchedulerJob::Unknown)?;
        }
        AgentStarter::Slurm { nodes, options: further } => {
            let awaited = AwaitedAgents { agents: *nodes as usize, hosts: &[] };
            let more = nodes.saturating_sub(u32::try_from(there.len()).unwrap_or(u32::MAX));
            if more == 0 {
                return until(&bridge, &awaited, options.wait, &mut || SchedulerJob::Unknown).map(|()| Exit::Done);
            }
            let job = submit(&arrangement, more, further)?;
            say(&format!("Slurm has job {job}"));
            let waited = until(&bridge, &awaited, options.wait, &mut || state(&job, &log_of(&arrangement)));
            return waited.map(|()| Exit::Done).map_err(|why| match slurm(&["scancel", &job]) {
                Ok(_) => why,
                Err(error) => EndedWith::host(format!("{why}; job {job} is still there: {error}")).into(),
            });
        }
        AgentStarter::Kubernetes { .. } => {}
    }
    Ok(Exit::Done)
}

pub fn down(file: &Path) -> Result<Exit> {
    let arrangement = read(file)?;
    let bridge = connect(&arrangement)?;
    let Goodbye { asked, left } = bridge.down(DOWN_LIMIT)?;
    if let Some(AgentStarter::Slurm { .. }) = arrangement.placement {
        // The job ends by itself once its agents have; this ends one that still waits for nodes.
        slurm(&["scancel", "--name", &job_name(&arrangement)])?;
        // It is not there if the job never started.
        let _ = fs::remove_file(log_of(&arrangement));
    }
    if left.is_empty() {
        let (agents, have) = (counted(asked.len() as u64, "agent"), if asked.len() == 1 { "has" } else { "have" });
        say(&format!("{agents} {have} ended"));
        return Ok(Exit::Done);
    }
    let names: Vec<&str> = left.iter().map(|agent| agent.name.as_str()).collect();
    Err(EndedWith::host(format!("these agents have not ended: {}", names.join(", "))).into())
}

/// What a scheduler says of the job that starts the agents.
enum SchedulerJob {
    Unknown,
    Waiting(String),
    Over(String),
}

/// How many agents are waited for, and on which hosts, where that is known.
struct AwaitedAgents<'a> {
    agents: usize,
    hosts: &'a [String],
}

/// Agents of a different build would be refused by every run.
fn require_own_build(there: &[SeenAgent], file: &Path) -> Result<()> {
    let ours = build()?;
    let others: Vec<&str> =
        there.iter().filter(|seen| seen.present.build != ours).map(|seen| seen.present.name.as_str()).collect();
    if others.is_empty() {
        return Ok(());
    }
    let (names, word) = (others.join(", "), shell_word(&file.to_string_lossy()));
    let told =
        format!("agents of a different build are in the fleet: {names}; end them with `bakeoff fleet down {word}`");
    Err(EndedWith::host(told).into())
}

/// Waits for these agents, as long as the job that starts them is not over.
fn until(
    bridge: &Bridge,
    awaited: &AwaitedAgents<'_>,
    limit: Duration,
    job: &mut dyn FnMut() -> SchedulerJob,
) -> Result<()> {
    let AwaitedAgents { agents, hosts } = *awaited;
    let deadline = Instant::now() + limit;
    for look in 1_u32.. {
        let seen = bridge.roll_call()?;
        let missing = missing(hosts, &seen);
        let there = if hosts.is_empty() { seen.len() } else { agents - missing.len() };
        if there >= agents {
            say(&format!("{} {} there", counted(there as u64, "agent"), if there == 1 { "is" } else { "are" }));
            break;
        }
        let is_late = Instant::now() > deadline;
        if is_late || look.is_multiple_of(LOOKS) {
            let (is_over, why) = match job() {
                SchedulerJob::Over(why) => (true, format!(": {why}")),
                SchedulerJob::Waiting(why) => (false, format!(": {why}")),
                SchedulerJob::Unknown if missing.is_empty() => (false, String::new()),
                SchedulerJob::Unknown => (false, format!("; none is on {}", missing.join(", "))),
            };
            if is_over || is_late {
                let after =
                    if is_over { String::new() } else { format!("after {}, ", humantime::format_duration(limit)) };
                return Err(EndedWith::host(format!("{after}{there} of {agents} agents are there{why}")).into());
            }
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}

fn over_ssh(arrangement: &Arrangement, hosts: &[String], ssh_options: &[String], there: &[SeenAgent]) -> Result<()> {
    let is_there = |host: &&String| there.iter().any(|seen| seen.present.name == **host);
    let (known, new): (Vec<&String>, Vec<&String>) = hosts.iter().partition(is_there);
    for host in known {
        say(&format!("the agent on {host} is there already"));
    }
    let folder = tempfile::tempdir().context("making a folder")?;
    gather(arrangement, folder.path())?;
    let mut problems = Vec::new();
    for some in new.chunks(AT_ONCE) {
        let started: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let folder = folder.path();
            let start = |host: &'_ String| start(arrangement, host, ssh_options, folder);
            let threads: Vec<_> = some.iter().map(|host| scope.spawn(move || start(host))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("it panicked".to_owned()))).collect()
        });
        problems.extend(some.iter().zip(started).filter_map(|(host, done)| Some(format!("{host}: {}", done.err()?))));
    }
    if problems.is_empty() { Ok(()) } else { Err(EndedWith::host(problems.join("\n")).into()) }
}

/// This program, the fleet's file, and the files that it names, with which an agent can start.
fn gather(arrangement: &Arrangement, folder: &Path) -> Result<()> {
    let doing = "gathering an agent's files";
    fs::copy(std::env::current_exe()?, folder.join(PROGRAM)).context(doing)?;
    let text = fs::read_to_string(arrangement.path()).context(doing)?;
    let mut file: toml_edit::DocumentMut = text.parse().context(doing)?;
    file.remove("placement");
    for (key, path) in arrangement.files() {
        // Files of one name in several folders must not meet.
        fs::copy(&path, folder.join(key)).with_context(|| format!("copying {}", path.display()))?;
        file[key] = toml_edit::value(key);
    }
    fs::write(folder.join(FILE), file.to_string()).context(doing)?;
    for entry in fs::read_dir(folder).context(doing)? {
        let path = entry.context(doing)?.path();
        let mode = if path.ends_with(PROGRAM) { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).context(doing)?;
    }
    Ok(())
}

fn start(arrangement: &Arrangement, host: &str, ssh_options: &[String], folder: &Path) -> Result<(), String> {
    let script = START.replace("{fleet}", &arrangement.name).replace("{name}", &shell_word(host));
    let mut words: Vec<&str> = vec!["ssh", "-T", "-o", "BatchMode=yes"];
    words.extend(ssh_options.iter().map(String::as_str));
    let command = format!("exec sh -c {}", shell_word(&script));
    words.extend(["-a", "-x", "-o", "ConnectTimeout=15", "--", host, &command]);
    let packing = ["tar", "--create", "--file=-", "--numeric-owner", "--directory"];
    let packing = Launch::new(&packing).args([folder]).args(["."]).stdout(Stdio::piped());
    let mut packing = Process::start(packing).map_err(|error| error.to_string())?;
    let packed = packing.take_stdout().ok_or("tar has no output")?;
    let ssh = Launch::new(&words).stdin(packed);
    let ended = ssh.run_to_any_end(SSH_LIMIT, &mut |_| ()).map_err(|error| error.to_string())?;
    if ended.status.success() {
        return Ok(());
    }
    let last = ended.stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
    Err(last.trim().to_owned())
}

fn job_name(arrangement: &Arrangement) -> String {
    format!("bakeoff-{}", arrangement.name)
}

/// What the agents of a job print.
fn log_of(arrangement: &Arrangement) -> PathBuf {
    arrangement.path().with_extension("slurm.log")
}

/// A job with one agent on each node; its number. Nodes see this program and the fleet's file where this host sees them.
fn submit(arrangement: &Arrangement, nodes: u32, further: &[String]) -> Result<String> {
    let program = std::env::current_exe().context("finding this program's own file")?;
    let word = |path: &Path| shell_word(&path.to_string_lossy());
    // One agent that is lost does not end the others.
    let agent = format!("exec {} fleet agent {} --name \"$SLURMD_NODENAME\"", word(&program), word(arrangement.path()));
    let wrapped = format!("srun --kill-on-bad-exit=0 --wait=0 --ntasks-per-node=1 sh -c {}", shell_word(&agent));
    let (name, nodes) = (format!("--job-name={}", job_name(arrangement)), format!("--nodes={nodes}"));
    // In the name of a file, Slurm replaces what follows a per cent sign.
    let log = format!("--output={}", log_of(arrangement).to_string_lossy().replace('%', "%%"));
    let wrap = format!("--wrap={wrapped}");
    let mut words = vec!["sbatch", "--parsable", &name, &nodes, "--ntasks-per-node=1", "--exclusive", &log];
    words.extend(further.iter().map(String::as_str));
    words.push(&wrap);
    let printed = slurm(&words)?;
    // A job of another cluster has that cluster's name after a semicolon.
    Ok(printed.trim().split(';').next().unwrap_or_default().to_owned())
}

/// What Slurm says of a job whose agents are not there yet, or what they have said.
fn state(job: &str, log: &Path) -> SchedulerJob {
    let told = match slurm(&["squeue", "--noheader", "--jobs", job, "--format", "%T, %r"]) {
        Ok(told) => told,
        // Slurm forgets jobs some minutes after their end.
        Err(error) if error.to_string().contains("Invalid job id") => String::new(),
        // It may be away for a while.
        Err(error) => return SchedulerJob::Waiting(format!("{error:#}")),
    };
    let told = told.trim();
    if !told.is_empty() {
        return SchedulerJob::Waiting(format!("Slurm says that job {job} is {told}"));
    }
    let said = fs::read_to_string(log).unwrap_or_default();
    // Slurm's own lines only say with which status an agent ended.
    let lines = said.lines().filter(|line| !line.trim().is_empty());
    let why = match lines.min_by_key(|line| line.starts_with("srun: ")) {
        Some(line) => format!("its agents said: {}", line.trim()),
        None => format!("{} says nothing", log.display()),
    };
    SchedulerJob::Over(format!("job {job} of Slurm is over; {why}"))
}

fn slurm(words: &[&str]) -> Result<String> {
    let ended = Launch::new(words).run(SLURM_LIMIT, &mut |_| ());
    Ok(ended.map_err(|error| EndedWith::host(error.to_string()))?.stdout)
}

#[cfg(test)]
mod tests {
    use super::{FILE, PROGRAM, START};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Command, Output};

    /// What becomes of an agent that does this; its folder must be gone.
    fn started(fleet: &str, deed: &str) -> Output {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "").unwrap();
        fs::write(folder.path().join(PROGRAM), format!("#!/bin/sh\n{deed}\n")).unwrap();
        fs::set_permissions(folder.path().join(PROGRAM), fs::Permissions::from_mode(0o700)).unwrap();
        let fleet = format!("{fleet}-{}", std::process::id());
        let script = START.replace("{fleet}", &fleet).replace("{name}", "here").replace("seq 30", "seq 3");
        let packed = "tar --create --file=- --directory \"$0\" . | sh -c \"$1\"";
        let output = Command::new("sh").args(["-c", packed]).arg(folder.path()).arg(script).output().unwrap();
        let left = format!("/var/tmp/bakeoff-fleet-{fleet}-{}", rustix::process::getuid().as_raw());
        assert!(!Path::new(&left).exists(), "{left} is left");
        output
    }

    #[test]
    fn an_agent_that_ends_is_told_with_its_reason_and_one_that_hangs_is_ended() {
        let output = started("ends", "rm -rf \"$(pwd)\"; echo 'the certificate is wrong' >&2; exit 3");
        assert_eq!(
            (output.status.code(), String::from_utf8_lossy(&output.stderr).trim()),
            (Some(1), "the certificate is wrong")
        );
        let output = started("hangs", "exec tail -f /dev/null");
        assert!(String::from_utf8_lossy(&output.stderr).contains("did not reach the server within 30 s"));
    }
}
