//! The short table at the end of a run.

use crate::document::{Block, Mark, Warning};
use crate::format::{NO_BREAK, clipped, filled, first_line, joined, kept_together, within};
use crate::sections::{ablation, card, comparison, durability, trust};
use crate::sentence::{AnswerParts, Stamped};
use crate::table::{ShownCell, Table, TableCell};
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
    let ([answers, rest], stamp) = answer::in_report(analysis);
    let rest = (!rest.is_empty()).then(|| format!("{} more answers are in the report.", rest.len()));
    // A finding is not repeated if a stamp has named all of its trials.
    let stamps: String =
        answers.iter().filter_map(|one| one.stamped.as_ref()).chain(&stamp).map(|one| one.says.as_str()).collect();
    let all = analysis.findings.iter();
    let mut found = findings::lines(all.filter(|one| !stamps.contains(&findings::warning(one).text)));
    let more = found.len().saturating_sub(MOST_FINDINGS);
    found.truncate(MOST_FINDINGS);
    let mut blocks = vec![Block::Paragraph(run.plan.question.clone()), Block::Card { answers, stamp }];
    blocks.extend(rest.into_iter().chain(card::design(analysis)).map(Block::Paragraph));
    if !run.has_only_audits() {
        let overview = ablation::short(analysis).or_else(|| comparison::overview(analysis)).map(|shown| vec![shown]);
        let alone = || comparison::groups(analysis).first().map(|cells| comparison::tables(analysis, cells, false));
        blocks.extend(overview.or_else(alone).into_iter().flatten().map(Block::Table));
    }
    blocks.extend(durability::overview(&analysis.durability).map(Block::Table));
    blocks.push(Block::Trust { found, passed: trust::passed(analysis) });
    blocks.extend((more > 0).then(|| Block::Paragraph(format!("and {more} more in the report"))));
    let first = analysis.findings.first();
    let code = first.map(|first| format!("To read about a code: bakeoff explain {}", first.what.code()));
    blocks.extend(code.map(Block::Paragraph));
    format!("\n{}", page(&blocks))
}

/// Blocks as plain text. Figures, and what the page folds, are left out.
pub(crate) fn page(blocks: &[Block]) -> String {
    let of_block = |block: &Block| match block {
        Block::Heading { text, .. } => format!("\n{}\n", visible(text)),
        Block::Card { answers, stamp } => {
            let answer = |one: &AnswerParts| {
                let stamp = one.stamped.as_ref().map(of_stamp).unwrap_or_default();
                wrapped(&one.sentence(), "") + &stamp
            };
            answers.iter().map(answer).chain(stamp.as_ref().map(of_stamp)).collect()
        }
        Block::Where(text) | Block::Paragraph(text) | Block::Note(text) => wrapped(text, ""),
        Block::Trust { found, passed } => {
            let passed = passed.iter().map(|line| wrapped(&format!("{} {line}", Mark::Good.sign()), "  "));
            found.iter().map(warning_line).chain(passed).collect()
        }
        Block::List(lines) => lines.iter().map(|line| wrapped(line, "  ")).collect(),
        Block::Facts(facts) => {
            joined(facts.iter().map(|(name, said)| format!("{:<9} {}\n", visible(name), visible(said))), "")
        }
        Block::Table(shown) => {
            let caption = if shown.caption.is_empty() { String::new() } else { wrapped(&shown.caption, "") };
            format!("\n{caption}{}\n", table(shown))
        }
        Block::Code { text, .. } => text.clone(),
        Block::Figure(_) | Block::Beside(_) | Block::Fold { .. } => String::new(),
    };
    blocks.iter().map(of_block).collect()
}

fn of_stamp(stamped: &Stamped) -> String {
    let code = within("[", stamped.reason().map_or("", |doubt| doubt.code), "]");
    let says = [Mark::from(stamped.stamp).sign(), &stamped.says, stamped.remedy.unwrap_or_default(), &code];
    wrapped(&filled(says, " "), "  ")
}

/// Text in columns: the first is left-aligned, the others right-aligned, each number with its interval.
pub(crate) fn table(table: &Table) -> String {
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().enumerate().map(shown).collect()).collect();
    let titles: Vec<String> =
        table.columns.iter().map(|column| clipped(&visible(&column.title), LONGEST_CELL)).collect();
    let width = |index: usize| {
        let cells = rows.iter().map(|row| row.get(index).map_or(0, |cell| cell.chars().count()));
        cells.chain([titles[index].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    [&titles, &rule].into_iter().chain(&rows).map(|cells| line(cells, &widths)).collect()
}

/// The text of a cell; explanations of labels are in the report.
fn shown((index, cell): (usize, &TableCell)) -> String {
    let ShownCell { text, detail, .. } = cell.shown();
    // For text, the main text is enough.
    let detail = detail.filter(|_| index > 0 && cell.quantity().is_some()).unwrap_or_default();
    clipped(&visible(&(text + &within(" (", &detail, ")"))), LONGEST_CELL)
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let _ = if index == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
    }
    format!("{}\n", text.trim_end())
}

fn warning_line(warning: &Warning) -> String {
    let text = first_line(&warning.text).trim_end_matches('.');
    let end = warning.end(str::to_owned);
    wrapped(&format!("{} {}: {text}. {end}", warning.mark().sign(), warning.code), "  ")
}

/// Words in lines of at most [`WIDEST`] characters; lines after the first are indented by `indent`.
pub(crate) fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in kept_together(text).split_ascii_whitespace() {
        let word = visible(word).replace(NO_BREAK, " ");
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
