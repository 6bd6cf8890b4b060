//! An analysis for people and programs. Pure: it turns a run and its analysis into texts.
//!
//! [`sections::all`] builds the report once, as headings, paragraphs, tables of typed cells and figures with their
//! data. [`html`] and [`markdown`] write it down, [`csv`] one table or figure of it. [`json`] has all of them, with the
//! analysis and the record, so the forms cannot disagree. [`terminal`] is the short table at the end of a run. No
//! number is computed here: each comes from the analysis or the record, with its interval or marked as a point value.
//!
//! Figures are drawn by a small module of our own. A charting library writes fixed fonts, colours and sizes into its
//! SVG. Ours take them from the page's style sheet, and so follow dark mode, paper and a phone's width.

mod ablation;
pub mod answer;
pub mod attribution;
pub mod consolidation;
pub mod csv;
pub mod document;
mod durability;
pub mod figures;
pub mod findings;
pub mod format;
pub mod html;
pub mod json;
pub mod many_runs;
pub mod markdown;
pub mod measures;
pub mod missing;
pub mod neighbour;
pub mod precision;
pub mod reasons;
pub mod sections;
pub mod sentence;
mod stamp;
pub mod table;
pub mod terminal;
pub mod trend;
pub mod two_runs;
pub mod words;

use crate::document::{Block, Document};
use analysis::many_runs::trend::Trend;
use analysis::summary::Analysis;
use analysis::two_runs::TwoRuns;
use record::run::Run;

/// `report.html`: one self-contained file.
pub fn html(run: &Run, analysis: &Analysis) -> String {
    html::write(&sections::all(run, analysis))
}

/// `report.md`.
pub fn markdown(run: &Run, analysis: &Analysis) -> String {
    markdown::write(&sections::all(run, analysis))
}

/// The first page, for pasting: without figures over time and without appendices.
pub fn html_summary(run: &Run, analysis: &Analysis) -> String {
    html::write(&sections::summary(run, analysis))
}

/// The same as Markdown, with the tables only.
pub fn markdown_summary(run: &Run, analysis: &Analysis) -> String {
    markdown::write(&without_figures(sections::summary(run, analysis)))
}

/// `report.json`.
pub fn json(run: &Run, analysis: &Analysis) -> serde_json::Result<String> {
    json::write(run, analysis)
}

/// A comparison of two runs as one self-contained page.
pub fn html_of_two(two: &TwoRuns) -> String {
    html::write(&two_runs::document(two))
}

/// The same as Markdown.
pub fn markdown_of_two(two: &TwoRuns) -> String {
    markdown::write(&two_runs::document(two))
}

/// How a measure went over runs, as one self-contained page.
pub fn html_of_trend(trend: &Trend) -> String {
    html::write(&trend::document(trend))
}

/// The same as Markdown, with the tables only, since there may be no page with the figures.
pub fn markdown_of_trend(trend: &Trend) -> String {
    markdown::write(&without_figures(trend::document(trend)))
}

fn without_figures(mut document: Document) -> Document {
    fn drop_from(blocks: &mut Vec<Block>) {
        blocks.retain(|block| !matches!(block, Block::Figure(_)));
        for block in blocks {
            if let Block::Beside(inner) = block {
                drop_from(inner);
            }
        }
    }
    drop_from(&mut document.blocks);
    document
}

/// `observations.csv`.
pub fn observations(run: &Run, analysis: &Analysis) -> ::csv::Result<Vec<u8>> {
    csv::write(run, analysis)
}

/// The short table for the end of a run.
pub fn terminal(run: &Run, analysis: &Analysis) -> String {
    terminal::write(run, analysis)
}
