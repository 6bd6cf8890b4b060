//! Conditions on the data, on what was acknowledged, and on what was executed. After loading, they also cover where the rows lie,
//! from the database's own catalogue.

use super::Slob;
use super::inputs::SlobOperation;
use super::rows::{TablePurpose, name, rows_of};
use super::settings::SlobSettings;
use super::transactions::SlobCounter;
use crate::condition::DataCheck;
use crate::execution::Execution;
use crate::judgement::{Judgement, judgement, none_of};
use crate::ledger::{Ledger, number};
use crate::share::AllowedShare;
use crate::sql::{self, SqlError};
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::session::SessionError;
use engines::statement::{ByDialect, Dialect, Statement};
use record::check::Verdict;
use std::collections::BTreeMap;

/// Limit of pairs of rows that are neighbours by place and by key. A random order has two on average, whatever the
/// number of rows, and exceeds this less than once in ten million times.
const NEIGHBOURS_MAX: i64 = 14;
/// A tree of `InnoDB` has at least this many rows in each page.
const INNODB_ROWS: i64 = 2;
/// `InnoDB`'s statistics put a handful of rows into one page, whatever their size; from this number on, they are used.
const INNODB_TELLS_FROM: i64 = 1_000;
const NO_ANSWER: &str = "the database gave no answer";

/// The sum over all rows: every update adds one to each of its rows.
const CHANGES: &str = "changes";
const PERCENT: f64 = 100.0;

/// Queries about one table; `{table}` stands for it.
#[derive(Debug)]
pub struct SlobQueries {
    pub keys: Statement,
    pub text: Statement,
    pub changes: Statement,
    pub places: ByDialect<Places>,
}

/// Queries about where the rows of a table lie.
#[derive(Debug)]
pub struct Places {
    pub pages: Statement,
    pub neighbours: Statement,
}

impl SlobQueries {
    pub fn read() -> Result<Self, SqlError> {
        let [keys, text, changes] = all(["keys", "text", "changes"], include_str!("sql/checks.sql"))?;
        let places = sql::files!("sql/places").try_map(|file| {
            let [pages, neighbours] = all(["pages", "neighbours"], file)?;
            Ok::<_, SqlError>(Places { pages, neighbours })
        })?;
        Ok(Self { keys, text, changes, places })
    }
}

