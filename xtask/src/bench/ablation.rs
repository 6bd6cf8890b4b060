//! Whether an ablation finds a planted effect and names no other change: a guest whose disk is limited, with six changes one at a time, of
//! which one limits the disk by a fifth more. What others do must be smaller than the study's margin.

use super::Ground;
use super::bar::{Asked, Bar, verdict};
use super::study;
use anyhow::ensure;
use serde_json::Value;

const PLANTED: &str = "limit";
/// Of so many repeats in ten the planted change alone must be named.
const LEAST_SHARE: f64 = 0.9;

const STUDY: &str = r#"
question = "Which change makes a difference?"
seed     = SEED
blocks   = 4
margin   = "5%"                         # without read-ahead, half a per cent less is done, and that is no false alarm

[machine]
vcpus  = 1
memory = "512MiB"
disk   = { size = "512MiB" }

[engine]
kind    = "sqlite"
profile = "durable"

[workload]
kind       = "sysbench-oltp"
test       = "write_only"
table_size = 1_000

[load]
clients = 2
warmup  = "1s"
measure = "5s"

[[contender]]
name     = "vm"
platform = { kind = "qemu", accelerator = "auto", disk = { operations_limit = 100 } }

[ablation]
of = "vm"

[[ablation.change]]
name = "aio native"
set  = { "platform.disk.aio" = "native" }

[[ablation.change]]
name = "iothread"
set  = { "platform.disk.iothread" = true }

[[ablation.change]]
name = "limit"
set  = { "platform.disk.operations_limit" = 80 }

[[ablation.change]]
name = "not pinned"
set  = { "platform.pin" = false }

[[ablation.change]]
name = "mq-deadline"
set  = { "machine.disk.scheduler" = "mq-deadline" }

[[ablation.change]]
name = "no read-ahead"
set  = { "machine.disk.read_ahead" = 0 }
"#;

pub fn race(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    ensure!(rounds > 0, "a race has at least one round");
    let mut alone = 0;
    for round in 1..=rounds {
        let run = study::run(ground, "ablation", &STUDY.replace("SEED", &round.to_string()))?;
        let named = named(&run.json("analysis.json")?);
        println!("{round} of {rounds}: named {}", if named.is_empty() { "none".to_owned() } else { named.join(", ") });
        alone += u32::from(named == [PLANTED]);
    }
    verdict(&[Bar {
        what: format!("share of {rounds} repeats in which the planted change alone was named"),
        found: f64::from(alone) / f64::from(rounds),
        asked: Asked::AtLeast(LEAST_SHARE),
    }])
}

/// The changes that are said to make a difference.
fn named(analysis: &Value) -> Vec<String> {
    let comparisons = analysis["comparisons"].as_array().cloned().unwrap_or_default();
    let differs = |cell: &Value| {
        let own = comparisons.iter().find(|one| one["contender_cell"] == *cell);
        own.is_some_and(|one| ["slower", "faster"].iter().any(|verdict| one["verdict"] == *verdict))
    };
    let effects = analysis["ablation"]["effects"].as_array().cloned().unwrap_or_default();
    let found = effects.iter().filter(|effect| differs(&effect["cell"]));
    found.map(|effect| effect["change"].as_str().unwrap_or_default().to_owned()).collect()
}
