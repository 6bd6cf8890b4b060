//! The facts of three systems whose files are kept in `trees`: a recorded host (with its command line and groups
//! shortened), and a minimal guest and a physical server, written by hand after real ones. A tree is one text: each
//! file's path on a line that begins with "==> ", then its lines.

use record::facts::{Fact, Facts};
use std::path::Path;

const HOST: &str = include_str!("trees/host.txt");
const GUEST: &str = include_str!("trees/guest.txt");
const SERVER: &str = include_str!("trees/server.txt");

fn unpack(tree: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for temporary files");
    for file in tree.split("==> ").skip(1) {
        let (path, text) = file.split_once('\n').expect("a path ends its line");
        let (folder, name) = path.rsplit_once('/').expect("paths are absolute");
        let folder = root.path().join(folder.trim_start_matches('/'));
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(name), text)).expect("room for it");
    }
    root
}

fn fingerprint(tree: &str) -> Facts {
    telemetry::fingerprint(unpack(tree).path())
}

fn storage(tree: &str, path: &str) -> Facts {
    telemetry::storage(unpack(tree).path(), Path::new(path))
}

#[track_caller]
fn known(facts: &Facts, name: &str, expected: &str) {
    assert_eq!(facts.get(name), Some(&Fact::known(expected)), "{name}");
}

#[track_caller]
fn unavailable(facts: &Facts, name: &str, reason: &str) {
    assert_eq!(facts.get(name), Some(&Fact::unavailable(reason)), "{name}");
}

#[test]
fn a_recorded_host() {
    let facts = fingerprint(HOST);
    known(&facts, "cpu.model", "AMD EPYC");
    known(&facts, "cpu.threads", "2");
    known(&facts, "cpu.cores", "2");
    known(&facts, "cpu.sockets", "1");
    known(&facts, "cpu.online", "2");
    known(&facts, "cpu.online_list", "0-1");
    known(&facts, "cpu.allowed_list", "0-1");
    known(&facts, "cpu.not_affected", "meltdown");
    known(
        &facts,
        "cpu.vulnerable",
        "spec_rstack_overflow (Vulnerable: Safe RET, no microcode); spec_store_bypass (Vulnerable)",
    );
    unavailable(&facts, "cpu.governor", "the kernel offers no frequency scaling here");
    unavailable(&facts, "cpu.turbo", "the kernel offers no switch for it here");
    known(&facts, "virtualization.guest", "yes");
    unavailable(&facts, "virtualization.vendor", "the hypervisor does not name itself");
    known(&facts, "virtualization.kvm_device", "present");
    unavailable(&facts, "virtualization.kvm_nesting", "no KVM module with such a parameter is loaded");
    known(&facts, "memory.total_bytes", "25276502016");
    known(&facts, "memory.huge_page_bytes", "2097152");
    known(&facts, "memory.transparent_huge_pages", "madvise");
    known(&facts, "memory.same_page_merging", "off");
    known(&facts, "memory.numa_nodes", "1");
    known(&facts, "cpu.core_cpus", "0; 1");
    known(&facts, "kernel.release", "6.18.44");
    known(&facts, "kernel.clocksource", "tsc");
    known(&facts, "kernel.cpu_isolated_list", "none");
    known(&facts, "system.uptime_s", "1283");
    known(&facts, "system.distribution", "Debian GNU/Linux 12 (bookworm)");
    known(&facts, "cgroup.mode", "version 1, with version 2 beside it");
    known(&facts, "cgroup.path", "/runner/job");
    known(&facts, "cgroup.memory_max_bytes", "2147483648");
    known(&facts, "cgroup.cpus_max", "1.50");
    known(&facts, "cgroup.memory_high_bytes", "unlimited");
    known(&facts, "cgroup.cpu_weight", "512");
    known(&facts, "cgroup.io_max", "write_iops 254:0 500");
    known(&facts, "virtualization.nested", "yes, guests of this system run within a guest");
    unavailable(&facts, "virtualization.kvm_features", "this system is no guest of KVM that reports them");
    known(&facts, "kvm.parameters", "halt_poll_ns=200000 tdp_mmu=N");
    unavailable(&facts, "kvm.vendor_parameters", "neither kvm_intel nor kvm_amd is loaded");
    known(&facts, "memory.dirty_background", "10 %");
    known(&facts, "memory.dirty_most", "1073741824 bytes");
    known(&facts, "memory.compressed_swap", "off");
    known(&facts, "kernel.cpu_without_ticks_list", "none");
    known(&facts, "kernel.io_uring", "allowed");
    known(&facts, "system.time_service", "chronyd");
    known(&facts, "kernel.interrupt_balancer", "none is running");
    known(&facts, "limits.open_files", "20000");
}

