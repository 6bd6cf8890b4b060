//! One place where a rule is broken.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    pub path: String,
    /// Counted from 1; 0 means the whole file.
    pub line: usize,
    /// Short stable name of the rule, by which an exception refers to it.
    pub rule: &'static str,
    /// What the exception names: a function, a word, a dependency.
    pub subject: String,
    /// What is wrong and why that matters.
    pub message: String,
}

impl Breach {
    pub fn new(path: &str, line: usize, rule: &'static str, subject: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, rule, subject: subject.to_owned(), message: message.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {} [{}]", self.path, self.message, self.rule),
            line => write!(formatter, "{}:{line}: {} [{}]", self.path, self.message, self.rule),
        }
    }
}
