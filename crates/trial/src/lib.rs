//! The only conductor: orders effects and writes records.
//!
//! A run prepares what its trials share (images, loaded data disks), then executes the planned trials one after
//! another. Each trial clones the data disk, starts the machine and the server, drives, checks, stops, and writes the
//! record. The conductor decides when things happen and never how: machines, servers, workloads and the driver know
//! that. It computes no statistic and prints nothing; callers that want to show progress get events.

pub mod again;
mod asking;
pub mod attempt;
pub mod audit;
pub mod cell;
mod climb;
mod clock;
pub mod conductor;
pub mod conversation;
mod course;
mod driving;
pub mod error;
pub mod existing;
mod few_at_once;
mod from_hosts;
mod generators;
mod halt;
mod host_watch;
mod hosts_in_use;
mod instances;
mod lane;
pub mod limits;
mod load_hosts;
mod loaded_data;
mod odd;
pub mod open;
mod other_load;
mod places;
pub mod preparation;
pub mod queue;
pub mod rehearsal;
mod rendezvous;
pub mod room;
mod sampling;
pub mod site;
mod start_order;
pub mod step;
mod together;
pub mod validity;
