//! The three operations, each one statement that is a transaction by itself.
//!
//! Every answer is compared with the number of rows of the range. A row too few or too many is an error that names
//! the statement, so no operation silently does less.

use super::Slob;
use super::inputs::{SlobClient, SlobInput, SlobOperation};
use super::rows::{COLUMNS, FILLER, LETTERS, TablePurpose, name};
use super::settings::{RedoStress, SlobSettings};
use crate::effects::{Effects, Tally};
use crate::random::RandomStream;
use crate::sql::{self, SqlError};
use crate::workload::{Ending, Pause, TransactionKind, User, Workload};
use engines::session::{Param, Session, SessionError};
use engines::statement::{Dialect, Statement, StatementId};
use std::time::Duration;

/// All of them are counted.
const KINDS: [TransactionKind; SlobOperation::NAMES.len()] =
    TransactionKind::all(SlobOperation::NAMES, SlobOperation::NAMES.len());

settings::names! {
    /// The counters. A block is a row, which has a page of its own.
    pub enum SlobCounter {
        BlocksRead => "blocks_read",
        BlocksScanned => "blocks_scanned",
        BlocksUpdated => "blocks_updated",
        Hundreds => "audit.hundreds",
        UpdatesInHundreds => "audit.updates_in_hundreds",
        HundredsOfSelects => "audit.hundreds_of_selects",
        ScansInHundreds => "audit.scans_in_hundreds",
        HotSpotOperations => "hot_spot_operations",
        HotSpotInside => "hot_spot_inside",
        HotSchemaOperations => "hot_schema_operations",
        Thoughts => "thoughts",
    }
}

const OPERATIONS: &str = include_str!("sql/operations.sql");

const NAMES: &[&str] = &["read", "update-lite", "update-heavy", "scan"];

impl SlobOperation {
    /// Its statement in a schema; schemas are counted from 0.
    fn id(self, schema: u32) -> StatementId {
        const PER_SCHEMA: u16 = SlobOperation::Scan as u16 + 1;
        // There are at most some hundred schemas.
        StatementId(u16::try_from(schema).unwrap_or(u16::MAX) * PER_SCHEMA + self as u16)
    }
}

/// The statements to prepare for the operations: schema after schema, in the order of [`SlobOperation`].
pub fn statements(settings: &SlobSettings) -> Result<Vec<Statement>, SqlError> {
    let found = sql::statements(NAMES, OPERATIONS, "")?;
    let update = match settings.redo_stress {
        RedoStress::Lite => 1,
        RedoStress::Heavy => 2,
    };
    let chosen = [(SlobOperation::Read, 0_usize), (SlobOperation::Update, update), (SlobOperation::Scan, 3)];
    let of_schema = |schema| {
        chosen.map(|(operation, index)| {
            let (ranges, scans) = (name(schema, TablePurpose::Ranges), name(schema, TablePurpose::Scans));
            let text = sql::filled(&found[index].sql, &[("{table}", &ranges), ("{scan_table}", &scans)]);
            Statement { name: operation.name(), sql: text }
        })
    };
    Ok((1..=settings.schemas).flat_map(of_schema).collect())
}

/// Digits that make one update's text differ from another's, so that no engine can skip the update as unchanged.
const STAMP_DIGITS: usize = 9;
const STAMPS: u64 = 1_000_000_000;
/// The first and the last key of a range come after the texts.
const PARAMS_MAX: usize = COLUMNS + 2;

impl Workload for Slob {
    type Input = SlobInput;
    type Client = SlobClient;

