//! DVD Store: loading it against psql, generating its rows, and what another database in a machine costs.

use super::Ground;
use super::bar::{Asked, Bar, verdict};
use super::load::Load;
use super::study;
use super::table::{self, Source};
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LEAST_MEGABYTES_PER_S: f64 = 50.0;
const MOST_CLONING: f64 = 1.25;
const WRITERS: u32 = 2;

const STUDY: &str = r#"
question = "What does another database in a machine cost to prepare?"
seed     = 1
blocks   = 1

[machine]
vcpus  = 2
memory = "2GiB"
disk   = { size = "16GiB" }

[engine]
kind      = "postgres"
instances = INSTANCES

[workload]
kind    = "dvd-store"
db_size = "100MB"

[load]
placement = "inside"
clients   = 2
warmup    = "0s"
measure   = "1s"

[[contender]]
name     = "native"
platform = { kind = "native" }
baseline = true
"#;

pub fn race(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    verdict(&[one_gigabyte().bar(ground, rounds, "1 GB")?, generating(ground)?, cloning(ground, rounds)?])
}

/// Customers, products and orders are those of the workload's formulas for 1 GB.
fn one_gigabyte() -> Load {
    let next = |rows: u32| (rows + 1).to_string();
    Load {
        source: Source { workload: "dvd-store", size: "db_size=1GB".to_owned() },
        settings: json!({ "db_size": "1GB" }),
        sql: "crates/workloads/src/dvd_store/sql",
        placeholders: vec![
            ("{membership_item}", String::new()),
            ("{next_product}", next(100_000)),
            ("{next_customer}", next(2_000_000)),
            ("{next_order}", next(1_200_000)),
        ],
        writers: WRITERS,
    }
}

/// By one process, which makes table after table.
fn generating(ground: &Ground) -> anyhow::Result<Bar> {
    let source = one_gigabyte().source;
    let (mut bytes, mut taken) = (0, Duration::ZERO);
    for table in table::list(ground, &source)? {
        let path = table::write(ground, &source, &table, (0, 1), &ground.folder)?;
        bytes += fs::metadata(&path).with_context(|| format!("looking at {}", path.display()))?.len();
        fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        let begun = Instant::now();
        table::generate(ground, &source, &table, (0, 1), Stdio::null())?;
        taken += begun.elapsed();
    }
    let found = bytes as f64 / 1e6 / taken.as_secs_f64();
    println!("generating: {bytes} bytes in {:.2} s by one core", taken.as_secs_f64());
    Ok(Bar { what: "rows generated, MB/s".to_owned(), found, asked: Asked::AtLeast(LEAST_MEGABYTES_PER_S) })
}

/// What the cloning of a machine's disk takes longer with a second database, against what `cp` does. Both read the loaded disk, which
/// the host's cache does not hold, and end when everything is on the disk. Others that use the disk only ever add time, so the
/// least of all rounds counts.
fn cloning(ground: &Ground, rounds: u32) -> anyhow::Result<Bar> {
    // These runs load the data.
    clone(ground, 1)?;
    clone(ground, 2)?;
    let disks = [disk(ground, 1)?, disk(ground, 2)?];
    let (mut ours, mut by_hand) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
    for round in 0..rounds {
        for (place, instances) in [(0, 1), (1, 2)] {
            let (cloned, copied) = if round % 2 == 0 {
                let cloned = clone(ground, instances)?;
                (cloned, copy(ground, &disks[place])?)
            } else {
                let copied = copy(ground, &disks[place])?;
                (clone(ground, instances)?, copied)
            };
            let databases = if instances == 1 { "one database" } else { "two" };
            println!("round {}, {databases}: {} ms, cp {} ms", round + 1, cloned.as_millis(), copied.as_millis());
            ours[place] = ours[place].min(cloned.as_secs_f64());
            by_hand[place] = by_hand[place].min(copied.as_secs_f64());
        }
    }
    Ok(Bar {
        what: "preparing another database in a machine, of copying its bytes by hand".to_owned(),
        found: (ours[1] - ours[0]) / (by_hand[1] - by_hand[0]),
        asked: Asked::AtMost(MOST_CLONING),
    })
}

/// How long the machine's disk was cloned.
fn clone(ground: &Ground, instances: u32) -> anyhow::Result<Duration> {
    settle()?;
    let run = study::run(ground, "instances", &STUDY.replace("INSTANCES", &instances.to_string()))?;
    let record = run.json("trials/0001/trial.json")?;
    let mut phases = record["phases"].as_array().into_iter().flatten();
    let taken = phases.find(|phase| phase["phase"] == "clone").and_then(|phase| phase["length_ms"].as_u64());
    Ok(Duration::from_millis(taken.with_context(|| format!("nothing was cloned:\n{}", run.said))?))
}

/// The loaded disk with so many databases in the cache.
fn disk(ground: &Ground, instances: u32) -> anyhow::Result<PathBuf> {
    let folder = ground.cache.join("data");
    for entry in fs::read_dir(&folder).with_context(|| format!("looking into {}", folder.display()))?.flatten() {
        let Ok(text) = fs::read_to_string(entry.path().join("loaded.json")) else { continue };
        let made_from = &serde_json::from_str::<Value>(&text).context("reading what was loaded")?["made_from"];
        let is_ours = made_from["workload"]["kind"] == "dvd-store" && made_from["engine"]["kind"] == "postgres";
        if is_ours && made_from["instances"].as_u64().unwrap_or(1) == u64::from(instances) {
            return Ok(entry.path().join("disk.img"));
        }
    }
    bail!("{} has no disk with {instances} databases", folder.display())
}

/// How long `cp` takes until its copy beside the data is on the disk.
fn copy(ground: &Ground, disk: &Path) -> anyhow::Result<Duration> {
    let path = ground.cache.join("copied-by-hand");
    let shell = |script: &str| shell(script, &[disk, &path]);
    settle()?;
    shell("dd if=\"$1\" iflag=nocache count=0 status=none")?;
    let begun = Instant::now();
    shell("cp --sparse=always \"$1\" \"$2\" && sync \"$2\"")?;
    let taken = begun.elapsed();
    fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    Ok(taken)
}

/// Brings what was written and removed before to the disk, so that nobody waits for that while it is timed.
fn settle() -> anyhow::Result<()> {
    shell("sync", &[])
}

fn shell(script: &str, files: &[&Path]) -> anyhow::Result<()> {
    let status = Command::new("sh").args(["-euc", script, "sh"]).args(files).status().context("starting sh")?;
    ensure!(status.success(), "{script} failed");
    Ok(())
}
