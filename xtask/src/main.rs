//! Chores of the project: `cargo xtask tidy`, `loc`, `lint`, `test`, `ci`, `dist`, `lab`, `fuzz` and `bench`.
//!
//! Nothing here is part of `bakeoff`. This program prints, starts cargo and git, and exits.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod ci;
mod dist;
mod fuzz;
mod lab;
mod process;
mod tidy;

use anyhow::Context;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Chores of the project", arg_required_else_help = true)]
enum Chore {
    /// Check what the compiler does not: direction of dependencies, sizes, names, comments, words.
    Tidy,
    /// Count each crate's lines: production, comment, test
    Loc,
    /// Check formatting, tidy and clippy.
    Lint,
    /// Race against peers; each ends in a ratio, and fails if that is worse than what is asked for.
    Bench {
        #[command(subcommand)]
        race: bench::Race,
    },
    /// Feed what reads foreign bytes with arbitrary and with almost right ones.
    Fuzz {
        /// How long each reader is fed
        #[arg(long, default_value_t = 10)]
        minutes: u64,
    },
    /// Build what is handed out: an archive, a Debian package and their checksums, in the target folder's `dist`.
    Dist,
    /// Run tests, and print what they took
    Test {
        /// Also those that are slow and rarely break
        #[arg(long)]
        full: bool,
        /// What nextest may be asked, such as the names of tests
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        filters: Vec<String>,
    },
    /// Run everything that must pass before a change goes in: lint, the default tests, and a part of the others
    Ci {
        /// All others, too
        #[arg(long)]
        full: bool,
        /// Instead, break five files in small ways, and write into FILE which breaks the tests notice
        #[arg(long, value_name = "FILE", conflicts_with = "full")]
        mutants: Option<PathBuf>,
    },
    /// Boot hosts as users have them, and run bakeoff in them
    Lab {
        #[command(subcommand)]
        act: lab::LabAct,
    },
    /// Run one test, and log what it took
    #[command(hide = true)]
    Timed {
        log: PathBuf,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(&Chore::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> anyhow::Result<ExitCode> {
    let root = project_root()?;
    match chore {
        Chore::Timed { log, command } => return ci::timed::run(log, command),
        Chore::Lab { act } => return Ok(lab::run(&root, act)?.into()),
        Chore::Tidy => tidy::run(&root),
        Chore::Loc => tidy::loc::run(&root),
        Chore::Lint => ci::lint(&root),
        Chore::Bench { race } => bench::run(&root, race),
        Chore::Fuzz { minutes } => fuzz::run(&root, *minutes),
        Chore::Dist => dist::run(&root).map(|_| ()),
        Chore::Test { full, filters } => ci::test(&root, *full, filters),
        Chore::Ci { mutants: Some(file), .. } => ci::try_mutants(&root, file),
        Chore::Ci { full, mutants: None } => ci::ci(&root, *full),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The checkout that this is called in, so that the chores of a checkout can be done in an earlier commit, too.
fn project_root() -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let root = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
    Ok(root.context("this folder is in no checkout: run it where xtask/Cargo.toml is")?.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chore_that_contributors_are_told_of_is_one() {
        let page = std::fs::read_to_string(project_root().unwrap().join("CONTRIBUTING.md")).unwrap();
        let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("cargo xtask ")).collect();
        assert!(commands.len() >= 9, "{commands:?}");
        for command in commands {
            let words = command.split('#').next().unwrap_or_default().split_whitespace();
            let parsed = Chore::try_parse_from(std::iter::once("xtask").chain(words));
            assert!(parsed.is_ok(), "cargo xtask {command}: {}", parsed.err().unwrap());
        }
    }
}
