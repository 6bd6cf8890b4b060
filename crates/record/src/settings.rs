//! The decided tables of a cell: the keys that readers of a record need, with types, and all tables as they are written.
//!
//! A key that is read by name is named here once, and nowhere else. All other content of a table is kept and written back
//! unchanged: keys of engines, platforms and workloads belong to those, and a key may come from another version.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// Keys of a study that readers of records use, dotted.
pub mod key {
    pub const COUNT: &str = "machine.count";
    pub const VCPUS: &str = "machine.vcpus";
    pub const MEMORY: &str = "machine.memory";
    pub const KERNEL: &str = "machine.kernel";
    pub const DISK_SIZE: &str = "machine.disk.size";
    pub const EXCEPTION: &str = "machine.exception";
    pub const EXCEPTION_NUMBER: &str = "machine.exception.number";
    pub const EXCEPTION_LOAD: &str = "machine.exception.load";
    pub const EXCEPTION_CPU_QUOTA: &str = "machine.exception.cpu_quota";
    pub const EXCEPTION_CLIENTS: &str = "machine.exception.clients";
    /// The exception's own workload in a cell, if it has one.
    pub const EXCEPTION_WORKLOAD: &str = "machine.exception.workload";
    pub const INSTANCES: &str = "engine.instances";
    pub const SHARED_SERVER: &str = "engine.shared_server";
    pub const PROFILE: &str = "engine.profile";
    pub const CLIENTS: &str = "load.clients";
    pub const WARMUP: &str = "load.warmup";
    pub const MEASURE: &str = "load.measure";
    pub const TRANSACTIONS: &str = "load.transactions";
    pub const MAX_OTHER_CPU: &str = "load.max_other_cpu";
    pub const MAX_REPEATS: &str = "load.max_repeats";
    /// The kind in `platform`, `engine` and `workload`, and in the exception's workload.
    pub const KIND: &str = "kind";
}

/// The platform of a server that ran already. Its machine is unknown, so `machine` in the settings does not describe it.
pub const EXISTING_SERVER: &str = "external";

/// Platforms whose machines are not on the host that conducts.
const ELSEWHERE: [&str; 3] = [EXISTING_SERVER, "host", "vsphere"];

/// The tables of a cell, in the order of a study.
pub const TABLES: [&str; 5] = ["machine", "platform", "engine", "workload", "load"];

/// The most machines side by side in one trial; a run with more would need several hosts.
pub const MOST_MACHINES: u32 = 64;
/// The most databases in one machine.
pub const MOST_INSTANCES: u16 = 64;

/// The decided settings of a cell, in normalised units (bytes, milliseconds).
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(into = "Map<String, Value>")]
pub struct Settings {
    /// The tables as they are written. The other fields are read from them once, so they never change.
    tables: Map<String, Value>,
    machine: RecordedMachine,
    engine: Engine,
    workload: Option<String>,
    load: RecordedLoad,
}

/// `machine`: the shape of each machine. What is absent was not recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedMachine {
    /// Machines side by side in each trial; one if a plan of an old version does not say.
    pub count: u32,
    pub vcpus: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Size of the data disk.
    pub disk_bytes: Option<u64>,
    /// The machine that differs from the others.
    pub exception: Option<MachineException>,
}

/// `machine.exception`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MachineException {
    /// Its number, from 1 to the number of machines.
    pub number: u32,
    /// The share of its vCPUs' time that the whole machine may use.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    #[serde(default)]
    pub load: ExceptionLoad,
    /// Its own number of clients, in place of `load.clients`.
    #[serde(default)]
    pub clients: Option<u32>,
    /// Its own workload table, in place of `workload`.
    #[serde(default)]
    pub workload: Option<Map<String, Value>>,
}

impl MachineException {
    /// The kind of its own workload.
    pub fn workload_kind(&self) -> Option<&str> {
        self.workload.as_ref()?.get(key::KIND)?.as_str()
    }

    /// Whether the others are measured beside it, and it is not. That is so if it stands idle, begins or stops
    /// working in the middle, or does other work.
    pub fn is_bystander(&self) -> bool {
        self.load != ExceptionLoad::Same || self.workload.is_some()
    }
}

/// The load of the exception, beside that of the other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExceptionLoad {
    /// They do the same as the others.
    #[default]
    Same,
    /// They do nothing.
    Idle,
    /// They work until the middle of the measured window.
    Stops,
    /// They work from the middle of the measured window on.
    Starts,
    /// They work in the middle third of the measured window.
    Burst,
}

