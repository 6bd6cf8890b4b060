//! The platform of a server that already runs, wherever it is: only an agent is started, as a thread of this process.
//!
//! Only the people who started the server know its machine, so nothing of it is decided or watched here. The agent
//! itself is passed in, since platforms know no engine.

pub mod machine;
