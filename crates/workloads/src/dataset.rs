//! What loading, checking and printing rows need of a workload; object-safe, never on the hot path.

use engines::admin::Admin;
use engines::rows::RowSink;
use engines::session::SessionError;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// One table of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: Cow<'static, str>,
    pub columns: &'static [&'static str],
    /// Columns that order the rows of a checksum scan; empty if the order does not matter.
    pub key: &'static [&'static str],
}

/// Part `index` of `count`: any split of a table into parts gives, concatenated, the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub index: u32,
    pub count: u32,
}

impl Part {
    /// The chunks of this part of a table: as even as whole chunks allow, and the parts together are all of them.
    pub fn chunks(self, chunks: u64) -> Range<u64> {
        let boundary = |index: u32| chunks * u64::from(index) / u64::from(self.count);
        boundary(self.index)..boundary(self.index + 1)
    }
}

/// Order-independent checksum of a table's rows and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Checksum {
    pub rows: u64,
    /// Sum modulo 2^64 of the XXH3 hashes of the rows in their text form, without blanks at the end of texts.
    pub sum: u64,
}

pub trait Dataset: Send + Sync {
    fn tables(&self) -> &[Table];
    /// Expected number of rows, for progress; exact where the workload fixes it.
    fn expected_rows(&self, table: &Table) -> u64;
    /// What the rows take with their indexes once they are loaded: measured on each engine, then rounded down by a tenth, so that nothing
    /// is refused that would fit. 0 if nobody knows.
    fn stored_bytes(&self, dialect: Dialect) -> u64;
    /// What the highest key of a table may be before it is driven, where the key is one column that counts the rows from 1:
    /// it tells at once whether a table is of the size that the settings say. 0 is that of a table without rows.
    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        Some(rows..=rows)
    }
    /// Puts the rows of one part of a table into the sink, some rows at each call; false after the last.
    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_>;
    /// Statements to run before loading (tables) and after it (keys, indexes).
    fn schema(&self, dialect: Dialect) -> String;
    fn finish(&self, dialect: Dialect) -> String;
    /// Statements that put back what those of `finish` changed of the server itself, if one of them failed.
    fn put_back(&self, _: Dialect) -> &'static str {
        ""
    }
    /// Runs what `finish` says. Whatever comes of it, the server itself is afterwards as it was.
    fn finish_over(&self, admin: &mut dyn Admin, dialect: Dialect) -> Result<(), SessionError> {
        let finished = admin.script(&self.finish(dialect));
        if finished.is_err() {
            // The first error is the one to tell.
            let _ = admin.script(self.put_back(dialect));
        }
        finished
    }
    /// Conditions on the data. Only a lost or refusing database is an error; a violation is a finding.
    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError>;
    /// Sums over the data that a run moves by known amounts, taken before and after it; see [`Dataset::reconcile`].
    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError>;
    /// Whether the data moved by what was acknowledged to clients. `whole_run` are totals from the first transaction
    /// after `before` was taken to the last before `after`, warm-up included.
    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[record::trial::KindTotals],
    ) -> Vec<CheckResult>;
    /// Conditions on what was executed in the measured window. At most `waiting` deferred transactions were queued at a
    /// time: that many may have been drawn in the window and executed after it, or drawn before and executed in it.
    fn audit(
        &self,
        kinds: &[record::trial::KindTotals],
        tally: &BTreeMap<String, u64>,
        waiting: u64,
    ) -> Vec<CheckResult>;
    /// How this differs from the published benchmark it is derived from; printed with every report.
    fn deviations(&self) -> Vec<Cow<'static, str>>;
    /// The notice of derivation and non-comparability.
    fn notice(&self) -> &'static str;
}

pub trait RowSource: Send {
    /// Writes up to a few hundred rows; returns false when there are no more.
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool;
}
