//! Commands for new users, and for what is kept between runs.

use super::known::{files_known, folders_known, runs_known};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::ArgValueCompleter;
use std::path::PathBuf;

/// What a study to begin with compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Compared {
    /// A virtual machine with the same software on the host
    NativeVm,
    /// Two cache modes of a virtual machine's disk
    DiskCache,
    /// All versions of the database that there are images of
    Versions,
}

#[derive(Debug, Args)]
pub struct InitOptions {
    /// File to write; - is standard output
    #[arg(default_value = "study.toml", add = ArgValueCompleter::new(files_known))]
    pub file: PathBuf,
    /// Database [default: postgres]
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(engines::catalog::ENGINES.iter().map(|entry| entry.kind)))]
    pub engine: Option<String>,
    /// What is compared [default: native-vm]
    #[arg(long)]
    pub compare: Option<Compared>,
    /// Size of the data in warehouses of about 100 MB [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub warehouses: Option<u32>,
    /// How long the run may take [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub minutes: Option<u32>,
}

#[derive(Debug, Args)]
pub struct OpenOptions {
    /// Run folder, the beginning of its name, last or last-1
    #[arg(default_value = "last", add = ArgValueCompleter::new(runs_known))]
    pub run: PathBuf,
}

#[derive(Debug, Args)]
pub struct CacheOptions {
    #[command(subcommand)]
    pub command: Option<CacheCommand>,
}

#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Remove images, loaded data and all else in the cache; the next run makes them again
    Clean,
}

#[derive(Debug, Args)]
pub struct ManOptions {
    /// Folder for the pages; it is made
    #[arg(add = ArgValueCompleter::new(folders_known))]
    pub dir: PathBuf,
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
        /// Kernel that goes with it, as machine.kernel of a study has it [default: host if it can be read, else debian-12]
        #[arg(long)]
        kernel: Option<String>,
        /// Build even if it is in the cache
        #[arg(long)]
        force: bool,
        /// Folder with your own recipes, which replace built-in recipes of the same name
        #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        recipes: Option<PathBuf>,
    },
    /// Write an image with bakeoff in it as an OCI archive, for container engines and clusters
    Export {
        /// Recipe, for example postgres
        recipe: String,
        /// The archive
        #[arg(value_hint = clap::ValueHint::FilePath)]
        file: PathBuf,
        /// Folder with your own recipes, which replace built-in recipes of the same name
        #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        recipes: Option<PathBuf>,
    },
    /// List recipes and what was built of them
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
        /// Folder with your own recipes, which replace built-in recipes of the same name
        #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        recipes: Option<PathBuf>,
    },
}
