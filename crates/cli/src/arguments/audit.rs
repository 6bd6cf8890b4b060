//! Arguments of audits.

use super::RunOptions;
use super::known::files_known;
use crate::run_name::RUNS;
use clap::{Args, Subcommand};
use clap_complete::ArgValueCompleter;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Cut the power of each contender's disk at many moments, and look for transactions that were acknowledged
    Durability(DurabilityOptions),
}

#[derive(Debug, Args)]
pub struct DurabilityOptions {
    /// Study file, whose contenders are audited as its [audit.durability] says, or as usual if it has none
    #[arg(add = ArgValueCompleter::new(files_known))]
    pub study: PathBuf,
    /// Go on with audits that were stopped or killed: their folder, or the study's newest
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "newest")]
    pub resume: Option<String>,
    /// With --resume: also make audits again that failed; what became of them stays in the record
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// Audit only some: a contender's name or cell=N; may be repeated
    #[arg(long, value_name = "TERM")]
    pub only: Vec<String>,
    /// Change a key of the study, for example audit.durability.drive=30s; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder that run folders are made in
    #[arg(long, value_name = "FOLDER", default_value = RUNS)]
    pub runs: PathBuf,
    /// Show nothing but the result
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the analysis as JSON instead of the result
    #[arg(long)]
    pub json: bool,
}

impl DurabilityOptions {
    /// The run without trials that makes these audits. Which contenders it has is decided already.
    pub fn as_run(&self) -> RunOptions {
        RunOptions {
            study: self.study.clone(),
            resume: self.resume.clone(),
            retry_failed: self.retry_failed,
            set: self.set.clone(),
            runs: self.runs.clone(),
            quiet: self.quiet,
            json: self.json,
            ..RunOptions::default()
        }
    }
}
