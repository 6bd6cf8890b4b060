//! Programs on many hosts over NATS.
//!
//! An agent on each host calls out to a NATS server and runs scripts for a conductor, as an ssh server would. A line is the standard
//! input, output and errors of one of them. Messages of NATS are lost without an error when its server restarts, so a line numbers
//! what it sends and sends it again until the other end has it ([`tunnel`]).
//!
//! All of NATS runs in one thread, which neither drives load nor measures.

pub mod agent;
mod arrangement;
pub mod bridge;
mod line;
mod link;
mod messages;
pub mod tunnel;

pub use arrangement::{AgentStarter, Arrangement, ArrangementError};
pub use line::AWAY_LIMIT;
pub use link::FleetError;
pub use messages::{Build, Present};
