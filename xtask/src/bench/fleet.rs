//! Load that comes from four agents of a fleet against one, and a fleet of many agents, over a real server of NATS.

use super::bar::{Asked, Bar, median, spread, verdict};
use super::{Ground, study};
use crate::process;
use anyhow::{Context, anyhow, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SERVER: &str = "/usr/sbin/nats-server";
/// Agents that drive one server.
const DRIVING: u32 = 4;
const CLIENTS: u32 = 32;
const WARMUP_S: f64 = 1.0;
const START_LIMIT: Duration = Duration::from_mins(2);
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

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

struct Fleet {
    file: PathBuf,
    _server: Reaped,
}

impl Fleet {
    fn new(ground: &Ground) -> anyhow::Result<Self> {
        ensure!(Path::new(SERVER).exists(), "{SERVER} is missing; `make test-packages` installs it");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let (config, token) = (ground.folder.join("nats.conf"), ground.folder.join("token"));
        let listen = format!("listen: \"127.0.0.1:{port}\"\nauthorization {{ token: \"a secret\" }}\n");
        std::fs::write(&config, listen).context("writing the server's configuration")?;
        std::fs::write(&token, "a secret\n").context("writing the token")?;
        std::fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).context("closing the token")?;
        let file = ground.folder.join("lab.toml");
        let lab = format!("name = \"lab\"\nserver = \"nats://127.0.0.1:{port}\"\ntoken_file = \"token\"\n");
        std::fs::write(&file, lab).context("writing the fleet's file")?;
        let server = Command::new(SERVER).arg("-c").arg(&config).stderr(Stdio::null()).spawn();
        let server = Reaped(server.context("starting nats-server")?);
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(Instant::now() < deadline, "nats-server does not listen");
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(Self { file, _server: server })
    }
}

/// What one trial showed of its load hosts.
struct Drove {
    cpu_ns_per_statement: f64,
    /// Between the first and the last host that started, in milliseconds, and what their clocks may be off.
    skew_ms: f64,
}

pub fn race(ground: &Ground, rounds: u32, agents: u32) -> anyhow::Result<()> {
    let fleet = Fleet::new(ground)?;
    let mut bars = driving(ground, &fleet, rounds)?;
    bars.extend(many(ground, &fleet, agents)?);
    verdict(&bars)
}

fn driving(ground: &Ground, fleet: &Fleet, rounds: u32) -> anyhow::Result<Vec<Bar>> {
    let agents: Vec<Reaped> = (0..DRIVING).map(|number| agent(ground, fleet, number)).collect::<anyhow::Result<_>>()?;
    let (mut of_one, mut of_few, mut skews) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let one = drove(ground, fleet, &format!("one-{round}"), 1, CLIENTS)?;
        let four = drove(ground, fleet, &format!("four-{round}"), DRIVING, CLIENTS)?;
        // An agent with fewer clients finds fewer answers whenever it looks, whether there are other agents or not.
        let few = drove(ground, fleet, &format!("few-{round}"), 1, CLIENTS / DRIVING)?;
        let [one_ns, four_ns, few_ns] = [&one, &four, &few].map(|drove| drove.cpu_ns_per_statement);
        println!(
            "round {}: CPU for a statement from {DRIVING} agents {four_ns:.0} ns, from one with all clients {one_ns:.0} ns, from one with \
             a share {few_ns:.0} ns; skew {:.2} ms",
            round + 1,
            four.skew_ms
        );
        of_one.push(four_ns / one_ns);
        of_few.push(four_ns / few_ns);
        skews.push(four.skew_ms);
    }
    drop(agents);
    println!("CPU for a statement from {DRIVING} agents, of that from one: {}", spread(of_one.clone()));
    println!("of that from one with as many clients as each of them: {}", spread(of_few.clone()));
    let worst = skews.into_iter().fold(0.0, f64::max);
    Ok(vec![
        Bar {
            what: format!("CPU for a statement, {DRIVING} agents of one"),
            found: median(of_one),
            asked: Asked::AtMost(MOST_CPU),
        },
        Bar {
            what: format!("CPU for a statement, {DRIVING} agents of one with as many clients as each of them"),
            found: median(of_few),
            asked: Asked::AtMost(MOST_CPU),
        },
        Bar {
            what: format!(
                "largest skew of the start of {DRIVING} agents on this machine, with the error of their clocks, ms"
            ),
            found: worst,
            asked: Asked::AtMost(MOST_SKEW_MS),
        },
    ])
}

fn agent(ground: &Ground, fleet: &Fleet, number: u32) -> anyhow::Result<Reaped> {
    let mut command = Command::new(&ground.bakeoff);
    command.args(["fleet", "agent"]).arg(&fleet.file).args(["--name", &format!("load-{number}")]);
    let mut agent = Reaped(command.stderr(Stdio::piped()).spawn().context("starting an agent")?);
    let told = agent.0.stderr.take().context("its output is piped")?;
    let first = BufReader::new(told).lines().next().context("the agent says nothing")??;
    ensure!(first.contains("is in the fleet"), "the agent says: {first}");
    Ok(agent)
}

/// A study of one trial with load from these hosts.
fn sharing(from: &[String], clients: u32, measure_s: u32) -> String {
    format!(
        "question = \"What does it cost to share the load?\"\nseed = 1\nblocks = 1\n[machine]\nvcpus = 1\nmemory = \"512MiB\"\n\
         [engine]\nkind = \"postgres\"\n[workload]\nkind = \"sysbench-oltp\"\ntables = 1\ntable_size = 10000\ntest = \"point_select\"\n\
         [load]\nplacement = \"outside\"\nfrom = {from:?}\nclients = {clients}\nwarmup = \"{WARMUP_S}s\"\nmeasure = \"{measure_s}s\"\n\
         [[contender]]\nname = \"native\"\nplatform = {{ kind = \"native\" }}\n"
    )
}

/// A trial with so many clients in all, from so many agents.
fn drove(ground: &Ground, fleet: &Fleet, name: &str, agents: u32, clients: u32) -> anyhow::Result<Drove> {
    let from: Vec<String> = (0..agents).map(|number| format!("load-{number}")).collect();
    let ended = study::with(ground, name, &sharing(&from, clients, 8), &["--fleet".as_ref(), fleet.file.as_os_str()])?;
    let trial = ended.json("trials/0001/trial.json")?;
    let hosts: Vec<&Value> = trial["load_hosts"].as_array().into_iter().flatten().collect();
    ensure!(hosts.len() == agents as usize, "the run said:\n{}", ended.said);
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
    let further = ["--fleet".as_ref(), fleet.file.as_os_str()];
    let ended = study::watched(ground, "many", &sharing(&from, hosts, 5), &further, &mut |pid, _| {
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
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "trial", "--example", "simulated_hosts"]).current_dir(&ground.root);
    let built = cargo.status().context("starting cargo")?;
    ensure!(built.success(), "the example `simulated_hosts` could not be built");
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
    command.args(["agents", &hosts.to_string()]).args([&fleet.file, &ground.bakeoff]).env("PATH", path);
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