#[test]
fn a_guest_with_nothing_installed() {
    let facts = fingerprint(GUEST);
    known(&facts, "cpu.model", "QEMU Virtual CPU version 2.5+");
    known(&facts, "cpu.flags_of_interest", "hypervisor svm");
    unavailable(&facts, "cpu.microcode", "/proc/cpuinfo has no field \"microcode\"");
    known(&facts, "virtualization.guest", "yes");
    known(&facts, "virtualization.vendor", "QEMU");
    known(&facts, "virtualization.known_by", "the firmware (it calls the system \"QEMU\")");
    known(&facts, "virtualization.kvm_device", "absent");
    unavailable(&facts, "memory.huge_pages", "/proc/meminfo has no field HugePages_Total");
    unavailable(&facts, "system.distribution", "neither /etc/os-release nor /usr/lib/os-release exists");
    unavailable(&facts, "cgroup.mode", "no control group file system is mounted");
    unavailable(&facts, "cgroup.cpus_max", "no control group file system is mounted");
}

#[test]
fn a_physical_server() {
    let facts = fingerprint(SERVER);
    known(&facts, "cpu.threads", "8");
    known(&facts, "cpu.cores", "4");
    known(&facts, "cpu.sockets", "2");
    known(&facts, "cpu.governor", "performance and powersave");
    known(&facts, "cpu.turbo", "off");
    known(&facts, "kernel.cpu_isolated_list", "2-3");
    known(&facts, "memory.numa_nodes", "2");
    known(&facts, "memory.node_cpus", "0-1,4-5; 2-3,6-7");
    known(&facts, "cpu.core_cpus", "0,4; 1,5; 2,6; 3,7");
    known(&facts, "system.product", "PowerEdge R650");
    known(&facts, "virtualization.guest", "no");
    unavailable(&facts, "virtualization.vendor", "this system is no guest");
    known(&facts, "virtualization.kvm_nesting", "allowed");
    known(&facts, "cgroup.mode", "version 2");
    known(&facts, "cgroup.memory_max_bytes", "1073741824");
    known(&facts, "cgroup.memory_high_bytes", "805306368");
    known(&facts, "cgroup.cpus_max", "unlimited");
    known(&facts, "cgroup.cpu_weight", "100");
    known(&facts, "cgroup.io_max", "259:0 rbps=max wbps=104857600 riops=max wiops=max");
    known(&facts, "virtualization.nested", "no");
    known(&facts, "kvm.modules", "kvm_intel");
    unavailable(&facts, "system.time_service", "/proc shows the processes of a container only");
    known(&facts, "kvm.vendor_parameters", "kvm_intel: ept=Y ple_gap=128");
    known(&facts, "cpu.frequency_driver", "intel_pstate");
    known(&facts, "cpu.frequency_most_khz", "3200000 and 3500000");
    known(&facts, "cpu.idle_states", "POLL 0 us, C1 2 us, C6 133 us (off)");
    known(&facts, "cpu.last_cache", "49152K, shared by CPUs 0-1,4-5");
    known(&facts, "kernel.timer_hz", "250");
    known(&facts, "memory.node_distances", "10 21; 21 10");
    known(&facts, "memory.huge_pages_by_size", "1048576kB: 4; 2048kB: 0");
    known(&facts, "memory.transparent_huge_pages_shared", "advise");
    known(&facts, "system.firmware", "Dell Inc. 1.13.2");
}

