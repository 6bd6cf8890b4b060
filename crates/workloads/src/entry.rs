//! The constant of each workload, which the list of workloads holds.

use engines::statement::ByDialect;
use settings::Key;

/// A workload that a study may name.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadEntry {
    pub kind: &'static str,
    /// One sentence for `bakeoff list`.
    pub meaning: &'static str,
    pub keys: &'static [Key],
    /// Those of the keys that only say how it is driven. Data that were loaded with other values of them are the same.
    pub driving_keys: &'static [&'static str],
    /// Who works, and for how long, is decided by its own phases, so a load says neither.
    pub own_phases: bool,
    pub metric: ThroughputMetric,
    /// The notice of derivation and non-comparability.
    pub notice: &'static str,
    /// How it differs from the published benchmark it is derived from; printed with every report.
    pub deviations: &'static [&'static str],
    pub scripts: WorkloadScripts,
    /// Space that the loaded rows take with their indexes, measured on each engine: bytes that all sizes share, then bytes of
    /// each of the things that [`Dataset::measured`](crate::dataset::Dataset::measured) counts. Empty if unknown.
    pub stored: ByDialect<&'static [u64]>,
}

/// Scripts that make a database of a workload. In place of each word that
/// [`Dataset::words`](crate::dataset::Dataset::words) gives, there is what depends on the settings.
#[derive(Debug, Clone, Copy)]
pub struct WorkloadScripts {
    /// Before loading: tables.
    pub schema: ByDialect<&'static str>,
    /// After loading: keys and indexes.
    pub finish: ByDialect<&'static str>,
    /// Undoes what `finish` changed in the server itself, if one of its statements failed.
    pub put_back: ByDialect<&'static str>,
    /// After `finish`, if transactions are executed in the database; SQLite has none.
    pub procedures: ByDialect<&'static str>,
    /// The procedures that are called.
    pub routines: &'static [&'static str],
    /// Indexes for words that driving needs. On SQLite, such an index is a table of its own.
    pub word_indexes: &'static [&'static str],
}

/// Space that nobody measured.
pub const UNMEASURED: ByDialect<&[u64]> = ByDialect { sqlite: &[], postgres: &[], mysql: &[] };

impl WorkloadScripts {
    pub const NONE: Self = {
        const NOTHING: ByDialect<&str> = ByDialect { sqlite: "", postgres: "", mysql: "" };
        Self {
            schema: NOTHING,
            finish: NOTHING,
            put_back: NOTHING,
            procedures: NOTHING,
            routines: &[],
            word_indexes: &[],
        }
    };
}

/// A workload's throughput figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThroughputMetric {
    pub name: &'static str,
    pub unit: &'static str,
    /// The figure is the number of counted transactions in this time.
    pub per_ms: u64,
}
