//! The command line.

use crate::exit::Exit;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Where runs are kept unless told otherwise.
pub const RUNS: &str = "runs";

/// Answers, with evidence, what a platform costs a database.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, after_help = Exit::table(), max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure: run a study with live progress, then analyse and report
    Run(RunOptions),
    /// Show what would run, how long it takes, and every problem; starts nothing
    Plan(PlanOptions),
    /// Show what this host can do: accelerators, tools, storage; each yes or no, because
    Doctor(DoctorOptions),
    /// Make the report of a run again from its record
    Report(ReportOptions),
    /// List platforms, engines, workloads and their keys
    List(ListOptions),
    /// Print generated rows of a workload's table, without any database
    Rows(RowsOptions),
    /// Build or list machine images
    Image(ImageOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Be the agent of a machine (started by bakeoff itself)
    #[command(hide = true)]
    Agent(AgentOptions),
}

#[derive(Debug, Args)]
pub struct RunOptions {
    /// Study file
    pub study: PathBuf,
    /// Go on with a run that was stopped or killed: its folder, or the study's newest run
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "newest")]
    pub resume: Option<String>,
    /// Run only some trials: a contender's name, block=N, cell=N or trial=N; may be repeated
    #[arg(long, value_name = "TERM")]
    pub only: Vec<String>,
    /// Folder that run folders are made in
    #[arg(long, value_name = "FOLDER", default_value = RUNS)]
    pub runs: PathBuf,
}

#[derive(Debug, Args)]
pub struct PlanOptions {
    /// Study file
    pub study: PathBuf,
    /// Show only some trials, as in `run`
    #[arg(long, value_name = "TERM")]
    pub only: Vec<String>,
    /// Print the plan as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Run folder
    pub run: PathBuf,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// Show the keys of one entry only (`postgres`, `qemu`, `order-entry`, …)
    pub entry: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RowsOptions {
    /// Workload, for example order-entry
    pub workload: String,
    /// Table; without it, the workload's tables are listed
    pub table: Option<String>,
    /// A setting of the workload, for example warehouses=2; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Only part N of M, for example 1/4; the parts together are the table
    #[arg(long, value_name = "N/M")]
    pub part: Option<String>,
    /// Print each table's number of rows and checksum instead of rows
    #[arg(long)]
    pub checksum: bool,
}

#[derive(Debug, Args)]
pub struct ImageOptions {
    #[command(subcommand)]
    pub command: ImageCommand,
}

#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Build an image, or find it in the cache
    Build {
        /// Recipe, for example postgres
        recipe: String,
        /// Kernel that goes with it
        #[arg(long, default_value = "cloud")]
        kernel: String,
        /// Build even if it is in the cache
        #[arg(long)]
        force: bool,
    },
    /// List recipes and what was built of them
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub struct CompletionsOptions {
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct AgentOptions {
    /// Folder that is the machine's data disk
    #[arg(long)]
    pub data: PathBuf,
    /// Folder for the server's logs
    #[arg(long, default_value = "/run/bakeoff/logs")]
    pub logs: PathBuf,
}
