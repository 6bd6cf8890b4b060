//! A study run to its end by the release binary, as users run it.

use super::RaceGround;
use crate::process::WatchedProcess;
use anyhow::Context;
use serde_json::Value;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A run that has ended, successfully or not.
pub struct EndedRun {
    pub folder: PathBuf,
    /// Its progress messages.
    pub said: String,
}

impl EndedRun {
    pub fn text(&self, name: &str) -> anyhow::Result<String> {
        let path = self.folder.join(name);
        std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}; the run said:\n{}", path.display(), self.said))
    }

    pub fn json(&self, name: &str) -> anyhow::Result<Value> {
        serde_json::from_str(&self.text(name)?).with_context(|| format!("reading {name}"))
    }
}

pub fn run(ground: &RaceGround, name: &str, text: &str) -> anyhow::Result<EndedRun> {
    with(ground, name, text, &[])
}

/// The same with further arguments.
pub fn with(ground: &RaceGround, name: &str, text: &str, further: &[&OsStr]) -> anyhow::Result<EndedRun> {
    watched(ground, name, text, further, &mut |_, _| Ok(()))
}

/// The same; `watch` gets the process and each line it prints.
pub fn watched(
    ground: &RaceGround,
    name: &str,
    text: &str,
    further: &[&OsStr],
    watch: &mut dyn FnMut(u32, &str) -> anyhow::Result<()>,
) -> anyhow::Result<EndedRun> {
    let study = ground.folder.join(name).with_extension("toml");
    std::fs::write(&study, text).with_context(|| format!("writing {}", study.display()))?;
    let runs = ground.folder.join("runs");
    let mut command = Command::new(&ground.bakeoff);
    command
        .args([Path::new("run"), &study, Path::new("--runs"), &runs])
        .args(further)
        .env("BAKEOFF_CACHE", &ground.cache);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut bakeoff = WatchedProcess(command.spawn().context("starting bakeoff run")?);
    let told = bakeoff.0.stderr.take().context("its progress is piped")?;
    let mut said = String::new();
    for line in BufReader::new(told).lines() {
        let line = line.context("reading its progress")?;
        watch(bakeoff.0.id(), &line)?;
        said.push_str(&line);
        said.push('\n');
    }
    bakeoff.0.wait().context("waiting for its end")?;
    let folder = newest_folder(&runs).with_context(|| format!("the run said:\n{said}"))?;
    Ok(EndedRun { folder, said })
}

/// The throughput ratio of a comparison in `analysis.json`; null if there is none.
pub fn throughput_of(comparison: &Value) -> &Value {
    let contrasts = comparison["contrasts"].as_array().into_iter().flatten();
    contrasts.into_iter().find(|contrast| contrast["measure"] == "throughput").unwrap_or(&Value::Null)
}

fn newest_folder(runs: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(runs).with_context(|| format!("looking into {}", runs.display()))?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    folders.max().with_context(|| format!("{} holds no run", runs.display()))
}
