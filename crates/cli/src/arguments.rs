//! The command line.

mod audit;
mod first_steps;
pub mod fleet;
mod inside;
pub mod known;

pub use audit::AuditCommand;
pub use first_steps::{
    CacheCommand, CacheOptions, Compared, ImageCommand, ImageOptions, InitOptions, ManOptions, OpenOptions,
};
pub use fleet::FleetCommand;
pub use inside::{AgentOptions, ThereOptions};

use crate::exit::Exit;
use crate::metrics::address;
use crate::run_name::RUNS;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use known::{Known, codes_known, files_known, paths_known, runs_known, settings_known, workloads_known};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Measures what a platform (such as a virtual machine) costs a database.
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version = crate::origin::version(), after_help = Exit::table(), max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a study to begin with
    Init(InitOptions),
    /// Measure: run a study and report the result
    Run(RunOptions),
    /// Show what a study would run, how long it takes, and every problem; starts nothing
    Plan(PlanOptions),
    /// Find out whether what is acknowledged is there after a power cut
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Show what this host can do, and what to do about what it cannot
    Doctor(DoctorOptions),
    /// Make the report of a run again from its record
    Report(ReportOptions),
    /// Show the report of a run
    Open(OpenOptions),
    /// Compare two runs of the same study, cell by cell; finds regressions
    Compare(CompareOptions),
    /// Say what the code of a warning means and what to do about it
    Explain(ExplainOptions),
    /// List the runs in a folder, show one of them, or how a measure went over them
    Runs(RunsOptions),
    /// Write a run's telemetry as one table for other tools
    Export(ExportOptions),
    /// List platforms, engines, workloads and their keys
    List(ListOptions),
    /// Load, run, check or clean a workload on a server that already exists
    Drive(DriveOptions),
    /// Print generated rows of a workload's table, without any database
    Rows(RowsOptions),
    /// Start, list or end the agents of hosts that are reached over NATS
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Build or list machine images
    Image(ImageOptions),
    /// Show what is kept between runs and its size, or remove it (`BAKEOFF_CACHE` names the folder)
    Cache(CacheOptions),
    /// Print a completion script for a shell
    Completions(CompletionsOptions),
    /// Write manual pages into a folder
    Man(ManOptions),
}

#[derive(Debug, Default, Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own.
pub struct RunOptions {
    /// Study file
    #[arg(add = ArgValueCompleter::new(files_known))]
    pub study: PathBuf,
    /// Go on with a run that was stopped or killed: its folder, or the study's newest run
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "newest")]
    pub resume: Option<String>,
    /// With --resume: also run trials again that failed, are invalid or were skipped, and audits that failed; what became of them
    /// stays in the record
    #[arg(long, requires = "resume")]
    pub retry_failed: bool,
    /// Run only some trials: a contender's name, block=N, cell=N or trial=N; may be repeated
    #[arg(long, value_name = "TERM")]
    pub only: Vec<String>,
    /// Check the method on this host: compare each contender with itself. Any difference found is noise
    #[arg(long)]
    pub aa: bool,
    /// Change a key of the study for this run, for example load.clients=8; may be repeated. Kinds and ways of pacing stay
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(paths_known))]
    pub set: Vec<String>,
    /// Play the plan on a virtual clock, without machines and servers: hours pass in seconds, and nothing is measured
    #[arg(long, conflicts_with_all = ["resume", "metrics"])]
    pub rehearse: bool,
    /// Folder that run folders are made in
    #[arg(long, value_name = "FOLDER", default_value = RUNS)]
    pub runs: PathBuf,
    /// Serve metrics of the run as OpenMetrics text while it goes on; host:port, :port or port [default: 127.0.0.1:9464]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = address::DEFAULT, value_parser = address::parse)]
    pub metrics: Option<SocketAddr>,
    /// Reach other hosts over NATS in place of ssh: the file that describes the fleet
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub fleet: Option<PathBuf>,
    /// Refuse to start if a contender that should use KVM would be emulated
    #[arg(long, conflicts_with = "rehearse")]
    pub require_kvm: bool,
    /// Skip contenders whose platform is not on this host. Without this, the run does not start
    #[arg(long, conflicts_with = "rehearse")]
    pub skip_missing: bool,
    /// Show nothing but the result
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show each step of each trial
    #[arg(short, long)]
    pub verbose: bool,
    /// Print the analysis as JSON instead of the result
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PlanOptions {
    /// Study file
    #[arg(add = ArgValueCompleter::new(files_known))]
    pub study: PathBuf,
    /// Show only some trials, as in `run`
    #[arg(long, value_name = "TERM")]
    pub only: Vec<String>,
    /// Show the A/A study, as in `run`
    #[arg(long)]
    pub aa: bool,
    /// Change a key of the study, as in `run`
    #[arg(long, value_name = "KEY=VALUE", add = ArgValueCompleter::new(paths_known))]
    pub set: Vec<String>,
    /// Say how precise the result will be, judged by an earlier run of the same contenders
    #[arg(long, value_name = "RUN", add = ArgValueCompleter::new(runs_known))]
    pub pilot: Option<PathBuf>,
    /// Say how many blocks this precision needs, for example 1%; without it, the study's
    #[arg(long, value_name = "SHARE", requires = "pilot")]
    pub precision: Option<String>,
    /// Refuse if a contender that should use KVM is known to be emulated here
    #[arg(long)]
    pub require_kvm: bool,
    /// Print the plan as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Show everything that was found
    #[arg(long)]
    pub all: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ReportOptions {
    /// Run folder, the beginning of its name, last or last-1
    #[arg(add = ArgValueCompleter::new(runs_known))]
    pub run: PathBuf,
    /// Print the analysis as JSON
    #[arg(long)]
    pub json: bool,
    /// Show published figures beside those of the run: a TOML file such as studies/published/*/published.toml
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub beside: Option<PathBuf>,
    /// Accept a finding of this run, with the reason, as the study's [accept] does; may be repeated
    #[arg(long, value_name = "CODE=REASON")]
    pub accept: Vec<String>,
    /// Print the first page of the report, to paste into a mail or a pull request, and write no report
    #[arg(long, value_name = "FORM", conflicts_with = "json")]
    pub summary: Option<SummaryForm>,
    /// Print one table of the report as CSV, and write no report
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    pub table: Option<String>,
    /// Print what one figure of the report shows as CSV, and write no report
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "table"])]
    pub figure: Option<String>,
    /// Draw that figure into this file instead; - is standard output
    #[arg(long, value_name = "FILE", requires = "figure")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SummaryForm {
    /// Markdown
    Md,
    /// One HTML file
    Html,
    /// A picture beside the report, drawn by Chromium
    Png,
}

