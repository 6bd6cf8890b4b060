//! Properties that machines of contenders must have in common, since a difference in them is mistaken for the platform's price. Each row
//! is equal, or set by the study, or part of the comparison because the kind of platform decides it, or a flaw.
//!
//! The facts are those of a trial's record or, before a run, what platforms foresee under the same names.

use crate::findings::{Finding, SharedValue, What};
use crate::gathered::by_first;
use crate::groups::{self, Group};
use crate::machines::known;
use crate::treatment;
use crate::validity;
use record::facts::{CPU_QUOTA, DATA_CACHED_TWICE, Fact, Facts, HOST_CPUS, MEMORY_LIMIT};
use record::plan::{Cell, Plan};
use record::run::Run;
use record::settings::{Differing, at, key};

/// How the load reaches the server, which no platform reports itself.
pub const CONNECTION: &str = "connection";
const DATA: &str = "data";
/// The disk of a machine elsewhere, as its hypervisor has it.
const DATA_DISK: &str = "data disk";
const FILE_SYSTEM: &str = "storage.file_system";
const KERNEL: &str = "kernel.release";
const GUEST_MEMORY: &str = "memory";
pub const GOVERNOR: &str = "cpu.governor";
const OPEN_FILES: &str = "limits.open_files";

/// The facts on storage, and the code of the finding that a difference in them is.
const STORAGE: [&str; 4] = [DATA, DATA_DISK, FILE_SYSTEM, DATA_CACHED_TWICE];
const STORAGE_DIFFERS: &str = "storage-differs";

/// Facts that a machine observes itself. gVisor shows a file system of its own before that of the host.
const INSIDE: [&str; 3] = [KERNEL, OPEN_FILES, FILE_SYSTEM];

#[derive(Clone, Copy)]
struct MachineProperty {
    title: &'static str,
    fact: &'static str,
    value: fn(&Facts, &str) -> Option<String>,
    /// Whether a key that the study sets differently decides it.
    is_set_by: fn(&Differing) -> bool,
    /// Whether kinds of platform decide it.
    is_of_the_kind: bool,
}

const fn property(title: &'static str, fact: &'static str, is_set_by: fn(&Differing) -> bool) -> MachineProperty {
    MachineProperty { title, fact, value: kind, is_set_by, is_of_the_kind: false }
}

const fn of_the_kind(property: MachineProperty) -> MachineProperty {
    MachineProperty { is_of_the_kind: true, ..property }
}

const PROPERTIES: [MachineProperty; 13] = [
    MachineProperty { value: whole, ..property("CPUs", HOST_CPUS, decides_cpus) },
    property("CPU time", CPU_QUOTA, decides_cpus),
    MachineProperty { value: memory, ..property("memory", MEMORY_LIMIT, |set| set.key == key::MEMORY) },
    MachineProperty { value: whole, ..property("memory nodes", "memory node", decides_cpus) },
    MachineProperty { value: pages, ..property("memory pages", GUEST_MEMORY, |set| set.key.ends_with("huge_pages")) },
    property("data", DATA, decides_data),
    property("data disk", DATA_DISK, decides_data),
    property("file system", FILE_SYSTEM, decides_data),
    property("data cached twice", DATA_CACHED_TWICE, decides_data),
    property("open files", OPEN_FILES, |_| false),
    property("frequency governor", GOVERNOR, |_| false),
    of_the_kind(property("connection", CONNECTION, |set| set.is_of(&["load", "engine"]))),
    of_the_kind(property("kernel", KERNEL, |set| set.key.ends_with("kernel") || set.key == "machine.image")),
];

fn decides_cpus(set: &Differing) -> bool {
    let keys = [key::COUNT, key::VCPUS, "machine.pinning", "machine.cpus", "machine.oversubscribe", "platform.pin"];
    keys.contains(&set.key.as_str()) || set.key.starts_with(key::EXCEPTION) || set.key == key::MEMORY
}

/// Platforms of two kinds have different keys of the disk, which explains nothing.
fn decides_data(set: &Differing) -> bool {
    set.key.starts_with("machine.disk") && set.key != key::DISK_SIZE
        || set.is_in_both() && set.key.starts_with("platform.disk")
}

fn kind(facts: &Facts, fact: &str) -> Option<String> {
    facts.get(fact).map(Fact::kind)
}

fn whole(facts: &Facts, fact: &str) -> Option<String> {
    facts.get(fact).map(Fact::to_string)
}

