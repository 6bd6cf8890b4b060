//! Domains by libvirt with emulated guests, which boot everywhere.

use crate::daemons::Daemons;
use crate::place::{
    ANSWER_LIMIT, Place, ask, example, facts, guest_image, known, shut_down, start_server, started, write_data,
};
use agent::protocol::{Reply, Request};
use images::Flavour;
use machines::identity::Identity;
use machines::machine::MachineError;
use machines::scratch::sweep;
use platforms::leftovers::undo;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// libvirt ends a domain whose connection is gone, and cleans up, within this.
const GONE_LIMIT: Duration = Duration::from_mins(1);
const ASK_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const PORT: u16 = 15_432;

/// Tests that kill a daemon have it alone, and the others share one.
static ALONE: Mutex<()> = Mutex::new(());

pub fn in_turn() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Ground {
    daemons: Arc<Daemons>,
    image: images::Image,
    _turn: MutexGuard<'static, ()>,
}

/// A libvirtd and an image; `None` if one of them cannot be had.
fn ground(image: &str, flavour: Flavour) -> Option<Ground> {
    let image = guest_image(image, flavour)?;
    let turn = in_turn();
    Some(Ground { daemons: Daemons::shared()?, image, _turn: turn })
}

impl Ground {
    fn table(&self, more: Value) -> Value {
        let mut table = json!({ "uri": self.daemons.uri(), "accelerator": "tcg" });
        let Value::Object(more) = more else { panic!("{more} is no table") };
        table.as_object_mut().unwrap().extend(more);
        table
    }

    fn place(&self) -> Place {
        Place::new(self.image.clone())
    }

    fn refused(&self, place: &Place, more: Value) -> MachineError {
        place.try_start("libvirt", &self.table(more)).err().expect("it started")
    }
}

/// Boots a domain, lets a database write, powers off, and checks the disk from outside.
fn write_and_read_back(ground: &Ground, disk: &Value, device: &str, write_cache: &str) {
    let place = ground.place();
    let mut machine = place.start("libvirt", &ground.table(json!({ "disk": disk })));
    let inside = facts(machine.as_mut());
    assert_eq!(known(&inside, "storage.device"), device);
    assert_eq!(known(&inside, "storage.write_cache"), write_cache);
    assert_eq!(known(&inside, "kernel.clocksource").split('-').next(), Some("tsc"));
    assert!(machine.decided().values().all(Result::is_ok), "{:?}", machine.decided());
    write_data(machine.as_mut());
    shut_down(machine);
    place.assert_data_was_written();
}

#[test]
fn each_adapter_and_cache_is_read_back() {
    let Some(ground) = ground("micro", Flavour::Generic) else { return };
    for (disk, device, write_cache) in [
        (json!({ "cache": "none", "aio": "native", "iothread": true, "discard": "unmap" }), "vda", "write back"),
        (json!({ "cache": "writethrough", "aio": "io_uring", "operations_limit": 900 }), "vda", "write through"),
        (json!({ "adapter": "virtio-scsi", "iothread": true, "cache": "directsync" }), "sda", "write through"),
        (json!({ "adapter": "pvscsi", "cache": "unsafe" }), "sda", "write back"),
        (json!({ "adapter": "ahci", "cache": "writeback" }), "sda", "write back"),
    ] {
        write_and_read_back(&ground, &disk, device, write_cache);
    }
}

#[test]
fn what_was_decided_is_what_runs() {
    let Some(ground) = ground("micro", Flavour::Cloud) else { return };
    let mut place = ground.place();
    place.order.cpu_quota = Some(0.5);
    let table = json!({ "disk": { "operations_limit": 500, "discard": "unmap" }, "cpu": "qemu64" });
    let mut machine = place.start("libvirt", &ground.table(table));
    let decided = |name: &str| machine.decided()[name].clone().unwrap();
    assert_eq!(decided("CPU quota"), "100000 µs in every 100000 µs");
    assert_eq!(decided("disk limit"), "500 operations/s");
    assert_eq!(decided("discard"), "unmap");
    assert_eq!(decided("vcpu pinning"), "vCPU 0 on CPU 0, vCPU 1 on CPU 1");
    assert!(decided("cpu").starts_with("qemu64"), "{}", decided("cpu"));
    assert!(decided("libvirt").contains(&ground.daemons.uri()));
    assert_eq!(decided("user"), "0, who started it");
    assert!(machine.command_line().iter().any(|word| word == "-uuid"));
    let watched = machine.watched();
    for mut probe in watched.asked {
        let counters = (probe.ask)();
        let names = counters.map(|counters| counters.into_iter().map(|counter| counter.name).collect::<Vec<_>>());
        match probe.name.as_str() {
            "libvirt" => {
                let names = names.unwrap();
                for name in ["libvirt.vcpu.1.wait", "libvirt.disk.data.read_bytes"] {
                    assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
                }
            }
            "qemu_disk" => assert!(names.unwrap().contains(&"qemu_disk.data.reads".to_owned())),
            _ => {}
        }
    }
    assert_eq!(watched.targets.threads.len(), 2);
    shut_down(machine);
}

