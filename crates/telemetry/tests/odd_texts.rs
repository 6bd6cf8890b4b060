//! Whatever a kernel writes, no probe and no fact panics, and a probe's values fit its columns.

use proptest::prelude::*;
use record::telemetry::Side;
use std::path::Path;
use telemetry::{DiskLocation, DiskTarget, FamilyTarget, Interfaces, ProcessTarget, Sampler, Targets, ThreadTarget};

const FILES: [&str; 26] = [
    "proc/stat",
    "proc/interrupts",
    "proc/softirqs",
    "proc/schedstat",
    "proc/meminfo",
    "proc/vmstat",
    "proc/net/dev",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/self/mountinfo",
    "proc/7/cgroup",
    "proc/7/stat",
    "proc/7/smaps_rollup",
    "proc/7/task/7/schedstat",
    "proc/7/task/7/sched",
    "proc/7/task/7/stat",
    "proc/sys/kernel/perf_event_paranoid",
    "sys/block/vda/stat",
    "sys/kernel/mm/ksm/pages_shared",
    "sys/devices/system/node/node0/numastat",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
    "sys/class/powercap/zone:0/energy_uj",
    "sys/class/powercap/zone:0/max_energy_range_uj",
    "sys/class/powercap/zone:0/name",
];

/// Files that facts read, besides some of the above.
const FILES_OF_FACTS: [&str; 18] = [
    "boot/config-1",
    "proc/2/comm",
    "proc/7/comm",
    "proc/cpuinfo",
    "proc/fs/ext4/vda/options",
    "proc/meminfo",
    "proc/self/cgroup",
    "proc/self/limits",
    "proc/self/mountinfo",
    "proc/sys/kernel/osrelease",
    "sys/block/vda/dev",
    "sys/block/vda/dm/name",
    "sys/block/vda/dm/uuid",
    "sys/block/vda/queue/scheduler",
    "sys/devices/system/cpu/cpu0/cpuidle/state0/name",
    "sys/devices/system/cpu/online",
    "sys/devices/system/node/node0/cpulist",
    "sys/kernel/mm/transparent_hugepage/enabled",
];

/// Words that parsers look for, numbers within and beyond their limits, and nonsense.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        3 => any::<u64>().prop_map(|number| number.to_string()),
        2 => (0..20_u64).prop_map(|number| number.to_string()),
        1 => Just("99999999999999999999999".to_owned()),
        4 => prop::sample::select(vec![
            "cpu", "cpu0", "CPU0", "CPU1", "intr", "ctxt", "LOC:", "5:", "version", "MemFree:", "kB", "pgfault", "some",
            "full", "total=5", "eth0:", ":", ")", "numa_hit", "nr_throttled", "0::/", "se.nr_migrations", "-", "cgroup2",
        ]).prop_map(ToOwned::to_owned),
        1 => "\\PC{0,6}",
    ];
    let separator = prop::sample::select(vec![" ", "  ", "\n", "\t", ":"]);
    prop::collection::vec((word, separator), 0..60)
        .prop_map(|words| words.into_iter().map(|(word, separator)| word + separator).collect())
}

fn targets() -> Targets {
    let own = || vec![ProcessTarget { label: "own".to_owned(), process: 7 }];
    Targets {
        without_system: false,
        cpus: Some([0].into()),
        disks: vec![
            DiskTarget { label: "data".to_owned(), location: DiskLocation::Device("vda".to_owned()) },
            DiskTarget { label: "root".to_owned(), location: DiskLocation::Under("/".into()) },
        ],
        interfaces: Interfaces::AllButLoopback,
        threads: vec![ThreadTarget { label: "vcpu.0".to_owned(), process: 7, thread: 7 }],
        families: vec![FamilyTarget {
            label: "family".to_owned(),
            process: 7,
            without_threads: [].into(),
            with_switches: true,
        }],
        pages: own(),
        groups: own(),
    }
}

fn write(root: &Path, files: &[&str], texts: &[String]) {
    for (file, text) in files.iter().zip(texts) {
        let path = root.join(file);
        let folder = path.parent().expect("files are in folders");
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).expect("room for it");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_a_probe_panic(
        first in prop::collection::vec(text(), FILES.len()),
        second in prop::collection::vec(text(), FILES.len()),
    ) {
        let root = tempfile::tempdir().expect("a folder for temporary files");
        write(root.path(), &FILES, &first);
        let mut sampler = Sampler::open(Side::Host, root.path(), &targets(), Vec::new());
        write(root.path(), &FILES, &second);
        let sample = sampler.sample_all(0);
        prop_assert_eq!(sample.values.len(), sampler.columns().len());
        let named = sampler.probes().iter().filter_map(|probe| probe.columns.known()).flatten().count();
        prop_assert_eq!(named, sampler.columns().len());
    }

    #[test]
    fn no_text_makes_a_fact_panic(texts in prop::collection::vec(text(), FILES_OF_FACTS.len())) {
        let root = tempfile::tempdir().expect("a folder for temporary files");
        write(root.path(), &FILES_OF_FACTS, &texts);
        let facts = telemetry::fingerprint(root.path()).len() + telemetry::storage(root.path(), Path::new("/")).len();
        prop_assert_eq!(facts, telemetry::describe(Path::new("/")).len());
    }
}
