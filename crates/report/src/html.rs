//! `report.html`: one self-contained file. It works on a phone, on paper, in light and in dark mode. Our own script adds what
//! only a screen can do: values under the pointer, hiding series, sorting and copying tables. Without it, nothing is missing.

use crate::document::{Block, Document, Mark, Warning, anchor};
use crate::figures::svg::escaped;
use crate::figures::{self, Figure, PAGE, Panel};
use crate::sentence::{Answer, Stamped};
use crate::table::{Cell, Shown, Table, Tone};
use std::collections::BTreeSet;
use std::fmt::Write as _;

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
    let links: Vec<String> = document
        .contents()
        .into_iter()
        .map(|(anchor, text)| format!("<li><a href=\"#{}\">{}</a></li>", escaped(&anchor), escaped(text)))
        .collect();
    if links.len() < 2 {
        return String::new();
    }
    format!(
        "<nav aria-label=\"Contents\">\n<details><summary>Contents</summary>\n<ul>\n{}\n</ul>\n</details>\n</nav>\n",
        links.join("\n")
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
            Block::Where(text) => format!("<p class=\"where\">{}</p>\n", kept_together(text)),
            Block::Card { answers, stamp } => self.card(answers, stamp.as_ref()),
            Block::Paragraph(text) => format!("<p>{}</p>\n", self.explained(text)),
            Block::Note(text) => format!("<p class=\"note\">{}</p>\n", self.explained(text)),
            Block::Trust { found, passed } => self.trust(found, passed),
            Block::List(lines) => {
                let items: Vec<String> =
                    lines.iter().map(|line| format!("<li>{}</li>\n", self.explained(line))).collect();
                format!("<ul>\n{}</ul>\n", items.concat())
            }
            Block::Facts(facts) => {
                let fact = |(name, value): &(&str, String)| {
                    format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), kept_together(value))
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
                let id = if top { format!(" id=\"{}\"", escaped(&anchor(title))) } else { String::new() };
                format!("<details class=\"fold\"{id}>\n<summary>{}</summary>\n{inner}</details>\n", escaped(title))
            }
        }
    }

    fn card(&mut self, answers: &[Answer], stamp: Option<&Stamped>) -> String {
        let answers: String = answers.iter().map(|answer| self.answer(answer)).collect();
        let stamp = stamp.map(|stamped| self.stamp(stamped)).unwrap_or_default();
        format!("<section class=\"card\" aria-label=\"Answer\">\n{answers}{stamp}</section>\n")
    }

    fn stamp(&mut self, stamped: &Stamped) -> String {
        let (class, sign, unseen) = look(stamped.stamp.into());
        let remedy = stamped.remedy.map(|remedy| format!("<br>{}", code(remedy))).unwrap_or_default();
        let (word, why) = stamped.says.split_once([':', '.']).unwrap_or((&stamped.says, ""));
        let says = format!("<b>{}.</b>{}", escaped(word), self.explained(why));
        format!(
            "<p class=\"stamp {class}\"><b><i aria-hidden=\"true\">{sign}</i><span class=\"unseen\">{unseen}: </span></b>{says}{remedy}</p>\n"
        )
    }

    fn answer(&mut self, answer: &Answer) -> String {
        let change = answer.change.as_deref().unwrap_or_default();
        let place = if answer.place.is_empty() { String::new() } else { format!("<b>{}</b> ", escaped(&answer.place)) };
        let small = [&answer.interval, &answer.but].map(|text| self.explained(text));
        let small = small.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let small = if small.is_empty() { small } else { format!("<small>{small}</small>") };
        let change =
            if change.is_empty() { String::new() } else { format!("<p class=\"big\">{}</p>", kept_together(change)) };
        format!(
            "<div class=\"answer\">{change}<p class=\"says\">{place}{}{small}</p></div>\n{}",
            self.explained(&answer.says),
            answer.stamped.as_ref().map(|stamped| self.stamp(stamped)).unwrap_or_default()
        )
    }

    fn trust(&mut self, found: &[Warning], passed: &[String]) -> String {
        let mut text = "<ul class=\"trust\">\n".to_owned();
        for (index, warning) in found.iter().enumerate() {
            // A code is an anchor of the whole page, so only the first of several findings gets it.
            let is_first = !found[..index].iter().any(|earlier| earlier.code == warning.code);
            let id = if is_first { format!(" id=\"{}\"", warning.code) } else { String::new() };
            let end = code(&warning.end(str::to_owned));
            let _ = writeln!(
                text,
                "<li{id}>{}{}. {end} <code>{}</code>{}</li>",
                sign(warning.mark()),
                self.explained(warning.text.trim_end_matches('.')),
                warning.code,
                self.evidence(warning)
            );
        }
        for line in passed {
            let _ = writeln!(text, "<li>{}{}</li>", sign(Mark::Good), self.explained(line));
        }
        text.push_str("</ul>\n");
        text
    }

    /// A link to the figures behind a finding, if the page has them.
    fn evidence(&self, warning: &Warning) -> String {
        let anchor = anchor(warning.evidence);
        let link = || format!(" <a href=\"#{}\">Figures</a>", escaped(&anchor));
        if self.anchors.contains(&anchor) { link() } else { String::new() }
    }

    /// Text with words of the glossary explained.
    fn explained(&mut self, text: &str) -> String {
        let mut html = kept_together(text);
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

/// The position of a whole word outside of elements.
fn find_word(html: &str, word: &str) -> Option<usize> {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || "-_\"=".contains(letter));
    let mut from = 0;
    while let Some(found) = html[from..].find(word) {
        let (start, end) = (from + found, from + found + word.len());
        let inside = html[..start].rfind('<').is_some_and(|open| html[open..start].find('>').is_none());
        let in_definition = html[..start].matches("<dfn").count() > html[..start].matches("</dfn>").count();
        if !inside
            && !in_definition
            && !is_part(html[..start].chars().next_back())
            && !is_part(html[end..].chars().next())
        {
            return Some(start);
        }
        from = end;
    }
    None
}

