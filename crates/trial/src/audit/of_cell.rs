//! The audit of one cell of a plan, as a part of its run.

use super::{AuditError, Auditing};
use crate::conversation::AskError;
use crate::preparation::PreparedCell;
use crate::preparation::error::PreparationError;
use crate::site::Site;
use crate::time::now_text;
use disk::running::DiskError;
use machines::interrupts::Interrupts;
use machines::machine::MachineError;
use machines::scratch::Scratch;
use platforms::capabilities::DataHome;
use platforms::entry::PlatformSettings;
use platforms::native::settings::NativeSettings;
use record::durability::{Durability, DurabilityPlan};
use record::event::Event;
use study::TypedCell;

/// The order for the audit of a cell.
pub struct CellAudit<'a> {
    pub cell: &'a TypedCell,
    /// What the cell's trials share, or why it could not be prepared.
    pub prepared: &'a Result<PreparedCell, PreparationError>,
    pub plan: &'a DurabilityPlan,
    pub site: &'a Site,
    pub scratch: &'a Scratch,
    pub interrupts: &'a Interrupts,
}

/// Audits a cell. Failures are reported in the audit; `None` if the user stopped it.
pub fn of_cell(order: &CellAudit<'_>, tell: &mut dyn FnMut(Event)) -> Option<Durability> {
    let begun = Durability {
        format: record::FORMAT,
        cell: order.cell.written.id,
        contender: order.cell.written.contender.clone(),
        started: now_text(),
        not_audited: None,
        failed: false,
        emulated: None,
        declared: Vec::new(),
        acknowledged: 0,
        holds: Vec::new(),
        scan: None,
        killed: None,
        cuts: Vec::new(),
        planted: Vec::new(),
        cost: None,
    };
    let not = |why: String| Some(Durability { not_audited: Some(why), ..begun.clone() });
    if let Some(why) = cannot(order.cell) {
        return not(why);
    }
    let prepared = match order.prepared {
        Ok(prepared) => prepared,
        Err(PreparationError::Machine(MachineError::Unavailable { why })) => return not(why.clone()),
        Err(error) => return Some(Durability { not_audited: Some(error.to_string()), failed: true, ..begun }),
    };
    match audited(order, prepared, begun.clone(), tell) {
        Ok(audited) => Some(audited),
        Err(AuditError::Ask(AskError::Interrupted)) => None,
        Err(
            AuditError::Disk(DiskError::Unavailable { why }) | AuditError::Machine(MachineError::Unavailable { why }),
        ) => not(why),
        Err(error) => {
            Some(Durability { not_audited: Some(format!("the audit failed: {error}")), failed: true, ..begun })
        }
    }
}

/// What keeps a contender from being audited, as far as it is known before anything starts.
fn cannot(cell: &TypedCell) -> Option<String> {
    if cell.platform.can().data != DataHome::Disk {
        return Some(format!("the data of the platform {} are on no disk of this host", cell.platform_kind()));
    }
    if cell.machine.disk.device.is_some() {
        return Some("its data are on a device, and power is cut on a file".to_owned());
    }
    (cell.machine.count > 1 || cell.written.instances() > 1)
        .then(|| "only a machine with one database is audited".to_owned())
}

fn audited(
    order: &CellAudit<'_>,
    prepared: &PreparedCell,
    begun: Durability,
    tell: &mut dyn FnMut(Event),
) -> Result<Durability, AuditError> {
    let CellAudit { cell, site, .. } = *order;
    let recovering = order.scratch.machine(&format!("recovering-{}", cell.written.id))?;
    let native = NativeSettings {}.open(&site.opening(recovering.path(), order.interrupts))?;
    let own = order.scratch.machine(&format!("audit-{}", cell.written.id))?;
    let tell = std::cell::RefCell::new(tell);
    let auditing = Auditing {
        cell,
        prepared,
        native: native.as_ref(),
        site,
        scratch: own.path(),
        plan: order.plan,
        interrupts: order.interrupts,
        tell: &|what, done, of| {
            let what = format!("durability of {}: {what}", cell.written.contender);
            (tell.borrow_mut())(Event::Progress { what, done, of });
        },
    };
    auditing.audit(begun)
}
