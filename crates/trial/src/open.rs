//! A platform as a run has opened it for one contender, with what it needs to exist.

use crate::cell::CellOrder;
use crate::site::Site;
use engines::server::Endpoint;
use images::Image;
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::scratch::MachineScratch;
use platforms::entry::PlatformEntry;
use platforms::platform::{OpenOrder, Platform};
use std::path::Path;
use std::sync::Arc;

/// Dropped in this order: a platform is closed before its folder is removed.
#[derive(Debug)]
pub struct Open {
    pub platform: Arc<dyn Platform>,
    pub entry: &'static PlatformEntry,
    /// `None` on a platform that needs none.
    pub image: Option<Image>,
    /// The server that runs already, on a platform where one does.
    pub server: Option<Endpoint>,
    scratch: MachineScratch,
}

impl Open {
    pub fn of(
        cell: &CellOrder,
        image: Option<Image>,
        site: &Site,
        scratch: MachineScratch,
        run: &str,
        interrupts: &Interrupts,
    ) -> Result<Self, MachineError> {
        let entry = site.platform(&cell.platform.kind)?;
        let running = platforms::catalog::running_server(entry.kind, &cell.platform.settings);
        let server = running.map(|url| server(&url, cell, site)).transpose()?;
        // Two contenders may be on one host.
        let name = format!("{run}-{}", scratch.path().file_name().unwrap_or_default().display());
        let order = OpenOrder {
            agent: &site.agent,
            image: image.as_ref(),
            scratch: scratch.path(),
            name: &name,
            credentials: &site.credentials,
            lines: site.lines.as_ref(),
            interrupts,
        };
        let platform = Arc::from((entry.open)(&cell.platform.settings, &order)?);
        Ok(Self { platform, entry, image, server, scratch })
    }

    /// A folder of this run for what is known of data that are elsewhere.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }
}

fn server(url: &str, cell: &CellOrder, site: &Site) -> Result<Endpoint, MachineError> {
    let unavailable = |why| MachineError::Unavailable { why };
    let endpoint = (site.find_server)(url).map_err(unavailable)?;
    let (asked, found) = (&cell.engine.kind, endpoint.dialect());
    let fits = engines::catalog::entry(asked).is_some_and(|engine| engine.dialect == found);
    let why = || format!("platform.database is the address of a {} server, and engine.kind is {asked}", found.name());
    if fits { Ok(endpoint) } else { Err(unavailable(why())) }
}

/// Tells contenders apart that need a platform of their own.
pub fn key(cell: &CellOrder) -> String {
    format!("{} {:?} {}", cell.platform.kind, cell.platform.settings, cell.machine.image)
}