    const COUNTERS: &'static [&'static str] = SlobCounter::NAMES;

    fn kinds(&self) -> &'static [TransactionKind] {
        &KINDS
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        self.statements.clone()
    }

    fn client(&self, user: User) -> SlobClient {
        SlobClient::new(&self.settings, user.seed, user.index)
    }

    fn next(&self, client: &mut SlobClient) -> Option<SlobInput> {
        Some(client.next(&self.settings))
    }

    fn kind(&self, input: &SlobInput) -> u16 {
        input.operation as u16
    }

    fn pause(&self, _: &mut SlobClient, input: &SlobInput, _: bool) -> Pause {
        Pause { keying: Duration::ZERO, thinking: input.thought }
    }

    async fn run<S: Session>(
        &self,
        session: &mut S,
        input: &SlobInput,
        effects: &mut Effects<'_, SlobInput>,
    ) -> Result<Ending, SessionError> {
        let (settings, tally) = (&self.settings, &mut effects.tally);
        let rows = i64::from(settings.rows_per_range());
        let (first, last) = (i64::from(input.first), i64::from(input.first) + rows - 1);
        let (counter, rows) = match input.operation {
            SlobOperation::Read => {
                let range = [Param::Integer(first), Param::Integer(last)];
                select(session, SlobOperation::Read, input.schema, &range, rows).await?;
                (SlobCounter::BlocksRead, rows)
            }
            SlobOperation::Update => {
                update(settings, session, input, (first, last)).await?;
                (SlobCounter::BlocksUpdated, rows)
            }
            SlobOperation::Scan => {
                let rows = i64::from(settings.scan_table_sz);
                select(session, SlobOperation::Scan, input.schema, &[], rows).await?;
                (SlobCounter::BlocksScanned, rows)
            }
        };
        count(tally, counter, rows.unsigned_abs());
        testify(settings, input, tally);
        Ok(Ending::Committed)
    }
}

fn count(tally: &mut Tally, counter: SlobCounter, amount: u64) {
    tally.add(counter as usize, amount);
}

