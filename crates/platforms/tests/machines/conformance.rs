//! The rules that every platform must keep, and the platforms that are tested against them.

use crate::bare::BARE;
use crate::host_here::sshd;
use crate::oci::{RUNTIMES, has_runtime};
use crate::place::{
    ANSWER_LIMIT, DATABASE, LOADED, Place, as_table, ask, assert_nothing_is_left, example, image, in_folder, open,
    placed, shut_down, started, until,
};
use crate::vcsim::Vcsim;
use agent::protocol::{Reply, Request};
use images::{Image, KernelChoice};
use machines::identity::Identity;
use machines::link::LinkError;
use machines::machine::{Machine, MachineError};
use platforms::capabilities::ImageUse;
use platforms::catalog::entry;
use platforms::entry::PlatformEntry;
use platforms::placement::{self, Policy};
use serde_json::{Value, json};
use settings::Chosen;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked of a machine while it runs.
pub type Check<'a> = Box<dyn Fn(&Place, &mut dyn Machine) + 'a>;

/// One machine of a platform: its settings and shape, and what must be so in it beside the rules.
pub struct Variant<'a> {
    pub table: Value,
    pub place: placement::Place,
    pub cpu_quota: Option<f64>,
    pub ports: Vec<u16>,
    pub check: Check<'a>,
}

impl Variant<'_> {
    /// A machine with one vCPU, of which nothing more is asked.
    pub fn of(table: Value) -> Self {
        let place = placed(1, &Policy::Auto { memory_bytes: 0 });
        Self { table, place, cpu_quota: None, ports: Vec::new(), check: Box::new(|_, _| ()) }
    }
}

/// A platform, and the machines of it that are started one after another.
pub struct Subject<'a> {
    platform: &'static PlatformEntry,
    image: Option<Image>,
    machines: Vec<Variant<'a>>,
    turn: Cell<usize>,
}

impl<'a> Subject<'a> {
    fn of(platform: &'static PlatformEntry, table: Value, image: Option<Image>) -> Self {
        Self { platform, image, machines: vec![Variant::of(table)], turn: Cell::new(0) }
    }

    /// Guests take long to boot under emulation, so that each that the rules need is another one.
    pub fn of_guests(kind: &str, image: Image, machines: Vec<Variant<'a>>) -> Self {
        let platform = platforms::catalog::entry(kind).unwrap();
        Self { platform, image: Some(image), machines, turn: Cell::new(0) }
    }

    fn table(&self) -> &Value {
        &self.machines[0].table
    }

    fn place(&self) -> Place {
        Place::on(self.platform, self.table(), self.image.clone())
    }

    /// Whether its machines are processes of this host, and its data are files.
    fn is_made_here(&self) -> bool {
        self.platform.kind != "vsphere"
    }

    fn start(&self, place: &mut Place) -> Box<dyn Machine> {
        let turn = self.turn.replace(self.turn.get() + 1);
        let variant = &self.machines[turn % self.machines.len()];
        place.order.vcpus = u32::try_from(variant.place.cpus.len()).unwrap();
        place.order.place = variant.place.clone();
        place.order.cpu_quota = variant.cpu_quota;
        place.order.reached.ports.clone_from(&variant.ports);
        if self.machines.len() > 1 {
            place.reopen(self.platform, &variant.table);
        }
        let mut machine = place.start_on(self.platform, &variant.table);
        (variant.check)(place, machine.as_mut());
        machine
    }

    pub fn holds_to_the_rules(&self) {
        println!("a machine has a clock that goes on, and describes itself");
        let mut place = self.place();
        let mut machine = self.start(&mut place);
        assert_has_clock_and_description(machine.as_mut());
        start_server(machine.as_mut());
        load(machine.as_mut());
        let is_on_disk = machine.facts().decided.get("data").is_none_or(Result::is_ok);
        let processes = processes(machine.as_mut());
        shut_down(machine);
        self.assert_nothing_is_left(&place, &processes);
        if is_on_disk {
            place.assert_data_was_written();
        }

        println!("data that were written are there when another machine is started on the same lease");
        let mut machine = self.start(&mut place);
        start_server(machine.as_mut());
        assert_is_loaded(machine.as_mut());
        let processes = self::processes(machine.as_mut());
        drop(machine);
        self.assert_nothing_is_left(&place, &processes);

        println!("what a client was told is committed is there after a cut, and leases of the same data are apart");
        let mut other = place.beside();
        let mut machine = self.start(&mut other);
        start_server(machine.as_mut());
        load(machine.as_mut());
        let processes = self::processes(machine.as_mut());
        machine.cut().unwrap();
        self.assert_nothing_is_left(&other, &processes);
        let mut machine = self.start(&mut other);
        start_server(machine.as_mut());
        assert_is_loaded(machine.as_mut());
        machine.cut().unwrap();
        if self.is_made_here() {
            assert!(other.loaded_file(LOADED.0).is_some_and(|file| file == LOADED.1.as_bytes()));
            assert_eq!(other.loaded_file(DATABASE), None);
            another_version_is_refused(self);
        }
    }

