//! What a database holds after a power cut: the disk is rebuilt, the engine recovers on it natively, by the image's own files,
//! and is asked for the receipts and for the conditions on its data.

use super::moments::{Drawn, DrawnReceipt, due};
use super::{AuditError, Auditing};
use crate::conversation::{AskError, Conversation, mismatch};
use crate::halt::Halt;
use agent::protocol::{Reply, Request};
use disk::cut::{self, Cut, Grain, Keep};
use images::data::DataDisk;
use machines::machine::{Machine, MachineError};
use platforms::order::MachineOrder;
use record::check::{CheckResult, Moment, Verdict};
use record::durability::{RebuiltCut as CutRecord, Survives};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How much of what need not survive does, where something does.
const KEPT_PERCENT: u8 = 50;

/// The folder of the machine on a rebuilt disk.
const MACHINE: &str = "machine";

/// A database after a power cut.
pub(super) struct Recovered {
    pub receipts: BTreeSet<i64>,
    /// Why it is not whole.
    pub broken: Option<String>,
}

fn broken(why: String) -> Recovered {
    Recovered { receipts: BTreeSet::new(), broken: Some(why) }
}

impl Auditing<'_> {
    /// Rebuilds a cut and looks at what is left of the acknowledged; twice if something is wrong.
    pub(super) fn cut(
        &self,
        folder: &Path,
        log: &Path,
        all: &[DrawnReceipt],
        drawn: Drawn,
        survives: Survives,
        seed: u64,
    ) -> Result<CutRecord, AuditError> {
        let begun = Instant::now();
        let due: BTreeSet<i64> = due(all, drawn.at_ns).collect();
        let keep = match survives {
            Survives::Nothing => Keep::Durable,
            Survives::Half => Keep::Subset { seed, grain: self.grain(), percent: KEPT_PERCENT },
            Survives::All => Keep::All,
        };
        let cut = Cut { position: drawn.position, keep };
        let look = |name: &str| -> Result<(u64, Option<String>), AuditError> {
            let found = self.recovered(&folder.join(name), log, cut)?;
            Ok((due.difference(&found.receipts).count() as u64, found.broken))
        };
        let (lost, broken) = look(&format!("cut-{}-{seed:x}", drawn.position))?;
        let confirmed = if lost == 0 && broken.is_none() {
            None
        } else {
            let (again, broken_again) = look(&format!("again-{}-{seed:x}", drawn.position))?;
            Some(again == lost && broken_again.is_some() == broken.is_some())
        };
        // If it does not start, nothing is known of what was lost.
        let lost = if broken.is_some() { 0 } else { lost };
        Ok(CutRecord {
            moment: drawn.moment,
            position: drawn.position,
            survives,
            seed,
            grain_bytes: self.plan.grain_bytes,
            acknowledged: due.len() as u64,
            lost,
            broken,
            confirmed,
            took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    fn grain(&self) -> Grain {
        if self.plan.grain_bytes < 4096 { Grain::Bytes512 } else { Grain::Bytes4096 }
    }

    /// Whether databases can recover here at all. A disk that nothing happened to can be mounted.
    pub(super) fn require_recovery(&self) -> Result<(), AuditError> {
        let folder = self.scratch.join("untouched");
        std::fs::create_dir_all(&folder).map_err(AuditError::io("making a folder for a disk"))?;
        let image = folder.join("disk.img");
        images::data::copy(&self.prepared.data_of(1).loaded, &image)?;
        self.native_on(&folder, image)?.cut()?;
        std::fs::remove_dir_all(folder).map_err(AuditError::io("removing a disk"))
    }

    /// Rebuilds the disk, and lets the database recover on it. A disk that cannot be mounted is rebuilt once more, since others on the
    /// host take loop devices, too.
    fn recovered(&self, folder: &Path, log: &Path, cut: Cut) -> Result<Recovered, AuditError> {
        match self.rebuilt(folder, log, cut) {
            Err(AuditError::Machine(MachineError::Unavailable { .. })) => {
                let again = folder.join("once-more");
                match self.rebuilt(&again, log, cut) {
                    Err(AuditError::Machine(MachineError::Unavailable { why })) => {
                        Ok(broken(why.replace(&mounting(&again), "")))
                    }
                    other => other,
                }
            }
            other => other,
        }
    }

    fn rebuilt(&self, folder: &Path, log: &Path, cut: Cut) -> Result<Recovered, AuditError> {
        std::fs::create_dir_all(folder).map_err(AuditError::io("making a folder for a cut"))?;
        let image = folder.join("disk.img");
        cut::build(&self.prepared.data_of(1).loaded, log, cut, &image)?;
        let mut machine = self.native_on(folder, image)?;
        let found = self.look(machine.as_mut());
        machine.cut()?;
        let found = found?;
        std::fs::remove_dir_all(folder).map_err(AuditError::io("removing a cut"))?;
        Ok(found)
    }

    /// A native machine on this disk.
    fn native_on(&self, folder: &Path, image: PathBuf) -> Result<Box<dyn Machine>, AuditError> {
        let scratch = folder.join(MACHINE);
        std::fs::create_dir_all(&scratch).map_err(AuditError::io("making a folder for a machine"))?;
        let order = MachineOrder {
            name: format!("audit-{}", folder.file_name().unwrap_or_default().display()),
            data: DataDisk::Image(image),
            scratch,
            ..self.order()
        };
        Ok(self.native.start(&order, &|| ())?)
    }

    /// Starts the server and asks what it has.
    pub(super) fn look(&self, machine: &mut dyn Machine) -> Result<Recovered, AuditError> {
        let (limits, halt) = (&self.site.limits, Halt::by_user(self.interrupts));
        let mut conversation = Conversation { link: machine.link(), halt, limits, instance: 0 };
        let request =
            Request::StartServer { engine: self.cell.engine.chosen.clone(), shape: self.shape(), listen: None };
        match conversation.ask(&request, limits.start, &mut |_| ()) {
            Ok(Reply::Started(_)) => {}
            Ok(other) => return Err(mismatch("start of the server", &other).into()),
            Err(AskError::Refused(failure)) => return Ok(broken(format!("it does not start: {}", failure.why))),
            Err(error) => return Err(error.into()),
        }
        let receipts = match conversation.ask(&Request::Receipts, limits.check, &mut |_| ()) {
            Ok(Reply::Receipts(numbers)) => numbers.into_iter().collect(),
            Ok(other) => return Err(mismatch("receipts", &other).into()),
            Err(AskError::Refused(failure)) => {
                return Ok(broken(format!("its receipts cannot be read: {}", failure.why)));
            }
            Err(error) => return Err(error.into()),
        };
        let workload = self.prepared.data_of(1).workload.chosen.clone();
        let request = Request::Check { workload, moment: Moment::AfterTrial };
        match conversation.ask(&request, limits.check, &mut |_| ()) {
            Ok(Reply::Findings(findings)) => Ok(Recovered { receipts, broken: violated(&findings) }),
            Ok(other) => Err(mismatch("check", &other).into()),
            Err(AskError::Refused(failure)) => Ok(broken(format!("its data cannot be checked: {}", failure.why))),
            Err(error) => Err(error.into()),
        }
    }
}

/// What `mount` says first. Nobody can look there later.
fn mounting(folder: &Path) -> String {
    format!("mount: {}: ", folder.join(MACHINE).join("data").display())
}

fn violated(findings: &[CheckResult]) -> Option<String> {
    findings.iter().find_map(|finding| match &finding.verdict {
        Verdict::Violated { seen } => Some(format!("{} ({}): {seen}", finding.name, finding.rule)),
        _ => None,
    })
}
