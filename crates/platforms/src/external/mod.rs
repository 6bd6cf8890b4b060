//! The platform of a server that already runs, wherever it is: only an agent is started, as a thread of this process.
//!
//! Only the people who started the server know its machine, so nothing of it is decided or watched here. The agent
//! itself is passed in, since platforms know no engine.

pub mod machine;

use crate::catalog::{Capabilities, ImageUse, PlatformEntry, Start};
use crate::lease::Lease;

/// No study names this platform: a study compares machines, and here is none.
pub const fn entry(start: Start) -> PlatformEntry {
    PlatformEntry {
        kind: "external",
        meaning: "a server that runs already",
        keys: &[],
        can: Capabilities { image: ImageUse::None, owns_data: true, executes: true, starts_server: false },
        check: |_, _| Vec::new(),
        foreseen: |_, _| None,
        lease: |order| Ok(Lease::of_nothing(order)),
        start,
    }
}
