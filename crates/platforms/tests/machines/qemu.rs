//! The QEMU platform with emulated guests, which boot everywhere.

use crate::conformance::{Subject, Variant};
use crate::place::{
    ANSWER_LIMIT, PORT, Place, as_table, assert_is_reached, assert_sees, facts, guest_image, here, known, placed,
    shut_down, skip, started, write_data,
};
use crate::placed::{assert_held, words};
use images::{Cache, KernelChoice};
use machines::identity::Identity;
use machines::machine::{Machine, MachineError};
use platforms::order::Reached;
use platforms::placement::{self, NodeShare, Policy};
use platforms::qemu::boot::initramfs;
use platforms::qemu::command::{Accelerator, GuestOrder};
use platforms::qemu::guest::Guest;
use platforms::qemu::isolation::Isolation;
use platforms::qemu::settings::QemuSettings;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Guests that differ in their disks, their places, and in what else they are asked for.
fn guests(tap: Option<&Tap>) -> Vec<Variant<'static>> {
    let share = |vcpus: &[usize]| NodeShare { node: 0, vcpus: vcpus.to_vec() };
    let disk = |disk: Value| json!({ "accelerator": "tcg", "disk": disk });
    let mut on_a_tap =
        disk(json!({ "adapter": "virtio-scsi", "iothread": true, "cache": "writeback", "aio": "io_uring" }));
    if tap.is_some() {
        let network = json!({ "network": "tap", "tap": TAP, "guest_address": "192.168.177.2/24" });
        on_a_tap.as_object_mut().unwrap().extend(as_table(&network));
    }
    let mut developers = disk(json!({ "adapter": "pvscsi", "cache": "writethrough" }));
    developers["binary"] = binary().into();
    developers["machine"] = "pc-q35-7.1".into();
    developers["arguments"] = json!(["-device", "virtio-balloon-pci,id=own"]);
    // Both nodes of a guest are on the node that every host has, so that this works on any host.
    let two_nodes =
        placement::Place { bound_to: vec![share(&[0]), share(&[1])], ..placed(2, &Policy::Auto { memory_bytes: 0 }) };
    let one_node = placement::Place { bound_to: vec![share(&[0])], ..placed(1, &Policy::Auto { memory_bytes: 0 }) };
    vec![
        Variant {
            place: placed(1, &Policy::Cores),
            check: Box::new(|place, machine| {
                assert_sees(machine, "vda", "write through");
                assert_has_a_core(place, machine);
                assert_is_filtered_and_watched(machine);
            }),
            ..Variant::of(disk(json!({ "cache": "directsync", "aio": "native", "iothread": true })))
        },
        Variant {
            place: placed(1, &Policy::None),
            ports: vec![PORT],
            check: Box::new(|_, machine| {
                assert_sees(machine, "sda", "write back");
                assert_is_anywhere(machine);
                if machine.facts().command_line.iter().any(|word| word.contains(TAP)) {
                    assert_is_at_its_own_address(machine);
                }
            }),
            ..Variant::of(on_a_tap)
        },
        Variant {
            place: two_nodes,
            cpu_quota: Some(0.5),
            check: Box::new(|place, machine| {
                assert_sees(machine, "nvme0n1", "write back");
                assert_held(place, machine, "100000 µs in every 100000 µs");
                assert_eq!(machine.facts().decided["memory node"].as_deref(), Ok("0,0"));
                assert_eq!(known(&facts(machine), "memory.numa_nodes"), "2");
            }),
            ..Variant::of(disk(json!({ "adapter": "nvme" })))
        },
        Variant {
            place: one_node,
            check: Box::new(|_, machine| {
                assert_sees(machine, "sda", "write through");
                assert_eq!(machine.facts().decided["memory node"].as_deref(), Ok("0"));
                assert_eq!(known(&facts(machine), "memory.numa_nodes"), "1");
                assert_is_of_its_developer(machine);
            }),
            ..Variant::of(developers)
        },
    ]
}

#[test]
fn guests_keep_the_rules_whatever_they_are_asked_for() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let tap = Tap::make();
    if tap.is_none() {
        skip("root", "no tap device can be made here");
    }
    Subject::of_guests("qemu", micro, guests(tap.as_ref())).holds_to_the_rules();
}

fn assert_has_a_core(place: &Place, machine: &mut dyn Machine) {
    let (place, decided) = (&place.order.place, &machine.facts().decided);
    assert_eq!(decided["vcpu pinning"], Ok(format!("vCPU 0 on CPU {}", place.cpus[0])));
    assert_eq!(decided["host CPUs"], Ok(words(&place.cpus)));
    assert_eq!(decided["emulator CPUs"], Ok(words(&place.others)));
    assert!(place.others != place.cpus || here().cpus().len() == 1, "{place:?}");
}

