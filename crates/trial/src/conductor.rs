//! A whole run: preparation, the planned trials in their order, and the events about them.

use crate::again::{self, Earlier};
use crate::attempt::{Attempt, attempt};
use crate::audit::{self, OfCell};
use crate::cell::{CellError, CellOrder};
use crate::error::AttemptError;
use crate::interrupts::{Halt, Interrupts};
use crate::load_hosts::LoadHosts;
use crate::open::{self, Open};
use crate::other_load;
use crate::preparation::{self, PreparationError, Prepared, prepare};
use crate::site::Site;
use images::Image;
use machines::scratch::{Scratch, ScratchError};
use platforms::catalog::ImageUse;
use record::event::Event;
use record::event_log::EventLog;
use record::folder::{RecordError, RunFolder};
use record::phase::Phase;
use record::plan::{Cell, Plan, PlannedTrial};
use record::trial::{Outcome, TrialRecord};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use telemetry::Latest;

#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    #[error("the plan cannot be carried out: {0}")]
    Cell(#[from] CellError),
    #[error(transparent)]
    Preparation(#[from] PreparationError),
    #[error("trial {id}: {error}")]
    Attempt { id: u32, error: AttemptError },
}

/// Images by recipe and kernel.
pub type Images = BTreeMap<(String, String), Image>;

/// The order for a run.
pub struct RunOrder<'a> {
    pub folder: &'a RunFolder,
    pub plan: &'a Plan,
    /// Trials of the plan to execute now; complete ones are skipped.
    pub trials: &'a [PlannedTrial],
    /// Cells whose durability is audited after the trials, if the plan says how; those that have an audit are skipped.
    pub audits: &'a [u32],
    pub site: &'a Site,
    /// The images that the trials need, from [`images()`].
    pub images: &'a Images,
    pub interrupts: &'a Interrupts,
    pub resumed: bool,
    /// Warnings about the run, given before its first trial.
    pub notes: &'a [String],
    /// Whether to repeat trials that are complete but came to no result.
    pub retries: bool,
    /// Where the host's last sample is shown while load is driven; `None` if nobody looks.
    pub latest: Option<&'a Arc<Latest>>,
}

/// What follows after all trials of the order: the plan with one more block, or the reason why none is added.
pub struct NextPlan {
    pub plan: Plan,
    /// How long the added trials are expected to take.
    pub expected_ms: u64,
    /// A phrase, not a sentence.
    pub why: String,
}

/// Returns what follows, given the run's folder. It analyses the record, which the conductor does not understand. For
/// most plans it returns `None`.
pub type WhatFollows<'a> = dyn FnMut(&RunFolder) -> Result<Option<NextPlan>, RecordError> + 'a;

/// How the trials of this call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tallied {
    pub completed: u32,
    pub invalid: u32,
    pub failed: u32,
    pub skipped: u32,
    pub interrupted: bool,
}

impl Tallied {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed += 1,
            Outcome::Invalid { .. } => self.invalid += 1,
            Outcome::Failed { .. } => self.failed += 1,
            Outcome::Skipped { .. } => self.skipped += 1,
            Outcome::Interrupted { .. } => self.interrupted = true,
        }
    }
}

/// Builds the images that some trials of a plan need, or finds them in the cache. Separate from [`run`] because no
/// trial works without them: a host that cannot build them should show that before the run, not hours later.
pub fn images(
    plan: &Plan,
    trials: &[PlannedTrial],
    site: &Site,
    show: &mut dyn FnMut(&Event),
) -> Result<Images, ConductorError> {
    let mut images = Images::new();
    for cell in plan.cells.iter().filter(|cell| trials.iter().any(|trial| trial.cell == cell.id)) {
        let cell = CellOrder::read(cell)?;
        if site.capabilities(&cell.platform).image == ImageUse::None {
            continue;
        }
        if let Entry::Vacant(place) = images.entry(image_name(&cell)) {
            let guests = boots(plan, place.key(), site)?;
            place.insert(preparation::image(&cell, guests, site, &mut |event| show(&event))?);
        }
    }
    Ok(images)
}

