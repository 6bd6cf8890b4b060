//! The trials of one host after another. Hosts that nobody else needs have a lane each; everything else is in one lane.

use crate::again::{self, Earlier};
use crate::attempt::{self, Attempt};
use crate::context::TrialContext;
use crate::error::AttemptError;
use crate::events::Heard;
use crate::halt::Halt;
use crate::hosts_in_use::HostsInUse;
use crate::load_hosts::{LoadHosts, OpenLoadHost};
use crate::open::{self, OpenPlatform};
use crate::order::{ConductorError, RunOrder, Tallied, image_name};
use crate::other_load;
use crate::preparation::error::PreparationError;
use crate::preparation::{PreparedCell, prepare};
use crate::time::now_text;
use crate::together;
use machines::machine::MachineError;
use machines::scratch::Scratch;
use record::error::RecordError;
use record::event::Event;
use record::phase::Phase;
use record::plan::PlannedTrial;
use record::trial::{Outcome, TrialRecord};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use study::TypedCell;

/// What all lanes of a run have in common.
pub(crate) struct SharedLanes<'a> {
    pub order: &'a RunOrder<'a>,
    pub scratch: Scratch,
    load_hosts: Mutex<LoadHosts>,
    /// Hosts that one trial at a time may have load from.
    in_use: HostsInUse,
    /// The name of each host by the machine that it is, and whether it is measured.
    machines: Mutex<BTreeMap<String, (bool, String)>>,
    /// Whether hosts are measured at the same time.
    are_apart: bool,
    /// An error ended the run in another lane.
    ended: AtomicBool,
}

impl<'a> SharedLanes<'a> {
    pub fn of(order: &'a RunOrder<'a>, scratch: Scratch) -> Self {
        Self {
            order,
            scratch,
            load_hosts: Mutex::default(),
            in_use: HostsInUse::default(),
            machines: Mutex::default(),
            are_apart: study::are_apart(order.plan.typed()),
            ended: AtomicBool::new(false),
        }
    }

    /// The lane of a trial, by its host.
    pub fn lane_of(&self, planned: &PlannedTrial) -> Option<String> {
        planned.host.clone().filter(|_| self.are_apart)
    }

    fn must_end(&self) -> bool {
        self.order.interrupts.after_this_trial() || self.ended.load(Ordering::Relaxed)
    }

    /// Fails if two of several measured hosts are the same machine, or if load comes from a machine while it is measured. `host` is
    /// the measured one of several.
    fn require_own_machine(
        &self,
        host: Option<&str>,
        cell: &TypedCell,
        machine: Option<String>,
        load_hosts: &[Arc<OpenLoadHost>],
    ) -> Result<(), PreparationError> {
        let Some(machine) = machine else { return Ok(()) };
        let name = cell.platform.host().unwrap_or_default();
        if let Some(load) = load_hosts.iter().find(|load| load.machine() == machine) {
            return Err(PreparationError::SameMachine { first: name.to_owned(), second: load.name.clone() });
        }
        let mut machines = self.machines.lock().unwrap_or_else(PoisonError::into_inner);
        // Otherwise it drives before or after it is measured.
        let driving = load_hosts.iter().filter(|_| self.are_apart);
        let driving = driving.map(|load| (false, load.name.as_str(), load.machine().to_owned()));
        for (is_measured, name, machine) in driving.chain([(true, name, machine)]) {
            let (was_measured, first) = machines.entry(machine).or_insert_with(|| (is_measured, name.to_owned()));
            let is_second_name = is_measured && host.is_some() && first != name;
            if *was_measured != is_measured || is_second_name {
                return Err(PreparationError::SameMachine { first: first.clone(), second: name.to_owned() });
            }
        }
        Ok(())
    }
}

/// What the trials of one cell share, on one host.
type LaneKey = (u32, Option<String>);

pub(crate) struct Lane {
    /// Part of the names of its folders.
    number: usize,
    /// What the trials of each cell share, or why preparing it failed.
    prepared: BTreeMap<LaneKey, Result<PreparedCell, PreparationError>>,
    /// By [`open::key`].
    opened: BTreeMap<String, OpenPlatform>,
}

impl Lane {
    pub fn new(number: usize) -> Self {
        Self { number, prepared: BTreeMap::new(), opened: BTreeMap::new() }
    }

