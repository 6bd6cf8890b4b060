//! Destroys folders of machines: our own at the end, and those of processes that were killed.
//!
//! A sweep of this host cannot undo them, because it knows no password. So that is done when the server is used again.

use super::client::{VsphereClient, VsphereError};
use super::owner::{Owner, OwnerState};
use super::request::{Call, Reference};
use machines::scratch::{Kept, ScratchError, record_kept};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const POWER_LIMIT: Duration = Duration::from_mins(5);
/// Removing files of hundreds of gigabytes.
const DESTROY_LIMIT: Duration = Duration::from_mins(30);
/// A run of another host that began longer ago may have been forgotten.
const OLD_S: u64 = 7 * 24 * 60 * 60;
const DAY_S: u64 = 24 * 60 * 60;
const POWERED_OFF: &str = "poweredOff";

/// A folder of machines, as a ledger names it.
#[derive(Debug, Serialize, Deserialize)]
struct KeptFolder {
    server: String,
    name: String,
}

/// Writes a folder on a server into the ledger of `scratch`. Must be called before it is made.
pub fn record(scratch: &Path, server: &str, name: &str) -> Result<(), ScratchError> {
    let folder = KeptFolder { server: server.to_owned(), name: name.to_owned() };
    record_kept(scratch, Kept { platform: super::KIND.to_owned(), what: json!(folder) })
}

/// Says what a run that was killed may have left on a server.
pub fn tell(what: &Value) -> Result<String, String> {
    let folder = KeptFolder::deserialize(what).map_err(|error| format!("its ledger is not understood ({error})"))?;
    let KeptFolder { server, name } = folder;
    Ok(format!("{server} may still have {name}; the next run that uses that server removes it"))
}

/// Powers a machine off if it is on, and removes it with its disks. One that is gone is fine.
pub fn destroy_machine(client: &VsphereClient, machine: &Reference) -> Result<(), VsphereError> {
    let destroyed = power_off(client, machine).and_then(|()| destroy(client, machine, "destroying a machine"));
    match destroyed {
        Err(error) if error.is_fault("ManagedObjectNotFound") => Ok(()),
        destroyed => destroyed,
    }
}

pub fn power_off(client: &VsphereClient, machine: &Reference) -> Result<(), VsphereError> {
    let state = client.properties(machine, &["runtime.powerState"])?;
    if state.text("runtime.powerState") == Some(POWERED_OFF) {
        return Ok(());
    }
    match client.task(&Call::without_arguments(machine, "PowerOffVM_Task"), "powering a machine off", POWER_LIMIT) {
        // It went off in between.
        Err(error) if error.is_fault("InvalidPowerState") => Ok(()),
        done => done.map(drop),
    }
}

/// Destroys a folder of ours with all machines in it.
pub fn destroy_folder(client: &VsphereClient, folder: &Reference) -> Result<(), VsphereError> {
    let children = client.properties(folder, &["childEntity"])?;
    let children = children.get("childEntity").map(super::node::Node::references).unwrap_or_default();
    let mut failed = None;
    for machine in children.iter().filter(|child| child.kind == "VirtualMachine") {
        match destroy_machine(client, machine) {
            // The others would wait as long for a server that does not answer.
            Err(error @ VsphereError::Http { .. }) => return Err(error),
            destroyed => failed = destroyed.err().or(failed),
        }
    }
    // It would take its machines with it, but not one that is on.
    failed.map_or(Ok(()), Err)?;
    destroy(client, folder, "removing bakeoff's folder")
}

/// Removes a machine with its disks, or an empty folder.
fn destroy(client: &VsphereClient, object: &Reference, doing: &str) -> Result<(), VsphereError> {
    client.task(&Call::without_arguments(object, "Destroy_Task"), doing, DESTROY_LIMIT).map(drop)
}

/// Destroys what processes of this host left below a folder, and says so. Of those of other hosts it reports only old ones.
pub fn sweep(client: &VsphereClient, below: &Reference, us: &Owner) -> Result<Vec<String>, VsphereError> {
    let mut told = Vec::new();
    let server = client.server();
    for folder in client.all(below, "Folder", &["name"])? {
        let name = folder.name();
        let Some(owner) = Owner::of_folder(&name) else { continue };
        match owner.state(us) {
            OwnerState::Dead => told.push(match destroy_folder(client, &folder.reference) {
                Ok(()) => format!("removed {name} from {server}, left over from a run that was killed"),
                Err(error) => format!("left {name}, of a run that was killed: {error}"),
            }),
            OwnerState::Elsewhere if owner.age_s(us) > OLD_S => {
                let (host, days) = (owner.host(), owner.age_s(us) / DAY_S);
                told.push(format!(
                    "{server} has {name}, made {days} days ago by bakeoff on {host}; remove it if that run has ended"
                ));
            }
            OwnerState::Alive | OwnerState::Elsewhere => {}
        }
    }
    Ok(told)
}
