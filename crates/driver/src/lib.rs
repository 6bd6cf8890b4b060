//! The load engine: a few threads (shards), each with many sessions, one epoll loop and its own histograms.
//!
//! Transactions are straight-line `async fn`s polled by the shard's loop; there is no async runtime. On the hot path
//! there is no lock, and no channel but for work that a transaction causes on another thread; that one takes no lock,
//! either. Every transaction has three times: *due* (the client wanted it), *sent* (its first statement began), *done*.
//! Response is done − due, service is done − sent. Clients are never skipped when the database stalls.
//!
//! # How data flows
//!
//! ```text
//!   calling thread                       one thread for each shard
//!   ──────────────                       ─────────────────────────────────────────────────────────────
//!   drive ── plan, users i ≡ s ────────▶ sessions::open        one session for each client; some for each actor that
//!     │  ◀──────────── ready ────────────┘                     reacts (in process: one session for everything)
//!     │ ── for each phase, one start ──▶ run::run ─── loop ─ poll what is ready ─ clock ─ epoll wait ─┐
//!     │                                     ▲                      │                                  │
//!     │                                     └──────────────────────┼──────────────────────────────────┘
//!     │                                                            ▼
//!     │                                  task::serve, one future for each session:
//!     │                                    pacing (who is due first) ─▶ Workload::next ─▶ another actor's? ─▶ its queue
//!     │                                    ─▶ retry::attempt (Workload::run) ─▶ recorder::book ─▶ Workload::learn
//!     │                                    ─▶ what it causes: a queue here, or another shard's mailbox ─▶ due again
//!     │ ◀── published: relaxed atomics ──┤
//!     │ ◀── each second when it is over ─┤   (more sessions come from a thread that opens them aside)
//!     ├─▶ see: ticks, and each second    │
//!     │ ◀── ShardReport ─────────────────┘ at the end of each phase; sessions stay open for the next
//!   merge ─▶ a phase ─▶ combine ─▶ Driven
//! ```
//!
//! # Files
//!
//! | file | is about |
//! | --- | --- |
//! | `plan.rs`, `script.rs` | what the driver is asked, and what it answers; whether a script can be driven at all |
//! | `drive.rs`, `endpoint.rs` | threads, phases and their start; choice of the concrete types |
//! | `watch.rs` | ticks, seconds as they become complete, and one result of all shards |
//! | `assignment.rs`, `report.rs` | the part of a phase that a shard drives, and its result |
//! | `shard.rs`, `run.rs`, `waiting.rs`, `agenda.rs` | the state of one thread; its loop; what it waits for; whose turn it is |
//! | `queues.rs`, `books.rs`, `phase_ending.rs` | its three parts: what is to be done; what was done; how the phase ends |
//! | `actor_state.rs` | one actor in a shard: its users, the work that others cause for it, its sessions |
//! | `task.rs`, `retry.rs` | what a session does; trying again |
//! | `sessions.rs`, `reopen.rs` | opening sessions, and opening lost ones again |
//! | `pacing.rs`, `arrivals.rs` | when a client is due and who waits for a session; the plan of arrivals |
//! | `users.rs` | from a stream's pacing to the users of a shard |
//! | `deferral.rs`, `pool.rs` | the bounded queue of what others hand over or cause, and the sessions that execute it |
//! | `mailbox.rs` | what a transaction causes on another shard |
//! | `openings.rs`, `ending.rs` | sessions that are opened aside; when a phase ends, and what becomes of those who wait then |
//! | `window.rs`, `recorder.rs`, `counts.rs`, `errors.rs` | the grid of seconds, and what is booked in each |
//! | `merge.rs`, `testimony.rs` | from the seconds of shards to one series and one result; the driver about itself |
//! | `combine.rs` | several phases, or several load generators, as one result |
//! | `instances.rs` | several databases of one machine driven at once, and one load divided among them |
//! | `stall.rs` | how long the load engine itself stood still |
//! | `ladder.rs` | how many clients to try next on the way to the peak |
//! | `clock.rs`, `reactor.rs` | time and epoll, each behind a trait |
//! | `virtual_time/` | driving on a virtual clock: the world of its sessions, and known service times |
//! | `rehearsal/` | tests: shards on a virtual clock, whose sessions answer by a script |
//!
//! # Pitfalls
//!
//! * Tasks share their shard by `Cell` and `RefCell`: no borrow may live across an `.await`.
//! * A task may be polled without a reason (an edge for a socket that became writable, a stale wake-up). Every future
//!   here and in `engines` tolerates that; a new one must, too.
//! * A call into an in-process engine, and the opening of a connection, cannot be interrupted. The driver waits for
//!   them, within the engine's own limits.
//! * A transaction that lost its session counts as failed, yet the database may have committed it. Reconcile totals
//!   with the database only where `losses` and `unended` are empty.
//! * Nothing may grow with the duration of driving: a second is handed on when it is over, and only sums are kept.
//! * Totals are sums over seconds and nothing else. A figure kept beside them will disagree one day.
//! * For an in-process engine the threads' CPU time contains the database's, and `busiest_shard` leaves out the time
//!   inside transactions. The record says `in_process`.
//! * After [`drive`], `facts.placement` is empty and `facts.metric` has only its kinds. Only the caller knows where the
//!   driver runs and what the figure is called. [`drive_endpoint`] fills in the latter.

mod actor_state;
mod agenda;
mod arrivals;
mod assignment;
mod books;
mod clock;
pub mod combine;
mod counts;
mod deferral;
mod drive;
mod ending;
mod endpoint;
pub mod error;
mod errors;
pub mod instances;
pub mod ladder;
mod mailbox;
mod merge;
mod openings;
mod pacing;
mod phase_ending;
pub mod plan;
mod pool;
mod queues;
mod reactor;
mod recorder;
#[cfg(test)]
mod rehearsal;
mod reopen;
mod report;
mod retry;
mod run;
pub mod script;
mod sessions;
mod shard;
mod signals;
mod slice;
mod stall;
mod task;
mod testimony;
mod users;
mod virtual_time;
mod waiting;
mod watch;
mod window;

pub use drive::drive;
pub use endpoint::{drive_endpoint, rehearse};
pub use sessions::opened as sessions_opened;
pub use virtual_time::ServiceTimes;
