//! The server as a run uses it: our folder there, the machine that data are loaded in, and its copies.
//!
//! A machine exists as long as its data: the one that data are loaded in as long as the platform, a copy as long as its lease. To
//! start a machine is to power it on.

use super::calls::{self, Clone, CopiedDisk};
use super::client::{VsphereClient, VsphereError};
use super::devices;
use super::inventory::{self, Inventory};
use super::leftovers;
use super::login;
use super::node::Node;
use super::owner::Owner;
use super::request::Reference;
use super::settings::{CloneKind, Provisioning, VsphereSettings};
use super::spec::WantedMachine;
use crate::order::MachineOrder;
use crate::platform::OpenOrder;
use machines::machine::{Decisions, MachineError};
use machines::token::Token;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Copying a database of hundreds of gigabytes.
const CLONE_LIMIT: Duration = Duration::from_hours(4);
const CHANGE_LIMIT: Duration = Duration::from_mins(5);
/// How often the datastore is asked for its room while it fills.
const ROOM_INTERVAL: Duration = Duration::from_secs(10);
/// Left free on a datastore, which others use, too.
const RESERVE_BYTES: u64 = 2 << 30;
/// The snapshot of the loaded machine that linked clones hang on.
const BASE: &str = "loaded";
/// Below it is the data of the leases; all other paths are data that are loaded.
pub(super) const LEASES: &str = "leases";

/// Folders of one process differ in their number.
static FOLDERS: AtomicU32 = AtomicU32::new(1);

/// A machine of ours.
#[derive(Clone, Debug)]
pub(super) struct MadeMachine {
    pub reference: Reference,
    pub name: String,
    pub token: Token,
    token_text: String,
    /// The machine whose data it has a copy of.
    copy_of: Option<String>,
    /// What it was made from, in words.
    origin: String,
    /// The snapshot that its linked clones hang on.
    base: Option<Reference>,
}

pub(super) struct VsphereKeeper {
    pub client: VsphereClient,
    pub settings: VsphereSettings,
    inventory: Inventory,
    us: Owner,
    folder: Reference,
    made: Mutex<BTreeMap<PathBuf, MadeMachine>>,
    number: AtomicU32,
    pub notes: Vec<String>,
    /// When the datastore was last asked for its room.
    asked: Mutex<Option<Instant>>,
}

impl VsphereKeeper {
    pub fn open(settings: VsphereSettings, order: &OpenOrder<'_>) -> Result<Self, MachineError> {
        let client = login::log_in(&settings, order.credentials).map_err(|error| error.unavailable())?;
        let inventory = inventory::find(&client, &settings).map_err(|error| error.unavailable())?;
        let us = Owner::of_us()
            .map_err(|source| MachineError::Io { doing: "finding out which process this is".to_owned(), source })?;
        let notes = leftovers::sweep(&client, &inventory.folder, &us).map_err(|error| error.unavailable())?;
        let name = us.folder_name(FOLDERS.fetch_add(1, Ordering::Relaxed));
        leftovers::record(order.scratch, client.server(), &name).map_err(|error| MachineError::Io {
            doing: "writing down what is made on the server".to_owned(),
            source: io::Error::other(error),
        })?;
        let folder = client
            .call(&calls::create_folder(&inventory.folder, &name))
            .and_then(|answer| client.returned(&answer, "CreateFolder"))
            .map_err(|error| error.unavailable())?;
        Ok(Self {
            client,
            settings,
            inventory,
            us,
            folder,
            made: Mutex::new(BTreeMap::new()),
            number: AtomicU32::new(1),
            notes,
            asked: Mutex::new(None),
        })
    }

