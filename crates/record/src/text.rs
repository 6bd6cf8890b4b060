//! Makes text from others safe to show. Servers, studies and records may contain characters that move a terminal's cursor,
//! colour it, or change the direction of the text that follows.
//!
//! These characters are decided here, once, for terminals, HTML and Markdown. HTML and Markdown syntax is not escaped here.

use std::borrow::Cow;

/// The text on one line, with escapes for everything that a terminal acts on: `\n`, `\x1b`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |_| false, written_out)
}

/// The same, but line breaks and tabs stay. It is for text shown as a block, where an extra line misleads nobody.
/// Consoles end their lines with `\r\n`, which counts as one line break.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let kept = |letter| matches!(letter, '\n' | '\t');
    if text.contains("\r\n") {
        Cow::Owned(shown(&text.replace("\r\n", "\n"), kept, written_out).into_owned())
    } else {
        shown(text, kept, written_out)
    }
}

/// Equivalent JSON in which a terminal acts on nothing but the text's own line breaks.
pub fn visible_json(text: &str) -> Cow<'_, str> {
    // JSON has no other such characters outside of strings, and none of them is above 0xffff.
    shown(text, |letter| letter == '\n', |letter| format!("\\u{:04x}", u32::from(letter)))
}

fn shown(text: &str, kept: fn(char) -> bool, instead: fn(char) -> String) -> Cow<'_, str> {
    let acts = |letter: char| is_acted_on(letter) && !kept(letter);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if acts(letter) { safe.push_str(&instead(letter)) } else { safe.push(letter) }
    }
    Cow::Owned(safe)
}

fn written_out(letter: char) -> String {
    match letter {
        '\n' | '\r' | '\t' => letter.escape_default().to_string(),
        '\0'..='\x7f' => format!("\\x{:02x}", u32::from(letter)),
        _ => format!("\\u{{{:x}}}", u32::from(letter)),
    }
}

/// Control characters of ASCII and Latin-1, controls of the direction of text, separators of lines and the byte order mark.
fn is_acted_on(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_written_out() {
        assert_eq!(visible("\x1b[2J\x07a\x7f\u{9b}31m"), r"\x1b[2J\x07a\x7f\u{9b}31m");
        assert_eq!(visible("user\u{202e}txt\u{2066}\u{2028}\0"), r"user\u{202e}txt\u{2066}\u{2028}\x00");
        assert_eq!(visible("one\r\n\ttwo"), r"one\r\n\ttwo");
    }

    #[test]
    fn lines_stay_lines_but_do_not_overwrite_each_other() {
        assert_eq!(visible_lines("one\n\ttwo\rthree\x1b[A"), "one\n\ttwo\\rthree\\x1b[A");
        assert_eq!(visible_lines("one\r\ntwo\r\n"), "one\ntwo\n");
    }

    #[test]
    fn json_says_the_same() {
        let odd = serde_json::json!({ "a\u{9b}": "\u{7f}\u{202e}\x1b[2J\n" });
        let plain = serde_json::to_string_pretty(&odd).unwrap();
        let text = visible_json(&plain);
        assert!(text.contains(r"a\u009b") && text.contains(r"\u007f\u202e\u001b[2J\n"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), odd);
    }

    #[test]
    fn other_text_is_not_copied() {
        for text in ["", "Straße, 30 µs, 数据, 👩\u{200d}🔬", r"a \x1b that was written so"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        }
    }
}
