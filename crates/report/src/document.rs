//! What a report consists of, before it becomes HTML or Markdown.

use crate::sections;
use analysis::findings::Severity;
use analysis::summary::Analysis;
use record::run::Run;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub title: String,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Level 2 or 3; the title is level 1.
    Heading {
        level: u8,
        text: String,
    },
    /// The answer to the question.
    Answer(String),
    Paragraph(String),
    /// Small print below what it explains.
    Note(String),
    Warnings(Vec<Warning>),
    List(Vec<String>),
    Table(Table),
    Figure(Figure),
    /// Text to be copied as it is.
    Code {
        title: String,
        text: String,
    },
    /// Long detail, shown on demand and on paper.
    Fold {
        title: String,
        blocks: Vec<Block>,
    },
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    pub severity: Severity,
    /// By which it can be explained, and accepted by a study.
    pub code: &'static str,
    pub text: String,
    /// Why the study accepts it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Warning {
    /// What it is called before its text.
    pub fn word(&self) -> &'static str {
        match (self.severity, &self.accepted) {
            (_, Some(_)) => "Accepted",
            (Severity::Serious, None) => "Warning",
            (Severity::Caution, None) => "Caution",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub title: String,
    /// Aligned to the right, with digits of equal width.
    pub numeric: bool,
}

impl Column {
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), numeric: false }
    }

    pub fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), numeric: true }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    pub text: String,
    /// What belongs to the text but is read second: an interval, a reason.
    pub detail: Option<String>,
    pub tone: Tone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    #[default]
    Plain,
    /// Differs from its neighbours.
    Marked,
    Good,
    Bad,
    Muted,
}

impl Cell {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), detail: None, tone: Tone::Plain }
    }

    /// Nothing to show.
    pub fn none() -> Self {
        Self::new("–").tone(Tone::Muted)
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub title: String,
    /// What is to be seen, for readers and for those who cannot see it.
    pub description: String,
    pub panels: Vec<Panel>,
    /// Whether a panel takes the full width of the page.
    pub wide: bool,
}

/// One drawing as SVG that takes its colours and fonts from the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub svg: String,
}

/// The whole report, in the order in which it is to be read.
pub fn build(run: &Run, analysis: &Analysis) -> Document {
    let mut blocks = Vec::new();
    blocks.extend(sections::opening::blocks(analysis));
    blocks.extend(sections::design::blocks(analysis));
    blocks.extend(sections::consolidation::blocks(analysis));
    blocks.extend(sections::neighbour::blocks(analysis));
    blocks.extend(sections::comparison::blocks(analysis));
    blocks.extend(sections::pictures::blocks(analysis));
    blocks.extend(sections::steadiness::blocks(analysis));
    blocks.extend(sections::evenness::blocks(analysis));
    blocks.extend(sections::scaling::blocks(analysis));
    blocks.extend(sections::pressure::blocks(analysis));
    blocks.extend(sections::latencies::blocks(analysis));
    blocks.extend(sections::activity::blocks(analysis));
    blocks.extend(sections::waits::blocks(analysis));
    blocks.extend(sections::why::blocks(analysis));
    blocks.extend(sections::audits::blocks(analysis));
    blocks.extend(sections::consistency::blocks(analysis));
    blocks.extend(sections::what_ran::blocks(run, analysis));
    blocks.extend(sections::machines::blocks(run));
    blocks.extend(sections::databases::blocks(analysis));
    blocks.extend(sections::all_measures::blocks(analysis));
    blocks.extend(sections::trials::blocks(run, analysis));
    blocks.extend(sections::terms::blocks(run, analysis));
    Document { title: run.plan.question.clone(), blocks }
}
