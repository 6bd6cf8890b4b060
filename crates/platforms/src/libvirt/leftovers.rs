//! What libvirt keeps of a domain whose run was killed, and its end.
//!
//! A domain ends with the connection that made it, so a sweep usually finds nothing. But QEMU outlives a libvirtd that
//! was killed, and a daemon of another host may not have noticed yet. A sweep asks libvirt first, since it cleans up
//! after itself. On this host it then kills what is left. A daemon that is gone or hangs costs its limit and no more.

use super::connect;
use super::process;
use super::rpc::procedures::Uuid;
use super::uri::Uri;
use machines::scratch::{Kept, ScratchError, record_kept};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A libvirtd that has just started asks every QEMU what it can do before it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where the system's libvirt keeps files of a running domain.
const STATE_FOLDERS: [&str; 3] = ["/run/libvirt/qemu", "/var/lib/libvirt/qemu", "/var/lib/libvirt/qemu/channel/target"];
/// How many letters of a name are in the names of its folders.
const SHORT_NAME: usize = 20;

/// How a domain is found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDomain {
    pub uri: String,
    pub name: String,
    pub uuid: String,
}

/// Writes a domain into the ledger of `folder`. Must be called before it is made.
pub fn record(folder: &Path, domain: &KeptDomain) -> Result<(), ScratchError> {
    record_kept(folder, Kept { platform: super::KIND.to_owned(), what: json!(domain) })
}

pub fn undo(what: &Value) -> Result<Option<String>, String> {
    let kept = KeptDomain::deserialize(what).map_err(|error| format!("its ledger is not understood ({error})"))?;
    let uri = Uri::parse(&kept.uri).map_err(|problem| format!("its ledger has {}: {}", kept.uri, problem.why))?;
    let uuid = Uuid::parse(&kept.uuid).ok_or_else(|| format!("its ledger has the UUID {}", kept.uuid))?;
    let asked = end_by_libvirt(&uri, uuid);
    if !uri.is_here() {
        let told = asked.map_err(|why| format!("the domain {} may still run at {} ({why})", kept.name, kept.uri))?;
        return Ok(told.then(|| format!("ended the domain {} at {}", kept.name, kept.uri)));
    }
    let failing = |error: std::io::Error| format!("the QEMU of the domain {} still runs ({error})", kept.name);
    let is_without_libvirt = asked.is_err();
    let mut is_ended = asked.is_ok_and(|is_ended| is_ended);
    if let Some(left) = process::of_domain(uuid).map_err(failing)? {
        is_ended |= left.kill().map_err(failing)?;
    }
    if is_without_libvirt {
        clean_up(&uri, &kept.name);
    }
    remove_log(&uri, &kept.name);
    Ok(is_ended.then(|| format!("ended the domain {}, left over from a run that was killed", kept.name)))
}

/// Ends the domain if libvirt has it; returns whether it did.
fn end_by_libvirt(uri: &Uri, uuid: Uuid) -> Result<bool, String> {
    let mut connection = connect::connect(uri, PATIENCE).map_err(|error| error.to_string())?;
    let client = &mut connection.client;
    let Some(domain) = client.lookup(uuid).map_err(|error| error.to_string())? else { return Ok(false) };
    client.destroy(&domain).map_err(|error| error.to_string())?;
    Ok(true)
}

/// Where libvirt keeps what a domain's QEMU prints. It never removes that file.
pub fn log(uri: &Uri, name: &str) -> Option<PathBuf> {
    let file = format!("{name}.log");
    if !uri.is_session {
        return Some(Path::new("/var/log/libvirt/qemu").join(file));
    }
    Some(connect::own_home()?.join(".cache/libvirt/qemu/log").join(file))
}

/// Removes what a libvirt that was killed cannot remove any more of a domain whose QEMU has ended.
pub fn clean_up(uri: &Uri, name: &str) {
    if !uri.is_here() || uri.is_session {
        return;
    }
    process::remove_groups(name);
    // libvirt shortens names in its folders.
    let short = name.get(..SHORT_NAME).unwrap_or(name);
    for folder in STATE_FOLDERS {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let is_folder = file.strip_prefix("domain-").and_then(|rest| rest.split_once('-'));
            if is_folder.is_some_and(|(_, of)| of == short) {
                let _ = std::fs::remove_dir_all(entry.path());
            } else if file == format!("{name}.xml") || file == format!("{name}.pid") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Names of our domains occur once, so their logs would pile up.
pub fn remove_log(uri: &Uri, name: &str) {
    if let Some(log) = log(uri, name).filter(|_| uri.is_here()) {
        // Who may not remove it may not have written it either.
        let _ = std::fs::remove_file(log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_libvirtd_that_is_gone_does_not_keep_a_sweep_from_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let uri = format!("qemu+unix:///system?socket={}/gone", folder.path().display());
        let uuid = Uuid::of_random(machines::token::random_bytes().unwrap()).to_string();
        let kept = KeptDomain { uri, name: "bakeoff-1-gone".to_owned(), uuid };
        assert_eq!(undo(&json!(kept)), Ok(None));
        for wrong in [
            json!({}),
            json!(KeptDomain { uuid: "x".to_owned(), ..kept.clone() }),
            json!(KeptDomain { uri: "x".to_owned(), ..kept }),
        ] {
            assert!(undo(&wrong).unwrap_err().starts_with("its ledger "), "{wrong}");
        }
    }
}