/// True if any machine of the plan, run now or later, boots this image's kernel.
fn boots(plan: &Plan, image: &(String, String), site: &Site) -> Result<bool, CellError> {
    let cells = plan.cells.iter().map(CellOrder::read).collect::<Result<Vec<_>, _>>()?;
    let boots = |cell: &CellOrder| site.capabilities(&cell.platform).image == ImageUse::TreeAndKernel;
    Ok(cells.iter().any(|cell| image_name(cell) == *image && boots(cell)))
}

pub(crate) fn image_name(cell: &CellOrder) -> (String, String) {
    (cell.machine.image.clone(), cell.machine.kernel.clone())
}

/// Carries out all planned trials that are not complete, then what follows. `show` gets every event after it is logged.
pub fn run(
    order: &RunOrder<'_>,
    what_follows: &mut WhatFollows<'_>,
    show: &mut dyn FnMut(&Event),
) -> Result<Tallied, ConductorError> {
    let mut voice = EventWriter { log: order.folder.events()?, show, broken: None };
    let swept = [machines::scratch::sweep(&order.site.scratch, &crate::audit::undo)?, preparation::sweep(order.site)?];
    for text in order.notes.iter().cloned().chain(swept.into_iter().flatten()) {
        voice.tell(&Event::Warning { text });
    }
    let scratch = Scratch::create(&order.site.scratch, &format!("{}-{}", run_name(order.folder), std::process::id()))?;
    let mut trials = again::still_to_run(order.folder, order.plan, order.trials, order.retries)?;
    for cell in order.plan.cells.iter().filter(|cell| trials.iter().any(|trial| trial.cell == cell.id)) {
        CellOrder::read(cell)?.require_script(cell.id)?;
    }
    voice.tell(&Event::RunStarted {
        study: order.plan.study.clone(),
        trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        expected_ms: 0,
        resumed: order.resumed,
    });
    let (prepared, opened, of) = (BTreeMap::new(), BTreeMap::new(), order.plan.trials.len());
    let (load_hosts, tallied) = (LoadHosts::default(), Tallied::default());
    let mut run = Run { order, prepared, opened, load_hosts, scratch, tallied, of };
    let mut blocks = order.plan.blocks;
    while run.trials(&trials, &mut voice)? {
        let Some(next) = what_follows(order.folder)? else { break };
        let adds = next.plan.blocks > blocks;
        if adds && order.interrupts.after_this_trial() {
            run.tallied.interrupted = true;
            break;
        }
        trials = run.follow(next, &mut blocks, &mut voice)?;
        if !adds {
            break;
        }
    }
    if !run.tallied.interrupted {
        run.audits(&mut voice)?;
    }
    let Tallied { completed, invalid, failed, skipped, .. } = run.tallied;
    voice.tell(&Event::RunEnded { completed, invalid, failed, skipped });
    voice.heard()?;
    Ok(run.tallied)
}

/// An error of recording names its own file; all others name their trial.
fn ended_by(id: u32, error: AttemptError) -> ConductorError {
    match error {
        AttemptError::Record(error) => error.into(),
        error => ConductorError::Attempt { id, error },
    }
}

fn run_name(folder: &RunFolder) -> String {
    folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Dropped in this order: platforms before the folder that their ledgers are in.
struct Run<'a> {
    order: &'a RunOrder<'a>,
    /// What the trials of each cell share, or why preparing it failed.
    prepared: BTreeMap<u32, Result<Prepared, String>>,
    /// By [`open::key`].
    opened: BTreeMap<String, Open>,
    load_hosts: LoadHosts,
    scratch: Scratch,
    tallied: Tallied,
    /// The number of trials in the plan, including those added later.
    of: usize,
}

