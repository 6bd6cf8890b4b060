//! The real binary, real servers and real guests. Each test describes what a user would see.
#![allow(clippy::missing_panics_doc, clippy::print_stderr, clippy::unwrap_used)]

mod bad_input;
mod beside;
mod cleaned;
mod clusters;
mod containers;
mod documented;
mod drive;
mod drive_ended;
mod durability;
mod export;
mod faults;
mod first_steps;
mod killed;
mod lacking;
mod leftovers;
mod listening;
mod load_hosts;
// The tests of engines use it, too.
mod exception_workload;
#[path = "../../../engines/tests/conformance/made.rs"]
mod made;
mod many_runs;
mod metrics;
mod neighbour;
mod offered;
mod openmetrics;
mod other_host;
mod over_nats;
mod own_transactions;
mod phases;
mod precision;
mod published;
mod rehearsed;
mod report;
mod reshaped;
mod running;
mod runs;
mod session_defaults;
mod setting;
// The tests of lines use all of it.
#[path = "../../../fleet/tests/lines/nats_server.rs"]
mod nats_server;
mod several_hosts;
mod slurm;
// The tests of the conductor use it, too.
#[path = "../../../trial/tests/conductor/starved.rs"]
mod starved;
// The tests of platforms use all of it.
#[allow(dead_code)]
#[path = "../../../platforms/tests/machines/sshd.rs"]
mod sshd;
mod together;
mod toured;
mod two_runs;
mod versions;
mod why;
