//! The short table at the end of a run.

use crate::document::{Mark, Warning};
use crate::format::{filled, first_line, within};
use crate::sections::{ablation, comparison, design, durability, trust};
use crate::sentence::Stamped;
use crate::table::{Cell, Shown, Table};
use crate::{answer, findings};
use analysis::summary::Analysis;
use record::run::Run;
use record::text::visible;
use std::fmt::Write as _;

/// The most findings shown here; the others are counted and are in the report.
const MOST_FINDINGS: usize = 6;

/// The longest line, so that lines fit the usual terminal.
const WIDEST: usize = 80;

/// Names from elsewhere may be of any length; the report shows them in full.
const LONGEST_CELL: usize = 100;

/// Plain text without colours; it ends with a line break. Lines with a verdict begin with its sign.
pub fn write(run: &Run, analysis: &Analysis) -> String {
    let mut text = format!("\n{}", wrapped(&run.plan.question, ""));
    let (answers, common) = answer::first(analysis);
    for answer in &answers {
        text.push_str(&wrapped(&answer.sentence(), ""));
        text.extend(answer.stamped.as_ref().map(stamp));
    }
    text.extend(design::sentences(analysis).iter().map(|sentence| wrapped(sentence, "")));
    // Those that a stamp has named are not repeated.
    let named = answers
        .iter()
        .filter_map(|one| one.stamped.as_ref())
        .chain(&common)
        .filter_map(|one| Some(one.reason()?.finding));
    let trust = trust(analysis, &named.collect::<Vec<_>>());
    let audits = durability::overview(&analysis.durability);
    if run.has_only_audits() {
        text.push_str(&audits.map(|shown| format!("\n{}\n", table(&shown))).unwrap_or_default());
        text.push_str(&trust);
        return text;
    }
    text.extend(common.as_ref().map(stamp));
    let overview = ablation::short(analysis).or_else(|| comparison::overview(analysis)).map(|shown| vec![shown]);
    let alone = || comparison::groups(analysis).first().map(|cells| comparison::tables(analysis, cells, false));
    let tables = overview.or_else(alone).unwrap_or_default();
    text.push_str(if tables.is_empty() { "" } else { "\n" });
    for shown in tables.iter().chain(&audits) {
        let _ = writeln!(text, "{}", table(shown));
    }
    text.push_str(&trust);
    text
}

fn stamp(stamped: &Stamped) -> String {
    let code = within("[", stamped.reason().map_or("", |doubt| doubt.code), "]");
    let says = [Mark::from(stamped.stamp).sign(), &stamped.says, stamped.remedy.unwrap_or_default(), &code];
    wrapped(&filled(says, " "), "  ")
}

/// Text in columns: the first is left-aligned, the others right-aligned, each number with its interval.
pub(crate) fn table(table: &Table) -> String {
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().enumerate().map(shown).collect()).collect();
    let titles: Vec<String> = table.columns.iter().map(|column| clipped(&column.title)).collect();
    let width = |index: usize| {
        let cells = rows.iter().map(|row| row.get(index).map_or(0, |cell| cell.chars().count()));
        cells.chain([titles[index].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    [&titles, &rule].into_iter().chain(&rows).map(|cells| line(cells, &widths)).collect()
}

/// The text of a cell; explanations of labels are in the report.
fn shown((index, cell): (usize, &Cell)) -> String {
    let Shown { text, detail, .. } = cell.shown();
    // For text, the main text is enough.
    let detail = detail.filter(|_| index > 0 && cell.quantity().is_some()).unwrap_or_default();
    clipped(&(text + &within(" (", &detail, ")")))
}

fn clipped(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(LONGEST_CELL) {
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

/// The findings, the worst first, and what is fine.
fn trust(analysis: &Analysis, named: &[usize]) -> String {
    let mut text = String::new();
    let others = analysis.findings.iter().enumerate().filter(|(place, _)| !named.contains(place));
    let others = findings::lines(others.map(|(_, finding)| finding));
    text.extend(others.iter().take(MOST_FINDINGS).map(warning_line));
    let more = others.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        let _ = writeln!(text, "and {more} more in the report");
    }
    let passed = trust::passed(analysis);
    text.extend(passed.iter().map(|line| wrapped(&format!("{} {line}", Mark::Good.sign()), "  ")));
    if let Some(first) = analysis.findings.first() {
        let _ = writeln!(text, "To read about a code: bakeoff explain {}", first.what.code());
    }
    text
}

pub(crate) fn warning_line(warning: &Warning) -> String {
    let text = first_line(&warning.text).trim_end_matches('.');
    let end = warning.end(str::to_owned);
    wrapped(&format!("{} {}: {text}. {end}", warning.mark().sign(), warning.code), "  ")
}

/// Words in lines of at most [`WIDEST`] characters; lines after the first are indented by `indent`.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(visible) {
        match words.last_mut() {
            // A number and its sign stay on one line.
            Some(number) if word.starts_with(['%', '×']) => *number = format!("{number} {word}"),
            _ => words.push(word.into_owned()),
        }
    }
    let mut lines = String::new();
    let mut length = 0;
    for word in words {
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
