//! Domains by libvirt with emulated guests, which boot everywhere.

use crate::conformance::{Subject, Variant};
use crate::daemons::Daemons;
use crate::place::{
    PORT, Place, ask, assert_is_reached, assert_sees, example, guest_image, placed, shut_down, started, until,
};
use agent::protocol::{Reply, Request};
use images::{Image, KernelChoice};
use machines::identity::Identity;
use machines::machine::{Machine, MachineError};
use machines::scratch::sweep;
use platforms::leftovers::undo;
use platforms::placement::Policy;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What is true of domains of one libvirtd. They are one test, because a system has only one libvirtd at a time, which
/// takes long to start.
#[test]
fn domains_of_one_libvirtd_are_as_asked_and_leave_nothing() {
    let (Some(micro), Some(generic)) =
        (guest_image("micro", &KernelChoice::DEBIAN_12), guest_image("micro", &KernelChoice::DEBIAN_12_GENERIC))
    else {
        return;
    };
    let Some(postgres) = guest_image("postgres", &KernelChoice::DEBIAN_12) else { return };
    let Some(daemons) = Daemons::start() else { return };
    let ground = |image: &Image| Ground { daemons: &daemons, image: image.clone() };
    what_cannot_be_had_is_said_with_what_would_help(&ground(&micro));
    a_user_without_rights_is_told_who_has_them(&ground(&micro));
    Subject::of_guests("libvirt", generic.clone(), domains(&ground(&generic))).holds_to_the_rules();
    no_cached_file_changes_its_owner(&ground(&postgres));
    a_domain_whose_owner_is_killed_ends_and_leaves_nothing(&ground(&micro));
    // The last, because libvirtd is killed in it.
    a_domain_whose_libvirtd_is_killed_is_swept(&ground(&micro));
}

pub struct Ground<'a> {
    pub daemons: &'a Daemons,
    pub image: Image,
}

