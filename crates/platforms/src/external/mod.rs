//! The place of a server that runs already, wherever that is: nothing is started but an agent, as a thread of this process.
//!
//! Only those who started the server know its machine, so nothing of it is decided or watched here. The agent itself is
//! handed in, since platforms know no engine.

pub mod machine;

use crate::catalog::{Capabilities, ImageUse, PlatformEntry, Start};
use crate::lease::Lease;

/// No study names it: a study compares machines, and there is none here.
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
