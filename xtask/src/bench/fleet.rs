//! Load that comes from four agents of a fleet against one, and a fleet of many agents, over a real server of NATS.

use super::bar::{Asked, Bar, median, spread, verdict};
use super::{Ground, study};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SERVER: &str = "/usr/sbin/nats-server";
/// Agents that drive one server.
const DRIVING: usize = 4;
/// The record of a trial of one host, as large as it usually is.
const RECORD_BYTES: u64 = 150_000;
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
    let (mut ratios, mut skews) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let one = drove(ground, fleet, &format!("one-{round}"), 1)?;
        let four = drove(ground, fleet, &format!("four-{round}"), DRIVING)?;
        let ratio = four.cpu_ns_per_statement / one.cpu_ns_per_statement;
        println!("round {}: {ratio:.2} × the CPU for a statement, skew {:.2} ms", round + 1, four.skew_ms);
        ratios.push(ratio);
        skews.push(four.skew_ms);
    }
    drop(agents);
    println!("CPU for a statement from {DRIVING} agents, of that from one: {}", spread(ratios.clone()));
    let worst = skews.into_iter().fold(0.0, f64::max);
    Ok(vec![
        Bar {
            what: format!("CPU for a statement, {DRIVING} agents of one"),
            found: median(ratios),
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

fn agent(ground: &Ground, fleet: &Fleet, number: usize) -> anyhow::Result<Reaped> {
    let mut command = Command::new(&ground.bakeoff);
    command.args(["fleet", "agent"]).arg(&fleet.file).args(["--name", &format!("load-{number}")]);
    let mut agent = Reaped(command.stderr(Stdio::piped()).spawn().context("starting an agent")?);
    let told = agent.0.stderr.take().context("its output is piped")?;
    let first = BufReader::new(told).lines().next().context("the agent says nothing")??;
    ensure!(first.contains("is in the fleet"), "the agent says: {first}");
    Ok(agent)
}

/// A trial with the load of so many agents.
fn drove(ground: &Ground, fleet: &Fleet, name: &str, agents: usize) -> anyhow::Result<Drove> {
    let from: Vec<String> = (0..agents).map(|number| format!("load-{number}")).collect();
    let text = format!(
        "question = \"What does it cost to share the load?\"\nseed = 1\nblocks = 1\n[machine]\nvcpus = 1\nmemory = \"512MiB\"\n\
         [engine]\nkind = \"postgres\"\n[workload]\nkind = \"sysbench-oltp\"\ntables = 1\ntable_size = 10000\ntest = \"point_select\"\n\
         [load]\nplacement = \"outside\"\nfrom = {from:?}\nclients = 4\nwarmup = \"1s\"\nmeasure = \"8s\"\n\
         [[contender]]\nname = \"native\"\nplatform = {{ kind = \"native\" }}\n"
    );
    let ended = study::with(ground, name, &text, &["--fleet".as_ref(), fleet.file.as_os_str()])?;
    let trial = ended.json("trials/0001/trial.json")?;
    let hosts: Vec<&Value> = trial["load_hosts"].as_array().into_iter().flatten().collect();
    ensure!(hosts.len() == agents, "the run said:\n{}", ended.said);
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

/// Agents and a conductor as programs of their own, since a trial on so many real hosts cannot be had here.
fn many(ground: &Ground, fleet: &Fleet, agents: u32) -> anyhow::Result<Vec<Bar>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--package", "fleet", "--example", "many"]).current_dir(&ground.root);
    let built = cargo.status().context("starting cargo")?;
    ensure!(built.success(), "the example `many` could not be built");
    let program = ground.bakeoff.with_file_name("examples").join("many");
    let count = agents.to_string();
    let mut command = Command::new(&program);
    command.args(["agents", &count]).arg(&fleet.file).stdout(Stdio::piped());
    let mut there = Reaped(command.spawn().context("starting the agents")?);
    let told = there.0.stdout.take().context("their output is piped")?;
    BufReader::new(told).lines().next().context("the agents have ended")??;
    let output = Command::new(&program).args(["trial", &count]).arg(&fleet.file).arg(RECORD_BYTES.to_string()).output();
    let output = output.context("starting the conductor")?;
    ensure!(output.status.success(), "the conductor: {}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).context("reading what the conductor found")?;
    let figure = |key: &str| found[key].as_f64().with_context(|| format!("no {key}"));
    let (whole, cpu) = (figure("whole_s")?, figure("cpu_s")?);
    println!(
        "{agents} agents: from the first request to the last record {whole:.1} s, {cpu:.1} s of CPU in the conductor"
    );
    let bar =
        |what: &str, found, most| Bar { what: format!("{agents} agents: {what}"), found, asked: Asked::AtMost(most) };
    Ok(vec![
        bar("all programs ready after, s", figure("ready_s")?, MOST_READY_S),
        bar("CPUs that the conductor used", cpu / whole, MOST_CORES),
        bar("memory of the conductor at most, MiB", figure("peak_bytes")? / f64::from(1 << 20), MOST_MEBIBYTES),
    ])
}
