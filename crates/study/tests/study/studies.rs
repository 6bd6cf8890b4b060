//! The study files that come with bakeoff, checked against the real catalogs.

use images::KernelChoice;
use platforms::huge_pages::HugePages;
use platforms::placement::UsableCpus;
use record::plan::Plan;
use serde_json::Map;
use settings::{Holds, Key};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use study::{Against, Catalogs, FindingCode, Host, Kind, TypedPlan};

/// The smallest host that the studies are meant for.
fn host() -> Host {
    Host {
        topology: UsableCpus::flat(&[0, 1]),
        memory_bytes: 4 << 30,
        huge_pages: HugePages::default(),
        kernel: KernelChoice::DEBIAN_12,
    }
}

fn typed(plan: &Plan) -> TypedPlan {
    TypedPlan::read(plan.clone(), platforms::catalog::settings).expect("a decided plan")
}

/// A study for a host of four sockets with 15 cores of two threads each.
const FOUR_SOCKETS: &str = "published/monster-vm/monster-vm-full.toml";
/// The ending of studies for hosts that are larger than the smallest one.
const FULL: &str = "-full.toml";
/// Files of published figures, which are no studies.
const FIGURES: &str = "published.toml";

/// What the kernel reports of these sockets, with as many cores of two threads each; second threads are numbered last.
fn two_threads_each(sockets: usize, cores_each: usize, memory_bytes: u64) -> Host {
    let root = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str, text: &str| {
        let file = root.path().join("sys/devices/system").join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("its folder");
        std::fs::write(file, format!("{text}\n")).expect("a file");
    };
    let cores = sockets * cores_each;
    write("cpu/online", &format!("0-{}", 2 * cores - 1));
    for cpu in 0..2 * cores {
        let core = cpu % cores;
        write(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &format!("{core},{}", core + cores));
    }
    for socket in 0..sockets {
        let first = socket * cores_each;
        let cpus = |first: usize| format!("{first}-{}", first + cores_each - 1);
        write(&format!("node/node{socket}/cpulist"), &format!("{},{}", cpus(first), cpus(first + cores)));
        let kib = memory_bytes / 1024 / sockets as u64;
        write(&format!("node/node{socket}/meminfo"), &format!("Node {socket} MemTotal:       {kib} kB"));
    }
    let topology = UsableCpus::read(root.path()).expect("a topology");
    Host { topology, memory_bytes, ..host() }
}

fn four_sockets() -> Host {
    two_threads_each(4, 15, 1 << 40)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies")
}

fn plan(name: &str, text: &str) -> Plan {
    let host = if name == FOUR_SOCKETS { four_sockets() } else { host() };
    plan_on(&host, name, text).unwrap_or_else(|problems| panic!("{}", study::render(&problems, name)))
}

fn plan_on(host: &Host, name: &str, text: &str) -> Result<Plan, Vec<study::Flaw>> {
    // The analysis knows the codes.
    let codes = vec![FindingCode { name: "storage-differs", acceptable: true }];
    let catalogs = Catalogs { codes, ..Catalogs::standard() };
    study::plan(name, text, Against::Baseline, &catalogs, host)
}

