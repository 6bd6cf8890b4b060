//! Parts of a check, and what each of them took.

use crate::process::cpu_of_children;
use anyhow::{Context, ensure};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[derive(Debug, Clone, PartialEq)]
pub struct TimedPhase {
    pub name: String,
    pub wall_s: f64,
    /// Of all processes that were started and have ended.
    pub cpu_s: f64,
}

/// The phases that are done, or have failed.
#[derive(Default)]
pub struct Phases(pub Vec<TimedPhase>);

impl Phases {
    pub fn measure<T>(&mut self, name: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        let (begin, cpu_before_s) = (Instant::now(), cpu_of_children()?);
        let result = work();
        let cpu_s = cpu_of_children()? - cpu_before_s;
        self.0.push(TimedPhase { name: name.to_owned(), wall_s: begin.elapsed().as_secs_f64(), cpu_s });
        result
    }
}

/// Runs a command in the project's root to its end.
pub fn start(root: &Path, command: &[&str]) -> anyhow::Result<()> {
    let (program, arguments) = command.split_first().context("a command has a program")?;
    run(Command::new(program).args(arguments).current_dir(root), &command.join(" "))
}

pub fn run(command: &mut Command, shown: &str) -> anyhow::Result<()> {
    println!("{shown}");
    let status = command.status().with_context(|| format!("starting `{shown}`"))?;
    ensure!(status.success(), "`{shown}` failed");
    Ok(())
}