/// The limit of machines on the host's kernel, or the size of a guest: its bytes.
fn memory(facts: &Facts, limit: &str) -> Option<String> {
    let text = whole(facts, limit).or_else(|| whole(facts, GUEST_MEMORY))?;
    Some(text.split_once(" bytes").map_or(text.clone(), |(bytes, _)| format!("{bytes} bytes")))
}

fn pages(facts: &Facts, memory: &str) -> Option<String> {
    Some(whole(facts, memory)?.split_once(" in ")?.1.to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sameness {
    Equal,
    Set,
    OfTheKind,
    Differs,
}

impl Sameness {
    pub fn words(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Set => "set by the study",
            Self::OfTheKind => "part of the comparison",
            Self::Differs => "differs",
        }
    }
}

/// A property of the machines of contenders that are compared with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EqualRow {
    pub property: &'static str,
    fact: &'static str,
    pub values: Vec<SharedValue>,
    /// The values that nothing explains.
    unexplained: Vec<SharedValue>,
    pub sameness: Sameness,
    /// The code of the finding that a difference is.
    pub code: &'static str,
    /// Whether a contender's platform could not do what was asked, which is a finding of its own.
    pub is_lacking: bool,
    /// The coordinates at which it is so; empty if it is everywhere.
    pub at: Vec<String>,
    /// The setting that would make it equal.
    pub remedy: Option<&'static str>,
}

/// The properties of a plan's machines, as `facts` has them. What fewer than two contenders know is left out.
pub fn rows(plan: &Plan, facts: impl Fn(&Cell) -> Facts) -> Vec<EqualRow> {
    let points = groups::of_plan(plan).iter().filter(|group| group.cells.len() > 1).count();
    let each = at_each_point(plan, facts).into_iter();
    let each = each.map(|row| ((row.property, row.values.clone(), row.sameness), row));
    let merged = |(_, mut same): (_, Vec<EqualRow>)| {
        let at = if same.len() == points { Vec::new() } else { same.iter().flat_map(|row| row.at.clone()).collect() };
        EqualRow { at, ..same.swap_remove(0) }
    };
    let mut rows: Vec<EqualRow> = by_first(each).into_iter().map(merged).collect();
    rows.sort_by_key(|row| PROPERTIES.iter().position(|property| property.title == row.property));
    rows
}

fn at_each_point(plan: &Plan, facts: impl Fn(&Cell) -> Facts) -> Vec<EqualRow> {
    let of_group = |group: Group<'_>| {
        let facts: Vec<Facts> = group.cells.iter().map(|cell| facts(cell)).collect();
        PROPERTIES.iter().filter_map(|property| row(&group, &facts, property)).collect::<Vec<_>>()
    };
    groups::of_plan(plan).into_iter().flat_map(of_group).collect()
}

fn row(group: &Group<'_>, facts: &[Facts], property: &MachineProperty) -> Option<EqualRow> {
    let values = values(group, facts, property);
    if values.iter().map(|shared| shared.contenders.len()).sum::<usize>() < 2 {
        return None;
    }
    let fact = property.fact;
    let (sameness, unexplained) = judged(group, property, values.clone());
    let may_be_equal = fact == KERNEL && [Sameness::OfTheKind, Sameness::Differs].contains(&sameness);
    let mut cells = group.cells.iter().zip(facts);
    Some(EqualRow {
        property: property.title,
        fact,
        values,
        unexplained,
        sameness,
        code: if STORAGE.contains(&fact) { STORAGE_DIFFERS } else { "machines-differ" },
        is_lacking: facts.iter().any(|facts| matches!(facts.get(fact), Some(Fact::Unavailable(_)))),
        at: vec![group.coordinates.clone()],
        remedy: (may_be_equal && cells.any(|(cell, facts)| boots_another(cell, facts)))
            .then_some("set machine.kernel = \"host\" to remove it"),
    })
}

/// A guest of this host whose study does not ask for the host's kernel. Machines on that kernel have a limit in place of memory.
fn boots_another(cell: &Cell, facts: &Facts) -> bool {
    let asked = at(cell.settings.tables(), key::KERNEL).and_then(|kernel| kernel.as_str());
    facts.contains_key(GUEST_MEMORY) && !cell.settings.is_elsewhere() && asked != Some("host")
}

/// The same of a run's records, with the governor of its host.
pub fn of_run(run: &Run) -> Vec<EqualRow> {
    rows(&run.plan, |cell| recorded(run, cell))
}