    /// Runs trials one after another, until one ends the run. `of` is the number of trials in the plan.
    pub fn run(
        &mut self,
        shared: &SharedLanes<'_>,
        trials: &[&PlannedTrial],
        of: u32,
        telling: &Sender<Event>,
    ) -> Result<Tallied, ConductorError> {
        let mut worker = LaneWorker { lane: self, shared, telling, nobody_listens: false };
        let tallied = worker.trials(trials, of);
        if tallied.is_err() {
            shared.ended.store(true, Ordering::Relaxed);
        }
        tallied
    }

    /// Prepares a cell at its first trial. A host without room ends the run. Data that cannot be loaded for any other
    /// reason fail only the trials of that cell.
    pub fn make_ready(
        &mut self,
        shared: &SharedLanes<'_>,
        (id, host): (u32, Option<&str>),
        cell: &TypedCell,
        tell: &mut dyn FnMut(Event),
    ) -> Result<&Result<PreparedCell, PreparationError>, ConductorError> {
        let key = (id, host.map(str::to_owned));
        if !self.prepared.contains_key(&key) {
            let name = format!("loading-{}-{}", self.number, self.prepared.len() + 1);
            let scratch = shared.scratch.machine(&name)?;
            let prepared = match shared.order.missing.get(&id) {
                Some(why) => Err(MachineError::Unavailable { why: why.clone() }.into()),
                None => self.prepare(shared, host, cell, scratch.path(), tell),
            };
            let home = cell.platform.can().data;
            match prepared {
                Err(error) if error.ends_the_run(home) => return Err(error.into()),
                prepared => self.prepared.insert(key.clone(), prepared),
            };
        }
        Ok(&self.prepared[&key])
    }

    fn prepare(
        &mut self,
        shared: &SharedLanes<'_>,
        host: Option<&str>,
        cell: &TypedCell,
        scratch: &Path,
        tell: &mut dyn FnMut(Event),
    ) -> Result<PreparedCell, PreparationError> {
        let RunOrder { site, interrupts, .. } = *shared.order;
        let open = self.open(shared, cell, tell)?;
        let load_hosts = {
            let mut all = shared.load_hosts.lock().unwrap_or_else(PoisonError::into_inner);
            all.of(cell, site, &shared.scratch, interrupts, tell)?
        };
        shared.require_own_machine(host, cell, open.platform.machine(), &load_hosts)?;
        Ok(prepare(cell, open, site, scratch, interrupts, tell)?.with_load_from(load_hosts))
    }

    /// Opens the cell's platform, if no earlier cell did.
    fn open(
        &mut self,
        shared: &SharedLanes<'_>,
        cell: &TypedCell,
        tell: &mut dyn FnMut(Event),
    ) -> Result<&OpenPlatform, PreparationError> {
        let name = format!("platform-{}-{}", self.number, self.opened.len() + 1);
        match self.opened.entry(open::key(cell)) {
            Entry::Occupied(opened) => Ok(opened.into_mut()),
            Entry::Vacant(place) => {
                let scratch = shared.scratch.machine(&name)?;
                let image = shared.order.images.get(&image_name(cell)).cloned();
                let run = shared.scratch.path().file_name().unwrap_or_default().to_string_lossy();
                let open = OpenPlatform::of(cell, image, shared.order.site, scratch, &run, shared.order.interrupts)?;
                for text in open.platform.notes() {
                    tell(Event::Warning { text });
                }
                Ok(place.insert(open))
            }
        }
    }
}

/// A lane at work.
struct LaneWorker<'a> {
    lane: &'a mut Lane,
    shared: &'a SharedLanes<'a>,
    telling: &'a Sender<Event>,
    /// The log of events cannot be written.
    nobody_listens: bool,
}

