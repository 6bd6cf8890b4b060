//! From start to the first transaction on each platform, against native machines or QEMU in the same run; and whether the line to
//! another host is silent while a window is measured.
//!
//! Another host is this one, reached by an ssh server of our own. What goes over the line is read from the kernel's sockets. The
//! libvirt is the system's own, which must be running.

use super::Ground;
use super::bar::{Asked, Bar, median, spread, verdict};
use super::study;
use anyhow::{Context, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const CONTAINER_BAR: f64 = 1.3;
const LIBVIRT_BAR: f64 = 1.2;
const SSH_BAR_S: f64 = 1.0;
const MEASURED_MS: u64 = 5_000;
/// A message may be on its way at both ends of the window.
const EDGE_MS: u64 = 500;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
const START_LIMIT: Duration = Duration::from_secs(30);

const STUDY: &str = r#"
question = "How long does each platform take to the first transaction?"
seed     = 1
blocks   = BLOCKS

[machine]
vcpus  = 1
memory = "1GiB"
disk   = { size = "1GiB" }

[engine]
kind = "postgres"

[workload]
kind       = "order-entry"
warehouses = 1

[load]
placement = "inside"
clients   = 1
warmup    = "2s"
measure   = "5s"

[[contender]]
name     = "native"
baseline = true
platform = { kind = "native" }

[[contender]]
name     = "runc"
platform = { kind = "oci", runtime = "runc" }

[[contender]]
name     = "crun"
platform = { kind = "oci", runtime = "crun" }

[[contender]]
name     = "gvisor"
platform = { kind = "oci", runtime = "runsc" }

[[contender]]
name     = "vm"
platform = { kind = "qemu", accelerator = "auto" }

[[contender]]
name     = "libvirt"
platform = { kind = "libvirt", accelerator = "auto" }

[[contender]]
name     = "ssh"
platform = { kind = "host", host = "here", ssh_options = ["-F", "CONFIG"] }
"#;

pub fn race(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    let sshd = Sshd::start(&ground.folder)?;
    let config = ground.folder.join("ssh_config").display().to_string();
    let text = STUDY.replace("BLOCKS", &rounds.to_string()).replace("CONFIG", &config);
    let is_over = AtomicBool::new(false);
    let (run, sent) = thread::scope(|scope| {
        let watcher = scope.spawn(|| sshd.sent(&is_over));
        let run = study::run(ground, "platforms", &text);
        is_over.store(true, Ordering::Relaxed);
        Ok::<_, anyhow::Error>((run?, watcher.join().unwrap_or_default()))
    })?;
    let events = parsed(&run.text("events.jsonl")?);
    let taken = first_transactions(&events);
    let of = |name: &str| taken.get(name).cloned().unwrap_or_default();
    ensure!(!of("native").is_empty(), "no native machine came to its first transaction; the run said:\n{}", run.said);
    println!("From start to the first transaction, in seconds: median (least to most) of {rounds} rounds");
    for (name, seconds) in &taken {
        println!("  {name}: {}", spread(seconds.clone()));
    }
    let pairs = |name: &str, base: &str, value: fn(f64, f64) -> f64| {
        let pairs = of(name).into_iter().zip(of(base)).map(|(own, base)| value(own, base));
        median(pairs.collect())
    };
    let ratio = |name: &str, base: &str| pairs(name, base, |own, base| own / base);
    let windows: Vec<(u64, u64)> = windows(&events, "ssh");
    let bytes: Vec<f64> = windows.iter().filter_map(|window| sent_in(&sent, *window)).collect();
    let most = if bytes.len() == windows.len() { bytes.iter().copied().fold(0.0, f64::max) } else { f64::NAN };
    let mut bars: Vec<Bar> = ["runc", "crun", "gvisor"]
        .map(|name| Bar {
            what: format!("{name}: time to the first transaction, of a native machine's"),
            found: ratio(name, "native"),
            asked: Asked::AtMost(CONTAINER_BAR),
        })
        .into();
    bars.push(Bar {
        what: "libvirt: time to the first transaction, of QEMU's without it".to_owned(),
        found: ratio("libvirt", "vm"),
        asked: Asked::AtMost(LIBVIRT_BAR),
    });
    bars.push(Bar {
        what: "ssh: time to the first transaction, more than a native machine's, s".to_owned(),
        found: pairs("ssh", "native", |own, native| own - native),
        asked: Asked::AtMost(SSH_BAR_S),
    });
    bars.push(Bar {
        what: format!("ssh: bytes that its host sent within {} windows, the most", windows.len()),
        found: most,
        asked: Asked::AtMost(0.0),
    });
    verdict(&bars)
}

fn parsed(events: &str) -> Vec<Value> {
    events.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Seconds from the beginning of the phase `boot` to the beginning of driving, by contender, in the order of blocks.
fn first_transactions(events: &[Value]) -> BTreeMap<String, Vec<f64>> {
    let mut taken: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let (mut contender, mut boot_ms) = (String::new(), None);
    for event in events {
        let at_ms = event["at_ms"].as_u64();
        match event["event"].as_str() {
            Some("trial-started") => {
                event["contender"].as_str().unwrap_or_default().clone_into(&mut contender);
                boot_ms = None;
            }
            Some("phase-started") if event["phase"] == "boot" => boot_ms = at_ms,
            Some("throughput") => {
                let begin_ms =
                    at_ms.zip(event["elapsed_ms"].as_u64()).and_then(|(at, elapsed)| at.checked_sub(elapsed));
                if let Some(length_ms) = begin_ms.zip(boot_ms.take()).and_then(|(begin, boot)| begin.checked_sub(boot))
                {
                    taken.entry(contender.clone()).or_default().push(Duration::from_millis(length_ms).as_secs_f64());
                }
            }
            _ => {}
        }
    }
    taken
}

/// The measured windows of a contender, without their edges, in milliseconds since 1970.
fn windows(events: &[Value], contender: &str) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut is_it = false;
    for event in events {
        match event["event"].as_str() {
            Some("trial-started") => is_it = event["contender"] == contender,
            Some("phase-started") if is_it && event["phase"] == "measure" => {
                found.extend(event["at_ms"].as_u64().map(|at_ms| (at_ms + EDGE_MS, at_ms + MEASURED_MS - EDGE_MS)));
            }
            _ => {}
        }
    }
    found
}

/// Bytes between the first and the last sample in a window; `None` if there are no two.
fn sent_in(samples: &[(u64, u64)], (from, to): (u64, u64)) -> Option<f64> {
    let mut within = samples.iter().filter(|(at_ms, _)| (from..=to).contains(at_ms));
    let (first, last) = (within.next()?, within.next_back()?);
    Some(last.1.saturating_sub(first.1) as f64)
}

/// An ssh server of our own, which ends with the race.
struct Sshd {
    process: Child,
    port: u16,
}

impl Sshd {
    fn start(folder: &Path) -> anyhow::Result<Self> {
        // sshd wants this folder if root starts it.
        let _ = std::fs::create_dir_all("/run/sshd");
        let path = |name: &str| folder.join(name).display().to_string();
        for key in ["host_key", "key"] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).status();
            ensure!(made.context("starting ssh-keygen")?.success(), "ssh-keygen made no key");
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let of_server = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n",
            path("host_key"),
            path("key.pub")
        );
        std::fs::write(path("sshd_config"), of_server)?;
        let host_key = std::fs::read_to_string(path("host_key.pub"))?;
        std::fs::write(path("known_hosts"), format!("[127.0.0.1]:{port} {host_key}"))?;
        let of_client = format!(
            "Host here\n HostName 127.0.0.1\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n",
            path("key"),
            path("known_hosts")
        );
        std::fs::write(path("ssh_config"), of_client)?;
        let mut sshd = Command::new("/usr/sbin/sshd");
        sshd.args(["-D", "-f", &path("sshd_config")]).stdin(Stdio::null()).stderr(Stdio::null());
        let sshd = Self { process: sshd.spawn().context("starting sshd (Debian's package openssh-server)")?, port };
        let deadline = Instant::now() + START_LIMIT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(Instant::now() < deadline, "sshd does not listen");
            thread::sleep(SAMPLE_INTERVAL);
        }
        Ok(sshd)
    }

    /// Until it is over: the time in milliseconds since 1970, and the bytes sent by all its connections that are open.
    fn sent(&self, is_over: &AtomicBool) -> Vec<(u64, u64)> {
        let mut samples = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            let asked = Command::new("ss").args(["-tinH", &format!("sport = :{}", self.port)]).output();
            let told = asked.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            let bytes =
                told.split_whitespace().filter_map(|word| word.strip_prefix("bytes_sent:")?.parse::<u64>().ok());
            let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            samples.push((u64::try_from(at_ms).unwrap_or(u64::MAX), bytes.sum()));
            thread::sleep(SAMPLE_INTERVAL);
        }
        samples
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // Both fail only if it has already ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "{\"at_ms\":900,\"event\":\"trial-started\",\"contender\":\"ssh\"}\n\
                          {\"at_ms\":1500,\"event\":\"phase-started\",\"phase\":\"boot\"}\n\
                          {\"at_ms\":3000,\"event\":\"throughput\",\"elapsed_ms\":1000}\n\
                          {\"at_ms\":4000,\"event\":\"phase-started\",\"phase\":\"measure\"}\n\
                          {\"at_ms\":4001,\"event\":\"throughput\",\"elapsed_ms\":2000}\n";

    #[test]
    fn only_the_first_report_of_a_trial_tells_when_driving_began() {
        let taken = first_transactions(&parsed(EVENTS));
        assert_eq!(taken.into_iter().collect::<Vec<_>>(), [("ssh".to_owned(), vec![0.5])]);
    }

    #[test]
    fn bytes_count_from_sample_to_sample_within_a_window() {
        let windows = windows(&parsed(EVENTS), "ssh");
        assert_eq!(windows, [(4_500, 8_500)]);
        let samples = [(4_400, 10), (4_600, 70), (8_400, 75), (8_600, 900)];
        assert_eq!(sent_in(&samples, windows[0]), Some(5.0));
        assert_eq!(sent_in(&samples[..2], windows[0]), None);
    }
}
