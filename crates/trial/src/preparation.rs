//! What trials share: images, and data disks that are loaded once and then cloned.
//!
//! Loading happens natively, into a folder that becomes an ext4 image afterwards: natively because an emulated CPU would
//! take eight times as long, and through a folder because that needs no right to mount and leaves the files without
//! the fragmentation of their making. The finished image is kept under the hash of everything that shaped it.

use crate::cell::CellOrder;
use crate::conversation::{AskError, Conversation, mismatch};
use crate::interrupts::{Halt, Interrupts};
use crate::loaded_data::{checksum_finding, require_right};
use crate::rendezvous::Rendezvous;
use crate::site::Site;
use agent::protocol::{Chosen, Failure, Reply, Request};
use agent::service;
use engines::server::ServerShape;
use images::data::DataDisk;
use images::{Image, ImageError};
use machines::cached::{CachedError, CachedFolder};
use machines::limits;
use machines::machine::{Machine, MachineError};
use platforms::catalog::PlatformEntry;
use platforms::order::MachineOrder;
use platforms::placement::Place;
use record::check::{CheckResult, Moment};
use record::event::Event;
use record::settings::Odd;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use workloads::catalog::AnyWorkload;

/// Raised when the way of making data disks changes, so that older ones are not taken for the same.
const DATA_VERSION: u32 = 4;
/// The memory that servers are told to have while data are loaded, whatever the machines of the cell have: how much log and other
/// files they leave depends on it, and cells that share a data disk must not get those of whoever came first. It is small, so that
/// little log is kept and cloned.
const LOADING_MEMORY_BYTES: u64 = 1 << 30;
/// How often it is looked whether the host's disk has room, while a database grows on it.
const ROOM_POLL: Duration = Duration::from_millis(200);
/// Bytes of the hash that name a data disk's folder.
const KEY_BYTES: usize = 12;
/// Where loaded data are in the cache.
const DATA: &str = "data";
const DISK: &str = "disk.img";
const FOLDER: &str = "folder";
/// What says that a data disk is whole, and what is in it.
const KEPT: &str = "loaded.json";
/// How long one bakeoff waits for another that loads the same data.
const LOCK_LIMIT: Duration = Duration::from_hours(4);
/// Shown while an image is built for the first time.
pub(crate) const EXPECTED_IMAGE_MS: u64 = 60_000;

