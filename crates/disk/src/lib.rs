//! A disk that can lose power.
//!
//! A process of ours serves one file over FUSE. To a machine it is a disk: mounted through a loop device, or given to QEMU as a
//! file. Every write, the begin and the end of every flush, and marks of the load engine go into one log, in one order. From the
//! disk as it was at first and the log, [`cut::build`] makes the disk as it may be after a power cut at any entry. [`scan::scan`]
//! finds which texts were safe at which moment.
//!
//! Not covered: whether the real disk below this host honours a flush. Nothing here knows a database or a machine.

pub mod control;
pub mod cut;
mod entry;
mod log;
mod mount;
mod order;
mod reader;
mod requests;
pub mod running;
pub mod scan;
mod serve;
mod served;
mod settings;

pub use control::{ControlError, DiskControl};
pub use entry::{DiskEvent, DiskOrders, Header, LogEntry};
pub use log::DEFAULT_LOG_BYTES;
pub use mount::{MountError, undo};
pub use reader::{DiskLogError, LogReader};
pub use running::RunningDisk;
pub use serve::{ServeError, serve};
pub use settings::FaultSettings;

#[cfg(test)]
mod tests;
