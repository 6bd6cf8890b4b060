//! What a guest boots.

use super::error::{failing, unavailable};
use images::initramfs::InitramfsError;
use images::kernel::KernelError;
use machines::machine::MachineError;
use std::path::{Path, PathBuf};

/// The initramfs with these drivers. If the kernel lacks one of them, the trial is skipped with that reason.
pub fn initramfs(image: &images::Image, agent: &Path, drivers: &[&str]) -> Result<PathBuf, MachineError> {
    let made = images::Cache::of(image)
        .map_err(InitramfsError::from)
        .and_then(|cache| images::initramfs::build(image, agent, drivers, &cache));
    made.map_err(|error| match error {
        InitramfsError::Kernel(KernelError::MissingDriver { .. }) => unavailable(error.to_string()),
        other => failing("making the initramfs", other),
    })
}

/// The kernel that guests boot.
pub fn guest_kernel(image: &images::Image) -> Result<&images::Kernel, MachineError> {
    image.guest_kernel().map_err(|error| unavailable(error.to_string()))
}
