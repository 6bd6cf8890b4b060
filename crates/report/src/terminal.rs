//! The short table at the end of a run.

use crate::document::Warning;
use crate::format::first_line;
use crate::sections::{comparison, design};
use crate::table::{Cell, Column, Shown, Table};
use crate::{answer, findings, format};
use analysis::findings::Severity;
use analysis::summary::Analysis;
use record::run::Run;
use record::text::visible;
use std::fmt::Write as _;

/// Warnings told here; the others are counted and stand in the report.
const MOST_WARNINGS: usize = 6;

/// Columns are never narrower, so that tables of one run look alike.
const NARROWEST: usize = 14;

/// Lines of answers and warnings are broken here.
const WIDEST: usize = 100;

/// Plain text without colours; it ends with a line break.
pub fn write(run: &Run, analysis: &Analysis) -> String {
    let mut text = format!("\n{}", wrapped(&run.plan.question, ""));
    // What makes the answer doubtful comes before it, as in the report.
    let (serious, cautions) = warnings(analysis);
    text.push_str(&serious);
    for answer in answer::sentences(analysis).into_iter().chain(design::sentences(analysis)) {
        text.push_str(&wrapped(&answer, ""));
    }
    for cells in comparison::groups(analysis) {
        text.push('\n');
        if !cells[0].coordinates.is_empty() {
            let _ = writeln!(text, "{}", visible(&cells[0].coordinates));
        }
        text.push_str(&table(&comparison::table(analysis, &cells)));
    }
    text.push('\n');
    text.push_str(&checks(analysis));
    text.push_str(&cautions);
    text
}

/// Text in columns: the first to the left, the others to the right, each number with its interval.
pub(crate) fn table(table: &Table) -> String {
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().enumerate().map(shown).collect()).collect();
    let width = |index: usize| {
        let cells = rows.iter().map(|row| row.get(index).map_or(0, |cell| cell.chars().count()));
        let title = title(&table.columns[index]).chars().count();
        cells.chain([title, NARROWEST]).max().unwrap_or(NARROWEST)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let titles: Vec<String> = table.columns.iter().map(title).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    [&titles, &rule].into_iter().chain(&rows).map(|cells| line(cells, &widths)).collect()
}

/// The text of a cell; what explains a label stands in the report.
fn shown((index, cell): (usize, &Cell)) -> String {
    let Shown { text, detail, .. } = cell.shown();
    clipped(&detail.filter(|_| index > 0).map_or(text.clone(), |detail| format!("{text} ({detail})")))
}

fn title(column: &Column) -> String {
    clipped(&column.title)
}

/// Names of others may be of any length; the report has them whole.
fn clipped(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let _ = if index == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
    }
    format!("{}\n", text.trim_end())
}

fn checks(analysis: &Analysis) -> String {
    let counts = analysis.check_counts;
    let (held, violated, undecided) = (counts.held, counts.violated, counts.undecided);
    let all = u64::from(held) + u64::from(violated);
    if all == 0 {
        return "Data checks: none ran\n".to_owned();
    }
    let verdict = match (violated, counts.unchecked_trials) {
        (0, 0) => "passed",
        (0, _) => "INCOMPLETE",
        _ => "VIOLATED",
    };
    let unchecked = match counts.unchecked_trials {
        0 => String::new(),
        1 => "; 1 trial has none".to_owned(),
        many => format!("; {many} trials have none"),
    };
    format!(
        "Data checks: {verdict} ({} of {} hold, {undecided} undecided{unchecked})\n",
        format::count(held.into()),
        format::count(all)
    )
}

/// Serious warnings, and then the others; of all together no more than [`MOST_WARNINGS`], the serious first.
fn warnings(analysis: &Analysis) -> (String, String) {
    let (mut serious, mut others) = (String::new(), String::new());
    for finding in analysis.findings.iter().take(MOST_WARNINGS) {
        let warning = findings::warning(finding);
        let is_doubt = warning.severity == Severity::Serious && warning.accepted.is_none();
        if is_doubt { &mut serious } else { &mut others }.push_str(&warning_line(&warning));
    }
    let more = analysis.findings.len().saturating_sub(MOST_WARNINGS);
    if more > 0 {
        let _ = writeln!(others, "and {more} more warnings, in the report");
    }
    if let Some(first) = analysis.findings.first() {
        let _ = writeln!(others, "What a code in brackets means: bakeoff explain {}", first.what.code());
    }
    (serious, others)
}

pub(crate) fn warning_line(warning: &Warning) -> String {
    let word = match (warning.severity, &warning.accepted) {
        (_, Some(_)) => "accepted",
        (Severity::Serious, None) => "WARNING",
        (Severity::Caution, None) => "caution",
    };
    let reason = warning.accepted.as_ref().map(|why| format!(" Accepted by the study: {why}")).unwrap_or_default();
    wrapped(&format!("{word}: {} [{}]{reason}", first_line(&warning.text), warning.code), "  ")
}

/// Words in lines of at most [`WIDEST`] characters; lines after the first are set in by `indent`.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split_whitespace().map(visible) {
        let word_length = word.chars().count();
        if length > 0 && length + 1 + word_length > WIDEST {
            lines.push('\n');
            lines.push_str(indent);
            length = indent.chars().count();
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(&word);
        length += word_length;
    }
    lines + "\n"
}
