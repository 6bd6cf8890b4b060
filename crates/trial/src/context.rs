//! The part of a trial on one machine that does not change while it goes on.

use crate::conversation::AskError;
use crate::exception;
use crate::halt::Halt;
use crate::hosts_in_use::HostsInUse;
use crate::limits::Limits;
use crate::preparation::{Data, PreparedCell};
use crate::script;
use crate::site::Site;
use crate::start_order::StartTurn;
use driver::plan::{DrivePlan, Pacing};
use platforms::capabilities::{Capabilities, DataHome};
use record::plan::PlannedTrial;
use record::settings::MachineException;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use study::TypedCell;
use telemetry::Latest;

/// Gives each further machine a different seed. (2^64 divided by the golden ratio.)
pub(crate) const SEED_OF_MACHINE: u64 = 0x9E37_79B9_7F4A_7C15;

#[derive(Clone, Copy)]
pub struct TrialContext<'a> {
    pub planned: &'a PlannedTrial,
    pub cell: &'a TypedCell,
    pub prepared: &'a PreparedCell,
    pub site: &'a Site,
    pub scratch: &'a Path,
    /// Which machine of the trial, from 1.
    pub number: u32,
    pub halt: Halt<'a>,
    /// When the machine is started; `None` if it is the only one.
    pub turn: Option<StartTurn<'a>>,
    /// Where the host's last sample is shown; `None` if nobody looks.
    pub latest: Option<&'a Arc<Latest>>,
    /// Load hosts that other trials may need at the same time; `None` if there are no other trials.
    pub in_use: Option<&'a HostsInUse>,
    /// Connections that load in parallel.
    pub writers: u32,
}

impl<'a> TrialContext<'a> {
    pub fn can(&self) -> Capabilities {
        self.cell.platform.can()
    }

    /// False in a rehearsal, which executes nothing.
    pub fn executes(&self) -> bool {
        self.can().executes
    }

    /// Whether its machine is on another host, of which this one sees nothing.
    pub fn is_elsewhere(&self) -> bool {
        self.can().data == DataHome::Elsewhere
    }

    /// True if it is the trial's only machine.
    pub fn is_alone(&self) -> bool {
        self.halt.others.is_none()
    }

    pub fn limits(&self) -> &'a Limits {
        &self.site.limits
    }

    /// This machine's data, and the workload that runs on them.
    pub fn data(&self) -> &'a Data {
        self.prepared.data_of(self.number)
    }

    /// The machine's databases, by number.
    pub fn databases(&self) -> Range<u16> {
        0..self.cell.written.instances()
    }

    /// True if the engine runs inside the driver.
    pub fn in_process(&self) -> bool {
        !self.cell.engine.entry.remote
    }

    pub fn name(&self) -> String {
        let trial = format!("trial-{:04}", self.planned.id);
        if self.is_alone() { trial } else { format!("{trial}-{}", self.number) }
    }

    /// The first machine gets the seed of a machine that is alone. The others get different seeds, so different inputs.
    pub fn seed(&self) -> u64 {
        self.planned.seed.wrapping_add(u64::from(self.number - 1).wrapping_mul(SEED_OF_MACHINE))
    }

    /// The plan that this machine's workload makes of the load, with this pacing.
    pub fn drive_plan(&self, pacing: Pacing, seed: u64) -> DrivePlan {
        script::drive_plan(self.cell, &self.data().workload.made, pacing, seed, self.limits())
    }

    /// The plan for driving this machine in the measured part of the trial.
    pub fn measured_plan(&self, pacing: Pacing) -> DrivePlan {
        exception::measured(self.exception(), self.is_alone(), self.drive_plan(pacing, self.seed()))
    }

    /// True if this machine represents its trial.
    pub fn leads(&self) -> bool {
        self.number == exception::leader(self.cell)
    }

    /// The differences of this machine, if it is the exception.
    pub fn exception(&self) -> Option<&'a MachineException> {
        self.cell.machine.exception.as_ref().filter(|exception| exception.number == self.number)
    }

    pub fn is_idle(&self) -> bool {
        exception::is_idle(self.cell, self.number)
    }

    /// How long after the others this machine's load starts.
    pub fn start_delay(&self) -> Duration {
        let plan = self.drive_plan(Pacing::Clients { clients: 1 }, 0);
        self.exception().map_or(Duration::ZERO, |exception| exception::delay(exception.load, &plan))
    }

    /// Waits for this machine's turn to start. A machine that is alone, or had its turn before, begins at once.
    pub fn await_turn(&self) -> Result<(), AskError> {
        self.turn.map_or(Ok(()), |turn| turn.wait(self.halt))
    }

    pub fn pass_turn(&self) {
        if let Some(turn) = &self.turn {
            turn.pass();
        }
    }

    /// Waits for the trial's other machines.
    pub fn meet(&self) -> Result<(), AskError> {
        self.meet_with(|| 0).map(drop)
    }

    /// Waits for the other machines; all get the value that the last one brings.
    pub fn meet_with(&self, bring: impl FnOnce() -> u64) -> Result<u64, AskError> {
        let Some(others) = self.halt.others else { return Ok(bring()) };
        others.meet(self.halt.interrupts, bring).map_err(|_| AskError::halted(self.halt))
    }
}
