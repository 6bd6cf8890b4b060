//! A decided cell in types, for the code that carries it out.

use crate::keys::{MACHINE, PEAK_WORD, load_keys};
use images::KernelChoice;
use platforms::order::DataTuning;
use platforms::placement::{Policy, cpu_list};
use record::plan::Cell;
use record::settings::key::KIND;
use record::settings::{MachineException, at};
use record::trial::{ArrivalProcess, Pacing};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use settings::{Bytes, Key, Problem, Share, TimeSpan};
use std::net::IpAddr;

/// `[machine]` of a cell.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MachineShape {
    /// How many machines of this shape run side by side.
    pub count: u32,
    pub vcpus: u32,
    #[serde(rename = "memory")]
    pub memory_bytes: Bytes,
    /// Absent where a server runs already, and no machine is made.
    #[serde(default)]
    pub kernel: KernelChoice,
    /// Name of the image's recipe.
    pub image: String,
    pub disk: Disk,
    pub oversubscribe: bool,
    pub pinning: Pinning,
    /// Lists of host CPUs, given if and only if pinning is explicit.
    #[serde(default)]
    pub cpus: Option<String>,
    /// The exception, allowed only if there are several.
    #[serde(default)]
    pub exception: Option<MachineException>,
}

impl MachineShape {
    /// Which CPUs machines get; an error if `cpus` cannot be parsed.
    pub fn policy(&self) -> Result<Policy, String> {
        Ok(match self.pinning {
            Pinning::Auto => Policy::Auto { memory_bytes: self.memory_bytes.0 },
            Pinning::None => Policy::None,
            Pinning::Cores => Policy::Cores,
            Pinning::Threads => Policy::Threads,
            Pinning::Node => Policy::Node,
            Pinning::Explicit => Policy::Explicit(cpu_list::parse_all(self.cpus.as_deref().unwrap_or_default())?),
        })
    }
}

/// `machine.pinning` of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pinning {
    Auto,
    None,
    Cores,
    Threads,
    Node,
    Explicit,
}

/// `machine.disk` of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Disk {
    #[serde(rename = "size")]
    pub size_bytes: Bytes,
    pub storage: Storage,
    /// Given if and only if the storage is a device.
    #[serde(default)]
    pub device: Option<String>,
    /// ext4's options, separated by commas.
    #[serde(default)]
    pub mount_options: String,
    #[serde(default)]
    pub scheduler: String,
    #[serde(default, rename = "read_ahead")]
    pub read_ahead_bytes: Option<Bytes>,
}

impl Disk {
    /// What the study says of the disk inside the machine.
    pub fn tuning(&self) -> DataTuning {
        DataTuning {
            mount_options: self.mount_options.clone(),
            scheduler: self.scheduler.clone(),
            read_ahead_kib: self.read_ahead_bytes.map(|bytes| bytes.0 >> 10),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Storage {
    File,
    Device,
}

/// `[load]` of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    pub placement: Placement,
    /// The hosts that the load comes from; empty if that is this host or the machine.
    pub from: Vec<LoadHost>,
    pub offered: OfferedWork,
    /// Clients that begin in each second.
    pub ramp_rate: Option<f64>,
    /// The load ends once the clients of a machine have done this many; the measured time is then the longest it may take.
    pub transactions: Option<u32>,
    /// Zero, like the measured time, for a workload with phases of its own.
    pub warmup_ms: TimeSpan,
    pub measure_ms: TimeSpan,
    pub shards: u32,
    pub retries: u32,
    /// True if host and machine are sampled while the load runs.
    pub telemetry: bool,
    pub other_load: Option<OtherLoadLimit>,
}

/// A host that load comes from, and how it is reached: `load.from`, `load.ssh_options` and `load.address` of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadHost {
    /// As ssh takes it.
    pub name: String,
    pub ssh_options: Vec<String>,
    /// The address of this host as it is reached from there; `None` if that is the one that ssh comes from.
    pub our_address: Option<IpAddr>,
}

/// How much of the host others may use while load is measured: `load.max_other_cpu` and `load.max_repeats` of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherLoadLimit {
    /// A trial is repeated if others use more than this.
    pub max_other_cpu: Share,
    pub max_repeats: u32,
}

/// How much work is offered to the database.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OfferedWork {
    Paced(Pacing),
    /// The number of clients with the highest throughput, which the trial must find first.
    Peak(PeakLimits),
    /// The workload's own phases say who works and for how long.
    OwnPhases,
}

impl OfferedWork {
    /// What a workload's script is made from; `None` while the peak is looked for. Phases of a workload's own make nothing of it.
    pub fn pacing(self) -> Option<Pacing> {
        match self {
            Self::Paced(pacing) => Some(pacing),
            Self::Peak(_) => None,
            Self::OwnPhases => Some(Pacing::Clients { clients: 1 }),
        }
    }
}

