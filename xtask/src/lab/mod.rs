//! `cargo xtask lab`: hosts as users have them, in QEMU: systemd, control groups v2, two memory nodes, a working KVM, and
//! a user who is not root.
//!
//! QEMU emulates a processor with AMD's virtualization, so a stock kernel in it offers KVM. Speeds in it mean nothing; it
//! shows what works.

mod check;
mod host;
mod images;
mod machine;

use anyhow::{Context, ensure};
use clap::{Subcommand, ValueEnum};
use host::LabHost;
use std::path::Path;
use std::process::Command;

#[derive(Subcommand)]
pub enum LabAct {
    /// Make the lab's host if it is not there, and boot it
    Up {
        #[arg(value_enum, default_value_t = LabKind::Debian12)]
        kind: LabKind,
    },
    /// Run a command in it, with the bakeoff of this checkout in the path; ends with its exit code
    Run {
        #[arg(long, value_enum, default_value_t = LabKind::Debian12)]
        kind: LabKind,
        /// The user who runs it; dba is in group kvm
        #[arg(long = "as", value_parser = ["root", "dba"], default_value = "root")]
        user: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<String>,
    },
    /// Run the lab's study in it as that user, and check the record and what is left
    Check {
        #[arg(value_enum, default_value_t = LabKind::Debian12)]
        kind: LabKind,
        #[arg(long = "as", value_parser = ["root", "dba"], default_value = "root")]
        user: String,
    },
    /// Power it off
    Down {
        #[arg(value_enum, default_value_t = LabKind::Debian12)]
        kind: LabKind,
    },
}

/// The system of a lab's host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabKind {
    #[value(name = "debian-12")]
    Debian12,
    #[value(name = "debian-13")]
    Debian13,
}

impl LabKind {
    fn name(self) -> &'static str {
        match self {
            Self::Debian12 => "debian-12",
            Self::Debian13 => "debian-13",
        }
    }

    fn suite(self) -> &'static str {
        match self {
            Self::Debian12 => "bookworm",
            Self::Debian13 => "trixie",
        }
    }
}

/// Returns the exit code of what ran in the lab; 0 for anything else.
pub fn run(root: &Path, act: &LabAct) -> anyhow::Result<u8> {
    match act {
        LabAct::Up { kind } => {
            up(root, *kind)?;
            println!("{} is up: cargo xtask lab run --kind {0} -- bakeoff doctor", kind.name());
            Ok(0)
        }
        LabAct::Run { kind, user, command } => {
            let host = LabHost::of(root, *kind);
            ensure!(host.is_up(), "{} is not up: cargo xtask lab up {0}", kind.name());
            host.receive(&program(root)?)?;
            host.run(user, command)
        }
        LabAct::Check { kind, user } => check::check(&up(root, *kind)?, *kind, user).map(|()| 0),
        LabAct::Down { kind } => LabHost::of(root, *kind).down().map(|()| 0),
    }
}

fn up(root: &Path, kind: LabKind) -> anyhow::Result<LabHost> {
    let program = program(root)?;
    let host = LabHost::of(root, kind);
    if !host.is_up() {
        machine::boot(&host, &machine::files(root, &program, kind)?)?;
    }
    host.receive(&program)?;
    images::copy(&host, &program)?;
    Ok(host)
}

/// The bakeoff of this checkout.
fn program(root: &Path) -> anyhow::Result<std::path::PathBuf> {
    let built = Command::new("cargo").args(["build", "--quiet", "--workspace", "--bins"]).current_dir(root).status()?;
    ensure!(built.success(), "bakeoff does not compile");
    let own = std::env::current_exe()?;
    Ok(own.parent().context("a program lies in a folder")?.join("bakeoff"))
}
