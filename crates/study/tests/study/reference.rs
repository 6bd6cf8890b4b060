//! The reference of the invented catalogs; the real one is checked in [`crate::studies`].

use crate::fixture::{catalogs, plan};
use insta::assert_snapshot;

#[test]
fn the_reference_can_be_planned() {
    assert_eq!(plan(&study::reference(&catalogs())).cells.len(), 8);
}

#[test]
fn every_kind_is_told_with_its_keys() {
    let text = study::reference(&catalogs());
    let (_, engines) = text.split_once("# workload = { kind = \"…\" }\n").unwrap();
    let (engines, rest) = engines.split_once("# Who works on").unwrap();
    assert_snapshot!(engines, @r#"
    # An invented entry.
    [engine]
    kind = "server"

    # Named settings.
    # "sized" or "stock"; default "sized".
    profile = "sized"

    # Databases in each machine: each has a server with an equal part of the memory, a copy of the data, and an equal part
    # of the load.
    # A whole number from 1 to 64; default 1.
    instances = 1

    # Whether the databases of a machine are databases of one server, which then has all of the memory.
    # True or false; default false.
    shared_server = false

    # Version of the server, such as "17" or "11.8": it chooses the image, or one of the servers that are installed where
    # machines need no image; the newest in the machine unless given; not for sqlite.
    # Text in quotes; absent unless given.
    # version = "…"

    # An invented entry.
    # [engine]
    # kind = "sqlite"
    #
    # A size such as "2GiB", from 512 B to 64 KiB; default "4KiB".
    # page = "4KiB"

    # An invented entry.
    [workload]
    kind = "orders"

    # How many.
    # A whole number from 1 to 5000; must be given.
    warehouses = 1
    "#);
    let (_, contenders) = rest.split_once("the first.\n").unwrap();
    assert_snapshot!(contenders.split("# Scenarios").next().unwrap(), @r#"
    # An invented entry.
    [[contender]]
    name = "native"
    baseline = true

    [contender.platform]
    kind = "native"

    # An invented entry.
    [[contender]]
    name = "vm"
    baseline = false

    [contender.platform]
    kind = "vm"

    # "auto", "kvm" or "tcg"; default "auto".
    accelerator = "auto"

    [contender.platform.disk]

    # "virtio-blk" or "nvme"; default "virtio-blk".
    adapter = "virtio-blk"

    # "none" or "writeback"; default "none".
    cache = "none"
    "#);
}
