//! Mistakes in the TOML itself, in the words of all other problems: where to the column, what, and what would do.

use crate::problems::Problem;
use crate::source::Lines;
use toml::de::Error;

/// A line this long helps nobody when it is quoted.
const LONGEST_QUOTE: usize = 80;

/// The parser goes on after a mistake and then stumbles over its consequences: only the first of a line is told.
pub fn problems(text: &str, lines: &Lines, errors: &[Error]) -> Vec<Problem> {
    let mut told: Vec<Problem> = Vec::new();
    for error in errors {
        let problem = problem(text, lines, error);
        if problem.line.is_none() || !told.iter().any(|earlier| earlier.line == problem.line) {
            told.push(problem);
        }
    }
    told
}

fn problem(text: &str, lines: &Lines, error: &Error) -> Problem {
    let Some(span) = error.span() else { return Problem::new(None, "", error.message(), "") };
    let line = lines.at(span.start);
    let at = text.get(span.start..).unwrap_or_default();
    let (found, expected) = plain(error.message(), at);
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let quote =
        if written.is_empty() || written.len() > LONGEST_QUOTE { String::new() } else { format!(" in `{written}`") };
    let column = lines.column(text, span.start);
    Problem {
        column: Some(column),
        ..Problem::new(Some(line), "", format!("not valid TOML: {found}{quote}"), expected)
    }
}

/// The parser's message, taken apart. A bare word where a value should be is what people get wrong most, and what the
/// parser takes for a number that went wrong.
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
