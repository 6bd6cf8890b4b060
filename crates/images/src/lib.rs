//! Images: recipes (data) become a root tree, a kernel and a disk, without root and from Debian's packages alone.
//!
//! The tree serves the native platform, and the disk made from it serves virtual machines, so both run the same binaries.
//! Trees and kernels are cached by the hash of the recipe. What went in is in the manifest beside them and in the image's
//! id. Data disks (the loaded database) are made and cloned here, too. Nothing here starts a machine or knows an engine.

mod build;
mod cache;
mod choice;
pub mod data;
mod device;
pub mod initramfs;
pub mod kernel;
mod modinfo;
pub mod oci;
mod recipe;
mod rootdisk;
mod sources;
mod sparse;
mod tool;
mod tree;

pub use build::{ImageError, build, build_without_kernel, tree_in_cache};
pub use cache::{Cache, CacheError, EntryKind, ListedImage, list, sweep};
pub use choice::KernelChoice;
pub use recipe::{Recipe, RecipeError, RecipeFile, catalog, find, in_folder, of_text, replaced};
pub use tool::ToolError;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A built image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Name of the recipe.
    pub name: String,
    /// Hash of the recipe and of what went in.
    pub id: String,
    /// The same without the kernel: the part that native machines use.
    pub tree_id: String,
    /// The root tree for native machines.
    pub tree: PathBuf,
    /// The ext4 root disk for VMs, read-only; `None` if the agent is the whole user space.
    pub root_disk: Option<PathBuf>,
    /// The guests' kernel; `None` if the image was built for native machines only, which need none.
    pub kernel: Option<Kernel>,
    /// Installed packages with versions (`name=version`), including the kernel's.
    pub packages: Vec<String>,
}

impl Image {
    /// The kernel of guests.
    pub fn guest_kernel(&self) -> Result<&Kernel, kernel::KernelError> {
        self.kernel.as_ref().ok_or_else(|| kernel::KernelError::NoKernel { image: self.name.clone() })
    }
}

/// A kernel and the modules that a guest needs before it can mount anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    pub release: String,
    pub file: PathBuf,
    /// Where its modules are, at any depth, with the list of those that are built in.
    pub modules: PathBuf,
}
