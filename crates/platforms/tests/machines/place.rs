//! What a real machine is started from: an image, our agent, a data disk, a scratch folder.

use crate::{host_here, vcsim};
use agent::protocol::{Reply, Request};
use engines::server::{ServerReport, ServerShape};
use images::data::{DataDisk, DataError};
use images::{Cache, Image, ImageError, KernelChoice};
use machines::boot::DATA_LABEL;
use machines::identity::Identity;
use machines::interrupts::Interrupts;
use machines::machine::{Machine, MachineError};
use machines::scratch::Scratch;
use platforms::capabilities::DataHome;
use platforms::entry::PlatformEntry;
use platforms::lease::{Lease, LeaseOrder};
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::{self, Policy};
use platforms::platform::{OpenOrder, Platform};
use record::facts::{DATA_CACHED_TWICE, EMULATED, Fact, Facts, PROCESSOR};
use serde_json::{Map, Value};
use settings::Chosen;
use std::cell::Cell;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An emulated machine answers within this.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(5);
/// The kernel and servers clean up after a process that is gone within this.
const GONE_LIMIT: Duration = Duration::from_mins(1);
pub const MEMORY_BYTES: u64 = 512 << 20;
const DATA_BYTES: u64 = 256 << 20;
/// What the data disk of every test holds.
pub const LOADED: (&str, &str) = ("kept.txt", "made on the host\n");
/// Where servers inside listen.
pub const PORT: u16 = 15_432;
/// The first message of PostgreSQL's protocol that a server answers without knowing the client: its length, and a
/// request for TLS.
const ASK_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// The file of the embedded engine.
pub const DATABASE: &str = "sqlite/bakeoff.db";

/// Machines that run at the same time need different names.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// One cache for repeated runs and other crates' tests: the test binary is in `target/TRIPLE/PROFILE/deps`.
pub fn cache_folder() -> PathBuf {
    let shared = std::env::var_os("BAKEOFF_CACHE").map(PathBuf::from);
    shared.unwrap_or_else(|| std::env::current_exe().unwrap().ancestors().nth(4).unwrap().join("test-cache"))
}

/// Says why a test is skipped. It fails if `REQUIRE` lists the missing part: "qemu", or "root" for what only root may
/// do (and some hosts forbid even to root).
pub fn skip(part: &str, why: &str) {
    let is_required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == part));
    assert!(!is_required, "REQUIRE has {part}, and {why}");
    println!("SKIPPED: {why}");
}

pub fn has_qemu() -> bool {
    platforms::qemu::accelerator::qemu_version().map_err(|error| skip("qemu", &error.to_string())).is_ok()
}

