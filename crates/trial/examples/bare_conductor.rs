//! A conductor in a process of its own, for this crate's tests, which kill it.
//!
//! `bare_conductor FOLDER` goes on with the run of bare machines there, and prints the trial and the name of each phase.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../../platforms/tests/machines/bare.rs"]
mod bare;
// The tests use all of it.
#[allow(dead_code)]
#[path = "../tests/conductor/ground.rs"]
mod ground;

use record::event::Event;
use std::path::Path;

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    ground::go_on_in(Path::new(&folder), &mut |event, _| {
        if let Event::PhaseStarted { trial, phase, .. } = event {
            println!("{trial} {phase}");
        }
    });
}
