//! The fleet that a file describes.

use crate::exit::EndedWith;
use crate::origin;
use analysis::many_runs::hexadecimal;
use anyhow::{Context, Result};
use fleet::bridge::{Bridge, FarEnd};
use fleet::{Arrangement, Build, FleetError};
use platforms::host::lines::{Far, HostProgram, HostScripts};
use sha2::{Digest, Sha256};
use std::io::{self, PipeWriter};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

/// As the first word of a command line in records and errors.
const NATS: &str = "nats";

#[derive(Debug)]
struct OverNats {
    fleet: String,
    bridge: Bridge,
}

struct AtTheEnd(FarEnd);

impl HostScripts for OverNats {
    fn run(&self, host: &str, script: &str, errors: PipeWriter) -> io::Result<HostProgram> {
        let program = self.bridge.run(host, script, errors).map_err(io::Error::other)?;
        let command_line = [NATS, &self.fleet, host, "sh", "-c", script].map(str::to_owned).to_vec();
        Ok(HostProgram {
            input: program.input,
            output: program.output,
            far: Box::new(AtTheEnd(program.end)),
            command_line,
        })
    }

    fn may_be_away(&self) -> Duration {
        fleet::AWAY_LIMIT
    }
}

impl Far for AtTheEnd {
    fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        Ok(self.0.wait(limit).map(|code| ExitStatus::from_raw(code << 8)))
    }
}

pub fn read(file: &Path) -> Result<Arrangement> {
    Ok(Arrangement::read(file).map_err(|error| EndedWith::bad_input(error.to_string()))?)
}

pub fn connect(to: &Arrangement) -> Result<Bridge> {
    let bridge = Bridge::connect(to, build()?);
    Ok(bridge.map_err(|error| match error {
        FleetError::Arrangement(_) | FleetError::Login { .. } | FleetError::Tls { .. } => {
            EndedWith::bad_input(error.to_string())
        }
        error => EndedWith::host(error.to_string()),
    })?)
}

/// The hosts of the fleet, for a run.
pub fn lines(file: &Path) -> Result<Arc<dyn HostScripts>> {
    let arrangement = read(file)?;
    let bridge = connect(&arrangement)?;
    Ok(Arc::new(OverNats { fleet: arrangement.name, bridge }))
}

/// This program. Agents of another one are refused, also if it has the same version.
pub fn build() -> Result<Build> {
    let program = std::env::current_exe().and_then(std::fs::read).context("reading this program's own file")?;
    let sha256 = hexadecimal(&Sha256::digest(&program));
    Ok(Build { version: origin::version().to_owned(), sha256 })
}
