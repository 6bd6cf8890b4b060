//! Reads `~/.pgpass`: lines of host, port, database, user and password, separated by colons. In the first four, `*`
//! matches anything. `\:` and `\\` stand for the character itself.

use crate::secret::Secret;

/// The fields that select a line.
pub struct WantedLine<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// The password of the first matching line.
pub fn find(text: &str, wanted: &WantedLine<'_>) -> Option<Secret> {
    let port = wanted.port.to_string();
    let fields = [wanted.host, &port, wanted.database, wanted.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for wanted in fields {
            let (field, after) = split_field(rest)?;
            if field != "*" && unescaped(field) != wanted {
                return None;
            }
            rest = after;
        }
        let password = split_field(rest).map_or(rest, |(field, _)| field);
        Some(Secret::new(unescaped(password))).filter(|_| !password.is_empty())
    })
}

/// The text up to the next unescaped colon, and the text after it.
fn split_field(line: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (index, letter) in line.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ':' => return Some((&line[..index], &line[index + 1..])),
            _ => {}
        }
    }
    None
}

fn unescaped(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        // A backslash at the very end stands for itself.
        text.push(if letter == '\\' { letters.next().unwrap_or(letter) } else { letter });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# host:port:database:user:password
db.example:5432:shop:bob:first
db.example:*:*:bob:second
*:5433:*:*:with\\:colon\\\\and backslash
we\\:ird:5432:shop:bob:third
short:line
*:*:*:empty:
*:*:*:eve:last:ignored
";

    fn found(host: &str, port: u16, database: &str, user: &str) -> Option<String> {
        find(FILE, &WantedLine { host, port, database, user }).map(|secret| secret.reveal().to_owned())
    }

    #[test]
    fn the_first_line_that_fits_is_taken() {
        assert_eq!(found("db.example", 5432, "shop", "bob").as_deref(), Some("first"));
        assert_eq!(found("db.example", 5432, "other", "bob").as_deref(), Some("second"));
        assert_eq!(found("elsewhere", 5433, "shop", "ann").as_deref(), Some("with:colon\\and backslash"));
        assert_eq!(found("we:ird", 5432, "shop", "bob").as_deref(), Some("third"));
        assert_eq!(found("anywhere", 1, "any", "eve").as_deref(), Some("last"));
    }

    #[test]
    fn what_does_not_fit_is_not_taken() {
        assert_eq!(found("db.example", 5432, "shop", "ann"), None);
        assert_eq!(found("short", 1, "line", "x"), None);
        assert_eq!(found("anywhere", 1, "any", "empty"), None);
        assert_eq!(found("# host", 1, "", ""), None);
    }
}
