//! Tables that a task cannot work with.

use crate::task::Task;
use agent::listed::Reshaped;
use agent::tables::{Lacking, OtherSize};

/// Why the tables of a database do not suit a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("{}", those(.0, "exists already and was not touched", "exist already and were not touched"))]
    Exist(Vec<String>),
    #[error(
        "{}",
        those(
            .0,
            "exists already, was not made by bakeoff and was not touched",
            "exist already, were not made by bakeoff and were not touched"
        )
    )]
    Foreign(Vec<String>),
    #[error("{}", those(.tables, "is missing", "are missing"))]
    Missing { tables: Vec<String>, task: Task },
    #[error("{lacking}")]
    Lacking { lacking: Lacking, foreign: Vec<String> },
    #[error(
        "{}",
        those(
            .0,
            "exists, and only other settings of the workload have it",
            "exist, and only other settings of the workload have them"
        )
    )]
    OfOtherSettings(Vec<String>),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    OfOtherSize(Vec<OtherSize>),
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Reshaped(Vec<Reshaped>),
}

/// The warning of tables that another program has loaded.
pub(crate) fn not_compared(tables: &[String]) -> String {
    let (of_one, of_several) = ("was not made by bakeoff", "were not made by bakeoff");
    let made = those(tables, of_one, of_several);
    format!("{made}, and columns and indexes are not compared; load the workload into another database")
}

fn those(tables: &[String], of_one: &str, of_several: &str) -> String {
    format!("{} {}", tables.join(", "), if tables.len() == 1 { of_one } else { of_several })
}
