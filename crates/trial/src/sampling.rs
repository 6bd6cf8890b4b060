//! Samples of host and machine while load is driven: started on both sides before, collected and written afterwards.
//!
//! Both sides sample at the same moments, whole seconds from one origin. The machine keeps its samples until driving is over, so
//! that none is transferred during measurement. If something cannot be sampled, its figures are lost, not the trial.

use crate::attempt::Running;
use crate::conversation::{AskError, mismatch};
use crate::error::AttemptError;
use agent::protocol::{Reply, Request};
use machines::clock::monotonic_ns;
use machines::machine::{Machine, Watched};
use record::telemetry::{Series, Side};
use std::path::Path;
use telemetry::{Grid, Sampler, Sampling, Targets};

impl Running<'_> {
    fn samples(&self) -> bool {
        self.attempt.cell.load.telemetry && self.executes()
    }

    /// Starts sampling on both sides, if the study asks for it.
    pub(crate) fn start_sampling(&mut self, machine: &mut dyn Machine) -> Result<Option<Sampling>, AttemptError> {
        if !self.samples() {
            return Ok(None);
        }
        let origin_ns = monotonic_ns();
        let clock = self.record.machine.as_ref().and_then(|machine| machine.clock.last());
        let offset_ns = clock.map_or(0, |reading| reading.offset_ns);
        let request = Request::StartSampling { origin_ns: origin_ns.saturating_add_signed(offset_ns) };
        match self.ask(machine, &request, self.limits().sampling) {
            Ok(Reply::Done) => {}
            Ok(other) => return Err(mismatch("start of sampling", &other).into()),
            Err(AttemptError::Ask(AskError::Refused(failure))) => self.not_sampled("in the machine", &failure.why),
            Err(error) => return Err(error),
        }
        self.sampled_from_ns = origin_ns;
        if self.is_elsewhere() {
            return Ok(None);
        }
        let Watched { targets, asked } = machine.watched();
        // The host is the same for all machines of a trial, so only the leader samples it.
        let targets = Targets { without_system: !self.leads(), ..targets };
        let sampler = Sampler::open(Side::Host, Path::new("/"), &targets, asked);
        match Sampling::start_shown(sampler, Grid::of_seconds(origin_ns), self.attempt.latest.cloned()) {
            Ok(sampling) => {
                sampling.mark();
                Ok(Some(sampling))
            }
            Err(error) => {
                self.not_sampled("on the host", &error.to_string());
                Ok(None)
            }
        }
    }

    /// Stops sampling on both sides and writes the samples.
    pub(crate) fn record_sampling(
        &mut self,
        machine: &mut dyn Machine,
        on_host: Option<Sampling>,
    ) -> Result<(), AttemptError> {
        if !self.samples() {
            return Ok(());
        }
        let mut series = Vec::new();
        let until_ns = monotonic_ns();
        if let Some(sampling) = on_host {
            sampling.mark();
            series.push(sampling.stop());
        }
        series.extend(self.samples_of_machine(machine)?);
        series.extend(machine.counted(self.sampled_from_ns, until_ns));
        self.file(|folder| record::telemetry_files::write(folder, &series))?;
        Ok(())
    }

    fn samples_of_machine(&mut self, machine: &mut dyn Machine) -> Result<Option<Series>, AttemptError> {
        let mut samples = Vec::new();
        let reply = self.ask_aside(machine, &Request::StopSampling, self.limits().sampling, &mut |aside| {
            if let Reply::Samples(part) = aside {
                samples.extend(part);
            }
        });
        match reply {
            Ok(Reply::Sampled(series)) => Ok(Some(Series { samples, ..*series })),
            Ok(other) => Err(mismatch("stop of sampling", &other).into()),
            // The warning was given when sampling could not start.
            Err(AttemptError::Ask(AskError::Refused(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn not_sampled(&mut self, place: &str, why: &str) {
        self.record.warnings.push(format!("nothing was sampled {place}, because {why}"));
    }
}
