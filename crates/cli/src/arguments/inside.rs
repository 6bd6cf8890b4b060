//! Arguments of what bakeoff itself starts in machines and on other hosts. No help, tip or completion offers these commands.

use clap::Parser;
use std::net::SocketAddr;
use std::path::PathBuf;

/// `bakeoff there`, on another host.
#[derive(Debug, Parser)]
#[command(name = "bakeoff there")]
pub enum ThereOptions {
    /// Keep the folder of a run until standard input ends, then remove it
    Keep {
        /// Folder of all runs of this user
        parent: PathBuf,
        /// Name of the run
        name: String,
        /// What ssh says about the connection: addresses and ports of both ends
        connection: String,
    },
    /// Run a machine, as ordered on standard input, in the folder of a run
    Run { folder: PathBuf },
}

/// `bakeoff agent`, in a machine.
#[derive(Debug, Parser)]
#[command(name = "bakeoff agent")]
pub struct AgentOptions {
    /// Folder that is the machine's data disk
    #[arg(long)]
    pub data: PathBuf,
    /// Folder for the server's logs
    #[arg(long, default_value = "/run/bakeoff/logs")]
    pub logs: PathBuf,
    /// Listen here for one conductor that has the token, instead of speaking on standard input and output
    #[arg(long, value_name = "ADDRESS:PORT", requires = "token_file")]
    pub listen: Option<SocketAddr>,
    /// File with the token, 32 hexadecimal digits or more, that nobody else can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
}
