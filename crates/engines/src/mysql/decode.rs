//! Reads packets in place: columns, rows in binary and text form, outcomes and refusals. Bytes in, values out. It does
//! no I/O, and allocates nothing for a row of integers, decimals, dates and texts.

use super::packet::PacketReader;
use crate::session::{Date, ResultSet};
use crate::wire::Malformed;
use std::fmt::Write;

/// How a column's values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MysqlColumnKind {
    /// One, two, four or eight bytes, little endian.
    Integer {
        bytes: u8,
        unsigned: bool,
    },
    /// Digits in both the binary and the text form.
    Decimal,
    Float,
    Double,
    Date,
    /// A date with the time of day.
    Moment,
    /// A span of time.
    Span,
    /// Everything else, in its text form.
    Text,
}

impl MysqlColumnKind {
    /// From the type's number in the protocol and the column's flags.
    fn of_type(number: u8, flags: u16) -> Self {
        const UNSIGNED: u16 = 32;
        let integer = |bytes| Self::Integer { bytes, unsigned: flags & UNSIGNED != 0 };
        match number {
            1 => integer(1),
            2 | 13 => integer(2),
            3 | 9 => integer(4),
            8 => integer(8),
            4 => Self::Float,
            5 => Self::Double,
            0 | 246 => Self::Decimal,
            10 => Self::Date,
            7 | 12 => Self::Moment,
            11 => Self::Span,
            _ => Self::Text,
        }
    }

    /// Reads a column's definition.
    pub fn read(body: &[u8]) -> Result<Self, Malformed> {
        /// Catalogue, schema, table, the table's own name, name, the column's own name.
        const NAMES: usize = 6;
        let mut reader = PacketReader(body);
        for _ in 0..NAMES {
            reader.counted()?;
        }
        let mut rest = PacketReader(reader.counted()?);
        // Character set and width.
        rest.bytes(6)?;
        let [number, low, high] = rest.array()?;
        Ok(Self::of_type(number, u16::from_le_bytes([low, high])))
    }
}

/// Appends a row in text form.
pub fn text_row(body: &[u8], columns: &[MysqlColumnKind], results: &mut ResultSet) -> Result<(), Malformed> {
    /// No text is long enough for its length to begin with this byte.
    const NULL: u8 = 0xfb;
    results.check_size()?;
    let mut reader = PacketReader(body);
    for kind in columns {
        if reader.0.first() == Some(&NULL) {
            reader.byte()?;
            results.push_null();
        } else {
            text_cell(text(&mut reader)?, *kind, results);
        }
    }
    end_row(&reader, results)
}

/// Converts to the value that a binary row would give. A text that does not fit its column's type stays a text.
fn text_cell(text: &str, kind: MysqlColumnKind, results: &mut ResultSet) {
    match kind {
        MysqlColumnKind::Integer { .. } if let Ok(value) = text.parse() => results.push_integer(value),
        MysqlColumnKind::Decimal => results.push_digits(text),
        MysqlColumnKind::Date if let Some(date) = Date::parse(text) => results.push_date(date),
        MysqlColumnKind::Float if let Ok(value) = text.parse::<f32>() => results.push_text(&value.to_string()),
        MysqlColumnKind::Double if let Ok(value) = text.parse::<f64>() => results.push_text(&value.to_string()),
        _ => results.push_text(text),
    }
}

/// Appends a binary row.
pub fn row(body: &[u8], columns: &[MysqlColumnKind], results: &mut ResultSet) -> Result<(), Malformed> {
    /// The first bits of a row's null map are unused.
    const UNUSED_BITS: usize = 2;
    results.check_size()?;
    let mut reader = PacketReader(body);
    // The byte that separates a row from the end of the rows.
    reader.byte()?;
    let nulls = reader.bytes((columns.len() + UNUSED_BITS).div_ceil(8))?;
    for (bit, kind) in (UNUSED_BITS..).zip(columns) {
        if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
            results.push_null();
        } else {
            cell(&mut reader, *kind, results)?;
        }
    }
    end_row(&reader, results)
}

fn end_row(reader: &PacketReader<'_>, results: &mut ResultSet) -> Result<(), Malformed> {
    if !reader.0.is_empty() {
        return Err(Malformed::new(format!("a row has {} bytes after its last column", reader.0.len())));
    }
    results.end_row();
    Ok(())
}

fn cell(reader: &mut PacketReader<'_>, kind: MysqlColumnKind, results: &mut ResultSet) -> Result<(), Malformed> {
    match kind {
        MysqlColumnKind::Integer { bytes, unsigned } => integer(reader, bytes, unsigned, results)?,
        MysqlColumnKind::Text => results.push_text(text(reader)?),
        MysqlColumnKind::Decimal => results.push_digits(text(reader)?),
        MysqlColumnKind::Float => results.push_text(&f32::from_le_bytes(reader.array()?).to_string()),
        MysqlColumnKind::Double => results.push_text(&f64::from_le_bytes(reader.array()?).to_string()),
        MysqlColumnKind::Date => date(reader, results)?,
        MysqlColumnKind::Moment => results.push_text(&moment(reader)?),
        MysqlColumnKind::Span => results.push_text(&span(reader)?),
    }
    Ok(())
}

