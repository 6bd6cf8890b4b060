//! The head of a file: a `//!` comment that says what it is for.

use super::finding::Breach;
use super::source_file::RustFile;

/// With fewer words it says nothing beyond the file's name.
const FEWEST_WORDS: usize = 3;

pub fn check(file: &RustFile) -> Vec<Breach> {
    let head: String =
        file.lines.iter().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect::<Vec<_>>().join(" ");
    if head.split_whitespace().count() >= FEWEST_WORDS {
        return Vec::new();
    }
    let message = "the file does not begin with a `//!` comment that says what it is for and what it leaves out";
    vec![Breach::new(&file.path, 1, "head", "", message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&RustFile::parse("crates/a/src/b.rs", text).unwrap()).len()
    }

    #[test]
    fn a_sentence_is_a_head_and_a_word_or_a_late_comment_is_none() {
        assert_eq!(findings("//! Reads what a disk says about itself.\n"), 0);
        assert_eq!(findings("//! Disks.\nfn a() {}\n"), 1);
        assert_eq!(findings("// Reads what a disk says about itself.\n"), 1);
        assert_eq!(findings(""), 1);
    }
}
