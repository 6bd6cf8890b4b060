//! A vCenter server as a platform.

use super::keeper::{LEASES, VsphereKeeper};
use super::machine;
use super::settings::VsphereSettings;
use crate::lease::{Lease, LeaseOrder};
use crate::order::{Launched, MachineOrder};
use crate::platform::{OpenOrder, Platform};
use images::data::{DataDisk, DataError};
use machines::machine::{Machine, MachineError};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Shared with machines and leases, which need the session for their end.
struct SharedSession(Arc<VsphereKeeper>);

pub fn open(settings: &VsphereSettings, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
    Ok(Box::new(SharedSession(Arc::new(VsphereKeeper::open(settings.clone(), order)?))))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DataError {
    let path = path.to_owned();
    move |cause| DataError::Io { what, path, cause }
}

impl Platform for SharedSession {
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    fn lease(&self, order: &LeaseOrder<'_>) -> Result<Lease, DataError> {
        let path = Path::new(LEASES).join(order.scratch.file_name().unwrap_or_default());
        // That of an earlier start in this folder.
        self.0.give_back(&path);
        let copied = self.0.lease(order.loaded, &path);
        copied.map_err(|error| failed("copy the machine with the data to", &path)(io::Error::other(error)))?;
        let (keeper, lent) = (Arc::clone(&self.0), path.clone());
        Ok(Lease::elsewhere(path, move || keeper.give_back(&lent)))
    }

    fn start(&self, order: &MachineOrder, launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
        let DataDisk::Folder(path) = &order.data else {
            return Err(MachineError::Unavailable { why: "its data are not on the server".to_owned() });
        };
        let made = self.0.machine_with(path).map_err(|error| error.while_doing("making the machine"))?;
        let decided = self.0.set(&made, order)?;
        machine::start(&self.0, &made, decided, launched)
    }

    fn require_space(&self, data: &Path, bytes: u64) -> Result<(), DataError> {
        self.0.require_free(bytes).map_err(failed("find room for", data))
    }

    fn require_room_in(&self, data: &Path) -> Result<(), DataError> {
        self.0.require_free_again().map_err(failed("find room for", data))
    }

    fn copy_within(&self, data: &Path, _: &[String]) -> Result<(), DataError> {
        let why = "further databases of a machine of vSphere must share one server (engine.shared_server)";
        Err(failed("copy the data in", data)(io::Error::new(io::ErrorKind::Unsupported, why)))
    }
}
