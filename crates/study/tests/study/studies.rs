//! The study files that come with bakeoff, checked against the real catalogs.

use platforms::huge_pages::HugePages;
use platforms::placement::Topology;
use record::plan::Plan;
use serde_json::Map;
use settings::{Holds, Key};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use study::{Against, Catalogs, FindingCode, Host, Kind};

/// The smallest host that the studies are meant for.
fn host() -> Host {
    Host { topology: Topology::flat(&[0, 1]), memory_bytes: 4 << 30, huge_pages: HugePages::default() }
}

/// A study for a host of this shape.
const FOUR_SOCKETS: &str = "monster-vm.toml";

/// What the kernel reports of four sockets with 15 cores of two threads each, second threads numbered last.
fn four_sockets() -> Host {
    const CORES: usize = 60;
    const CORES_OF_A_SOCKET: usize = 15;
    let root = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let file = root.path().join("sys/devices/system").join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("its folder");
        std::fs::write(file, format!("{text}\n")).expect("a file");
    };
    write("cpu/online", "0-119");
    for cpu in 0..2 * CORES {
        let core = cpu % CORES;
        write(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &format!("{core},{}", core + CORES));
    }
    for socket in 0..4 {
        let first = socket * CORES_OF_A_SOCKET;
        let cpus = |first: usize| format!("{first}-{}", first + CORES_OF_A_SOCKET - 1);
        write(&format!("node/node{socket}/cpulist"), &format!("{},{}", cpus(first), cpus(first + CORES)));
        write(&format!("node/node{socket}/meminfo"), &format!("Node {socket} MemTotal:       264241152 kB"));
    }
    let topology = Topology::read(root.path()).expect("a topology");
    Host { topology, memory_bytes: 1 << 40, huge_pages: HugePages::default() }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies")
}

fn plan(name: &str, text: &str) -> Plan {
    let problems = |problems: Vec<study::Problem>| panic!("{}", study::render(&problems, name));
    let host = if name == FOUR_SOCKETS { four_sockets() } else { host() };
    // The analysis knows the codes.
    let codes = vec![FindingCode { name: "storage-differs", acceptable: true }];
    let catalogs = Catalogs { codes, ..Catalogs::standard() };
    study::plan(name, text, Against::Baseline, &catalogs, &host).unwrap_or_else(problems)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_study_can_be_planned() {
    let mut planned = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(!plan(&name, &read(&name)).trials.is_empty());
            planned.push(name);
        }
    }
    for name in [
        "aa-native.toml",
        "brokerage-consolidation.toml",
        "brokerage-native-vs-vm.toml",
        "decision-support-consolidation.toml",
        "decision-support-ds-native-vs-vm.toml",
        "decision-support-h-native-vs-vm.toml",
        "mariadb-native-vs-vm.toml",
        "platforms-side-by-side.toml",
        "postgres-native-vs-containers.toml",
        "postgres-native-vs-vm.toml",
        "quickstart.toml",
        "reference.toml",
        "slob-native-vs-vm.toml",
        "sysbench-native-vs-vm.toml",
    ] {
        assert!(planned.iter().any(|other| other == name), "{name} is not there");
    }
}

/// The sizes of the published study, on the cores that it had them on.
#[test]
fn the_monster_has_a_core_for_each_vcpu_up_to_sixty() {
    let (plan, host) = (plan(FOUR_SOCKETS, &read(FOUR_SOCKETS)), four_sockets());
    let mut sizes = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.baseline) {
        let machine = study::machine(cell).unwrap();
        let policy = machine.policy().unwrap();
        let places = platforms::placement::place(&host.topology, &policy, 1, machine.vcpus, 0).unwrap();
        let core = |number: &usize| host.topology.cpu(*number).unwrap().core;
        let cores: BTreeSet<usize> = places[0].vcpu_cpus().iter().map(core).collect();
        sizes.push((machine.vcpus, cores.len(), cell.instances()));
    }
    assert_eq!(sizes, [(15, 15, 8), (30, 30, 8), (45, 45, 8), (60, 60, 8), (120, 60, 8), (60, 30, 8)]);
    assert_eq!(plan.trials.len(), 2 * sizes.len() * 5);
}

#[test]
fn the_quickstart_measures_at_most_three_minutes_in_equal_shapes() {
    let plan = plan("quickstart.toml", &read("quickstart.toml"));
    assert!(study::estimate(&plan).driving_ms <= 180_000);
    let shapes = plan.cells.iter().map(|cell| &cell.settings.tables()["machine"]).collect::<Vec<_>>();
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(plan.cells.iter().map(|cell| cell.contender.as_str()).collect::<Vec<_>>(), ["native", "vm"]);
}

/// Lists show meanings unchanged; the reference makes sentences of them.
#[test]
fn meanings_are_phrases_without_a_full_stop() {
    const NAMES: [&str; 4] = ["CPU", "MariaDB", "PostgreSQL", "SQLite"];
    fn meanings(keys: &[Key], found: &mut Vec<&'static str>) {
        for key in keys {
            found.push(key.meaning);
            if let Holds::Table(inner) = key.holds {
                meanings(inner, found);
            }
        }
    }
    let Catalogs { platforms, engines, workloads, .. } = Catalogs::standard();
    let mut found = Vec::new();
    for kind in platforms.iter().chain(&engines).chain(&workloads) {
        found.push(kind.meaning);
        meanings(kind.keys, &mut found);
    }
    for keys in [study::STUDY, study::MACHINE, study::LOAD] {
        meanings(keys, &mut found);
    }
    let is_phrase = |text: &&str| {
        let named = NAMES.iter().any(|name| text.starts_with(name));
        !text.ends_with('.') && (named || text.starts_with(char::is_lowercase))
    };
    let others: Vec<&str> = found.into_iter().filter(|text| !is_phrase(text)).collect();
    assert_eq!(others, Vec::<&str>::new());
}

