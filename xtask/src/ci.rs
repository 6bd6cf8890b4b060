//! Everything that must pass before a change goes in, cheapest first; it stops at the first failure.

use crate::tidy;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

/// Everything that can be checked without running our code.
pub fn lint(root: &Path) -> anyhow::Result<()> {
    start(root, &["cargo", "fmt", "--all", "--check"])?;
    tidy::run(root)?;
    start(root, &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Linting and all tests; slow ones that rarely break only with `full`. The last lines printed are those of the tests.
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
