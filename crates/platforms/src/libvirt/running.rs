//! A domain that runs, from its making to its end.
//!
//! It is in the ledger before libvirt is asked to make it. It ends with its connection, so with us. QEMU outlives a
//! libvirtd that is killed; so its process is ended by itself, too, where it can be seen.

use super::connect::LibvirtConnection;
use super::domain::{self, Console, DomainOrder};
use super::leftovers::{self, KeptDomain};
use super::process;
use super::rpc::RpcError;
use super::rpc::procedures::{Domain, Statistics, Uuid};
use super::uri::Uri;
use crate::qemu::error::{failing, unavailable};
use crate::qemu::monitor::Monitor;
use crate::qemu::monitor::QmpError;
use machines::identity::Identity;
use machines::machine::MachineError;
use machines::printed::Printed;
use machines::scratch;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use settings::nearest;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const END_POLL: Duration = Duration::from_millis(10);
/// How often it is looked whether libvirt is still there while a guest powers off.
const LOOK: Duration = Duration::from_millis(500);
/// The last words of a guest's kernel.
const POWERED_OFF: &str = "reboot: Power down";
/// libvirt has cleaned up behind a QEMU that has ended within this.
const CLEAN_UP_LIMIT: Duration = Duration::from_secs(30);
/// Stands before the reason in the last line of libvirt's log of a domain.
const REASON: &str = "shutting down, reason=";
/// How much of that log is shown.
const SHOWN_BYTES: usize = 4 << 10;

/// The connection that keeps a domain. It asks the domain's QEMU through libvirt.
pub struct Keeper {
    connection: LibvirtConnection,
    domain: Domain,
}

impl Keeper {
    pub fn statistics(&mut self, limit: Duration) -> Result<Statistics, RpcError> {
        self.connection.client.statistics(&self.domain, limit)
    }

    /// The domain as it runs, in XML.
    pub fn xml(&mut self) -> Result<String, RpcError> {
        self.connection.client.xml(&self.domain)
    }

    pub fn versions(&mut self) -> Result<(String, String), RpcError> {
        Ok((self.connection.client.libvirt_version()?, self.connection.client.hypervisor_version()?))
    }
}

impl Monitor for Keeper {
    fn execute_within(&mut self, limit: Duration, command: &str, arguments: Value) -> Result<Value, QmpError> {
        self.connection.client.monitor(&self.domain, limit, command, arguments)
    }
}

/// Dropping it ends the domain.
pub struct RunningDomain {
    pub uri: Uri,
    pub name: String,
    uuid: Uuid,
    pub keeper: Arc<Mutex<Keeper>>,
    /// QEMU, if it runs on this host.
    process: Option<Identity>,
    console: Option<Printed>,
    is_ended: bool,
}

impl RunningDomain {
    /// Makes the domain, whose files are in `folder`.
    pub fn make(
        mut connection: LibvirtConnection,
        uri: &Uri,
        order: &DomainOrder,
        folder: &Path,
    ) -> Result<Self, MachineError> {
        let doing = || format!("making the domain {}", order.name);
        let console = match &order.console {
            Console::Pipes(path) => Some(pipes(path).map_err(|error| failing("making a console", error))?),
            Console::Unread => None,
        };
        let kept = KeptDomain { uri: uri.text.clone(), name: order.name.clone(), uuid: order.uuid.to_string() };
        leftovers::record(folder, &kept).map_err(|error| failing("writing down the domain", error))?;
        let domain = match connection.client.create(&domain::xml(order)) {
            Ok(domain) => domain,
            Err(error) => {
                let told = refused(&mut connection, uri, order, error, &doing());
                // If libvirt died meanwhile, its QEMU may run.
                end_process(uri, order.uuid);
                leftovers::remove_log(uri, &order.name);
                return Err(told);
            }
        };
        let keeper = Arc::new(Mutex::new(Keeper { connection, domain }));
        let (uri, name, uuid) = (uri.clone(), order.name.clone(), order.uuid);
        let mut running = Self { uri, name, uuid, keeper, process: None, console, is_ended: false };
        if running.uri.is_here() {
            running.process = process::of_domain(uuid).map_err(|error| failing("finding QEMU's process", error))?;
            let Some(process) = running.process else { return Err(running.ended()) };
            scratch::record_process(folder, process).map_err(|error| failing("writing down QEMU", error))?;
        }
        Ok(running)
    }

