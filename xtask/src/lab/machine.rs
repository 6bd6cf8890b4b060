//! From a recipe to a host that boots.

use super::LabKind;
use super::host::LabHost;
use super::images::cached;
use anyhow::{Context, ensure};
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// An emulated system with systemd boots in a minute or two, and slower beside other work.
const BOOT_LIMIT: Duration = Duration::from_mins(10);
/// The size of each data disk; it holds what is written, not this much.
const DISK_BYTES: u64 = 16 << 30;
/// Name of the option that makes its disk.
const DISKS: [(&str, &str); 3] = [
    ("ext4", "virtio-blk-pci,drive=ext4,serial=ext4"),
    ("xfs", "virtio-blk-pci,drive=xfs,serial=xfs"),
    ("nvme", "nvme,drive=nvme,serial=nvme,logical_block_size=4096,physical_block_size=4096"),
];
/// Four CPUs on two sockets with a memory node each. The processor has SVM with nested paging, which KVM needs.
const HARDWARE: &str = "-accel tcg,thread=multi,tb-size=1024 -cpu EPYC,+svm,+npt -smp 4,sockets=2,cores=2 -m 6144 \
     -object memory-backend-ram,id=m0,size=3G -object memory-backend-ram,id=m1,size=3G \
     -numa node,nodeid=0,cpus=0-1,memdev=m0 -numa node,nodeid=1,cpus=2-3,memdev=m1 \
     -display none -no-reboot -device virtio-rng-pci -device virtio-net-pci,netdev=net";
/// systemd starts what the recipe brought, but nobody enabled.
const KERNEL_WORDS: &str =
    "console=ttyS0 root=LABEL=root rw panic=-1 systemd.wants=lab.service systemd.wants=systemd-networkd.service";

/// The recipe of every kind, but for its suite.
const RECIPE: &str = include_str!("host.toml");

/// The files from which a host is booted.
pub struct LabFiles {
    kernel: PathBuf,
    initrd: PathBuf,
    root_disk: PathBuf,
}

/// Builds the image of that kind, or finds it in the cache.
pub fn files(root: &Path, program: &Path, kind: LabKind) -> anyhow::Result<LabFiles> {
    let recipes = root.join("target/lab/recipes");
    fs::create_dir_all(&recipes)?;
    fs::write(recipes.join(format!("{}.toml", kind.name())), RECIPE.replace("SUITE", kind.suite()))?;
    let built = Command::new(program).args(["image", "build", kind.name(), "--recipes"]).arg(&recipes).status()?;
    ensure!(built.success(), "the image {} was not built", kind.name());
    let folder = cached(program, "tree", kind.name())?;
    let boot = folder.join("tree/boot");
    let named = |prefix: &str| {
        let mut found = fs::read_dir(&boot)?.filter_map(Result::ok).map(|entry| entry.path());
        let is_it = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        found.find(is_it).with_context(|| format!("no {prefix}… in {}", boot.display()))
    };
    Ok(LabFiles { kernel: named("vmlinuz-")?, initrd: named("initrd.img-")?, root_disk: folder.join("root.ext4") })
}

/// Boots it and waits until someone can log in.
pub fn boot(host: &LabHost, files: &LabFiles) -> anyhow::Result<()> {
    fs::create_dir_all(&host.folder)?;
    let key = host.file("key");
    if !key.exists() {
        let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&key).status()?;
        ensure!(made.success(), "ssh-keygen made no key");
    }
    // QEMU takes it a moment later.
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    fs::write(host.file("port"), port.to_string())?;
    let mut qemu = Command::new("qemu-system-x86_64");
    qemu.args(HARDWARE.split_ascii_whitespace()).args(["-append", KERNEL_WORDS]);
    qemu.arg("-kernel").arg(&files.kernel).arg("-initrd").arg(&files.initrd);
    qemu.args(["-netdev", &format!("user,id=net,hostfwd=tcp:127.0.0.1:{port}-:22")]);
    qemu.args(["-fw_cfg", &format!("name=opt/lab/key,file={}", host.file("key.pub").display())]);
    // Changes of the root disk are forgotten when the host ends.
    let root = format!("file={},if=virtio,format=raw,cache=unsafe,snapshot=on", files.root_disk.display());
    qemu.args(["-drive", &root]);
    for (name, device) in DISKS {
        let path = host.file(&format!("{name}.img"));
        if !path.exists() {
            File::create(&path)?.set_len(DISK_BYTES)?;
        }
        let drive = format!("file={},if=none,id={name},format=raw,cache=unsafe,discard=unmap", path.display());
        qemu.args(["-drive", &drive, "-device", device]);
    }
    qemu.args(["-serial", &format!("file:{}", host.file("console").display())]);
    qemu.args(["-daemonize", "-pidfile"]).arg(host.file("pid"));
    // It warns of features that it cannot emulate, which says nothing if it starts.
    let started = qemu.output().context("qemu-system-x86_64")?;
    ensure!(started.status.success(), "QEMU did not start: {}", String::from_utf8_lossy(&started.stderr));
    host.greeted(BOOT_LIMIT)
}
