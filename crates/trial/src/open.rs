//! A platform as a run has opened it for one contender, with what it needs to exist.

use crate::site::Site;
use engines::server::Endpoint;
use images::Image;
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::scratch::MachineScratch;
use platforms::platform::{OpenOrder, Platform};
use std::path::Path;
use std::sync::Arc;
use study::TypedCell;

/// Dropped in this order: a platform is closed before its folder is removed.
#[derive(Debug)]
pub struct OpenPlatform {
    pub platform: Arc<dyn Platform>,
    /// `None` on a platform that needs none.
    pub image: Option<Image>,
    /// The server that runs already, on a platform where one does.
    pub server: Option<Endpoint>,
    scratch: MachineScratch,
}

impl OpenPlatform {
    pub fn of(
        cell: &TypedCell,
        image: Option<Image>,
        site: &Site,
        scratch: MachineScratch,
        run: &str,
        interrupts: &Interrupts,
    ) -> Result<Self, MachineError> {
        let running = cell.platform.running_server();
        let server = running.map(|url| server(url, cell, site)).transpose()?;
        // Two contenders may be on one host.
        let name = format!("{run}-{}", scratch.path().file_name().unwrap_or_default().display());
        let order = OpenOrder { image: image.as_ref(), name: &name, ..site.opening(scratch.path(), interrupts) };
        let platform = Arc::from(cell.platform.open(&order)?);
        Ok(Self { platform, image, server, scratch })
    }

    /// A folder of this run for what is known of data that are elsewhere.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }
}

fn server(url: &str, cell: &TypedCell, site: &Site) -> Result<Endpoint, MachineError> {
    let unavailable = |why| MachineError::Unavailable { why };
    let endpoint = (site.find_server)(url).map_err(unavailable)?;
    let (asked, found) = (cell.engine.entry.kind, endpoint.dialect());
    let fits = cell.engine.entry.dialect == found;
    let why = || format!("platform.database is the address of a {} server, and engine.kind is {asked}", found.name());
    if fits { Ok(endpoint) } else { Err(unavailable(why())) }
}

/// Distinguishes contenders that need a platform of their own.
pub fn key(cell: &TypedCell) -> String {
    format!("{} {:?} {}", cell.platform_kind(), cell.platform, cell.machine.image)
}