    fn made(&self, path: &Path) -> Option<MadeMachine> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn keep(&self, path: &Path, made: &MadeMachine) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), made.clone());
    }

    pub fn config(&self, machine: &Reference) -> Result<Node, VsphereError> {
        let found = self.client.properties(machine, &["config"])?;
        found
            .get("config")
            .cloned()
            .ok_or_else(|| self.client.form("the machine", "it has no configuration".to_owned()))
    }

    /// A copy of a machine that is off, or of a snapshot.
    fn clone(
        &self,
        of: &Reference,
        snapshot: Option<&Reference>,
        path: &Path,
        copy_of: Option<&str>,
    ) -> Result<MadeMachine, VsphereError> {
        let (token, token_text) = Token::drawn()
            .map_err(|error| VsphereError::Unusable(format!("drawing a token for a machine: {error}")))?;
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let words = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{words}.{}.{number}", self.us.mark());
        let is_copy = copy_of.is_some();
        let is_linked = is_copy && self.settings.clone == CloneKind::Linked;
        let disks = if is_copy { self.copied_disks(of)? } else { Vec::new() };
        let Inventory { pool, host, datastore, .. } = &self.inventory;
        let order = Clone {
            folder: &self.folder,
            name: &name,
            pool,
            host: host.as_ref(),
            datastore: datastore.as_ref(),
            snapshot,
            is_linked,
            disks: &disks,
            annotation: "made by bakeoff, which destroys it",
        };
        let what = format!("cloning {}", if is_copy { "the loaded machine" } else { self.settings.template.as_str() });
        let cloned = self.client.task(&calls::clone(of, &order), &what, CLONE_LIMIT)?;
        let reference = cloned.ok_or_else(|| self.client.form("CloneVM_Task", "it names no machine".to_owned()))?;
        let origin = match (is_copy, is_linked) {
            (false, _) => format!("a full clone of {}", self.settings.template),
            (true, false) => "a full clone of the machine that the data were loaded in".to_owned(),
            (true, true) => "a linked clone of the machine that the data were loaded in".to_owned(),
        };
        let copy_of = copy_of.map(str::to_owned);
        Ok(MadeMachine { reference, name, token, token_text, copy_of, origin, base: None })
    }

    fn copied_disks(&self, of: &Reference) -> Result<Vec<CopiedDisk>, VsphereError> {
        let (Some(provisioning), Some(datastore)) = (self.settings.provisioning, &self.inventory.disks_on) else {
            return Ok(Vec::new());
        };
        let copied = |disk: devices::LastDisk| CopiedDisk {
            key: disk.key,
            datastore: datastore.clone(),
            mode: disk.mode,
            is_thin: provisioning == Provisioning::Thin,
            is_zeroed: provisioning == Provisioning::Eager,
        };
        Ok(devices::disks(&self.config(of)?).into_iter().map(copied).collect())
    }

    /// The machine with these data. Data that are not there yet are loaded into a new one.
    pub fn machine_with(&self, path: &Path) -> Result<MadeMachine, VsphereError> {
        if let Some(made) = self.made(path) {
            return Ok(made);
        }
        if path.starts_with(LEASES) {
            return Err(VsphereError::Unusable(format!("the copy {} is gone", path.display())));
        }
        let Inventory { template, snapshot, .. } = &self.inventory;
        let made = self.clone(template, snapshot.as_ref(), path, None)?;
        self.keep(path, &made);
        Ok(made)
    }

    pub fn lease(&self, loaded: &Path, path: &Path) -> Result<MadeMachine, VsphereError> {
        let original = self
            .made(loaded)
            .ok_or_else(|| VsphereError::Unusable(format!("there is no machine with the data {}", loaded.display())))?;
        let base = match (self.settings.clone, &original.base) {
            (CloneKind::Full, _) => None,
            (CloneKind::Linked, Some(base)) => Some(base.clone()),
            (CloneKind::Linked, None) => Some(self.snapshot(loaded, &original)?),
        };
        let copy = self.clone(&original.reference, base.as_ref(), path, Some(&original.name))?;
        self.keep(path, &copy);
        Ok(copy)
    }

    fn snapshot(&self, loaded: &Path, original: &MadeMachine) -> Result<Reference, VsphereError> {
        let call = calls::snapshot(&original.reference, BASE);
        let taken = self.client.task(&call, "taking a snapshot of the loaded machine", CHANGE_LIMIT)?;
        let taken = taken.ok_or_else(|| self.client.form("CreateSnapshot_Task", "it names no snapshot".to_owned()))?;
        self.keep(loaded, &MadeMachine { base: Some(taken.clone()), ..original.clone() });
        Ok(taken)
    }

    pub fn give_back(&self, path: &Path) {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
        // What is left goes with the folder.
        let _ = made.map(|made| leftovers::destroy_machine(&self.client, &made.reference));
    }

    /// Sets a machine's hardware and reads back what the server made of it.
    pub fn set(&self, made: &MadeMachine, order: &MachineOrder) -> Result<Decisions, MachineError> {
        let doing = "setting the machine's hardware";
        let asking = |error: VsphereError| error.while_doing("asking for the machine's hardware");
        let about = self.client.properties(&made.reference, &["config", "runtime.host"]).map_err(asking)?;
        let host = about.reference("runtime.host");
        let host = host.map(|host| {
            self.client.properties(&host, &["name", "summary.hardware.cpuMhz", "summary.config.product.fullName"])
        });
        let host = host.transpose().map_err(asking)?;
        let host_mhz =
            host.as_ref().and_then(|host| host.text("summary.hardware.cpuMhz")?.parse().ok()).unwrap_or_default();
        let port = self.settings.agent_port.to_string();
        let mut words = vec![("token", made.token_text.as_str()), ("port", port.as_str())];
        // For people who look at it.
        words.extend(made.copy_of.as_deref().map(|original| ("copy_of", original)));
        let wanted = WantedMachine {
            settings: &self.settings,
            vcpus: order.vcpus,
            memory_bytes: order.memory_bytes,
            host_mhz,
            cpu_quota: order.cpu_quota,
            network: self.inventory.network.as_ref(),
            is_copy: made.copy_of.is_some(),
            words: &words,
        };
        let unavailable = |why: String| MachineError::Unavailable { why: format!("{}: {why}", self.client.server()) };
        let config = about.get("config").cloned().unwrap_or_default();
        let spec = wanted.spec(&config).map_err(unavailable)?;
        let call = calls::reconfigure(&made.reference, &spec);
        self.client.task(&call, doing, CHANGE_LIMIT).map_err(|error| error.while_doing(doing))?;
        let config = self.config(&made.reference).map_err(asking)?;
        let mut decided = wanted.read_back(&config).map_err(unavailable)?;
        let mut say = |name: &str, answer: Result<String, String>| decided.insert(name.to_owned(), answer);
        say("vCenter", Ok(self.client.content.product.clone()));
        say("certificate of vCenter", self.certificate());
        say("place", Ok(order.place.number.to_string()));
        say("origin", Ok(made.origin.clone()));
        let product = host.map(|host| host.text("summary.config.product.fullName").unwrap_or_default().to_owned());
        say("hypervisor", product.ok_or_else(|| "vSphere does not say on which host it is".to_owned()));
        Ok(decided)
    }

    fn certificate(&self) -> Result<String, String> {
        match (&self.settings.fingerprint, self.settings.insecure) {
            (Some(_), _) => Ok("the one with the fingerprint".to_owned()),
            (None, false) => Ok("of a trusted authority".to_owned()),
            (None, true) => Err("it was not verified, because platform.insecure is true".to_owned()),
        }
    }

    pub fn require_free(&self, bytes: u64) -> io::Result<()> {
        let Some(datastore) = &self.inventory.disks_on else { return Ok(()) };
        let found =
            self.client.properties(datastore, &["summary.freeSpace", "summary.name"]).map_err(io::Error::other)?;
        let Some(free) = found.text("summary.freeSpace").and_then(|text| text.parse::<u64>().ok()) else {
            return Ok(());
        };
        if free >= bytes.saturating_add(RESERVE_BYTES) {
            return Ok(());
        }
        let (name, free, needed) = (found.text("summary.name").unwrap_or_default(), free >> 20, bytes >> 20);
        let reserve = RESERVE_BYTES >> 20;
        let why =
            format!("the datastore {name} has {free} MiB free, and {needed} MiB are needed and {reserve} MiB to spare");
        Err(io::Error::new(io::ErrorKind::StorageFull, why))
    }

    /// The same, unless it was asked for a moment ago.
    pub fn require_free_again(&self) -> io::Result<()> {
        {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.is_some_and(|asked| asked.elapsed() < ROOM_INTERVAL) {
                return Ok(());
            }
            *asked = Some(Instant::now());
        }
        self.require_free(0)
    }
}

impl Drop for VsphereKeeper {
    fn drop(&mut self) {
        // What cannot be removed now, the next run on this server removes.
        let _ = leftovers::destroy_folder(&self.client, &self.folder);
    }
}