fn all<const COUNT: usize>(names: [&'static str; COUNT], file: &'static str) -> Result<[Statement; COUNT], SqlError> {
    let found = sql::statements(&names, file, "")?;
    // There are as many as names, or the error above has said which is missing.
    found.try_into().map_err(|_| SqlError::Missing(names[0]))
}

/// A query for one table, whose name replaces `{table}`.
pub fn about(statement: &Statement, table: &str) -> String {
    sql::filled(&statement.sql, &[("{table}", table)])
}

pub fn judge_data(workload: &Slob, check: &mut DataCheck<'_>) -> Result<Vec<Judgement>, SessionError> {
    let (settings, queries) = (&workload.settings, &workload.queries);
    let texts = sql::of_characters(&queries.text, check.dialect);
    let rule = "Every table has every key from 1 to its number of rows once.";
    let mut judged = vec![of_each(settings, check, ("keys", rule), &queries.keys, keys)?];
    let rule = "Every column of text has its 128 letters in every row.";
    judged.push(of_each(settings, check, ("text", rule), &texts, text)?);
    if check.is_after_load() {
        let places = queries.places.of(check.dialect);
        let (named, judge): (_, Judge) = match check.dialect {
            Dialect::Sqlite | Dialect::Postgres => {
                (("one-row-per-page", "Every row has a page of its own."), one_row_per_page)
            }
            Dialect::Mysql => (
                ("two-rows-per-page", "No more rows share a page than the two that InnoDB puts into each."),
                two_rows_per_page,
            ),
        };
        judged.push(of_each(settings, check, named, &places.pages, judge)?);
        let rule = "Rows lie in random order: neighbours by key are in pages far apart.";
        judged.push(of_each(settings, check, ("scattered", rule), &places.neighbours, scattered)?);
    }
    Ok(judged)
}

/// From a query's numbers and the table's number of rows: what was seen, or as an error what is wrong.
type Judge = fn(&[i64], i64) -> Result<String, String>;

/// Asks about every table. Says what is wrong with those that violate the rule, or else what was seen of the first.
fn of_each(
    settings: &SlobSettings,
    check: &mut DataCheck<'_>,
    (condition, rule): (&str, &str),
    query: &Statement,
    judge: Judge,
) -> Result<Judgement, SessionError> {
    let (mut seen, mut wrong) = (None, Vec::new());
    for purpose in [TablePurpose::Ranges, TablePurpose::Scans] {
        for table in (1..=settings.schemas).map(|schema| name(schema, purpose)) {
            let numbers = numbers(check.admin, &about(query, &table))?;
            match judge(&numbers, i64::from(rows_of(settings, purpose))) {
                Ok(text) => seen = seen.or(Some(format!("{table}: {text}"))),
                Err(text) => wrong.push(format!("{table}: {text}")),
            }
        }
    }
    let verdict = if wrong.is_empty() { Verdict::Holds { seen } } else { none_of(&wrong) };
    Ok(judgement(condition, rule, verdict))
}

/// The numbers of a query's single row. A null, such as the highest key of no rows, counts as 0.
fn numbers(admin: &mut dyn Admin, query: &str) -> Result<Vec<i64>, SessionError> {
    let mut found = Ok(Vec::new());
    admin.ask(query, ReplyLimit::WORK, &mut |set, row| {
        let number = |column| if set.is_null(row, column) { Ok(0) } else { set.integer(row, column) };
        found = (0..set.columns()).map(number).collect();
    })?;
    found
}

fn keys(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [found, lowest, highest, different] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    if (found, lowest, highest, different) == (rows, 1, rows, rows) {
        return Ok(format!("{rows} rows"));
    }
    Err(format!("{found} rows with {different} keys from {lowest} to {highest} instead of {rows}"))
}

fn text(numbers: &[i64], _: i64) -> Result<String, String> {
    match *numbers {
        [0] => Ok("all rows".to_owned()),
        [short] => Err(format!("{short} rows with text of another length")),
        _ => Err(NO_ANSWER.to_owned()),
    }
}

/// If several sessions extend a table at the same time, PostgreSQL adds more pages than they need; those that stay
/// empty hold no row.
fn one_row_per_page(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [pages, fullest] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{rows} rows in {pages} pages, at most {fullest} in one");
    if fullest == 1 && pages >= rows { Ok(seen) } else { Err(seen) }
}

/// `InnoDB` gives the number of pages, not the rows in each, so this judges the average page.
fn two_rows_per_page(numbers: &[i64], rows: i64) -> Result<String, String> {
    let [pages, average] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{rows} rows in {pages} pages, {average} in each");
    if rows < INNODB_TELLS_FROM {
        return Ok(format!("{rows} rows are too few for InnoDB's statistics"));
    }
    if average <= INNODB_ROWS { Ok(seen) } else { Err(seen) }
}

fn scattered(numbers: &[i64], _: i64) -> Result<String, String> {
    let [neighbours] = *numbers else { return Err(NO_ANSWER.to_owned()) };
    let seen = format!("{neighbours} rows lie beside the row of the next key");
    if neighbours <= NEIGHBOURS_MAX { Ok(seen) } else { Err(format!("{seen}, at most {NEIGHBOURS_MAX} allowed")) }
}

pub fn state(workload: &Slob, admin: &mut dyn Admin) -> Result<BTreeMap<String, i64>, SessionError> {
    let mut changes = 0;
    for schema in 1..=workload.settings.schemas {
        changes += number(admin, &about(&workload.queries.changes, &name(schema, TablePurpose::Ranges)))?;
    }
    Ok(BTreeMap::from([(CHANGES.to_owned(), changes)]))
}

pub fn judge_ledger(settings: &SlobSettings, ledger: &Ledger<'_>) -> Vec<Judgement> {
    let updated = ledger.acknowledged(SlobOperation::Update.name(), i64::from(settings.rows_per_range()));
    let rule = "Rows were changed as often as acknowledged updates went through them.";
    vec![ledger.grew("acknowledged-updates", rule, CHANGES, &updated)]
}

pub fn judge_window(settings: &SlobSettings, execution: &Execution<'_>) -> Vec<Judgement> {
    let executed = SlobWindow(execution);
    let mut judged = widths(settings, &executed);
    judged.extend(quotas(settings, &executed));
    judged.extend(shares(settings, &executed));
    if settings.do_hotspot {
        judged.push(hot_spot_inside(&executed));
    }
    judged
}

struct SlobWindow<'a>(&'a Execution<'a>);

impl SlobWindow<'_> {
    fn operations(&self, operation: SlobOperation) -> u64 {
        self.0.totals(operation.name()).map_or(0, |totals| totals.committed)
    }

    fn counted(&self, counter: SlobCounter) -> u64 {
        self.0.counted(counter.name())
    }
}

