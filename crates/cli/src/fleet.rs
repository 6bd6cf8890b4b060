//! Hosts that are reached over NATS, if this build can do that.

#[cfg(feature = "nats")]
mod over_nats;

#[cfg(feature = "nats")]
pub use over_nats::{build, connect, lines, read};

#[cfg(not(feature = "nats"))]
pub use without::lines;

#[cfg(not(feature = "nats"))]
mod without {
    use crate::exit::EndedWith;
    use anyhow::Result;
    use platforms::host::lines::HostScripts;
    use std::path::Path;
    use std::sync::Arc;

    pub fn lines(_: &Path) -> Result<Arc<dyn Lines>> {
        Err(unavailable().into())
    }

    pub fn unavailable() -> Ended {
        Ended::bad_input("unavailable, because this bakeoff was built without its feature nats")
    }
}

#[cfg(not(feature = "nats"))]
pub use without::unavailable;
