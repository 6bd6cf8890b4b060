//! What a report consists of, before it becomes HTML or Markdown.

use crate::figures::Figure;
use crate::table::Table;
use analysis::findings::Severity;
use serde::Serialize;
use std::collections::BTreeSet;

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

impl Document {
    /// Every table and figure gets an id of its own: who comes second is numbered.
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
        Self { title: title.into(), blocks }
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

/// Every block, those within folds as well.
fn flat(blocks: &[Block]) -> Vec<&Block> {
    let mut found = Vec::new();
    for block in blocks {
        found.push(block);
        if let Block::Fold { blocks, .. } = block {
            found.extend(flat(blocks));
        }
    }
    found
}

fn each_mut(blocks: &mut [Block], seen: &mut impl FnMut(&mut Block)) {
    for block in blocks {
        seen(block);
        if let Block::Fold { blocks, .. } = block {
            each_mut(blocks, seen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_are_the_same_are_numbered() {
        let table = || Block::Table(Table::new("a/1".to_owned(), "", [], []));
        let fold = Block::Fold { title: String::new(), blocks: vec![table(), table()] };
        let document = Document::new("Title", vec![table(), fold]);
        let ids: Vec<&str> = document.tables().iter().map(|table| table.id.as_str()).collect();
        assert_eq!(ids, ["a/1", "a/1-2", "a/1-3"]);
    }
}
