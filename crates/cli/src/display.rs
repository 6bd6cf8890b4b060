//! Printing. Everything goes through [`say`], [`print`], [`result`] or the live line, and much of it was written by
//! others: servers, studies, records. So everything that a terminal would act on is escaped here, whoever wrote it. The
//! only exception is the colour of the marks ✗, ! and ✓, which is added afterwards.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use record::text::visible_lines;
use std::borrow::Cow;
use std::io::{ErrorKind, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

/// Text is wrapped at this width.
pub const WIDTH: usize = 80;

/// A word as a shell takes it, quoted if it has anything that a shell would act on.
pub fn shell_word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._+-/=:,%@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

/// A text as one word of a shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Prints why a command failed, with its causes, on standard error.
pub fn error(error: &anyhow::Error) {
    say(&format!("error: {}", with_causes(error)));
}

/// An error and its causes, each printed once, since many errors already name their cause.
fn with_causes(error: &anyhow::Error) -> String {
    let mut told = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// One line on standard error. If standard error is closed, nobody would read it.
pub fn say(text: &str) {
    let text = visible_lines(text);
    let is_coloured = AutoStream::choice(&std::io::stderr()) != ColorChoice::Never;
    let _ = writeln!(std::io::stderr(), "{}", if is_coloured { coloured(&text) } else { text.into_owned() });
}

/// Prints what the user asked for on standard output, in colour if that is a terminal.
pub fn result(text: &str) {
    if AutoStream::choice(&std::io::stdout()) == ColorChoice::Never {
        return print(text);
    }
    write_out(&coloured(&visible_lines(text)));
}

/// Why something that was asked for is not on standard output.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// The first reason why standard output did not take everything, as on a full disk.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// A reader that closed its end (`| head`) ends the output, not the program.
fn write_out(text: &str) {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => drop(UNWRITTEN.set(error.to_string())),
        _ => {}
    }
}

/// Colours marks at the beginning of a line or cell, and words with the same meaning.
fn coloured(text: &str) -> String {
    let colours = [
        ("✗", AnsiColor::Red),
        ("WARNING", AnsiColor::Red),
        ("error:", AnsiColor::Red),
        ("✓", AnsiColor::Green),
        ("! ", AnsiColor::Yellow),
        ("caution", AnsiColor::Yellow),
    ];
    let lines = text.split_inclusive('\n').map(|line| {
        let mut line = line.to_owned();
        for (mark, colour) in colours {
            let style = Style::new().fg_color(Some(colour.into()));
            if let Some(rest) = line.strip_prefix(mark) {
                line = format!("{style}{mark}{style:#}{rest}");
            }
            let within = format!("  {mark}");
            line = line.replace(&within, &format!("  {style}{mark}{style:#}"));
        }
        line
    });
    lines.collect()
}

/// Words in lines of at most [`WIDTH`] characters; lines after the first are indented by `indent`.
pub fn wrapped(text: &str, indent: &str) -> String {
    let start = text.len() - text.trim_start().len();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{indent}{word}")),
            None => lines.push(format!("{}{word}", &text[..start])),
        }
    }
    lines.join("\n")
}

/// Prints text or JSON on standard output.
pub fn print(text: &str) {
    write_out(&written_out(text));
}

/// Escapes characters as JSON does: JSON then keeps its value, and people can read it, too.
fn written_out(text: &str) -> Cow<'_, str> {
    if let Cow::Borrowed(same) = visible_lines(text) {
        return Cow::Borrowed(same);
    }
    let letters = text.chars().map(|letter| {
        let letter_text = letter.to_string();
        let acts = matches!(visible_lines(&letter_text), Cow::Owned(_));
        if acts { format!("\\u{:04x}", u32::from(letter)) } else { letter_text }
    });
    Cow::Owned(letters.collect())
}

/// "48 s", "2 min 05 s", "1 h 12 min".
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_told_once() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error =
            anyhow::Error::from(full).context("writing runs/a/plan.json: no storage space").context("beginning");
        assert_eq!(with_causes(&error), "beginning: writing runs/a/plan.json: no storage space");
        let error = error.context("in short");
        assert!(with_causes(&error).starts_with("in short: beginning: writing"));
    }

    #[test]
    fn json_with_what_a_terminal_acts_on_stays_the_same_value() {
        let value = serde_json::json!({ "why": "\u{1b}]0;title\u{7}\u{7f}\u{9b}31m\u{202e}\r\n\t é" });
        let printed = written_out(&format!("{value}\n")).into_owned();
        assert!(matches!(visible_lines(&printed), Cow::Borrowed(_)), "{printed:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
        assert_eq!(written_out("a\tb\nc\r\x1b[2J"), "a\tb\nc\\u000d\\u001b[2J");
    }

    #[test]
    fn only_marks_that_stand_alone_are_coloured() {
        assert_eq!(coloured("✗ no\nyes! ✗\n"), "\u{1b}[31m✗\u{1b}[0m no\nyes! ✗\n");
        assert_eq!(coloured("1/5    7,308  ! host busy"), "1/5    7,308  \u{1b}[33m! \u{1b}[0mhost busy");
    }

    #[test]
    fn lines_end_at_the_width_of_a_terminal() {
        let text = wrapped(&"four ".repeat(40), "  ");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!((text.lines().count(), text.matches("four").count()), (3, 40));
        assert!(text.lines().skip(1).all(|line| line.starts_with("  four")), "{text}");
    }
}
