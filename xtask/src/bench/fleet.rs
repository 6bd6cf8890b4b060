//! Load from four hosts against one, and a fleet of many hosts. The four are namespaces on this machine with real servers of ssh,
//! NATS and Slurm.

use super::bar::{Asked, Bar, median, spread, verdict};
use super::{Ground, study};
use crate::process;
use anyhow::{Context, anyhow, ensure};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Makes the four hosts, and ends them with the command that it is given.
const CLUSTER: &str = "crates/cli/tests/end_to_end/cluster.sh";
const NAMESPACES: [&str; 7] = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child"];
const FOUR: u32 = 4;
const HOSTS: [&str; FOUR as usize] = ["sn1", "sn2", "sn3", "sn4"];
const CLIENTS: u32 = 32;
const WARMUP_S: f64 = 1.0;

/// The limits of the figures.
const MOST_CPU: f64 = 1.1;
const MOST_SKEW_MS: f64 = 5.0;
const MOST_READY_S: f64 = 5.0;
const MOST_CORES: f64 = 1.0;
const MOST_MEBIBYTES: f64 = 500.0;

/// A process that ends with the race.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Builds what the race needs, and carries it out again within a cluster.
pub fn race(ground: &Ground, rounds: u32, agents: u32) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "trial", "--example", "simulated_hosts"]).current_dir(&ground.root);
    let built = cargo.status().context("starting cargo")?;
    ensure!(built.success(), "the example `simulated_hosts` could not be built");
    // The cluster has no way to the archive that images are built from.
    let mut image = Command::new(&ground.bakeoff);
    image.args(["image", "build", "postgres"]).env("BAKEOFF_CACHE", &ground.cache);
    let built = image.status().context("starting bakeoff image build")?;
    ensure!(built.success(), "the image `postgres` could not be built");
    let folder = ground.folder.join("cluster");
    std::fs::create_dir(&folder).context("making a folder")?;
    let own = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new("unshare");
    command.args(NAMESPACES).arg("bash").arg(ground.root.join(CLUSTER)).arg(folder).arg(own);
    command.args(["bench", "fleet", "--within"]).args(["--rounds", &rounds.to_string()]);
    let ended = command.args(["--agents", &agents.to_string()]).status().context("starting unshare")?;
    ensure!(
        ended.success(),
        "the race in the cluster failed, or missed a figure; it needs root, and what `make test-packages` installs"
    );
    Ok(())
}

/// The race itself, where the four hosts are.
pub fn race_within(ground: &Ground, rounds: u32, agents: u32) -> anyhow::Result<()> {
    let fleet = Fleet::new(ground)?;
    let mut bars = driving(ground, &fleet, rounds)?;
    bars.extend(many(ground, &fleet, agents)?);
    verdict(&bars)
}

/// The file of a fleet.
struct Fleet(PathBuf);

impl Fleet {
    fn new(ground: &Ground) -> anyhow::Result<Self> {
        let token = ground.folder.join("token");
        std::fs::write(&token, "a secret\n").context("writing the token")?;
        std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).context("closing the token")?;
        let lab = format!(
            "name = \"lab\"\nserver = \"nats://10.9.0.1:4222\"\ntoken_file = \"token\"\n[placement]\nkind = \"slurm\"\nnodes = {FOUR}\n"
        );
        let file = ground.folder.join("lab.toml");
        std::fs::write(&file, lab).context("writing the fleet's file")?;
        Ok(Self(file))
    }

    fn arguments(&self) -> [&OsStr; 2] {
        ["--fleet".as_ref(), self.0.as_os_str()]
    }

    /// `bakeoff fleet up` or `down`.
    fn carry_out(&self, ground: &Ground, command: &str) -> anyhow::Result<()> {
        let mut bakeoff = Command::new(&ground.bakeoff);
        let ended = bakeoff.args(["fleet", command]).arg(&self.0).status().context("starting bakeoff")?;
        ensure!(ended.success(), "bakeoff fleet {command} failed");
        Ok(())
    }
}

/// What one trial showed of its load hosts.
struct Drove {
    cpu_ns_per_statement: f64,
    /// Between the first and the last host that started, in milliseconds, and what their clocks may be off.
    skew_ms: f64,
}

