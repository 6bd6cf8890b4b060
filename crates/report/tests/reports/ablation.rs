//! Single changes to a contender.

use analysis::summary::{Analysis, analyse};
use record::ablation::{Ablation, Change, Direction};
use record::run::Run;
use record::synthetic;
use serde_json::json;

/// The synthetic run, whose second contender is a change of the first one.
fn ablation(direction: Direction) -> (Run, Analysis) {
    let mut run = synthetic::run(5);
    let change = |name: &str, contender: &str, skipped: Option<&str>| Change {
        name: name.to_owned(),
        set: json!({ "platform.kind": "qemu" }).as_object().cloned().unwrap_or_default(),
        contender: contender.to_owned(),
        skipped: skipped.map(str::to_owned),
    };
    let changes = vec![
        change("a guest", "kvm", None),
        change("huge pages", "huge pages", Some("the platform native has no platform.huge_pages")),
    ];
    run.plan.ablation = Some(Ablation { of: "native".to_owned(), direction, changes });
    let analysis = analyse(&run);
    (run, analysis)
}

#[test]
fn the_terminal_shows_each_change() {
    let (run, analysis) = ablation(Direction::AddOne);
    insta::assert_snapshot!(report::terminal(&run, &analysis).lines().take(12).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_page_shows_each_change_and_what_was_skipped() {
    let (run, analysis) = ablation(Direction::LeaveOneOut);
    let markdown = report::markdown_summary(&run, &analysis);
    let from = markdown.find("## One change at a time").expect("the section");
    let length = markdown[from + 2..].find("\n## ").map_or(markdown.len() - from, |length| length + 2);
    insta::assert_snapshot!(&markdown[from..from + length]);
}
