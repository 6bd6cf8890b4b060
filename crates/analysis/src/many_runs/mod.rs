//! Many runs side by side: what is kept of each ([`Brief`]), and how a measure went over runs of one study and host ([`trend`]).
//!
//! A brief is made from a run and its analysis alone, so whatever keeps briefs can rebuild them from the records.

pub mod trend;

use crate::answers;
use crate::cells::CellResult;
use crate::compare::Comparison;
use crate::contrast::Contrast;
use crate::estimate::Estimate;
use crate::findings::Stamp;
use crate::gathered::by_key;
use crate::machines::known;
use crate::measures::Measure;
use crate::summary::Analysis;
use crate::two_runs::surroundings::lasting;
use crate::validity;
use record::facts::Facts;
use record::plan::{Cell, Plan};
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// This many bytes of a hash distinguish studies.
const ID_BYTES: usize = 8;

/// The fact in which a machine reports its kernel.
const KERNEL: &str = "kernel.release";

/// What is kept of a run, to find it among others and to compare its figures with theirs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    /// The name of its folder.
    pub run: String,
    /// When its first trial began (RFC 3339, UTC); `None` if none has a record.
    pub started: Option<String>,
    /// The study's name, and a hash of the parts of its plan that decide figures ([`study_id`]).
    pub study: String,
    pub study_id: String,
    pub state: RunState,
    /// The number of planned trials, and of those whose figures count.
    pub planned: u32,
    pub valid: u32,
    /// The versions used, by component ("bakeoff", "server", "kernel", "image"); several if trials differ.
    pub versions: BTreeMap<String, Vec<String>>,
    pub cells: Vec<BriefCell>,
    /// The host's facts, without those that differ from run to run.
    pub host: Facts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Every planned trial has a record, and no more are to come.
    Complete,
    Unfinished,
    /// It was only rehearsed: its figures are made up.
    Rehearsed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BriefCell {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
    /// The contender that it is compared with; `None` if it is the baseline or there is none.
    pub baseline: Option<String>,
    /// True if one of its trials left wrong data behind.
    pub wrong_data: bool,
    /// Whether the answers about it may be used; `None` if there are none, as of a baseline.
    pub stamp: Option<Stamp>,
    /// In the order of the measures.
    pub levels: Vec<BriefLevel>,
    /// Compared with the baseline of its own run, without the values of single blocks.
    pub contrasts: Vec<Contrast>,
}

/// The mean of a cell's trials in one measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BriefLevel {
    #[serde(flatten)]
    pub measure: Measure,
    #[serde(flatten)]
    pub estimate: Estimate,
    pub trials: usize,
}

impl BriefCell {
    pub fn level(&self, measure: &str) -> Option<&BriefLevel> {
        self.levels.iter().find(|level| level.measure.id == measure)
    }

    pub fn contrast(&self, measure: &str) -> Option<&Contrast> {
        self.contrasts.iter().find(|contrast| contrast.measure == measure)
    }
}

pub fn brief(run: &Run, analysis: &Analysis) -> Brief {
    let is_over = run.plan.precision.is_none_or(|wish| wish.ended.is_some());
    let all_reached = run.trials.len() >= run.plan.trials.len();
    let state = match (run.plan.rehearsed, is_over && all_reached) {
        (true, _) => RunState::Rehearsed,
        (false, true) => RunState::Complete,
        (false, false) => RunState::Unfinished,
    };
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let stamps = answers::stamps(analysis);
    Brief {
        run: run.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        started: run.trials.iter().map(|trial| trial.record.started.clone()).min(),
        study: run.plan.study.clone(),
        study_id: study_id(&run.plan),
        state,
        planned: count(run.plan.trials.len()),
        valid: count(run.trials.iter().filter(|trial| validity::is_valid(trial)).count()),
        versions: versions(run),
        cells: analysis.cells.iter().map(|cell| brief_cell(analysis, &stamps, cell)).collect(),
        host: lasting(&run.host),
    }
}

fn brief_cell(analysis: &Analysis, stamps: &BTreeMap<u32, Stamp>, cell: &CellResult) -> BriefCell {
    let comparison = analysis.comparisons.iter().find(|one| one.contender_cell == cell.cell);
    let contrasts = comparison.map(|one| one.contrasts.as_slice()).unwrap_or_default();
    let without_blocks = |one: &Contrast| Contrast { spread: None, blocks: Vec::new(), ..one.clone() };
    let level = |level: &crate::observations::CellMean| {
        let measure = analysis.observations.measure(&level.measure)?.measure.clone();
        Some(BriefLevel { measure, estimate: level.estimate.clone(), trials: level.trials })
    };
    BriefCell {
        cell: cell.cell,
        contender: cell.contender.clone(),
        coordinates: cell.coordinates.clone(),
        baseline: comparison.map(|one: &Comparison| one.baseline.clone()),
        wrong_data: cell.outcomes.wrong_data > 0,
        stamp: stamps.get(&cell.cell).copied(),
        levels: cell.levels.iter().filter_map(level).collect(),
        contrasts: contrasts.iter().map(without_blocks).collect(),
    }
}

fn versions(run: &Run) -> BTreeMap<String, Vec<String>> {
    let of_trial = |trial: &StoredTrial| {
        let (record, mut seen) = (&trial.record, Vec::new());
        seen.extend(record.made_by.clone().map(|made_by| ("bakeoff", made_by)));
        seen.extend(record.server.iter().map(|server| ("server", format!("{} {}", server.engine, server.version))));
        if let Some(machine) = &record.machine {
            seen.push(("image", machine.image.clone()));
            seen.extend(machine.inside.get(KERNEL).map(|kernel| ("kernel", kernel.to_string())));
        }
        seen
    };
    let versions: BTreeMap<&str, BTreeSet<String>> = by_key(run.trials.iter().flat_map(of_trial));
    versions.into_iter().map(|(what, seen)| (what.to_owned(), seen.into_iter().collect())).collect()
}

/// A hash of the parts of a plan that decide its figures: the seed, and each cell with every key of the study decided. It
/// leaves out what only affects how well figures are known (blocks, precision, margin), and mere names (study, question).
pub fn study_id(plan: &Plan) -> String {
    let of_cell = |cell: &Cell| {
        let Cell { id: _, contender, baseline, scenario, sweep, settings } = cell;
        let mut cell = json!([contender, scenario, sweep, baseline, settings]);
        cell.sort_all_objects();
        cell.to_string()
    };
    let cells: BTreeSet<String> = plan.cells.iter().map(of_cell).collect();
    let decided = json!([plan.seed, plan.aa, cells]).to_string();
    hexadecimal(&Sha256::digest(decided)[..ID_BYTES])
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A host's description in one line; other hosts may share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostBrief {
    pub processor: Option<String>,
    pub cpus: Option<u64>,
    pub memory_bytes: Option<u64>,
}

impl HostBrief {
    pub fn of(host: &Facts) -> Self {
        let known = |name: &str| host.get(name).and_then(known).map(str::to_owned);
        let number = |name: &str| known(name)?.parse().ok();
        let (cpus, memory_bytes) = (number("cpu.threads"), number("memory.total_bytes"));
        Self { processor: known("cpu.model"), cpus, memory_bytes }
    }
}
