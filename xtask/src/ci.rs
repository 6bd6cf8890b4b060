//! Everything that must pass before a change goes in, cheapest first, stopping at the first that does not.

use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;

const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--", "--check"],
    &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
    &["test", "--workspace"],
];

pub fn run(root: &Path) -> anyhow::Result<()> {
    let (formatting, rest) = STEPS.split_at(1);
    formatting.iter().try_for_each(|step| cargo(root, step))?;
    super::tidy::run(root)?;
    rest.iter().try_for_each(|step| cargo(root, step))
}

fn cargo(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    println!("cargo {}", arguments.join(" "));
    let status = Command::new("cargo").args(arguments).current_dir(root).status().context("starting cargo")?;
    ensure!(status.success(), "cargo {} failed", arguments.join(" "));
    Ok(())
}
