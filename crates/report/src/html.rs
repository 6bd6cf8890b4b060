//! `report.html`: one self-contained file. It works on a phone, on paper, in light and in dark mode. Our own script adds what
//! only a screen can do: values under the pointer, hiding series, sorting and copying tables. Without it, nothing is missing.

use crate::document::{Block, Document, Mark, Warning, anchor};
use crate::figures::svg::escaped;
use crate::figures::{self, Figure, PAGE, Panel};
use crate::format::{filled, joined, kept_together, within};
use crate::sentence::{AnswerParts, Stamped};
use crate::table::{ShownCell, Table, TableCell, TableColumn, Tone};
use std::collections::BTreeSet;

const SCRIPT: &str = include_str!("page.js");

pub fn write(document: &Document) -> String {
    let title = escaped(&document.title);
    let anchors = document.contents().into_iter().map(|(anchor, _)| anchor).collect();
    let mut page = Page { words: document.words.clone(), said: BTreeSet::new(), anchors };
    let body: String = document.blocks.iter().map(|block| page.of_block(block, true)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{PAGE}{}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#content\">To the answer</a>\n{}<main id=\"content\">\n<h1>{title}</h1>\n{body}</main>\n\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        figures::STYLE,
        contents(document)
    )
}

fn contents(document: &Document) -> String {
    let contents = document.contents();
    if contents.len() < 2 {
        return String::new();
    }
    let link =
        |(anchor, text): &(String, &str)| format!("<li><a href=\"#{}\">{}</a></li>\n", escaped(anchor), escaped(text));
    let links: String = contents.iter().map(link).collect();
    format!(
        "<nav aria-label=\"Contents\">\n<details><summary>Contents</summary>\n<ul>\n{links}</ul>\n</details>\n</nav>\n"
    )
}

