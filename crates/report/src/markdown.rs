//! `report.md`: the document as GitHub-flavoured Markdown. Figures are described in words; the drawings are in `report.html`.

use crate::document::{Block, Document, Mark, Warning};
use crate::figures::{Figure, svg};
use crate::format::{joined, within};
use crate::sentence::{AnswerParts, Stamped};
use crate::table::{ShownCell, Table, TableCell, Tone};
use record::text::visible_lines;
use std::fmt::Write as _;

pub fn write(document: &Document) -> String {
    let mut text = format!("# {}\n", escaped(&document.title));
    for block in &document.blocks {
        text.push('\n');
        text.push_str(&of_block(block));
    }
    text
}

fn of_block(block: &Block) -> String {
    match block {
        Block::Heading { level, text } => format!("{} {}\n", "#".repeat(usize::from(*level)), escaped(text)),
        Block::Card { answers, stamp } => card(answers, stamp.as_ref()),
        Block::Where(text) | Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::Note(text) => format!("*{}*\n", escaped(text)),
        Block::Trust { found, passed } => {
            let passed = passed.iter().map(|line| format!("- {} {}\n", Mark::Good.sign(), escaped(line)));
            found.iter().map(of_warning).chain(passed).collect()
        }
        Block::Facts(facts) => {
            let fact = |(name, value): &(String, String)| format!("- **{}:** {}\n", escaped(name), escaped(value));
            facts.iter().map(fact).collect()
        }
        Block::List(lines) => joined(lines.iter().map(|line| format!("- {}\n", escaped(line))), ""),
        Block::Table(table) => of_table(table),
        Block::Figure(figure) => of_figure(figure),
        Block::Code { title, text } => {
            let fence = fence(text);
            format!("{}\n\n{fence}sh\n{}\n{fence}\n", escaped(title), visible_lines(text))
        }
        Block::Beside(blocks) => joined(blocks.iter().map(of_block), "\n"),
        Block::Fold { title, blocks } => {
            let inner = joined(blocks.iter().map(of_block), "\n");
            // A line that begins with an element is HTML up to its end.
            let title = svg::escaped(title).replace('\n', " ");
            format!("<details><summary>{title}</summary>\n\n{inner}\n</details>\n")
        }
    }
}

fn card(answers: &[AnswerParts], stamp: Option<&Stamped>) -> String {
    let mut text = String::new();
    for answer in answers {
        let change = within("**", &escaped(answer.change.as_deref().unwrap_or_default()), "** ");
        let _ = writeln!(text, "> {change}{}\n>", escaped(&answer.sentence()));
        text.extend(answer.stamped.as_ref().map(|stamped| of_stamp(stamped) + ">\n"));
    }
    text.extend(stamp.map(of_stamp));
    text
}

fn of_stamp(stamped: &Stamped) -> String {
    let remedy = within(" ", stamped.remedy.unwrap_or_default(), "");
    format!("> {} {}{remedy}\n", Mark::from(stamped.stamp).sign(), escaped(&stamped.says))
}

fn of_warning(warning: &Warning) -> String {
    let text = escaped(warning.text.trim_end_matches('.'));
    format!("- {} {text}. {} `{}`\n", warning.mark().sign(), warning.end(escaped), warning.code)
}

fn of_table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let titles = table.columns.iter().map(|column| escaped(&column.title)).collect();
    let rules = table.columns.iter().map(|column| if column.numeric { "---:" } else { ":---" }.to_owned()).collect();
    let rows = table.rows.iter().map(|row| row.iter().map(of_cell).collect());
    let lines: String = [titles, rules].into_iter().chain(rows).map(line).collect();
    within("", &escaped(&table.caption), "\n\n") + &lines
}

fn of_cell(cell: &TableCell) -> String {
    let ShownCell { text, detail, tone } = cell.shown();
    let text = match tone {
        Tone::Bad | Tone::Marked => format!("**{}**", escaped(&text)),
        Tone::Plain | Tone::Good | Tone::Muted => escaped(&text),
    };
    text + &within(" (", &escaped(&detail.unwrap_or_default()), ")")
}

fn of_figure(figure: &Figure) -> String {
    format!("**{}.** {} The figure is in report.html.\n", escaped(&figure.title), escaped(&figure.description))
}

/// A fence longer than any run of backticks in the text, so that the text cannot end the block.
fn fence(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// Text with Markdown's special characters escaped, on one line.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in visible_lines(text).chars() {
        match letter {
            '\n' => safe.push(' '),
            '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '&' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            other => safe.push(other),
        }
    }
    safe
}
