//! Reports of a study in which one of three machines comes and goes.

use analysis::summary::{Analysis, analyse};
use record::run::Run;
use record::synthetic::neighbour;
use std::sync::LazyLock;

/// Made once for all tests.
pub static MADE_UP: LazyLock<(Run, Analysis)> =
    LazyLock::new(|| of(neighbour::run(4, &["burst", "stops", "idle", "same"])));

fn of(run: Run) -> (Run, Analysis) {
    let analysis = analyse(&run);
    (run, analysis)
}

fn section(markdown: &str) -> &str {
    let from = markdown.find("## Noisy neighbour").expect("a section");
    let section = &markdown[from..];
    &section[..section[3..].find("\n## ").map_or(section.len(), |end| end + 3)]
}

fn before_during_and_after_stand_in_a_section_of_their_own() {
    let (run, analysis) = &*MADE_UP;
    insta::assert_snapshot!(section(&report::markdown(run, analysis)));
}

fn what_the_others_keep_is_the_answer_and_not_the_minimum_of_it_all() {
    let (run, analysis) = &*MADE_UP;
    let answers = report::answer::sentences(analysis);
    let of = |who: &str| answers.iter().filter(|answer| answer.starts_with(who)).collect::<Vec<_>>();
    let burst = of("kvm at burst: ");
    assert_eq!(burst.len(), 1, "{answers:#?}");
    assert!(
        burst[0].starts_with(
            "kvm at burst: while machine 3 works, the others do 30.6 % less work than before and after it"
        ),
        "{burst:?}"
    );
    assert!(burst[0].contains(" Afterwards the others do 3.5 % less work than before it"), "{burst:?}");
    let idle = of("kvm at idle: ")[0];
    let expected = "kvm at idle: at same, where machine 3 works, the others do 28.8 % less work";
    assert!(idle.starts_with(expected), "{idle}");
    assert!(of("kvm at same: ")[0].contains("the slowest of 3 machines did"), "nobody is set apart there");
    let json: serde_json::Value = serde_json::from_str(&report::json(run, analysis).unwrap()).unwrap();
    let found = json["analysis"]["consolidation"].as_array().unwrap();
    let burst = found.iter().find(|one| one["coordinates"] == "burst" && one["contender"] == "kvm").unwrap();
    assert_eq!((&burst["neighbour"]["kept"], &burst["neighbour"]["machine"]), (&"below".into(), &3.into()));
    assert_eq!(burst["neighbour"]["trials"][0]["parts"][1]["part"], "during");
    assert_eq!(report::json(run, analysis).unwrap(), report::json(run, &analyse(run)).unwrap(), "the same bytes again");
}

/// A panel for each cell in which it comes or goes, with one shaded part and one line.
fn the_figure_shades_the_time_in_which_it_worked() {
    let (_, analysis) = &*MADE_UP;
    let figure = report::figures::neighbour::figure(&analysis.consolidation).expect("a figure");
    assert_eq!(figure.panels.len(), 4);
    for panel in &figure.panels {
        assert_eq!(
            (panel.svg.matches("<rect class=\"shade\"").count(), panel.svg.matches("<polyline").count()),
            (1, 1)
        );
        assert!(panel.svg.contains("machine 3 works"));
    }
}

/// Of two machines, the other one is named in the singular, and there are no scores of several.
fn one_beside_a_neighbour_has_no_scores_of_several() {
    let (run, _) = &*MADE_UP;
    let mut run = run.clone();
    run.plan.cells.retain(|cell| cell.bystander().is_some());
    for cell in &mut run.plan.cells {
        cell.settings.set("machine.count", 2.into()).unwrap();
        cell.settings.set("machine.exception.number", 2.into()).unwrap();
    }
    run.trials.retain(|trial| trial.bystander.is_some());
    for trial in &mut run.trials {
        trial.machines.remove(0);
        trial.bystander = Some(2);
    }
    let (run, analysis) = of(run);
    let markdown = report::markdown(&run, &analysis);
    assert!(!markdown.contains("## Consolidation") && !markdown.contains("with 1 machines"), "{markdown}");
    assert!(section(&markdown).contains("while machine 2 works, the other machine does "), "{}", section(&markdown));
    assert!(!section(&markdown).contains("slowest of"));
    assert!(section(&markdown).contains("machine 2 stands idle, and no cell of the same machines has it at work"));
}

#[test]
fn studies_without_such_a_machine_have_no_such_section() {
    let (run, analysis) = of(record::synthetic::consolidated::run(1, None));
    assert!(!report::markdown(&run, &analysis).contains("Noisy neighbour"));
}

/// One test, because what is reported takes longer to make than to look at.
#[test]
fn a_neighbour_in_every_form() {
    before_during_and_after_stand_in_a_section_of_their_own();
    what_the_others_keep_is_the_answer_and_not_the_minimum_of_it_all();
    the_figure_shades_the_time_in_which_it_worked();
    one_beside_a_neighbour_has_no_scores_of_several();
}
