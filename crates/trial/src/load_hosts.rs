//! The hosts that load comes from: each is opened once in a run, and drives its share of every trial that names it.

use crate::few_at_once::few_at_once;
use crate::preparation::error::PreparationError;
use crate::site::Site;
use machines::interrupts::Interrupts;
use machines::machine::{Machine, MachineError};
use machines::scratch::{MachineScratch, Scratch};
use platforms::host::keeper;
use platforms::host::settings::HostSettings;
use platforms::platform::OpenOrder;
use record::event::Event;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use study::TypedCell;

/// A host as a run has opened it. Dropped in this order: the host is left before its folder here is removed.
pub struct OpenLoadHost {
    pub name: String,
    /// The address of this host as it is reached from there, if that is known.
    our_address: Option<IpAddr>,
    host: keeper::KeptLoadHost,
    _scratch: MachineScratch,
}

impl fmt::Debug for OpenLoadHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("LoadHost").field(&self.name).finish()
    }
}

impl OpenLoadHost {
    /// An identity that only its machine has.
    pub fn machine(&self) -> &str {
        self.host.machine()
    }

    /// Starts an agent there. `scratch` is its folder on this host.
    pub fn start(&self, name: &str, scratch: &Path) -> Result<Box<dyn Machine>, MachineError> {
        self.host.start(name, scratch)
    }
}

/// All that a run has opened, by their entries in the study.
#[derive(Debug, Default)]
pub struct LoadHosts(BTreeMap<study::LoadHost, Arc<OpenLoadHost>>);

impl LoadHosts {
    /// The hosts of a cell, in its order; opens those that no earlier cell has opened.
    pub fn of(
        &mut self,
        cell: &TypedCell,
        site: &Site,
        scratch: &Scratch,
        interrupts: &Interrupts,
        tell: &mut dyn FnMut(Event),
    ) -> Result<Vec<Arc<OpenLoadHost>>, PreparationError> {
        let missing = cell.load.from.iter().filter(|asked| !self.0.contains_key(asked)).zip(self.0.len() + 1..);
        let missing: Vec<_> = missing.collect();
        let open = |(asked, number)| -> Result<_, PreparationError> {
            Ok((asked, opened(asked, number, site, scratch, interrupts)?))
        };
        for (asked, host) in few_at_once(missing, open)? {
            for text in host.host.notes() {
                tell(Event::Warning { text });
            }
            self.0.insert(asked.clone(), Arc::new(host));
        }
        Ok(cell.load.from.iter().filter_map(|asked| self.0.get(asked).cloned()).collect())
    }
}

fn opened(
    asked: &study::LoadHost,
    number: usize,
    site: &Site,
    scratch: &Scratch,
    interrupts: &Interrupts,
) -> Result<OpenLoadHost, PreparationError> {
    let own = scratch.machine(&format!("load-host-{number}"))?;
    let run = scratch.path().file_name().unwrap_or_default().display();
    // Two names may be of one host.
    let name = format!("{run}-load-{number}");
    let order = OpenOrder { name: &name, ..site.opening(own.path(), interrupts) };
    let host = keeper::KeptLoadHost::open(HostSettings::of_load(&asked.name, &asked.ssh_options), &order)
        .map_err(|error| PreparationError::LoadHost { host: asked.name.clone(), error })?;
    let our_address = asked.our_address.or(host.our_address());
    Ok(OpenLoadHost { name: asked.name.clone(), our_address, host, _scratch: own })
}

/// The address of this host at which load from these hosts reaches servers on it.
pub fn our_address(load_hosts: &[Arc<OpenLoadHost>]) -> Result<IpAddr, MachineError> {
    let unavailable = |why| MachineError::Unavailable { why };
    let Some(first) = load_hosts.first() else { return Ok(Ipv4Addr::LOCALHOST.into()) };
    let known = |host: &OpenLoadHost| {
        let why = || format!("the address at which the load host {} reaches this host is not known", host.name);
        host.our_address.ok_or_else(|| unavailable(format!("{}; give load.address", why())))
    };
    let address = known(first)?;
    for other in &load_hosts[1..] {
        let own = known(other)?;
        if own != address {
            return Err(unavailable(format!(
                "the load host {} reaches this host at {address}, and {} at {own}; give load.address one that all of \
                     them reach",
                first.name, other.name
            )));
        }
    }
    Ok(address)
}
