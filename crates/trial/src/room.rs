//! Checks before the first trial whether this host has room for the data of a run.
//!
//! The estimate is low rather than high, so what is refused here would not have fitted. Loading and cloning check again.

use crate::preparation::{EXPECTED_IMAGE_MS, origin::in_cache};
use crate::site::Site;
use images::ImageError;
use images::data::DataError;
use platforms::capabilities::DataHome;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use study::{ChosenWorkload, Storage, TypedCell, TypedPlan};

#[derive(Debug, thiserror::Error)]
pub enum RoomError {
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

/// The room that the trials of a plan lack, in words; `None` if there is enough.
pub fn lacking(plan: &TypedPlan, site: &Site) -> Result<Option<String>, RoomError> {
    let is_shared = images::data::shares_blocks(&site.scratch)?;
    let mut needed = Needed::default();
    for cell in plan.planned() {
        needed.add(cell, is_shared, site)?;
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

/// The time expected for what the trials of a plan share: images and loaded data that are not in the cache.
pub fn preparing_ms(plan: &TypedPlan, site: &Site) -> Result<u64, RoomError> {
    let (mut needed, mut images) = (Needed::default(), BTreeSet::new());
    for cell in plan.planned() {
        let recipe = cell.recipe()?;
        if images::tree_in_cache(&recipe, &site.cache)?.is_none() {
            images.insert(recipe.name);
        }
        needed.add(cell, true, site)?;
    }
    let loading = needed.to_load.len() as u64 * study::LOAD_MS;
    Ok(loading + images.len() as u64 * EXPECTED_IMAGE_MS)
}

impl Needed {
    fn add(&mut self, cell: &TypedCell, is_shared: bool, site: &Site) -> Result<(), RoomError> {
        if cell.platform.can().data == DataHome::Elsewhere {
            // The other host is asked when the data are loaded there.
            return Ok(());
        }
        let tree_id = images::tree_in_cache(&cell.recipe()?, &site.cache)?;
        let own = self.data(cell, &cell.workload, tree_id.as_deref(), site);
        let exception =
            cell.exception_workload.as_ref().map(|workload| self.data(cell, workload, tree_id.as_deref(), site));
        let copies = cell.machine.disk.storage == Storage::File && !is_shared;
        if copies {
            let like_others = u64::from(cell.machine.count) - u64::from(exception.is_some());
            let clones = own.saturating_mul(like_others).saturating_add(exception.unwrap_or_default());
            self.clones = self.clones.max(clones);
        }
        Ok(())
    }

    /// The space that a workload's data take. Data that are not in the cache are added to `to_load`.
    fn data(&mut self, cell: &TypedCell, workload: &ChosenWorkload, tree_id: Option<&str>, site: &Site) -> u64 {
        let there: Option<PathBuf> = tree_id.and_then(|tree_id| in_cache(cell, &workload.chosen, tree_id, site));
        if let Some(bytes) = there.and_then(|disk| images::data::allocated_bytes(&disk).ok()) {
            return bytes;
        }
        let one = workload.data_bytes(cell.engine.entry).unwrap_or_default();
        let bytes = one.saturating_mul(cell.written.instances().into());
        let (engine, workload, instances) = (&cell.engine.chosen, &workload.chosen, cell.written.instances());
        let made_from = format!("{engine:?} {instances} {workload:?} {:?}", cell.machine.disk);
        self.to_load.insert(made_from, bytes);
        bytes
    }
}
