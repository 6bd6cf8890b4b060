//! What is planted beside one of two equal contenders, each in two sizes: programs of others, and limits of its own machine that change
//! behind bakeoff's back. And what a study itself sets differently.

use super::RaceGround;
use anyhow::{Context, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

pub struct PlantedLoad {
    pub name: &'static str,
    how: How,
}

enum How {
    /// So many loops that want a CPU, with this niceness, and with a rest between a few milliseconds of work.
    Loops { count: u32, nice: i32, rest_s: f64 },
    /// Direct writes of 16 MiB to the cache's disk, with a rest between them.
    Writes { rest_s: f64 },
    /// Another database on that disk, which gets so many transactions a second.
    Database { arrivals: u32 },
    /// A file of the machine's control group, of this controller.
    Group { controller: &'static str, file: &'static str, value: &'static str },
}

pub const HOGS: [PlantedLoad; 2] = [
    PlantedLoad { name: "another program, little", how: How::Loops { count: 1, nice: 0, rest_s: 0.05 } },
    PlantedLoad { name: "another program, two CPUs", how: How::Loops { count: 2, nice: 0, rest_s: 0.0 } },
];
const URGENT: [PlantedLoad; 2] = [
    PlantedLoad { name: "a program of higher priority, little", how: How::Loops { count: 1, nice: -20, rest_s: 0.05 } },
    PlantedLoad {
        name: "a program of higher priority, two CPUs",
        how: How::Loops { count: 2, nice: -20, rest_s: 0.0 },
    },
];
const WRITES: [PlantedLoad; 2] = [
    PlantedLoad { name: "writes to the disk, now and then", how: How::Writes { rest_s: 0.5 } },
    PlantedLoad { name: "writes to the disk, always", how: How::Writes { rest_s: 0.0 } },
];
const DATABASES: [PlantedLoad; 2] = [
    PlantedLoad { name: "a second database, 20 arrivals/s", how: How::Database { arrivals: 20 } },
    PlantedLoad { name: "a second database, 400 arrivals/s", how: How::Database { arrivals: 400 } },
];
const QUOTAS: [PlantedLoad; 2] = [
    PlantedLoad { name: "a quota of 0.8 CPUs", how: quota("80000") },
    PlantedLoad { name: "a quota of 0.3 CPUs", how: quota("30000") },
];
const MEMORY: [PlantedLoad; 2] = [
    PlantedLoad { name: "a memory limit of 2 GiB", how: memory("2147483648") },
    PlantedLoad { name: "no memory limit", how: memory("-1") },
];

/// Of control groups v1, for each 0.1 s.
const fn quota(value: &'static str) -> How {
    How::Group { controller: "cpu", file: "cpu.cfs_quota_us", value }
}

const fn memory(value: &'static str) -> How {
    How::Group { controller: "memory", file: "memory.limit_in_bytes", value }
}

pub const DISTURBANCES: [&[PlantedLoad; 2]; 6] = [&HOGS, &URGENT, &WRITES, &DATABASES, &QUOTAS, &MEMORY];

/// What a study sets differently.
pub struct Treatment {
    pub name: &'static str,
    pub engine: &'static str,
    pub platform: &'static str,
    /// Further lines of contender b.
    pub of_b: &'static str,
}

const CACHES: [Treatment; 2] = [
    cache("half the cache", "set = { \"engine.shared_buffers\" = \"64MiB\" }\n"),
    cache("a sixteenth of the cache", "set = { \"engine.shared_buffers\" = \"8MiB\" }\n"),
];

const fn cache(name: &'static str, of_b: &'static str) -> Treatment {
    Treatment { name, engine: "postgres", platform: super::NATIVE, of_b }
}

pub const TREATMENTS: [&[Treatment; 2]; 1] = [&CACHES];

impl PlantedLoad {
    /// Whatever takes time before it can begin.
    pub fn prepare(&self, ground: &RaceGround) -> anyhow::Result<PreparedLoad<'_>> {
        fs::create_dir_all(&ground.cache).with_context(|| format!("making {}", ground.cache.display()))?;
        let prepared = PreparedLoad { how: &self.how, bakeoff: ground.bakeoff.clone(), place: ground.cache.clone() };
        if matches!(self.how, How::Database { .. }) {
            let loaded = prepared.drive(&["--steps", "clean,load"]).status().context("loading a second database")?;
            ensure!(loaded.success(), "the second database could not be loaded");
        }
        Ok(prepared)
    }
}

pub struct PreparedLoad<'a> {
    how: &'a How,
    bakeoff: PathBuf,
    /// On the disk of bakeoff's cache.
    place: PathBuf,
}

