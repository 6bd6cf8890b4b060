//! Each adapter and each cache of a guest's disk, as the guest sees it and as the host finds it afterwards. A few of them
//! are also among the guests of the rules; what each changes in a command line has golden tests in the crate.

use crate::daemons::Daemons;
use crate::libvirt::Ground;
use crate::place::{Place, assert_sees, guest_image, shut_down, write_data};
use images::{Image, KernelChoice};
use serde_json::{Value, json};

/// Boots a guest, lets a database write, powers off, and checks the disk from outside.
fn write_and_read_back(kind: &str, image: &Image, table: &Value, device: &str, write_cache: &str) {
    let place = Place::new(image.clone());
    let mut machine = place.start(kind, table);
    assert_sees(machine.as_mut(), device, write_cache);
    write_data(machine.as_mut());
    shut_down(machine);
    place.assert_data_was_written();
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn each_adapter_and_cache_of_qemu_is_read_back() {
    let (Some(cloud), Some(generic)) =
        (guest_image("micro", &KernelChoice::DEBIAN_12), guest_image("micro", &KernelChoice::DEBIAN_12_GENERIC))
    else {
        return;
    };
    for (disk, device, write_cache) in [
        (json!({ "cache": "none", "aio": "threads", "iothread": true }), "vda", "write back"),
        (json!({ "cache": "writeback", "aio": "io_uring" }), "vda", "write back"),
        (json!({ "cache": "writethrough", "aio": "threads" }), "vda", "write through"),
        (json!({ "cache": "directsync", "aio": "native" }), "vda", "write through"),
        (json!({ "cache": "unsafe", "aio": "threads" }), "vda", "write back"),
        (json!({ "adapter": "virtio-scsi", "iothread": true }), "sda", "write back"),
        (json!({ "adapter": "nvme" }), "nvme0n1", "write back"),
        (json!({ "adapter": "pvscsi" }), "sda", "write back"),
        (json!({ "adapter": "ahci" }), "sda", "write back"),
    ] {
        let image = if disk["adapter"] == "ahci" { &generic } else { &cloud };
        write_and_read_back("qemu", image, &json!({ "accelerator": "tcg", "disk": disk }), device, write_cache);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn each_adapter_and_cache_of_libvirt_is_read_back() {
    let Some(image) = guest_image("micro", &KernelChoice::DEBIAN_12_GENERIC) else { return };
    let Some(daemons) = Daemons::start() else { return };
    let ground = Ground { daemons: &daemons, image };
    for (disk, device, write_cache) in [
        (json!({ "cache": "none", "aio": "native", "iothread": true, "discard": "unmap" }), "vda", "write back"),
        (json!({ "cache": "writethrough", "aio": "io_uring", "operations_limit": 900 }), "vda", "write through"),
        (json!({ "adapter": "virtio-scsi", "iothread": true, "cache": "directsync" }), "sda", "write through"),
        (json!({ "adapter": "pvscsi", "cache": "unsafe" }), "sda", "write back"),
        (json!({ "adapter": "ahci", "cache": "writeback" }), "sda", "write back"),
    ] {
        write_and_read_back("libvirt", &ground.image, &ground.table(json!({ "disk": disk })), device, write_cache);
    }
}
