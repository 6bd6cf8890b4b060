//! Arguments of `bakeoff fleet`.

use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Start agents as the fleet's file says, over ssh or as a job of Slurm, and wait until all are there
    Up(FleetUpOptions),
    /// Print the job of Kubernetes that starts the agents, as JSON for `kubectl apply -f -`
    Manifest(FleetFile),
    /// Show which agents are there, and their load, clock and version
    Status(FleetStatusOptions),
    /// End all agents, with all that they run
    Down(FleetFile),
    /// Be the agent of this host, until asked to end or the server stays away
    Agent(FleetAgentOptions),
}

#[derive(Debug, Args)]
pub struct FleetFile {
    /// The file that describes the fleet
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct FleetUpOptions {
    #[command(flatten)]
    pub fleet: FleetFile,
    /// How long to wait for all agents; those of Slurm wait for free nodes
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    pub wait: Duration,
}

#[derive(Debug, Args)]
pub struct FleetStatusOptions {
    #[command(flatten)]
    pub fleet: FleetFile,
    /// Print it as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FleetAgentOptions {
    #[command(flatten)]
    pub fleet: FleetFile,
    /// The name by which studies know this host; its host name unless given
    #[arg(long)]
    pub name: Option<String>,
    /// Remove this folder at the end
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub remove: Option<PathBuf>,
}
