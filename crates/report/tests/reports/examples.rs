//! The examples in `docs/examples`: each is the summary of a real run, and says what the stored analysis of that run says.

use analysis::summary::Analysis;
use record::run::Run;
use std::fs;
use std::path::{Path, PathBuf};

/// Of an example's two pages together.
const MOST_BYTES: usize = 3 << 20;

/// Characters in a line of the terminal. Sentences are shorter; tables may need more.
const WIDEST: usize = 100;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// `BLESS=1 cargo test -p report examples` writes the pages anew from the folders `record`.
#[test]
fn examples_are_made_from_their_records() {
    let examples = examples();
    assert!(!examples.is_empty());
    for example in examples {
        let record = example.join("record");
        let run = Run::open(&record).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
        let stored = fs::read_to_string(record.join("analysis.json")).unwrap();
        let analysis: Analysis =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
        let pages = [
            ("summary.md", report::markdown_summary(&run, &analysis)),
            ("summary.html", report::html_summary(&run, &analysis)),
        ];
        assert!(pages.iter().map(|(_, page)| page.len()).sum::<usize>() < MOST_BYTES, "{}", example.display());
        for (name, page) in pages {
            let path = example.join(name);
            if std::env::var_os("BLESS").is_some() {
                fs::write(&path, &page).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(kept == page, "{} is stale: BLESS=1 cargo test -p report examples", path.display());
        }
        let terminal = report::terminal(&run, &analysis);
        let wide = terminal.lines().find(|line| line.chars().count() > WIDEST);
        assert_eq!(wide, None, "{}", example.display());
    }
}
