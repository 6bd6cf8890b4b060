//! Who logs in, with which password, and which certificate is accepted.

use super::client::{VsphereClient, VsphereError};
use super::http::Http;
use super::settings::VsphereSettings;
use crate::credentials::{Credentials, VSPHERE_PASSWORD, VSPHERE_USER};
use machines::owned;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use trust::Demand;
use trust::secret::Secret;

/// No password is longer.
const LONGEST_PASSWORD: u64 = 4096;
/// Mode bits: the group and all others have some access.
const OPEN_TO_OTHERS: u32 = 0o077;

/// User and password; an error says what to set.
pub fn account(settings: &VsphereSettings, credentials: &Credentials) -> Result<(String, Secret), String> {
    let user = settings.user.clone().or_else(|| credentials.vsphere_user.clone()).ok_or_else(|| {
        format!("nobody is named to log in at {}; set platform.user or the variable {VSPHERE_USER}", settings.url)
    })?;
    let password = match settings.password_file.as_deref() {
        Some(path) => of_file(path)?,
        None => credentials.vsphere_password.clone().ok_or_else(|| {
            format!(
                "there is no password for {user} at {}; set the variable {VSPHERE_PASSWORD}, or platform.password_file to a file \
                 that only you can read",
                settings.url
            )
        })?,
    };
    Ok((user, password))
}

/// The first line of a file that only we can access.
fn of_file(path: &Path) -> Result<Secret, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("reading the password in {shown}: {error}");
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.permissions().mode() & OPEN_TO_OTHERS != 0 {
        return Err(format!("the password in {shown} is open to other users; chmod 600 {shown}"));
    }
    owned::judge(path, &metadata).map_err(|error| format!("the password: {error}"))?;
    let mut text = String::new();
    file.take(LONGEST_PASSWORD).read_to_string(&mut text).map_err(failed)?;
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() {
        return Err(format!("{shown} holds no password in its first line"));
    }
    Ok(Secret::new(password))
}

pub fn log_in(settings: &VsphereSettings, credentials: &Credentials) -> Result<VsphereClient, VsphereError> {
    let (user, password) = account(settings, credentials).map_err(VsphereError::Unusable)?;
    let (url, server) = settings.endpoint().map_err(VsphereError::Unusable)?;
    let fingerprint = settings.fingerprint().map_err(VsphereError::Unusable)?;
    let demand = match fingerprint {
        Some(fingerprint) => Demand::Fingerprint(fingerprint),
        None if settings.insecure => Demand::Nothing,
        None => Demand::Authority { file: None, with_name: true },
    };
    let http = Http::to(&url, demand).map_err(|cause| VsphereError::Http { server: server.clone(), cause })?;
    VsphereClient::log_in(http, server, user, password)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs::{self, Permissions};

    #[test]
    fn a_password_is_of_a_private_file_or_of_a_variable_and_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        let table = json!({ "url": "https://vc.test", "template": "t", "user": "me", "password_file": path });
        let with_file = super::super::settings::read(table.as_object().unwrap()).unwrap();
        let none = Credentials::default();
        let told = account(&with_file, &none).unwrap_err();
        assert!(told.starts_with("reading the password in "), "{told}");
        fs::write(&path, "correct horse\nmore").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let told = account(&with_file, &none).unwrap_err();
        assert!(told.contains("is open to other users; chmod 600 ") && !told.contains("horse"), "{told}");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(account(&with_file, &none).unwrap().1.reveal(), "correct horse");
        fs::write(&path, "\n").unwrap();
        assert!(account(&with_file, &none).unwrap_err().contains("holds no password"));

        let table = json!({ "url": "https://vc.test", "template": "t" });
        let without = super::super::settings::read(table.as_object().unwrap()).unwrap();
        assert!(account(&without, &none).unwrap_err().contains("VSPHERE_USER"));
        let given = |name: &str| (name == VSPHERE_USER).then(|| "me".to_owned());
        assert!(account(&without, &Credentials::of(given)).unwrap_err().contains("VSPHERE_PASSWORD"));
        let both = Credentials::of(|name| Some(format!("of {name}")));
        assert_eq!(account(&without, &both).unwrap().1.reveal(), "of VSPHERE_PASSWORD");
        assert!(!format!("{both:?}").contains("of VSPHERE_PASSWORD"), "{both:?}");
    }
}
