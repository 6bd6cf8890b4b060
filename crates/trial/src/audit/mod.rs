//! An audit of durability: whether each transaction that was acknowledged on a contender is there after a power cut.
//!
//! The contender's machine gets a disk that logs every write and flush ([`disk`]). Its workload is driven there, each transaction
//! with a receipt, while flushes are held now and then. Then the power is cut at many moments of the log, and each time the database is
//! asked what it has.

mod drive;
mod measure;
mod moments;
mod of_cell;
mod recovery;

pub(crate) use of_cell::{CellAudit, of_cell};

use crate::conversation::AskError;
use crate::preparation::PreparedCell;
use crate::preparation::error::PreparationError;
use crate::site::Site;
use disk::ControlError;
use disk::cut::CutError;
use disk::running::DiskError;
use disk::scan::{self, Safety, ScanError};
use drive::{DiskBehaviour, OnDisk, Price};
use engines::entry::EngineEntry;
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::scratch::{Kept, ScratchError};
use moments::{Drawn, DrawnReceipt, MomentCounts, Timeline};
use platforms::capabilities::ImageUse;
use platforms::platform::Platform;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use record::durability::{Cost, Durability, DurabilityPlan, Fault, RebuiltCut, Scan, Survives};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use study::TypedCell;

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Log(#[from] disk::DiskLogError),
    #[error("rebuilding a power cut: {0}")]
    Cut(#[from] CutError),
    #[error("searching the disk's log: {0}")]
    Scan(#[from] ScanError),
    #[error("copying the loaded data: {0}")]
    Data(#[from] images::data::DataError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error(transparent)]
    Preparation(#[from] PreparationError),
    #[error("{doing}: {source}")]
    Io { doing: &'static str, source: io::Error },
}

impl AuditError {
    fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// The planted liar is driven for a part of the time, and cut so often at most.
const LIAR_PART: u64 = 4;
const LIAR_CUTS: usize = 6;
const LIAR_HOLDS: u32 = 2;
/// Of the acknowledgements that the scan found to be early, so many are moments for a cut.
const SUSPECTS_MAX: usize = 10;

/// An audit of one contender.
pub struct Auditing<'a> {
    pub cell: &'a TypedCell,
    pub prepared: &'a PreparedCell,
    /// Where databases recover.
    pub native: &'a dyn Platform,
    pub site: &'a Site,
    /// A folder for disks, logs and cuts.
    pub scratch: &'a Path,
    pub plan: &'a DurabilityPlan,
    pub interrupts: &'a Interrupts,
    /// What is done, how far, and of how much.
    pub tell: &'a dyn Fn(&str, u64, u64),
}

impl Auditing<'_> {
    /// Fills in what was found. `into` has what identifies the contender.
    pub fn audit(&self, into: Durability) -> Result<Durability, AuditError> {
        self.require_recovery()?;
        (self.tell)("driving on a disk that can lose power", 0, 0);
        let behaviour = DiskBehaviour { lies: false, drive_ms: self.plan.drive_ms, holds: self.plan.holds };
        let OnDisk { log, server, emulated, acknowledged, killed, .. } =
            self.drive_on_disk(&self.scratch.join("disk"), behaviour)?;
        let timeline = Timeline::read(&log)?;
        let safety = scanned(&log, &timeline, &acknowledged)?;
        let early = acknowledged.iter().zip(&safety).filter(|(_, safety)| **safety != Safety::Covered);
        let suspects: Vec<u64> = early.map(|(own, _)| own.done_ns).collect();
        let mut drawn = timeline.draw(&acknowledged, &self.counts(), self.plan.seed);
        drawn.extend(timeline.suspects(&suspects, SUSPECTS_MAX, self.plan.seed));
        let mut cuts = self.cuts("power cuts", &log, &acknowledged, &drawn)?;
        cuts.sort_by_key(|cut| (cut.moment, cut.position, cut.survives));
        let cost = cost(&log, &timeline, &acknowledged)?;
        (self.tell)("driving on a disk that lies", 0, 0);
        let (planted, price) = self.planted()?;
        Ok(Durability {
            declared: declared(self.cell.engine.entry, &server.effective, &self.cell.machine.disk.mount_options),
            emulated,
            acknowledged: acknowledged.len() as u64,
            holds: timeline.holds(&acknowledged),
            scan: Some(counted(&safety)),
            killed,
            cuts,
            planted,
            cost: cost.map(|cost| Cost { slope: price.slope, rates: price.rates, other_cpu: price.other_cpu, ..cost }),
            ..into
        })
    }

    fn counts(&self) -> MomentCounts {
        let DurabilityPlan { acknowledged, unflushed, growing, .. } = *self.plan;
        let [acknowledged, unflushed, growing] = [acknowledged, unflushed, growing].map(|count| count as usize);
        MomentCounts { acknowledged, unflushed, growing }
    }

    /// What survives of unflushed writes in the cuts of each moment: as the faults say that are looked for.
    fn ways(&self) -> Vec<Survives> {
        let asks = |fault| self.plan.faults.contains(&fault);
        let mut ways = Vec::new();
        if asks(Fault::HostLost) {
            ways.extend([Survives::Nothing, Survives::Half]);
        }
        // Without a kernel of its own a machine is lost only with its host.
        if asks(Fault::GuestLost) && self.cell.platform.can().image == ImageUse::TreeAndKernel {
            ways.push(Survives::All);
        }
        ways
    }

    fn cuts(
        &self,
        what: &str,
        log: &Path,
        acknowledged: &[DrawnReceipt],
        drawn: &[Drawn],
    ) -> Result<Vec<RebuiltCut>, AuditError> {
        let mut chance = Pcg64Mcg::seed_from_u64(self.plan.seed);
        let ways = self.ways();
        let of = (drawn.len() * ways.len()) as u64;
        let mut cuts = Vec::new();
        for one in drawn {
            for survives in &ways {
                (self.tell)(what, cuts.len() as u64, of);
                // Seeds stay exact in every reader of JSON.
                let seed = chance.next_u64() >> 11;
                cuts.push(self.cut(self.scratch, log, acknowledged, *one, *survives, seed)?);
            }
        }
        Ok(cuts)
    }

    /// The same audit on a disk that answers flushes and saves nothing: it must lose something. Before the disk begins to lie,
    /// it is measured what commits cost on it.
    fn planted(&self) -> Result<(Vec<RebuiltCut>, Price), AuditError> {
        // Whatever the study looks for: only the loss of the host's power shows a lie of the disk.
        let plan = DurabilityPlan { faults: vec![Fault::HostLost], ..self.plan.clone() };
        let part = Auditing { plan: &plan, ..*self };
        let behaviour = DiskBehaviour { lies: true, drive_ms: plan.drive_ms / LIAR_PART, holds: LIAR_HOLDS };
        let OnDisk { log, acknowledged, price, .. } = part.drive_on_disk(&self.scratch.join("liar"), behaviour)?;
        let timeline = Timeline::read(&log)?;
        let mut drawn = timeline.draw(&acknowledged, &part.counts(), plan.seed);
        drawn.truncate(LIAR_CUTS);
        Ok((part.cuts("cuts of a disk that lies", &log, &acknowledged, &drawn)?, price))
    }
}

/// Undoes an entry of a ledger: a disk's mount, or what a platform knows.
pub fn undo(kept: &Kept) -> Result<Option<String>, String> {
    if kept.platform != drive::DISK {
        return platforms::leftovers::undo(kept);
    }
    let mount = kept.what.as_str().ok_or("the ledger names no mount")?;
    disk::undo(Path::new(mount)).map_err(|error| error.to_string())
}

/// How safe each receipt was when it was acknowledged.
fn scanned(log: &Path, timeline: &Timeline, all: &[DrawnReceipt]) -> Result<Vec<Safety>, AuditError> {
    let marks: Vec<String> = all.iter().map(|own| workloads::receipts::mark(own.number)).collect();
    let asked: Vec<scan::Acknowledged<'_>> = all
        .iter()
        .zip(&marks)
        .map(|(own, mark)| scan::Acknowledged { marker: mark.as_bytes(), position: timeline.position_at(own.done_ns) })
        .collect();
    Ok(scan::scan(log, &asked)?)
}

fn counted(safety: &[Safety]) -> Scan {
    let mut found = Scan::default();
    for one in safety {
        *match one {
            Safety::Covered => &mut found.flushed,
            Safety::NotFlushed => &mut found.unflushed,
            Safety::NotWritten => &mut found.unwritten,
        } += 1;
    }
    found
}

/// What the disk did up to the last acknowledgement.
fn cost(log: &Path, timeline: &Timeline, acknowledged: &[DrawnReceipt]) -> Result<Option<Cost>, AuditError> {
    let Some(last_ns) = acknowledged.iter().map(|own| own.done_ns).max() else { return Ok(None) };
    let counts = scan::count(log, 0..timeline.position_at(last_ns))?;
    let each = |count: u64| count as f64 / acknowledged.len() as f64;
    let (flushes, bytes) = (each(counts.flushes + counts.fua_writes), each(counts.written_bytes));
    Ok(Some(Cost { flushes, bytes, slope: None, rates: Vec::new(), other_cpu: None }))
}

/// Settings in force by which an engine or its file system may lose what was acknowledged, or break.
fn declared(engine: &EngineEntry, effective: &BTreeMap<String, String>, mount_options: &str) -> Vec<String> {
    let unflushed = mount_options.split(',').filter(|option| matches!(*option, "nobarrier" | "barrier=0"));
    let unflushed = unflushed.map(|option| format!("mount_options={option}"));
    engine.losing_of(effective).into_iter().chain(unflushed).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    fn declared(engine: &str, effective: &BTreeMap<String, String>, mount_options: &str) -> Vec<String> {
        super::declared(engines::catalog::entry(engine).unwrap(), effective, mount_options)
    }

    #[test]
    fn settings_that_give_durability_up_are_named() {
        let effective = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let found = declared("postgres", &effective(&[("fsync", "on"), ("synchronous_commit", "off")]), "");
        assert_eq!(found, ["synchronous_commit=off"]);
        let found = declared(
            "mariadb",
            &effective(&[("innodb_flush_log_at_trx_commit", "2"), ("innodb_doublewrite", "ON")]),
            "",
        );
        assert_eq!(found, ["innodb_flush_log_at_trx_commit=2"]);
        assert_eq!(declared("sqlite", &effective(&[("synchronous", "1")]), ""), ["synchronous=1"]);
        assert!(declared("sqlite", &effective(&[("synchronous", "2"), ("journal_mode", "wal")]), "").is_empty());
        let deleting = |synchronous| {
            declared("sqlite", &effective(&[("synchronous", synchronous), ("journal_mode", "delete")]), "")
        };
        assert_eq!(deleting("2"), ["journal_mode=delete"]);
        assert!(deleting("3").is_empty());
        let mounted = |options| declared("sqlite", &effective(&[("synchronous", "3")]), options);
        assert_eq!(mounted("commit=5,nobarrier"), ["mount_options=nobarrier"]);
        assert!(mounted("commit=5,barrier").is_empty());
    }
}
