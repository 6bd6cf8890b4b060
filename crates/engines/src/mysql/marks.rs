//! Converts the statements of our files into what this server prepares: `$1` becomes `?`, and a statement may become two.
//!
//! The server has no `UPDATE … RETURNING`. Where a transaction needs the row that it changes, the file has two
//! statements, separated by a semicolon. The second is executed only if the first found or changed a row.

/// One statement in the server's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedPart {
    pub sql: String,
    /// For each `?` in turn, the index of our parameter, counted from 0.
    pub values: Vec<usize>,
}

/// Splits a statement into its parts.
pub fn parts(sql: &str) -> Vec<MarkedPart> {
    let mut found = Vec::new();
    let mut part = MarkedPart { sql: String::new(), values: Vec::new() };
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let length = opaque(rest).unwrap_or(letter.len_utf8());
        let digits = parameter(rest);
        match (letter, digits) {
            (';', _) => found.push(std::mem::replace(&mut part, MarkedPart { sql: String::new(), values: Vec::new() })),
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
        MarkedPart { sql: sql.to_owned(), values: values.to_vec() }
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

    proptest! {
        #[test]
        fn arbitrary_texts_never_panic(text in "(\\$[0-9]{0,3}|[;'\"`\\\\ é]|-- |\n|[a-z]){0,60}") {
            let _ = parts(&text);
        }
    }
}