/// `engine`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Databases in each machine; one if a plan of an old version does not say.
    pub instances: u16,
    /// Whether they are databases of one server; each has its own if a plan of an old version does not say.
    pub shared_server: bool,
    pub profile: Option<String>,
}

/// `load`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordedLoad {
    /// Clients of each machine. `None` if clients do not work back to back, or if the number at the peak is searched for.
    pub clients: Option<u32>,
    pub warmup_ms: u64,
    pub measure_ms: u64,
}

impl Default for RecordedMachine {
    fn default() -> Self {
        Self { count: 1, vcpus: None, memory_bytes: None, disk_bytes: None, exception: None }
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self { instances: 1, shared_server: false, profile: None }
    }
}

/// What is wrong with a cell's tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("settings.{key}: {why}")]
pub struct SettingsError {
    pub key: String,
    pub why: String,
}

impl Settings {
    /// Whether the server ran already, on a machine that bakeoff did not make and does not know.
    pub fn is_of_existing_server(&self) -> bool {
        self.platform() == Some(EXISTING_SERVER)
    }

    /// Whether the machine is another host, or one of another host.
    pub fn is_elsewhere(&self) -> bool {
        self.platform().is_some_and(|kind| ELSEWHERE.contains(&kind))
    }
}

impl TryFrom<Map<String, Value>> for Settings {
    type Error = SettingsError;

    fn try_from(tables: Map<String, Value>) -> Result<Self, SettingsError> {
        for path in TABLES.into_iter().chain([key::EXCEPTION]) {
            table(&tables, path)?;
        }
        let machine = RecordedMachine {
            count: counted(&tables, key::COUNT, 1..=MOST_MACHINES)?,
            vcpus: read(&tables, key::VCPUS)?,
            memory_bytes: read(&tables, key::MEMORY)?,
            disk_bytes: read(&tables, key::DISK_SIZE)?,
            exception: exception(&tables)?,
        };
        let instances = counted(&tables, key::INSTANCES, 1..=MOST_INSTANCES)?;
        let shared_server = read(&tables, key::SHARED_SERVER)?.unwrap_or(false);
        let engine = Engine { instances, shared_server, profile: read(&tables, key::PROFILE)? };
        let is_word = at(&tables, key::CLIENTS).is_some_and(Value::is_string);
        let load = RecordedLoad {
            clients: if is_word { None } else { read(&tables, key::CLIENTS)? },
            warmup_ms: read(&tables, key::WARMUP)?.unwrap_or(0),
            measure_ms: read(&tables, key::MEASURE)?.unwrap_or(0),
        };
        Ok(Self { machine, engine, workload: read(&tables, "workload.kind")?, load, tables })
    }
}

impl From<Settings> for Map<String, Value> {
    fn from(settings: Settings) -> Self {
        settings.tables
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Map::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn exception(tables: &Map<String, Value>) -> Result<Option<MachineException>, SettingsError> {
    // Without its exception, a run would be another run.
    if at(tables, "machine.odd").is_some() {
        return Err(wrong("machine.odd", "this version of bakeoff calls it machine.exception"));
    }
    let number = match (at(tables, key::EXCEPTION), read(tables, key::EXCEPTION_NUMBER)?) {
        (None, _) => return Ok(None),
        (Some(_), Some(number)) => number,
        (Some(_), None) => return Err(wrong(key::EXCEPTION_NUMBER, "missing")),
    };
    Ok(Some(MachineException {
        number,
        cpu_quota: read(tables, key::EXCEPTION_CPU_QUOTA)?,
        load: read(tables, key::EXCEPTION_LOAD)?.unwrap_or_default(),
        clients: read(tables, key::EXCEPTION_CLIENTS)?,
        workload: read(tables, key::EXCEPTION_WORKLOAD)?,
    }))
}

fn read<T: DeserializeOwned>(tables: &Map<String, Value>, key: &str) -> Result<Option<T>, SettingsError> {
    let Some(value) = at(tables, key) else { return Ok(None) };
    T::deserialize(value).map(Some).map_err(|error| wrong(key, error.to_string()))
}

/// A count in its range; one if it is absent.
fn counted<T>(tables: &Map<String, Value>, key: &str, range: RangeInclusive<T>) -> Result<T, SettingsError>
where
    T: TryFrom<u64> + PartialOrd + std::fmt::Display,
{
    let (least, most) = (range.start(), range.end());
    let outside = || wrong(key, format!("must be {least} to {most}"));
    let value = at(tables, key).map_or(Some(1), Value::as_u64).and_then(|count| T::try_from(count).ok());
    value.filter(|count| range.contains(count)).ok_or_else(outside)
}

fn table<'a>(tables: &'a Map<String, Value>, path: &str) -> Result<Option<&'a Map<String, Value>>, SettingsError> {
    let Some(value) = at(tables, path) else { return Ok(None) };
    value.as_object().map(Some).ok_or_else(|| wrong(path, "must be a table"))
}

