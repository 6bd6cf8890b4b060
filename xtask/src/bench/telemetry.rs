//! What sampling costs: an A/B study of our own, with the workload that has the shortest transactions.
//!
//! Both contenders are the same native PostgreSQL under sysbench's point selects. For one of them host, machine and
//! session waits are sampled, for the other nothing is. The analysis is the same as for any study.

use super::{Ground, study};
use anyhow::{Context, ensure};
use serde_json::Value;

const GOAL: f64 = 0.005;

const STUDY: &str = r#"
question = "What does sampling cost?"
seed     = 1
blocks   = BLOCKS

[machine]
vcpus  = 2
memory = "1GiB"
disk   = { size = "2GiB" }

[engine]
kind = "postgres"

[workload]
kind       = "sysbench-oltp"
test       = "point_select"
table_size = 100_000

[load]
clients = 16
warmup  = "2s"
measure = "8s"

[[contender]]
name     = "unsampled"
baseline = true
platform = { kind = "native" }
set      = { "load.telemetry" = false }

[[contender]]
name     = "sampled"
platform = { kind = "native" }
"#;

pub fn race(ground: &Ground, blocks: u32) -> anyhow::Result<()> {
    let run = study::run(ground, "telemetry", &STUDY.replace("BLOCKS", &blocks.to_string()))?;
    let analysis = run.json("analysis.json")?;
    let ratio = study::throughput_of(&analysis["comparisons"][0]);
    let number =
        |name: &str| ratio[name].as_f64().with_context(|| format!("no {name} in {ratio}; the run said:\n{}", run.said));
    let (point, low, high) = (number("point")?, number("low")?, number("high")?);
    let lost = |ratio: f64| 100.0 * (1.0 - ratio);
    println!(
        "throughput lost: {:.2} % (95 % interval {:.2} to {:.2}; {blocks} blocks)",
        lost(point),
        lost(high),
        lost(low)
    );
    println!(
        "CPU of the sampling threads: {:.2} % of one on the host, {:.2} % in the machine",
        cost(&run, 0)?,
        cost(&run, 1)?
    );
    let (share, missed) = cost_of_waits(&run)?;
    println!(
        "asking what sessions wait for: {share:.2} % of the time of one session, {missed:.2} % of the samples missed"
    );
    let verdict = match (1.0 - low, 1.0 - high) {
        (most, _) if most < GOAL => "met",
        (_, least) if least > GOAL => "missed",
        _ => "not decided: this host is too noisy for so small a difference, or there were too few blocks",
    };
    println!("goal: less than {} %: {verdict}", 100.0 * GOAL);
    Ok(())
}

/// Two shares, in per cent over all sampled trials: the time in which the server answered what its sessions wait for,
/// and the samples that it did not answer in time.
fn cost_of_waits(run: &study::Ended) -> anyhow::Result<(f64, f64)> {
    let trials = run.folder.join("trials");
    let entries = std::fs::read_dir(&trials).with_context(|| format!("looking into {}", trials.display()))?;
    let (mut took_ns, mut span_ns, mut samples, mut missed) = (0.0, 0.0, 0.0, 0.0);
    for counters in entries.flatten().map(|entry| entry.path().join("counters.json")).filter(|path| path.exists()) {
        let window = serde_json::from_slice::<Value>(&std::fs::read(&counters)?)?["window"].take();
        let waits = &window["end"]["waits"]["known"];
        let number = |of: &Value, name: &str| of[name].as_f64();
        if let (Some(took), Some(answered), Some(late)) =
            (number(waits, "took_ns"), number(waits, "samples"), number(waits, "missed"))
        {
            let looked = |end: &str| number(&window[end], "at_ns").context("a look has a moment");
            span_ns += looked("end")? - looked("start")?;
            took_ns += took;
            samples += answered + late;
            missed += late;
        }
    }
    ensure!(samples > 0.0, "what sessions wait for was not sampled in {}", trials.display());
    Ok((100.0 * took_ns / span_ns, 100.0 * missed / samples))
}

/// Mean share of one CPU that one side's sampling thread used, over all sampled trials.
fn cost(run: &study::Ended, side: usize) -> anyhow::Result<f64> {
    let trials = run.folder.join("trials");
    let entries = std::fs::read_dir(&trials).with_context(|| format!("looking into {}", trials.display()))?;
    let mut shares = Vec::new();
    for trial in entries.flatten().map(|entry| entry.path()).filter(|path| path.join("telemetry.json").exists()) {
        let index: Value = serde_json::from_slice(&std::fs::read(trial.join("telemetry.json"))?)?;
        let table = ["telemetry-host.csv", "telemetry-machine.csv"][side];
        let text = std::fs::read_to_string(trial.join(table))?;
        let moments: Vec<f64> = text.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
        if let (Some(cost_ns), [first, .., last]) = (index[side]["cost_ns"].as_f64(), moments.as_slice()) {
            shares.push(100.0 * cost_ns / (last - first));
        }
    }
    ensure!(!shares.is_empty(), "nothing was sampled in {}", trials.display());
    Ok(shares.iter().sum::<f64>() / shares.len() as f64)
}
