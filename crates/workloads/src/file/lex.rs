//! Splits a script's text into statements with their variables, and lines that begin with a backslash.

use super::mistake::Mistake;

/// One item of a script.
#[derive(Debug, PartialEq, Eq)]
pub enum ScriptItem {
    Command { line: usize, text: String },
    Statement(LexedStatement),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct LexedStatement {
    /// The line where it begins.
    pub line: usize,
    /// The comment lines right above it.
    pub comment: String,
    pub pieces: Vec<StatementPiece>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum StatementPiece {
    Text(String),
    Variable { line: usize, name: String },
}

impl LexedStatement {
    /// Its text, or an empty one if it has variables.
    pub fn plain(&self) -> &str {
        match self.pieces.as_slice() {
            [StatementPiece::Text(text)] => text,
            _ => "",
        }
    }
}

pub fn items(text: &str) -> Result<Vec<ScriptItem>, Mistake> {
    let mut lexing =
        Lexing { rest: text, line: 1, current: LexedStatement::default(), text: String::new(), items: Vec::new() };
    lexing.all()?;
    Ok(lexing.items)
}

struct Lexing<'a> {
    rest: &'a str,
    line: usize,
    current: LexedStatement,
    /// The text read since the last variable.
    text: String,
    items: Vec<ScriptItem>,
}

impl<'a> Lexing<'a> {
    fn all(&mut self) -> Result<(), Mistake> {
        let mut starts_line = true;
        while let Some(letter) = self.rest.chars().next() {
            match letter {
                '\\' => self.command(starts_line)?,
                '-' if self.rest.starts_with("--") => self.line_comment(),
                '/' if self.rest.starts_with("/*") => self.block_comment()?,
                '\'' | '"' | '`' => self.quoted(letter)?,
                '$' => self.dollar()?,
                ':' => self.colon(),
                ';' => {
                    self.take(1);
                    self.end();
                }
                blank if blank.is_whitespace() => {
                    self.blank();
                    starts_line |= blank == '\n';
                    continue;
                }
                other => {
                    let letter = self.take(other.len_utf8());
                    self.put(letter);
                }
            }
            starts_line = self.text.is_empty() && self.current.pieces.is_empty() && starts_line;
        }
        // As in pgbench, the last statement may lack its semicolon.
        self.end();
        Ok(())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn put(&mut self, text: &str) {
        if !self.is_in_statement() {
            self.current.line = self.line - text.matches('\n').count();
        }
        self.text.push_str(text);
    }

    fn is_in_statement(&self) -> bool {
        !self.text.is_empty() || !self.current.pieces.is_empty()
    }

    fn blank(&mut self) {
        let length = self.rest.find(|letter: char| !letter.is_whitespace()).unwrap_or(self.rest.len());
        let blank = self.take(length);
        if self.is_in_statement() {
            self.text.push_str(blank);
        } else if blank.matches('\n').count() > 1 {
            self.current.comment.clear();
        }
    }

    fn end(&mut self) {
        let kept = self.text.trim_end().len();
        self.text.truncate(kept);
        if !self.text.is_empty() {
            self.current.pieces.push(StatementPiece::Text(std::mem::take(&mut self.text)));
        }
        let statement = std::mem::take(&mut self.current);
        if !statement.pieces.is_empty() {
            self.items.push(ScriptItem::Statement(statement));
        }
    }

    /// A command has a line of its own; one that ends with a backslash continues on the next.
    fn command(&mut self, starts_line: bool) -> Result<(), Mistake> {
        let line = self.line;
        if self.is_in_statement() || !starts_line {
            let begun = if self.is_in_statement() { self.current.line } else { line };
            let found = format!("found {}", word(self.rest));
            return Err(Mistake::new(
                line,
                found,
                format!("; at the end of the statement that begins in line {begun}"),
            ));
        }
        let mut text = String::new();
        loop {
            let length = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
            let part = self.take(length).trim_end();
            let Some(part) = part.strip_suffix('\\').filter(|_| !self.rest.is_empty()) else {
                text += part;
                break;
            };
            text = text + part + " ";
        }
        self.current.comment.clear();
        self.items.push(ScriptItem::Command { line, text });
        Ok(())
    }

    fn line_comment(&mut self) {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        let comment = self.take(length);
        if !self.is_in_statement() {
            let words = comment.trim_start_matches('-').trim();
            let separator = if self.current.comment.is_empty() { "" } else { " " };
            self.current.comment = format!("{}{separator}{words}", self.current.comment);
        }
    }

    /// Hints to a server look like comments; they are kept.
    fn block_comment(&mut self) -> Result<(), Mistake> {
        let line = self.line;
        let Some(length) = comment_length(self.rest) else {
            return Err(Mistake::new(line, "found a comment that does not end", "*/ after it"));
        };
        let comment = self.take(length);
        if comment[2..].starts_with(['+', '!']) {
            self.put(comment);
        } else if self.is_in_statement() {
            self.text.push(' ');
        }
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), Mistake> {
        let line = self.line;
        let escapes = quote == '\'' && has_escapes(&self.text);
        let mut letters = self.rest.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                let text = self.take(at + 1);
                self.put(text);
                return Ok(());
            }
            if letter == '\\' && letters.peek().is_some_and(|(_, next)| *next == quote) {
                if !escapes {
                    let found = "found a backslash before a quote, which servers read differently";
                    return Err(Mistake::new(line, found, format!("{quote}{quote} for a quote within a text")));
                }
                letters.next();
            } else if letter == '\\' && escapes {
                letters.next();
            }
        }
        Err(Mistake::new(
            line,
            format!("found a text that begins with {quote} and does not end"),
            format!("{quote} after it"),
        ))
    }

