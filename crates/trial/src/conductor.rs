//! A whole run: preparation, the planned trials in their order, and the events about them.

use crate::again;
use crate::audit::{self, CellAudit};
use crate::lane::{Lane, SharedLanes};
use crate::order::{ConductorError, Images, NextPlan, RunOrder, Tallied, WhatFollows, image_name};
use crate::preparation;
use crate::script;
use crate::site::Site;
use crate::time::now_ms;
use machines::scratch::Scratch;
use platforms::capabilities::ImageUse;
use record::error::RecordError;
use record::event::Event;
use record::event_log::EventLog;
use record::folder::RunFolder;
use record::plan::PlannedTrial;
use rustix::fs::StatVfsMountFlags;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};
use std::time::Instant;
use study::{TypedCell, TypedPlan};

/// The name of the run's program in its scratch folder.
const PROGRAM: &str = "bakeoff";

/// Builds the images that some trials of a plan need, or finds them in the cache. Separate from [`run`] because no
/// trial works without them: a host that cannot build them should show that before the run, not hours later.
pub fn images(plan: &TypedPlan, site: &Site, show: &mut dyn FnMut(&Event)) -> Result<Images, ConductorError> {
    let mut images = Images::new();
    for cell in plan.planned() {
        if cell.platform.can().image == ImageUse::None {
            continue;
        }
        if let Entry::Vacant(place) = images.entry(image_name(cell)) {
            let guests = boots(plan, place.key());
            place.insert(preparation::image(cell, guests, site, &mut |event| show(&event))?);
        }
    }
    Ok(images)
}

/// True if any machine of the plan, run now or later, boots this image's kernel. Trials without a kernel are skipped.
fn boots(plan: &TypedPlan, image: &(String, String)) -> bool {
    let boots = |cell: &TypedCell| {
        cell.platform.can().image == ImageUse::TreeAndKernel && cell.machine.kernel.lacking().is_none()
    };
    plan.typed().iter().any(|cell| image_name(cell) == *image && boots(cell))
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
    // A rehearsal starts nothing.
    let agent = match &order.site.agent {
        agent if order.plan.rehearsed => agent.clone(),
        agent => program_of_the_run(agent, scratch.path())?,
    };
    let site = Site { agent, ..order.site.clone() };
    let order = &RunOrder { site: &site, ..*order };
    let mut trials = again::still_to_run(order.folder, order.plan, order.trials, order.retries)?;
    order.plan.with_trials(trials.clone()).planned().try_for_each(script::require)?;
    voice.tell(&Event::RunStarted {
        study: order.plan.study.clone(),
        trials: u32::try_from(trials.len()).unwrap_or(u32::MAX),
        expected_ms: 0,
        resumed: order.resumed,
    });
    let (lanes, of, tallied) = (BTreeMap::new(), order.plan.trials.len(), Tallied::default());
    let mut run = ConductedRun { lanes, shared: SharedLanes::of(order, scratch), tallied, of };
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

/// The same program for all trials, also if the file that we were started from is replaced meanwhile: a link to it, since a running
/// program is replaced and never written to, or a copy where there can be no link. Where nothing may be executed it stays where it is.
fn program_of_the_run(agent: &Path, scratch: &Path) -> Result<PathBuf, ConductorError> {
    let own = scratch.join(PROGRAM);
    let copied = || {
        images::data::copy(agent, &own).map_err(io::Error::other)?;
        fs::set_permissions(&own, fs::metadata(agent)?.permissions())
    };
    let kept = fs::hard_link(agent, &own).or_else(|_| copied());
    let kept = kept.and_then(|()| Ok(rustix::fs::statvfs(&own)?.f_flag.contains(StatVfsMountFlags::NOEXEC)));
    let is_useless = kept.map_err(|source| ConductorError::Program { agent: agent.to_owned(), source })?;
    Ok(if is_useless { agent.to_owned() } else { own })
}

fn run_name(folder: &RunFolder) -> String {
    folder.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Dropped in this order: platforms before the folder that their ledgers are in.
struct ConductedRun<'a> {
    lanes: BTreeMap<Option<String>, Lane>,
    shared: SharedLanes<'a>,
    tallied: Tallied,
    /// The number of trials in the plan, including those added later.
    of: usize,
}

impl ConductedRun<'_> {
    /// Runs trials, those of each lane one after another; returns whether all of them were run.
    fn trials(&mut self, trials: &[PlannedTrial], voice: &mut EventWriter<'_>) -> Result<bool, ConductorError> {
        let mut parts: BTreeMap<Option<String>, Vec<&PlannedTrial>> = BTreeMap::new();
        for trial in trials {
            parts.entry(self.shared.lane_of(trial)).or_default().push(trial);
        }
        for host in parts.keys().filter(|host| !self.lanes.contains_key(*host)).cloned().collect::<Vec<_>>() {
            let number = self.lanes.len() + 1;
            self.lanes.insert(host, Lane::new(number));
        }
        let (shared, of) = (&self.shared, u32::try_from(self.of).unwrap_or(u32::MAX));
        let lanes = self.lanes.iter_mut().filter_map(|(host, lane)| Some((lane, parts.remove(host)?)));
        let tallied = thread::scope(|scope| {
            let (telling, told) = mpsc::channel();
            let mut threads = Vec::new();
            for (lane, trials) in lanes {
                let telling = telling.clone();
                threads.push(scope.spawn(move || lane.run(shared, &trials, of, &telling)));
            }
            drop(telling);
            for event in told {
                voice.tell(&event);
                if voice.broken.is_some() {
                    // The lanes notice that nobody listens, and end after their trials.
                    break;
                }
            }
            let join = |thread: ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            threads.into_iter().map(join).collect::<Vec<Result<Tallied, ConductorError>>>()
        });
        for of_lane in tallied {
            self.tallied.add(of_lane?);
        }
        voice.heard()?;
        Ok(!self.tallied.interrupted)
    }

    /// Audits the durability of each cell whose audit is left.
    fn audits(&mut self, voice: &mut EventWriter<'_>) -> Result<(), ConductorError> {
        let RunOrder { plan, folder, site, interrupts, audits, .. } = *self.shared.order;
        let Some(durability) = &plan.durability else { return Ok(()) };
        for cell in plan.typed().iter().filter(|cell| audits.contains(&cell.written.id)) {
            if interrupts.after_this_trial() {
                self.tallied.interrupted = true;
                break;
            }
            let (begun, id) = (Instant::now(), cell.written.id);
            let lane = self.lanes.entry(None).or_insert_with(|| Lane::new(1));
            let prepared = lane.make_ready(&self.shared, (id, None), cell, &mut |event| voice.tell(&event))?;
            let scratch = &self.shared.scratch;
            let order = CellAudit { cell, prepared, plan: durability, site, scratch, interrupts };
            let Some(found) = audit::of_cell(&order, &mut |event| voice.tell(&event)) else {
                self.tallied.interrupted = true;
                break;
            };
            folder.write_durability(&found)?;
            voice.tell(&Event::Audited {
                cell: id,
                contender: cell.written.contender.clone(),
                coordinates: cell.written.coordinates(),
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
        self.shared.order.folder.replace_plan(&plan)?;
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
