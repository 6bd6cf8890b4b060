//! `report.md`: the document as GitHub-flavoured Markdown. Figures are described in words; the drawings are in `report.html`.

use crate::document::{Block, Document, Mark, Warning};
use crate::figures::{Figure, svg};
use crate::sentence::{Answer, Stamped};
use crate::table::{Cell, Shown, Table, Tone};
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
            let fact = |(name, value): &(&str, String)| format!("- **{}:** {}\n", escaped(name), escaped(value));
            facts.iter().map(fact).collect::<Vec<_>>().concat()
        }
        Block::List(lines) => lines.iter().fold(String::new(), |text, line| text + "- " + &escaped(line) + "\n"),
        Block::Table(table) => of_table(table),
        Block::Figure(figure) => of_figure(figure),
        Block::Code { title, text } => {
            let fence = fence(text);
            format!("{}\n\n{fence}sh\n{}\n{fence}\n", escaped(title), visible_lines(text))
        }
        Block::Beside(blocks) => blocks.iter().map(of_block).collect::<Vec<_>>().join("\n"),
        Block::Fold { title, blocks } => {
            let inner: Vec<String> = blocks.iter().map(of_block).collect();
            // A line that begins with an element is HTML up to its end.
            let title = svg::escaped(title).replace('\n', " ");
            format!("<details><summary>{title}</summary>\n\n{}\n</details>\n", inner.join("\n"))
        }
    }
}

fn card(answers: &[Answer], stamp: Option<&Stamped>) -> String {
    let mut text = String::new();
    for answer in answers {
        let change = answer.change.as_ref().map(|change| format!("**{}** ", escaped(change))).unwrap_or_default();
        let _ = writeln!(text, "> {change}{}\n>", escaped(&answer.sentence()));
        text.extend(answer.stamped.as_ref().map(|stamped| of_stamp(stamped) + ">\n"));
    }
    text.extend(stamp.map(of_stamp));
    text
}

fn of_stamp(stamped: &Stamped) -> String {
    let remedy = stamped.remedy.map(|remedy| format!(" {remedy}")).unwrap_or_default();
    format!("> {} {}{remedy}\n", Mark::from(stamped.stamp).sign(), escaped(&stamped.says))
}

fn of_warning(warning: &Warning) -> String {
    let text = escaped(warning.text.trim_end_matches('.'));
    format!("- {} {text}. {} `{}`\n", warning.mark().sign(), warning.end(escaped), warning.code)
}

fn of_table(table: &Table) -> String {
    let mut text = String::new();
    if !table.caption.is_empty() {
        let _ = writeln!(text, "{}\n", escaped(&table.caption));
    }
    let titles: Vec<String> = table.columns.iter().map(|column| escaped(&column.title)).collect();
    let rules: Vec<&str> = table.columns.iter().map(|column| if column.numeric { "---:" } else { ":---" }).collect();
    let _ = writeln!(text, "| {} |\n| {} |", titles.join(" | "), rules.join(" | "));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(of_cell).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn of_cell(cell: &Cell) -> String {
    let Shown { text, detail, tone } = cell.shown();
    let text = match tone {
        Tone::Bad | Tone::Marked => format!("**{}**", escaped(&text)),
        Tone::Plain | Tone::Good | Tone::Muted => escaped(&text),
    };
    detail.map_or(text.clone(), |detail| format!("{text} ({})", escaped(&detail)))
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
