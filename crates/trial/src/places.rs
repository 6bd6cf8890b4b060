//! Where on this host the machines of a cell run.

use crate::site::Site;
use machines::machine::MachineError;
use platforms::placement::{self, Place, UsableCpus};
use record::rotation::Rotation;
use study::TypedCell;

/// A place for each machine, in the order of machines; at least one. Each block shifts which machine gets which place,
/// so that the effect of a place can be distinguished from that of a machine.
pub fn places(cell: &TypedCell, site: &Site, block: u32) -> Result<Vec<Place>, MachineError> {
    let unavailable = |why| MachineError::Unavailable { why };
    let policy = cell.machine.policy().map_err(unavailable)?;
    let topology = UsableCpus::of_host(&site.cpus);
    let (count, vcpus) = (cell.machine.count.max(1), cell.machine.vcpus);
    let places = placement::place(&topology, &policy, count, vcpus, Rotation::of_block(block, count).places);
    places.map_err(|misfit| unavailable(misfit.to_string()))
}
