//! What loading, checking and printing rows need from a workload; object-safe, never on the hot path.

use engines::admin::Admin;
use engines::rows::RowSink;
use engines::session::SessionError;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment};
use settings::Problem;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// One table of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: Cow<'static, str>,
    pub columns: &'static [&'static str],
    /// Columns that order the rows of a checksum scan; empty if order does not matter.
    pub key: &'static [&'static str],
}

/// Part `index` of `count`: whatever the number of parts, they give the same rows when concatenated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub index: u32,
    pub count: u32,
}

impl Part {
    /// The chunks of this part of a table. Parts differ by at most one chunk, and together they cover all chunks.
    pub fn chunks(self, chunks: u64) -> Range<u64> {
        let boundary = |index: u32| chunks * u64::from(index) / u64::from(self.count);
        boundary(self.index)..boundary(self.index + 1)
    }
}

/// Order-independent checksum of a table's rows and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Checksum {
    pub rows: u64,
    /// Sum modulo 2^64 of the XXH3 hashes of the rows in their text form, without trailing blanks of texts.
    pub sum: u64,
}

/// Something in a database that is no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    Procedure(&'static str),
    /// On SQLite, an index for words is a table of its own.
    Index(&'static str),
}

pub trait Dataset: Send + Sync {
    fn tables(&self) -> &[Table];
    /// Expected number of rows, for progress; exact where the workload fixes it.
    fn expected_rows(&self, table: &Table) -> u64;
    /// Space that the loaded rows take with their indexes: measured on each engine, then rounded down by a tenth, so
    /// that no study that would fit is refused. 0 if unknown.
    fn stored_bytes(&self, dialect: Dialect) -> u64;
    /// The range of a table's highest key before it is driven, if the key is one column that counts the rows from 1.
    /// It shows at once whether a table has the size that the settings give. A table without rows has 0.
    fn highest_keys(&self, table: &Table) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        Some(rows..=rows)
    }
    /// Asks for the highest key that loading made, if others that are higher may have been added since.
    fn highest_key_query(&self, _: &Table) -> Option<&'static str> {
        None
    }
    /// Puts the rows of one part of a table into the sink, some rows at each call.
    fn rows(&self, table: &str, part: Part) -> Box<dyn RowSource + '_>;
    /// What in its table a database of this dialect cannot do.
    fn check_dialect(&self, _: Dialect) -> Result<(), Vec<Problem>> {
        Ok(())
    }
    /// What driving needs in the database beside tables; `finish` makes it.
    fn needed(&self) -> Vec<Needed> {
        Vec::new()
    }
    /// Tables that the workload has with other settings only. If a database has one of them, it was loaded by those.
    fn tables_of_other_settings(&self) -> &'static [&'static str] {
        &[]
    }
    /// Statements to run before loading: tables. Those of `finish` run after it: keys and indexes.
    fn schema(&self, dialect: Dialect) -> String;
    fn finish(&self, dialect: Dialect) -> String;
    /// Statements that undo what `finish` changed in the server itself, if one of its statements failed.
    fn put_back(&self, _: Dialect) -> &'static str {
        ""
    }
    /// Runs the statements of `finish`. Whether they fail or not, the server itself is as it was afterwards.
    fn finish_over(&self, admin: &mut dyn Admin, dialect: Dialect) -> Result<(), SessionError> {
        let finished = admin.script(&self.finish(dialect));
        if finished.is_err() {
            // The first error is the one to report.
            let _ = admin.script(self.put_back(dialect));
        }
        finished
    }
    /// Conditions on the data. Only a database that is lost or refuses is an error; a violation is a finding.
    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError>;
    /// Sums over the data that a run changes by known amounts, taken before and after it; see [`Dataset::reconcile`].
    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError>;
    /// Whether the data changed by what was acknowledged to clients. `whole_run` holds the totals of all transactions
    /// between the two states, warm-up included.
    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[record::trial::KindTotals],
    ) -> Vec<CheckResult>;
    /// Conditions on what was executed in the measured window. At most `waiting` deferred transactions were queued at
    /// a time. That many may have been drawn in the window and executed after it, or drawn before and executed in it.
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