#[derive(Debug, thiserror::Error)]
pub enum PreparationError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Recipe(#[from] images::RecipeError),
    #[error("making the data disk: {0}")]
    Data(#[from] images::data::DataError),
    #[error("starting a machine to load the data in: {0}")]
    Machine(#[from] MachineError),
    #[error("loading: {0}")]
    Ask(#[from] AskError),
    #[error("the host's disk is full: loading into {folder} failed: {why}")]
    Full { why: String, folder: PathBuf },
    #[error("{doing} {path}: {source}")]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    #[error("workload {kind}: {problems:?}")]
    Workload { kind: String, problems: Vec<settings::Problem> },
    #[error(transparent)]
    Cached(#[from] CachedError),
    #[error("the loaded data is not what the workload's definition says: {0}")]
    WrongData(String),
    /// Of the odd machine, whose data are its own.
    #[error("machine {number}: {error}")]
    OfMachine { number: u32, error: Box<PreparationError> },
}

/// How engines say that the disk below them is full.
const WORDS_OF_A_FULL_DISK: [&str; 2] = ["No space left on device", "disk is full"];

impl PreparationError {
    /// Whether no trial of the run could go on, whatever its cell.
    pub fn ends_the_run(&self) -> bool {
        match self {
            Self::Io { .. }
            | Self::Full { .. }
            | Self::Cached(CachedError::Io { .. })
            | Self::Machine(MachineError::MissingTool { .. }) => true,
            Self::Data(error) if error.is_full_host() => true,
            Self::OfMachine { error, .. } => error.ends_the_run(),
            // Loading is done on the host itself.
            other => limits::met(&other.to_string()).is_some(),
        }
    }

    /// Tells a database that failed for want of room on the host from one that failed by itself.
    fn if_full(self, folder: &Path) -> Self {
        match self {
            Self::Ask(AskError::Refused(Failure { why, log, .. }))
                if WORDS_OF_A_FULL_DISK.iter().any(|words| why.contains(words) || log.contains(words)) =>
            {
                Self::Full { why, folder: folder.to_owned() }
            }
            other => other,
        }
    }
}

pub(crate) fn failing(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> PreparationError {
    let path = path.to_owned();
    move |source| PreparationError::Io { doing, path, source }
}

/// What the trials of one cell are carried out with.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// None on a platform that needs none.
    pub image: Option<Image>,
    data: Data,
    /// The machine whose workload is another than that of the others, and its data.
    odd: Option<(u32, Data)>,
}

impl Prepared {
    /// Of a server that has its data already, whatever they are.
    pub(crate) fn unprepared(chosen: Chosen, workload: AnyWorkload) -> Self {
        let (loaded, workload) = (PathBuf::new(), Arc::new(workload));
        let data = Data { chosen, workload, loaded, findings: Vec::new(), state: BTreeMap::new() };
        Self { image: None, data, odd: None }
    }

    /// What the machine of this number holds.
    pub fn data_of(&self, machine: u32) -> &Data {
        self.odd.as_ref().filter(|(number, _)| *number == machine).map_or(&self.data, |(_, own)| own)
    }
}

/// The data of a machine, and the work that its clients do with them.
#[derive(Debug, Clone)]
pub struct Data {
    /// As the machine's agent takes it.
    pub chosen: Chosen,
    pub workload: Arc<AnyWorkload>,
    /// A disk or a folder, as the platform takes them; never written to.
    pub loaded: PathBuf,
    /// Data checks made after loading.
    pub findings: Vec<CheckResult>,
    /// What the workload wants to know of the data before it is driven: the same for every clone of the disk.
    pub state: BTreeMap<String, i64>,
}

/// What is kept beside a loaded data disk.
#[derive(Debug, Serialize, Deserialize)]
struct Loaded {
    /// What the disk was made from, in words.
    made_from: serde_json::Value,
    #[serde(flatten)]
    found: LoadResult,
}

/// What was found out about the data while they were loaded.
#[derive(Debug, Serialize, Deserialize)]
struct LoadResult {
    rows: BTreeMap<String, u64>,
    findings: Vec<CheckResult>,
    state: BTreeMap<String, i64>,
}

/// Builds the image of a cell, or finds it in the cache; its kernel only if there are `guests` to boot it.
pub fn image(
    cell: &CellOrder,
    guests: bool,
    site: &Site,
    tell: &mut dyn FnMut(Event),
) -> Result<Image, PreparationError> {
    let cache = images::Cache::open(&site.cache).map_err(ImageError::from)?;
    let (image, kernel) = (&cell.machine.image, &cell.machine.kernel);
    let what = if guests { format!("image {image} with the {kernel} kernel") } else { format!("image {image}") };
    tell(Event::Preparing { what, expected_ms: EXPECTED_IMAGE_MS });
    let recipe = images::find(image, None)?;
    let flavour = images::Flavour::named(kernel).unwrap_or_default();
    let mut steps = |text: &str| tell(Event::Progress { what: text.to_owned(), done: 0, of: 0 });
    Ok(if guests {
        images::build(&recipe, flavour, &cache, false, &mut steps)?
    } else {
        images::build_without_kernel(&recipe, &cache, &mut steps)?
    })
}

/// Removes what runs that were killed have half made, and tells what it did.
pub fn sweep(site: &Site) -> Result<Vec<String>, PreparationError> {
    Ok([CachedFolder::sweep(&site.cache.join(DATA))?, images::sweep(&site.cache)?].concat())
}

/// Makes what the trials of a cell share, or finds it in the cache.
pub fn prepare(
    cell: &CellOrder,
    image: Option<&Image>,
    site: &Site,
    scratch: &Path,
    interrupts: &Interrupts,
    tell: &mut dyn FnMut(Event),
) -> Result<Prepared, PreparationError> {
    let platform = site.platform(&cell.platform.kind)?;
    let making = |workload| Making { cell, platform, image, site, scratch, interrupts, workload };
    let data = making(&cell.workload).data(tell)?;
    let odd = match (&cell.machine.odd, &cell.odd_workload) {
        (Some(Odd { number, .. }), Some(own)) => {
            let of_machine = |error| PreparationError::OfMachine { number: *number, error: Box::new(error) };
            Some((*number, making(own).data(tell).map_err(of_machine)?))
        }
        _ => None,
    };
    Ok(Prepared { image: image.cloned(), data, odd })
}

/// Everything that shapes the content of a data disk. They are loaded natively, so it does not matter which kernel a guest boots.
fn made_from(cell: &CellOrder, workload: &Chosen, tree_id: Option<&str>, site: &Site) -> serde_json::Value {
    let mut made_from = json!({
        "version": DATA_VERSION,
        "image": tree_id,
        "engine": cell.engine,
        "workload": workload,
        "disk_bytes": cell.machine.disk.size_bytes.0,
        "loaded_with": loading_shape(site),
    });
    if cell.instances > 1 {
        made_from["instances"] = cell.instances.into();
    }
    made_from
}

/// The same for all cells of a host.
fn loading_shape(site: &Site) -> ServerShape {
    let vcpus = u32::try_from(site.cpus.len()).unwrap_or(1);
    ServerShape { vcpus, memory_bytes: LOADING_MEMORY_BYTES }
}

fn folder_of(made_from: &serde_json::Value, site: &Site) -> PathBuf {
    site.cache.join(DATA).join(key(made_from))
}

/// The loaded data disk of a cell's workload, if it is in the cache.
pub(crate) fn in_cache(cell: &CellOrder, workload: &Chosen, tree_id: &str, site: &Site) -> Option<PathBuf> {
    let folder = folder_of(&made_from(cell, workload, Some(tree_id), site), site);
    folder.join(KEPT).exists().then(|| folder.join(DISK))
}

fn key(made_from: &serde_json::Value) -> String {
    let hash = Sha256::digest(made_from.to_string().as_bytes());
    let half = hash.iter().take(KEY_BYTES).fold(0_u128, |key, byte| key << 8 | u128::from(*byte));
    format!("{half:024x}")
}

struct Making<'a> {
    cell: &'a CellOrder,
    platform: &'static PlatformEntry,
    image: Option<&'a Image>,
    site: &'a Site,
    scratch: &'a Path,
    interrupts: &'a Interrupts,
    workload: &'a Chosen,
}

impl Making<'_> {
    /// The data as they lie in the cache, made if they are not there.
    fn data(&self, tell: &mut dyn FnMut(Event)) -> Result<Data, PreparationError> {
        let Chosen { kind, settings } = self.workload;
        let workload = AnyWorkload::from_table(kind, settings)
            .map_err(|problems| PreparationError::Workload { kind: kind.clone(), problems })?;
        let tree_id = self.image.map(|image| image.tree_id.as_str());
        let mut made_from = made_from(self.cell, self.workload, tree_id, self.site);
        if self.owns_data() {
            made_from["platform"] = self.platform.kind.into();
        }
        let folder = folder_of(&made_from, self.site);
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
            chosen: self.workload.clone(),
            workload: Arc::new(workload),
            loaded: folder.join(if self.owns_data() { FOLDER } else { DISK }),
            findings: loaded.found.findings,
            state: loaded.found.state,
        })
    }

    /// Loads into a folder beside the final place and moves the finished disk there in one step.
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
        let built = folder.built();
        let (data, kept) = (built.join(FOLDER), built.join(KEPT));
        fs::create_dir_all(&data).map_err(failing("making", &data))?;
        // The folder and the disk made of it are there at the same time.
        let expected_bytes = study::data_bytes(&self.cell.engine.kind, &self.workload.kind, &self.workload.settings);
        let expected_bytes = expected_bytes.filter(|_| self.platform.can.executes).unwrap_or_default();
        let copies = u64::from(self.cell.instances);
        images::data::require_space(&data, expected_bytes.saturating_mul(2 * copies))?;
        let found = self.load(&data, tell).map_err(|error| error.if_full(&data))?;
        self.copy_for_further_instances(&data, tell)?;
        if !self.owns_data() {
            let size_bytes = self.cell.machine.disk.size_bytes.0;
            images::data::make_from_folder(&data, &built.join(DISK), size_bytes, machines::boot::DATA_LABEL)?;
            fs::remove_dir_all(&data).map_err(failing("removing", &data))?;
        }
        let text = serde_json::to_vec_pretty(&Loaded { made_from, found })
            .map_err(|error| failing("writing", &kept)(error.into()))?;
        fs::write(&kept, text).map_err(failing("writing", &kept))?;
        Ok(folder.keep()?)
    }

    /// What was loaded once, again for each further database of the machine.
    fn copy_for_further_instances(&self, data: &Path, tell: &mut dyn FnMut(Event)) -> Result<(), PreparationError> {
        let of = u64::from(self.cell.instances) - 1;
        let folders = || (1..self.cell.instances).map(service::folder_of_instance);
        for (folder, done) in folders().zip(0..) {
            let what = "copying the data for the machine's further databases".to_owned();
            tell(Event::Progress { what, done, of });
            images::data::clone_folder(data, &data.with_file_name(folder))?;
        }
        // Only now, so that no copy has others in it.
        for folder in folders() {
            let copy = data.with_file_name(&folder);
            fs::rename(&copy, data.join(folder)).map_err(failing("moving", &copy))?;
        }
        Ok(())
    }

    /// Waits for another bakeoff that loads the same data.
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

    fn owns_data(&self) -> bool {
        self.platform.can.owns_data
    }

    fn load(&self, data: &Path, tell: &mut dyn FnMut(Event)) -> Result<LoadResult, PreparationError> {
        let shape = loading_shape(self.site);
        let order = MachineOrder {
            name: "loading".to_owned(),
            vcpus: shape.vcpus,
            memory_bytes: self.site.memory_bytes,
            place: Place::anywhere_on(&self.site.cpus),
            cpu_quota: None,
            image: self.image.cloned(),
            agent: self.site.agent.clone(),
            data: DataDisk::Folder(data.to_owned()),
            scratch: self.scratch.to_owned(),
            cache: self.site.cache.clone(),
            ports: Vec::new(),
        };
        let (platform, settings) = if self.owns_data() {
            (self.platform, self.cell.platform.settings.clone())
        } else {
            (self.site.platform("native")?, Map::new())
        };
        let mut machine = (platform.start)(&settings, &order, &|| {})?;
        let found = self.fill_while_there_is_room(machine.as_mut(), data, tell)?;
        machine.stop(self.site.limits.end)?;
        Ok(found)
    }

    /// Gives up before the last room of the host's disk is taken, which others may need.
    fn fill_while_there_is_room(
        &self,
        machine: &mut dyn Machine,
        data: &Path,
        tell: &mut dyn FnMut(Event),
    ) -> Result<LoadResult, PreparationError> {
        // Nobody is met here: it is what a watcher can give up.
        let room = Rendezvous::of(1);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if let Err(full) = images::data::require_room_in(data) {
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
        let mut ask = |request: Request| {
            conversation.ask(&request, self.site.limits.check, &mut |aside| {
                if let Reply::Progress { what, done, of } = aside {
                    tell(Event::Progress { what, done, of });
                }
            })
        };
        let workload = self.workload.clone();
        ask(Request::StartServer { engine: self.cell.engine.clone(), shape, listen: None })?;
        let writers = if is_remote(&self.cell.engine) { shape.vcpus } else { 1 };
        let reply = ask(Request::Load { workload: workload.clone(), writers })?;
        let Reply::Loaded { rows } = reply else { return Err(mismatch("load", &reply).into()) };
        let reply = ask(Request::Verify { workload: workload.clone(), threads: shape.vcpus })?;
        let Reply::Verified(sums) = reply else { return Err(mismatch("verify", &reply).into()) };
        let reply = ask(Request::State { workload: workload.clone() })?;
        let Reply::State(state) = reply else { return Err(mismatch("state", &reply).into()) };
        let reply = ask(Request::Check { workload, moment: Moment::AfterLoad })?;
        let Reply::Findings(mut findings) = reply else { return Err(mismatch("check", &reply).into()) };
        findings.extend(sums.iter().map(|(table, sum)| checksum_finding(&self.workload.kind, table, sum)));
        require_right(&findings)?;
        ask(Request::StopServer)?;
        ask(Request::Shutdown)?;
        Ok(LoadResult { rows, findings, state })
    }
}

/// Whether an engine takes sessions over a network; one that lives in our process has a single writer.
fn is_remote(engine: &Chosen) -> bool {
    engines::catalog::entry(&engine.kind).is_some_and(|entry| entry.remote)
}

#[cfg(test)]
mod tests;