impl Run<'_> {
    /// Runs trials one after another; returns whether all of them were run.
    fn trials(&mut self, trials: &[PlannedTrial], voice: &mut EventWriter<'_>) -> Result<bool, ConductorError> {
        for planned in trials {
            if self.order.interrupts.after_this_trial() {
                self.tallied.interrupted = true;
                return Ok(false);
            }
            let record = self.trial(planned, voice)?;
            self.tallied.count(&record.outcome);
            voice.heard()?;
        }
        Ok(!self.tallied.interrupted)
    }

    /// Audits the durability of each cell that has no audit yet.
    fn audits(&mut self, voice: &mut EventWriter<'_>) -> Result<(), ConductorError> {
        let RunOrder { plan, folder, site, interrupts, audits, .. } = *self.order;
        let Some(durability) = &plan.durability else { return Ok(()) };
        for cell in plan.cells.iter().filter(|cell| audits.contains(&cell.id)) {
            if folder.durability(cell.id)?.is_some() {
                continue;
            }
            if interrupts.after_this_trial() {
                self.tallied.interrupted = true;
                break;
            }
            let (begun, cell_order) = (Instant::now(), CellOrder::read(cell)?);
            self.make_ready(cell.id, &cell_order, voice)?;
            let (prepared, scratch) = (&self.prepared[&cell.id], &self.scratch);
            let order = OfCell { cell, cell_order: &cell_order, prepared, plan: durability, site, scratch, interrupts };
            let Some(found) = audit::of_cell(&order, &mut |event| voice.tell(&event)) else {
                self.tallied.interrupted = true;
                break;
            };
            folder.write_durability(&found)?;
            voice.tell(&Event::Audited {
                cell: cell.id,
                contender: cell.contender.clone(),
                coordinates: cell.coordinates(),
                elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            });
            voice.heard()?;
        }
        Ok(())
    }

    /// Writes the extended plan before any of its trials run; returns the trials that it adds.
    fn follow(
        &mut self,
        next: NextPlan,
        blocks: &mut u32,
        voice: &mut EventWriter<'_>,
    ) -> Result<Vec<PlannedTrial>, ConductorError> {
        let NextPlan { plan, expected_ms, why } = next;
        self.order.folder.replace_plan(&plan)?;
        let added: Vec<_> = plan.trials.into_iter().filter(|trial| trial.block > *blocks).collect();
        *blocks = plan.blocks;
        self.of += added.len();
        let trials = u32::try_from(added.len()).unwrap_or(u32::MAX);
        voice.tell(&if trials == 0 {
            Event::PrecisionEnded { blocks: *blocks, why }
        } else {
            Event::BlockAdded { block: *blocks, trials, expected_ms, why }
        });
        voice.heard()?;
        Ok(added)
    }

    fn trial(&mut self, planned: &PlannedTrial, voice: &mut EventWriter<'_>) -> Result<TrialRecord, ConductorError> {
        let Some(cell) = self.order.plan.cells.iter().find(|cell| cell.id == planned.cell) else {
            unreachable!("a plan lists the cell of each of its trials");
        };
        let cell_order = CellOrder::read(cell)?;
        self.make_ready(planned.cell, &cell_order, voice)?;
        let begun = Instant::now();
        voice.tell(&Event::TrialStarted {
            trial: planned.id,
            of: u32::try_from(self.of).unwrap_or(u32::MAX),
            block: planned.block,
            contender: cell.contender.clone(),
            coordinates: cell.coordinates(),
        });
        let record = self.attempts(planned, cell, &cell_order, voice)?;
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        voice.tell(&Event::TrialEnded { trial: planned.id, outcome: record.outcome.clone(), elapsed_ms });
        Ok(record)
    }

    /// Carries out the trial, and repeats it as long as other load disturbs it and its study allows.
    fn attempts(
        &mut self,
        planned: &PlannedTrial,
        cell: &Cell,
        cell_order: &CellOrder,
        voice: &mut EventWriter<'_>,
    ) -> Result<TrialRecord, ConductorError> {
        loop {
            let record = self.attempt(planned, cell, cell_order, voice)?;
            let Some(by) = again::why_void(self.order.folder, cell, &record)? else { return Ok(record) };
            if self.order.interrupts.after_this_trial() {
                // When the run is resumed, it begins with the next attempt at this trial.
                self.tallied.interrupted = true;
                return Ok(record);
            }
            let (id, times) = (planned.id, record.disturbed().len() + 1);
            let most = cell_order.load.other_load.map_or(0, |limit| limit.max_repeats);
            voice.tell(&Event::Warning {
                text: format!("trial {id} is run again, {times} of at most {most} times: {by}"),
            });
            voice.heard()?;
        }
    }

    fn attempt(
        &self,
        planned: &PlannedTrial,
        cell: &Cell,
        cell_order: &CellOrder,
        voice: &mut EventWriter<'_>,
    ) -> Result<TrialRecord, ConductorError> {
        let scratch = self.scratch.machine(&format!("trial-{:04}", planned.id))?;
        let earlier = again::make_way(self.order, planned.id)?;
        let prepared = match &self.prepared[&planned.cell] {
            Ok(prepared) => prepared,
            Err(why) => return Ok(self.not_prepared(planned, (cell, cell_order), why, earlier)?),
        };
        let attempted = attempt(
            Attempt {
                planned,
                contender: &cell.contender,
                cell: cell_order,
                prepared,
                site: self.order.site,
                scratch: scratch.path(),
                folder: Some(self.order.folder.trial(planned.id)),
                number: 1,
                earlier,
                halt: Halt::by_user(self.order.interrupts),
                turn: None,
                latest: self.order.latest,
                existing: None,
                tell: &mut |event| voice.tell(&event),
            },
            now_text(),
        );
        attempted.map_err(|error| ended_by(planned.id, error))
    }

    /// Prepares a cell at its first trial. A host without room ends the run. Data that cannot be loaded for any other
    /// reason fail only the trials of that cell.
    fn make_ready(&mut self, id: u32, cell: &CellOrder, voice: &mut EventWriter<'_>) -> Result<(), ConductorError> {
        if self.prepared.contains_key(&id) {
            return Ok(());
        }
        let tell = &mut |event| voice.tell(&event);
        let scratch = self.scratch.machine(&format!("loading-{id}"))?;
        let (site, interrupts) = (self.order.site, self.order.interrupts);
        let prepared =
            self.open(cell, tell).and_then(|open| prepare(cell, open, site, scratch.path(), interrupts, tell));
        let prepared = prepared
            .and_then(|prepared| Ok(prepared.with_load_from(self.load_hosts.of(cell, site, &self.scratch, tell)?)));
        let prepared = match prepared {
            Ok(prepared) => Ok(prepared),
            Err(error) if error.ends_the_run() => return Err(error.into()),
            Err(error) => Err(error.to_string()),
        };
        self.prepared.insert(id, prepared);
        Ok(())
    }

    /// Opens the cell's platform, if no earlier cell did.
    fn open(&mut self, cell: &CellOrder, tell: &mut dyn FnMut(Event)) -> Result<&Open, PreparationError> {
        let number = self.opened.len() + 1;
        match self.opened.entry(open::key(cell)) {
            Entry::Occupied(opened) => Ok(opened.into_mut()),
            Entry::Vacant(place) => {
                let scratch = self.scratch.machine(&format!("platform-{number}"))?;
                let image = self.order.images.get(&image_name(cell)).cloned();
                let run = self.scratch.path().file_name().unwrap_or_default().to_string_lossy();
                let open = Open::of(cell, image, self.order.site, scratch, &run)?;
                for text in open.platform.notes() {
                    tell(Event::Warning { text });
                }
                Ok(place.insert(open))
            }
        }
    }

    /// The record of a trial whose data could not be loaded.
    fn not_prepared(
        &self,
        planned: &PlannedTrial,
        (cell, cell_order): (&Cell, &CellOrder),
        why: &str,
        earlier: Earlier,
    ) -> Result<TrialRecord, RecordError> {
        let folder = self.order.folder.trial(planned.id);
        folder.begin()?;
        let interrupted = self.order.interrupts.now();
        let phase = Phase::Load.to_string();
        let outcome =
            if interrupted { Outcome::Interrupted { phase } } else { Outcome::Failed { phase, why: why.to_owned() } };
        let made_by = self.order.site.made_by.clone();
        let begun = TrialRecord::begun(planned, &cell.contender, now_text(), made_by);
        let mut record = TrialRecord { outcome, warnings: earlier.warnings, ..begun };
        other_load::judge(&mut record, other_load::limit(cell_order, self.order.site), earlier.disturbed);
        if interrupted {
            folder.keep_partial(&record)?;
        } else {
            folder.complete(&record)?;
        }
        Ok(record)
    }
}

/// Logs each event, then shows it. The next [`EventWriter::heard`] reports a log that cannot be written.
struct EventWriter<'a> {
    log: EventLog,
    show: &'a mut dyn FnMut(&Event),
    broken: Option<RecordError>,
}

impl EventWriter<'_> {
    fn tell(&mut self, event: &Event) {
        if let Err(error) = self.log.append(now_ms(), event) {
            self.broken.get_or_insert(error);
        }
        (self.show)(event);
    }

    fn heard(&mut self) -> Result<(), RecordError> {
        self.broken.take().map_or(Ok(()), Err)
    }
}

/// The host's clock, for records that people read.
pub(crate) fn now_text() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
