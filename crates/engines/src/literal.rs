//! Values as literals of each dialect. A text stays a text whatever it holds: no part of it is ever read as SQL.

use crate::session::Param;
use crate::statement::Dialect;
use std::fmt::Write;

/// A value that a dialect has no literal for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    #[error("PostgreSQL's texts cannot hold a zero byte")]
    ZeroByte,
    #[error("SQLite stores a decimal as its units, and those of {0} do not fit 64 bits")]
    TooLarge(crate::session::Decimal),
}

/// Appends a value. Negative numbers get parentheses, because after a minus they would begin a comment.
pub fn put(out: &mut String, value: Param<'_>, dialect: Dialect) -> Result<(), LiteralError> {
    match value {
        Param::Null => out.push_str("NULL"),
        Param::Integer(value) => put_number(out, &value.to_string()),
        Param::Decimal(value) if dialect == Dialect::Sqlite => match i64::try_from(value.units()) {
            Ok(units) => put_number(out, &units.to_string()),
            Err(_) => return Err(LiteralError::TooLarge(value)),
        },
        Param::Decimal(value) => put_number(out, value.shown().as_str()),
        Param::Date(value) => {
            out.push_str(if dialect == Dialect::Sqlite { "" } else { "DATE " });
            // Writing to a string cannot fail.
            let _ = write!(out, "'{value}'");
        }
        Param::Text(text) => put_text(out, text, dialect)?,
    }
    Ok(())
}

fn put_number(out: &mut String, digits: &str) {
    let (before, after) = if digits.starts_with('-') { ("(", ")") } else { ("", "") };
    out.extend([before, digits, after]);
}

/// Between quotes, and with each quote doubled, a text means the same to every server unless it holds a backslash or zero byte.
/// The meaning of a backslash depends on a server setting, so such a text is written in a form that does not depend on it.
fn put_text(out: &mut String, text: &str, dialect: Dialect) -> Result<(), LiteralError> {
    let (backslash, zero) = (text.contains('\\'), text.contains('\0'));
    match dialect {
        Dialect::Postgres if zero => return Err(LiteralError::ZeroByte),
        Dialect::Postgres if backslash => {
            // Without the space, a letter right before the E would make both a name.
            out.push_str(" E");
            put_quoted(out, &text.replace('\\', "\\\\"));
        }
        Dialect::Mysql if backslash || zero => {
            out.push_str(" _utf8mb4 ");
            put_hexadecimal(out, text);
        }
        Dialect::Sqlite if zero => {
            out.push_str("CAST(");
            put_hexadecimal(out, text);
            out.push_str(" AS TEXT)");
        }
        _ => put_quoted(out, text),
    }
    Ok(())
}

fn put_quoted(out: &mut String, text: &str) {
    out.push('\'');
    for piece in text.split_inclusive('\'') {
        out.push_str(piece);
        if piece.ends_with('\'') {
            out.push('\'');
        }
    }
    out.push('\'');
}

fn put_hexadecimal(out: &mut String, text: &str) {
    out.push_str("X'");
    for byte in text.bytes() {
        let _ = write!(out, "{byte:02X}");
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Date, Decimal};

    fn literals(value: Param<'_>) -> [Result<String, LiteralError>; 3] {
        [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql].map(|dialect| {
            let mut out = String::new();
            put(&mut out, value, dialect).map(|()| out)
        })
    }

    fn all_alike(value: Param<'_>, literal: &str) {
        assert_eq!(literals(value), [literal; 3].map(|literal| Ok(literal.to_owned())));
    }

    fn each(value: Param<'_>, expected: [&str; 3]) {
        assert_eq!(literals(value), expected.map(|literal| Ok(literal.to_owned())));
    }

    #[test]
    fn numbers_stand_as_they_are_and_in_brackets_below_zero() {
        all_alike(Param::Integer(7), "7");
        all_alike(Param::Integer(i64::MIN), "(-9223372036854775808)");
        all_alike(Param::Null, "NULL");
        each(Param::Decimal(Decimal::new(-1250, 2)), ["(-1250)", "(-12.50)", "(-12.50)"]);
        let wide = Decimal::new(i128::from(i64::MAX) + 1, 2);
        let digits = Ok("92233720368547758.08".to_owned());
        assert_eq!(literals(Param::Decimal(wide)), [Err(LiteralError::TooLarge(wide)), digits.clone(), digits]);
    }

    #[test]
    fn dates_are_of_their_type_where_there_is_one() {
        let date = Date::parse("1998-12-01").unwrap();
        each(Param::Date(date), ["'1998-12-01'", "DATE '1998-12-01'", "DATE '1998-12-01'"]);
    }

    #[test]
    fn texts_stay_texts() {
        all_alike(Param::Text(""), "''");
        all_alike(Param::Text("'; DROP TABLE t; --\n"), "'''; DROP TABLE t; --\n'");
        all_alike(Param::Text("''"), "''''''");
        each(Param::Text("\\'"), ["'\\'''", " E'\\\\'''", " _utf8mb4 X'5C27'"]);
        let zero = literals(Param::Text("a\0"));
        let expected = ["CAST(X'6100' AS TEXT)", "", " _utf8mb4 X'6100'"].map(|literal| Ok(literal.to_owned()));
        assert_eq!(zero[1], Err(LiteralError::ZeroByte));
        assert_eq!((&zero[0], &zero[2]), (&expected[0], &expected[2]));
    }
}
