//! A PostgreSQL server of our own for a race, and psql as its client.

use super::RaceGround;
use super::conversation::TimedConversation;
use anyhow::{Context, ensure};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where Debian keeps a server's programs, psql among them.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
/// The shape for which the server is configured.
const VCPUS: u32 = 2;
const MEMORY_BYTES: u64 = 2 << 30;

pub struct RacePostgres {
    pub conversation: TimedConversation,
    /// Host, port, user and database, as psql takes them.
    address: [String; 4],
}

impl RacePostgres {
    /// Starts a new, empty server with its data in `folder`.
    pub fn start(ground: &RaceGround, folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder.join("data")).with_context(|| format!("making {}", folder.display()))?;
        let mut conversation = TimedConversation::start(ground, folder)?;
        let reply = conversation.ask(&json!({
            "request": "start-server",
            "engine": { "kind": "postgres", "settings": { "profile": "sized", "isolation": "read committed" } },
            "shape": { "vcpus": VCPUS, "memory_bytes": MEMORY_BYTES },
            "listen": null,
        }))?;
        let address = ["host", "port", "user", "database"].map(|key| conversation.of_endpoint(&reply, key));
        Ok(Self { conversation, address })
    }

    /// Starts psql on a script; psql stops at the first error.
    pub fn psql(&self, script: &Path) -> anyhow::Result<Child> {
        let [host, port, user, database] = &self.address;
        Command::new(PathBuf::from(PROGRAMS).join("psql"))
            .args(["--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1"])
            .args(["--host", host, "--port", port, "--username", user, "--dbname", database, "--file"])
            .arg(script)
            .stdin(Stdio::null())
            .spawn()
            .context("starting psql")
    }

    /// Runs scripts in parallel and waits for all of them.
    pub fn run(&self, scripts: &[PathBuf]) -> anyhow::Result<()> {
        let started: Vec<Child> = scripts.iter().map(|script| self.psql(script)).collect::<anyhow::Result<_>>()?;
        for mut process in started {
            ensure!(process.wait().context("waiting for psql")?.success(), "psql failed");
        }
        Ok(())
    }
}
