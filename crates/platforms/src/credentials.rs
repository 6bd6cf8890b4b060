//! What platforms of other hosts log in with, from outside the study. Nothing here is written down or shown.

use trust::secret::Secret;

/// Read from the environment by the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    pub vsphere_user: Option<String>,
    pub vsphere_password: Option<Secret>,
}

/// The variables that hold them.
pub const VSPHERE_USER: &str = "VSPHERE_USER";
pub const VSPHERE_PASSWORD: &str = "VSPHERE_PASSWORD";

impl Credentials {
    /// `variable` looks up a variable that is set and not empty.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self { vsphere_user: variable(VSPHERE_USER), vsphere_password: variable(VSPHERE_PASSWORD).map(Secret::new) }
    }
}
