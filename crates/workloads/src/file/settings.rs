//! Keys of a `[workload]` table of kind `file`, with the texts of its files.

use serde::Deserialize;
use settings::{Holds, keys};

keys! {
    /// The table, read.
    #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct FileSettings {
        scripts: Vec<File>, Holds::Files { weighted: true },
            "files beside the study, each with the statements of one kind of transaction as pgbench has them, and how often \
             it is done beside the others";
        #[serde(default)]
        setup: Vec<File> = "", Holds::Files { weighted: false },
            "files with the statements that make the tables and fill them, run once where data are loaded";
        #[serde(default)]
        checks: Vec<File> = "", Holds::Files { weighted: false },
            "files with queries that must return no rows, after loading and after the load";
        #[serde(default)]
        statement_latencies: bool = "false", Holds::Boolean,
            "whether each statement is timed by itself, as a step of its transaction";
    }
}

/// A file as it was when the study was planned.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub name: String,
    #[serde(default)]
    pub weight: u32,
    pub text: String,
}

impl File {
    /// The name of its transactions.
    pub fn stem(&self) -> &str {
        self.name.strip_suffix(".sql").filter(|stem| !stem.is_empty()).unwrap_or(&self.name)
    }
}