/// Every operation went through exactly its number of rows.
fn widths(settings: &SlobSettings, executed: &SlobWindow<'_>) -> Vec<Judgement> {
    let range = u64::from(settings.rows_per_range());
    let scan = u64::from(settings.scan_table_sz);
    [
        (
            "rows-per-read",
            "Every read finds work_unit - 1 rows.",
            (SlobOperation::Read, SlobCounter::BlocksRead, range),
        ),
        (
            "rows-per-update",
            "Every update changes work_unit - 1 rows.",
            (SlobOperation::Update, SlobCounter::BlocksUpdated, range),
        ),
        (
            "rows-per-scan",
            "Every scan finds all rows of its table.",
            (SlobOperation::Scan, SlobCounter::BlocksScanned, scan),
        ),
    ]
    .into_iter()
    .map(|(name, rule, (operation, counter, each))| {
        let (operations, rows) = (executed.operations(operation), executed.counted(counter));
        let seen = format!("{rows} rows in {operations} operations of {each}");
        judgement(name, rule, exact(rows, operations * each, operations, seen))
    })
    .collect()
}

/// Every hundred that a client completed had exactly its share.
fn quotas(settings: &SlobSettings, executed: &SlobWindow<'_>) -> Vec<Judgement> {
    [
        (
            "update-quota",
            "Of every hundred operations of a client, update_pct are updates.",
            (SlobCounter::UpdatesInHundreds, SlobCounter::Hundreds, settings.update_pct),
        ),
        (
            "scan-quota",
            "Of every hundred selects of a client, scan_pct are scans.",
            (SlobCounter::ScansInHundreds, SlobCounter::HundredsOfSelects, settings.scan_pct),
        ),
    ]
    .into_iter()
    .map(|(name, rule, (counter, hundreds, quota))| {
        let (found, hundreds) = (executed.counted(counter), executed.counted(hundreds));
        let seen = format!("{found} in {hundreds} hundreds, {quota} in each");
        judgement(name, rule, exact(found, hundreds * u64::from(quota), hundreds, seen))
    })
    .collect()
}

fn exact(found: u64, expected: u64, of: u64, seen: String) -> Verdict {
    match of {
        0 => Verdict::Undecided { why: "there were none".to_owned() },
        _ if found == expected => Verdict::Holds { seen: Some(seen) },
        _ => Verdict::Violated { seen: format!("{seen}: {expected} expected") },
    }
}

