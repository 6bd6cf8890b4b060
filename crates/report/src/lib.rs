//! An analysis for people and programs. Pure: it turns a run and its analysis into texts.
//!
//! [`sections::all`] builds the report once, as headings, paragraphs, tables of typed cells and figures with their
//! data. [`html`] and [`markdown`] write it down, [`csv`] one table or figure of it. [`json`] has all of them, with the
//! analysis and the record, so the forms cannot disagree. [`terminal`] is the short table at the end of a run. No
//! number is computed here: each comes from the analysis or the record, with its interval or marked as a point value.
//!
//! Figures are drawn by a small module of our own. A charting library writes fixed fonts, colours and sizes into its
//! SVG. Ours take them from the page's style sheet, and so follow dark mode, paper and a phone's width.

pub mod answer;
pub mod csv;
pub mod document;
pub mod figures;
pub mod findings;
pub mod format;
pub mod html;
pub mod json;
pub mod many_runs;
pub mod markdown;
pub mod measures;
pub mod missing;
pub mod precision;
pub mod reasons;
pub mod sections;
pub mod sentence;
mod stamp;
pub mod table;
pub mod terminal;
pub mod trend;
pub mod two_runs;
mod words;

/// `observations.csv`.
pub use crate::csv::write as observations;
/// `report.json`.
pub use crate::json::write as json;
/// The short table for the end of a run.
pub use crate::terminal::write as terminal;

use analysis::summary::Analysis;
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
    markdown::write(&sections::summary(run, analysis).without_figures())
}