fn assert_is_anywhere(machine: &mut dyn Machine) {
    let decided = &machine.facts().decided;
    assert_eq!(decided["vcpu pinning"].as_deref(), Ok("none, as asked"));
    assert_eq!(decided["host CPUs"], Ok(words(&here().numbers())));
    assert_eq!(decided["emulator CPUs"], decided["host CPUs"]);
}

fn assert_is_at_its_own_address(machine: &mut dyn Machine) {
    let address = machine.reached_at(PORT).unwrap();
    assert_eq!(address.to_string(), format!("192.168.177.2:{PORT}"));
    // Nothing listens there. The guest's immediate refusal shows that packets go both ways.
    let refused = TcpStream::connect_timeout(&address, ANSWER_LIMIT).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
}

/// The QEMU on the path, as a developer would name an own one.
fn binary() -> String {
    let path = std::env::var_os("PATH").expect("a path");
    let mut binaries = std::env::split_paths(&path).map(|folder| folder.join("qemu-system-x86_64"));
    let binary = binaries.find_map(|file| file.canonicalize().ok()).expect("QEMU, as the image is there");
    binary.display().to_string()
}

fn assert_is_of_its_developer(machine: &mut dyn Machine) {
    let decided = |name: &str| machine.facts().decided[name].clone();
    assert_eq!(decided("qemu binary"), Ok(binary()));
    assert_eq!(decided("machine type"), Ok("pc-q35-7.1-machine".to_owned()));
    assert_eq!(decided("further arguments"), Ok("-device virtio-balloon-pci,id=own".to_owned()));
}

fn status(process: u32, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default();
    line.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_is_filtered_and_watched(machine: &mut dyn Machine) {
    let targets = machine.watched().targets;
    let process = targets.pages[0].process;
    let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap();
    assert!(program.ends_with("qemu-system-x86_64"), "{}", program.display());
    assert_eq!(status(process, "Seccomp"), "2");
    if rustix::process::geteuid().is_root() {
        assert_eq!(status(process, "Uid"), "65533 65533 65533 65533");
        assert_eq!(status(process, "Gid"), "65533 65533 65533 65533");
        assert!(["", "65533"].contains(&&*status(process, "Groups")), "{}", status(process, "Groups"));
        assert_eq!(u64::from_str_radix(&status(process, "CapPrm"), 16), Ok(0));
        assert!(machine.facts().decided["user"].as_ref().unwrap().contains("65533"));
    }
    assert!(machine.facts().decided["sandbox"].is_ok(), "{:?}", machine.facts().decided);
    let labels: Vec<&str> = targets.threads.iter().map(|thread| &*thread.label).collect();
    assert!(labels.contains(&"vcpu.0") && labels.contains(&"io.disk"), "{labels:?}");
    for thread in &targets.threads {
        let task = format!("/proc/{process}/task/{}", thread.thread);
        assert!(Path::new(&task).exists(), "{} is no thread of QEMU", thread.label);
    }
}

#[test]
fn ahci_with_a_kernel_without_it_is_a_reason_to_skip() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let table = json!({ "accelerator": "tcg", "disk": { "adapter": "ahci" } });
    let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
    assert!(matches!(error, MachineError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("ahci") && error.to_string().contains("generic"), "{error}");
}

/// By name its modules come compressed; by path it is as a user has it in a folder.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_guest_boots_the_kernel_of_debian_13_by_name_and_by_path() {
    let Some(by_name) = guest_image("micro", &KernelChoice::DEBIAN_13) else { return };
    let kernel = by_name.guest_kernel().unwrap().clone();
    let folder = tempfile::tempdir().unwrap();
    let (file, modules) = (folder.path().join("vmlinuz"), folder.path().join("modules"));
    std::fs::copy(&kernel.file, &file).unwrap();
    std::fs::create_dir(&modules).unwrap();
    for module in std::fs::read_dir(&kernel.modules).unwrap().flatten() {
        std::fs::copy(module.path(), modules.join(module.file_name())).unwrap();
    }
    let (cache, recipe) = (Cache::open(&folder.path().join("cache")).unwrap(), images::find("micro", None).unwrap());
    let by_path = images::build(&recipe, &KernelChoice::File(file), &cache, false, &mut |_| ()).unwrap();
    for image in [by_name, by_path] {
        let place = Place::new(image);
        let mut machine = place.start("qemu", &json!({ "accelerator": "tcg" }));
        assert_eq!(known(&facts(machine.as_mut()), "kernel.release"), kernel.release);
        write_data(machine.as_mut());
        shut_down(machine);
        place.assert_data_was_written();
    }
}