fn wrong(key: &str, why: impl Into<String>) -> SettingsError {
    SettingsError { key: key.to_owned(), why: why.into() }
}

/// The value at a dotted path of these tables.
pub fn at<'a>(tables: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    rest.into_iter().flat_map(|rest| rest.split('.')).try_fold(tables.get(first)?, |value, name| value.get(name))
}

impl Settings {
    pub fn machine(&self) -> &RecordedMachine {
        &self.machine
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn load(&self) -> &RecordedLoad {
        &self.load
    }

    /// The kind of platform.
    pub fn platform(&self) -> Option<&str> {
        at(&self.tables, "platform.kind")?.as_str()
    }

    /// The kind of workload.
    pub fn workload(&self) -> Option<&str> {
        self.workload.as_deref()
    }

    /// All tables as they are written, to show, compare or pass on. A key that is read by name has a typed field instead.
    pub fn tables(&self) -> &Map<String, Value> {
        &self.tables
    }

    /// The number at a dotted path, if there is one.
    pub fn number(&self, key: &str) -> Option<f64> {
        let (table, name) = key.split_once('.')?;
        self.tables.get(table)?.get(name)?.as_f64()
    }

    /// Everything except the value at a dotted path: equal for cells that differ only in that.
    pub fn without(&self, key: &str) -> Map<String, Value> {
        let mut tables = self.tables.clone();
        if let Some((first, name)) = key.split_once('.')
            && let Some(Value::Object(table)) = tables.get_mut(first)
        {
            table.shift_remove(name);
        }
        tables
    }

    /// The differences between these and newer settings, key by key.
    pub fn differing(&self, newer: &Self) -> Vec<Differing> {
        let of =
            |settings: &Self, table: &str| settings.tables.get(table).cloned().unwrap_or_else(|| Map::new().into());
        let tables = united(&self.tables, &newer.tables).into_iter();
        tables.flat_map(|table| differing(table, Some(&of(self, table)), Some(&of(newer, table)))).collect()
    }
}

/// A key with different values; `None` where it is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    /// The dotted key.
    pub key: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

impl Differing {
    pub fn is_in_both(&self) -> bool {
        self.old.is_some() && self.new.is_some()
    }

    /// Whether the key is in one of these tables.
    pub fn is_of(&self, tables: &[&str]) -> bool {
        self.key.split('.').next().is_some_and(|table| tables.contains(&table))
    }
}

fn differing(key: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<Differing> {
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let names = united(old, new).into_iter();
            names.flat_map(|name| differing(&format!("{key}.{name}"), old.get(name), new.get(name))).collect()
        }
        (old, new) if old == new => Vec::new(),
        (old, new) => vec![Differing { key: key.to_owned(), old: old.cloned(), new: new.cloned() }],
    }
}

fn united<'a>(one: &'a Map<String, Value>, other: &'a Map<String, Value>) -> std::collections::BTreeSet<&'a str> {
    one.keys().chain(other.keys()).map(String::as_str).collect()
}

