//! The parts of a report, before it becomes HTML or Markdown.

use crate::figures::Figure;
use crate::sentence::{AnswerParts, Stamped};
use crate::table::{Table, id};
use analysis::findings::{Severity, Stamp};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub title: String,
    pub blocks: Vec<Block>,
    /// Words that are explained at their first use, each with its meaning.
    pub words: Vec<(&'static str, String)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Level 2 or 3; the title is level 1.
    Heading {
        level: u8,
        text: String,
    },
    /// Where, when and what was measured, above everything else.
    Where(String),
    /// The answers to the question and, for a run, whether they may be used: each of them, or all.
    Card {
        answers: Vec<AnswerParts>,
        stamp: Option<Stamped>,
    },
    Paragraph(String),
    /// Small print below what it explains.
    Note(String),
    /// What was found and, for a run, what was checked and is fine.
    Trust {
        found: Vec<Warning>,
        passed: Vec<String>,
    },
    List(Vec<String>),
    /// Names, each with its value.
    Facts(Vec<(String, String)>),
    Table(Table),
    Figure(Figure),
    /// Text that can be copied as it is.
    Code {
        title: String,
        text: String,
    },
    /// Blocks side by side, where there is room.
    Beside(Vec<Block>),
    /// Details, shown on demand.
    Fold {
        title: String,
        blocks: Vec<Block>,
    },
}

/// A finding in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    pub severity: Severity,
    /// The code under which it can be explained, and accepted by a study.
    pub code: &'static str,
    /// Which of the findings of that code it is.
    pub kind: &'static str,
    pub text: String,
    /// What to do about it.
    #[serde(skip)]
    pub remedy: &'static str,
    /// The part of the report with the figures behind it.
    #[serde(skip)]
    pub evidence: &'static str,
    /// Why the study accepts it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Warning {
    /// What stands behind the text: what to do, or why the study accepts it. `escaped` makes the reason safe, which a user wrote.
    pub fn end(&self, escaped: impl Fn(&str) -> String) -> String {
        self.accepted.as_ref().map_or_else(|| self.remedy.to_owned(), |why| format!("Accepted: {}", escaped(why)))
    }

    pub fn mark(&self) -> Mark {
        match (self.severity, &self.accepted) {
            (_, Some(_)) => Mark::Accepted,
            (Severity::Serious, None) => Mark::Bad,
            (Severity::Caution, None) => Mark::Care,
        }
    }
}

/// The sign in front of a line, and the word for screen readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Good,
    Care,
    Bad,
    Accepted,
}

impl From<Stamp> for Mark {
    fn from(stamp: Stamp) -> Self {
        match stamp {
            Stamp::Usable => Self::Good,
            Stamp::WithCare => Self::Care,
            Stamp::NotUsable => Self::Bad,
        }
    }
}

impl Mark {
    pub fn sign(self) -> &'static str {
        self.look().1
    }

    /// The class in the style sheet, the sign, and the word.
    pub fn look(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Good => ("good", "✓", "Passed"),
            Self::Care => ("care", "!", "Caution"),
            Self::Bad => ("bad", "✗", "Warning"),
            Self::Accepted => ("muted", "–", "Accepted"),
        }
    }
}

impl Block {
    /// `None` for a list without lines.
    pub fn list(lines: impl IntoIterator<Item = String>) -> Option<Self> {
        let lines: Vec<String> = lines.into_iter().collect();
        (!lines.is_empty()).then_some(Self::List(lines))
    }

    /// `None` without blocks.
    pub fn fold(title: impl Into<String>, blocks: impl IntoIterator<Item = Self>) -> Option<Self> {
        let blocks: Vec<Self> = blocks.into_iter().collect();
        (!blocks.is_empty()).then(|| Self::Fold { title: title.into(), blocks })
    }

    /// A heading below that of a section.
    pub fn lower(text: impl Into<String>) -> Self {
        Self::Heading { level: 3, text: text.into() }
    }
}

impl Document {
    /// Every table and figure gets an id of its own: a repeated id is numbered.
    pub fn new(title: impl Into<String>, mut blocks: Vec<Block>) -> Self {
        let mut taken = BTreeSet::new();
        each_mut(&mut blocks, &mut |block| {
            let id = match block {
                Block::Table(table) => &mut table.id,
                Block::Figure(figure) => &mut figure.id,
                _ => return,
            };
            let asked = id.clone();
            for number in 2.. {
                if taken.insert(id.clone()) {
                    break;
                }
                *id = format!("{asked}-{number}");
            }
        });
        Self { title: title.into(), blocks, words: Vec::new() }
    }

    /// The same with tables only, outside of folds.
    #[must_use]
    pub fn without_figures(self) -> Self {
        fn kept(blocks: Vec<Block>) -> Vec<Block> {
            let others = blocks.into_iter().filter(|block| !matches!(block, Block::Figure(_)));
            others.map(|one| if let Block::Beside(inner) = one { Block::Beside(kept(inner)) } else { one }).collect()
        }
        Self { blocks: kept(self.blocks), ..self }
    }

    /// The anchors of headings and of top-level folds, each with its text, in order.
    pub fn contents(&self) -> Vec<(String, &str)> {
        let of_block = |block| match block {
            &Block::Heading { level: 2, ref text } => Some(text),
            Block::Fold { title, .. } => Some(title),
            _ => None,
        };
        self.blocks.iter().filter_map(of_block).map(|text| (anchor(text), text.as_str())).collect()
    }

    pub fn tables(&self) -> Vec<&Table> {
        let blocks = flat(&self.blocks).into_iter();
        blocks.filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None }).collect()
    }

    pub fn figures(&self) -> Vec<&Figure> {
        let blocks = flat(&self.blocks).into_iter();
        blocks.filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None }).collect()
    }
}

/// The anchor of a part of a report, for links to it.
pub fn anchor(title: &str) -> String {
    id("section", title)
}

/// Every block, including those within folds.
fn flat(blocks: &[Block]) -> Vec<&Block> {
    let mut found = Vec::new();
    for block in blocks {
        found.push(block);
        if let Block::Fold { blocks, .. } | Block::Beside(blocks) = block {
            found.extend(flat(blocks));
        }
    }
    found
}

fn each_mut(blocks: &mut [Block], seen: &mut impl FnMut(&mut Block)) {
    for block in blocks {
        seen(block);
        if let Block::Fold { blocks, .. } | Block::Beside(blocks) = block {
            each_mut(blocks, seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TableOf;

    #[test]
    fn ids_that_are_the_same_are_numbered() {
        let table = || Block::Table(TableOf::new(&[()]).table("a/1", "").unwrap());
        let fold = Block::Fold { title: String::new(), blocks: vec![table(), table()] };
        let document = Document::new("Title", vec![table(), fold]);
        let ids: Vec<&str> = document.tables().iter().map(|table| table.id.as_str()).collect();
        assert_eq!(ids, ["a/1", "a/1-2", "a/1-3"]);
    }
}
