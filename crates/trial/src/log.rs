//! What is written of a trial on one machine: its phases, its databases, its warnings, and events for those who watch.

use crate::context::TrialContext;
use crate::database_log::DatabaseLog;
use crate::events::Heard;
use driver::plan::Tick;
use record::clock::ClockReading;
use record::error::RecordError;
use record::event::Event;
use record::folder::TrialFolder;
use record::phase::Phase;
use record::trial::{Outcome, PhaseSpan, TrialRecord};
use std::time::Instant;
use study::Load;

pub(crate) struct TrialLog<'a> {
    pub record: TrialRecord,
    /// Those of the machine, in order; at least one.
    pub databases: Vec<DatabaseLog>,
    /// When the machine's clock was last read.
    pub clock_read: Option<Instant>,
    /// How often the machine was started.
    pub boots: u32,
    phase: Phase,
    /// When the phase began; `None` before the first phase.
    since: Option<Instant>,
    load: &'a Load,
    /// `None` if its files are not kept.
    folder: Option<TrialFolder>,
    hear: &'a mut dyn FnMut(Heard<'_>),
}

impl<'a> TrialLog<'a> {
    pub fn begin(
        context: &TrialContext<'a>,
        started: String,
        folder: Option<TrialFolder>,
        hear: &'a mut dyn FnMut(Heard<'_>),
    ) -> Result<Self, RecordError> {
        folder.as_ref().map_or(Ok(()), TrialFolder::begin)?;
        let (data, made_by) = (context.data(), context.site.made_by.clone());
        let record = TrialRecord::begun(context.planned, &context.cell.written.contender, started, made_by);
        Ok(Self {
            record: TrialRecord { workload: Some(data.workload.chosen.table()), ..record },
            databases: DatabaseLog::of_machine(folder.as_ref(), context.cell.written.instances(), &data.findings)?,
            clock_read: None,
            boots: 0,
            phase: Phase::Clone,
            since: None,
            load: &context.cell.load,
            folder,
            hear,
        })
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Begins a phase, if it is not the one that goes on.
    pub fn enter(&mut self, phase: Phase) {
        if phase == self.phase && self.since.is_some() {
            return;
        }
        self.leave();
        self.phase = phase;
        let expected_ms = study::expected_ms(phase, self.load);
        self.tell(Event::PhaseStarted { trial: self.record.id, phase: phase.to_string(), expected_ms });
    }

    /// Ends the phase that goes on.
    pub fn leave(&mut self) {
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            let length_ms = u64::try_from((now - since).as_millis()).unwrap_or(u64::MAX);
            self.record.phases.push(PhaseSpan { phase: self.phase.to_string(), length_ms });
        }
    }

    pub fn hear(&mut self, heard: Heard<'_>) {
        (self.hear)(heard);
    }

    pub fn tell(&mut self, event: Event) {
        self.hear(Heard::Event(event));
    }

    /// A second of driving is over; `elapsed_ms` counts from the common start of all machines.
    pub fn tick(&mut self, tick: &Tick, elapsed_ms: u64) {
        if elapsed_ms >= self.load.warmup_ms.0 && self.phase == Phase::WarmUp {
            self.enter(Phase::Measure);
        }
        let Tick { measured, counted, committed, errors, .. } = *tick;
        self.tell(Event::Throughput { trial: self.record.id, measured, elapsed_ms, counted, committed, errors });
    }

    /// Reports a database's findings from index `first` on.
    pub fn hear_checked(&mut self, instance: u16, first: usize) {
        (self.hear)(Heard::Checked(&self.databases[usize::from(instance)].findings[first..]));
    }

    pub fn database(&mut self, instance: u16) -> &mut DatabaseLog {
        &mut self.databases[usize::from(instance)]
    }

    /// A text about a database: numbered if there are several, unchanged if there is one.
    pub fn of_instance(&self, instance: u16, text: &str) -> String {
        if self.databases.len() == 1 {
            text.to_owned()
        } else {
            format!("instance {}: {text}", u32::from(instance) + 1)
        }
    }

    pub fn warn(&mut self, warning: String) {
        self.record.warnings.push(warning);
    }

    /// The last reading of the machine's clock.
    pub fn clock(&self) -> Option<&ClockReading> {
        self.record.machine.as_ref()?.clock.last()
    }

    /// How far the machine's clock is ahead of ours.
    pub fn clock_offset_ns(&self) -> i64 {
        self.clock().map_or(0, |reading| reading.offset_ns)
    }

    /// Writes to the trial's folder, if it has one.
    pub fn file(&self, write: impl FnOnce(&TrialFolder) -> Result<(), RecordError>) -> Result<(), RecordError> {
        self.folder.as_ref().map_or(Ok(()), write)
    }

    /// Writes the record of each database, and the machine's own record last.
    pub fn keep_record(&mut self) -> Result<(), RecordError> {
        let is_alone = self.databases.len() == 1;
        for own in &mut self.databases {
            own.file(|folder| folder.write_json("findings.json", &own.findings))?;
            let (server, driver) = (own.server.take(), own.driver.take());
            if is_alone {
                (self.record.server, self.record.driver) = (server, driver);
            } else {
                let outcome = match &self.record.outcome {
                    Outcome::Completed | Outcome::Invalid { .. } => own.outcome.clone(),
                    of_all => of_all.clone(),
                };
                let (phases, warnings) = (Vec::new(), Vec::new());
                let (machine, host_state, other_load) = (None, None, None);
                let record = self.record.clone();
                let record = TrialRecord { outcome, phases, machine, server, driver, ..record };
                let record = TrialRecord { host_state, other_load, warnings, load_hosts: Vec::new(), ..record };
                own.file(|folder| folder.complete(&record))?;
            }
        }
        self.file(|folder| match self.record.outcome {
            Outcome::Interrupted { .. } => folder.keep_partial(&self.record),
            _ => folder.complete(&self.record),
        })
    }
}
