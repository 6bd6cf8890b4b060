//! A mistake in a script, and its line.

use settings::Problem;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub line: usize,
    pub found: String,
    pub expected: String,
    pub nearest: Option<String>,
}

impl Mistake {
    pub fn new(line: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line, found: found.into(), expected: expected.into(), nearest: None }
    }

    /// A word that is not among the known ones.
    pub fn unknown<'a>(line: usize, what: &str, word: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let nearest = settings::nearest(word, known.clone()).map(str::to_owned);
        let expected = known.collect::<Vec<_>>().join(", ");
        Self { line, found: format!("unknown {what} {word}"), expected, nearest }
    }

    /// As the problem that a study or a command line reports.
    pub fn of_file(self, path: &str, file: &str) -> Problem {
        let found = format!("{file}, line {}: {}", self.line, self.found);
        Problem { path: path.to_owned(), found, expected: self.expected, nearest: self.nearest }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}; expected {}", self.line, self.found, self.expected)
    }
}
