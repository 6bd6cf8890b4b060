//! The record of each database of a machine, and the folder for it.
//!
//! A machine has one, unless the study asks for more. Then each has its own server, data, share of the load and checks.
//! Each also has its own folder in the machine's folder, with the files that a machine with one database has. Whatever
//! concerns the machine stays in the machine's folder: its facts, its console and its samples.

use engines::server::ServerReport;
use record::check::CheckResult;
use record::error::RecordError;
use record::folder::TrialFolder;
use record::interval_file::IntervalFile;
use record::intervals::Interval;
use record::trial::{DriverFacts, Outcome, ServerFacts};
use study::TypedCell;

/// One of a machine's databases, with what its record will contain.
pub(crate) struct DatabaseLog {
    /// The machine's own folder, if this is its only database.
    folder: Option<TrialFolder>,
    pub server: Option<ServerFacts>,
    pub driver: Option<DriverFacts>,
    pub outcome: Outcome,
    pub findings: Vec<CheckResult>,
    /// The measured series, written during driving; an error is reported when driving is over.
    pub series: Option<Result<IntervalFile, RecordError>>,
}

impl DatabaseLog {
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
                series: None,
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

    /// Keeps a second of the measured series.
    pub fn keep(&mut self, second: &Interval) {
        if let Some(Ok(series)) = &mut self.series
            && let Err(error) = series.second(second)
        {
            self.series = Some(Err(error));
        }
    }

    pub fn keep_server(&mut self, cell: &TypedCell, report: &ServerReport) {
        self.server = Some(ServerFacts {
            engine: cell.engine.chosen.kind.clone(),
            version: report.version.clone(),
            profile: cell.written.settings.engine().profile.clone().unwrap_or_default(),
            effective: report.effective.clone(),
        });
    }
}
