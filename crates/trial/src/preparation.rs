//! What trials share: images, and data disks that are loaded once and then cloned.
//!
//! Loading happens natively, into a folder that then becomes an ext4 image. Natively, because an emulated CPU would
//! take eight times as long. Through a folder, because that needs no right to mount and leaves files unfragmented. The
//! finished image is kept under the hash of everything that shaped it.

pub mod error;
pub(crate) mod origin;

use crate::conversation::{AskError, Conversation, mismatch};
use crate::halt::Halt;
use crate::load_hosts::OpenLoadHost;
use crate::loaded_data::{checksum_finding, require_right};
use crate::open::OpenPlatform;
use crate::rendezvous::Rendezvous;
use crate::site::Site;
use agent::protocol::{Reply, Request};
use agent::service;
use engines::server::Endpoint;
use error::{PreparationError, failing};
use images::data::DataDisk;
use images::{Image, ImageError};
use machines::cached::{CachedError, CachedFolder};
use machines::interrupts::Interrupts;
use machines::machine::Machine;
use origin::{folder_of, key, loading_shape, made_from};
use platforms::capabilities::{Capabilities, DataHome};
use platforms::entry::PlatformSettings;
use platforms::native::settings::NativeSettings;
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::Place;
use platforms::platform::Platform;
use record::check::{CheckResult, Moment};
use record::event::Event;
use record::settings::MachineException;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use study::{ChosenWorkload, TypedCell};

/// How often to check whether the host's disk has room while a database grows on it.
const ROOM_POLL: Duration = Duration::from_millis(200);
/// The folder of loaded data in the cache.
const DATA: &str = "data";
const DISK: &str = "disk.img";
const FOLDER: &str = "folder";
/// Its presence shows that a data disk is complete. It lists what is in it.
const KEPT: &str = "loaded.json";
/// How long one bakeoff waits for another that loads the same data.
const LOCK_LIMIT: Duration = Duration::from_hours(4);
/// The expected time shown while an image is built for the first time.
pub(crate) const EXPECTED_IMAGE_MS: u64 = 60_000;

/// What the trials of one cell share.
#[derive(Debug, Clone)]
pub struct PreparedCell {
    pub platform: Arc<dyn Platform>,
    /// `None` on a platform that needs none.
    pub image: Option<Image>,
    data: Data,
    /// The machine whose workload differs from the others, and its data.
    exception: Option<(u32, Data)>,
    /// The server that runs already, if bakeoff starts none.
    pub server: Option<Endpoint>,
    /// The hosts that the load comes from, if that is not this one.
    pub load_hosts: Vec<Arc<OpenLoadHost>>,
}

impl PreparedCell {
    /// For a server that already has its data, whatever they are.
    pub(crate) fn unprepared(platform: Arc<dyn Platform>, server: Endpoint, workload: ChosenWorkload) -> Self {
        let data = Data { workload, loaded: PathBuf::new(), findings: Vec::new(), state: BTreeMap::new() };
        Self { platform, image: None, data, exception: None, server: Some(server), load_hosts: Vec::new() }
    }

    #[must_use]
    pub(crate) fn with_load_from(self, load_hosts: Vec<Arc<OpenLoadHost>>) -> Self {
        Self { load_hosts, ..self }
    }

    /// The data of the machine with this number.
    pub fn data_of(&self, machine: u32) -> &Data {
        self.exception.as_ref().filter(|(number, _)| *number == machine).map_or(&self.data, |(_, own)| own)
    }
}

/// The data of a machine, and the workload that runs on them.
#[derive(Debug, Clone)]
pub struct Data {
    pub workload: ChosenWorkload,
    /// A disk or a folder, as the platform needs; never written to.
    pub loaded: PathBuf,
    /// Results of the data checks after loading.
    pub findings: Vec<CheckResult>,
    /// The workload's sums over the data before driving: the same for every clone of the disk.
    pub state: BTreeMap<String, i64>,
}

/// The file kept beside a loaded data disk.
#[derive(Debug, Serialize, Deserialize)]
struct Loaded {
    /// What the disk was made from, in words.
    made_from: serde_json::Value,
    /// The folder on another host, if the data are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elsewhere: Option<PathBuf>,
    #[serde(flatten)]
    found: LoadResult,
}