impl Ground<'_> {
    pub fn table(&self, more: Value) -> Value {
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

/// Domains that differ in their disks, and one that has much more that is read back.
fn domains<'a>(ground: &'a Ground<'_>) -> Vec<Variant<'a>> {
    let seen = |disk: Value, device: &'static str, write_cache: &'static str| Variant {
        check: Box::new(move |_, machine| assert_sees(machine, device, write_cache)),
        ..Variant::of(ground.table(json!({ "disk": disk })))
    };
    let disk = json!({ "operations_limit": 500, "discard": "unmap" });
    vec![
        Variant {
            place: placed(2, &Policy::Auto { memory_bytes: 0 }),
            cpu_quota: Some(0.5),
            check: Box::new(|place, machine| {
                assert_sees(machine, "vda", "write back");
                what_was_decided_is_what_runs(ground, machine);
                a_name_that_is_taken_is_said(ground, place);
            }),
            ..Variant::of(ground.table(json!({ "disk": disk, "cpu": "qemu64" })))
        },
        seen(json!({ "adapter": "virtio-scsi", "iothread": true, "cache": "directsync" }), "sda", "write through"),
        seen(json!({ "adapter": "ahci", "cache": "writeback" }), "sda", "write back"),
        seen(json!({ "adapter": "pvscsi", "cache": "unsafe" }), "sda", "write back"),
    ]
}

fn what_was_decided_is_what_runs(ground: &Ground<'_>, machine: &mut dyn Machine) {
    let decided = |name: &str| machine.facts().decided[name].clone().unwrap();
    assert_eq!(decided("CPU quota"), "100000 µs in every 100000 µs");
    assert_eq!(decided("disk limit"), "500 operations/s");
    assert_eq!(decided("discard"), "unmap");
    assert_eq!(decided("vcpu pinning"), "vCPU 0 on CPU 0, vCPU 1 on CPU 1");
    assert!(decided("cpu").starts_with("qemu64"), "{}", decided("cpu"));
    assert!(decided("libvirt").contains(&ground.daemons.uri()));
    assert_eq!(decided("user"), "0, who started it");
    assert!(machine.facts().command_line.iter().any(|word| word == "-uuid"));
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
}

fn a_name_that_is_taken_is_said(ground: &Ground<'_>, taken: &Place) {
    let mut other = ground.place();
    other.order.name.clone_from(&taken.order.name);
    let told = ground.refused(&other, json!({})).to_string();
    assert!(told.contains("already exists") && told.contains(&taken.order.name), "{told}");
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

fn no_cached_file_changes_its_owner(ground: &Ground<'_>) {
    let kernel = ground.image.guest_kernel().unwrap().file.parent().unwrap();
    let root = ground.image.root_disk.as_ref().unwrap().parent().unwrap();
    let first = kernel.parent().unwrap().with_file_name("initramfs");
    let of_cache = || [owners(kernel), owners(root)];
    let (before, ours) = (of_cache(), rustix::process::geteuid().as_raw());
    let place = ground.place();
    let of_data = std::fs::metadata(&place.disk).unwrap().uid();
    let machine = place.start("libvirt", &ground.table(json!({})));
    let while_it_runs = owners(&first);
    assert!(while_it_runs.iter().all(|(_, user, ..)| *user == ours), "{while_it_runs:?}");
    assert_eq!(of_cache(), before);
    shut_down(machine);
    assert_eq!(of_cache(), before);
    assert!(owners(&first).iter().all(|(_, user, ..)| *user == ours));
    assert_eq!(std::fs::metadata(&place.disk).unwrap().uid(), of_data);
}

fn what_cannot_be_had_is_said_with_what_would_help(ground: &Ground<'_>) {
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

fn a_user_without_rights_is_told_who_has_them(ground: &Ground<'_>) {
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
    fn start(image: Image, table: &Value) -> Self {
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

fn a_domain_whose_owner_is_killed_ends_and_leaves_nothing(ground: &Ground<'_>) {
    let mut owner = Owner::start(ground.image.clone(), &ground.table(json!({})));
    let qemu = owner.qemu();
    assert!(qemu.is_alive() && sweep(&owner.parent, &undo).unwrap().is_empty(), "a living owner's folder was swept");
    owner.kill();
    until("the domain outlives its owner", || !qemu.is_alive());
    owner.leaves_nothing();
    until("libvirt keeps something", || left_of(&owner.domain()).is_empty());
}

/// QEMU outlives a libvirtd that is killed. Then only a sweep ends it.
fn a_domain_whose_libvirtd_is_killed_is_swept(ground: &Ground<'_>) {
    let mut owner = Owner::start(ground.image.clone(), &ground.table(json!({})));
    let qemu = owner.qemu();
    ground.daemons.kill_libvirtd();
    owner.kill();
    let told = owner.leaves_nothing();
    assert!(told[0].starts_with("ended the domain "), "{told:?}");
    until("QEMU outlives the sweep", || !qemu.is_alive());
    assert_eq!(left_of(&owner.domain()), Vec::<String>::new());
}

/// Making a cluster takes a minute on an emulated CPU.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_server_in_a_domain_is_reached_from_outside() {
    let Some(postgres) = guest_image("postgres", &KernelChoice::DEBIAN_12) else { return };
    let Some(daemons) = Daemons::start() else { return };
    let ground = Ground { daemons: &daemons, image: postgres };
    let mut place = ground.place();
    place.order.reached.ports = vec![PORT];
    let mut machine = place.start("libvirt", &ground.table(json!({})));
    assert_is_reached(machine.as_mut());
    shut_down(machine);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_machine_goes_on_without_its_libvirtd_and_is_stopped_and_cut_as_ever() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let Some(daemons) = Daemons::start() else { return };
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
        until("QEMU is left", || started(&place.order.scratch).iter().all(|process| !process.is_alive()));
    }
    let gone = place.try_start("libvirt", &table).err().expect("no machine").to_string();
    assert!(gone.contains("no libvirtd listens at "), "{gone}");
}