/// Owner, group and mode of each file below a folder.
fn owners(folder: &Path) -> Vec<(PathBuf, u32, u32, u32)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let metadata = entry.metadata().unwrap();
        found.push((entry.path(), metadata.uid(), metadata.gid(), metadata.mode()));
    }
    found.sort();
    found
}

#[test]
fn no_cached_file_changes_its_owner() {
    let Some(ground) = ground("postgres", Flavour::Cloud) else { return };
    let kernel = ground.image.guest_kernel().unwrap().file.parent().unwrap().to_owned();
    let root = ground.image.root_disk.as_ref().unwrap().parent().unwrap().to_owned();
    let first = kernel.parent().unwrap().with_file_name("initramfs");
    // The initramfs is made by the first machine that needs it.
    let all = |folders: &[&PathBuf]| folders.iter().map(|folder| owners(folder)).collect::<Vec<_>>();
    shut_down(ground.place().start("libvirt", &ground.table(json!({}))));
    let before = all(&[&kernel, &root, &first]);
    let place = ground.place();
    let of_data = std::fs::metadata(&place.disk).unwrap().uid();
    let machine = place.start("libvirt", &ground.table(json!({})));
    assert_eq!(all(&[&kernel, &root, &first]), before);
    shut_down(machine);
    assert_eq!(all(&[&kernel, &root, &first]), before);
    assert_eq!(std::fs::metadata(&place.disk).unwrap().uid(), of_data);
}

#[test]
fn a_server_in_a_domain_is_reached_from_outside() {
    let Some(ground) = ground("postgres", Flavour::Cloud) else { return };
    let mut place = ground.place();
    place.order.reached.ports = vec![PORT];
    let mut machine = place.start("libvirt", &ground.table(json!({})));
    start_server(machine.as_mut(), "postgres", Some(PORT));
    let mut stream = TcpStream::connect(machine.reached_at(PORT).unwrap()).unwrap();
    stream.set_read_timeout(Some(ANSWER_LIMIT)).unwrap();
    stream.write_all(&ASK_FOR_TLS).unwrap();
    let mut answer = [0];
    stream.read_exact(&mut answer).unwrap();
    assert!(b"NS".contains(&answer[0]), "{answer:?}");
    drop(stream);
    assert_eq!(ask(machine.as_mut(), &Request::StopServer), Reply::Done);
    shut_down(machine);
}

#[test]
fn what_cannot_be_had_is_said_with_what_would_help() {
    let Some(ground) = ground("micro", Flavour::Cloud) else { return };
    let place = ground.place();
    let unknown = ground.refused(&place, json!({ "cpu": "Skylake-Servr" })).to_string();
    assert!(unknown.contains("Skylake-Servr") && unknown.contains("the nearest is \"Skylake-Server\""), "{unknown}");
    let xen = ground.daemons.uri().replace("qemu+unix", "xen+unix");
    let xen = ground.refused(&place, json!({ "uri": xen })).to_string();
    assert!(xen.starts_with("unavailable, because libvirt at ") && xen.contains("driver-xen"), "{xen}");
    let foreign = place.folder.path().join("foreign");
    let listener = UnixListener::bind(&foreign).unwrap();
    let answers = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"220 ready for mail\r\n"));
    let uri = format!("qemu+unix:///system?socket={}", foreign.display());
    let foreign = ground.refused(&place, json!({ "uri": uri })).to_string();
    assert!(foreign.contains("does not answer as libvirt does"), "{foreign}");
    answers.join().unwrap().unwrap();
    let machine = ground.refused(&place, json!({ "machine": "pc-q35-99.0" })).to_string();
    assert!(machine.contains("pc-q35-99.0"), "{machine}");
}

#[test]
fn a_name_that_is_taken_is_said_and_the_first_domain_runs_on() {
    let Some(ground) = ground("micro", Flavour::Cloud) else { return };
    let (place, mut other) = (ground.place(), ground.place());
    other.order.name.clone_from(&place.order.name);
    let mut first = place.start("libvirt", &ground.table(json!({})));
    let told = ground.refused(&other, json!({})).to_string();
    assert!(told.contains("already exists") && told.contains(&place.order.name), "{told}");
    assert!(matches!(ask(first.as_mut(), &Request::Clock), Reply::Clock { .. }));
    shut_down(first);
}