#[test]
fn storage_on_a_whole_disk() {
    let facts = storage(HOST, "/var/lib/bakeoff");
    known(&facts, "storage.path", "/var/lib/bakeoff");
    known(&facts, "storage.file_system", "ext4");
    known(&facts, "storage.mount_point", "/");
    known(&facts, "storage.mount_options", "rw,relatime,discard");
    known(&facts, "storage.device", "vda");
    known(&facts, "storage.device_bytes", "274877906944");
    known(&facts, "storage.scheduler", "mq-deadline");
    known(&facts, "storage.rotational", "yes");
    known(&facts, "storage.write_cache", "write back");
    known(&facts, "storage.carried_by", "itself");
    unavailable(&facts, "storage.model", "/sys/block/vda/device/model does not exist");
}

#[test]
fn storage_on_the_data_disk_of_a_guest() {
    let facts = storage(GUEST, "/data/base");
    known(&facts, "storage.device", "vdb");
    known(&facts, "storage.device_bytes", "1073741824");
    known(&facts, "storage.scheduler", "none");
    known(&facts, "storage.rotational", "no");
}

#[test]
fn storage_that_is_carried_by_something_else() {
    let on = |path: &str| storage(SERVER, path);
    known(&on("/var"), "storage.device", "dm-0");
    known(&on("/var"), "storage.carried_by", "nvme0n1p3");
    known(&on("/var"), "storage.layers", "dm-0 (LVM, vg-root) on nvme0n1");
    known(&on("/var"), "storage.disks", "nvme0n1: scheduler none");
    known(&on("/var"), "storage.journal", "yes");
    known(&on("/var"), "storage.commit_options", "barrier,commit=5,data=ordered");
    unavailable(&on("/pool/runs"), "storage.journal", "only ext4 reports it");
    known(&on("/boot"), "storage.device", "nvme0n1p2, a partition of nvme0n1");
    known(&on("/boot"), "storage.device_bytes", "1000341504");
    known(&on("/boot"), "storage.model", "Dell Ent NVMe v2 AGN RI U.2 1.92TB");
    known(&on("/pool/runs"), "storage.device", "sda");
    known(&on("/images"), "storage.carried_by", "the file /var/lib/bakeoff/data.img");
    let why = "tmpfs from \"tmpfs\" has no block device that is visible here";
    unavailable(&on("/scratch"), "storage.device", why);
    unavailable(&on("/scratch"), "storage.scheduler", why);
}

#[test]
fn what_devices_have_counted() {
    let on = |path: &str| telemetry::device_counts(unpack(SERVER).path(), Path::new(path));
    let counts = on("/boot").unwrap();
    assert_eq!(counts.device, "nvme0n1p2, a partition of nvme0n1");
    assert_eq!((counts.reads, counts.read_bytes, counts.writes, counts.flushes), (812, 30_208, 6, Some(2)));
    assert_eq!(on("/var"), Err("/sys/block/dm-0/stat does not exist".to_owned()));
    let why = "tmpfs from \"tmpfs\" has no block device that is visible here";
    assert_eq!(on("/scratch"), Err(why.to_owned()));
}

#[test]
fn a_folder_that_is_no_system_yields_reasons_only() {
    let facts = fingerprint("");
    let known: Vec<_> = facts.iter().filter(|(_, fact)| matches!(fact, Fact::Known(_))).collect();
    assert_eq!(known, [(&"virtualization.kvm_device".to_owned(), &Fact::known("absent"))]);
}

#[test]
fn the_system_that_runs_this_test_knows_its_own_essentials() {
    let facts = telemetry::fingerprint(Path::new("/"));
    for name in ["cpu.online", "memory.total_bytes", "kernel.release", "kernel.command_line", "system.boot_id"] {
        assert!(matches!(facts.get(name), Some(Fact::Known(_))), "{name}: {:?}", facts.get(name));
    }
    let storage = telemetry::storage(Path::new("/"), &std::env::temp_dir());
    assert!(matches!(storage.get("storage.file_system"), Some(Fact::Known(_))), "{storage:?}");
}
