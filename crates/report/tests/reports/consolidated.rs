//! Reports of a study of one, two and three machines side by side.

use analysis::summary::{Analysis, analyse};
use record::run::Run;
use record::synthetic::consolidated::{self, HeldBack, OwedTo};
use std::sync::LazyLock;

/// The second of three machines of one contender is held back. Made once for all tests.
pub static MADE_UP: LazyLock<(Run, Analysis)> = LazyLock::new(|| {
    let run = consolidated::run(4, Some(HeldBack { contender: "kvm", machine: 2 }));
    let analysis = analyse(&run);
    (run, analysis)
});

fn section<'a>(markdown: &'a str, title: &str) -> &'a str {
    let from = markdown.find(&format!("## {title}")).expect("a section");
    let section = &markdown[from..];
    &section[..section[3..].find("\n## ").map_or(section.len(), |end| end + 3)]
}

fn scores_machines_and_sentences_stand_in_a_section_of_their_own() {
    let (run, analysis) = &*MADE_UP;
    insta::assert_snapshot!(section(&report::markdown(run, analysis), "Consolidation"));
}

fn the_terminal_begins_with_the_minimum() {
    let (run, analysis) = &*MADE_UP;
    insta::assert_snapshot!(report::terminal(run, analysis));
}

fn the_answer_names_the_minimum_and_never_the_sum() {
    let (run, analysis) = &*MADE_UP;
    let answers = report::answer::sentences(analysis);
    let three = answers.iter().find(|answer| answer.starts_with("kvm at 3x2: the slowest of 3 machines did "));
    let three = three.expect("the minimum of three");
    assert!(three.starts_with("kvm at 3x2: the slowest of 3 machines did 743.0 NOPM (723.0 to 763.7)."), "{three}");
    assert!(
        three.contains(" Machine 2 did −4")
            && three.contains("against the mean of the others: it is a straggler. In brackets are"),
        "{three}"
    );
    assert!(answers.iter().any(|answer| answer.contains("(NOPM, minimum of 3)")), "{answers:#?}");
    let html = report::html(run, analysis);
    assert!(html.contains("Machines side by side") && html.contains("NOPM, minimum of 2"));
    assert!(html.contains("machine 1 ") && html.contains("throughput is that of the slowest one"));
}

/// One dot for each machine and block, and a larger one for each cell.
fn the_figure_has_a_dot_for_each_machine_and_block() {
    let (run, analysis) = &*MADE_UP;
    let document = report::sections::all(run, analysis);
    let figure = document.figures().into_iter().find(|figure| figure.id == "machines-side-by-side").expect("a figure");
    let svg = &figure.panels[0].svg;
    assert_eq!(svg.matches(r#"<circle class="block"#).count(), 2 * (2 + 3) * 4);
    assert_eq!(svg.matches(r#"<circle class="point"#).count(), 4);
}

fn the_json_has_scores_and_every_machine_of_every_trial() {
    let (run, analysis) = &*MADE_UP;
    let json: serde_json::Value = serde_json::from_str(&report::json(run, analysis).unwrap()).unwrap();
    let cells = json["analysis"]["consolidation"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    assert_eq!(cells[3]["slots"][1]["position"], "below");
    assert_eq!(cells[3]["chance"]["minimum"], "below");
    let machines =
        json["trials"].as_array().unwrap().iter().map(|trial| trial["machines"].as_array().map_or(1, Vec::len));
    assert_eq!(machines.sum::<usize>(), 4 * 2 * (1 + 2 + 3));
    assert_eq!(report::json(run, analysis).unwrap(), report::json(run, &analyse(run)).unwrap(), "the same bytes again");
}

/// A study whose only contender is its baseline compares nothing, but it still has an answer.
fn a_single_contender_is_answered_by_its_minimum() {
    let (mut run, _) = MADE_UP.clone();
    run.plan.cells.retain(|cell| cell.contender == "kvm");
    run.plan.trials.retain(|trial| run.plan.cells.iter().any(|cell| cell.id == trial.cell));
    run.trials.retain(|trial| trial.record.contender == "kvm");
    let answers = report::answer::sentences(&analyse(&run));
    assert_eq!(answers.len(), 3, "{answers:#?}");
    // The most machines first, and only of these whether they got equal shares.
    assert!(answers[0].starts_with("kvm at 3x2: the slowest of 3 machines did "), "{answers:#?}");
    assert!(answers[2].starts_with("kvm at 3x2: shares are unequal. Machine 2 did −4"), "{answers:#?}");
}

#[test]
fn studies_of_single_machines_have_no_such_section() {
    let run = record::synthetic::run(3);
    assert!(!report::markdown(&run, &analyse(&run)).contains("Consolidation"));
}

/// The sentences on attribution for three machines of one contender.
fn owed(blocks: u32, owed_to: OwedTo) -> String {
    let found = analyse(&consolidated::run_in_which(blocks, Some(("kvm", owed_to)))).consolidation;
    let three = found.iter().find(|one| one.contender == "kvm" && one.coordinates == "3x2").expect("three machines");
    let unknown = report::sections::attribution::unknown(three);
    [report::sections::attribution::known(three), unknown.into_iter().collect()].concat().join("\n")
}

#[test]
fn what_machines_get_less_is_said_to_be_owed_to_one_thing() {
    let cases = [
        (5, OwedTo::Place(2)),
        (5, OwedTo::Start(3)),
        (5, OwedTo::Machine(2)),
        // Too few blocks.
        (3, OwedTo::Place(2)),
        (1, OwedTo::Place(2)),
    ];
    let told = cases.map(|(blocks, owed_to)| format!("{blocks} blocks, {owed_to:?}:\n{}", owed(blocks, owed_to)));
    insta::assert_snapshot!(told.join("\n\n"));
}

/// One test, because what is reported takes longer to make than to look at.
#[test]
fn machines_side_by_side_in_every_form() {
    scores_machines_and_sentences_stand_in_a_section_of_their_own();
    the_terminal_begins_with_the_minimum();
    the_answer_names_the_minimum_and_never_the_sum();
    the_figure_has_a_dot_for_each_machine_and_block();
    the_json_has_scores_and_every_machine_of_every_trial();
    a_single_contender_is_answered_by_its_minimum();
}
