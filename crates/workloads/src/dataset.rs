//! What loading, checking and printing rows need from a workload; object-safe, never on the hot path.

use crate::condition::DataCheck;
use crate::entry::{WorkloadEntry, WorkloadScripts};
use crate::execution::Execution;
use crate::judgement::Judgement;
use crate::ledger::{Ledger, number};
use crate::sql::filled;
use crate::way::{self, Transactions};
use engines::admin::Admin;
use engines::rows::RowSink;
use engines::session::SessionError;
use engines::statement::{Dialect, Statement};
use record::check::{CheckResult, Moment};
use record::trial::KindTotals;
use settings::Problem;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

/// One table of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataTable {
    pub name: Cow<'static, str>,
    pub columns: &'static [&'static str],
    /// Columns that order the rows of a checksum scan; empty if order does not matter.
    pub key: &'static [&'static str],
}

/// Makes the list `TABLES` of tables that are written `name [key] { columns }`, with their columns in the order in which rows are
/// made.
macro_rules! tables {
    ($($table:ident [$($key:ident),*] { $($column:ident),+ $(,)? })+) => {
        pub const TABLES: &[$crate::dataset::DataTable] = &[$($crate::dataset::DataTable {
            name: std::borrow::Cow::Borrowed(stringify!($table)),
            columns: &[$(stringify!($column)),+],
            key: &[$(stringify!($key)),*],
        }),+];
    };
}
pub(crate) use tables;

/// Part `index` of `count`: whatever the number of parts, they give the same rows when concatenated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePart {
    pub index: u32,
    pub count: u32,
}

