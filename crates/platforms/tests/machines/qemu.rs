//! The QEMU platform with emulated guests, which boot everywhere.

use crate::place::{
    ANSWER_LIMIT, Place, ask, facts, guest_image, known, shut_down, skip, start_server, started, write_data,
};
use agent::protocol::{Reply, Request};
use images::Flavour;
use machines::machine::MachineError;
use platforms::order::Reached;
use platforms::qemu::boot::initramfs;
use platforms::qemu::command::{Accelerator, CommandOrder};
use platforms::qemu::guest::Guest;
use platforms::qemu::isolation::Isolation;
use platforms::qemu::settings::QemuSettings;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// The first message of PostgreSQL's protocol that a server answers without knowing the client: its length, and a
/// request for TLS.
const ASK_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
const PORT: u16 = 15_432;

/// Boots a guest, lets a database write, powers off, and checks the disk from outside.
fn write_and_read_back(flavour: Flavour, disk: &Value, device: &str, write_cache: &str) {
    let Some(micro) = guest_image("micro", flavour) else { return };
    let place = Place::new(micro);
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg", "disk": disk }));
    let inside = facts(machine.as_mut());
    assert_eq!(known(&inside, "storage.device"), device);
    assert_eq!(known(&inside, "storage.write_cache"), write_cache);
    assert!(known(&inside, "storage.mount_options").contains("noatime"));
    assert_eq!(known(&inside, "kernel.clocksource").split('-').next(), Some("tsc"));
    assert!(machine.decided().values().all(Result::is_ok), "{:?}", machine.decided());
    write_data(machine.as_mut());
    shut_down(machine);
    place.assert_data_was_written();
}

#[test]
fn virtio_blk_with_each_cache_and_aio() {
    for (cache, aio, write_cache) in [
        ("none", "threads", "write back"),
        ("writeback", "io_uring", "write back"),
        ("writethrough", "threads", "write through"),
        ("directsync", "native", "write through"),
        ("unsafe", "threads", "write back"),
    ] {
        let disk = json!({ "adapter": "virtio-blk", "cache": cache, "aio": aio, "iothread": cache == "none" });
        write_and_read_back(Flavour::Cloud, &disk, "vda", write_cache);
    }
}

#[test]
fn virtio_scsi() {
    let disk = json!({ "adapter": "virtio-scsi", "iothread": true });
    write_and_read_back(Flavour::Cloud, &disk, "sda", "write back");
}

#[test]
fn nvme() {
    write_and_read_back(Flavour::Cloud, &json!({ "adapter": "nvme" }), "nvme0n1", "write back");
}

#[test]
fn pvscsi() {
    write_and_read_back(Flavour::Cloud, &json!({ "adapter": "pvscsi" }), "sda", "write back");
}

#[test]
fn ahci_with_the_kernel_that_has_it() {
    write_and_read_back(Flavour::Generic, &json!({ "adapter": "ahci" }), "sda", "write back");
}

#[test]
fn ahci_with_a_kernel_without_it_is_a_reason_to_skip() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let table = json!({ "accelerator": "tcg", "disk": { "adapter": "ahci" } });
    let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
    assert!(matches!(error, MachineError::Unavailable { .. }), "{error}");
    assert!(error.to_string().contains("ahci") && error.to_string().contains("generic"), "{error}");
}

/// Debian's kernel boots, but its drivers are modules, and none is loaded into a kernel that the user names.
#[test]
fn a_kernel_of_the_user_without_its_drivers_built_in_is_named() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
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
fn a_server_on_a_root_disk_is_reached_from_outside() {
    let Some(postgres) = guest_image("postgres", Flavour::Cloud) else { return };
    let mut place = Place::new(postgres);
    place.order.reached.ports = vec![PORT];
    let mut machine = place.start("qemu", &json!({ "accelerator": "tcg" }));
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
fn a_guest_that_panics_ends_with_its_last_words() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let mut place = Place::new(micro);
    place.order.agent = place.folder.path().join("agent");
    std::fs::write(&place.order.agent, "not a program").unwrap();
    let Err(error) = place.try_start("qemu", &json!({ "accelerator": "tcg" })) else { panic!("it started") };
    let MachineError::Ended { console, .. } = &error else { panic!("{error}") };
    assert!(console.contains("Kernel panic"), "{error}");
}

/// A kernel that rejects its CPU halts for ever. The limit is short, since the test only checks that waiting ends.
#[test]
fn a_guest_that_hangs_is_given_up_and_ended() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let order = CommandOrder {
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
        reached: Reached::default(),
        isolation: Isolation::here().clone(),
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
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let Err(error) = place.try_start("qemu", &json!({ "accelerator": "tcg", "cpu": "abacus" })) else {
        panic!("it started")
    };
    let MachineError::Ended { status, console, .. } = &error else { panic!("{error}") };
    assert!(status.contains('1') && console.contains("abacus"), "{error}");
}

#[test]
fn what_the_host_does_not_have_is_a_reason_to_skip() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let tap =
        json!({ "accelerator": "tcg", "network": "tap", "tap": "bakeoff-none", "guest_address": "192.168.77.2/24" });
    let mut pages = Place::new(place.image().clone());
    pages.order.memory_bytes = 1 << 50;
    for (place, table) in [(&place, tap), (&pages, json!({ "accelerator": "tcg", "huge_pages": true }))] {
        let Err(error) = place.try_start("qemu", &table) else { panic!("it started") };
        assert!(matches!(error, MachineError::Unavailable { .. }), "{error}");
    }
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

#[test]
fn a_guest_on_a_tap_device_is_reached_at_its_own_address() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let Some(_tap) = Tap::make() else { return skip("root", "no tap device can be made here") };
    let mut place = Place::new(micro);
    place.order.reached.ports = vec![PORT];
    let table = json!({ "accelerator": "tcg", "network": "tap", "tap": TAP, "guest_address": "192.168.177.2/24" });
    let machine = place.start("qemu", &table);
    let address = machine.reached_at(PORT).unwrap();
    assert_eq!(address.to_string(), format!("192.168.177.2:{PORT}"));
    // Nothing listens there. The guest's immediate refusal shows that packets go both ways.
    let refused = TcpStream::connect_timeout(&address, ANSWER_LIMIT).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    shut_down(machine);
}

#[test]
fn what_a_developer_of_qemu_asked_for_is_read_back_from_the_running_machine() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let place = Place::new(micro);
    let path = std::env::var_os("PATH").expect("a path");
    let mut binaries = std::env::split_paths(&path).map(|folder| folder.join("qemu-system-x86_64"));
    let binary = binaries.find_map(|file| file.canonicalize().ok()).expect("QEMU, as the image is there");
    let own = json!({
        "accelerator": "tcg", "binary": binary, "machine": "pc-q35-7.1", "arguments": ["-device", "virtio-balloon-pci,id=own"],
    });
    let machine = place.start("qemu", &own);
    let decided = |name: &str| machine.decided()[name].clone();
    assert_eq!(decided("qemu binary"), Ok(binary.display().to_string()));
    assert_eq!(decided("machine type"), Ok("pc-q35-7.1-machine".to_owned()));
    assert_eq!(decided("further arguments"), Ok("-device virtio-balloon-pci,id=own".to_owned()));
    shut_down(machine);

    let absent = json!({ "accelerator": "tcg", "binary": "/nowhere/qemu" });
    let why = place.try_start("qemu", &absent).err().expect("no machine").to_string();
    assert!(why.contains("binary = \"/nowhere/qemu\" is no file here"), "{why}");
}
