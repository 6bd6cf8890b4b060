//! Whether a libvirt answers, found by asking it. Nothing is made.

use super::connect;
use super::uri::{Driver, Uri};
use std::time::Duration;

/// A libvirtd that has just started asks every QEMU what it can do before it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// What answers at this URI: "libvirt 9.0.0 with QEMU 7.2.22". If nothing does, why, and what would help.
pub fn answering(uri: &str) -> Result<String, String> {
    let uri = Uri::parse(uri).map_err(|problem| format!("\"{uri}\" is no URI of libvirt: {}", problem.why))?;
    let mut connection = connect::connect(&uri, PATIENCE).map_err(|error| error.to_string())?;
    let libvirt = connection.client.libvirt_version().map_err(|error| error.to_string())?;
    let hypervisor = connection.client.hypervisor_version().map_err(|error| error.to_string())?;
    let name = match uri.driver {
        Driver::Qemu => "QEMU",
        Driver::Xen => "Xen",
    };
    Ok(format!("libvirt {libvirt} with {name} {hypervisor}"))
}
