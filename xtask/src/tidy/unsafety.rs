//! Unsafe code must say right above it why it is sound.

use super::code::{CodeToken, flatten};
use super::finding::Breach;
use super::source_file::RustFile;

pub fn check(file: &RustFile) -> Vec<Breach> {
    let tokens = flatten(&file.tokens);
    let lines = tokens.iter().filter(|token| token.is_word("unsafe")).map(CodeToken::line);
    let bare = lines.filter(|line| !is_explained(&file.lines, *line));
    let message = "unsafe code without a `// SAFETY:` comment right above it that says why it is sound";
    bare.map(|line| Breach::new(&file.path, line, "safety", "", message)).collect()
}

/// Looks at the line itself, and upwards through comments and attributes.
fn is_explained(lines: &[String], line: usize) -> bool {
    let own = lines.get(line - 1).is_some_and(|text| text.contains("SAFETY:"));
    let above = lines[..line - 1].iter().rev().map(|text| text.trim_start());
    own || above
        .take_while(|text| text.starts_with("//") || text.starts_with("#["))
        .any(|text| text.starts_with("//") && text.contains("SAFETY:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let file = RustFile::parse("crates/a/src/b.rs", text).unwrap();
        check(&file).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_reason_must_be_right_above() {
        assert!(lines("fn a() {\n    // SAFETY: b needs nothing.\n    unsafe { b() }\n}\n").is_empty());
        assert_eq!(lines("// SAFETY: far away.\nfn a() {\n    unsafe { b() }\n}\n"), [3]);
        assert!(lines("/// SAFETY: callers hold the lock.\n#[inline]\nunsafe fn a() {}\n").is_empty());
        assert_eq!(lines("unsafe impl Send for A {}\n"), [1]);
    }

    #[test]
    fn the_word_in_comments_and_texts_is_no_unsafe_code() {
        assert!(lines("// unsafe\nconst A: &str = \"unsafe { }\";\n").is_empty());
    }

    #[test]
    fn macros_are_looked_into() {
        assert_eq!(lines("fn a() {\n    vec![unsafe { b() }];\n}\n"), [2]);
    }
}