/// What was learnt about the data while they were loaded.
#[derive(Debug, Serialize, Deserialize)]
struct LoadResult {
    rows: BTreeMap<String, u64>,
    findings: Vec<CheckResult>,
    state: BTreeMap<String, i64>,
}

/// Builds the image of a cell, or finds it in the cache. It builds the kernel only if there are `guests` to boot it.
pub fn image(
    cell: &TypedCell,
    guests: bool,
    site: &Site,
    tell: &mut dyn FnMut(Event),
) -> Result<Image, PreparationError> {
    let cache = images::Cache::open(&site.cache).map_err(ImageError::from)?;
    let (image, kernel) = (&cell.machine.image, &cell.machine.kernel);
    let what = if guests { format!("image {image} with the kernel {kernel}") } else { format!("image {image}") };
    tell(Event::Preparing { what, expected_ms: EXPECTED_IMAGE_MS });
    let recipe = cell.recipe()?;
    let mut steps = |text: &str| tell(Event::Progress { what: text.to_owned(), done: 0, of: 0 });
    Ok(if guests {
        images::build(&recipe, kernel, &cache, false, &mut steps)?
    } else {
        images::build_without_kernel(&recipe, &cache, &mut steps)?
    })
}

/// Removes half-made folders that killed runs left behind; returns what it did.
pub fn sweep(site: &Site) -> Result<Vec<String>, PreparationError> {
    Ok([CachedFolder::sweep(&site.cache.join(DATA))?, images::sweep(&site.cache)?].concat())
}

/// Makes what the trials of a cell share, or finds it in the cache.
pub fn prepare(
    cell: &TypedCell,
    open: &OpenPlatform,
    site: &Site,
    scratch: &Path,
    interrupts: &Interrupts,
    tell: &mut dyn FnMut(Event),
) -> Result<PreparedCell, PreparationError> {
    if let Some(server) = &open.server {
        return Ok(PreparedCell::unprepared(Arc::clone(&open.platform), server.clone(), cell.workload.clone()));
    }
    let making = |workload| Making { cell, open, site, scratch, interrupts, workload };
    let data = making(&cell.workload).data(tell)?;
    let exception = match (&cell.machine.exception, &cell.exception_workload) {
        (Some(MachineException { number, .. }), Some(own)) => {
            let of_machine = |error| PreparationError::OfMachine { number: *number, error: Box::new(error) };
            Some((*number, making(own).data(tell).map_err(of_machine)?))
        }
        _ => None,
    };
    let (platform, image) = (Arc::clone(&open.platform), open.image.clone());
    Ok(PreparedCell { platform, image, data, exception, server: None, load_hosts: Vec::new() })
}

struct Making<'a> {
    cell: &'a TypedCell,
    open: &'a OpenPlatform,
    site: &'a Site,
    scratch: &'a Path,
    interrupts: &'a Interrupts,
    workload: &'a ChosenWorkload,
}