/// A page being written: each word of the glossary is explained at its first use.
struct Page {
    words: Vec<(&'static str, String)>,
    said: BTreeSet<&'static str>,
    anchors: BTreeSet<String>,
}

impl Page {
    fn of_block(&mut self, block: &Block, top: bool) -> String {
        match block {
            Block::Heading { level: 2, text } => {
                format!("<h2 id=\"{}\">{}</h2>\n", escaped(&anchor(text)), escaped(text))
            }
            Block::Heading { level, text } => format!("<h{level}>{}</h{level}>\n", escaped(text)),
            Block::Where(text) => format!("<p class=\"where\">{}</p>\n", kept_together(&escaped(text))),
            Block::Card { answers, stamp } => self.card(answers, stamp.as_ref()),
            Block::Paragraph(text) => format!("<p>{}</p>\n", self.explained(text)),
            Block::Note(text) => format!("<p class=\"note\">{}</p>\n", self.explained(text)),
            Block::Trust { found, passed } => self.trust(found, passed),
            Block::List(lines) => {
                let items = lines.iter().map(|line| format!("<li>{}</li>\n", self.explained(line)));
                format!("<ul>\n{}</ul>\n", items.collect::<String>())
            }
            Block::Facts(facts) => {
                let fact = |(name, value): &(String, String)| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), kept_together(&escaped(value)))
                };
                format!("<dl class=\"facts\">\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
            }
            Block::Table(table) => of_table(table),
            Block::Figure(figure) => of_figure(figure),
            Block::Code { title, text } => {
                let [title, text] = [title, text].map(|text| escaped(text));
                format!(
                    "<p class=\"code-title\">{title}</p>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><code>{text}</code></pre>\n"
                )
            }
            Block::Beside(blocks) => {
                let inner = blocks.iter().map(|block| format!("<div>{}</div>\n", self.of_block(block, false)));
                format!("<div class=\"beside\">\n{}</div>\n", inner.collect::<String>())
            }
            Block::Fold { title, blocks } => {
                let inner: String = blocks.iter().map(|block| self.of_block(block, false)).collect();
                let id = if top { escaped(&anchor(title)) } else { String::new() };
                let (id, title) = (within(" id=\"", &id, "\""), escaped(title));
                format!("<details class=\"fold\"{id}>\n<summary>{title}</summary>\n{inner}</details>\n")
            }
        }
    }

    fn card(&mut self, answers: &[AnswerParts], stamp: Option<&Stamped>) -> String {
        let answers: String = answers.iter().map(|answer| self.answer(answer)).collect();
        let stamp = stamp.map(|stamped| self.stamp(stamped)).unwrap_or_default();
        format!("<section class=\"card\" aria-label=\"Answer\">\n{answers}{stamp}</section>\n")
    }

    fn stamp(&mut self, stamped: &Stamped) -> String {
        let (class, sign, unseen) = Mark::from(stamped.stamp).look();
        let remedy = within("<br>", &code(stamped.remedy.unwrap_or_default()), "");
        let (word, why) = stamped.says.split_at(stamped.says.find([':', '.']).map_or(0, |end| end + 1));
        let says = format!("<b>{}</b>{}", escaped(word), self.explained(why));
        format!(
            "<p class=\"stamp {class}\"><b><i aria-hidden=\"true\">{sign}</i><span class=\"unseen\">{unseen}: </span></b>{says}{remedy}</p>\n"
        )
    }

    fn answer(&mut self, answer: &AnswerParts) -> String {
        let small = filled([&answer.interval, &answer.but].map(|text| self.explained(text)), " ");
        format!(
            "<div class=\"answer\">{}<p class=\"says\">{}{}{}</p></div>\n{}",
            within("<p class=\"big\">", &kept_together(&escaped(answer.change.as_deref().unwrap_or_default())), "</p>"),
            within("<b>", &escaped(&answer.place), "</b> "),
            self.explained(&answer.says),
            within("<small>", &small, "</small>"),
            answer.stamped.as_ref().map(|stamped| self.stamp(stamped)).unwrap_or_default()
        )
    }

    fn trust(&mut self, found: &[Warning], passed: &[String]) -> String {
        let mut codes = BTreeSet::new();
        let of_found = found.iter().map(|warning| {
            // A code is an anchor of the whole page, so only the first of several findings gets it.
            let id = within(" id=\"", if codes.insert(warning.code) { warning.code } else { "" }, "\"");
            format!(
                "<li{id}>{}{}. {} <code>{}</code>{}</li>\n",
                sign(warning.mark()),
                self.explained(warning.text.trim_end_matches('.')),
                code(&warning.end(str::to_owned)),
                warning.code,
                self.evidence(warning)
            )
        });
        let found: String = of_found.collect();
        let passed = passed.iter().map(|line| format!("<li>{}{}</li>\n", sign(Mark::Good), self.explained(line)));
        format!("<ul class=\"trust\">\n{found}{}</ul>\n", passed.collect::<String>())
    }

    /// A link to the figures behind a finding, if the page has them.
    fn evidence(&self, warning: &Warning) -> String {
        let anchor = self.anchors.get(&anchor(warning.evidence)).map(|anchor| escaped(anchor)).unwrap_or_default();
        within(" <a href=\"#", &anchor, "\">Figures</a>")
    }

    /// Text with words of the glossary explained.
    fn explained(&mut self, text: &str) -> String {
        let mut html = kept_together(&escaped(text));
        for (word, meaning) in &self.words {
            if !self.said.contains(word)
                && let Some(at) = find_word(&html, word)
            {
                let title = escaped(meaning);
                html.replace_range(at..at + word.len(), &format!("<dfn title=\"{title}\">{word}</dfn>"));
                self.said.insert(word);
            }
        }
        html
    }
}

