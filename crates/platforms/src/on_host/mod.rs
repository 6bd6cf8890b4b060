//! What the platforms share whose machines are processes on the host's own kernel: limits, data, starting and stopping.

pub(crate) mod data;
pub(crate) mod error;
pub(crate) mod launch;
pub(crate) mod limits;
pub(crate) mod machine;
pub(crate) mod tried;