fn driving(ground: &Ground, fleet: &Fleet, rounds: u32) -> anyhow::Result<Vec<Bar>> {
    let (mut same, mut own, mut over_nats, mut over_ssh) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    fleet.carry_out(ground, "up")?;
    for round in 0..rounds {
        let drove = |name: &str, hosts: &[&str], threads, further: &[&OsStr]| {
            drove(ground, &format!("{name}-{round}"), &sharing(hosts, CLIENTS, threads, 8), further)
        };
        let by_nats = fleet.arguments();
        // As many threads in all, in one process or in four.
        let one_same = drove("one-same", &HOSTS[..1], FOUR, &by_nats)?;
        let four_same = drove("four-same", &HOSTS, 1, &by_nats)?;
        // As many threads as each host has CPUs.
        let one_own = drove("one-own", &HOSTS[..1], 0, &by_nats)?;
        let four_own = drove("four-own", &HOSTS, 0, &by_nats)?;
        let by_ssh = drove("ssh", &HOSTS, 1, &[])?;
        let [one_ns, four_ns, one_own_ns, four_own_ns] =
            [&one_same, &four_same, &one_own, &four_own].map(|drove| drove.cpu_ns_per_statement);
        println!(
            "round {}: CPU for a statement with {FOUR} threads in all from four hosts {four_ns:.0} ns, from one {one_ns:.0} ns; with a \
             thread for each CPU of each host {four_own_ns:.0} and {one_own_ns:.0} ns; skew over NATS {:.2} ms, over ssh {:.2} ms",
            round + 1,
            four_same.skew_ms,
            by_ssh.skew_ms
        );
        same.push(four_ns / one_ns);
        own.push(four_own_ns / one_own_ns);
        over_nats.push(four_same.skew_ms);
        over_ssh.push(by_ssh.skew_ms);
    }
    fleet.carry_out(ground, "down")?;
    println!(
        "CPU for a statement from four hosts, of that from one, with as many threads in all: {}",
        spread(same.clone())
    );
    println!("with a thread for each CPU of each host, which share the CPUs of this one: {}", spread(own));
    let most = |what: &str, found, most| Bar { what: what.to_owned(), found, asked: Asked::AtMost(most) };
    let worst = |skews: Vec<f64>| skews.into_iter().fold(0.0, f64::max);
    let skew = "largest skew of the start of four hosts, with the error of their clocks, ms";
    Ok(vec![
        most("CPU for a statement, four hosts of one, with as many threads in all", median(same), MOST_CPU),
        most(&format!("{skew}; over NATS"), worst(over_nats), MOST_SKEW_MS),
        most(&format!("{skew}; over ssh"), worst(over_ssh), MOST_SKEW_MS),
    ])
}

/// A study of one trial with load from these hosts. Each has so many threads; 0 is one for each of its CPUs.
fn sharing(from: &[impl std::fmt::Debug], clients: u32, threads: u32, measure_s: u32) -> String {
    format!(
        "question = \"What does it cost to share the load?\"\nseed = 1\nblocks = 1\n[machine]\nvcpus = 1\nmemory = \"512MiB\"\n\
         [engine]\nkind = \"postgres\"\n[workload]\nkind = \"sysbench-oltp\"\ntables = 1\ntable_size = 10000\ntest = \"point_select\"\n\
         [load]\nplacement = \"outside\"\nfrom = {from:?}\nclients = {clients}\nshards = {threads}\nwarmup = \"{WARMUP_S}s\"\n\
         measure = \"{measure_s}s\"\n[[contender]]\nname = \"native\"\nplatform = {{ kind = \"native\" }}\n"
    )
}

/// A trial of this study, which all hosts that it names have driven.
fn drove(ground: &Ground, name: &str, study: &str, further: &[&OsStr]) -> anyhow::Result<Drove> {
    let ended = study::with(ground, name, study, further)?;
    let trial = ended.json("trials/0001/trial.json")?;
    let hosts: Vec<&Value> = trial["load_hosts"].as_array().into_iter().flatten().collect();
    ensure!(!hosts.is_empty(), "no host has driven; the run said:\n{}", ended.said);
    let sum = |of: &dyn Fn(&Value) -> Option<f64>| hosts.iter().filter_map(|host| of(host)).sum::<f64>();
    let statements = sum(&|host| host["statements"].as_f64());
    let cpu_ns = sum(&|host| host["testimony"]["cpu_ns"].as_f64());
    let late: Vec<f64> = hosts.iter().filter_map(|host| host["late_us"].as_f64()).collect();
    let (first, last) =
        late.iter().fold((f64::MAX, 0.0_f64), |(first, last), late| (first.min(*late), last.max(*late)));
    let trips = |host: &Value| {
        let readings = host["clock"].as_array().into_iter().flatten();
        readings.filter_map(|reading| reading["round_trip_ns"].as_f64()).fold(f64::MAX, f64::min)
    };
    // Half a round trip bounds the error of each of two clocks.
    let error_ns = hosts.iter().map(|host| trips(host)).fold(0.0, f64::max);
    Ok(Drove { cpu_ns_per_statement: cpu_ns / statements, skew_ms: (last - first) / 1e3 + error_ns / 1e6 })
}