impl Making<'_> {
    /// The data from the cache; loads them if they are not there.
    fn data(&self, tell: &mut dyn FnMut(Event)) -> Result<Data, PreparationError> {
        let kind = &self.workload.chosen.kind;
        let tree_id = self.open.image.as_ref().map(|image| image.tree_id.as_str());
        let mut made_from = made_from(self.cell, &self.workload.chosen, tree_id, self.site);
        if self.home() != DataHome::Disk {
            made_from["platform"] = self.cell.platform_kind().into();
        }
        let folder = match self.home() {
            DataHome::Disk | DataHome::Folder => folder_of(&made_from, self.site),
            DataHome::Elsewhere => self.open.folder().join(key(&made_from)),
        };
        let kept = folder.join(KEPT);
        if !kept.exists() {
            tell(Event::Preparing { what: format!("data of {kind}"), expected_ms: 0 });
            self.make(&folder, made_from, tell)?;
        }
        let text = fs::read(&kept).map_err(failing("reading", &kept))?;
        let loaded: Loaded = serde_json::from_slice(&text).map_err(|source| PreparationError::Io {
            doing: "reading",
            path: kept,
            source: source.into(),
        })?;
        Ok(Data {
            workload: self.workload.clone(),
            loaded: loaded
                .elsewhere
                .unwrap_or_else(|| folder.join(if self.home() == DataHome::Folder { FOLDER } else { DISK })),
            findings: loaded.found.findings,
            state: loaded.found.state,
        })
    }

    /// Loads into a folder beside the final place, then moves the finished disk there in one step.
    fn make(
        &self,
        place: &Path,
        made_from: serde_json::Value,
        tell: &mut dyn FnMut(Event),
    ) -> Result<(), PreparationError> {
        let folder = self.lock(place, tell)?;
        if place.join(KEPT).exists() {
            return Ok(());
        }
        let (built, home) = (folder.built(), self.home());
        let kept = built.join(KEPT);
        let elsewhere = (home == DataHome::Elsewhere).then(|| self.folder_elsewhere());
        let here = built.join(if elsewhere.is_some() { "" } else { FOLDER });
        fs::create_dir_all(&here).map_err(failing("making", &here))?;
        let data = elsewhere.clone().unwrap_or(here);
        // The folder and the disk made of it exist at the same time.
        let expected_bytes = self.workload.data_bytes(self.cell.engine.entry);
        let expected_bytes = expected_bytes.filter(|_| self.can().executes).unwrap_or_default();
        let instances = self.cell.written.instances();
        let copies = u64::from(instances);
        self.open.platform.require_space(&data, expected_bytes.saturating_mul(2 * copies))?;
        let found = self.load(&data, tell).map_err(|error| error.if_full(home, &data))?;
        if !self.cell.written.shares_server() && instances > 1 {
            let what = "copying the data for the machine's further databases".to_owned();
            tell(Event::Progress { what, done: 0, of: 0 });
            let folders: Vec<String> = (1..instances).map(service::folder_of_instance).collect();
            self.open.platform.copy_within(&data, &folders)?;
        }
        if home == DataHome::Disk {
            let size_bytes = self.cell.machine.disk.size_bytes.0;
            images::data::make_from_folder(&data, &built.join(DISK), size_bytes, machines::boot::DATA_LABEL)?;
            fs::remove_dir_all(&data).map_err(failing("removing", &data))?;
        }
        let text = serde_json::to_vec_pretty(&Loaded { made_from, elsewhere, found })
            .map_err(|error| failing("writing", &kept)(error.into()))?;
        fs::write(&kept, text).map_err(failing("writing", &kept))?;
        Ok(folder.keep()?)
    }

    /// Takes the lock of the data's folder; waits if another bakeoff loads the same data.
    fn lock(&self, place: &Path, tell: &mut dyn FnMut(Event)) -> Result<CachedFolder, PreparationError> {
        let mut has_told = false;
        let locked = CachedFolder::lock(place, LOCK_LIMIT, &mut || {
            if !has_told {
                let what = "waiting for another bakeoff that loads the same data".to_owned();
                tell(Event::Progress { what, done: 0, of: 0 });
                has_told = true;
            }
            !self.interrupts.now()
        });
        locked.map_err(|error| match error {
            CachedError::GivenUp { .. } => AskError::Interrupted.into(),
            other => other.into(),
        })
    }

    fn can(&self) -> Capabilities {
        self.cell.platform.can()
    }

    fn home(&self) -> DataHome {
        self.can().data
    }

    /// Of this attempt to load alone: one that failed may have left a part.
    fn folder_elsewhere(&self) -> PathBuf {
        Path::new(DATA).join(self.scratch.file_name().unwrap_or_default())
    }

    fn load(&self, data: &Path, tell: &mut dyn FnMut(Event)) -> Result<LoadResult, PreparationError> {
        let shape = loading_shape(self.site);
        let order = MachineOrder {
            name: "loading".to_owned(),
            vcpus: shape.vcpus,
            memory_bytes: self.site.memory_bytes,
            place: Place::anywhere_on(&self.site.cpus),
            cpu_quota: None,
            image: self.open.image.clone(),
            agent: self.site.agent.clone(),
            data: DataDisk::Folder(data.to_owned()),
            scratch: self.scratch.to_owned(),
            cache: self.site.cache.clone(),
            mounting: Mounting::default(),
            reached: Reached::default(),
        };
        let mut machine = if self.home() == DataHome::Disk {
            NativeSettings {}.open(&self.site.opening(self.scratch, self.interrupts))?.start(&order, &|| {})?
        } else {
            self.open.platform.start(&order, &|| {})?
        };
        let found = self.fill_while_there_is_room(machine.as_mut(), data, tell)?;
        machine.stop(self.site.limits.end)?;
        Ok(found)
    }

    /// Loads the data, but gives up before the host's disk is full, since others may need room.
    fn fill_while_there_is_room(
        &self,
        machine: &mut dyn Machine,
        data: &Path,
        tell: &mut dyn FnMut(Event),
    ) -> Result<LoadResult, PreparationError> {
        // Nobody meets here: the rendezvous only gives the watcher a way to stop the loading.
        let room = Rendezvous::of(1);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if let Err(full) = self.open.platform.require_room_in(data) {
                        room.give_up();
                        return Some(full);
                    }
                    thread::park_timeout(ROOM_POLL);
                }
                None
            });
            let found = self.fill(machine, Halt { interrupts: self.interrupts, others: Some(&room) }, tell);
            is_over.store(true, Ordering::Relaxed);
            watcher.thread().unpark();
            match watcher.join() {
                Ok(Some(full)) => Err(full.into()),
                _ => found,
            }
        })
    }

    fn fill(
        &self,
        machine: &mut dyn Machine,
        halt: Halt<'_>,
        tell: &mut dyn FnMut(Event),
    ) -> Result<LoadResult, PreparationError> {
        let shape = loading_shape(self.site);
        let mut conversation = Conversation { link: machine.link(), halt, limits: &self.site.limits, instance: 0 };
        let mut ask = |instance: u16, request: Request| {
            conversation.instance = instance;
            conversation.ask(&request, self.site.limits.check, &mut |aside| {
                if let Reply::Progress { what, done, of } = aside {
                    tell(Event::Progress { what, done, of });
                }
            })
        };
        ask(0, Request::StartServer { engine: self.cell.engine.chosen.clone(), shape, listen: None })?;
        let found = self.fill_database(0, &mut ask)?;
        let databases = if self.cell.written.shares_server() { self.cell.written.instances() } else { 1 };
        for instance in 1..databases {
            let reply = ask(instance, Request::OpenDatabase)?;
            let Reply::Opened(further) = reply else { return Err(mismatch("opening of the database", &reply).into()) };
            if further.is_empty {
                self.fill_database(instance, &mut ask)?;
            }
        }
        ask(0, Request::StopServer)?;
        ask(0, Request::Shutdown)?;
        Ok(found)
    }

    fn fill_database(
        &self,
        instance: u16,
        ask: &mut dyn FnMut(u16, Request) -> Result<Reply, AskError>,
    ) -> Result<LoadResult, PreparationError> {
        let mut ask = |request| ask(instance, request);
        let (workload, shape) = (self.workload.chosen.clone(), loading_shape(self.site));
        // An engine in our process has a single writer.
        let writers = if self.cell.engine.entry.remote { shape.vcpus } else { 1 };
        let reply = ask(Request::Load { workload: workload.clone(), writers, stay: None })?;
        let Reply::Loaded { rows } = reply else { return Err(mismatch("load", &reply).into()) };
        let reply = ask(Request::Verify { workload: workload.clone(), threads: shape.vcpus })?;
        let Reply::Verified(sums) = reply else { return Err(mismatch("verify", &reply).into()) };
        let reply = ask(Request::State { workload: workload.clone() })?;
        let Reply::State(state) = reply else { return Err(mismatch("state", &reply).into()) };
        let reply = ask(Request::Check { workload, moment: Moment::AfterLoad })?;
        let Reply::Findings(mut findings) = reply else { return Err(mismatch("check", &reply).into()) };
        findings.extend(sums.iter().map(|(table, sum)| checksum_finding(&self.workload.chosen.kind, table, sum)));
        require_right(&findings)?;
        Ok(LoadResult { rows, findings, state })
    }
}

#[cfg(test)]
mod tests;
