//! A study run to its end by the release binary, as users run it.

use super::Ground;
use anyhow::Context;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A run that has ended, well or not.
pub struct Ended {
    pub folder: PathBuf,
    /// What it told while it went on.
    pub said: String,
}

impl Ended {
    pub fn text(&self, name: &str) -> anyhow::Result<String> {
        let path = self.folder.join(name);
        std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}; the run said:\n{}", path.display(), self.said))
    }

    pub fn json(&self, name: &str) -> anyhow::Result<Value> {
        serde_json::from_str(&self.text(name)?).with_context(|| format!("reading {name}"))
    }
}

pub fn run(ground: &Ground, name: &str, text: &str) -> anyhow::Result<Ended> {
    let study = ground.folder.join(name).with_extension("toml");
    std::fs::write(&study, text).with_context(|| format!("writing {}", study.display()))?;
    let runs = ground.folder.join("runs");
    let output = Command::new(&ground.bakeoff)
        .args([Path::new("run"), &study, Path::new("--runs"), &runs])
        .env("BAKEOFF_CACHE", &ground.cache)
        .output()
        .context("starting bakeoff run")?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let folder = newest_folder(&runs).with_context(|| format!("the run said:\n{said}"))?;
    Ok(Ended { folder, said })
}

fn newest_folder(runs: &Path) -> anyhow::Result<PathBuf> {
    let entries = std::fs::read_dir(runs).with_context(|| format!("looking into {}", runs.display()))?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    folders.max().with_context(|| format!("{} holds no run", runs.display()))
}