/// A trial with the load of so many hosts. They are simulated, since so many cannot be had here; the conductor, the server of NATS
/// and the lines are real.
fn many(ground: &Ground, fleet: &Fleet, hosts: u32) -> anyhow::Result<Vec<Bar>> {
    let _hosts = simulated(ground, fleet, hosts)?;
    let from: Vec<String> = (0..hosts).map(|number| format!("host-{number}")).collect();
    let mut used = None;
    let ended = study::watched(ground, "many", &sharing(&from, hosts, 1, 5), &fleet.arguments(), &mut |pid, _| {
        used.get_or_insert_with(|| std::thread::spawn(move || Used::by(pid)));
        Ok(())
    })?;
    let used =
        used.context("the run says nothing")?.join().map_err(|_| anyhow!("the thread that looks at it panicked"))?;
    let trial = ended.json("trials/0001/trial.json")?;
    let merged = trial["load_hosts"].as_array().map_or(0, Vec::len);
    ensure!(merged == hosts as usize, "{merged} of {hosts} hosts are in the record; the run said:\n{}", ended.said);
    let phases = phases(&ended.text("events.jsonl")?)?;
    let length = |phase: &str, next: &str| {
        let at = |phase| phases.iter().find(|(name, _)| name == phase).map(|(_, at_ms)| *at_ms);
        Some((at(next)? - at(phase)?) / 1e3)
    };
    let ready_s = length("warm up", "measure").context("the trial has no measured phase")? - WARMUP_S;
    let (start_s, end_s) = (length("start", "warm up"), length("measure", "check"));
    let late: Vec<f64> =
        trial["load_hosts"].as_array().into_iter().flatten().filter_map(|host| host["late_us"].as_f64()).collect();
    println!(
        "{hosts} hosts: agents started after {:.1} s, from the measured window to the merged record {:.1} s, started {:.0} ms late at \
         most (this machine runs them all); the conductor used {:.1} s of CPU in {:.1} s, {:.2} CPUs in its busiest second",
        start_s.unwrap_or_default(),
        end_s.unwrap_or_default(),
        late.iter().copied().fold(0.0, f64::max) / 1e3,
        used.cpu_s,
        used.passed_s,
        used.most_cpus
    );
    let bar =
        |what: &str, found, most| Bar { what: format!("{hosts} hosts: {what}"), found, asked: Asked::AtMost(most) };
    Ok(vec![
        bar("all have started after the request to drive, s", ready_s, MOST_READY_S),
        bar("CPUs that the conductor used", used.cpu_s / used.passed_s, MOST_CORES),
        bar("memory of the conductor at most, MiB", used.peak_bytes as f64 / f64::from(1 << 20), MOST_MEBIBYTES),
    ])
}

/// Starts the agents of so many simulated hosts, and waits until all are there.
fn simulated(ground: &Ground, fleet: &Fleet, hosts: u32) -> anyhow::Result<Reaped> {
    let program = ground.bakeoff.with_file_name("examples").join("simulated_hosts");
    // A host copies the binary of its agent into the folder of the run. Of so many hosts on one disk, each gets a script instead.
    let tools = ground.folder.join("tools");
    std::fs::create_dir_all(&tools).context("making a folder")?;
    let script = format!("#!/bin/sh\necho '#!/bin/sh'\necho 'exec {} \"$@\" \"$0\"'\n", program.display());
    std::fs::write(tools.join("cat"), script).context("writing a script")?;
    std::fs::set_permissions(tools.join("cat"), PermissionsExt::from_mode(0o755))
        .context("making a script a program")?;
    let path = std::env::join_paths(
        [tools].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let mut command = Command::new(&program);
    command.args(["agents", &hosts.to_string()]).args([&fleet.0, &ground.bakeoff]).env("PATH", path);
    let mut there = Reaped(command.stdout(Stdio::piped()).spawn().context("starting the agents")?);
    let told = there.0.stdout.take().context("their output is piped")?;
    BufReader::new(told).lines().next().context("the agents have ended")??;
    Ok(there)
}

/// The name of each phase and when it began.
fn phases(events: &str) -> anyhow::Result<Vec<(String, f64)>> {
    let mut found = Vec::new();
    for line in events.lines() {
        let event: Value = serde_json::from_str(line).context("reading events.jsonl")?;
        if let (Some(phase), Some(at_ms)) = (event["phase"].as_str(), event["at_ms"].as_f64()) {
            found.push((phase.to_owned(), at_ms));
        }
    }
    Ok(found)
}

/// What a process used while it ran.
#[derive(Default)]
struct Used {
    cpu_s: f64,
    passed_s: f64,
    /// In the second with the most.
    most_cpus: f64,
    peak_bytes: u64,
}

impl Used {
    /// Looks every second, until the process has ended.
    fn by(pid: u32) -> Self {
        let (begun, mut used) = (Instant::now(), Self::default());
        // A process that has ended and is still to be reaped has no memory.
        while let (Ok(cpu_s), Some(peak_bytes)) = (process::own_cpu_of(pid), process::peak_memory(pid)) {
            let passed_s = begun.elapsed().as_secs_f64();
            // What it used before the first look is no second's.
            if used.peak_bytes > 0 {
                used.most_cpus = used.most_cpus.max((cpu_s - used.cpu_s) / (passed_s - used.passed_s));
            }
            used = Self { cpu_s, passed_s, peak_bytes, ..used };
            std::thread::sleep(Duration::from_secs(1));
        }
        used
    }
}
