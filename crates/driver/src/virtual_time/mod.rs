//! Driving on a virtual clock: hours pass in seconds, because nobody waits for anything.
//!
//! Clients, pacing, mix, inputs, seconds and totals are those of the real thing, by the same code. Only what a database
//! would do is left out: each transaction takes a time that is known beforehand.

mod service;
pub mod world;

pub use service::Service;

use crate::arrivals::Share;
use crate::clock::Clock;
use crate::drive::something_to_do;
use crate::merge::{Gathering, Names};
use crate::plan::{Control, DriveError, DrivePlan, Driven, Seen};
use crate::recorder::Second;
use crate::sessions::{self, Roster};
use crate::shard::{self, Assignment, Surroundings};
use crate::signals::{Published, Signals};
use crate::watch::{Watch, conclude};
use record::trial::Stalls;
use service::Timed;
use std::cell::RefCell;
use std::slice;
use workloads::workload::Workload;
use world::World;

/// Does as if it drove the workload's clients, in one shard on the calling thread. Everything random is drawn from the
/// plan's seed, so that the same plan gives the same result. Who is to start together with others starts at once.
pub fn rehearse<W: Workload>(
    workload: &W,
    plan: &DrivePlan,
    service: &Service,
    control: &Control,
    see: &mut dyn FnMut(Seen),
) -> Result<Driven, DriveError> {
    something_to_do(plan.pacing)?;
    let workload = &Timed(workload);
    let world = World::new(false, service.script(plan.seed));
    let (share, signals, published) = (Share { shard: 0, of: 1 }, Signals::new(control), Published::default());
    let roster = Roster::of(workload, share, plan.pacing);
    let opened = sessions::open(&world, &world, &roster, || signals.is_stopped())?;
    see(Seen::Ready);
    let assignment = Assignment::of(workload, plan, share, world.now());
    let gathering = Gathering::new(Names::of(workload), assignment.window, 1);
    let watch = Watch::new(assignment.window, slice::from_ref(&published), &signals, gathering);
    let watched = RefCell::new((watch, see));
    let hand_on = |second: Second| {
        let (watch, see) = &mut *watched.borrow_mut();
        if second.whole {
            watch.tick(see);
        }
        watch.take(share.shard, second, see);
    };
    let around = Surroundings {
        connect: &world,
        opener: Some(&world),
        clock: &world,
        reactor: &world,
        signals: &signals,
        published: &published,
        hand_on: &hand_on,
    };
    let result = shard::run(&around, &assignment, opened);
    let (watch, _) = watched.into_inner();
    conclude(plan, Some((watch, Stalls::default())), vec![result])
}