fn look(mark: Mark) -> (&'static str, &'static str, &'static str) {
    let class = match mark {
        Mark::Good => "good",
        Mark::Care => "care",
        Mark::Bad => "bad",
        Mark::Accepted => "muted",
    };
    (class, mark.sign(), mark.word())
}

fn sign(mark: Mark) -> String {
    let (class, sign, word) = look(mark);
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

const NO_BREAK: &str = "\u{a0}";

/// Keeps numbers and their units on one line.
fn kept_together(text: &str) -> String {
    let mut html = escaped(text);
    for unit in ["%", "×", "ms", "s", "GiB", "MiB"] {
        let parted = format!(" {unit}");
        let mut from = 0;
        while let Some(found) = html[from..].find(&parted).map(|found| found + from) {
            let end = found + parted.len();
            let follows_number = html[..found].ends_with(|letter: char| letter.is_ascii_digit());
            let is_whole = !html[end..].starts_with(char::is_alphanumeric);
            if follows_number && is_whole {
                html.replace_range(found..=found, NO_BREAK);
                from = end + NO_BREAK.len() - 1;
                continue;
            }
            from = end;
        }
    }
    html
}

fn of_table(table: &Table) -> String {
    let id = escaped(&table.id);
    let name = if table.caption.is_empty() { &table.id } else { &table.caption };
    let mut text =
        format!("<div class=\"scroll\" id=\"{id}\" role=\"region\" aria-label=\"{}\">\n<table>\n", escaped(name));
    if !table.caption.is_empty() {
        let _ = writeln!(text, "<caption>{}</caption>", escaped(&table.caption));
    }
    text.push_str("<thead><tr>");
    for column in &table.columns {
        let class = if column.numeric { " class=\"n\"" } else { "" };
        let title = escaped(&column.title);
        // An empty corner is not a heading.
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
    let detail = detail.map(|detail| format!("<small>{}</small>", kept_together(&detail))).unwrap_or_default();
    let text = if first { breakable(&text) } else { escaped(&text) };
    // Tables are sorted by, and copied with, all digits.
    let value = cell.quantity().map(|quantity| format!(" data-value=\"{}\"", quantity.value)).unwrap_or_default();
    let content = format!("{text}{detail}");
    // An empty cell is no heading of its row.
    if first && !text.is_empty() {
        format!("<th scope=\"row\"{class}{value}>{content}</th>")
    } else {
        format!("<td{class}{value}>{content}</td>")
    }
}

/// Allows breaks in dotted names, which a narrow page needs.
fn breakable(name: &str) -> String {
    escaped(name).replace('.', ".<wbr>").replace('_', "_<wbr>")
}

fn of_figure(figure: &Figure) -> String {
    let class = if figure.is_wide() { "panels wide" } else { "panels" };
    let panels = figure.panels.iter().map(of_panel).collect::<Vec<_>>().join("\n");
    let [id, title, description] = [&figure.id, &figure.title, &figure.description].map(|text| escaped(text));
    format!(
        "<figure id=\"{id}\">\n<figcaption><strong>{title}</strong> {description}</figcaption>\n<div class=\"{class}\">\n{panels}</div>\n</figure>\n"
    )
}

/// The drawing, with the units of its lines' values.
fn of_panel(panel: &Panel) -> String {
    let [x, y] = [&panel.x_unit, &panel.y_unit].map(|unit| escaped(unit));
    format!("<div class=\"panel\" data-x=\"{x}\" data-y=\"{y}\">{}</div>", panel.svg)
}
