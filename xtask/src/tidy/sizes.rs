//! Limits on size: a file can be read in one sitting. Clippy counts the lines of a function.

use super::finding::Breach;
use super::source_file::RustFile;

const LONGEST_FILE_LINES: usize = 500;

pub fn check(file: &RustFile) -> Vec<Breach> {
    let length = file.lines.len();
    let message =
        format!("{length} lines are too many to read in one sitting (at most {LONGEST_FILE_LINES}); split it");
    let is_long = length > LONGEST_FILE_LINES;
    is_long.then(|| Breach::new(&file.path, 0, "file-length", "", message)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_have_five_hundred_lines_but_not_more() {
        let found = |lines| check(&RustFile::parse("crates/a/src/b.rs", &"// x\n".repeat(lines)).unwrap()).len();
        assert_eq!([500, 501].map(found), [0, 1]);
    }
}
