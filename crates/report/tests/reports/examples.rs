//! The examples in `docs/examples`: each is the summary of a real run, and says what the stored analysis of that run says.

use analysis::beside::{self, PublishedFigures};
use analysis::summary::Analysis;
use record::run::Run;
use std::fs;
use std::path::{Path, PathBuf};

/// Of an example's two pages together.
const MOST_BYTES: usize = 3 << 20;

/// Characters in a line of the terminal. Sentences are shorter; tables may need more.
const WIDEST: usize = 100;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn examples() -> Vec<PathBuf> {
    let folder = project().join("docs/examples");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The figures of the published study that an example repeats, if it repeats one, beside those of its run.
fn beside_published(example: &Path, run: &Run, analysis: &Analysis) -> Option<PublishedFigures> {
    let study = project().join("studies/published").join(example.file_name()?);
    let text = fs::read_to_string(study.join("published.toml")).ok()?;
    let published = toml::from_str(&text).expect("published figures");
    Some(beside::compare(run, &analysis.observations, &published).expect("figures that can be compared"))
}

/// `BLESS=1 cargo test -p report examples` writes the pages anew from the folders `record`, and the published figures in these from the
/// studies.
#[test]
fn examples_are_made_from_their_records() {
    let examples = examples();
    assert!(!examples.is_empty());
    for example in examples {
        let record = example.join("record");
        let run = Run::open(&record).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
        let stored = fs::read_to_string(record.join("analysis.json")).unwrap();
        let mut analysis: Analysis =
            serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{}: {error}", record.display()));
        let beside = beside_published(&example, &run, &analysis);
        if std::env::var_os("BLESS").is_some() && analysis.beside != beside {
            analysis.beside.clone_from(&beside);
            fs::write(record.join("analysis.json"), serde_json::to_string(&analysis).unwrap() + "\n").unwrap();
        }
        assert!(analysis.beside == beside, "{} has other published figures: BLESS=1", record.display());
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