    pub fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn pid(&self) -> Option<u32> {
        self.process.map(|process| process.pid)
    }

    pub fn what(&self) -> String {
        format!("the domain {}", self.name)
    }

    /// What QEMU and the guest printed.
    pub fn console(&self) -> String {
        self.printed(Printed::text)
    }

    fn printed(&self, text: impl FnOnce(&Printed) -> String) -> String {
        let log = leftovers::log(&self.uri, &self.name).filter(|_| self.uri.is_here());
        let log = log.and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
        let console = self.console.as_ref().map(text).unwrap_or_default();
        [last_of(&log), &console].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Whether QEMU runs, or whether libvirt has the domain if it is at another host.
    fn is_alive(&self) -> bool {
        match self.process {
            Some(process) => process.is_alive(),
            None if self.uri.is_here() => false,
            None => matches!(self.keeper().connection.client.lookup(self.uuid), Ok(Some(_))),
        }
    }

    /// Waits until QEMU has ended; false at the limit.
    pub fn wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while self.is_alive() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(END_POLL);
        }
        true
    }

    /// Waits until the guest has powered off and QEMU has ended; false at the limit. It is libvirt that ends a QEMU whose
    /// guest has powered off. If libvirt is gone, we do.
    pub fn wait_for_power_off(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.wait(LOOK) {
            let is_lost = matches!(self.keeper().connection.client.lookup(self.uuid), Err(RpcError::Closed));
            if is_lost && self.console.as_ref().is_some_and(|console| console.text().ends_with(POWERED_OFF)) {
                return self.end().is_ok();
            }
            if Instant::now() > deadline {
                return false;
            }
        }
        true
    }

    /// The error for a domain that has ended by itself.
    pub fn ended(&mut self) -> MachineError {
        self.wait_for_clean_up();
        let console = match &mut self.console {
            Some(console) => console.to_the_end(),
            None => String::new(),
        };
        let status = self.reason().unwrap_or_else(|| "libvirt does not say why".to_owned());
        MachineError::Ended { what: self.what(), status, console: self.printed(|_| console) }
    }

    /// libvirt's word for why the domain ended: shutdown, destroyed, crashed, failed.
    pub fn reason(&self) -> Option<String> {
        let log = std::fs::read_to_string(leftovers::log(&self.uri, &self.name)?).ok()?;
        let (_, reason) = log.rsplit_once(REASON)?;
        Some(reason.lines().next()?.to_owned())
    }

    /// Waits until libvirt no longer knows the domain. What a libvirt that is gone cannot clean up, we do.
    fn wait_for_clean_up(&self) {
        let deadline = Instant::now() + CLEAN_UP_LIMIT;
        while Instant::now() < deadline {
            let found = self.keeper().connection.client.lookup(self.uuid);
            match found {
                Ok(Some(_)) => std::thread::sleep(END_POLL),
                Ok(None) => return,
                Err(_) => return leftovers::clean_up(&self.uri, &self.name),
            }
        }
    }

    /// Ends QEMU at once, like a power cut, and waits until libvirt has released everything.
    pub fn end(&mut self) -> Result<(), MachineError> {
        self.is_ended = true;
        // Killed by us, it does not first write out what libvirt's polite way would let it.
        let killed = self.process.map_or(Ok(false), |process| process.kill().map(|_| true));
        let is_gone = matches!(killed, Ok(true));
        let destroyed = {
            let mut keeper = self.keeper();
            let Keeper { connection, domain } = &mut *keeper;
            connection.client.destroy(domain)
        };
        self.wait_for_clean_up();
        leftovers::remove_log(&self.uri, &self.name);
        if is_gone || destroyed.is_ok() {
            return Ok(());
        }
        killed.map_err(|error| failing(&format!("ending {}", self.what()), error))?;
        destroyed.map_err(|error| failing(&format!("ending {}", self.what()), error))
    }

    /// The domain has ended; libvirt may still be cleaning up.
    pub fn release(&mut self) {
        self.is_ended = true;
        self.wait_for_clean_up();
        leftovers::remove_log(&self.uri, &self.name);
    }
}