/// Shares of everything executed. The window cuts hundreds and rhythms at its ends, so chance is allowed for.
fn shares(settings: &SlobSettings, executed: &SlobWindow<'_>) -> Vec<Judgement> {
    let [reads, updates, scans] = [SlobOperation::Read, SlobOperation::Update, SlobOperation::Scan]
        .map(|operation| executed.operations(operation));
    let all = reads + updates + scans;
    let update_share = AllowedShare::exactly(f64::from(settings.update_pct) / PERCENT);
    let rule = "update_pct per cent of the operations are updates.";
    let mut judged = vec![judgement("update-share", rule, update_share.judge(updates, all))];
    let scan_share = AllowedShare::exactly(f64::from(settings.scan_pct) / PERCENT);
    let rule = "scan_pct per cent of the selects are scans.";
    judged.push(judgement("scan-share", rule, scan_share.judge(scans, reads + scans)));
    if settings.do_hotspot {
        let hot = AllowedShare::exactly(1.0 / settings.hotspot_frequency as f64);
        let rule = "One read or update in hotspot_frequency goes to the hot spot.";
        let verdict = hot.judge(executed.counted(SlobCounter::HotSpotOperations), reads + updates);
        judged.push(judgement("hot-spot-share", rule, verdict));
    }
    if settings.hot_schema_frequency > 0 {
        let hot = AllowedShare::exactly(1.0 / settings.hot_schema_frequency as f64);
        let rule = "One operation in hot_schema_frequency goes to the first schema.";
        let verdict = hot.judge(executed.counted(SlobCounter::HotSchemaOperations), all);
        judged.push(judgement("hot-schema-share", rule, verdict));
    }
    if settings.think_tm_frequency > 0 {
        let thoughtful = AllowedShare::exactly(1.0 / settings.think_tm_frequency as f64);
        let rule = "One operation in think_tm_frequency is followed by a pause.";
        judged.push(judgement("think-share", rule, thoughtful.judge(executed.counted(SlobCounter::Thoughts), all)));
    }
    judged
}

