//! How long it takes to rehearse each study that comes with the project, from the call to the report.

use super::Ground;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub fn time(ground: &Ground, rounds: u32) -> anyhow::Result<()> {
    ensure!(rounds > 0, "a median needs at least one round");
    for study in studies(&ground.root.join("studies"))? {
        let mut times = (0..rounds).map(|_| rehearse(ground, &study)).collect::<anyhow::Result<Vec<_>>>()?;
        times.sort_unstable();
        let name = study.file_name().unwrap_or_default().to_string_lossy();
        println!("{:.2} s  {name}", times[times.len() / 2].as_secs_f64());
    }
    Ok(())
}

/// Studies that cannot be rehearsed on a smaller host than they are meant for.
const FOR_A_LARGE_HOST: &str = "-full";
/// A file of published figures is no study.
const FIGURES: &str = "published";

fn studies(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let mut studies = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            studies.extend(self::studies(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "toml")
            && name != FIGURES
            && !name.ends_with(FOR_A_LARGE_HOST)
        {
            studies.push(path);
        }
    }
    studies.sort();
    Ok(studies)
}

fn rehearse(ground: &Ground, study: &Path) -> anyhow::Result<Duration> {
    let runs = ground.folder.join("rehearsals");
    let mut command = Command::new(&ground.bakeoff);
    command.arg("run").arg(study).arg("--rehearse").arg("--runs").arg(&runs).env("BAKEOFF_CACHE", &ground.cache);
    let begin = Instant::now();
    let output = command.output().context("starting bakeoff run")?;
    let taken = begin.elapsed();
    ensure!(output.status.success(), "{}: {}", study.display(), String::from_utf8_lossy(&output.stderr));
    std::fs::remove_dir_all(&runs).with_context(|| format!("removing {}", runs.display()))?;
    Ok(taken)
}
