//! Counts errors seen while driving, by code, with one message for each code.
//!
//! Messages differ each time (a deadlock names its processes), so counting by message would fill the book with one
//! problem and hide the next. A code identifies the kind of problem.

use engines::session::SessionError;
use std::collections::BTreeMap;

/// Codes that are counted separately. A database has hundreds, and a run sees a handful.
const CODES_MAX: usize = 40;
const MESSAGE_CHARS_MAX: usize = 200;
const OTHERS: &str = "other errors";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct SeenError {
    /// The first message, without the details in its further lines.
    message: String,
    count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorBook(BTreeMap<String, SeenError>);

impl ErrorBook {
    pub fn note(&mut self, error: &SessionError) {
        let code = code_of(error);
        if let Some(seen) = self.0.get_mut(code) {
            seen.count += 1;
            return;
        }
        let text = match error {
            SessionError::Retryable { code, message } | SessionError::Refused { code, message } => {
                format!("{code}: {}", message.lines().next().unwrap_or_default())
            }
            other => other.to_string(),
        };
        let message = text.chars().take(MESSAGE_CHARS_MAX).collect();
        self.add(code.to_owned(), SeenError { message, count: 1 });
    }

    pub fn absorb(&mut self, other: Self) {
        for (code, seen) in other.0 {
            self.add(code, seen);
        }
    }

    pub fn most_frequent(&self) -> Option<&str> {
        self.0.values().max_by_key(|seen| seen.count).map(|seen| seen.message.as_str())
    }

    /// One message for each code.
    pub fn into_counts(self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for seen in self.0.into_values() {
            *counts.entry(seen.message).or_default() += seen.count;
        }
        counts
    }

    fn add(&mut self, code: String, seen: SeenError) {
        let is_told_apart = self.0.contains_key(&code) || self.0.len() < CODES_MAX;
        let (code, message) = if is_told_apart { (code, seen.message) } else { (OTHERS.to_owned(), OTHERS.to_owned()) };
        self.0.entry(code).or_insert(SeenError { message, count: 0 }).count += seen.count;
    }
}

/// The database's own code, or else a name for the kind of problem.
fn code_of(error: &SessionError) -> &str {
    match error {
        SessionError::Retryable { code, .. } | SessionError::Refused { code, .. } => code,
        SessionError::Lost(_) => "connection lost",
        SessionError::Insecure { .. } => "no secure connection",
        SessionError::Protocol(_) => "protocol error",
        SessionError::TooLarge(_) => "answer too large",
        SessionError::Unexpected { statement, .. } => statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str, message: &str) -> SessionError {
        SessionError::Refused { code: code.to_owned(), message: message.to_owned() }
    }

    #[test]
    fn a_hundred_deadlocks_are_one_entry_and_do_not_hide_what_else_happens() {
        let mut book = ErrorBook::default();
        for process in 0..100 {
            book.note(&refused("40P01", &format!("deadlock detected\n(Process {process} waits for ShareLock.)")));
        }
        book.note(&refused("23505", "duplicate key"));
        assert_eq!(book.most_frequent(), Some("40P01: deadlock detected"));
        let counts = book.into_counts();
        let counts: Vec<_> = counts.iter().map(|(message, count)| (message.as_str(), *count)).collect();
        assert_eq!(counts, [("23505: duplicate key", 1), ("40P01: deadlock detected", 100)]);
    }

    #[test]
    fn codes_are_bounded_and_no_error_is_uncounted() {
        let mut book = ErrorBook::default();
        for number in 0..100 {
            book.note(&refused(&format!("{number:05}"), "odd"));
        }
        let mut again = ErrorBook::default();
        again.note(&refused("00001", "odd, said otherwise"));
        book.absorb(again);
        let counts = book.into_counts();
        assert_eq!(counts.len(), CODES_MAX + 1);
        assert_eq!((counts.values().sum::<u64>(), counts["00001: odd"]), (101, 2));
    }
}
