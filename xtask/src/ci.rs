//! Everything that must pass before a change goes in, cheapest first, stopping at the first that does not.

use crate::tidy;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// What can be said without running anything of ours.
pub fn lint(root: &Path) -> anyhow::Result<()> {
    start(root, &["cargo", "fmt", "--all", "--check"])?;
    tidy::run(root)?;
    start(root, &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Linting and all tests; those that are slow and rarely break only in full. The last lines printed are the tests' own.
pub fn ci(root: &Path, full: bool) -> anyhow::Result<()> {
    lint(root)?;
    start(root, &["make", "--no-print-directory", "test"])?;
    if full {
        start(root, &["scripts/packages", "--full"])?;
        start(root, &["cargo", "test", "--workspace", "--", "--ignored"])?;
    }
    Ok(())
}

fn start(root: &Path, command: &[&str]) -> anyhow::Result<()> {
    let shown = command.join(" ");
    println!("{shown}");
    let (program, arguments) = command.split_first().context("a command has a program")?;
    let status = Command::new(program).args(arguments).current_dir(root).status();
    let status = status.with_context(|| format!("starting {program}"))?;
    ensure!(status.success(), "`{shown}` failed");
    Ok(())
}
