//! The databases of one machine: the state of each, and the folder for its record.
//!
//! A machine has one, unless the study asks for more. Then each has its own server, data, share of the load and checks.
//! Each also has its own folder in the machine's folder, with the files that a machine with one database has. Whatever
//! concerns the machine stays in the machine's folder: its facts, its console and its samples.

use crate::attempt::Running;
use crate::error::AttemptError;
use engines::port::HeldPort;
use record::check::CheckResult;
use record::error::RecordError;
use record::folder::TrialFolder;
use record::interval_file::IntervalFile;
use record::looks::Looks;
use record::trial::{DriverFacts, Outcome, ServerFacts, TrialRecord};

/// One of a machine's databases, with what its record will contain.
pub(crate) struct Instance {
    /// The machine's own folder, if this is its only database.
    folder: Option<TrialFolder>,
    pub server: Option<ServerFacts>,
    pub driver: Option<DriverFacts>,
    pub outcome: Outcome,
    pub findings: Vec<CheckResult>,
    /// Counters over the measured window.
    pub looks: Option<Looks>,
    /// The measured series, written during driving; an error is reported when driving is over.
    pub series: Option<Result<IntervalFile, RecordError>>,
    /// The server's port, if the server must be reached from outside.
    pub port: Option<HeldPort>,
}

impl Instance {
    /// All databases of a machine, in order. This also makes their folders.
    pub fn of_machine(
        folder: Option<&TrialFolder>,
        count: u16,
        findings: &[CheckResult],
    ) -> Result<Vec<Self>, RecordError> {
        let begin = |number: u16| {
            let own = folder.map(|folder| if count == 1 { folder.clone() } else { folder.instance(number) });
            if let Some(own) = own.as_ref().filter(|_| count > 1) {
                own.begin()?;
            }
            Ok(Self {
                folder: own,
                server: None,
                driver: None,
                outcome: Outcome::Completed,
                findings: findings.to_vec(),
                looks: None,
                series: None,
                port: None,
            })
        };
        (1..=count).map(begin).collect()
    }

    /// Writes to this database's folder, if the trial has folders.
    pub fn file(&self, write: impl FnOnce(&TrialFolder) -> Result<(), RecordError>) -> Result<(), RecordError> {
        self.folder.as_ref().map_or(Ok(()), write)
    }

    pub fn begin_series(&mut self, kinds: &[String]) {
        self.series = self.folder.as_ref().map(|folder| folder.intervals(kinds.to_vec()));
    }
}

impl Running<'_> {
    /// The database that is worked with now.
    pub(crate) fn own(&mut self) -> &mut Instance {
        &mut self.instances[usize::from(self.instance)]
    }

    /// The same, read-only.
    pub(crate) fn current(&self) -> &Instance {
        &self.instances[usize::from(self.instance)]
    }

    /// How many databases the machine has.
    pub(crate) fn instance_count(&self) -> u16 {
        u16::try_from(self.instances.len()).unwrap_or(u16::MAX)
    }

    /// A text about the current database: numbered if there are several, unchanged if there is one.
    pub(crate) fn of_instance(&self, text: &str) -> String {
        if self.instances.len() == 1 { text.to_owned() } else { format!("instance {}: {text}", self.instance + 1) }
    }

    /// Visits the databases one after another; `work` has what steps leave for each.
    pub(crate) fn for_each_instance<T>(
        &mut self,
        work: &mut [T],
        mut each: impl FnMut(&mut Self, &mut T) -> Result<(), AttemptError>,
    ) -> Result<(), AttemptError> {
        for (instance, work) in (0..).zip(work) {
            self.instance = instance;
            each(self, work)?;
        }
        self.instance = 0;
        Ok(())
    }

    /// The ports of the servers that are reached from outside.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.instances.iter().filter_map(|own| Some(own.port.as_ref()?.number())).collect()
    }

    /// Writes the record of each database, and the machine's own record last.
    pub(crate) fn keep_record(&mut self) -> Result<(), RecordError> {
        let is_alone = self.instances.len() == 1;
        for own in &mut self.instances {
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