/// The names of all study files, from the studies' folder.
fn names() -> Vec<String> {
    fn files_in(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let paths = entries.flatten().map(|entry| entry.path());
        paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
    }
    let root = folder();
    let files = files_in(&root).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let relative = files.filter_map(|path| Some(path.strip_prefix(&root).ok()?.display().to_string()));
    let mut names: Vec<String> = relative.filter(|name| !name.ends_with(FIGURES)).collect();
    names.sort_unstable();
    names
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_study_can_be_planned() {
    let planned = names();
    for name in planned.iter().filter(|name| !name.ends_with(FULL)) {
        assert!(!plan(name, &read(name)).trials.is_empty(), "{name}");
    }
    for name in [
        "aa-native.toml",
        "brokerage-native-vs-vm.toml",
        "decision-support-ds-native-vs-vm.toml",
        "decision-support-h-native-vs-vm.toml",
        "mariadb-native-vs-vm.toml",
        "mariadb-versions.toml",
        "platforms-side-by-side.toml",
        "postgres-native-vs-containers.toml",
        "postgres-native-vs-vm.toml",
        "postgres-versions.toml",
        "published/consolidation-minimum/consolidation-minimum-small.toml",
        "published/hypervisor-bake-off/hypervisor-bake-off-small.toml",
        "published/monster-vm/monster-vm-small.toml",
        "published/oltp-consolidation/oltp-consolidation-small.toml",
        "published/order-entry-vs-native/order-entry-vs-native-ablation-small.toml",
        "published/order-entry-vs-native/order-entry-vs-native-small.toml",
        "quickstart.toml",
        "reference.toml",
    ] {
        assert!(planned.iter().any(|other| other == name), "{name} is not there");
    }
}

/// On each host either the plan in a line, or what the host lacks.
#[test]
fn studies_for_large_hosts_are_planned_there_and_refused_elsewhere() {
    let hosts = [
        ("2 CPUs, 24 GiB", Host { memory_bytes: 24 << 30, ..host() }),
        ("16 CPUs, 64 GiB", two_threads_each(2, 4, 64 << 30)),
        ("64 CPUs, 256 GiB", two_threads_each(2, 16, 256 << 30)),
        ("240 CPUs, 2 TiB", two_threads_each(4, 30, 2 << 40)),
    ];
    let mut told = Vec::new();
    for name in names().iter().filter(|name| name.ends_with(FULL)) {
        let file = name.rsplit('/').next().unwrap();
        told.push(file.to_owned());
        for (host, known) in &hosts {
            told.push(match plan_on(known, name, &read(name)) {
                Ok(plan) => {
                    let hours = study::estimate(&typed(&plan)).total_ms / 3_600_000;
                    let skipped = plan.ablation.iter().flat_map(|ablation| &ablation.changes);
                    let skipped: Vec<&str> =
                        skipped.filter(|change| change.skipped.is_some()).map(|change| change.name.as_str()).collect();
                    let skipped =
                        if skipped.is_empty() { String::new() } else { format!(", without {}", skipped.join(" and ")) };
                    format!("  {host}: {} cells, {} trials, {hours} h{skipped}", plan.cells.len(), plan.trials.len())
                }
                Err(problems) => format!("  {host}: {}", study::render(&problems[..1], file).trim_end()),
            });
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}

/// The sizes of the published study, on the cores that it had them on.
#[test]
fn the_monster_has_a_core_for_each_vcpu_up_to_sixty() {
    let (plan, host) = (plan(FOUR_SOCKETS, &read(FOUR_SOCKETS)), four_sockets());
    let mut sizes = Vec::new();
    for cell in typed(&plan).typed().iter().filter(|cell| cell.written.baseline) {
        let machine = &cell.machine;
        let policy = machine.policy().unwrap();
        let places = platforms::placement::place(&host.topology, &policy, 1, machine.vcpus, 0).unwrap();
        let core = |number: &usize| host.topology.cpu(*number).unwrap().core;
        let cores: BTreeSet<usize> = places[0].vcpu_cpus().iter().map(core).collect();
        sizes.push((machine.vcpus, cores.len(), cell.written.instances()));
    }
    assert_eq!(sizes, [(15, 15, 8), (30, 30, 8), (45, 45, 8), (60, 60, 8), (120, 60, 8), (60, 30, 8)]);
    assert_eq!(plan.trials.len(), 2 * sizes.len() * 5);
}

#[test]
fn the_quickstart_measures_at_most_three_minutes_in_equal_shapes() {
    let plan = plan("quickstart.toml", &read("quickstart.toml"));
    assert!(study::estimate(&typed(&plan)).driving_ms <= 180_000);
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