/// Differences that neither the study nor the kinds of platforms explain. A limit that could not be set is a finding of its own.
pub fn findings(run: &Run) -> Vec<Finding> {
    let rows = at_each_point(&run.plan, |cell| recorded(run, cell)).into_iter();
    let finding = |EqualRow { fact, unexplained: values, code, is_lacking, at, .. }: EqualRow| {
        let (fact, is_of_storage) = (fact.to_owned(), code == STORAGE_DIFFERS);
        let what =
            if is_of_storage { What::StorageDiffers { fact, values } } else { What::MachinesDiffer { fact, values } };
        (is_of_storage || !is_lacking).then(|| Finding::new(what).at(&at[0]))
    };
    rows.filter(|row| row.sameness == Sameness::Differs).filter_map(finding).collect()
}

/// The facts of a cell's first trial with a machine.
fn recorded(run: &Run, cell: &Cell) -> Facts {
    let mut trials = validity::trials_of(run, cell.id);
    let first = trials.find_map(|trial| Some((trial, trial.record.machine.as_ref()?)));
    let Some((trial, machine)) = first else { return Facts::new() };
    let mut facts = machine.decided.clone();
    let is_own = |name: &str| INSIDE.contains(&name) && !(machine.has_a_kernel_between() && name == FILE_SYSTEM);
    let inside = machine.inside.iter().filter(|(name, _)| is_own(name));
    let governor = run.host.get_key_value(GOVERNOR).filter(|_| !cell.settings.is_elsewhere());
    let observed = inside.chain(governor).filter(|(_, fact)| known(fact).is_some());
    facts.extend(observed.map(|(name, fact)| (name.clone(), fact.clone())));
    if let Some(driver) = trial.record.driver.as_ref() {
        let between = machine.has_a_kernel_between().then_some("gVisor");
        facts.insert(CONNECTION.to_owned(), Fact::known(connection(driver.in_process, &driver.placement, between)));
    }
    facts
}

/// How the load reaches the database: calls, a Unix socket, or TCP.
pub fn connection(in_process: bool, placement: &str, between: Option<&str>) -> String {
    let by = if in_process {
        "calls within the process"
    } else if placement == "outside" {
        "TCP"
    } else {
        "Unix socket"
    };
    between.filter(|_| !in_process).map_or_else(|| by.to_owned(), |kernel| format!("{by} of {kernel}"))
}

fn values(group: &Group<'_>, facts: &[Facts], property: &MachineProperty) -> Vec<SharedValue> {
    let each = group.cells.iter().zip(facts);
    let value =
        |(cell, facts): (&&Cell, &Facts)| Some(((property.value)(facts, property.fact)?, cell.contender.clone()));
    SharedValue::by_value(each.filter_map(value))
}

