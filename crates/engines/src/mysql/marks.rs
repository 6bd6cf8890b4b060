//! Converts the statements of our files into what this server prepares: `$1` becomes `?`, and a statement may become two.
//!
//! The server has no `UPDATE … RETURNING`. Where a transaction needs the row that it changes, the file has two
//! statements, separated by a semicolon. The second is executed only if the first found or changed a row.
//!
//! `$1, ...` or `($1, $2), ...` is a list of values, one for each request of a batch. A part with a list is another way to
//! execute the part before it, for several requests at once. The first columns of its rows are the values in the list, so that
//! each row finds its request.

use std::ops::Range;

/// One statement in the server's form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MarkedPart {
    pub sql: String,
    /// For each `?` in turn, the index of our parameter, counted from 0.
    pub values: Vec<usize>,
    pub list: Option<ValueList>,
}

/// A list of values in a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueList {
    /// The marks in the list.
    pub marks: Range<usize>,
    /// How many of these each request has.
    pub each: usize,
}

/// For how many requests a list has room.
pub const LIST_LENGTH: usize = 16;
const LIST: &str = ", ...";

/// Splits a statement into its parts.
pub fn parts(sql: &str) -> Vec<MarkedPart> {
    let mut found = Vec::new();
    let mut part = MarkedPart::default();
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let length = opaque(rest).unwrap_or(letter.len_utf8());
        let digits = parameter(rest);
        match (letter, digits) {
            (';', _) => found.push(std::mem::take(&mut part)),
            (',', _) if rest.starts_with(LIST) && part.repeat_last() => {
                rest = &rest[LIST.len()..];
                continue;
            }
            (_, Some((number, length))) => {
                part.sql.push('?');
                part.values.push(number - 1);
                rest = &rest[length..];
                continue;
            }
            _ => part.sql.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    found.push(part);
    for part in &mut found {
        part.sql = part.sql.trim().to_owned();
    }
    found.retain(|part| !part.sql.is_empty());
    found
}

impl MarkedPart {
    /// Makes a list of what stands at the end: a mark, or marks in parentheses. Returns false if neither does.
    fn repeat_last(&mut self) -> bool {
        let start = self.sql.rfind(if self.sql.ends_with(')') { '(' } else { '?' });
        let last = start.map_or("", |start| &self.sql[start..]);
        let each = last.matches('?').count();
        let (true, Some(first)) = (last.ends_with(['?', ')']) && each > 0, self.values.len().checked_sub(each)) else {
            return false;
        };
        let more = format!(", {last}").repeat(LIST_LENGTH - 1);
        self.sql.push_str(&more);
        let values = self.values[first..].repeat(LIST_LENGTH - 1);
        self.values.extend(values);
        self.list = Some(ValueList { marks: first..self.values.len(), each });
        true
    }
}

/// How many parameters the parts of a statement have together.
pub fn parameters(parts: &[MarkedPart]) -> usize {
    parts.iter().flat_map(|part| &part.values).map(|value| value + 1).max().unwrap_or(0)
}

/// The parameter at the beginning of a text, and the length of its mark.
fn parameter(text: &str) -> Option<(usize, usize)> {
    let digits = text.strip_prefix('$')?;
    let length = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let number: usize = digits[..length].parse().ok()?;
    (number > 0).then_some((number, length + 1))
}

/// The length of the quoted text or comment at the beginning of a text.
fn opaque(text: &str) -> Option<usize> {
    let begins = text.chars().next()?;
    if text.starts_with("-- ") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !matches!(begins, '\'' | '"' | '`') {
        return None;
    }
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == begins && !escaped;
        escaped = *letter == '\\' && begins != '`' && !escaped;
        ends
    });
    Some(end.map_or(text.len(), |(at, letter)| at + letter.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(sql: &str, values: &[usize]) -> MarkedPart {
        MarkedPart { sql: sql.to_owned(), values: values.to_vec(), list: None }
    }

    #[test]
    fn marks_are_numbered_by_their_place() {
        let found = parts("INSERT INTO t (a, b) VALUES ($2, $1), ($1, $12)");
        assert_eq!(found, [part("INSERT INTO t (a, b) VALUES (?, ?), (?, ?)", &[1, 0, 0, 11])]);
        assert_eq!(parameters(&found), 12);
        assert_eq!(parameters(&parts("SELECT 1")), 0);
    }

    #[test]
    fn a_statement_may_be_two() {
        let found = parts("UPDATE t SET a = a + $1 WHERE b = $2;\nSELECT a FROM t WHERE b = $2;\n");
        assert_eq!(
            found,
            [part("UPDATE t SET a = a + ? WHERE b = ?", &[0, 1]), part("SELECT a FROM t WHERE b = ?", &[1]),]
        );
    }

    #[test]
    fn quotes_and_comments_are_left_alone() {
        let opaque = r#"SELECT 'a;$1', "$2", `$3;`, 'it''s $4', 'a\';$5', $x, '\\'"#;
        assert_eq!(parts(opaque), [part(opaque, &[])]);
        assert_eq!(parts("SELECT $1 -- of $2; or\n+ $3"), [part("SELECT ? -- of $2; or\n+ ?", &[0, 2])]);
        assert_eq!(parts("SELECT '\\\\', $1"), [part("SELECT '\\\\', ?", &[0])]);
        assert_eq!(parts("SELECT 'endless $1"), [part("SELECT 'endless $1", &[])]);
    }

    #[test]
    fn a_list_has_room_for_many_requests() {
        let [alone, listed] = &parts("SELECT b FROM t WHERE a = $1; SELECT a, b FROM t WHERE a IN ($1, ...)")[..]
        else {
            panic!("two parts")
        };
        assert_eq!(*alone, part("SELECT b FROM t WHERE a = ?", &[0]));
        assert_eq!(listed.sql, format!("SELECT a, b FROM t WHERE a IN (?{})", ", ?".repeat(LIST_LENGTH - 1)));
        assert_eq!(listed.values, [0; LIST_LENGTH]);
        assert_eq!(listed.list, Some(ValueList { marks: 0..LIST_LENGTH, each: 1 }));

        let found = parts("SELECT $2, a FROM t WHERE (a, b) IN (($3, $1), ...) AND c = $2");
        let pairs = ", (?, ?)".repeat(LIST_LENGTH - 1);
        assert_eq!(found[0].sql, format!("SELECT ?, a FROM t WHERE (a, b) IN ((?, ?){pairs}) AND c = ?"));
        assert_eq!(found[0].list, Some(ValueList { marks: 1..1 + 2 * LIST_LENGTH, each: 2 }));
        assert_eq!((&found[0].values[..3], found[0].values.last()), (&[1, 2, 0][..], Some(&1)));
        for text in ["SELECT ', ...'", "SELECT a, ...", "SELECT (a), ...", "SELECT ', ?', ..."] {
            assert_eq!(parts(text), [part(text, &[])]);
        }
    }

    proptest! {
        #[test]
        fn arbitrary_texts_never_panic(text in "(\\$[0-9]{0,3}|[;'\"`\\\\ é()?]|-- |, \\.\\.\\.|\n|[a-z]){0,60}") {
            let _ = parts(&text);
        }
    }
}
