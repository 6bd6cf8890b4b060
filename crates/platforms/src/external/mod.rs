//! The platform of a server that already runs, wherever it is: only an agent is started, as a thread of this process.
//!
//! Only the people who started the server know its machine, so nothing of it is decided or watched here. The agent
//! itself is passed in, since platforms know no engine.

pub mod machine;

use crate::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use crate::entry::{Open, PlatformEntry};
use machines::machine::Decided;

const CAN: Capabilities =
    Capabilities { image: ImageUse::None, data: DataHome::Folder, executes: true, server: ServerUse::Anywhere };

/// No study names this platform: a study compares machines, and here is none.
pub const fn entry(open: Open) -> PlatformEntry {
    PlatformEntry {
        kind: "external",
        meaning: "a server that runs already",
        keys: &[],
        can: |_| CAN,
        check: |_, _| Vec::new(),
        foreseen: |_, _| Decided::new(),
        open,
    }
}