/// The values that nothing explains stay.
fn judged(group: &Group<'_>, property: &MachineProperty, values: Vec<SharedValue>) -> (Sameness, Vec<SharedValue>) {
    if values.len() < 2 {
        return (Sameness::Equal, values);
    }
    let left = treatment::unexplained(group, values, property.is_set_by);
    if left.len() < 2 {
        return (Sameness::Set, left);
    }
    let is_kind =
        |set: &Differing| property.is_of_the_kind && ["platform.kind", "platform.runtime"].contains(&set.key.as_str());
    let left = treatment::unexplained(group, left, is_kind);
    (if left.len() < 2 { Sameness::OfTheKind } else { Sameness::Differs }, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;
    use serde_json::{Value, json};

    /// A run in which every machine of the second contender has this fact, and the study sets these keys for it.
    fn with(name: &str, value: &str, set: &[(&str, Value)]) -> Run {
        let mut run = synthetic::run(1);
        for cell in &mut run.plan.cells {
            cell.settings.set(key::DISK_SIZE, json!(1)).unwrap();
        }
        for (key, value) in set {
            run.plan.cells[1].settings.set(key, value.clone()).unwrap();
        }
        let second = run.plan.cells[1].id;
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == second) {
            let machine = trial.record.machine.as_mut().unwrap();
            let facts = if INSIDE.contains(&name) { &mut machine.inside } else { &mut machine.decided };
            facts.insert(name.to_owned(), Fact::known(value));
        }
        run
    }

    fn sameness(run: &Run, property: &str) -> Option<Sameness> {
        of_run(run).iter().find(|row| row.property == property).map(|row| row.sameness)
    }

    fn kinds(run: &Run) -> Vec<&'static str> {
        findings(run).iter().map(|finding| finding.what.kind().name).collect()
    }

    #[test]
    fn a_difference_is_set_or_of_the_kind_or_a_flaw() {
        let equal = with("host CPUs", "0,1", &[]);
        assert_eq!((sameness(&equal, "CPUs"), kinds(&equal)), (Some(Sameness::Equal), vec![]));
        let cpus = with("host CPUs", "2,3", &[]);
        assert_eq!((sameness(&cpus, "CPUs"), kinds(&cpus)), (Some(Sameness::Differs), vec!["machines-differ"]));
        let pinned = with("host CPUs", "2,3", &[("machine.pinning", json!("none"))]);
        assert_eq!((sameness(&pinned, "CPUs"), kinds(&pinned)), (Some(Sameness::Set), vec![]));
        let kernel = with(KERNEL, "6.12", &[]);
        assert_eq!((sameness(&kernel, "kernel"), kinds(&kernel)), (Some(Sameness::OfTheKind), vec![]));
    }

    #[test]
    fn a_guest_with_another_kernel_is_one_setting_away_from_the_hosts() {
        let remedy = |release: &str, kernel: &str| {
            let mut run = with(KERNEL, release, &[]);
            for cell in &mut run.plan.cells {
                cell.settings.set(key::KERNEL, json!(kernel)).unwrap();
            }
            for trial in run.trials.iter_mut().filter(|trial| trial.record.contender == "kvm") {
                let decided = &mut trial.record.machine.as_mut().unwrap().decided;
                decided.insert(GUEST_MEMORY.to_owned(), Fact::known("2147483648 bytes in ordinary pages"));
            }
            let row = of_run(&run).into_iter().find(|row| row.property == "kernel").unwrap();
            (row.sameness, row.remedy, kinds(&run))
        };
        let words = Some("set machine.kernel = \"host\" to remove it");
        assert_eq!(remedy("6.12", "debian-12"), (Sameness::OfTheKind, words, vec![]));
        assert_eq!(remedy("6.12", "host"), (Sameness::OfTheKind, None, vec![]), "it is asked for already");
        assert_eq!(remedy("6.1.0-25-amd64", "host"), (Sameness::Equal, None, vec![]));
    }

    #[test]
    fn kernels_of_two_platforms_of_one_kind_must_be_the_same() {
        let native = synthetic::run(1).plan.cells[0].settings.tables()["platform"].clone();
        let run = with(KERNEL, "6.12", &[("platform", native)]);
        assert_eq!((sameness(&run, "kernel"), kinds(&run)), (Some(Sameness::Differs), vec!["machines-differ"]));
    }

    #[test]
    fn storage_is_explained_by_keys_that_both_have() {
        let folder = |set: &[(&str, Value)]| sameness(&with(DATA, "a plain folder of the host", set), "data");
        for unrelated in
            [("engine.profile", json!("x")), ("platform.disk.cache", json!("none")), ("machine.disk.size", json!(77))]
        {
            assert_eq!(folder(std::slice::from_ref(&unrelated)), Some(Sameness::Differs), "{unrelated:?}");
        }
        assert_eq!(folder(&[("machine.disk.file_system", json!("xfs"))]), Some(Sameness::Set));
        assert_eq!(kinds(&with(DATA, "a plain folder of the host", &[])), ["storage-differs"]);
        let mut elsewhere = with(DATA_DISK, "thin", &[]);
        for trial in elsewhere.trials.iter_mut().filter(|trial| trial.record.contender == "native") {
            let decided = &mut trial.record.machine.as_mut().unwrap().decided;
            decided.insert(DATA_DISK.to_owned(), Fact::known("thick"));
        }
        assert_eq!(kinds(&elsewhere), ["storage-differs"]);
    }

    /// That of the synthetic native machine could not be set.
    #[test]
    fn a_limit_that_is_missing_is_shown_and_is_a_finding_of_its_own() {
        let run = with("memory", "2147483648 bytes in ordinary pages", &[]);
        let row = of_run(&run).into_iter().find(|row| row.property == "memory").unwrap();
        assert_eq!((row.sameness, row.values.len()), (Sameness::Differs, 2));
        assert!(row.values.iter().any(|shared| shared.value == "2147483648 bytes"), "{row:?}");
        assert_eq!(kinds(&run), Vec::<&str>::new());
    }

    #[test]
    fn memory_is_compared_by_its_bytes() {
        let mut run = with("memory", "2147483648 bytes in ordinary pages", &[]);
        for trial in &mut run.trials {
            let decided = &mut trial.record.machine.as_mut().unwrap().decided;
            if trial.record.contender == "native" {
                decided.insert(MEMORY_LIMIT.to_owned(), Fact::known("2147483648 bytes"));
            }
        }
        assert_eq!(sameness(&run, "memory"), Some(Sameness::Equal));
    }
}