/// Debian's kernel boots, but its drivers are modules, and none is loaded into a kernel that the user names.
#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_kernel_of_the_user_without_its_drivers_built_in_is_named() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let kernel = place.folder.path().join("bzImage");
    std::fs::copy(&place.image().guest_kernel().unwrap().file, &kernel).unwrap();
    let table = json!({ "accelerator": "tcg", "network": "none", "kernel": kernel });
    let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
    let said = error.to_string();
    assert!(said.contains("bzImage, which must have its drivers built in, ended"), "{said}");
    assert!(said.contains("its console says: bakeoff: "), "{said}");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_server_on_a_root_disk_is_reached_from_outside_and_how_its_qemu_ended_is_told() {
    let Some(postgres) = guest_image("postgres", &KernelChoice::DEBIAN_12) else { return };
    let mut place = Place::new(postgres);
    place.order.reached.ports = vec![PORT];
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg" }));
    assert_is_reached(machine.as_mut());
    let process = machine.watched().targets.pages[0].process;
    assert!(Identity::of(process).unwrap().kill().unwrap());
    let Err(MachineError::Ended { status, console, .. }) = machine.stop(ANSWER_LIMIT) else { panic!("it did not end") };
    assert!(status.contains("SIGKILL"), "{status}");
    assert!(!console.contains("Killed"), "{console}");
}

#[test]
fn a_guest_that_panics_ends_with_its_last_words_and_a_kernel_of_the_users_is_named() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut place = Place::new(micro);
    let kernel = place.folder.path().join("bzImage");
    std::fs::copy(&place.image().guest_kernel().unwrap().file, &kernel).unwrap();
    place.order.agent = place.folder.path().join("agent");
    std::fs::write(&place.order.agent, "not a program").unwrap();
    let table = json!({ "accelerator": "tcg", "network": "none", "kernel": kernel });
    let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
    let MachineError::Ended { console, .. } = &error else { panic!("{error}") };
    assert!(console.contains("Kernel panic"), "{error}");
    assert!(error.to_string().contains("bzImage, which must have its drivers built in, ended"), "{error}");
}

/// A kernel that rejects its CPU halts for ever. The limit is short, since the test only checks that waiting ends.
#[test]
fn a_guest_that_hangs_is_given_up_and_ended() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let order = GuestOrder {
        name: "hanging".to_owned(),
        accelerator: Accelerator::Tcg,
        cpu: "qemu32".to_owned(),
        vcpus: 1,
        memory_bytes: place.order.memory_bytes,
        cpus: place.order.place.cpus.clone(),
        bound_to: Vec::new(),
        cgroups: Vec::new(),
        kernel: place.image().guest_kernel().unwrap().file.clone(),
        initramfs: initramfs(place.image(), &place.order.agent, &[]).unwrap(),
        console: place.order.scratch.join("hanging.console"),
        root: None,
        data: None,
        tuning: machines::boot::DataTuning::default(),
        open_files: None,
        reached: Reached::default(),
        isolation: Isolation::here().clone(),
        is_quiet: true,
        settings: QemuSettings::default(),
    };
    let Err(error) = Guest::boot(&order, &place.order.scratch, Duration::from_secs(2)) else { panic!("it booted") };
    assert!(matches!(error, MachineError::Silent { .. }), "{error}");
    assert!(error.to_string().contains("the guest hanging did not answer within 2 s"), "{error}");
    let left = started(&place.order.scratch);
    assert!(!left.is_empty() && left.iter().all(|process| !process.is_alive()));
}

#[test]
fn a_qemu_that_refuses_its_command_line_says_why() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let Err(error) = place.try_start("qemu", &json!({ "accelerator": "tcg", "cpu": "abacus" })) else {
        panic!("it started")
    };
    let MachineError::Ended { status, console, .. } = &error else { panic!("{error}") };
    assert!(status.contains('1') && console.contains("abacus"), "{error}");
}

#[test]
fn what_the_host_does_not_have_is_a_reason_to_skip() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    let tap =
        json!({ "accelerator": "tcg", "network": "tap", "tap": "bakeoff-none", "guest_address": "192.168.77.2/24" });
    let mut pages = Place::new(place.image().clone());
    pages.order.memory_bytes = 1 << 50;
    for (place, table) in [(&place, tap), (&pages, json!({ "accelerator": "tcg", "huge_pages": true }))] {
        let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
        assert!(matches!(error, MachineError::Unavailable { .. }), "{error}");
    }
    let absent = json!({ "accelerator": "tcg", "binary": "/nowhere/qemu" });
    let why = place.try_start("qemu", &absent).err().expect("no machine").to_string();
    assert!(why.contains("binary = \"/nowhere/qemu\" is no file here"), "{why}");
}

/// A tap device that lives as long as the test.
struct Tap;

const TAP: &str = "bakeoff-test";

impl Tap {
    fn make() -> Option<Self> {
        let steps = [
            vec!["tuntap", "add", TAP, "mode", "tap"],
            vec!["address", "add", "192.168.177.1/24", "dev", TAP],
            vec!["link", "set", TAP, "up"],
        ];
        // One that a killed test has left.
        drop(Self);
        let tap = Self;
        let is_made =
            steps.iter().all(|words| Command::new("ip").args(words).status().is_ok_and(|status| status.success()));
        is_made.then_some(tap)
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "delete", TAP]).status();
    }
}
