//! A platform as the catalog lists it, and a contender's settings as their platform has read them.

use crate::ahead::Ahead;
use crate::capabilities::Capabilities;
use crate::credentials::Credentials;
use crate::order::MachineRequest;
use crate::platform::{OpenOrder, Platform};
use crate::qemu::settings::KvmWish;
use machines::machine::{Decisions, MachineError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use settings::{Key, Problem};
use std::fmt;
use std::sync::Arc;

/// The settings in a contender's table, or what is wrong with its keys.
pub type ReadSettings = Result<Arc<dyn PlatformSettings>, Vec<Problem>>;

/// Finds the settings in the table of a platform of this kind; `None` if there is no such platform.
pub type FindSettings = fn(&str, &Map<String, Value>) -> Option<ReadSettings>;

/// A platform.
#[derive(Debug, Clone, Copy)]
pub struct PlatformEntry {
    pub kind: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// Reads a contender's table, without its kind.
    pub read: fn(&Map<String, Value>) -> ReadSettings,
}

/// A contender's settings of a platform, and what follows from them before anything starts.
pub trait PlatformSettings: fmt::Debug + Send + Sync {
    fn can(&self) -> Capabilities;

    /// Combinations that the platform cannot run, and machines that it cannot make. This starts nothing.
    fn check(&self, _request: &MachineRequest<'_>) -> Vec<Problem> {
        Vec::new()
    }

    /// The facts about its machine on this host that are known; empty for machines elsewhere.
    fn foreseen(&self, _ahead: &Ahead<'_>) -> Decisions {
        Decisions::new()
    }

    /// The URI of a daemon that must answer before it can run; `None` on a platform without a daemon.
    fn daemon(&self) -> Option<&str> {
        None
    }

    /// Why there is no user or password for the server that its machines are on.
    fn without_login(&self, _credentials: &Credentials) -> Option<String> {
        None
    }

    /// Its wish for KVM on this host; `None` on a platform without KVM.
    fn kvm_wish(&self) -> Option<KvmWish> {
        None
    }

    /// The program that makes its containers.
    fn runtime(&self) -> Option<&str> {
        None
    }

    /// The URL of its server that runs already; `None` if bakeoff starts a server.
    fn running_server(&self) -> Option<&str> {
        None
    }

    /// The host that its machine is, if that is known by a name.
    fn host(&self) -> Option<&str> {
        None
    }

    /// Its machines if it has several, of which each trial has one.
    fn hosts(&self) -> &[String] {
        &[]
    }

    /// The settings for a trial on one of several machines; `None` if there are not several.
    fn on_host(&self, _host: &str) -> Option<Arc<dyn PlatformSettings>> {
        None
    }

    /// Once in a run.
    fn open(&self, order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError>;
}

/// Reads a table with these keys.
pub(crate) fn read<S>(table: &Map<String, Value>, keys: &[Key]) -> ReadSettings
where
    S: PlatformSettings + DeserializeOwned + 'static,
{
    Ok(Arc::new(settings::read::<S>(table, keys)?))
}