#[cfg(any(test, feature = "synthetic"))]
impl Settings {
    /// Sets the value at a dotted path, for made-up records.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), SettingsError> {
        let mut tables = self.tables.clone();
        let (mut table, mut name) = (&mut tables, path);
        while let Some((first, rest)) = name.split_once('.') {
            let inner = table.entry(first).or_insert_with(|| Map::new().into());
            table = inner.as_object_mut().ok_or_else(|| wrong(path, "not below a table"))?;
            name = rest;
        }
        table.insert(name.to_owned(), value);
        *self = tables.try_into()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings(tables: &Value) -> Result<Settings, String> {
        serde_json::from_value(tables.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_read_by_name_has_a_type_and_all_is_written_back() {
        let written = json!({
            "load": { "warmup": 1000, "measure": 2000, "clients": 8, "rate": 2.0, "new": [1] },
            "machine": {
                "count": 3, "vcpus": 2, "memory": 7, "disk": { "size": 9, "kind": "x" },
                "exception": { "number": 2, "load": "burst", "cpu_quota": 0.5, "workload": { "kind": "slob", "scale": 1 }, "new": {} }
            },
            "engine": { "kind": "sqlite", "instances": 2, "profile": "sized" },
            "workload": { "kind": "order-entry" },
            "later": 5
        });
        let read = settings(&written).unwrap();
        let exception = read.machine().exception.as_ref().unwrap();
        assert_eq!(
            (exception.number, exception.load, exception.cpu_quota, exception.clients),
            (2, ExceptionLoad::Burst, Some(0.5), None)
        );
        assert_eq!((exception.workload_kind(), exception.is_bystander()), (Some("slob"), true));
        let RecordedMachine { count, vcpus, memory_bytes, disk_bytes, .. } = read.machine();
        assert_eq!((*count, *vcpus, *memory_bytes, *disk_bytes), (3, Some(2), Some(7), Some(9)));
        assert_eq!(read.engine(), &Engine { instances: 2, shared_server: false, profile: Some("sized".to_owned()) });
        assert_eq!(read.load(), &RecordedLoad { clients: Some(8), warmup_ms: 1000, measure_ms: 2000 });
        assert_eq!(read.workload(), Some("order-entry"));
        assert_eq!(serde_json::to_string(&read).unwrap(), written.to_string(), "in the same order, too");
    }

    #[test]
    fn a_plan_of_an_old_version_has_one_machine_with_one_database() {
        let read = settings(&json!({ "machine": {}, "load": { "clients": "peak" } })).unwrap();
        assert_eq!((read.machine(), read.engine()), (&RecordedMachine::default(), &Engine::default()));
        assert_eq!((read.machine().count, read.engine().instances, read.load().clients), (1, 1, None));
        assert_eq!(settings(&json!({})).unwrap(), Settings::default());
    }

    #[test]
    fn what_cannot_be_is_told_with_its_key() {
        let told = |path: &str, value: Value| Settings::default().set(path, value).unwrap_err().to_string();
        assert_eq!(told(key::COUNT, json!(65)), "settings.machine.count: must be 1 to 64");
        assert_eq!(told(key::COUNT, json!("two")), "settings.machine.count: must be 1 to 64");
        assert_eq!(told(key::INSTANCES, json!(0)), "settings.engine.instances: must be 1 to 64");
        assert_eq!(
            told(key::VCPUS, json!("two")),
            "settings.machine.vcpus: invalid type: string \"two\", expected u32"
        );
        assert!(told(key::EXCEPTION_LOAD, json!("idle")).contains("machine.exception.number: missing"));
        assert!(
            told(key::EXCEPTION, json!({ "number": 1, "load": "idel" }))
                .contains("exception.load: unknown variant `idel`")
        );
        assert!(told(key::EXCEPTION, json!([1])).contains("settings.machine.exception: must be a table"));
        assert!(told("machine.odd", json!({ "number": 2 })).contains("calls it machine.exception"));
        assert!(told(key::WARMUP, json!(-5)).contains("settings.load.warmup: invalid value"));
        assert_eq!(settings(&json!({ "load": 5 })), Err("settings.load: must be a table".to_owned()));
    }

    #[test]
    fn only_what_differs_is_told_by_its_dotted_key() {
        let old = settings(&json!({ "workload": { "kind": "a", "scale": 1, "gone": true }, "load": { "clients": 2 } }));
        let new = settings(&json!({ "workload": { "kind": "a", "scale": 2, "new": "x" }, "load": { "clients": 2 } }));
        let found = old.unwrap().differing(&new.unwrap());
        let expected = [
            ("workload.gone", Some(json!(true)), None),
            ("workload.new", None, Some(json!("x"))),
            ("workload.scale", Some(json!(1)), Some(json!(2))),
        ];
        assert_eq!(found, expected.map(|(key, old, new)| Differing { key: key.to_owned(), old, new }));
        assert_eq!(found.iter().filter(|key| key.is_in_both() && key.is_of(&["workload"])).count(), 1);
    }

    #[test]
    fn cells_that_differ_in_one_key_are_equal_without_it() {
        let one = settings(&json!({ "machine": { "vcpus": 2, "memory": 5 }, "load": {} })).unwrap();
        let mut other = one.clone();
        other.set(key::VCPUS, json!(4)).unwrap();
        assert_ne!(one, other);
        assert_eq!(one.without(key::VCPUS), other.without(key::VCPUS));
    }
}
