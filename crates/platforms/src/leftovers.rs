//! What programs outside keep for machines of a run that was killed, and how each platform undoes it.

use crate::{libvirt, vsphere};
use machines::scratch::Kept;

/// Undoes an entry of a ledger. Says what it did, `None` if nothing was left, or why something may be left.
pub fn undo(kept: &Kept) -> Result<Option<String>, String> {
    match kept.platform.as_str() {
        libvirt::KIND => libvirt::leftovers::undo(&kept.what),
        vsphere::KIND => vsphere::leftovers::tell(&kept.what).map(Some),
        other => Err(format!("this bakeoff does not know the platform {other} of its ledger")),
    }
}
