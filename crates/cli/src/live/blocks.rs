//! Results of ended trials and blocks, read from the record: a figure for each trial, and a row for each block with the
//! answer so far.

use analysis::compare::{self, Comparison};
use analysis::measures::THROUGHPUT_ONLY;
use analysis::observations::Observations;
use analysis::student::FEWEST_BLOCKS;
use analysis::throughput;
use record::check::CheckResult;
use record::folder::RunFolder;
use record::plan::{Cell, Plan, PlannedTrial};
use record::run::Run;
use record::trial::{DriverFacts, Outcome, TrialRecord};
use report::format;
use std::collections::BTreeSet;
use std::path::PathBuf;
use workloads::entry::ThroughputMetric;

/// The share of the host's CPU time that others may use; above it, there would be a finding host-busy.
pub const BUSY: f64 = 0.05;

/// Width of a column with a figure.
const COLUMN: usize = 12;

#[derive(Debug)]
pub struct Blocks {
    plan: Plan,
    metric: Option<&'static ThroughputMetric>,
    folder: Option<PathBuf>,
    /// What was read of the run. It is kept, so that a trial is read once and not after each later one.
    run: Option<Run>,
    /// Trials of this call that have not ended yet.
    pending: BTreeSet<u32>,
    /// The coordinates and contenders under the last heading.
    titled: Option<String>,
}

/// The result of a trial.
struct TrialFigure {
    value: Option<f64>,
    /// Why it is doubtful, in a few words.
    doubt: Option<String>,
}

impl Blocks {
    pub fn new(plan: Plan, metric: Option<&'static ThroughputMetric>) -> Self {
        let pending = plan.trials.iter().map(|trial| trial.id).collect();
        Self { plan, metric, folder: None, run: None, pending, titled: None }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn keep_in(&mut self, folder: PathBuf) {
        self.folder = Some(folder);
        self.read_plan();
    }

    /// Reads the grown plan, with trials outside this call too, and returns the new trials of this block.
    pub fn grow(&mut self, block: u32) -> Vec<PlannedTrial> {
        self.read_plan();
        let added: Vec<_> = self.plan.trials.iter().filter(|trial| trial.block == block).cloned().collect();
        self.pending.extend(added.iter().map(|trial| trial.id));
        added
    }

    fn read_plan(&mut self) {
        let folder = self.folder.as_ref().and_then(|folder| RunFolder::open(folder).ok());
        if let Some(plan) = folder.and_then(|folder| folder.plan().ok()) {
            self.plan = plan;
        }
    }

    /// The figure of an ended trial, with a reason to doubt it: "34,250 NOPM, host busy (24 %)".
    pub fn figure(&mut self, id: u32) -> Option<String> {
        let planned = self.plan.trials.iter().find(|trial| trial.id == id)?.clone();
        let TrialFigure { value, doubt } = self.read(&planned)?;
        let value = value.map(|value| format!("{} {}", format::quantity(value), self.unit()));
        Some([value, doubt].into_iter().flatten().collect::<Vec<_>>().join(", ")).filter(|told| !told.is_empty())
    }

    fn unit(&self) -> &'static str {
        self.metric.map_or("", |metric| metric.name)
    }

    /// Notes that a trial ended. If it was the last of its block with these coordinates, returns their results.
    pub fn ended(&mut self, id: u32) -> Option<BlockRow> {
        self.pending.remove(&id);
        if let Some(run) = &mut self.run {
            // It may have been carried out again.
            run.trials.retain(|trial| trial.record.id != id);
        }
        let planned = self.plan.trials.iter().find(|trial| trial.id == id)?.clone();
        let coordinates = self.cell(&planned)?.coordinates();
        let alike: Vec<(PlannedTrial, Cell)> = self
            .plan
            .trials
            .iter()
            .filter(|trial| trial.block == planned.block)
            .filter_map(|trial| Some((trial.clone(), self.cell(trial)?.clone())))
            .filter(|(_, cell)| cell.coordinates() == coordinates)
            .collect();
        if alike.iter().any(|(trial, _)| self.pending.contains(&trial.id)) {
            return None;
        }
        let mut figures: Vec<(Cell, Option<TrialFigure>)> =
            alike.into_iter().map(|(trial, cell)| (cell, self.read(&trial))).collect();
        figures.sort_by_key(|(cell, _)| (!cell.baseline, cell.id));
        Some(BlockRow { block: planned.block, so_far: self.so_far(&coordinates), coordinates, figures })
    }