/// The position of a whole word that is not in a definition already.
fn find_word(html: &str, word: &str) -> Option<usize> {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || "-_\"=".contains(letter));
    let is_free = |start: &usize| {
        let (before, after) = (&html[..*start], &html[start + word.len()..]);
        let in_definition = before.matches("<dfn").count() > before.matches("</dfn>").count();
        !in_definition && !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    };
    html.match_indices(word).map(|(start, _)| start).find(is_free)
}

fn sign(mark: Mark) -> String {
    let (class, sign, word) = mark.look();
    format!("<i class=\"{class}\" aria-hidden=\"true\">{sign}</i><span class=\"unseen\">{word}: </span>")
}

/// Turns commands in backticks into code.
fn code(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in escaped(text).split('`').enumerate() {
        // The text between the first and the second backtick is code, and so on.
        let (open, close) = if index % 2 == 0 { ("", "") } else { ("<code>", "</code>") };
        html.extend([open, part, close]);
    }
    html
}

fn of_table(table: &Table) -> String {
    let [id, caption] = [&table.id, &table.caption].map(|text| escaped(text));
    let name = if caption.is_empty() { &id } else { &caption };
    let heading = |column: &TableColumn| match (escaped(&column.title).as_str(), column.numeric) {
        // An empty corner is not a heading.
        ("", _) => "<td></td>".to_owned(),
        (title, true) => format!("<th scope=\"col\" class=\"n\">{title}</th>"),
        (title, false) => format!("<th scope=\"col\">{title}</th>"),
    };
    let row = |row: &Vec<TableCell>| {
        let numeric = |index: usize| table.columns.get(index).is_some_and(|column| column.numeric);
        let cells = row.iter().enumerate().map(|(index, cell)| of_cell(cell, index == 0, numeric(index)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    format!(
        "<div class=\"scroll\" id=\"{id}\" role=\"region\" aria-label=\"{name}\">\n<table>\n{}<thead><tr>{}</tr></thead>\n\
         <tbody>\n{}</tbody>\n</table>\n</div>\n",
        within("<caption>", &caption, "</caption>\n"),
        table.columns.iter().map(heading).collect::<String>(),
        table.rows.iter().map(row).collect::<String>()
    )
}

fn of_cell(cell: &TableCell, first: bool, numeric: bool) -> String {
    let ShownCell { text, detail, tone } = cell.shown();
    let tone = match tone {
        Tone::Plain => "",
        Tone::Marked => "marked",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Muted => "muted",
    };
    let class = within(" class=\"", &filled([if numeric { "n" } else { "" }, tone], " "), "\"");
    let detail = within("<small>", &kept_together(&escaped(&detail.unwrap_or_default())), "</small>");
    let text = if first { breakable(&text) } else { escaped(&text) };
    // Tables are sorted by, and copied with, all digits.
    let value = cell.quantity().map(|quantity| format!(" data-value=\"{}\"", quantity.value)).unwrap_or_default();
    // An empty cell is no heading of its row.
    let (name, scope) = if first && !text.is_empty() { ("th", " scope=\"row\"") } else { ("td", "") };
    format!("<{name}{scope}{class}{value}>{text}{detail}</{name}>")
}

/// Allows breaks in dotted names, which a narrow page needs.
fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>")
}

fn of_figure(figure: &Figure) -> String {
    let class = if figure.is_wide() { "panels wide" } else { "panels" };
    // Each drawing has the units of its lines' values.
    let of_panel = |panel: &Panel| {
        let [x, y] = [&panel.x_unit, &panel.y_unit].map(|unit| escaped(unit));
        format!("<div class=\"panel\" data-x=\"{x}\" data-y=\"{y}\">{}</div>", panel.svg)
    };
    let panels = joined(figure.panels.iter().map(of_panel), "\n");
    let [id, title, description] = [&figure.id, &figure.title, &figure.description].map(|text| escaped(text));
    format!(
        "<figure id=\"{id}\">\n<figcaption><strong>{title}</strong> {description}</figcaption>\n<div class=\"{class}\">\n{panels}</div>\n</figure>\n"
    )
}