    /// A dollar-quoted text, or a single dollar.
    fn dollar(&mut self) -> Result<(), Mistake> {
        let inside = &self.rest[1..];
        let tag = inside.find(|letter: char| !is_of_name(letter)).map_or(inside, |end| &inside[..end]);
        if tag.starts_with(|letter: char| letter.is_ascii_digit()) && !self.text.ends_with(is_of_name) {
            return Err(Mistake::new(self.line, format!("found ${tag}"), "a variable such as :name"));
        }
        let mark = format!("${tag}$");
        let is_quote = self.rest.starts_with(&mark) && !self.text.ends_with(is_of_name);
        let end = if is_quote { self.rest[mark.len()..].find(&mark).map(|end| end + 2 * mark.len()) } else { Some(1) };
        let Some(end) = end else {
            return Err(Mistake::new(
                self.line,
                format!("found a text that begins with {mark} and does not end"),
                mark,
            ));
        };
        let text = self.take(end);
        self.put(text);
        Ok(())
    }

    /// A variable, unless the colon belongs to a cast, an assignment or something else.
    fn colon(&mut self) {
        let after = &self.rest[1..];
        if after.starts_with([':', '=']) {
            let text = self.take(2);
            return self.put(text);
        }
        let length = after.find(|letter: char| !is_of_name(letter)).unwrap_or(after.len());
        if length == 0 || after.starts_with(|letter: char| letter.is_ascii_digit()) {
            let text = self.take(1);
            return self.put(text);
        }
        if !self.is_in_statement() {
            self.current.line = self.line;
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.current.pieces.push(StatementPiece::Text(text));
        }
        let name = self.take(length + 1)[1..].to_owned();
        self.current.pieces.push(StatementPiece::Variable { line: self.line, name });
    }
}

/// The length of the comment that a text begins with. PostgreSQL's comments may be nested. To the others, what is left over when an
/// inner one ends would be an error.
fn comment_length(text: &str) -> Option<usize> {
    let nested = || {
        let (mut depth, mut at) = (0_usize, 0);
        loop {
            let rest = &text[at..];
            let (opens, closes) = (rest.find("/*"), rest.find("*/")?);
            let is_inner = opens.is_some_and(|opens| opens < closes);
            depth = if is_inner { depth + 1 } else { depth - 1 };
            at += 2 + opens.filter(|_| is_inner).unwrap_or(closes);
            if depth == 0 {
                return Some(at);
            }
        }
    };
    nested().or_else(|| Some(text.find("*/")? + 2))
}

/// Whether the quote after this text begins a string in which a backslash escapes the next letter.
fn has_escapes(before: &str) -> bool {
    let Some(rest) = before.strip_suffix(['e', 'E']) else { return false };
    !rest.ends_with(is_of_name)
}

pub fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The first word of a text, up to its first blank.
pub fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<String>, String> {
        let item = |item: &ScriptItem| match item {
            ScriptItem::Command { line, text } => format!("{line} {text}"),
            ScriptItem::Statement(statement) => {
                let piece = |piece: &StatementPiece| match piece {
                    StatementPiece::Text(text) => text.clone(),
                    StatementPiece::Variable { name, .. } => format!("<{name}>"),
                };
                let comment =
                    if statement.comment.is_empty() { String::new() } else { format!(" ({})", statement.comment) };
                format!("{} {}{comment}", statement.line, statement.pieces.iter().map(piece).collect::<String>())
            }
        };
        items(text).map(|items| items.iter().map(item).collect()).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn statements_variables_commands_and_comments_are_told_apart() {
        for (text, expected) in [
            ("SELECT :a;\nSELECT 2", &["1 SELECT <a>", "2 SELECT 2"][..]),
            ("SELECT a::int,\n :b_1+1\n FROM t;", &["1 SELECT a::int,\n <b_1>+1\n FROM t"]),
            (
                "SELECT ':a', \":b\", `:c`, $$:d$$, $x$:e;$x$, E'\\':f', 'it''s :g'",
                &["1 SELECT ':a', \":b\", `:c`, $$:d$$, $x$:e;$x$, E'\\':f', 'it''s :g'"],
            ),
            ("\\set a 1\n  \\set b \\\n 2\n:a;", &["1 \\set a 1", "2 \\set b   2", "4 <a>"]),
            ("-- All is\n-- well.\nSELECT 1 -- one\n+ 2 /* :three */;", &["3 SELECT 1 \n+ 2 (All is well.)"]),
            ("-- Apart.\n\nSELECT /*+ hint */ 1;;", &["3 SELECT /*+ hint */ 1"]),
            ("SELECT /* a /* ; */ :c */ 1;", &["1 SELECT   1"]),
            ("SELECT 1 /* a /* b */; SELECT 2;", &["1 SELECT 1", "1 SELECT 2"]),
            ("SELECT a[1:2], '12:30', x := 1", &["1 SELECT a[1:2], '12:30', x := 1"]),
        ] {
            assert_eq!(told(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        for (text, expected) in [
            (
                "SELECT 1\n\\set a 1",
                "line 2: found \\set; expected ; at the end of the statement that begins in line 1",
            ),
            ("SELECT 1 \\gset", "line 1: found \\gset; expected ; at the end of"),
            ("SELECT 1;\n'a", "line 2: found a text that begins with ' and does not end"),
            ("SELECT 'a\\';", "line 1: found a backslash before a quote"),
            ("SELECT $1", "line 1: found $1; expected a variable such as :name"),
            ("/* a", "line 1: found a comment that does not end"),
        ] {
            let found = told(text).unwrap_err();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
