//! Single changes to a contender, and published figures beside those of a run.

use analysis::beside::compare;
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

#[test]
fn published_figures_are_beside_those_of_the_run() {
    let run = synthetic::run(5);
    let mut analysis = analyse(&run);
    let (kvm, native) = (json!({ "contender": "kvm" }), json!({ "contender": "native" }));
    let ratio = json!({ "title": "Ratios", "form": "ratio", "rows": [
        { "label": "VM over native", "published": 0.853, "of": kvm, "over": native },
        { "label": "another VM", "published": 0.745, "of": { "contender": "xen" }, "over": native },
    ] });
    let change = json!({ "title": "Changes", "form": "change", "rows": [
        { "label": "VM", "published": -14.7, "of": kvm, "over": native },
        { "label": "p95", "published": 20, "measure": "response.p95/new-order", "of": kvm, "over": native },
    ] });
    let value = json!({ "title": "Throughput", "form": "value", "unit": "tx/min", "rows": [
        { "label": "native", "published": 293_000, "of": native },
        { "label": "interrupts", "published": 13_000, "why": "no counter of the guest has them" },
    ] });
    let published = json!({
        "title": "A paper", "source": "its authors, 2009", "not_compared": ["Its disks were other ones."],
        "table": [ratio, change, value],
    });
    let published = serde_json::from_value(published).expect("a file of figures");
    analysis.beside = Some(compare(&run, &analysis.observations, &published).expect("its figures"));
    let markdown = report::markdown_summary(&run, &analysis);
    let from = markdown.find("## Beside the published figures").expect("the section");
    let last = "no counter of the guest has them.";
    let length = markdown[from..].find(last).expect("its last part");
    insta::assert_snapshot!(&markdown[from..from + length + last.len()]);
    assert!(report::html(&run, &analysis).contains("Beside the published figures"));
}
