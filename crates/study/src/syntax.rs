//! Reports mistakes in the TOML itself like all other problems: the place to the column, what is wrong, what was expected.

use crate::lines::LineStarts;
use crate::problems::Flaw;
use toml::de::Error;

/// A quoted line longer than this helps nobody.
const LONGEST_QUOTE: usize = 80;

/// The parser continues after a mistake and then stumbles over its consequences: only the first in a line is reported.
pub fn problems(text: &str, lines: &LineStarts, errors: &[Error]) -> Vec<Flaw> {
    let mut told: Vec<Flaw> = Vec::new();
    for error in errors {
        let problem = problem(text, lines, error);
        if problem.line.is_none() || !told.iter().any(|earlier| earlier.line == problem.line) {
            told.push(problem);
        }
    }
    told
}

fn problem(text: &str, lines: &LineStarts, error: &Error) -> Flaw {
    let Some(span) = error.span() else { return Flaw::new(None, "", error.message(), "") };
    let line = lines.at(span.start);
    let at = text.get(span.start..).unwrap_or_default();
    let (found, expected) = plain(error.message(), at);
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let quote =
        if written.is_empty() || written.len() > LONGEST_QUOTE { String::new() } else { format!(" in `{written}`") };
    let column = lines.column(text, span.start);
    Flaw { column: Some(column), ..Flaw::new(Some(line), "", format!("not valid TOML: {found}{quote}"), expected) }
}

/// The parser's message, taken apart. The most frequent mistake is a bare word in place of a value. The parser takes
/// that for a broken number.
fn plain(message: &str, at: &str) -> (String, String) {
    let bare_word =
        message.contains("quoted") || (message.starts_with("invalid") && at.starts_with(char::is_alphabetic));
    if bare_word {
        let found = if at.starts_with(char::is_whitespace) || at.is_empty() { "no value" } else { "a bare word" };
        return (found.to_owned(), "text in quotes, a number, true or false".to_owned());
    }
    match message.split_once(", expected ") {
        Some((found, "nothing")) => (found.to_owned(), String::new()),
        Some((found, expected)) => (found.to_owned(), expected.replace(", ", " or ")),
        None => (message.to_owned(), String::new()),
    }
}
