//! Reads PostgreSQL's messages in place. Bytes in, views out; it does no I/O and allocates nothing per message.
//!
//! `postgres-protocol` has a decoder too, but it hands out each message as a reference-counted buffer split off the
//! stream, which costs an allocation whenever the stream's buffer is reused; on the hot path that is once a statement.

use crate::session::{Date, ResultSet};
use crate::wire::{Framing, Malformed};

/// The longest message allowed; a larger length means that the stream is out of step.
const LONGEST_MESSAGE: usize = 64 << 20;
const LARGEST_ROW: usize = 1 << 30;

/// Tag and length.
const HEADER: usize = 5;

/// One message from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PostgresMessage<'a> {
    pub tag: u8,
    pub body: &'a [u8],
}

/// The protocol's frames.
#[derive(Debug)]
pub struct Messages;

impl Framing for Messages {
    type Frame<'a> = PostgresMessage<'a>;
    type Agreed = ();

    fn first(waiting: &[u8]) -> Result<Option<(PostgresMessage<'_>, usize)>, Malformed> {
        let Some((&[tag, a, b, c, d], rest)) = waiting.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if !(4..=LONGEST_MESSAGE).contains(&length) {
            // No server has a larger row.
            let is_row = tag == b'D' && (LONGEST_MESSAGE..=LARGEST_ROW).contains(&length);
            let limit = LONGEST_MESSAGE >> 20;
            return Err(if is_row {
                Malformed::too_large(format!(
                    "a row of {length} bytes, and at most {limit} MiB are taken. Select less of it"
                ))
            } else {
                Malformed::new(format!("message {:?} of {length} bytes announced", char::from(tag)))
            });
        }
        Ok(rest.get(..length - 4).map(|body| (PostgresMessage { tag, body }, 1 + length)))
    }
}

/// How a column's values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostgresColumnKind {
    /// Two, four or eight bytes, big endian.
    Integer,
    /// One byte, read as 0 or 1, as in SQLite.
    Boolean,
    /// Four bytes: days since 2000-01-01.
    Date,
    /// In its text form, which is usually shorter.
    Decimal,
    /// Everything else, in its text form.
    Text,
    /// Types with a binary form, in their text form.
    IntegerText,
    BooleanText,
    DateText,
}

impl PostgresColumnKind {
    /// From the type's number in PostgreSQL's catalog, which is fixed for built-in types.
    pub fn of_type(oid: u32) -> Self {
        match oid {
            20 | 21 | 23 => Self::Integer,
            16 => Self::Boolean,
            1082 => Self::Date,
            1700 => Self::Decimal,
            _ => Self::Text,
        }
    }

    /// Like [`Self::of_type`], for answers in which all values are texts.
    pub fn of_type_in_text(oid: u32) -> Self {
        match Self::of_type(oid) {
            Self::Integer => Self::IntegerText,
            Self::Boolean => Self::BooleanText,
            Self::Date => Self::DateText,
            other => other,
        }
    }

    /// The protocol's format code: 1 is binary, 0 is text.
    pub fn format(self) -> i16 {
        i16::from(matches!(self, Self::Integer | Self::Boolean | Self::Date))
    }
}

/// Reads the body of a message piece by piece.
struct BodyReader<'a>(&'a [u8]);

impl<'a> BodyReader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| Malformed::new("a message ends early"))?;
        self.0 = rest;
        Ok(*head)
    }

    fn count(&mut self) -> Result<usize, Malformed> {
        Ok(usize::from(u16::from_be_bytes(self.array()?)))
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(count).ok_or_else(|| Malformed::new("a message ends early"))?;
        self.0 = rest;
        Ok(head)
    }

    /// Reads up to the next zero byte.
    fn zero_ended(&mut self) -> Result<&'a [u8], Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(|| Malformed::new("a text has no end"))?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(text)
    }
}

/// Appends the cells of a `DataRow` as one row.
pub fn row(body: &[u8], columns: &[PostgresColumnKind], results: &mut ResultSet) -> Result<(), Malformed> {
    let mut reader = BodyReader(body);
    let count = reader.count()?;
    if count != columns.len() {
        return Err(Malformed::new(format!("a row of {count} columns where {} were described", columns.len())));
    }
    results.check_size()?;
    for kind in columns {
        let length = i32::from_be_bytes(reader.array()?);
        match usize::try_from(length) {
            Ok(length) => cell(reader.bytes(length)?, *kind, results)?,
            Err(_) => results.push_null(),
        }
    }
    results.end_row();
    Ok(())
}

