//! Checks before the first trial whether this host has room for the data of a run.
//!
//! The estimate is low rather than high, so what is refused here would not have fitted. Loading and cloning check again.

use crate::cell::{CellError, CellOrder};
use crate::preparation::{EXPECTED_IMAGE_MS, origin::in_cache};
use crate::site::Site;
use agent::protocol::Chosen;
use images::ImageError;
use images::data::DataError;
use platforms::capabilities::DataHome;
use record::plan::{Plan, PlannedTrial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use study::Storage;

#[derive(Debug, thiserror::Error)]
pub enum RoomError {
    #[error(transparent)]
    Cell(#[from] CellError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Recipe(#[from] images::RecipeError),
    #[error("looking for room: {0}")]
    Data(#[from] DataError),
}

/// Space that the data of a run need on the host's disk.
#[derive(Debug, Default)]
struct Needed {
    /// Data disks that are not yet in the cache, by what they are made from.
    to_load: BTreeMap<String, u64>,
    /// The most space that the clones of one trial take.
    clones: u64,
}

/// What these trials of a plan lack, in words; `None` if there is room.
pub fn lacking(plan: &Plan, trials: &[PlannedTrial], site: &Site) -> Result<Option<String>, RoomError> {
    let is_shared = images::data::shares_blocks(&site.scratch)?;
    let mut needed = Needed::default();
    for cell in plan.cells.iter().filter(|cell| trials.iter().any(|trial| trial.cell == cell.id)) {
        needed.add(&CellOrder::read(cell)?, is_shared, site)?;
    }
    let (loading, largest) = (needed.to_load.values().sum::<u64>(), needed.to_load.values().max().copied());
    // While the last one is loaded, its folder and the disk made of it exist at the same time.
    let bytes = loading.saturating_add(needed.clones.max(largest.unwrap_or_default()));
    Ok(match images::data::require_space(&site.scratch, bytes) {
        Ok(()) => None,
        Err(DataError::NoSpace { free_bytes, needed_bytes, .. }) => Some(format!(
            "the run needs about {} in the cache folder {}, and only {} are free there: {} for data that are to be loaded, {} for \
             the clones of a trial{}. Make room, or name a folder on another disk in BAKEOFF_CACHE",
            study::roughly(needed_bytes),
            site.cache.display(),
            study::roughly(free_bytes),
            study::roughly(loading),
            study::roughly(needed.clones),
            if is_shared { "" } else { ", which its file system cannot make without copying" },
        )),
        Err(error) => return Err(error.into()),
    })
}

/// The time expected for what these trials share: images and loaded data that are not in the cache.
pub fn preparing_ms(plan: &Plan, trials: &[PlannedTrial], site: &Site) -> Result<u64, RoomError> {
    let (mut needed, mut images) = (Needed::default(), BTreeSet::new());
    for cell in plan.cells.iter().filter(|cell| trials.iter().any(|trial| trial.cell == cell.id)) {
        let cell = CellOrder::read(cell)?;
        let recipe = images::find(&cell.machine.image, None)?;
        if images::tree_in_cache(&recipe, &site.cache)?.is_none() {
            images.insert(recipe.name);
        }
        needed.add(&cell, true, site)?;
    }
    let loading = needed.to_load.len() as u64 * study::LOAD_MS;
    Ok(loading + images.len() as u64 * EXPECTED_IMAGE_MS)
}

impl Needed {
    fn add(&mut self, cell: &CellOrder, is_shared: bool, site: &Site) -> Result<(), RoomError> {
        if site.capabilities(&cell.platform).data == DataHome::Elsewhere {
            // The other host is asked when the data are loaded there.
            return Ok(());
        }
        let tree_id = images::tree_in_cache(&images::find(&cell.machine.image, None)?, &site.cache)?;
        let own = self.data(cell, &cell.workload, tree_id.as_deref(), site);
        let odd = cell.odd_workload.as_ref().map(|workload| self.data(cell, workload, tree_id.as_deref(), site));
        let copies = cell.machine.disk.storage == Storage::File && !is_shared;
        if copies {
            let like_others = u64::from(cell.machine.count) - u64::from(odd.is_some());
            let clones = own.saturating_mul(like_others).saturating_add(odd.unwrap_or_default());
            self.clones = self.clones.max(clones);
        }
        Ok(())
    }

    /// The space that a workload's data take. Data that are not in the cache are added to `to_load`.
    fn data(&mut self, cell: &CellOrder, workload: &Chosen, tree_id: Option<&str>, site: &Site) -> u64 {
        let there: Option<PathBuf> = tree_id.and_then(|tree_id| in_cache(cell, workload, tree_id, site));
        if let Some(bytes) = there.and_then(|disk| images::data::allocated_bytes(&disk).ok()) {
            return bytes;
        }
        let one = study::data_bytes(&cell.engine.kind, &workload.kind, &workload.settings).unwrap_or_default();
        let bytes = one.saturating_mul(cell.instances.into());
        let made_from = format!("{:?} {} {workload:?} {:?}", cell.engine, cell.instances, cell.machine.disk);
        self.to_load.insert(made_from, bytes);
        bytes
    }
}
