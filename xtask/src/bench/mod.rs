//! Races against peers: our way, and the simplest way to do the same with other tools, on this machine and in turn.
//!
//! Absolute times show only the machine's speed, so each race ends in a ratio. Nothing of ours is linked here: the
//! release binary is raced as users run it, and spoken to through its agent's protocol.

mod bar;
mod boot;
mod conversation;
mod disk;
mod driver;
mod load;
mod order_entry;
mod ratio;
mod rows;
mod stamps;
mod statistics;
mod study;
mod table;

use anyhow::{Context, ensure};
use clap::Subcommand;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Subcommand)]
pub enum Race {
    /// Loading order-entry into PostgreSQL, against psql's \copy of the same rows from files
    Load {
        #[arg(long, default_value_t = 10)]
        warehouses: u32,
        /// Connections that load at the same time, for both
        #[arg(long, default_value_t = 2)]
        writers: u32,
        #[arg(long, default_value_t = 3)]
        rounds: u32,
    },
    /// From start to the first transaction in a guest, against a hand-written QEMU command line
    Boot {
        #[arg(long, default_value_t = 3)]
        rounds: u32,
    },
    /// Rows generated per second by one core, against the rate at which COPY takes them from a file
    Rows {
        #[arg(long, default_value_t = 2)]
        warehouses: u32,
        #[arg(long, default_value_t = 3)]
        rounds: u32,
    },
    /// The load engine against pgbench and sysbench on the same tables: CPU per statement and throughput
    Driver {
        #[arg(long, default_value_t = 5)]
        rounds: u32,
        /// Length of one turn
        #[arg(long, default_value_t = 8)]
        seconds: u32,
        /// Only what has this in its name, for example "MariaDB" or "arrivals"
        #[arg(long, default_value = "")]
        only: String,
        /// Race this other bakeoff instead, to see what a change of the load engine costs
        #[arg(long)]
        before: Option<PathBuf>,
    },
    /// Order-entry over TCP: plain and pipelined statements, procedures, and go-tpc if it is installed
    OrderEntry {
        #[arg(long, default_value_t = 10)]
        warehouses: u32,
        #[arg(long, default_value_t = 5)]
        rounds: u32,
        /// Length of one turn
        #[arg(long, default_value_t = 4)]
        seconds: u32,
        /// Only what has this in its name, for example "MariaDB" or "64 clients"
        #[arg(long, default_value = "")]
        only: String,
    },
    /// What the disk that can lose power adds to a commit when it loses nothing, against a plain file; needs root
    Disk {
        #[arg(long, default_value_t = 9)]
        rounds: u32,
        /// Of one turn
        #[arg(long, default_value_t = 200)]
        commits: u32,
    },
    /// Whether stamps are right where the truth is known: A/A studies, and disturbances planted beside one of two equal contenders
    Stamps {
        /// A/A studies of ten blocks, alone and beside another program each
        #[arg(long, default_value_t = 10)]
        studies: u32,
        /// Only what has this in its name, for example "nothing", "quota" or "cache"
        #[arg(long, default_value = "")]
        only: String,
    },
    /// The analysis against the truth of simulated studies: coverage of its intervals, false alarms, differences found
    Statistics {
        /// Of equal contenders, for each number of blocks
        #[arg(long, default_value_t = 2_000)]
        studies: u32,
    },
}

pub fn run(root: &Path, race: &Race) -> anyhow::Result<()> {
    let ground = || RaceGround::prepare(root);
    match race {
        Race::Load { warehouses, writers, rounds } => load::race(&ground()?, *warehouses, (*writers).max(1), *rounds),
        Race::Boot { rounds } => boot::race(&ground()?, *rounds),
        Race::Rows { warehouses, rounds } => rows::race(&ground()?, *warehouses, *rounds),
        Race::Driver { rounds, seconds, only, before } => {
            driver::race(&ground()?, before.as_deref(), *rounds, *seconds, only)
        }
        Race::OrderEntry { warehouses, rounds, seconds, only } => {
            order_entry::race(&ground()?, *warehouses, *rounds, *seconds, only)
        }
        Race::Disk { rounds, commits } => disk::race(root, *rounds, *commits),
        Race::Stamps { studies, only } => stamps::race(&ground()?, *studies, only),
        Race::Statistics { studies } => statistics::simulate(root, *studies),
    }
}

/// The place of races: the project, its release binary, and a folder that is emptied for each race.
pub struct RaceGround {
    pub root: PathBuf,
    pub bakeoff: PathBuf,
    pub folder: PathBuf,
    /// bakeoff's cache for races, kept from one race to the next.
    pub cache: PathBuf,
}

/// Prefixes of the variables in which cargo describes a program's own package.
const OF_THIS_PACKAGE: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

impl RaceGround {
    fn prepare(root: &Path) -> anyhow::Result<Self> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--package", "bakeoff"]).current_dir(root);
        // These variables would reach build scripts, too, and make cargo rebuild a lot.
        for name in std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()) {
            if OF_THIS_PACKAGE.iter().any(|of| name.starts_with(of)) {
                cargo.env_remove(name);
            }
        }
        let built = cargo.status().context("starting cargo")?;
        ensure!(built.success(), "bakeoff could not be built");
        let target = target(root);
        let folder = target.join("races");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).with_context(|| format!("emptying {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(Self {
            root: root.to_path_buf(),
            bakeoff: target.join("x86_64-unknown-linux-gnu/release/bakeoff"),
            folder,
            cache: target.join("races-cache"),
        })
    }

    /// The same with a folder in memory. Whoever holds the second value keeps the folder.
    fn in_memory(&self) -> anyhow::Result<(Self, Emptied)> {
        let folder = PathBuf::from("/dev/shm").join(format!("bakeoff-race-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let emptied = Emptied(folder.clone());
        Ok((
            Self { root: self.root.clone(), bakeoff: self.bakeoff.clone(), folder, cache: self.cache.clone() },
            emptied,
        ))
    }
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}

/// A folder that goes with the race, also if the race fails.
struct Emptied(PathBuf);

impl Drop for Emptied {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("removing {}: {error}", self.0.display());
        }
    }
}
