//! `bakeoff fleet`: the agents of hosts that are reached over NATS.

use crate::arguments::FleetCommand;
use crate::exit::Exit;
use anyhow::Result;

#[cfg(not(feature = "nats"))]
pub fn fleet(_: &FleetCommand) -> Result<Exit> {
    Err(crate::fleet::unavailable().into())
}

#[cfg(feature = "nats")]
mod manifest;
#[cfg(feature = "nats")]
mod placing;
#[cfg(feature = "nats")]
mod there;

#[cfg(feature = "nats")]
pub fn fleet(command: &FleetCommand) -> Result<Exit> {
    match command {
        FleetCommand::Up(options) => placing::up(options),
        FleetCommand::Manifest(options) => manifest::manifest(&options.file),
        FleetCommand::Status(options) => there::status(options),
        FleetCommand::Down(options) => placing::down(&options.file),
        FleetCommand::Agent(options) => there::agent(options),
    }
}
