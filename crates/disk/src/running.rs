//! A disk's process as its owner sees it.

use crate::control::{ControlError, DiskControl, next_line};
use crate::mount::{MountError, undo};
use crate::serve::{FAILED, READY, UNAVAILABLE};
use crate::settings::FaultSettings;
use machines::identity::Identity;
use machines::process::{Launch, Process, ProcessError};
use machines::ready::UntilDeadline;
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// Here there can be no such disk, so nothing can be audited on one.
    #[error("a disk that can lose power is not available here: {why}")]
    Unavailable { why: String },
    #[error("the disk did not start: {why}")]
    Failed { why: String },
    #[error("the disk ended before it was there, or did not get ready within {} s: {source}", .limit.as_secs())]
    NotReady { limit: Duration, source: io::Error },
    #[error("a path of the disk is not text")]
    Path,
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Control(#[from] ControlError),
    #[error(transparent)]
    Mount(#[from] MountError),
}

/// A running disk. Dropping it kills its process and removes its mount.
#[derive(Debug)]
pub struct RunningDisk {
    process: Process,
    settings: FaultSettings,
    is_ended: bool,
}

impl RunningDisk {
    /// Starts `program`, which calls [`crate::serve`] with the settings in its last word, and waits until the disk is there.
    ///
    /// A disk that is killed leaves its mount. So the owner writes it into its ledger first; [`crate::undo`] removes it.
    pub fn start(program: &[&str], settings: &FaultSettings, limit: Duration) -> Result<Self, DiskError> {
        let word = settings.to_word().ok_or(DiskError::Path)?;
        let launch = Launch::new(program).args([word]).stdout(Stdio::piped());
        let mut process = Process::start(launch)?;
        let said = process.take_stdout().ok_or_else(|| io::Error::other("it has no output"));
        let disk = Self { process, settings: settings.clone(), is_ended: false };
        let line = said.and_then(|said| {
            let mut said = UntilDeadline { read: said, deadline: Instant::now() + limit, interrupts: None };
            next_line(&mut Vec::new(), &mut said)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        });
        let line = line.map_err(|source| DiskError::NotReady { limit, source })?;
        if let Some(why) = line.strip_prefix(UNAVAILABLE) {
            return Err(DiskError::Unavailable { why: why.to_owned() });
        }
        if line != READY {
            return Err(DiskError::Failed { why: line.strip_prefix(FAILED).unwrap_or(&line).to_owned() });
        }
        Ok(disk)
    }

    /// For the owner's ledger.
    pub fn identity(&self) -> Identity {
        self.process.identity()
    }

    pub fn settings(&self) -> &FaultSettings {
        &self.settings
    }

    /// A connection to it, whose answers take at most `limit`.
    pub fn control(&self, limit: Duration) -> Result<DiskControl, ControlError> {
        DiskControl::connect(&self.settings.control, limit)
    }

    /// Ends it, also if it is frozen or stalled, or does not answer. No step takes longer than `limit`. Whoever still uses the disk
    /// gets errors from now on, so that its machine is to be ended first.
    pub fn end(mut self, limit: Duration) -> Result<(), DiskError> {
        let quit = self.control(limit).and_then(|mut control| control.quit());
        let ended = if quit.is_ok() { self.process.wait(limit)? } else { None };
        self.remove()?;
        quit?;
        match ended {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(DiskError::Failed { why: format!("its process ended with {status}") }),
            None => {
                Err(DiskError::Failed { why: format!("it did not end within {} s, and was killed", limit.as_secs()) })
            }
        }
    }

    /// Removes the mount before the process is killed: if it hangs in a request, that gives it an error.
    fn remove(&mut self) -> Result<(), DiskError> {
        self.is_ended = true;
        let undone = undo(&self.settings.mount);
        self.process.kill()?;
        undone?;
        Ok(())
    }
}

impl Drop for RunningDisk {
    fn drop(&mut self) {
        if !self.is_ended {
            // Its owner's ledger knows what may be left.
            let _ = self.remove();
        }
    }
}