/// `load.peak` of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct PeakLimits {
    pub max_clients: u32,
    /// A share of the transactions.
    pub error_limit: f64,
    #[serde(default, rename = "p99_limit")]
    pub p99_limit_ms: Option<TimeSpan>,
}

/// `[load]` as written in a plan.
#[derive(Debug, Deserialize)]
struct LoadTable {
    placement: Placement,
    #[serde(default)]
    from: Vec<String>,
    #[serde(default)]
    ssh_options: Vec<String>,
    #[serde(default)]
    address: Option<IpAddr>,
    #[serde(default)]
    clients: Option<ClientsOr>,
    #[serde(default)]
    terminals: Option<u32>,
    #[serde(default)]
    arrivals: Option<f64>,
    #[serde(default)]
    ramp_rate: Option<f64>,
    #[serde(default)]
    transactions: Option<u32>,
    #[serde(default)]
    process: ArrivalProcess,
    #[serde(default)]
    sessions: Option<u32>,
    #[serde(default)]
    peak: Option<PeakLimits>,
    #[serde(default, rename = "warmup")]
    warmup_ms: TimeSpan,
    #[serde(default, rename = "measure")]
    measure_ms: TimeSpan,
    shards: u32,
    retries: u32,
    telemetry: bool,
    #[serde(default)]
    max_other_cpu: Option<Share>,
    #[serde(default)]
    max_repeats: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ClientsOr {
    Number(u32),
    Word(String),
}

impl LoadTable {
    fn hosts(&self) -> Vec<LoadHost> {
        let host = |name: &String| LoadHost {
            name: name.clone(),
            ssh_options: self.ssh_options.clone(),
            our_address: self.address,
        };
        self.from.iter().map(host).collect()
    }

    /// `None` if the table does not say what is offered, or says it twice; the study's check refuses both.
    fn offered(&self) -> Option<OfferedWork> {
        let sessions = self.sessions;
        match (&self.clients, self.terminals, self.arrivals) {
            (Some(ClientsOr::Number(clients)), None, None) => {
                Some(OfferedWork::Paced(Pacing::Clients { clients: *clients }))
            }
            (Some(ClientsOr::Word(word)), None, None) if word == PEAK_WORD => self.peak.map(OfferedWork::Peak),
            (None, Some(terminals), None) => {
                Some(OfferedWork::Paced(Pacing::Terminals { terminals, sessions: sessions? }))
            }
            (None, None, Some(per_second)) => {
                let process = self.process;
                Some(OfferedWork::Paced(Pacing::Arrivals { per_second, process, sessions: sessions? }))
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    Inside,
    Outside,
}

/// The shape of a cell's machine.
pub fn machine(cell: &Cell) -> Result<MachineShape, Vec<Problem>> {
    read(cell, "machine", MACHINE)
}

/// The load of a cell.
pub fn load(cell: &Cell) -> Result<Load, Vec<Problem>> {
    let workload = cell.settings.workload().and_then(workloads::catalog::entry);
    let has_own_phases = workload.is_some_and(|entry| entry.own_phases);
    let table: LoadTable = read(cell, "load", &load_keys(has_own_phases))?;
    let Some(offered) = (if has_own_phases { Some(OfferedWork::OwnPhases) } else { table.offered() }) else {
        let expected = "clients, terminals or arrivals with sessions";
        return Err(vec![Problem::new("load", "what is offered is not decided", expected)]);
    };
    let limit = table.max_other_cpu.zip(table.max_repeats);
    let other_load = limit.map(|(max_other_cpu, max_repeats)| OtherLoadLimit { max_other_cpu, max_repeats });
    let from = table.hosts();
    let LoadTable { placement, ramp_rate, transactions, warmup_ms, measure_ms, shards, retries, telemetry, .. } = table;
    Ok(Load {
        placement,
        from,
        offered,
        ramp_rate,
        transactions,
        warmup_ms,
        measure_ms,
        shards,
        retries,
        telemetry,
        other_load,
    })
}

fn read<T: DeserializeOwned>(cell: &Cell, part: &str, keys: &[Key]) -> Result<T, Vec<Problem>> {
    let table = cell.settings.tables().get(part).and_then(Value::as_object);
    settings::read(table.unwrap_or(&Map::new()), keys)
}

/// The kind of a cell's `platform`, `engine` or `workload`, or of the table at [`record::settings::key::EXCEPTION_WORKLOAD`].
/// Also the rest of that table, in the form that the catalogs take.
pub fn kind_and_table<'a>(cell: &'a Cell, path: &str) -> Option<(&'a str, Map<String, Value>)> {
    let table = at(cell.settings.tables(), path)?.as_object()?;
    let kind = table.get(KIND)?.as_str()?;
    let rest = table.iter().filter(|(name, _)| *name != KIND).map(|(name, value)| (name.clone(), value.clone()));
    Some((kind, rest.collect()))
}
