//! Driving on a virtual clock: hours pass in seconds, because nothing really waits.
//!
//! Clients, pacing, mix, inputs, seconds and totals come from the same code as in real driving. Only the database's
//! work is left out: each transaction takes a time that is known beforehand.

mod service;
pub mod world;

pub use service::ServiceTimes;

use crate::assignment::Assignment;
use crate::clock::Clock;
use crate::combine::in_turn;
use crate::drive::{goes_on, on_grid};
use crate::error::DriveError;
use crate::merge::{Gathering, Names};
use crate::plan::{Control, DrivePlan, Driven, SeenProgress};
use crate::recorder::Second;
use crate::run;
use crate::script;
use crate::sessions::{self, SessionList};
use crate::shard::Surroundings;
use crate::signals::{RunningTotals, Signals};
use crate::slice::Slice;
use crate::watch::{Watch, conclude};
use crate::window::Window;
use record::trial::Stalls;
use service::TimedWorkload;
use std::cell::RefCell;
use std::slice;
use workloads::workload::Workload;
use world::World;

/// Rehearses the driving of the workload's clients, in one shard on the calling thread. Everything random comes from
/// the plan's seed, so that the same plan gives the same result. A driver that should start together with others starts
/// at once.
pub fn rehearse<W: Workload>(
    workload: &W,
    plan: &DrivePlan,
    service: &ServiceTimes,
    control: &Control,
    see: &mut dyn FnMut(SeenProgress),
) -> Result<Driven, DriveError> {
    let workload = &TimedWorkload(workload);
    script::check(plan, workload.actors())?;
    let world = World::new(false, service.script(plan.seed));
    let signals = Signals::new(control, workload.actors().len());
    let (here, published) = (Slice { shard: 0, of: 1 }, RunningTotals::default());
    let session_list = SessionList::of(workload.actors(), plan.generator.part_of(here), plan);
    let mut opened = sessions::open(&world, &world, &session_list, || signals.is_stopped())?;
    let (origin, mut driven) = (world.now(), Vec::new());
    for (phase, number) in plan.phases.iter().zip(0..) {
        see(SeenProgress::Ready);
        signals.begin_phase(here.of, phase, plan);
        let window = Window::of(phase, plan, on_grid(origin, world.now(), false), origin);
        let gathering = Gathering::new(Names::of(workload), window, 1);
        let watch = Watch::new(window, slice::from_ref(&published), &signals, gathering);
        let watched = RefCell::new((watch, &mut *see));
        let hand_on = |second: Second| {
            let (watch, see) = &mut *watched.borrow_mut();
            if second.whole && !second.is_last {
                watch.tick(see);
            }
            watch.take(here.shard, second, see);
        };
        let around = Surroundings::<(TimedWorkload<'_, W>, World, World, World)> {
            connect: &world,
            opener: Some(&world),
            clock: &world,
            reactor: &world,
            signals: &signals,
            published: &published,
            hand_on: &hand_on,
            mailbox: None,
        };
        let Some(assignment) = Assignment::of(workload, plan, number, here, window) else { break };
        let reports = vec![run::run(&around, &assignment, &mut opened)?];
        let (mut watch, see) = watched.into_inner();
        watch.end(&reports, see);
        driven.push(conclude(plan, phase, watch, reports, Stalls::default())?);
        if !driven.last().is_some_and(goes_on) {
            break;
        }
    }
    in_turn(driven).ok_or(DriveError::NotStarted)
}
