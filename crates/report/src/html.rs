//! `report.html`: one self-contained file without scripts. It reads on a phone, on paper, in light and in dark.

use crate::document::{Block, Document, Warning};
use crate::figures::svg::escaped;
use crate::figures::{self, Figure, PAGE};
use crate::table::{Cell, Shown, Table, Tone};
use std::fmt::Write as _;

pub fn write(document: &Document) -> String {
    let title = escaped(&document.title);
    let mut body = String::new();
    for block in &document.blocks {
        body.push_str(&of_block(block));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{PAGE}{}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n",
        figures::STYLE
    )
}

fn of_block(block: &Block) -> String {
    match block {
        Block::Heading { level, text } => format!("<h{level}>{}</h{level}>\n", escaped(text)),
        Block::Answer(text) => format!("<p class=\"answer\">{}</p>\n", escaped(text)),
        Block::Paragraph(text) => format!("<p>{}</p>\n", escaped(text)),
        Block::Note(text) => format!("<p class=\"note\">{}</p>\n", escaped(text)),
        Block::Warnings(warnings) => of_warnings(warnings),
        Block::List(lines) => {
            let items: Vec<String> = lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
            format!("<ul>\n{}</ul>\n", items.concat())
        }
        Block::Table(table) => of_table(table),
        Block::Figure(figure) => of_figure(figure),
        Block::Code { title, text } => {
            format!("<p class=\"code-title\">{}</p>\n<pre><code>{}</code></pre>\n", escaped(title), escaped(text))
        }
        Block::Fold { title, blocks } => {
            let inner: String = blocks.iter().map(of_block).collect();
            format!("<details>\n<summary>{}</summary>\n{inner}</details>\n", escaped(title))
        }
    }
}

fn of_warnings(warnings: &[Warning]) -> String {
    let mut text = String::new();
    for (word, class) in [("Warning", "serious"), ("Caution", "caution"), ("Accepted", "accepted")] {
        let own: Vec<&Warning> = warnings.iter().filter(|one| one.word() == word).collect();
        if own.is_empty() {
            continue;
        }
        let plural = if own.len() == 1 || word == "Accepted" { "" } else { "s" };
        let _ = writeln!(
            text,
            "<section class=\"warnings {class}\" aria-label=\"{word}{plural}\">\n<p><strong>{word}{plural}</strong></p>\n<ul>"
        );
        for warning in own {
            let reason = warning.accepted.as_ref();
            let reason = reason.map(|why| format!("<br>Accepted by the study: {}", escaped(why))).unwrap_or_default();
            let _ = writeln!(text, "<li>{} <code>[{}]</code>{reason}</li>", escaped(&warning.text), warning.code);
        }
        text.push_str("</ul>\n</section>\n");
    }
    text
}

fn of_table(table: &Table) -> String {
    let mut text = format!("<div class=\"scroll\" id=\"{}\" tabindex=\"0\">\n<table>\n", escaped(&table.id));
    if !table.caption.is_empty() {
        let _ = writeln!(text, "<caption>{}</caption>", escaped(&table.caption));
    }
    text.push_str("<thead><tr>");
    for column in &table.columns {
        let class = if column.numeric { " class=\"n\"" } else { "" };
        let title = escaped(&column.title);
        // An empty corner is no heading of anything.
        let _ = if title.is_empty() {
            write!(text, "<td></td>")
        } else {
            write!(text, "<th scope=\"col\"{class}>{title}</th>")
        };
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        text.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            let numeric = table.columns.get(index).is_some_and(|column| column.numeric);
            text.push_str(&of_cell(cell, index == 0, numeric));
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table>\n</div>\n");
    text
}

fn of_cell(cell: &Cell, first: bool, numeric: bool) -> String {
    let Shown { text, detail, tone } = cell.shown();
    let tone = match tone {
        Tone::Plain => "",
        Tone::Marked => "marked",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Muted => "muted",
    };
    let classes: Vec<&str> =
        [if numeric { "n" } else { "" }, tone].into_iter().filter(|class| !class.is_empty()).collect();
    let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
    let detail = detail.map(|detail| format!("<small>{}</small>", escaped(&detail))).unwrap_or_default();
    let text = if first { breakable(&text) } else { escaped(&text) };
    let content = format!("{text}{detail}");
    if first { format!("<th scope=\"row\"{class}>{content}</th>") } else { format!("<td{class}>{content}</td>") }
}

/// Dotted names may be broken where their parts meet, which a narrow page needs.
fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>")
}

fn of_figure(figure: &Figure) -> String {
    let class = if figure.is_wide() { "panels wide" } else { "panels" };
    let panels = figure.panels.iter().map(|panel| panel.svg.as_str()).collect::<Vec<_>>().join("\n");
    let [id, title, description] = [&figure.id, &figure.title, &figure.description].map(|text| escaped(text));
    format!(
        "<figure id=\"{id}\">\n<figcaption><strong>{title}</strong> {description}</figcaption>\n<div class=\"{class}\">\n{panels}</div>\n</figure>\n"
    )
}