impl Drop for RunningDomain {
    fn drop(&mut self) {
        if !self.is_ended {
            // It is in the ledger, and ends with its connection.
            let _ = self.end();
        }
    }
}

/// Two named pipes, as QEMU expects them: it writes to one and reads from the other.
fn pipes(path: &Path) -> io::Result<Printed> {
    let with = |ending: &str| PathBuf::from(format!("{}{ending}", path.display()));
    let unread = with(".in");
    match std::fs::remove_file(&unread) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        // That of a guest that is booted again still exists.
        _ => {}
    }
    mknodat(CWD, &unread, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    Printed::named_pipe(&with(".out"))
}

fn end_process(uri: &Uri, uuid: Uuid) {
    if let Some(left) = uri.is_here().then(|| process::of_domain(uuid)).and_then(Result::ok).flatten() {
        // It is in the ledger, too.
        let _ = left.kill();
    }
}

/// Why there is no domain.
fn refused(
    connection: &mut LibvirtConnection,
    uri: &Uri,
    order: &DomainOrder,
    error: RpcError,
    doing: &str,
) -> MachineError {
    let Some(message) = error.refusal().map(|refusal| refusal.message.clone()) else { return failing(doing, error) };
    if message.contains("CPU model") {
        let cpu = &order.settings.cpu;
        let known = connection.client.cpu_models().unwrap_or_default();
        let near = nearest(cpu, known.iter().map(String::as_str)).map(|near| format!("; the nearest is \"{near}\""));
        return unavailable(format!("libvirt takes no cpu = \"{cpu}\" ({message}){}", near.unwrap_or_default()));
    }
    if message.contains("process exited") || message.contains("monitor") {
        let log = leftovers::log(uri, &order.name).filter(|_| uri.is_here());
        let log = log.and_then(|log| std::fs::read_to_string(log).ok()).unwrap_or_default();
        let console = if message.len() > last_of(&log).len() { message } else { last_of(&log).to_owned() };
        let what = format!("the QEMU of the domain {}", order.name);
        return MachineError::Ended { what, status: "before its guest started".to_owned(), console };
    }
    failing(doing, error)
}

/// The end of a log, from the beginning of a line. It begins with a long command line.
fn last_of(log: &str) -> &str {
    let log = log.trim_end();
    let start = log.ceil_char_boundary(log.len().saturating_sub(SHOWN_BYTES));
    let end = &log[start..];
    // QEMU's own lines come after the last word of the command line.
    let own = end.rsplit_once("-msg timestamp=on\n").map_or(end, |(_, own)| own);
    if start == 0 || own.len() < end.len() { own } else { own.split_once('\n').map_or(own, |(_, whole)| whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_what_qemu_said() {
        let log = "2026-11-25: starting up\n/usr/bin/qemu \\\n-msg timestamp=on\nqemu: no such CPU\n2026: shutting down, reason=failed\n";
        assert_eq!(last_of(log), "qemu: no such CPU\n2026: shutting down, reason=failed");
        assert_eq!(last_of("one\n"), "one");
        let endless = format!("{}\nlast", "é".repeat(SHOWN_BYTES));
        assert_eq!(last_of(&endless), "last");
    }
}
