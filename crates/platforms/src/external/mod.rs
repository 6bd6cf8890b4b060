//! The place of a server that runs already, wherever that is: nothing is started but an agent, as a thread of this process.
//!
//! Only those who started the server know its machine, so nothing of it is decided or watched here. The agent itself is
//! handed in, since platforms know no engine.

pub mod machine;

use crate::catalog::{Capabilities, ImageUse, PlatformEntry, Start};
use crate::lease::Lease;
use machines::machine::Decided;

const WHY_NOT: &str = "the server runs already, and where is not known";

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

/// What can be said of where the server runs.
pub fn decided() -> Decided {
    ["processor", "data cached twice"].map(|name| (name.to_owned(), Err(WHY_NOT.to_owned()))).into()
}
