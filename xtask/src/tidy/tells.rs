//! Comments and messages say what a program prints, returns or reports: "tell" is for people. Names are left alone.

use super::code::{CodeToken, flatten};
use super::finding::Breach;
use super::source_file::RustFile;

const WORDS: &[&str] = &["tell", "tells", "told", "telling"];
const MESSAGE: &str = "programs print, return or report, and “tell” is for people; write the field's word";

/// The only production code that has these words, so it is the only one that is not searched.
const THIS_FILE: &str = "xtask/src/tidy/tells.rs";

pub fn check(file: &RustFile) -> Vec<Breach> {
    let comments = (1..).zip(&file.lines).filter_map(|(line, text)| Some((line, text.split_once("//")?.1.to_owned())));
    let mut texts: Vec<(usize, String)> = comments.collect();
    for token in flatten(&file.tokens) {
        if let CodeToken::Literal(text, _) = &token {
            texts.extend((token.line()..).zip(text.lines().map(ToOwned::to_owned)));
        }
    }
    texts.retain(|(line, text)| file.path != THIS_FILE && !file.is_test_line(*line) && tells(text));
    texts.iter().map(|(line, _)| Breach::new(&file.path, *line, "tell", "", MESSAGE)).collect()
}

/// A word in backticks, braces or a path is a name.
fn tells(text: &str) -> bool {
    let is_mark = |character: char| !character.is_alphanumeric() && !matches!(character, '`' | '{' | '}');
    let mut words = text.split_whitespace().map(|word| word.trim_matches(is_mark));
    words.any(|word| WORDS.iter().any(|tell| word.eq_ignore_ascii_case(tell)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_messages_do_not_tell_and_names_and_tests_may() {
        let lines = [
            "//! Tells more.",
            "fn told() {} // of `tell`, `Reply::Told` and [`told`]",
            "const A: &str = \"the kernel has {told}\";",
            "const B: &str = \"it was",
            "told.\";",
            "#[cfg(test)]",
            "mod tests { const C: &str = \"told\"; }",
        ];
        let file = RustFile::parse("crates/a/src/b.rs", &lines.join("\n")).unwrap();
        let found: Vec<usize> = check(&file).into_iter().map(|finding| finding.line).collect();
        assert_eq!(found, [1, 5]);
    }
}