async fn select<S: Session>(
    session: &mut S,
    operation: SlobOperation,
    schema: u32,
    params: &[Param<'_>],
    rows: i64,
) -> Result<(), SessionError> {
    let set = session.execute(operation.id(schema), params).await?;
    let found = if set.rows() == 1 { set.integer(0, 0)? } else { return Err(unexpected(operation, schema, 0, rows)) };
    if found == rows { Ok(()) } else { Err(unexpected(operation, schema, found, rows)) }
}

async fn update<S: Session>(
    settings: &SlobSettings,
    session: &mut S,
    input: &SlobInput,
    (first, last): (i64, i64),
) -> Result<(), SessionError> {
    let texts = UpdateTexts::draw(settings, input.text);
    let mut params = [Param::Null; PARAMS_MAX];
    let columns = texts.columns;
    for (param, column) in params.iter_mut().zip(0..columns) {
        *param = Param::Text(texts.of(column));
    }
    params[columns] = Param::Integer(first);
    params[columns + 1] = Param::Integer(last);
    let changed = session.execute(SlobOperation::Update.id(input.schema), &params[..columns + 2]).await?.changed();
    let (changed, rows) = (i64::try_from(changed).unwrap_or(i64::MAX), last - first + 1);
    if changed == rows { Ok(()) } else { Err(unexpected(SlobOperation::Update, input.schema, changed, rows)) }
}

/// What an update writes into its columns: a stamp and filler, the same in all, or random text for each column.
struct UpdateTexts {
    letters: [[u8; LETTERS]; COLUMNS],
    columns: usize,
    random: bool,
}

impl UpdateTexts {
    fn draw(settings: &SlobSettings, text: u64) -> Self {
        let columns = match settings.redo_stress {
            RedoStress::Lite => 2,
            RedoStress::Heavy => COLUMNS,
        };
        let random = settings.obfuscate_columns;
        let mut texts = Self { letters: [[FILLER; LETTERS]; COLUMNS], columns, random };
        if random {
            let mut stream = RandomStream::new(text, "slob update", [0, 0]);
            for letters in &mut texts.letters[..columns] {
                stream.alphanumeric(letters);
            }
        } else {
            stamp(&mut texts.letters[0][..STAMP_DIGITS], text % STAMPS);
        }
        texts
    }

    fn of(&self, column: usize) -> &str {
        let letters = &self.letters[if self.random { column } else { 0 }];
        // It only ever contains ASCII, so it is always valid text.
        std::str::from_utf8(letters).unwrap_or_default()
    }
}

fn stamp(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Counts the operation's evidence for the audit of the rules.
fn testify(settings: &SlobSettings, input: &SlobInput, tally: &mut Tally) {
    let evidence = &input.evidence;
    if let Some(updates) = evidence.updates_of_hundred {
        count(tally, SlobCounter::Hundreds, 1);
        count(tally, SlobCounter::UpdatesInHundreds, u64::from(updates));
    }
    if let Some(scans) = evidence.scans_of_hundred {
        count(tally, SlobCounter::HundredsOfSelects, 1);
        count(tally, SlobCounter::ScansInHundreds, u64::from(scans));
    }
    count(tally, SlobCounter::HotSchemaOperations, u64::from(evidence.hot_schema));
    count(tally, SlobCounter::Thoughts, u64::from(!input.thought.is_zero()));
    if let Some(hot) = settings.hot_spot().filter(|_| evidence.hot_spot) {
        let end = hot.offset + hot.rows;
        let is_inside = input.first > hot.offset && input.first + settings.rows_per_range() - 1 <= end;
        count(tally, SlobCounter::HotSpotOperations, 1);
        count(tally, SlobCounter::HotSpotInside, u64::from(is_inside));
    }
}

#[cold]
fn unexpected(operation: SlobOperation, schema: u32, found: i64, rows: i64) -> SessionError {
    let what = format!("{found} rows instead of {rows} in schema {}", schema + 1);
    SessionError::Unexpected { statement: operation.name(), what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(obfuscate: bool, stress: &str, text: u64) -> Vec<String> {
        let table = json!({ "obfuscate_columns": obfuscate, "redo_stress": stress });
        let settings = ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap();
        let texts = UpdateTexts::draw(&settings, text);
        (0..texts.columns).map(|column| texts.of(column).to_owned()).collect()
    }

    #[test]
    fn an_update_is_stamped_and_fills_its_columns() {
        let lite = texts(false, "lite", 5_000_000_042);
        assert_eq!(lite, [format!("000000042{}", "X".repeat(119)), lite[0].clone()]);
        assert_eq!(texts(false, "heavy", 42), vec![lite[0].clone(); 19]);
    }

    #[test]
    fn obfuscated_columns_have_texts_of_their_own() {
        let heavy = texts(true, "heavy", 42);
        let different: std::collections::BTreeSet<&String> = heavy.iter().collect();
        assert_eq!((different.len(), heavy[0].len()), (19, LETTERS));
        assert_eq!(texts(true, "lite", 42), heavy[..2]);
        assert_ne!(texts(true, "lite", 43), heavy[..2]);
    }

    fn settings(redo_stress: &str) -> SlobSettings {
        let table = json!({ "schemas": 2, "redo_stress": redo_stress });
        ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap()
    }

    #[test]
    fn every_schema_has_its_statements() {
        let statements = super::statements(&settings("lite")).unwrap();
        let texts: Vec<&str> = statements.iter().map(|statement| statement.sql.as_str()).collect();
        assert_eq!(texts.len(), 6);
        assert_eq!(
            texts[SlobOperation::Read.id(1).0 as usize],
            "SELECT COUNT(c2) FROM slob2 WHERE custid BETWEEN $1 AND $2"
        );
        assert_eq!(texts[SlobOperation::Scan.id(0).0 as usize], "SELECT COUNT(c2) FROM slob1_scan");
        assert!(texts[SlobOperation::Update.id(0).0 as usize].starts_with("UPDATE slob1 SET changes"));
        assert!(texts.iter().all(|text| !text.contains('{')), "{texts:?}");
    }

    #[test]
    fn redo_stress_chooses_the_columns() {
        let columns = |stress: &str| {
            let update =
                super::statements(&settings(stress)).unwrap().swap_remove(usize::from(SlobOperation::Update.id(0).0));
            (2..=20).filter(|column| update.sql.contains(&format!(" c{column} = $"))).count()
        };
        assert_eq!((columns("lite"), columns("heavy")), (2, 19));
    }
}