#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// A code, such as host-busy; all codes are listed without one
    #[arg(hide_possible_values = true, value_parser = Known(codes_known))]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Run folder, the beginning of its name, last or last-1
    #[arg(add = ArgValueCompleter::new(runs_known))]
    pub run: PathBuf,
    /// File for the table, as CSV with one value a line; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub csv: PathBuf,
}

#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Run of what was before: its folder, the beginning of its name, or last-1
    #[arg(value_name = "OLD", add = ArgValueCompleter::new(runs_known))]
    pub old: PathBuf,
    /// Run of what is now: its folder, the beginning of its name, or last
    #[arg(value_name = "NEW", add = ArgValueCompleter::new(runs_known))]
    pub new: PathBuf,
    /// Look for regressions: throughput or response times that are worse by more than this many per cent
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub threshold: Option<f64>,
    /// End with 0 also if a regression is neither found nor ruled out
    #[arg(long, requires = "threshold")]
    pub allow_undecided: bool,
    /// Judge contenders by what they did, and not by their ratios to the baseline of their run
    #[arg(long)]
    pub absolute: bool,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the comparison as one self-contained page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the comparison as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsOptions {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    #[command(flatten)]
    pub list: RunsListOptions,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// List the runs in a folder: when, which study, on which host, how far, and the answer
    List(RunsListOptions),
    /// Show what is kept of a run: study, host, versions, cells, levels and ratios
    Show(RunsShowOptions),
    /// Show how a measure went over runs of one study on one host
    Trend(RunsTrendOptions),
}

#[derive(Debug, Args)]
pub struct RunsFolder {
    /// Folder that holds runs
    #[arg(default_value = RUNS)]
    pub dir: PathBuf,
}

