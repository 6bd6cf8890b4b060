//! What loaded data are made from, and the folder of the cache that follows from it.

use super::{DATA, DISK, KEPT};
use crate::site::Site;
use engines::server::ServerShape;
use serde_json::json;
use settings::Chosen;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use study::TypedCell;

/// Raised when data disks are made in a new way, so that older ones are not mistaken for new ones.
const DATA_VERSION: u32 = 4;
/// The memory that servers are configured for while data are loaded, whatever the cell's machines have. It decides how
/// much log and other files they leave. Cells that share a data disk must not depend on which of them loaded it. It is
/// small, so that little log is kept and cloned.
pub(super) const LOADING_MEMORY_BYTES: u64 = 1 << 30;
/// Bytes of the hash that name a data disk's folder.
const KEY_BYTES: usize = 12;

/// Everything that shapes the content of a data disk. Data are loaded natively, so the kernel that guests boot does not matter.
pub(super) fn made_from(cell: &TypedCell, workload: &Chosen, tree_id: Option<&str>, site: &Site) -> serde_json::Value {
    let driving = workloads::catalog::entry(&workload.kind).map_or(&[][..], |entry| entry.driving_keys);
    let mut workload = workload.clone();
    workload.settings.retain(|key, _| !driving.contains(&key.as_str()));
    let mut made_from = json!({
        "version": DATA_VERSION,
        "image": tree_id,
        "engine": cell.engine.chosen,
        "workload": workload,
        "disk_bytes": cell.machine.disk.size_bytes.0,
        "loaded_with": loading_shape(site),
    });
    if cell.written.instances() > 1 {
        made_from["instances"] = cell.written.instances().into();
        if cell.written.shares_server() {
            made_from["shared_server"] = true.into();
        }
    }
    made_from
}

/// The shape for loading; the same for all cells of a host.
pub(super) fn loading_shape(site: &Site) -> ServerShape {
    let vcpus = u32::try_from(site.cpus.len()).unwrap_or(1);
    ServerShape { vcpus, memory_bytes: LOADING_MEMORY_BYTES }
}

pub(super) fn folder_of(made_from: &serde_json::Value, site: &Site) -> PathBuf {
    site.cache.join(DATA).join(key(made_from))
}

/// The loaded data disk of a cell's workload, if it is in the cache.
pub(crate) fn in_cache(cell: &TypedCell, workload: &Chosen, tree_id: &str, site: &Site) -> Option<PathBuf> {
    let folder = folder_of(&made_from(cell, workload, Some(tree_id), site), site);
    folder.join(KEPT).exists().then(|| folder.join(DISK))
}

pub(super) fn key(made_from: &serde_json::Value) -> String {
    let hash = Sha256::digest(made_from.to_string().as_bytes());
    let half = hash.iter().take(KEY_BYTES).fold(0_u128, |key, byte| key << 8 | u128::from(*byte));
    format!("{half:024x}")
}