impl LaneWorker<'_> {
    fn tell(&mut self, event: Event) {
        self.nobody_listens |= self.telling.send(event).is_err();
    }

    fn trials(&mut self, trials: &[&PlannedTrial], of: u32) -> Result<Tallied, ConductorError> {
        let mut tallied = Tallied::default();
        for planned in trials {
            if self.nobody_listens || tallied.interrupted {
                break;
            }
            if self.shared.must_end() {
                tallied.interrupted = true;
                break;
            }
            let (record, is_to_be_repeated) = self.trial(planned, of)?;
            tallied.count(&record.outcome);
            tallied.interrupted |= is_to_be_repeated;
        }
        Ok(tallied)
    }

    /// Also returns whether it is void, and the user stops the run before it is run again.
    fn trial(&mut self, planned: &PlannedTrial, of: u32) -> Result<(TrialRecord, bool), ConductorError> {
        let Some(cell) = self.shared.order.plan.cell(planned.cell) else {
            unreachable!("a plan lists the cell of each of its trials");
        };
        let cell = &cell.on(planned.host.as_deref());
        let (telling, nobody_listens) = (self.telling, &mut self.nobody_listens);
        let mut tell = |event| *nobody_listens |= telling.send(event).is_err();
        self.lane.make_ready(self.shared, (planned.cell, planned.host.as_deref()), cell, &mut tell)?;
        let begun = Instant::now();
        self.tell(Event::TrialStarted {
            trial: planned.id,
            of,
            block: planned.block,
            contender: cell.written.contender.clone(),
            coordinates: cell.written.coordinates(),
            host: planned.host.clone(),
        });
        let ended = self.attempts(planned, cell)?;
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.tell(Event::TrialEnded { trial: planned.id, outcome: ended.0.outcome.clone(), elapsed_ms });
        Ok(ended)
    }

    /// Carries out the trial, and repeats it as long as other load disturbs it and its study allows.
    fn attempts(&mut self, planned: &PlannedTrial, cell: &TypedCell) -> Result<(TrialRecord, bool), ConductorError> {
        loop {
            let record = self.attempt(planned, cell)?;
            let Some(by) = again::why_void(self.shared.order.folder, &cell.written, &record)? else {
                return Ok((record, false));
            };
            if self.shared.must_end() {
                // When the run is resumed, it begins with the next attempt at this trial.
                return Ok((record, true));
            }
            let (id, times) = (planned.id, record.disturbed().len() + 1);
            let most = cell.load.other_load.map_or(0, |limit| limit.max_repeats);
            self.tell(Event::Warning {
                text: format!("trial {id} is run again, {times} of at most {most} times: {by}"),
            });
            if self.nobody_listens {
                return Ok((record, true));
            }
        }
    }

    fn attempt(&mut self, planned: &PlannedTrial, cell: &TypedCell) -> Result<TrialRecord, ConductorError> {
        let order = self.shared.order;
        let scratch = self.shared.scratch.machine(&format!("trial-{:04}", planned.id))?;
        let earlier = again::make_way(order, planned.id)?;
        let prepared = match &self.lane.prepared[&(planned.cell, planned.host.clone())] {
            Ok(prepared) => prepared,
            Err(error) => return Ok(not_prepared(order, planned, cell, error, earlier)?),
        };
        let (telling, nobody_listens) = (self.telling, &mut self.nobody_listens);
        let context = TrialContext {
            planned,
            cell,
            prepared,
            site: order.site,
            scratch: scratch.path(),
            number: 1,
            halt: Halt::by_user(order.interrupts),
            turn: None,
            latest: order.latest,
            in_use: Some(&self.shared.in_use).filter(|_| self.shared.are_apart),
            writers: cell.machine.vcpus,
        };
        let hear = &mut |heard: Heard<'_>| {
            if let Heard::Event(event) = heard {
                *nobody_listens |= telling.send(event).is_err();
            }
        };
        let attempt = Attempt { context, folder: Some(order.folder.trial(planned.id)), earlier, hear };
        let attempted = if cell.machine.count > 1 {
            together::on_all_machines(attempt, &now_text())
        } else {
            attempt::on_one_machine(attempt, now_text())
        };
        attempted.map_err(|error| ended_by(planned.id, error))
    }
}

/// An error of recording names its own file; all others name their trial.
fn ended_by(id: u32, error: AttemptError) -> ConductorError {
    match error {
        AttemptError::Record(error) => error.into(),
        error => ConductorError::Attempt { id, error },
    }
}

/// The record of a trial whose platform is not there, or whose data could not be loaded.
fn not_prepared(
    order: &RunOrder<'_>,
    planned: &PlannedTrial,
    cell: &TypedCell,
    error: &PreparationError,
    earlier: Earlier,
) -> Result<TrialRecord, RecordError> {
    let folder = order.folder.trial(planned.id);
    folder.begin()?;
    let interrupted = order.interrupts.now();
    let outcome = if interrupted { Outcome::Interrupted { phase: Phase::Load.to_string() } } else { error.outcome() };
    let made_by = order.site.made_by.clone();
    let begun = TrialRecord::begun(planned, &cell.written.contender, now_text(), made_by);
    let mut record = TrialRecord { outcome, warnings: earlier.warnings, ..begun };
    other_load::judge(&mut record, other_load::limit(cell), earlier.disturbed);
    if interrupted {
        folder.keep_partial(&record)?;
    } else {
        folder.complete(&record)?;
    }
    Ok(record)
}