fn integer(reader: &mut PacketReader<'_>, bytes: u8, unsigned: bool, results: &mut ResultSet) -> Result<(), Malformed> {
    let value = match (bytes, unsigned) {
        (1, false) => i8::from_le_bytes(reader.array()?).into(),
        (1, true) => reader.byte()?.into(),
        (2, false) => i16::from_le_bytes(reader.array()?).into(),
        (2, true) => reader.short()?.into(),
        (4, false) => i32::from_le_bytes(reader.array()?).into(),
        (4, true) => reader.long()?.into(),
        (_, false) => i64::from_le_bytes(reader.array()?),
        (_, true) => {
            let value = u64::from_le_bytes(reader.array()?);
            let Ok(value) = i64::try_from(value) else {
                results.push_text(&value.to_string());
                return Ok(());
            };
            value
        }
    };
    results.push_integer(value);
    Ok(())
}

fn text<'a>(reader: &mut PacketReader<'a>) -> Result<&'a str, Malformed> {
    std::str::from_utf8(reader.counted()?).map_err(|_| Malformed::new("a text is not UTF-8"))
}

/// A value that is no valid day, such as 0000-00-00, stays a text.
fn date(reader: &mut PacketReader<'_>, results: &mut ResultSet) -> Result<(), Malformed> {
    let mut ahead = PacketReader(reader.0);
    if let &[low, high, month, day] = ahead.counted()?
        && let Some(date) = Date::from_year_month_day(u16::from_le_bytes([low, high]).into(), month.into(), day.into())
    {
        *reader = ahead;
        results.push_date(date);
    } else {
        results.push_text(&moment(reader)?);
    }
    Ok(())
}

/// The moment in the form of the text protocol.
fn moment(reader: &mut PacketReader<'_>) -> Result<String, Malformed> {
    let mut rest = PacketReader(reader.counted()?);
    if rest.0.is_empty() {
        return Ok("0000-00-00".to_owned());
    }
    let year = rest.short()?;
    let [month, day] = rest.array()?;
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if !rest.0.is_empty() {
        text.push(' ');
        time_of_day(&mut text, 0, rest)?;
    }
    Ok(text)
}

fn span(reader: &mut PacketReader<'_>) -> Result<String, Malformed> {
    let mut rest = PacketReader(reader.counted()?);
    if rest.0.is_empty() {
        return Ok("00:00:00".to_owned());
    }
    let negative = rest.byte()? == 1;
    let days = rest.long()?;
    let mut text = if negative { "-" } else { "" }.to_owned();
    time_of_day(&mut text, u64::from(days) * 24, rest)?;
    Ok(text)
}

fn time_of_day(text: &mut String, more_hours: u64, mut rest: PacketReader<'_>) -> Result<(), Malformed> {
    let [hour, minute, second] = rest.array()?;
    let hours = more_hours + u64::from(hour);
    // Writing to a string cannot fail.
    let _ = write!(text, "{hours:02}:{minute:02}:{second:02}");
    if !rest.0.is_empty() {
        let _ = write!(text, ".{:06}", rest.long()?);
    }
    Ok(())
}

/// The outcome of a successful statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket {
    /// Rows that were inserted, deleted, or matched by an update.
    pub changed: u64,
    /// The id that the database generated for the first inserted row; 0 if it generated none.
    pub inserted_id: u64,
    pub status: u16,
    pub warnings: u16,
}

impl OkPacket {
    pub fn in_transaction(self) -> bool {
        self.status & 1 != 0
    }

    /// Whether the answer to a script's next statement follows.
    pub fn more_follow(self) -> bool {
        self.status & 8 != 0
    }

    /// Reads an OK packet, whatever its first byte.
    pub fn read(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = PacketReader(body);
        reader.byte()?;
        let (changed, inserted_id) = (reader.number()?, reader.number()?);
        Ok(Self { changed, inserted_id, status: reader.short()?, warnings: reader.short()? })
    }

    /// Reads an EOF packet, which older servers send instead.
    pub fn read_end(body: &[u8]) -> Result<Self, Malformed> {
        let mut reader = PacketReader(body);
        reader.byte()?;
        let warnings = reader.short()?;
        Ok(Self { status: reader.short()?, warnings, ..Self::default() })
    }
}

/// The server's error for a request that it refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlRefusal {
    pub code: u16,
    pub message: String,
}

impl MysqlRefusal {
    pub fn read(body: &[u8]) -> Result<Self, Malformed> {
        const STATE: usize = 5;
        let mut reader = PacketReader(body);
        reader.byte()?;
        let code = reader.short()?;
        // SQLSTATE says less than the code. It is absent before the session is open.
        if reader.0.first() == Some(&b'#') {
            reader.bytes(1 + STATE)?;
        }
        Ok(Self { code, message: String::from_utf8_lossy(reader.0).into_owned() })
    }
}

#[cfg(test)]
mod tests;