    fn cell(&self, trial: &PlannedTrial) -> Option<&Cell> {
        self.plan.cells.iter().find(|cell| cell.id == trial.cell)
    }

    /// The run with all trials that are complete.
    fn run(&mut self) -> Option<&Run> {
        let folder = self.folder.as_ref()?;
        self.run = match self.run.take() {
            Some(mut run) => run.catch_up().ok().map(|()| run),
            None => Run::open(folder).ok(),
        };
        self.run.as_ref()
    }

    fn read(&mut self, planned: &PlannedTrial) -> Option<TrialFigure> {
        let cell = self.cell(planned)?;
        let is_alone = cell.machines() == 1 && cell.instances() == 1;
        let has_window = |driver: &DriverFacts| is_alone && !driver.ends_with_its_work();
        let trial = RunFolder::open(self.folder.as_ref()?).ok()?.trial(planned.id);
        let record = trial.record().ok()?;
        let value = if record.driver.as_ref().is_some_and(has_window) {
            record.driver.as_ref().and_then(throughput::of_window)
        } else {
            let mut trials = self.run()?.trials.iter();
            trials.find(|stored| stored.record.id == planned.id).and_then(throughput::figure)
        };
        let is_wrong = trial.findings().is_ok_and(|findings| findings.iter().any(CheckResult::is_violated));
        Some(TrialFigure { value, doubt: doubt(&record, is_wrong) })
    }

    /// The comparisons as the report would have them without further blocks.
    fn so_far(&mut self, coordinates: &str) -> Vec<Comparison> {
        let is_begun = |folder: &RunFolder, block: u32| {
            let mut trials = self.plan.trials.iter().filter(|trial| trial.block == block);
            trials.any(|trial| folder.trial(trial.id).is_complete())
        };
        let Some(folder) = self.folder.as_ref().and_then(|folder| RunFolder::open(folder).ok()) else {
            return Vec::new();
        };
        if (1..=self.plan.blocks).filter(|block| is_begun(&folder, *block)).count() < FEWEST_BLOCKS {
            return Vec::new();
        }
        let Some(run) = self.run() else { return Vec::new() };
        let comparisons = compare::all(run, &Observations::of_run(run, THROUGHPUT_ONLY));
        comparisons.into_iter().filter(|comparison| comparison.coordinates == coordinates).collect()
    }

    /// The row as lines of a table, with a heading where a new table begins.
    pub fn table(&mut self, row: &BlockRow) -> String {
        let mut text = String::new();
        let names: Vec<&str> = row.figures.iter().map(|(cell, _)| cell.contender.as_str()).collect();
        let title = format!("{} {}", row.coordinates, names.join(" "));
        let is_pair = names.len() == 2 && names.iter().all(|name| name.chars().count() <= COLUMN);
        if self.titled.as_ref() != Some(&title) {
            text.push_str(&heading(row, &names, is_pair, self.unit()));
            self.titled = Some(title);
        }
        let block = format!("{}/{}", row.block, self.plan.blocks);
        text.push_str(&if is_pair { row.pair(&block) } else { row.stacked(&block) });
        text
    }
}

/// The results of one block, for cells with the same coordinates; the baseline comes first.
pub struct BlockRow {
    block: u32,
    coordinates: String,
    figures: Vec<(Cell, Option<TrialFigure>)>,
    so_far: Vec<Comparison>,
}

impl BlockRow {
    /// "vm −14.7 % against native; so far −14.2 % (−17.2 to −12.4 %)", for each contender.
    pub fn sentence(&self) -> Option<String> {
        let (baseline, others) = self.figures.split_first()?;
        let told = others.iter().filter_map(|(cell, figure)| {
            let ratio = self.ratio(figure.as_ref())?;
            let so_far = self.told_so_far(cell).map(|so_far| format!("; so far {so_far}")).unwrap_or_default();
            Some(format!("{} {ratio} against {}{so_far}", cell.contender, baseline.0.contender))
        });
        let told = told.collect::<Vec<_>>().join(", ");
        (!told.is_empty()).then(|| format!("block {}: {told}", self.block))
    }

    fn ratio(&self, figure: Option<&TrialFigure>) -> Option<String> {
        let (_, baseline) = self.figures.first()?;
        let (old, new) = (baseline.as_ref()?.value?, figure?.value?);
        (old > 0.0).then(|| format::effect(new / old))
    }

