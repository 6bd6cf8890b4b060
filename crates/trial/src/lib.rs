//! The only conductor: orders effects and writes records.
//!
//! A run prepares what its trials share (images, loaded data disks), then executes the planned trials one after
//! another. Each trial clones the data disk, starts the machine and the server, drives, checks, stops, and writes the
//! record. The conductor decides when things happen and never how: machines, servers, workloads and the driver know
//! that. It computes no statistic and prints nothing; callers that want to show progress get events.
//!
//! # How a trial goes
//!
//! ```text
//!   conductor::run ─ for each host a lane ─ trials in their order ─┐
//!                                                                  ▼
//!   existing::Order (drive) ──────────────┐   together (several machines, a thread each)
//!                                         ▼                        │
//!                      attempt: TrialContext, TrialLog ◀───────────┘
//!                                         ▼
//!                      course: on a server that we start, on a server that runs in the machine, on a server anywhere
//!                                         ▼
//!   boot ─ server | running_server ─ clock ─ climb ─ sampling ─ driving ─ recording ─ check
//!                                                                  ▼
//!                            drive inside (the agent) | here | from_hosts, each heard by LiveDriving
//! ```
//!
//! # Files
//!
//! | file | is about |
//! | --- | --- |
//! | `conductor.rs`, `order.rs`, `lane.rs` | a whole run; its order and errors; the trials of one host after another |
//! | `again.rs`, `other_load.rs` | trials that are run again, on request or because other load disturbed them |
//! | `preparation.rs`, `preparation/`, `loaded_data.rs`, `open.rs`, `room.rs` | images, data and platforms that trials share; room for them |
//! | `script.rs`, `context.rs` | the plan of driving that a cell's load gives; all that does not change while a trial goes on |
//! | `attempt.rs`, `together.rs`, `existing.rs` | a trial on one machine, on several, on a server that runs already |
//! | `course.rs` | the steps in their order, and the end of a machine on which one failed |
//! | `boot.rs`, `clock.rs`, `server.rs`, `running_server.rs`, `check.rs`, `stand_by.rs` | steps, each a function |
//! | `climb.rs`, `sampling.rs`, `recording.rs` | further steps: before, around and after the measured window |
//! | `driving.rs`, `from_hosts.rs`, `generators.rs`, `live.rs` | driving from three places, and what is seen meanwhile |
//! | `log.rs`, `database_log.rs`, `events.rs`, `outcome.rs`, `database_history.rs` | what is written, reported and kept for the check |
//! | `asking.rs`, `conversation.rs`, `limits.rs`, `halt.rs` | requests to agents, their limits, and giving up |
//! | `rendezvous.rs`, `start_order.rs`, `exception.rs`, `places.rs` | machines of one trial: meeting, starting, differing, their CPUs |
//! | `load_hosts.rs`, `hosts_in_use.rs`, `few_at_once.rs` | hosts that load comes from |
//! | `validity.rs` | whether a trial counts |
//! | `audit/` | durability: killing machines under load, and looking for what was acknowledged |
//! | `rehearsal.rs`, `queue.rs`, `site.rs`, `task.rs`, `time.rs`, `unfit.rs` | the platform that executes nothing; one run at a time; this host; small types |
//!
//! # Pitfalls
//!
//! * A machine that is not stopped is cut when it is dropped, and must be gone before its data: keep the order of locals in `course`.
//! * An agent that did not answer once is not asked again: its machine may hang, and each question has a limit of minutes.
//! * Machines of one trial wait for each other three times: before they are driven, at their start, and afterwards. A machine
//!   that fails gives up the rendezvous, or the others wait for their whole limit.
//! * The phase says where a trial failed. Cleaning up after a failure enters none.
//! * The leader stands for its trial: it reads the host, and its phases are shown. A machine that differs may be another.
//! * Times of agents are by their clocks. Add the offset of the last reading before sending one, and take it off on the way back.

pub mod again;
mod asking;
mod attempt;
pub mod audit;
mod boot;
mod check;
mod climb;
mod clock;
pub mod conductor;
mod context;
pub mod conversation;
mod course;
mod database_history;
mod database_log;
mod driving;
pub mod error;
pub mod events;
mod exception;
pub mod existing;
mod few_at_once;
mod from_hosts;
mod generators;
mod halt;
mod hosts_in_use;
mod lane;
pub mod limits;
mod live;
mod load_hosts;
mod loaded_data;
mod log;
pub mod open;
pub mod order;
mod other_load;
mod outcome;
mod places;
pub mod preparation;
pub mod queue;
mod recording;
pub mod rehearsal;
mod rendezvous;
pub mod room;
mod running_server;
mod sampling;
mod script;
mod server;
pub mod site;
mod stand_by;
mod start_order;
pub mod task;
mod time;
mod together;
pub mod unfit;
pub mod validity;