#[derive(Debug, Args)]
pub struct RunsListOptions {
    #[command(flatten)]
    pub folder: RunsFolder,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunsShowOptions {
    /// Run folder, or the name of one in `runs`
    #[arg(add = ArgValueCompleter::new(runs_known))]
    pub run: PathBuf,
    /// Only this measure, for example throughput
    #[arg(long, value_name = "ID")]
    pub measure: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunsTrendOptions {
    /// Measure, as in observations.csv: throughput, response.p99/new-order, …
    pub measure: String,
    #[command(flatten)]
    pub folder: RunsFolder,
    /// Only runs of the study of this name
    #[arg(long, value_name = "NAME")]
    pub study: Option<String>,
    /// Only this contender
    #[arg(long, value_name = "NAME")]
    pub contender: Option<String>,
    /// Only the cell of this number, as `runs show` lists them
    #[arg(long, value_name = "N")]
    pub cell: Option<u32>,
    /// Print the trend as JSON
    #[arg(long)]
    pub json: bool,
    /// Write the trend as one self-contained page with figures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the trend as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Write the trend as CSV, a line for each run, contender and ratio
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// "3%" and "3" as 0.03.
fn percent(text: &str) -> Result<f64, String> {
    let share = settings::parse_share(text)
        .or_else(|| settings::parse_share(&format!("{text}%")))
        .map(|share| share.0)
        .filter(|share| *share < 1.0);
    share.ok_or_else(|| "per cent from 0 to below 100 are needed, as in 3%".to_owned())
}

#[derive(Debug, Args)]
pub struct ListOptions {
    /// Show the keys of one entry only (`postgres`, `qemu`, `order-entry`, `scenario`, …)
    #[arg(hide_possible_values = true, value_parser = Known(crate::catalog::names))]
    pub entry: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RowsOptions {
    /// Workload, for example order-entry
    #[arg(hide_possible_values = true, value_parser = Known(workloads_known))]
    pub workload: String,
    /// Table; without it, the workload's tables are listed
    pub table: Option<String>,
    /// A setting of the workload, for example warehouses=2; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings_known))]
    pub set: Vec<String>,
    /// Only part N of M, for example 1/4; the parts together are the table
    #[arg(long, value_name = "N/M")]
    pub part: Option<String>,
    /// Print each table's number of rows and checksum instead of rows
    #[arg(long)]
    pub checksum: bool,
}

/// What is done to a database, in the order in which it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// Drop the workload's own tables, and say which
    Clean,
    /// Make the tables and fill them; refused while any of them exists
    Load,
    /// Drive the load and report
    Run,
    /// Check the data, and after a run in the same command also against the answers clients got
    Check,
}

/// Whoever measures more often is not at the screen any more.
const MOST_REPEATS: i64 = 1000;

#[derive(Debug, Args)]
pub struct DriveOptions {
    /// Workload, for example order-entry
    #[arg(hide_possible_values = true, value_parser = Known(workloads_known))]
    pub workload: String,
    /// Server and database: postgres://user@host:port/database?sslmode=…, mysql://…, mariadb://… or sqlite:FILE.
    /// What it leaves out comes from the variables and files that the database's own programs read
    pub url: String,
    /// A setting of the workload, for example warehouses=10; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", add = ArgValueCompleter::new(settings_known))]
    pub set: Vec<String>,
    /// With the workload `file`: a script of your own transactions as pgbench takes them, and its weight; may be repeated
    #[arg(short, long, value_name = "FILE[@WEIGHT]")]
    pub file: Vec<String>,
    /// With the workload `file`: statements that make and fill the tables, for `--steps load`
    #[arg(long, value_name = "FILE")]
    pub setup_file: Vec<String>,
    /// With the workload `file`: queries that must return no rows, for `--steps check`
    #[arg(long, value_name = "FILE")]
    pub check_file: Vec<String>,
    /// With the workload `file`: time each statement by itself
    #[arg(short = 'r', long, visible_alias = "report-per-command")]
    pub statement_latencies: bool,
    /// What is done, in this order
    #[arg(long, value_name = "STEP,…", value_delimiter = ',', default_value = "run")]
    pub steps: Vec<Step>,
    /// Clients that work back to back, each with a session of its own [default: 1]
    #[arg(short = 'c', long, value_name = "N", group = "pacing")]
    pub clients: Option<u32>,
    /// Clients that pause as the workload says, and share sessions
    #[arg(long, value_name = "N", group = "pacing")]
    pub terminals: Option<u32>,
    /// Transactions that arrive at a rate whether or not the database keeps up, for example 500/s; a bare number is per second
    #[arg(short = 'R', long, visible_alias = "rate", value_name = "RATE", group = "pacing")]
    pub arrivals: Option<String>,
    /// How arrivals are spread: poisson or uniform
    #[arg(long, requires = "arrivals")]
    pub process: Option<String>,
    /// Sessions that terminals or arrivals share
    #[arg(long, value_name = "N", conflicts_with = "clients")]
    pub sessions: Option<u32>,
    /// How long it is measured; a bare number is in seconds
    #[arg(short = 'T', long, value_name = "SPAN", default_value = "60s")]
    pub time: String,
    /// How long the load runs before it is measured
    #[arg(long, value_name = "SPAN", default_value = "5s")]
    pub warmup: String,
    /// Time between two lines of the live display, in whole seconds
    #[arg(short = 'P', long, value_name = "SPAN", default_value = "1s")]
    pub interval: String,
    /// Threads of the load engine; 0 means one for each CPU it may use
    #[arg(short = 'j', long, visible_alias = "threads", value_name = "N", default_value_t = 0)]
    pub shards: u32,
    /// Count the transactions that took longer than this, for example 50ms; a bare number is in milliseconds
    #[arg(short = 'L', long, value_name = "SPAN")]
    pub latency_limit: Option<String>,
    /// The same seed gives the same inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Retries of a transaction after a deadlock or serialization failure, with the same inputs
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub retries: u32,
    /// Connections that load side by side
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub writers: u32,
    /// Print one JSON document a line on standard output: each interval, each step, and the result
    #[arg(long)]
    pub json: bool,
    /// Measure so many times, one after another, for a mean with its confidence interval
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_REPEATS))]
    pub repeat: u32,
    /// Keep the run in this folder, which is made, for `report` and `compare`
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CompletionsOptions {
    pub shell: clap_complete::Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_in_per_cent_with_or_without_the_sign() {
        let near = |text: &str, share: f64| percent(text).is_ok_and(|found| (found - share).abs() < 1e-12);
        assert!(near("3%", 0.03) && near("0.5 %", 0.005) && near("0%", 0.0) && near("3", 0.03));
        for wrong in ["100", "100%", "-1%", "3%%", "%", "nan%", "", "three%"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
