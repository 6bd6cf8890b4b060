//! Load, operating system and I/O as published studies print them: figures for each second, and their ratio.
//!
//! All are as the machine itself sees them: a guest its own disk, a native machine the host's.

use super::evidence::Evidence;
use crate::counted::places::{DiskWork, NetworkWork};
use crate::counted::{CountedTrial, SideCounts};
use crate::estimate::Estimate;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};

const BITS: f64 = 8.0;
const MEGA: f64 = 1e6;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileTable {
    pub title: String,
    pub rows: Vec<ProfileRow>,
}

/// For each second, but where the name says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileRow {
    pub name: String,
    pub baseline: Option<Estimate>,
    pub contender: Option<Estimate>,
    /// Contender over baseline, paired by block.
    pub ratio: Option<Estimate>,
}

type Figure = (&'static str, fn(&CountedTrial) -> Option<f64>);

const LOAD: &[Figure] = &[
    ("transactions/s, of all kinds", |trial| Some(trial.transactions / machine(trial)?.seconds)),
    ("disk operations/s", |trial| disk(trial, DiskWork::operations)),
    ("disk MB/s", |trial| disk(trial, |disk| disk.bytes() / MEGA)),
    ("packets/s received", |trial| network(trial, |network| network.received_packets)),
    ("packets/s sent", |trial| network(trial, |network| network.sent_packets)),
    ("Mb/s received", |trial| network(trial, |network| network.received_bytes * BITS / MEGA)),
    ("Mb/s sent", |trial| network(trial, |network| network.sent_bytes * BITS / MEGA)),
];

const SYSTEM: &[Figure] = &[
    ("interrupts/s", |trial| machine(trial)?.per_second("interrupts.total")),
    ("context switches/s", |trial| machine(trial)?.per_second("switches.context")),
    ("disk operations/s", |trial| disk(trial, DiskWork::operations)),
    ("CPUs busy, %", |trial| machine(trial)?.cpu().map(|cpu| 100.0 * cpu.busy_ms / cpu.all_ms)),
    ("CPU time stolen, %", |trial| machine(trial)?.cpu().map(|cpu| 100.0 * cpu.stolen_ms / cpu.all_ms)),
];

const STORAGE: &[Figure] = &[
    ("requests/s, read and written", |trial| disk(trial, DiskWork::operations)),
    ("requests/s, read", |trial| disk(trial, |disk| disk.reads)),
    ("requests/s, written", |trial| disk(trial, |disk| disk.writes)),
    ("MB/s, read and written", |trial| disk(trial, |disk| disk.bytes() / MEGA)),
    ("MB/s, read", |trial| disk(trial, |disk| disk.read_bytes / MEGA)),
    ("MB/s, written", |trial| disk(trial, |disk| disk.write_bytes / MEGA)),
    ("ms of a read", |trial| machine(trial)?.disk()?.ms_of_a_read()),
    ("ms of a write", |trial| machine(trial)?.disk()?.ms_of_a_write()),
];

fn machine(trial: &CountedTrial) -> Option<&SideCounts> {
    trial.side(Side::Machine)
}

fn disk(trial: &CountedTrial, of: fn(&DiskWork) -> f64) -> Option<f64> {
    let machine = machine(trial)?;
    Some(of(&machine.disk()?) / machine.seconds)
}

fn network(trial: &CountedTrial, of: fn(&NetworkWork) -> f64) -> Option<f64> {
    let machine = machine(trial)?;
    Some(of(&machine.network()?) / machine.seconds)
}

/// The tables that have anything in them.
pub fn tables(evidence: &Evidence<'_>) -> Vec<ProfileTable> {
    let tables = [("Load profile", LOAD), ("Operating system", SYSTEM), ("I/O profile", STORAGE)];
    let made = tables.map(|(title, figures)| ProfileTable {
        title: title.to_owned(),
        rows: figures.iter().filter_map(|figure| row(evidence, figure)).collect(),
    });
    made.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn row(evidence: &Evidence<'_>, (name, of): &Figure) -> Option<ProfileRow> {
    use super::evidence::Who::{Baseline, Contender};
    let (baseline, contender) = (evidence.value(Baseline, of), evidence.value(Contender, of));
    let ratio = evidence.pair(of).and_then(|pair| pair.ratio);
    let any = baseline.is_some() || contender.is_some();
    any.then(|| ProfileRow { name: (*name).to_owned(), baseline, contender, ratio })
}
