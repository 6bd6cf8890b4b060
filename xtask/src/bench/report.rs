//! How much time and memory a report of many trials takes: its time may grow with the number of trials, but no faster.
//!
//! Made-up trials have 32 seconds, five kinds of transaction and telemetry of both sides. 1,875 of them have as many
//! seconds as 1,000 trials of 60 s.

use super::Ground;
use crate::process;
use anyhow::{Context, ensure};
use std::process::Command;
use std::time::Duration;

const TRIALS: [u32; 4] = [234, 468, 938, 1_876];
const LIMIT: Duration = Duration::from_mins(10);
const MEGABYTE: f64 = 1e6;

/// The limits for the largest report.
const MOST_S: f64 = 10.0;
const MOST_MB: f64 = 500.0;

pub fn race(ground: &Ground) -> anyhow::Result<()> {
    println!("| trials of 32 s | CPU, s | for each trial, ms | most memory, MB |");
    println!("| ---: | ---: | ---: | ---: |");
    let mut last = (0.0, 0.0);
    for trials in TRIALS {
        let folder = ground.folder.join(format!("of-{trials}"));
        let written = Command::new("cargo")
            .args(["run", "--quiet", "--release", "--package", "report", "--example", "many_trials", "--"])
            .arg(&folder)
            .arg(trials.to_string())
            .current_dir(&ground.root)
            .status()
            .context("starting cargo")?;
        ensure!(written.success(), "the run could not be written");
        // On one CPU, so that elapsed time is CPU time.
        let mut report = Command::new("taskset");
        report.args(["--cpu-list", "0"]).arg(&ground.bakeoff).arg("report").arg(&folder);
        let done = process::run(&mut report, LIMIT, |_| Ok(()))?;
        let memory = done.peak_memory_bytes as f64 / MEGABYTE;
        println!("| {trials} | {:.2} | {:.2} | {memory:.0} |", done.cpu_s, done.cpu_s * 1e3 / f64::from(trials));
        last = (done.cpu_s, memory);
    }
    let verdict = |met: bool| if met { "met" } else { "missed" };
    println!();
    println!(
        "asked of the last: at most {MOST_S} s ({}), at most {MOST_MB} MB ({})",
        verdict(last.0 <= MOST_S),
        verdict(last.1 <= MOST_MB)
    );
    Ok(())
}