#[test]
fn a_user_without_rights_is_told_who_has_them() {
    let Some(ground) = ground("micro", Flavour::Cloud) else { return };
    let socket = ground.daemons.socket();
    std::fs::set_permissions(&socket, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::set_permissions(socket.parent().unwrap(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    let program = example("libvirt_ready");
    let copied = tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let copied = copied.unwrap();
    let copy = copied.path().join("libvirt_ready");
    std::fs::copy(program, &copy).unwrap();
    let words = ["--reuid", "65533", "--regid", "65533", "--clear-groups", "--"];
    let output = Command::new("setpriv").args(words).arg(&copy).arg(ground.daemons.uri()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("this user may not connect to "), "{told} {}", String::from_utf8_lossy(&output.stderr));
}

/// A process that owns a machine, and what it said first.
struct Owner {
    child: Child,
    place: Place,
    parent: PathBuf,
}

impl Owner {
    fn start(image: images::Image, table: &Value) -> Self {
        let place = Place::new(image);
        let parent = place.folder.path().join("theirs");
        let mut child = Command::new(example("owner"))
            .args(["libvirt", &table.to_string(), &serde_json::to_string(place.image()).unwrap()])
            .args([&place.order.agent, &place.disk, &parent])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.starts_with("greeted"), "{said}");
        Self { child, place, parent }
    }

    /// The domain's QEMU.
    fn qemu(&self) -> Identity {
        started(&self.parent.join("owned")).pop().unwrap()
    }

    fn domain(&self) -> String {
        format!("bakeoff-{}-owned", self.child.id())
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sweeps, and checks that nothing of the domain is left.
    fn leaves_nothing(&self) -> Vec<String> {
        let told = sweep(&self.parent, &undo).unwrap();
        println!("{told:?}");
        assert!(!self.qemu_is_alive());
        assert_eq!(std::fs::read_dir(&self.parent).unwrap().count(), 0);
        self.place.loaded_file(crate::place::LOADED.0).expect("the data are whole");
        told
    }

    fn qemu_is_alive(&self) -> bool {
        processes_with(&self.domain()) > 0
    }
}

/// How many processes have this text on their command line.
fn processes_with(text: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

/// Groups, sockets and files that have the domain's name.
fn left_of(domain: &str) -> Vec<String> {
    let folders = ["/sys/fs/cgroup", "/run/libvirt", "/var/lib/libvirt", "/var/log/libvirt"];
    let output = Command::new("find").args(folders).args(["-name", &format!("*{domain}*")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn until(what: &str, is_so: &dyn Fn() -> bool) {
    let deadline = Instant::now() + GONE_LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_domain_whose_owner_is_killed_ends_and_leaves_nothing() {
    let Some(ground) = ground("micro", Flavour::Cloud) else { return };
    let mut owner = Owner::start(ground.image.clone(), &ground.table(json!({})));
    let qemu = owner.qemu();
    assert!(qemu.is_alive() && sweep(&owner.parent, &undo).unwrap().is_empty(), "a living owner's folder was swept");
    owner.kill();
    until("the domain outlives its owner", &|| !qemu.is_alive());
    owner.leaves_nothing();
    until("libvirt keeps something", &|| left_of(&owner.domain()).is_empty());
}

/// QEMU outlives a libvirtd that is killed. Then only a sweep ends it.
#[test]
fn a_domain_whose_libvirtd_is_killed_is_swept() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let _turn = in_turn();
    let Some(daemons) = Daemons::alone() else { return };
    let table = json!({ "uri": daemons.uri(), "accelerator": "tcg" });
    let mut owner = Owner::start(micro, &table);
    let qemu = owner.qemu();
    daemons.kill_libvirtd();
    owner.kill();
    let told = owner.leaves_nothing();
    assert!(told[0].starts_with("ended the domain "), "{told:?}");
    until("QEMU outlives the sweep", &|| !qemu.is_alive());
    assert_eq!(left_of(&owner.domain()), Vec::<String>::new());
}

#[test]
fn a_machine_goes_on_without_its_libvirtd_and_is_stopped_and_cut_as_ever() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let _turn = in_turn();
    let Some(daemons) = Daemons::alone() else { return };
    let table = json!({ "uri": daemons.uri(), "accelerator": "tcg" });
    let (place, other) = (Place::new(micro.clone()), Place::new(micro));
    let (mut stopped, mut cut) = (place.start("libvirt", &table), other.start("libvirt", &table));
    daemons.kill_libvirtd();
    assert!(matches!(ask(stopped.as_mut(), &Request::Clock), Reply::Clock { .. }));
    let mut probes = cut.watched().asked;
    assert!(probes.iter_mut().any(|probe| (probe.ask)().is_err()), "counters are asked of a libvirtd that is gone");
    shut_down(stopped);
    cut.cut().unwrap();
    for place in [&place, &other] {
        let domain = format!("bakeoff-{}-{}", std::process::id(), place.order.name);
        assert_eq!(left_of(&domain), Vec::<String>::new());
        until("QEMU is left", &|| started(&place.order.scratch).iter().all(|process| !process.is_alive()));
    }
    let gone = place.try_start("libvirt", &table).err().expect("no machine").to_string();
    assert!(gone.contains("no libvirtd listens at "), "{gone}");
}
