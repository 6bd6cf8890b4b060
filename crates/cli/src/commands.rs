//! One file per command.

pub mod agent;
pub mod audit;
pub mod cache;
pub mod compare;
pub mod completions;
pub mod disk;
pub mod doctor;
pub mod drive;
pub mod explain;
pub mod export;
pub mod fleet;
pub mod image;
pub mod init;
pub mod list;
pub mod man;
pub mod open;
pub mod picture;
pub mod pilot;
pub mod plan;
pub mod report;
pub mod rows;
pub mod run;
pub mod runs;
pub mod study_file;
mod study_set;
pub mod there;
pub mod workload;
