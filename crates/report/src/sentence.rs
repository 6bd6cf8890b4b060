//! An answer in words, with its figure, and whether it may be used.

use crate::format::{filled, within};
use analysis::answers::{AnswerDoubt, Question};
use analysis::findings::Stamp;
use serde::Serialize;

/// The parts of an answer, in the order in which they are read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnswerParts {
    pub question: Option<Question>,
    /// The point of the study it is about; empty if the study has only one.
    pub place: String,
    /// The change of throughput: `−15 %`, or the range in which it lies.
    pub change: Option<String>,
    pub says: String,
    /// The confidence interval, in a sentence.
    pub interval: String,
    /// A qualification that must never be separated from the figure.
    pub but: String,
    /// Absent where it is said once for all answers.
    pub stamped: Option<Stamped>,
}

/// Whether an answer may be used, and what to do if not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stamped {
    pub stamp: Stamp,
    pub says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<&'static str>,
    /// The finding that is the main reason, if there is one to act on.
    #[serde(skip)]
    pub finding: Option<usize>,
    /// What could move the answer, the worst first.
    pub doubts: Vec<AnswerDoubt>,
}

impl Stamped {
    /// What stands below an answer after another one with the same reason.
    #[must_use]
    pub fn again(&self) -> Self {
        let word = self.says.split([':', '.']).next().unwrap_or_default();
        Self { says: format!("{word}, as above."), remedy: None, ..self.clone() }
    }

    pub fn reason(&self) -> Option<&AnswerDoubt> {
        self.doubts.iter().find(|doubt| Some(doubt.finding) == self.finding)
    }
}

impl AnswerParts {
    /// An answer in words only.
    pub fn words(says: impl Into<String>) -> Self {
        Self { says: says.into(), ..Self::default() }
    }

    pub fn sentence(&self) -> String {
        filled([&within("At ", &self.place, ":"), &self.says, &self.interval, &self.but], " ")
    }
}