impl PreparedLoad<'_> {
    /// Begins it, beside the run of this process. Dropping what is returned ends it.
    pub fn begin(&self, run: u32) -> anyhow::Result<Going> {
        let shell = |script: &str| {
            let mut command = Command::new("setsid");
            command.args(["nice", "-n", "0", "sh", "-c", script]).current_dir(&self.place);
            command
        };
        let commands: Vec<Command> = match self.how {
            How::Group { controller, file, value } => return limited(run, controller, file, value),
            How::Loops { count, nice, rest_s } => {
                let rest = if *rest_s > 0.0 { format!("sleep {rest_s}") } else { ":".to_owned() };
                let script = format!(
                    "renice -n {nice} -p $$ >/dev/null; while :; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; {rest}; done"
                );
                (0..*count).map(|_| shell(&script)).collect()
            }
            How::Writes { rest_s } => {
                let script = "while :; do dd if=/dev/zero of=written bs=1M count=16 oflag=direct conv=notrunc; sleep";
                vec![shell(&format!("{script} {rest_s}; done 2>/dev/null"))]
            }
            How::Database { arrivals } => {
                let rate = format!("{arrivals}/s");
                let mut command = Command::new("setsid");
                let drive = self.drive(&["--steps", "run", "--arrivals", &rate, "--warmup", "0s", "--time", "60s"]);
                command.arg(drive.get_program()).args(drive.get_args()).current_dir(&self.place);
                vec![command]
            }
        };
        let begun = commands.into_iter().map(|mut command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().context("starting a disturbance")
        });
        Ok(Going::Processes(begun.collect::<anyhow::Result<_>>()?))
    }

    fn drive(&self, more: &[&str]) -> Command {
        let mut command = Command::new(&self.bakeoff);
        command.args(["drive", "sysbench-oltp", "sqlite:second.db", "--set", "test=write_only"]).args(more);
        command.current_dir(&self.place);
        command
    }
}

pub enum Going {
    /// Each is the leader of its group.
    Processes(Vec<Child>),
    /// The file of a control group, and what was in it.
    Group(PathBuf, String),
}

impl Drop for Going {
    fn drop(&mut self) {
        match self {
            Self::Processes(all) => {
                for process in all {
                    // Both fail only if it has already ended.
                    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", process.id())]).status();
                    let _ = process.wait();
                }
            }
            // The group may have gone with its machine.
            Self::Group(file, was) => drop(fs::write(file, was.as_str())),
        }
    }
}

/// Writes into this file of the group in which a machine of the run is.
fn limited(run: u32, controller: &str, file: &str, value: &str) -> anyhow::Result<Going> {
    let group = |process: u32| {
        let text = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        text.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|one| one == controller).then(|| path.to_owned())
        })
    };
    let of_run =
        group(run).with_context(|| format!("this host has no controller {controller} of control groups v1"))?;
    let machines: BTreeSet<String> =
        descendants(run).into_iter().filter_map(group).filter(|one| *one != of_run).collect();
    let machine = machines.first().with_context(|| format!("no machine has a group of its own for {controller}"))?;
    let path = PathBuf::from(format!("/sys/fs/cgroup/{controller}{machine}/{file}"));
    let was = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    fs::write(&path, value).with_context(|| format!("writing {}", path.display()))?;
    Ok(Going::Group(path, was.trim().to_owned()))
}

fn descendants(of: u32) -> Vec<u32> {
    let parent = |process: u32| {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let all: Vec<(u32, u32)> = listed
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|process| Some((process, parent(process)?)))
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(process) = found.get(next).copied() {
        found.extend(all.iter().filter(|(_, parent)| *parent == process).map(|(child, _)| *child));
        next += 1;
    }
    found
}
