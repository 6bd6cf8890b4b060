//! `cargo xtask loc`: the lines of each crate by what they are for.

use super::source_file::{self, RustFile};
use super::sources;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Default, Clone, Copy)]
struct LinesByKind {
    production: usize,
    comment: usize,
    test: usize,
}

impl LinesByKind {
    /// Blank lines do not count.
    fn of(file: &RustFile) -> Self {
        let mut lines = Self::default();
        for (index, line) in file.lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            if file.is_test_line(index + 1) {
                lines.test += 1;
            } else if line.trim_start().starts_with("//") {
                lines.comment += 1;
            } else {
                lines.production += 1;
            }
        }
        lines
    }

    fn add(&mut self, other: Self) {
        self.production += other.production;
        self.comment += other.comment;
        self.test += other.test;
    }
}

pub fn run(root: &Path) -> anyhow::Result<()> {
    print!("{}", table(&source_file::parse_all(&sources::read(root)?, &mut Vec::new())));
    Ok(())
}

fn table(files: &[RustFile]) -> String {
    let (mut crates, mut all) = (BTreeMap::<&str, LinesByKind>::new(), LinesByKind::default());
    for file in files {
        let lines = LinesByKind::of(file);
        crates.entry(file.package()).or_default().add(lines);
        all.add(lines);
    }
    let row = |name: &str, lines: &LinesByKind| {
        format!("{name:<12} {:>10} {:>10} {:>10}\n", lines.production, lines.comment, lines.test)
    };
    let head = format!("{:<12} {:>10} {:>10} {:>10}\n", "crate", "production", "comment", "test");
    let crates: String = crates.iter().map(|(name, lines)| row(name, lines)).collect();
    format!("{head}{crates}{}", row("all", &all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_what_they_are_for() {
        let text = "//! Head.\n\nfn a() {} // at the end\n\n#[cfg(test)]\nmod tests {\n    // Why.\n    fn b() {}\n}\n";
        let files = ["crates/x/src/a.rs", "crates/x/tests/b.rs"].map(|path| RustFile::parse(path, text).unwrap());
        let table = table(&files);
        let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(row, ["x", "1", "1", "12"], "{table}");
        assert!(table.lines().last().unwrap().starts_with("all "), "{table}");
    }
}