impl TablePart {
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
pub enum NeededObject {
    Procedure(&'static str),
    /// On SQLite, an index for words is a table of its own.
    Index(&'static str),
}

/// The data of a workload. The functions without a body compute; the others follow from them and from the workload's
/// [entry](WorkloadEntry), unless its settings decide more.
pub trait Dataset: Send + Sync {
    fn entry(&self) -> &'static WorkloadEntry;
    fn tables(&self) -> &[DataTable];
    /// Expected number of rows, for progress; exact where the workload fixes it.
    fn expected_rows(&self, table: &DataTable) -> u64;
    /// Puts the rows of one part of a table into the sink, some rows at each call.
    fn rows(&self, table: &str, part: TablePart) -> Box<dyn RowSource + '_>;
    /// Conditions on the data. Only a database that is lost or refuses is an error; a violation is a judgement.
    fn judge_data(&self, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError>;
    /// Whether the data changed by what was acknowledged to clients.
    fn judge_ledger(&self, ledger: &Ledger<'_>) -> Vec<Judgement>;
    /// Conditions on what was executed in the measured window.
    fn judge_window(&self, execution: &Execution<'_>) -> Vec<Judgement>;

    /// Queries for sums over the data that a run changes by known amounts.
    fn sums(&self) -> &[Statement] {
        &[]
    }
    /// How many there are of each thing whose size the entry has.
    fn measured(&self) -> Vec<u64> {
        Vec::new()
    }
    /// Words of scripts, and the values that the settings give them.
    fn words(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Scripts that follow those of the entry.
    fn more_scripts(&self) -> WorkloadScripts {
        WorkloadScripts::NONE
    }
    /// Where transactions are executed.
    fn place_of_transactions(&self) -> Transactions {
        Transactions::Client
    }
    /// The range of a table's highest key before it is driven, if the key is one column that counts the rows from 1.
    /// It shows at once whether a table has the size that the settings give. A table without rows has 0.
    fn highest_keys(&self, table: &DataTable) -> Option<RangeInclusive<u64>> {
        let rows = (table.key.len() == 1).then(|| self.expected_rows(table))?;
        Some(rows..=rows)
    }
    /// Asks for the highest key that loading made, if others that are higher may have been added since.
    fn highest_key_query(&self, _: &DataTable) -> Option<&'static str> {
        None
    }
    /// Tables that the workload has with other settings only. If a database has one of them, it was loaded by those.
    fn tables_of_other_settings(&self) -> &'static [&'static str] {
        &[]
    }
    /// How it differs from what it is derived from.
    fn deviations(&self) -> Vec<Cow<'static, str>> {
        self.entry().deviations.iter().copied().map(Cow::Borrowed).collect()
    }
    /// Space that the loaded rows take with their indexes, as it was measured, less a tenth, so that no study that would fit
    /// is refused. 0 if unknown.
    fn stored_bytes(&self, dialect: Dialect) -> u64 {
        let Some((shared, each)) = self.entry().stored.of(dialect).split_first() else { return 0 };
        let bytes: u64 = self.measured().iter().zip(each).map(|(count, bytes)| count * bytes).sum();
        (shared + bytes) / 10 * 9
    }
    /// Settings that a database of this dialect cannot carry out.
    fn check_dialect(&self, dialect: Dialect) -> Result<(), Vec<Problem>> {
        way::check_dialect(self.place_of_transactions(), dialect)
    }
    /// Objects beside tables that driving needs in the database; `finish` makes them.
    fn needed(&self) -> Vec<NeededObject> {
        let WorkloadScripts { word_indexes, routines, .. } = self.entry().scripts;
        let routines = if self.place_of_transactions() == Transactions::Procedures { routines } else { &[] };
        let routines = routines.iter().copied().map(NeededObject::Procedure);
        word_indexes.iter().copied().map(NeededObject::Index).chain(routines).collect()
    }
    /// Statements to run before loading: tables. Those of `finish` run after it: keys and indexes.
    fn schema(&self, dialect: Dialect) -> String {
        let script = [self.entry().scripts, self.more_scripts()].map(|scripts| *scripts.schema.of(dialect)).concat();
        with_words(&script, &self.words())
    }
    fn finish(&self, dialect: Dialect) -> String {
        let script = [self.entry().scripts, self.more_scripts()].map(|scripts| *scripts.finish.of(dialect)).concat();
        let procedures = match self.place_of_transactions() {
            Transactions::Client => "",
            Transactions::Procedures => self.entry().scripts.procedures.of(dialect),
        };
        with_words(&script, &self.words()) + procedures
    }
    /// Runs the statements of `finish`. Whether they fail or not, the server itself is as it was afterwards.
    fn finish_over(&self, admin: &mut dyn Admin, dialect: Dialect) -> Result<(), SessionError> {
        let finished = admin.script(&self.finish(dialect));
        if finished.is_err() {
            // The first error is the one to report.
            let _ = admin.script(self.entry().scripts.put_back.of(dialect));
        }
        finished
    }
    fn check(&self, admin: &mut dyn Admin, dialect: Dialect, moment: Moment) -> Result<Vec<CheckResult>, SessionError> {
        let judged = self.judge_data(&mut DataCheck { admin, dialect, moment })?;
        Ok(findings(self.entry(), judged, moment))
    }
    /// The sums by their names, taken before a run and after it; see [`Dataset::reconcile`].
    fn state(&self, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
        self.sums().iter().map(|sum| Ok((sum.name.to_owned(), number(admin, &sum.sql)?))).collect()
    }
    /// Whether the data changed by what was acknowledged to clients. `whole_run` holds the totals of all transactions
    /// between the two states, warm-up included.
    fn reconcile(
        &self,
        before: &BTreeMap<String, i64>,
        after: &BTreeMap<String, i64>,
        whole_run: &[KindTotals],
    ) -> Vec<CheckResult> {
        let judged = self.judge_ledger(&Ledger { before, after, whole_run });
        findings(self.entry(), judged, Moment::AfterTrial)
    }
    /// Conditions on what was executed in the measured window. At most `waiting` deferred transactions were queued at
    /// a time. That many may have been drawn in the window and executed after it, or drawn before and executed in it.
    fn audit(&self, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<CheckResult> {
        let judged = self.judge_window(&Execution { kinds, tally, waiting });
        findings(self.entry(), judged, Moment::AfterTrial)
    }
}

pub(crate) fn findings(entry: &WorkloadEntry, judged: Vec<Judgement>, moment: Moment) -> Vec<CheckResult> {
    judged.into_iter().map(|judgement| judgement.into_finding(entry.kind, moment)).collect()
}

fn with_words(script: &str, words: &[(&str, String)]) -> String {
    filled(script, &words.iter().map(|(word, value)| (*word, value.as_str())).collect::<Vec<_>>())
}

pub trait RowSource: Send {
    /// Writes up to a few hundred rows; returns false when there are no more.
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool;
}
