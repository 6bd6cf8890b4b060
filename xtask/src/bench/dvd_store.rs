//! DVD Store: loading it against psql, generating its rows, and what another database in a machine costs.

use super::Ground;
use super::bar::{Asked, Bar, median, spread, verdict};
use super::load::Load;
use super::study;
use super::table::{self, Source};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Loading takes at most this many times as long: 0.8 of the speed.
const MOST_LOADING: f64 = 1.25;
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
    verdict(&[loading(ground, rounds)?, generating(ground)?, cloning(ground, rounds)?])
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

fn loading(ground: &Ground, count: u32) -> anyhow::Result<Bar> {
    let (in_memory, _emptied) = ground.in_memory()?;
    let rounds = one_gigabyte().race(&in_memory, count)?;
    let ratios: Vec<f64> = rounds.iter().map(|round| round.ours.as_secs_f64() / round.theirs.as_secs_f64()).collect();
    println!("loading 1 GB: {} times as long as psql takes", spread(ratios.clone()));
    Ok(Bar {
        what: "loading 1 GB into PostgreSQL: time, of psql's \\copy".to_owned(),
        found: median(ratios),
        asked: Asked::AtMost(MOST_LOADING),
    })
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

/// What the cloning of a machine's disk takes longer with a second database, against a copy of its files by hand. Both end with
/// everything on the disk.
fn cloning(ground: &Ground, rounds: u32) -> anyhow::Result<Bar> {
    clone_of(ground, 1)?;
    clone_of(ground, 2)?;
    let mut ratios = Vec::new();
    for round in 0..rounds {
        let (one, two) = if round % 2 == 0 {
            let one = clone_of(ground, 1)?;
            (one, clone_of(ground, 2)?)
        } else {
            let two = clone_of(ground, 2)?;
            (clone_of(ground, 1)?, two)
        };
        let by_hand = copied(ground, two.bytes.saturating_sub(one.bytes))?;
        let more = two.taken.saturating_sub(one.taken);
        println!(
            "round {}: {} ms more with a second database, {} ms by hand",
            round + 1,
            more.as_millis(),
            by_hand.as_millis()
        );
        ratios.push(more.as_secs_f64() / by_hand.as_secs_f64());
    }
    println!("another database: {} times as long as a copy of its bytes", spread(ratios.clone()));
    Ok(Bar {
        what: "preparing another database in a machine, of copying its bytes by hand".to_owned(),
        found: median(ratios),
        asked: Asked::AtMost(MOST_CLONING),
    })
}

struct Cloned {
    taken: Duration,
    bytes: u64,
}

fn clone_of(ground: &Ground, instances: u32) -> anyhow::Result<Cloned> {
    let run = study::run(ground, "instances", &STUDY.replace("INSTANCES", &instances.to_string()))?;
    let record = run.json("trials/0001/trial.json")?;
    let phases = record["phases"].as_array().into_iter().flatten();
    let clone = phases.into_iter().find(|phase| phase["phase"] == "clone");
    let taken = clone.and_then(|phase| phase["length_ms"].as_u64());
    let taken = taken.with_context(|| format!("nothing was cloned:\n{}", run.said))?;
    Ok(Cloned { taken: Duration::from_millis(taken), bytes: bytes_of_disk(ground, instances)? })
}

/// What the loaded disk with so many databases takes in the cache, without its holes.
fn bytes_of_disk(ground: &Ground, instances: u32) -> anyhow::Result<u64> {
    let folder = ground.cache.join("data");
    for entry in fs::read_dir(&folder).with_context(|| format!("looking into {}", folder.display()))?.flatten() {
        let Ok(text) = fs::read_to_string(entry.path().join("loaded.json")) else { continue };
        let made_from = &serde_json::from_str::<Value>(&text).context("reading what was loaded")?["made_from"];
        let is_ours = made_from["workload"]["kind"] == "dvd-store" && made_from["engine"]["kind"] == "postgres";
        if is_ours && made_from["instances"].as_u64().unwrap_or(1) == u64::from(instances) {
            let disk = entry.path().join("disk.img");
            let found = fs::metadata(&disk).with_context(|| format!("looking at {}", disk.display()))?;
            return Ok(found.blocks() * BLOCK_BYTES);
        }
    }
    bail!("{} has no disk with {instances} databases", folder.display())
}

/// The unit in which files report what they take.
const BLOCK_BYTES: u64 = 512;

/// How long writing so many bytes beside the data takes until they are on the disk.
fn copied(ground: &Ground, bytes: u64) -> anyhow::Result<Duration> {
    let path = ground.cache.join("copied-by-hand");
    let piece = vec![1_u8; 1 << 20];
    let begun = Instant::now();
    let mut file = fs::File::create(&path).with_context(|| format!("making {}", path.display()))?;
    for _ in 0..bytes.div_ceil(piece.len() as u64) {
        file.write_all(&piece).context("copying by hand")?;
    }
    file.sync_all().context("copying by hand")?;
    let taken = begun.elapsed();
    fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
    Ok(taken)
}