    fn told_so_far(&self, cell: &Cell) -> Option<String> {
        let comparison = self.so_far.iter().find(|comparison| comparison.contender_cell == cell.id)?;
        let estimate = &comparison.throughput()?.estimate;
        estimate.bounds.known().map(|_| report::table::said(estimate, format::Style::EFFECT))
    }

    fn doubts(&self) -> Option<String> {
        let doubts = self.figures.iter().filter_map(|(cell, figure)| {
            let doubt = figure.as_ref()?.doubt.as_ref()?;
            Some(format!("{}: {doubt}", cell.contender))
        });
        Some(doubts.collect::<Vec<_>>().join("; ")).filter(|told| !told.is_empty())
    }

    /// Both values, their ratio and the answer so far in one line.
    fn pair(&self, block: &str) -> String {
        let values: String = self.figures.iter().map(|(_, figure)| cell_of(figure.as_ref())).collect();
        let (other, figure) = self.figures.last().map_or((None, None), |(cell, figure)| (Some(cell), figure.as_ref()));
        let ratio = self.ratio(figure).unwrap_or_default();
        let so_far = other.and_then(|cell| self.told_so_far(cell)).unwrap_or_default();
        let line = format!("{block:<7}{values}{ratio:>COLUMN$}  {so_far}");
        format!("{}\n{}", line.trim_end(), self.note())
    }

    /// One line per contender.
    fn stacked(&self, block: &str) -> String {
        let mut text = String::new();
        for (index, (cell, figure)) in self.figures.iter().enumerate() {
            let block = if index == 0 { block } else { "" };
            let ratio = if index == 0 { None } else { self.ratio(figure.as_ref()) }.unwrap_or_default();
            let so_far = self.told_so_far(cell).unwrap_or_default();
            let (name, value) = (&cell.contender, cell_of(figure.as_ref()));
            let line = format!("{block:<7}{name:<20}{value}{ratio:>COLUMN$}  {so_far}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        format!("{text}{}", self.note())
    }

    /// Printed below the figures, so that these stay in their columns.
    fn note(&self) -> String {
        self.doubts().map(|doubts| format!("{:<7}! {doubts}\n", "")).unwrap_or_default()
    }
}

/// A value with room for its mark.
fn cell_of(figure: Option<&TrialFigure>) -> String {
    let value = figure.and_then(|figure| figure.value).map_or_else(|| "–".to_owned(), format::quantity);
    let mark = if figure.is_some_and(|figure| figure.doubt.is_some()) { "!" } else { " " };
    format!("{value:>COLUMN$} {mark}")
}

fn heading(row: &BlockRow, names: &[&str], is_pair: bool, unit: &str) -> String {
    let place = if row.coordinates.is_empty() { String::new() } else { format!("\n{}\n", row.coordinates) };
    let so_far = "so far (95 % CI)";
    if let (true, [baseline, other]) = (is_pair, names) {
        let (old, new) = (format!("{baseline} {unit}"), format!("{other} {unit}"));
        let old = if old.chars().count() > COLUMN { (*baseline).to_owned() } else { old };
        let new = if new.chars().count() > COLUMN { (*other).to_owned() } else { new };
        return format!("{place}\n{:<7}{old:>COLUMN$}  {new:>COLUMN$}  {:>COLUMN$}  {so_far}\n", "block", "change");
    }
    format!("{place}\n{:<7}{:<20}{unit:>COLUMN$}  {:>COLUMN$}  {so_far}\n", "block", "contender", "change")
}

/// Why a figure may not count, or may differ from that on a quiet host.
fn doubt(record: &TrialRecord, is_wrong: bool) -> Option<String> {
    let first = |why: &str| format::first_line(why).to_owned();
    let ended = match &record.outcome {
        Outcome::Completed if is_wrong => Some("wrong data".to_owned()),
        Outcome::Completed => None,
        Outcome::Invalid { why } => Some(format!("invalid: {}", first(why))),
        Outcome::Failed { phase, .. } => Some(format!("failed in phase {phase}")),
        Outcome::Skipped { .. } => Some("skipped".to_owned()),
        Outcome::Interrupted { .. } => Some("stopped".to_owned()),
    };
    let others = record.host_state.as_ref().and_then(|state| state.others().known().copied());
    ended.or_else(|| others.filter(|share| *share > BUSY).map(|share| format!("host busy ({:.0} %)", share * 100.0)))
}
