//! The three operations, each one statement that is a transaction by itself.
//!
//! Every answer is compared with the number of rows of the range. A row too few or too many is an error that names
//! the statement, so no operation silently does less.

use super::definition::{COLUMNS, FILLER, LETTERS};
use super::inputs::{Input, Operation};
use super::settings::{RedoStress, Settings};
use super::tally::{Counter, count};
use crate::effects::Tally;
use crate::random::Stream;
use crate::workload::Ending;
use engines::session::{Param, Session, SessionError};

/// Digits that make one update's text differ from another's, so that no engine can skip the update as unchanged.
const STAMP_DIGITS: usize = 9;
const STAMPS: u64 = 1_000_000_000;
/// The first and the last key of a range come after the texts.
const PARAMS_MAX: usize = COLUMNS + 2;

pub async fn run<S: Session>(
    settings: &Settings,
    session: &mut S,
    input: &Input,
    tally: &mut Tally,
) -> Result<Ending, SessionError> {
    let rows = i64::from(settings.rows_per_range());
    let (first, last) = (i64::from(input.first), i64::from(input.first) + rows - 1);
    match input.operation {
        Operation::Read => {
            let range = [Param::Integer(first), Param::Integer(last)];
            select(session, Operation::Read, input.schema, &range, rows).await?;
            count(tally, Counter::BlocksRead, rows.unsigned_abs());
        }
        Operation::Update => {
            update(settings, session, input, (first, last)).await?;
            count(tally, Counter::BlocksUpdated, rows.unsigned_abs());
        }
        Operation::Scan => {
            let rows = i64::from(settings.scan_table_sz);
            select(session, Operation::Scan, input.schema, &[], rows).await?;
            count(tally, Counter::BlocksScanned, rows.unsigned_abs());
        }
    }
    testify(settings, input, tally);
    Ok(Ending::Committed)
}

async fn select<S: Session>(
    session: &mut S,
    operation: Operation,
    schema: u32,
    params: &[Param<'_>],
    rows: i64,
) -> Result<(), SessionError> {
    let set = session.execute(operation.id(schema), params).await?;
    let found = if set.rows() == 1 { set.integer(0, 0)? } else { return Err(unexpected(operation, schema, 0, rows)) };
    if found == rows { Ok(()) } else { Err(unexpected(operation, schema, found, rows)) }
}

async fn update<S: Session>(
    settings: &Settings,
    session: &mut S,
    input: &Input,
    (first, last): (i64, i64),
) -> Result<(), SessionError> {
    let texts = Texts::draw(settings, input.text);
    let mut params = [Param::Null; PARAMS_MAX];
    let columns = texts.columns;
    for (param, column) in params.iter_mut().zip(0..columns) {
        *param = Param::Text(texts.of(column));
    }
    params[columns] = Param::Integer(first);
    params[columns + 1] = Param::Integer(last);
    let changed = session.execute(Operation::Update.id(input.schema), &params[..columns + 2]).await?.changed();
    let (changed, rows) = (i64::try_from(changed).unwrap_or(i64::MAX), last - first + 1);
    if changed == rows { Ok(()) } else { Err(unexpected(Operation::Update, input.schema, changed, rows)) }
}

/// What an update writes into its columns: a stamp and filler, the same in all, or random text for each column.
struct Texts {
    letters: [[u8; LETTERS]; COLUMNS],
    columns: usize,
    random: bool,
}

impl Texts {
    fn draw(settings: &Settings, text: u64) -> Self {
        let columns = match settings.redo_stress {
            RedoStress::Lite => 2,
            RedoStress::Heavy => COLUMNS,
        };
        let random = settings.obfuscate_columns;
        let mut texts = Self { letters: [[FILLER; LETTERS]; COLUMNS], columns, random };
        if random {
            let mut stream = Stream::new(text, "slob update", [0, 0]);
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

/// Counts what the operation tells the audit about the rules.
fn testify(settings: &Settings, input: &Input, tally: &mut Tally) {
    let evidence = &input.evidence;
    if let Some(updates) = evidence.updates_of_hundred {
        count(tally, Counter::Hundreds, 1);
        count(tally, Counter::UpdatesInHundreds, u64::from(updates));
    }
    if let Some(scans) = evidence.scans_of_hundred {
        count(tally, Counter::HundredsOfSelects, 1);
        count(tally, Counter::ScansInHundreds, u64::from(scans));
    }
    count(tally, Counter::HotSchemaOperations, u64::from(evidence.hot_schema));
    count(tally, Counter::Thoughts, u64::from(!input.thought.is_zero()));
    if let Some(hot) = settings.hot_spot().filter(|_| evidence.hot_spot) {
        let end = hot.offset + hot.rows;
        let is_inside = input.first > hot.offset && input.first + settings.rows_per_range() - 1 <= end;
        count(tally, Counter::HotSpotOperations, 1);
        count(tally, Counter::HotSpotInside, u64::from(is_inside));
    }
}

#[cold]
fn unexpected(operation: Operation, schema: u32, found: i64, rows: i64) -> SessionError {
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
        let texts = Texts::draw(&settings, text);
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
}
