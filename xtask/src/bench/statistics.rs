//! How often the analysis is right on simulated studies with a known truth. It is no race against a peer: the truth is the peer.
//!
//! The simulation is an example of the crate `analysis`, because nothing of ours is linked here.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// Prints the table that docs/statistics.md quotes, and fails if the analysis is not right often enough.
pub fn simulate(root: &Path, studies: u32) -> anyhow::Result<()> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "analysis", "--example", "coverage", "--"])
        .arg(studies.to_string())
        .current_dir(root)
        .status()
        .context("starting cargo")?;
    ensure!(status.success(), "the analysis is not right as often as is asked of it");
    Ok(())
}