fn hot_spot_inside(executed: &SlobWindow<'_>) -> Judgement {
    let (inside, hot) =
        (executed.counted(SlobCounter::HotSpotInside), executed.counted(SlobCounter::HotSpotOperations));
    let rule = "Operations for the hot spot stay within it.";
    judgement("hot-spot-inside", rule, exact(inside, hot, hot, format!("{inside} of {hot} inside")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::trial::KindTotals;
    use serde_json::json;

    fn settings() -> SlobSettings {
        let table = json!({
            "update_pct": 20, "scan_pct": 10, "do_hotspot": true, "hotspot_frequency": 4, "hot_schema_frequency": 5,
            "schemas": 2, "think_tm_frequency": 10, "work_unit": 11, "scan_table_sz": 50,
        });
        ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap()
    }

    const RIGHT: [u64; 3] = [72_000, 20_000, 8_000];
    const TALLY: [(SlobCounter, u64); 11] = [
        (SlobCounter::BlocksRead, 720_000),
        (SlobCounter::BlocksUpdated, 200_000),
        (SlobCounter::BlocksScanned, 400_000),
        (SlobCounter::Hundreds, 990),
        (SlobCounter::UpdatesInHundreds, 19_800),
        (SlobCounter::HundredsOfSelects, 790),
        (SlobCounter::ScansInHundreds, 7_900),
        (SlobCounter::HotSpotOperations, 23_000),
        (SlobCounter::HotSpotInside, 23_000),
        (SlobCounter::HotSchemaOperations, 20_000),
        (SlobCounter::Thoughts, 10_000),
    ];

    fn judged(counts: [u64; 3], tally: &[(SlobCounter, u64)]) -> Vec<Judgement> {
        let of =
            |(kind, committed): (&&str, _)| KindTotals { kind: (*kind).to_owned(), committed, ..KindTotals::default() };
        let kinds: Vec<KindTotals> = SlobOperation::NAMES.iter().zip(counts).map(of).collect();
        let tally = tally.iter().map(|(counter, value)| (counter.name().to_owned(), *value)).collect();
        judge_window(&settings(), &Execution { kinds: &kinds, tally: &tally, waiting: 0 })
    }

    fn violated(counts: [u64; 3], tally: &[(SlobCounter, u64)]) -> Vec<String> {
        let violated = judged(counts, tally).into_iter().filter(Judgement::is_violated);
        violated.map(|finding| finding.name).collect()
    }

    #[test]
    fn what_is_right_passes() {
        let findings = judged(RIGHT, &TALLY);
        assert_eq!(findings.len(), 11);
        assert!(findings.iter().all(|finding| matches!(finding.verdict, Verdict::Holds { .. })), "{findings:#?}");
    }

    #[test]
    fn every_rule_can_be_violated() {
        for (counter, value, name) in [
            (SlobCounter::BlocksRead, 719_999, "rows-per-read"),
            (SlobCounter::BlocksUpdated, 200_001, "rows-per-update"),
            (SlobCounter::BlocksScanned, 399_950, "rows-per-scan"),
            (SlobCounter::UpdatesInHundreds, 19_801, "update-quota"),
            (SlobCounter::ScansInHundreds, 7_899, "scan-quota"),
            (SlobCounter::HotSpotInside, 22_999, "hot-spot-inside"),
            (SlobCounter::HotSchemaOperations, 21_000, "hot-schema-share"),
            (SlobCounter::Thoughts, 9_000, "think-share"),
        ] {
            let mut tally = TALLY;
            tally.iter_mut().find(|(known, _)| *known == counter).unwrap().1 = value;
            assert_eq!(violated(RIGHT, &tally), [name], "{counter:?} {value}");
        }
        let hot = [(SlobCounter::HotSpotOperations, 25_000), (SlobCounter::HotSpotInside, 25_000)];
        let tally: Vec<_> = TALLY.into_iter().filter(|(known, _)| hot.iter().all(|(hot, _)| hot != known)).collect();
        assert_eq!(violated(RIGHT, &[tally.as_slice(), &hot].concat()), ["hot-spot-share"]);
        let mut tally = TALLY;
        (tally[0].1, tally[1].1) = (700_000, 220_000);
        assert_eq!(violated([70_000, 22_000, 8_000], &tally), ["update-share"]);
        let mut tally = TALLY;
        (tally[0].1, tally[2].1) = (710_000, 450_000);
        assert_eq!(violated([71_000, 20_000, 9_000], &tally), ["scan-share"]);
    }

    #[test]
    fn nothing_is_decided_from_nothing() {
        let undecided = |finding: &Judgement| matches!(finding.verdict, Verdict::Undecided { .. });
        assert!(judged([0; 3], &[]).iter().all(undecided));
    }

    fn agrees(moved: i64, committed: u64, failed: u64) -> bool {
        let table = json!({ "work_unit": 11 });
        let settings = ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap();
        let sum = |changes: i64| BTreeMap::from([(CHANGES.to_owned(), changes)]);
        let totals =
            |kind: &str, committed| KindTotals { kind: kind.to_owned(), committed, failed, ..KindTotals::default() };
        let run = [totals("read", 1_000), totals("update", committed)];
        let ledger = Ledger { before: &sum(7), after: &sum(7 + moved), whole_run: &run };
        !judge_ledger(&settings, &ledger)[0].is_violated()
    }

    #[test]
    fn as_many_changes_as_were_acknowledged() {
        assert!(agrees(200, 20, 0));
        assert!(!agrees(199, 20, 0), "one was lost");
        assert!(!agrees(210, 20, 0), "one was made twice");
        assert!(agrees(210, 20, 1) && agrees(200, 20, 1), "one may or may not have been made");
    }

    #[test]
    fn a_page_of_its_own_may_have_empty_pages_beside_it() {
        assert_eq!(one_row_per_page(&[128, 1], 128).unwrap(), "128 rows in 128 pages, at most 1 in one");
        assert!(one_row_per_page(&[130, 1], 128).is_ok());
        assert!(one_row_per_page(&[128, 2], 128).is_err());
        assert!(one_row_per_page(&[127, 1], 128).is_err());
    }

    #[test]
    fn checks_are_written_for_every_dialect() {
        let checks = SlobQueries::read().unwrap();
        assert!(about(&checks.places.sqlite.pages, "slob1").contains("name = 'slob1'"));
        assert!(about(&checks.places.postgres.neighbours, "slob3").contains("FROM slob3)"));
    }
}