fn cell(bytes: &[u8], kind: PostgresColumnKind, results: &mut ResultSet) -> Result<(), Malformed> {
    let wrong = || Malformed::new(format!("a {kind:?} of {} bytes", bytes.len()));
    match (kind, bytes) {
        (PostgresColumnKind::Text, _) => results.push_text(text(bytes)?),
        (PostgresColumnKind::Integer, _) => results.push_integer(integer(bytes)?),
        (PostgresColumnKind::IntegerText, _) => results.push_integer(text(bytes)?.parse().map_err(|_| wrong())?),
        (PostgresColumnKind::Boolean, &[truth]) => results.push_integer(truth.into()),
        (PostgresColumnKind::BooleanText, &[truth]) => results.push_integer((truth == b't').into()),
        (PostgresColumnKind::Decimal, _) => results.push_digits(text(bytes)?),
        (PostgresColumnKind::Date, &[a, b, c, d]) => results.push_date(date(i32::from_be_bytes([a, b, c, d]))?),
        (PostgresColumnKind::DateText, _) => {
            let text = text(bytes)?;
            results.push_date(Date::parse(text).ok_or_else(|| no_day(text))?);
        }
        (PostgresColumnKind::Boolean | PostgresColumnKind::BooleanText | PostgresColumnKind::Date, _) => {
            return Err(wrong());
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::new("a text is not UTF-8"))
}

fn date(days: i32) -> Result<Date, Malformed> {
    /// Days from 1970-01-01, the origin of our dates, to 2000-01-01.
    const BEFORE: i32 = 10_957;
    days.checked_add(BEFORE).and_then(Date::from_days).ok_or_else(|| no_day(&format!("day {days} from 2000-01-01")))
}

#[cold]
fn no_day(found: &str) -> Malformed {
    Malformed::new(format!("{found} is no date of the years 1 to 9999"))
}

fn integer(bytes: &[u8]) -> Result<i64, Malformed> {
    if let Ok(eight) = bytes.try_into() {
        return Ok(i64::from_be_bytes(eight));
    }
    if let Ok(four) = bytes.try_into() {
        return Ok(i32::from_be_bytes(four).into());
    }
    let two = bytes.try_into().map_err(|_| Malformed::new(format!("an integer of {} bytes", bytes.len())))?;
    Ok(i16::from_be_bytes(two).into())
}

/// Rows changed, from a `CommandComplete`: the last word of "INSERT 0 5" or "COPY 7". Reading changes none.
pub fn changed(body: &[u8]) -> u64 {
    let tag = command(body);
    if tag.starts_with("SELECT") || tag.starts_with("FETCH") {
        return 0;
    }
    tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The words of a `CommandComplete`; empty if they are not UTF-8.
pub fn command(body: &[u8]) -> &str {
    body.strip_suffix(&[0]).and_then(|tag| std::str::from_utf8(tag).ok()).unwrap_or("")
}

/// Type numbers of a statement's parameters.
pub fn parameter_types(body: &[u8]) -> Result<Vec<u32>, Malformed> {
    let mut reader = BodyReader(body);
    (0..reader.count()?).map(|_| Ok(u32::from_be_bytes(reader.array()?))).collect()
}

/// Type numbers of a statement's columns.
pub fn column_types(body: &[u8]) -> Result<Vec<u32>, Malformed> {
    /// The numbers of the table and of the column in it.
    const BEFORE_TYPE: usize = 6;
    /// The type's size and modifier, and the column's format.
    const AFTER_TYPE: usize = 8;
    let mut reader = BodyReader(body);
    (0..reader.count()?)
        .map(|_| {
            reader.zero_ended()?;
            reader.bytes(BEFORE_TYPE)?;
            let oid = u32::from_be_bytes(reader.array()?);
            reader.bytes(AFTER_TYPE)?;
            Ok(oid)
        })
        .collect()
}

/// A step of the login: a request of the server, or its consent.
#[derive(Debug, PartialEq, Eq)]
pub enum Authentication<'a> {
    Granted,
    /// The password itself.
    Cleartext,
    Md5 {
        salt: [u8; 4],
    },
    /// Names of the mechanisms offered, each ended by a zero byte.
    Scram {
        mechanisms: &'a [u8],
    },
    ScramContinue(&'a [u8]),
    ScramFinal(&'a [u8]),
    /// The number of a method that we do not support.
    Other(u32),
}

pub fn authentication(body: &[u8]) -> Result<Authentication<'_>, Malformed> {
    let mut reader = BodyReader(body);
    Ok(match u32::from_be_bytes(reader.array()?) {
        0 => Authentication::Granted,
        3 => Authentication::Cleartext,
        5 => Authentication::Md5 { salt: reader.array()? },
        10 => Authentication::Scram { mechanisms: reader.0 },
        11 => Authentication::ScramContinue(reader.0),
        12 => Authentication::ScramFinal(reader.0),
        other => Authentication::Other(other),
    })
}

/// An `ErrorResponse`: the server's error, and whether it ends the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresRefusal {
    pub fatal: bool,
    /// SQLSTATE, five letters and digits.
    pub code: String,
    pub message: String,
}

pub fn refusal(body: &[u8]) -> Result<PostgresRefusal, Malformed> {
    let mut reader = BodyReader(body);
    let mut found = PostgresRefusal { fatal: false, code: String::new(), message: String::new() };
    let mut detail = None;
    loop {
        let [field] = reader.array()?;
        if field == 0 {
            break;
        }
        let text = String::from_utf8_lossy(reader.zero_ended()?);
        match field {
            b'V' => found.fatal = text == "FATAL" || text == "PANIC",
            b'C' => found.code = text.into_owned(),
            b'M' => found.message = text.into_owned(),
            b'D' => detail = Some(text),
            _ => {}
        }
    }
    if let Some(detail) = detail {
        found.message = format!("{}\n({detail})", found.message);
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