/// `BLESS=1 cargo test -p study reference` rewrites the file when keys have changed.
#[test]
fn the_reference_is_what_the_catalogs_say() {
    let reference = study::reference(&Catalogs::standard());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(folder().join("reference.toml"), &reference).unwrap();
    }
    let written = read("reference.toml");
    assert!(
        written == reference,
        "studies/reference.toml is stale; BLESS=1 cargo test -p study reference writes it anew"
    );
}

#[test]
fn the_reference_names_every_key_of_every_entry() {
    let reference = read("reference.toml");
    let catalogs = Catalogs::standard();
    let entries = [&catalogs.engines, &catalogs.workloads, &catalogs.platforms].into_iter().flatten();
    for entry in entries {
        let kind = format!("kind = \"{}\"", entry.kind);
        let (_, after) = reference.split_once(&kind).unwrap_or_else(|| panic!("{kind} is not in the reference"));
        let section = after.split("kind = \"").next().unwrap();
        names_all(section, entry.keys);
    }
    for keys in [study::STUDY, study::MACHINE, study::LOAD] {
        names_all(&reference, keys);
    }
}

fn names_all(section: &str, keys: &[Key]) {
    for key in keys {
        let named = |line: &str| {
            let line = line.trim_start_matches(['#', ' ']);
            line.starts_with(&format!("{} = ", key.name)) || line.ends_with(&format!(".{}]", key.name))
        };
        assert!(section.lines().any(named), "{} is not in the reference", key.name);
        if let Holds::Table(inner) = key.holds {
            names_all(section, inner);
        }
    }
}

/// Each entry's defaults must be values that the entry accepts, and checking them again must change nothing.
#[test]
fn defaults_of_every_entry_fit_their_keys() {
    let catalogs = Catalogs::standard();
    let has_defaults = |entry: &&Kind| entry.keys.iter().all(|key| key.default.is_some());
    let entries = [&catalogs.engines, &catalogs.workloads, &catalogs.platforms].into_iter().flatten();
    for entry in entries.filter(has_defaults) {
        let checked = settings::check_written(&Map::new(), entry.keys);
        let checked = checked.unwrap_or_else(|problems| panic!("{}: {problems:?}", entry.kind));
        assert_eq!(settings::check(&checked, entry.keys), Ok(checked), "{}", entry.kind);
    }
}

/// The reference can still be planned with any other engine or workload in place of the first.
#[test]
fn every_engine_and_workload_can_be_planned() {
    let catalogs = Catalogs::standard();
    for (engine, workload) in
        catalogs.engines.iter().flat_map(|one| catalogs.workloads.iter().map(move |two| (one, two)))
    {
        let only = |kinds: &[Kind], kind: &str| kinds.iter().filter(|entry| entry.kind == kind).copied().collect();
        let engines = only(&catalogs.engines, engine.kind);
        let workloads = only(&catalogs.workloads, workload.kind);
        let text = study::reference(&Catalogs { engines, workloads, ..catalogs.clone() });
        let text = if workload.own_phases { without_offer(&text) } else { text };
        let plan = plan("reference.toml", &text);
        assert_eq!(plan.cells[0].settings.tables()["engine"]["kind"], engine.kind);
        assert_eq!(plan.workloads[0].kind, workload.kind);
        assert!(!plan.workloads[0].notice.is_empty());
    }
}

/// The reference without the keys that phases of its own take the place of.
fn without_offer(text: &str) -> String {
    const OFFER: [&str; 5] = ["clients = ", "warmup = ", "measure = ", "[sweep]", "\"load.clients\" = "];
    let is_kept = |line: &&str| !OFFER.iter().any(|start| line.starts_with(start));
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// One machine alone would find enough huge pages; all three together do not.
#[test]
fn huge_pages_must_be_there_for_all_machines_before_any_is_started() {
    let root = tempfile::tempdir().unwrap();
    let pages = root.path().join("sys/kernel/mm/hugepages/hugepages-2048kB");
    std::fs::create_dir_all(&pages).unwrap();
    for (file, number) in [("nr_hugepages", "1200\n"), ("free_hugepages", "1100\n")] {
        std::fs::write(pages.join(file), number).unwrap();
    }
    let host = Host { huge_pages: HugePages::read(root.path()), ..host() };
    let told = |count: u32| {
        let text = std::fs::read_to_string(folder().join("quickstart.toml")).unwrap();
        let text = text.replace("platform = { kind = \"qemu\"", "platform = { kind = \"qemu\", huge_pages = true");
        let own = format!("vcpus = 2\ncount = {count}\noversubscribe = true\n");
        let planned =
            study::plan("x", &text.replace("vcpus  = 2\n", &own), Against::Baseline, &Catalogs::standard(), &host);
        planned.map_or_else(|problems| study::render(&problems, "x.toml"), |_| "no problem".to_owned())
    };
    assert_eq!(told(2), "no problem");
    let problem = told(3);
    let found = "found true for 3 machines of 1 GiB: 1536 huge pages of 2 MiB are needed, and 1100 are free";
    assert!(problem.contains(found) && problem.contains("`echo 1636 > /sys/kernel/mm/hugepages/"), "{problem}");
}
