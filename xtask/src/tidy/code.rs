//! The tokens of a file as one flat list, so that a rule can search for a sequence, even inside macros.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

pub enum CodeToken {
    Word(String, Span),
    Mark(char, Span),
    /// A literal as written, including quotes.
    Literal(String, Span),
}

impl CodeToken {
    pub fn line(&self) -> usize {
        let (Self::Word(_, span) | Self::Mark(_, span) | Self::Literal(_, span)) = self;
        span.start().line
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(text, _) if text == word)
    }

    pub fn is_mark(&self, mark: char) -> bool {
        matches!(self, Self::Mark(character, _) if *character == mark)
    }
}

/// All tokens in order. Brackets become marks; comments are absent from tokens, and documentation is left out.
pub fn flatten(tokens: &TokenStream) -> Vec<CodeToken> {
    let mut flat = Vec::new();
    append(tokens.clone(), &mut flat);
    flat
}

fn append(tokens: TokenStream, flat: &mut Vec<CodeToken>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => flat.push(CodeToken::Word(ident.to_string(), ident.span())),
            TokenTree::Punct(punct) => flat.push(CodeToken::Mark(punct.as_char(), punct.span())),
            TokenTree::Literal(literal) => flat.push(CodeToken::Literal(literal.to_string(), literal.span())),
            TokenTree::Group(group) if is_documentation(&group) => {}
            TokenTree::Group(group) => {
                let (open, close) = marks(group.delimiter());
                flat.push(CodeToken::Mark(open, group.span_open()));
                append(group.stream(), flat);
                flat.push(CodeToken::Mark(close, group.span_close()));
            }
        }
    }
}

/// True for the brackets of `#[doc = "..."]`, which a documentation comment becomes.
fn is_documentation(group: &proc_macro2::Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(ident)) if ident == "doc")
}

fn marks(delimiter: Delimiter) -> (char, char) {
    match delimiter {
        Delimiter::Brace => ('{', '}'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::Parenthesis | Delimiter::None => ('(', ')'),
    }
}

/// Lines on which the tokens spell `pattern`, whose parts are separated by blanks ("process :: exit").
pub fn lines_with(tokens: &[CodeToken], pattern: &str) -> Vec<usize> {
    let parts: Vec<String> = pattern.split(' ').flat_map(split_marks).collect();
    let spells = |window: &&[CodeToken]| window.iter().zip(&parts).all(|(token, part)| is_part(token, part));
    tokens.windows(parts.len()).filter(spells).map(|window| window[0].line()).collect()
}

fn is_part(token: &CodeToken, part: &str) -> bool {
    token.is_word(part) || part.chars().next().is_some_and(|first| part.len() == 1 && token.is_mark(first))
}

/// Words stay whole; each mark becomes one part ("::" is two).
fn split_marks(part: &str) -> Vec<String> {
    let is_word = part.chars().all(|character| character.is_alphanumeric() || character == '_');
    if is_word { vec![part.to_owned()] } else { part.chars().map(String::from).collect() }
}