    /// Checks that nothing runs any more after a machine was stopped, cut or dropped.
    fn assert_nothing_is_left(&self, place: &Place, processes: &[u32]) {
        // A process that is not our child stays in /proc until its parent has reaped it.
        until("its processes end", || processes.iter().all(|process| Identity::of(*process).is_err()));
        if self.is_made_here() {
            let made = started(&place.order.scratch);
            assert!(!made.is_empty() && made.iter().all(|process| !process.is_alive()), "{made:?}");
            assert_nothing_is_left(place);
        }
    }
}

/// The processes on this host whose memory is watched.
fn processes(machine: &mut dyn Machine) -> Vec<u32> {
    machine.watched().targets.pages.iter().map(|pages| pages.process).collect()
}

#[test]
fn bare_processes_keep_the_rules() {
    Subject::of(&BARE, json!({}), None).holds_to_the_rules();
}

#[test]
fn native_machines_keep_the_rules() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    Subject::of(entry("native").unwrap(), json!({}), Some(micro)).holds_to_the_rules();
}

#[test]
fn machines_of_another_host_with_the_image_keep_the_rules() {
    let (Some(micro), Some(sshd)) = (image("micro", &KernelChoice::DEBIAN_12), sshd()) else { return };
    Subject::of(entry("host").unwrap(), sshd.table(Path::new("/"), "image"), Some(micro)).holds_to_the_rules();
}

#[test]
fn machines_of_another_host_with_its_own_files_keep_the_rules() {
    let Some(sshd) = sshd() else { return };
    Subject::of(entry("host").unwrap(), sshd.table(Path::new("/"), "installed"), None).holds_to_the_rules();
}

#[test]
fn containers_keep_the_rules() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    for runtime in RUNTIMES.into_iter().filter(|runtime| has_runtime(runtime)) {
        println!("{runtime}:");
        let table = json!({ "runtime": runtime });
        Subject::of(entry("oci").unwrap(), table, Some(micro.clone())).holds_to_the_rules();
    }
}

#[test]
fn machines_of_vsphere_keep_the_rules() {
    let Some(vcsim) = Vcsim::start() else { return };
    Subject::of(entry("vsphere").unwrap(), vcsim.table("agent"), None).holds_to_the_rules();
    assert_eq!(vcsim.machines(), Vec::<PathBuf>::new());
}

fn assert_has_clock_and_description(machine: &mut dyn Machine) {
    let mut clock = || match ask(machine, &Request::Clock) {
        Reply::Clock { monotonic_ns } => monotonic_ns,
        other => panic!("{other:?}"),
    };
    assert!(clock() < clock());
    assert!(matches!(ask(machine, &Request::Describe), Reply::Description(_)));
    assert!(!machine.facts().command_line.is_empty());
}

/// A table small enough for an emulated CPU.
fn workload() -> Chosen {
    let table = json!({ "tables": 1, "table_size": 50 });
    let keys = workloads::catalog::entry("sysbench-oltp").unwrap().keys;
    Chosen { kind: "sysbench-oltp".to_owned(), settings: settings::check(table.as_object().unwrap(), keys).unwrap() }
}

fn start_server(machine: &mut dyn Machine) {
    crate::place::start_server(machine, "sqlite", None);
}

fn load(machine: &mut dyn Machine) {
    let reply = ask_at_length(machine, &Request::Load { workload: workload(), writers: 1, stay: None });
    assert!(matches!(&reply, Reply::Loaded { rows } if rows.values().sum::<u64>() == 50), "{reply:?}");
}

fn assert_is_loaded(machine: &mut dyn Machine) {
    let reply = ask_at_length(machine, &Request::Verify { workload: workload(), threads: 1 });
    let Reply::Verified(sums) = reply else { panic!("{reply:?}") };
    let differing: BTreeMap<_, _> = sums.iter().filter(|(_, sum)| sum.expected != sum.stored).collect();
    assert!(!sums.is_empty() && differing.is_empty(), "{differing:?}");
}

/// The final reply, without the messages before it.
fn ask_at_length(machine: &mut dyn Machine, request: &Request) -> Reply {
    machine.link().ask(0, request).unwrap();
    loop {
        match machine.link().receive(ANSWER_LIMIT).unwrap() {
            None | Some((_, Reply::Alive | Reply::Progress { .. })) => {}
            Some((_, reply)) => return reply,
        }
    }
}

/// An agent of another version is refused with both versions, and ended.
fn another_version_is_refused(subject: &Subject<'_>) {
    if (subject.platform.read)(&as_table(subject.table())).unwrap().can().image == ImageUse::TreeAndKernel {
        // There the agent is the init process, and this example would not find the stream to us.
        return;
    }
    let mut place = subject.place();
    place.order.agent = example("foreign_agent");
    let (order, scratch) = (&place.order, &place.order.scratch);
    // A platform that takes the agent elsewhere refuses it there.
    let table = in_folder(subject.table(), place.folder.path());
    let opened = open(subject.platform, &table, subject.image.as_ref(), &order.agent, scratch);
    let Err(error) = opened.and_then(|platform| platform.start(order, &|| {})) else { panic!("it started") };
    assert!(matches!(error, MachineError::Link(LinkError::OtherVersion { .. })), "{error}");
    let told = error.to_string();
    assert!(told.contains("bakeoff 99.0.0") && told.contains(env!("CARGO_PKG_VERSION")), "{told}");
    let left = started(&place.order.scratch);
    assert!(!left.is_empty() && left.iter().all(|process| !process.is_alive()));
}
