//! Errors seen while driving, counted by message, with a bound on how many messages are told apart.

use std::collections::BTreeMap;

const MESSAGES_MAX: usize = 40;
const MESSAGE_CHARS_MAX: usize = 200;
const OTHERS: &str = "other errors";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorBook(BTreeMap<String, u64>);

impl ErrorBook {
    pub fn note(&mut self, message: &str) {
        self.add(message.chars().take(MESSAGE_CHARS_MAX).collect(), 1);
    }

    pub fn absorb(&mut self, other: Self) {
        for (message, count) in other.0 {
            self.add(message, count);
        }
    }

    pub fn most_frequent(&self) -> Option<&str> {
        self.0.iter().max_by_key(|(_, count)| **count).map(|(message, _)| message.as_str())
    }

    pub fn into_counts(self) -> BTreeMap<String, u64> {
        self.0
    }

    fn add(&mut self, message: String, count: u64) {
        let known = self.0.contains_key(&message) || self.0.len() < MESSAGES_MAX;
        *self.0.entry(if known { message } else { OTHERS.to_owned() }).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_bounded_and_none_is_uncounted() {
        let mut book = ErrorBook::default();
        for number in 0..100 {
            book.note(&format!("row {number:03} is locked"));
        }
        book.note("row 001 is locked");
        assert_eq!(book.most_frequent(), Some(OTHERS));
        let counts = book.into_counts();
        assert_eq!(counts.len(), MESSAGES_MAX + 1);
        assert_eq!(counts.values().sum::<u64>(), 101);
        assert_eq!(counts["row 001 is locked"], 2);
    }
}
