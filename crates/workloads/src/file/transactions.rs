//! Carries out a script, for one client and with one stream of random values.

use super::PlannedScript;
use super::expression::ScriptValue;
use super::script::{MOST, ScriptStatement, ScriptStep, TransactionScript};
use crate::effects::Effects;
use crate::random::RandomStream;
use crate::workload::Ending;
use engines::session::{Param, Session, SessionError};
use engines::statement::StatementId;
use std::time::Duration;

/// A transaction before it is run: running it again draws the same values.
#[derive(Debug, Clone)]
pub struct FileInput {
    pub script: u16,
    pub client: u32,
    pub stream: RandomStream,
}

pub async fn run<S: Session>(
    planned: &PlannedScript,
    session: &mut S,
    input: &FileInput,
    effects: &mut Effects<'_, FileInput>,
) -> Result<Ending, SessionError> {
    let mut stream = input.stream.clone();
    let mut variables = [ScriptValue::Integer(0); MOST];
    variables[0] = ScriptValue::Integer(i64::from(input.client));
    let mut kept = CommittedParts::default();
    let mut ending = Ending::Committed;
    let failed = |line: &usize, what: &str| SessionError::Unexpected {
        statement: planned.name,
        what: format!("line {line}: {what}"),
    };
    let TransactionScript { steps, statements, .. } = &planned.script;
    for step in steps {
        match step {
            ScriptStep::Set { place, line, to } => {
                variables[*place] = to.value(&variables, &mut stream).map_err(|what| failed(line, what))?;
            }
            ScriptStep::Sleep { line, length, unit } => {
                let length = length.value(&variables, &mut stream).and_then(ScriptValue::integer);
                let times = u32::try_from(length.map_err(|what| failed(line, what))?.max(0)).unwrap_or(u32::MAX);
                effects.sleep(unit.saturating_mul(times).min(LONGEST_SLEEP)).await;
            }
            ScriptStep::Begin(access) => {
                session.begin(*access).await.map_err(|error| kept.final_if_kept(error))?;
                kept.is_open = true;
            }
            ScriptStep::Commit => {
                session.commit().await.map_err(|error| kept.final_if_kept(error))?;
                kept.end(true);
                ending = Ending::Committed;
            }
            ScriptStep::Rollback => {
                session.rollback().await?;
                kept.end(false);
                ending = Ending::RolledBack;
            }
            ScriptStep::Execute(index) => {
                let id = StatementId(planned.first_statement + at(*index));
                if let Some(first) = planned.first_step {
                    effects.begin_step(first + at(*index));
                }
                let changed = execute(session, id, &statements[*index], &variables).await;
                effects.end_step();
                kept.change(changed.map_err(|error| kept.final_if_kept(error))?);
            }
        }
    }
    Ok(ending)
}

const LONGEST_SLEEP: Duration = Duration::from_hours(1);

/// There are never more statements than their ids can name.
fn at(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

/// Executes a statement and returns the number of rows that it changed.
async fn execute<S: Session>(
    session: &mut S,
    id: StatementId,
    sql: &ScriptStatement,
    variables: &[ScriptValue; MOST],
) -> Result<u64, SessionError> {
    // Only doubles are bound as texts.
    let mut texts = Vec::new();
    for parameter in &sql.parameters {
        if let ScriptValue::Double(value) = variables[parameter.place] {
            texts.push(general(value));
        }
    }
    let mut texts = texts.iter();
    let mut params = [Param::Null; MOST];
    for (param, parameter) in params.iter_mut().zip(&sql.parameters) {
        *param = match variables[parameter.place] {
            ScriptValue::Integer(value) => Param::Integer(value),
            ScriptValue::Double(_) => texts.next().map_or(Param::Null, |text| Param::Text(text)),
        };
    }
    Ok(session.execute(id, &params[..sql.parameters.len()]).await?.changed())
}

/// Digits that every double keeps when it is read back and written again. pgbench writes as many.
const DIGITS: i32 = 15;

/// A number as C's `%.15g` writes it: without an exponent unless it is very large or very small.
fn general(value: f64) -> String {
    let text = format!("{value:.*e}", DIGITS.unsigned_abs() as usize - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let power: i32 = exponent.parse().unwrap_or_default();
    let trimmed = |text: &str| match text.split_once('.') {
        Some((whole, part)) if part.trim_end_matches('0').is_empty() => whole.to_owned(),
        Some(_) => text.trim_end_matches('0').to_owned(),
        None => text.to_owned(),
    };
    if !(-4..DIGITS).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), power.abs());
    }
    trimmed(&format!("{value:.*}", (DIGITS - 1 - power).unsigned_abs() as usize))
}

/// Whether the database has already committed a part of this attempt, so that another attempt would do it twice.
#[derive(Default)]
struct CommittedParts {
    is_open: bool,
    /// Rows changed by the transaction that is open.
    changed: u64,
    anything: bool,
}

impl CommittedParts {
    fn change(&mut self, rows: u64) {
        self.changed += rows;
        if !self.is_open {
            self.end(true);
        }
    }

    fn end(&mut self, committed: bool) {
        self.anything |= committed && self.changed > 0;
        *self = Self { anything: self.anything, ..Self::default() };
    }

    fn final_if_kept(&self, error: SessionError) -> SessionError {
        match error {
            SessionError::Retryable { code, message } if self.anything => {
                let message = format!("{message} (not tried again: what went before it in the script is committed)");
                SessionError::Refused { code, message }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::general;

    /// Texts that `printf("%.15g")` of C writes.
    #[test]
    fn doubles_are_written_as_pgbench_writes_them() {
        let cases = [
            (3.5, "3.5"),
            (0.1 + 0.2, "0.3"),
            (-2.0, "-2"),
            (0.0, "0"),
            (1.0 / 3.0, "0.333333333333333"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123_456_789.125, "123456789.125"),
            (1.5e300, "1.5e+300"),
            (999_999_999_999_999.9, "1e+15"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value), text);
        }
    }
}
