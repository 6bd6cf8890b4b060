//! What a real machine is started from: an image, our agent, a data disk, a scratch folder.

use agent::protocol::{Reply, Request};
use images::data::DataDisk;
use images::{Cache, Flavour, Image, ImageError};
use machines::boot::DATA_LABEL;
use machines::machine::Machine;
use machines::scratch::Scratch;
use platforms::order::MachineOrder;
use record::facts::{Fact, Facts};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An emulated machine answers within this.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(3);
pub const DATA_BYTES: u64 = 64 << 20;
/// What the data disk of every test holds.
pub const KEPT_FILE: (&str, &str) = ("kept.txt", "made on the host\n");

/// One cache that repeated runs, and other crates' tests, share.
pub fn cache_folder() -> PathBuf {
    let shared = std::env::var_os("BAKEOFF_CACHE").map(PathBuf::from);
    shared.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("../../test-cache"))
}

/// Says why a test does not run; under `REQUIRE=qemu` that is a failure.
pub fn skip(why: &str) {
    let is_required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "qemu"));
    assert!(!is_required, "REQUIRE has qemu, and {why}");
    println!("SKIPPED: {why}");
}

pub fn has_qemu() -> bool {
    match platforms::qemu::accelerator::qemu_version() {
        Ok(_) => true,
        Err(error) => {
            skip(&error.to_string());
            false
        }
    }
}

/// The image, or `None` where it cannot be built and need not be.
pub fn image(name: &str, flavour: Flavour) -> Option<Image> {
    let recipe = images::find(name, None).unwrap();
    let cache = Cache::open(&cache_folder()).unwrap();
    match images::build(&recipe, flavour, &cache, false, &mut |line| println!("{line}")) {
        Ok(image) => Some(image),
        Err(error @ (ImageError::Tree { .. } | ImageError::Kernel { .. } | ImageError::Tool(_))) => {
            skip(&error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// This crate's example of that name, built with its tests.
pub fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let examples = tests.parent().unwrap().with_file_name("examples");
    examples.join(name)
}

/// A folder that lives as long as the test, and an order for a machine in it.
pub struct Place {
    pub order: MachineOrder,
    pub scratch: Scratch,
    _folder: tempfile::TempDir,
}

impl Place {
    pub fn new(image: Image) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(&folder.path().join("scratch"), "run").unwrap();
        let loaded = folder.path().join("loaded");
        std::fs::create_dir(&loaded).unwrap();
        std::fs::write(loaded.join(KEPT_FILE.0), KEPT_FILE.1).unwrap();
        let disk = folder.path().join("data.img");
        images::data::make_from_folder(&loaded, &disk, DATA_BYTES, DATA_LABEL).unwrap();
        let order = MachineOrder {
            name: "test".to_owned(),
            vcpus: 2,
            memory_bytes: 512 << 20,
            cpus: cpus(2),
            image,
            agent: example("test_agent"),
            data: DataDisk::Image(disk),
            scratch: scratch.path().to_owned(),
            cache: folder.path().join("cache"),
            port: None,
        };
        Self { order, scratch, _folder: folder }
    }

    pub fn start(&self, kind: &str, table: &Value) -> Box<dyn Machine> {
        let begun = Instant::now();
        let machine = platforms::catalog::start(kind, &as_table(table), &self.order).unwrap();
        println!("{kind} {table} greeted after {:.2} s", begun.elapsed().as_secs_f64());
        for (what, answer) in machine.decided() {
            println!("    {what}: {answer:?}");
        }
        machine
    }
}

/// As many CPUs as asked for; this process may have fewer, then some come twice.
fn cpus(count: usize) -> Vec<usize> {
    let allowed = rustix::thread::sched_getaffinity(None).unwrap();
    let all = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect::<Vec<_>>();
    all.into_iter().cycle().take(count).collect()
}

pub fn as_table(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

pub fn ask(machine: &mut dyn Machine, request: &Request) -> Reply {
    machine.link().send(request).unwrap();
    machine.link().receive(ANSWER_LIMIT).unwrap_or_else(|error| panic!("{error}\n{}", machine.console_tail()))
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
        other => panic!("{name} is {other:?}; there are {:#?}", facts),
    }
}

/// Says goodbye and waits until nothing is left.
pub fn shut_down(mut machine: Box<dyn Machine>) {
    assert_eq!(ask(machine.as_mut(), &Request::Shutdown), Reply::Done);
    machine.stop(ANSWER_LIMIT).unwrap();
}