/// The image; `None` if it cannot be built and is not required.
pub fn image(name: &str, kernel: &KernelChoice) -> Option<Image> {
    let recipe = images::find(name, None).unwrap();
    let cache = Cache::open(&cache_folder()).unwrap();
    match images::build(&recipe, kernel, &cache, false, &mut |line| println!("{line}")) {
        Ok(image) => Some(image),
        Err(error @ (ImageError::Tree { .. } | ImageError::Kernel { .. } | ImageError::Tool(_))) => {
            skip("qemu", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The image for a guest; `None` without QEMU.
pub fn guest_image(name: &str, kernel: &KernelChoice) -> Option<Image> {
    has_qemu().then(|| image(name, kernel)).flatten()
}

/// This crate's example with that name. Tests selected by name (`--test machines`) use the examples as last built.
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let example = tests.parent().unwrap().with_file_name("examples").join(name);
    assert!(example.is_file(), "there is no {}; `cargo build -p platforms --examples` makes it", example.display());
    example
}

/// A folder that lives as long as the test, and an order for a machine in it.
pub struct Place {
    pub order: MachineOrder,
    pub folder: Rc<TempDir>,
    /// The source of its data.
    pub disk: PathBuf,
    _lease: Lease,
    /// What its data and machines are from, if it was opened.
    platform: Option<Rc<dyn Platform>>,
    _scratch: Scratch,
}

impl Place {
    /// A machine that gets the data disk itself.
    pub fn new(image: Image) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let loaded = loaded_folder(folder.path());
        let disk = folder.path().join("data.img");
        images::data::make_from_folder(&loaded, &disk, DATA_BYTES, DATA_LABEL).unwrap();
        Self::of(Rc::new(folder), Some(image), disk.clone(), None, |_| DataDisk::Image(disk).into())
    }

    /// A machine with a lease on the data, from its platform.
    pub fn on(platform: &PlatformEntry, table: &Value, image: Option<Image>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let table = &in_folder(table, folder.path());
        let loaded = loaded_folder(folder.path());
        let disk = folder.path().join("data.img");
        let opened = open(platform, table, image.as_ref(), &example("test_agent"), folder.path()).unwrap();
        let data = match (platform.read)(&as_table(table)).unwrap().can().data {
            DataHome::Disk => {
                images::data::make_from_folder(&loaded, &disk, DATA_BYTES, DATA_LABEL).unwrap();
                disk
            }
            DataHome::Folder => loaded,
            DataHome::Elsewhere if platform.kind == "vsphere" => vcsim::load(opened.as_ref(), folder.path()),
            DataHome::Elsewhere => host_here::keep_loaded(&loaded, folder.path()),
        };
        Self::leased(Rc::new(folder), &opened.into(), image, &data)
    }

    /// The same with another lease on the same data.
    pub fn beside(&self) -> Self {
        let platform = self.platform.clone().unwrap();
        Self::leased(Rc::clone(&self.folder), &platform, self.order.image.clone(), &self.disk)
    }

    fn leased(folder: Rc<TempDir>, platform: &Rc<dyn Platform>, image: Option<Image>, disk: &Path) -> Self {
        Self::of(folder, image, disk.to_owned(), Some(Rc::clone(platform)), |scratch| {
            let order = LeaseOrder { loaded: disk, device: None, scratch };
            platform.lease(&order).unwrap()
        })
    }

    fn of(
        folder: Rc<TempDir>,
        image: Option<Image>,
        disk: PathBuf,
        platform: Option<Rc<dyn Platform>>,
        lease: impl FnOnce(&Path) -> Lease,
    ) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let scratch = Scratch::create(&folder.path().join("scratch"), &format!("run-{number}")).unwrap();
        let lease = lease(scratch.path());
        let data = lease.data().clone();
        let order = order(&format!("test-{number}"), image, data, scratch.path(), folder.path());
        Self { order, folder, disk, _lease: lease, platform, _scratch: scratch }
    }

    /// The next machine on the same lease is of these settings. Only for platforms whose machines share nothing.
    pub fn reopen(&mut self, platform: &PlatformEntry, table: &Value) {
        let opened = open(platform, table, self.order.image.as_ref(), &self.order.agent, &self.order.scratch);
        self.platform = Some(opened.unwrap().into());
    }

    /// Asks the platform that was opened for room.
    pub fn require_space(&self, bytes: u64) -> Result<(), DataError> {
        self.platform.as_ref().unwrap().require_space(&self.disk, bytes)
    }

    /// Gives the machine two vCPUs.
    pub fn with_two_vcpus(mut self) -> Self {
        self.order.vcpus = 2;
        self.order.place = placed(2, &Policy::Auto { memory_bytes: 0 });
        self
    }

    /// Lets other users read and run what a machine is started from, wherever the tests' own files are. Returns the
    /// example `owner`. Only for the image `micro`, which is empty folders.
    pub fn open_to_all(&mut self) -> PathBuf {
        let in_place = |name: &str| self.folder.path().join(name);
        let (tree, agent, owner) = (in_place("tree"), in_place("agent"), in_place("owner"));
        let folders = std::fs::read_dir(&self.image().tree).unwrap().map(|entry| tree.join(entry.unwrap().file_name()));
        let folders: Vec<PathBuf> = folders.collect();
        for folder in &folders {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::copy(&self.order.agent, &agent).unwrap();
        std::fs::copy(example("owner"), &owner).unwrap();
        // A runtime makes the places for mounts in the tree, which is the user's own in the user's cache.
        let all = [self.folder.path(), &self.disk, &tree].into_iter().chain(folders.iter().map(PathBuf::as_path));
        for path in all {
            std::fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
        self.order.image.as_mut().unwrap().tree = tree;
        self.order.agent = agent;
        owner
    }

    pub fn image(&self) -> &Image {
        self.order.image.as_ref().unwrap()
    }

    pub fn try_start(&self, kind: &str, table: &Value) -> Result<Box<dyn Machine>, MachineError> {
        self.try_start_on(platforms::catalog::entry(kind).unwrap(), table)
    }

    pub fn try_start_on(&self, platform: &PlatformEntry, table: &Value) -> Result<Box<dyn Machine>, MachineError> {
        let is_launched = Cell::new(false);
        let opened = || open(platform, table, self.order.image.as_ref(), &self.order.agent, &self.order.scratch);
        let launched = || is_launched.set(true);
        let started = match &self.platform {
            Some(platform) => platform.start(&self.order, &launched),
            None => opened()?.start(&self.order, &launched),
        };
        assert!(is_launched.get() || started.is_err(), "{} does not tell that it is launched", platform.kind);
        started
    }

    pub fn start(&self, kind: &str, table: &Value) -> Box<dyn Machine> {
        self.start_on(platforms::catalog::entry(kind).unwrap(), table)
    }

    /// Starts it and prints the actual value of each requested property.
    pub fn start_on(&self, platform: &PlatformEntry, table: &Value) -> Box<dyn Machine> {
        let (begun, kind) = (Instant::now(), platform.kind);
        let machine = self.try_start_on(platform, table).unwrap_or_else(|error| panic!("{kind} {table}: {error}"));
        println!("{kind} {table} greeted after {:.2} s: {:?}", begun.elapsed().as_secs_f64(), machine.facts().decided);
        assert_says_what_is_compared(machine.as_ref(), kind, table);
        machine
    }

    /// Checks that the machine's disk is intact, and has its original content and what the embedded engine wrote inside.
    pub fn assert_data_was_written(&self) {
        let DataDisk::Image(disk) = &self.order.data else { return };
        let checked = Command::new("/usr/sbin/e2fsck").args(["-f", "-n"]).arg(disk).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
        assert_eq!(file_on_disk(disk, LOADED.0), LOADED.1.as_bytes());
        assert!(file_on_disk(disk, DATABASE).starts_with(b"SQLite format 3"));
    }

    /// A file of the data that leases are copied from.
    pub fn loaded_file(&self, name: &str) -> Option<Vec<u8>> {
        if self.disk.is_dir() {
            return std::fs::read(self.disk.join(name)).ok();
        }
        if self.disk.is_relative() {
            return std::fs::read(host_here::folder_of_run(self.folder.path()).join(&self.disk).join(name)).ok();
        }
        Some(file_on_disk(&self.disk, name)).filter(|file| !file.is_empty())
    }
}

fn file_on_disk(disk: &Path, name: &str) -> Vec<u8> {
    let output = Command::new("/usr/sbin/debugfs").args(["-R", &format!("cat {name}")]).arg(disk).output();
    output.unwrap().stdout
}

/// The settings with the place's folder, for a platform that has one on another host.
pub fn in_folder(table: &Value, folder: &Path) -> Value {
    let mut table = table.clone();
    if table.get("folder").is_some() {
        table["folder"] = folder.to_str().unwrap().into();
    }
    table
}

/// An order for a machine with one vCPU.
pub fn order(name: &str, image: Option<Image>, data: DataDisk, scratch: &Path, folder: &Path) -> MachineOrder {
    MachineOrder {
        name: name.to_owned(),
        vcpus: 1,
        memory_bytes: MEMORY_BYTES,
        place: placed(1, &Policy::Auto { memory_bytes: 0 }),
        cpu_quota: None,
        image,
        agent: example("test_agent"),
        data,
        scratch: scratch.to_owned(),
        cache: folder.join("cache"),
        mounting: Mounting::default(),
        reached: Reached::default(),
    }
}

/// Opens a platform as a run does.
pub fn open(
    platform: &PlatformEntry,
    table: &Value,
    image: Option<&Image>,
    agent: &Path,
    scratch: &Path,
) -> Result<Box<dyn Platform>, MachineError> {
    open_until_stopped(platform, table, image, agent, scratch, &Interrupts::default())
}

/// The same, unless the user stops the run.
pub fn open_until_stopped(
    platform: &PlatformEntry,
    table: &Value,
    image: Option<&Image>,
    agent: &Path,
    scratch: &Path,
    interrupts: &Interrupts,
) -> Result<Box<dyn Platform>, MachineError> {
    let name = scratch.file_name().unwrap().to_string_lossy();
    let credentials = &vcsim::credentials();
    let order = OpenOrder { agent, image, scratch, name: &name, credentials, lines: None, interrupts };
    let settings = (platform.read)(&as_table(table)).expect("the table is valid");
    settings.open(&order)
}

fn loaded_folder(parent: &Path) -> PathBuf {
    let loaded = parent.join("loaded");
    std::fs::create_dir(&loaded).unwrap();
    std::fs::write(loaded.join(LOADED.0), LOADED.1).unwrap();
    loaded
}

/// Contenders are compared by these properties, so each platform must report them in the same words.
fn assert_says_what_is_compared(machine: &dyn Machine, kind: &str, table: &Value) {
    let said = |name| machine.facts().decided[name].clone().map_or_else(Fact::Unavailable, Fact::Known).kind();
    let processor = match (kind, &table["accelerator"]) {
        ("host", _) if telemetry::hypervisor().is_some() => "virtual",
        ("native" | "bare" | "oci" | "host", _) => "the host's own",
        (_, Value::String(asked)) if asked == "tcg" => EMULATED,
        _ => "virtual",
    };
    assert_eq!(said(PROCESSOR), processor);
    let twice: &[&str] = match table["disk"]["cache"].as_str() {
        Some("writeback" | "writethrough" | "unsafe") => &["yes"],
        _ if matches!(kind, "native" | "oci") => &["yes", "no"],
        _ => &["no"],
    };
    assert!(twice.contains(&said(DATA_CACHED_TWICE).as_str()), "{:?}", machine.facts().decided);
}

/// The place of a single machine. If this process has too few CPUs, some occur twice.
pub fn placed(vcpus: u32, policy: &Policy) -> placement::Place {
    placement::place(&here(), policy, 1, vcpus, 0).unwrap().remove(0)
}

/// The CPUs that this process may use.
pub fn here() -> placement::UsableCpus {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let all = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect::<Vec<_>>();
    placement::UsableCpus::of_host(&all)
}

pub fn as_table(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The processes that were started for machines in this folder.
pub fn started(scratch: &Path) -> Vec<Identity> {
    let ledger = std::fs::read_to_string(scratch.join("ledger.jsonl")).unwrap_or_default();
    let made = ledger.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    made.filter_map(|made| serde_json::from_value(made.get("process")?.clone()).ok()).collect()
}

pub fn ask(machine: &mut dyn Machine, request: &Request) -> Reply {
    machine.link().ask(0, request).unwrap();
    loop {
        let heard = machine.link().receive(ANSWER_LIMIT);
        match heard.unwrap_or_else(|error| panic!("{error}\n{}", machine.console())) {
            // Sent while a request takes longer on an emulated CPU.
            None | Some((_, Reply::Alive)) => {}
            Some((_, reply)) => return reply,
        }
    }
}

pub fn facts(machine: &mut dyn Machine) -> Facts {
    match ask(machine, &Request::Describe) {
        Reply::Description(facts) => facts,
        other => panic!("{other:?}"),
    }
}

pub fn known(facts: &Facts, name: &str) -> String {
    match facts.get(name) {
        Some(Fact::Known(text)) => text.clone(),
        other => panic!("{name} is {other:?}; there are {facts:#?}"),
    }
}

pub fn start_server(machine: &mut dyn Machine, engine: &str, port: Option<u16>) -> ServerReport {
    let keys = engines::catalog::entry(engine).unwrap().keys;
    let engine = Chosen { kind: engine.to_owned(), settings: settings::check(&Map::new(), keys).unwrap() };
    let shape = ServerShape { vcpus: 1, memory_bytes: MEMORY_BYTES };
    let listen = port.map(|port| SocketAddr::new(machine.facts().listens_on, port));
    match ask(machine, &Request::StartServer { engine, shape, listen }) {
        Reply::Started(report) => *report,
        other => panic!("{other:?}"),
    }
}

/// Checks that a machine which is gone left no mount and no control group. Its processes are the caller's to look for.
pub fn assert_nothing_is_left(place: &Place) {
    let scratch = place.order.scratch.display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let left: Vec<&str> = mounts.lines().filter(|mount| mount.contains(&scratch)).collect();
    assert!(left.is_empty(), "{left:?}");
    let groups = format!("bakeoff-{}-{}", std::process::id(), place.order.name);
    let found = Command::new("find").args(["/sys/fs/cgroup", "-type", "d", "-name", &groups]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

/// What each disk must look like inside, whatever controls it.
pub fn assert_sees(machine: &mut dyn Machine, device: &str, write_cache: &str) {
    let inside = facts(machine);
    assert_eq!(known(&inside, "storage.device"), device);
    assert_eq!(known(&inside, "storage.write_cache"), write_cache);
    assert!(known(&inside, "storage.mount_options").contains("noatime"));
    assert_eq!(known(&inside, "kernel.clocksource").split('-').next(), Some("tsc"));
    let unknown = machine.facts().decided.iter().filter(|(what, said)| said.is_err() && *what != "CPU quota").count();
    assert_eq!(unknown, 0, "{:?}", machine.facts().decided);
}

/// Checks that a PostgreSQL that is started inside answers from outside, and stops it.
pub fn assert_is_reached(machine: &mut dyn Machine) {
    start_server(machine, "postgres", Some(PORT));
    let mut stream = TcpStream::connect(machine.reached_at(PORT).unwrap()).unwrap();
    stream.set_read_timeout(Some(ANSWER_LIMIT)).unwrap();
    stream.write_all(&ASK_FOR_TLS).unwrap();
    let mut answer = [0];
    stream.read_exact(&mut answer).unwrap();
    assert!(b"NS".contains(&answer[0]), "{answer:?}");
    drop(stream);
    assert_eq!(ask(machine, &Request::StopServer), Reply::Done);
}

/// Makes a database write to the data disk.
pub fn write_data(machine: &mut dyn Machine) {
    start_server(machine, "sqlite", None);
    assert_eq!(ask(machine, &Request::StopServer), Reply::Done);
}

/// Says goodbye and waits until nothing is left.
pub fn shut_down(mut machine: Box<dyn Machine>) {
    assert_eq!(ask(machine.as_mut(), &Request::Shutdown), Reply::Done);
    machine.stop(ANSWER_LIMIT).unwrap();
}

/// Polls until the condition is true. What the kernel and servers do to processes of others gives nothing to wait on.
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + GONE_LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
