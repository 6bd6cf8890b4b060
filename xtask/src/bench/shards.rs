//! Whether order-entry's figures depend on the number of driving threads: one thread against eight, in a study of our own.
//!
//! The server is pinned to one CPU and driven from outside. If both shared all CPUs, the study would measure the kernel's
//! scheduler: with few clients, one thread waits for its turn while the server's processes run.
//!
//! Deliveries are deferred, so it also shows whether enough is done in the background with any number of threads.

use super::{Ground, study};
use anyhow::Context;
use serde_json::Value;

const STUDY: &str = r#"
question = "Do figures depend on the number of threads that drive?"
seed     = 1
blocks   = BLOCKS

[machine]
vcpus  = 1
memory = "2GiB"
disk   = { size = "8GiB" }

[engine]
kind = "postgres"

[workload]
kind       = "order-entry"
warehouses = 10

[load]
placement = "outside"
warmup    = "5s"
measure   = "10s"

[[contender]]
name     = "one"
baseline = true
platform = { kind = "native" }
set      = { "load.shards" = 1 }

[[contender]]
name     = "eight"
platform = { kind = "native" }
set      = { "load.shards" = 8 }

[sweep]
"load.clients" = CLIENTS
"#;

pub fn race(ground: &Ground, blocks: u32, clients: &[u32]) -> anyhow::Result<()> {
    let text = STUDY.replace("BLOCKS", &blocks.to_string()).replace("CLIENTS", &format!("{clients:?}"));
    let run = study::run(ground, "shards", &text)?;
    let analysis = run.json("analysis.json")?;
    let comparisons = analysis["comparisons"].as_array().context("the analysis has no comparisons")?;
    for comparison in comparisons {
        let ratio = study::throughput_of(comparison);
        let number = |name: &str| {
            ratio[name].as_f64().with_context(|| format!("no {name} in {ratio}; the run said:\n{}", run.said))
        };
        let (point, low, high) = (number("point")?, number("low")?, number("high")?);
        let agrees = if low <= 1.0 && high >= 1.0 { "agree" } else { "DIFFER" };
        let place = &comparison["coordinates"];
        println!("{place}: eight threads did {point:.3} of one's (95 % interval {low:.3} to {high:.3}): they {agrees}");
    }
    for entry in std::fs::read_dir(run.folder.join("trials"))?.flatten() {
        let trial: Value = serde_json::from_slice(&std::fs::read(entry.path().join("trial.json"))?)?;
        if trial["outcome"]["outcome"] != "completed" {
            println!("trial {} does not count: {}", trial["id"], trial["outcome"]);
        }
    }
    println!("run: {}", run.folder.display());
    Ok(())
}
