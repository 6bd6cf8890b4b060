//! Rehearsals of the studies that come with the project: played up to the report, and marked as rehearsed.

use crate::setting::{Place, text};
use record::trial::Outcome;
use std::path::{Path, PathBuf};

/// Studies that ask for more than any host of ours has. Their plans are tested beside the planner.
const FOR_A_LARGE_HOST: &str = "-full";

fn studies() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut files = files_in(&folder);
    files.retain(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        path.extension().is_some_and(|extension| extension == "toml")
            && name != FIGURES
            && !name.ends_with(FOR_A_LARGE_HOST)
    });
    files.sort();
    files
}

/// A file of published figures is no study.
const FIGURES: &str = "published";

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect()
}

/// One study for each question: of a platform's cost, of its noise, of durability, of a neighbour, of growth, of a change, of the
/// minimum of several machines; and one of queries.
const IN_BRIEF: [&str; 8] = [
    "aa-native",
    "durability",
    "noisy-neighbour",
    "quickstart",
    "decision-support-h-native-vs-vm",
    "consolidation-minimum-brokerage-small",
    "monster-vm-small",
    "order-entry-vs-native-ablation-small",
];

/// Workloads whose reports must say which benchmark they are derived from, and that figures are not comparable with its.
const DERIVED: [&str; 3] = ["order-entry", "brokerage", "decision-support"];

fn is_in_brief(study: &Path) -> bool {
    IN_BRIEF.contains(&&*study.file_stem().unwrap().to_string_lossy())
}

#[test]
fn studies_of_each_kind_are_rehearsed_to_their_reports() {
    let studies: Vec<_> = studies().into_iter().filter(|study| is_in_brief(study)).collect();
    assert_eq!(studies.len(), IN_BRIEF.len());
    are_rehearsed(studies);
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn every_other_study_of_ours_is_rehearsed_to_its_report() {
    are_rehearsed(studies().into_iter().filter(|study| !is_in_brief(study)).collect());
}

fn are_rehearsed(studies: Vec<PathBuf>) {
    assert!(studies.len() > 5, "{studies:?}");
    for (index, study) in studies.into_iter().enumerate() {
        let written = std::fs::read_to_string(&study).unwrap();
        let place = Place::new(&written);
        // A block has every contender. What several make of it is seen on the first study.
        let blocks: &[&str] = if index == 0 { &[] } else { &["--only", "block=1"] };
        let output = place.bakeoff(&[&["run", "study.toml", "--rehearse"], blocks].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {told}", study.display());
        let result = text(&output.stdout);
        assert!(result.contains("✗ Not usable. This run was rehearsed:"), "{result}");
        let (run, folder) = (place.record(), place.run_folder());
        assert!(run.plan.rehearsed && folder.to_string_lossy().ends_with("-rehearsed"), "{}", folder.display());
        let asked = run.plan.trials.iter().filter(|planned| index == 0 || planned.block == 1);
        assert_eq!(run.trials.len(), asked.count());
        for trial in &run.trials {
            assert_eq!(trial.record.outcome, Outcome::Completed, "{}: trial {}", study.display(), trial.record.id);
        }
        let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(page.contains("This run was rehearsed:"));
        let is_derived = DERIVED.iter().any(|kind| written.contains(&format!("\"{kind}")));
        assert_eq!(page.contains("is derived from TPC-"), is_derived, "{}: the notice", study.display());
    }
}

#[test]
fn figures_that_are_made_up_are_compared_with_none_and_plan_nothing() {
    let place = Place::new(&std::fs::read_to_string(&studies()[0]).unwrap());
    assert_eq!(place.bakeoff(&["run", "study.toml", "--rehearse", "--only", "block=1"]).status.code(), Some(0));
    let run = place.run_folder().display().to_string();
    for arguments in [vec!["compare", &run, &run], vec!["plan", "study.toml", "--pilot", &run]] {
        let output = place.bakeoff(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains("was rehearsed, so its figures are made up"), "{}", text(&output.stderr));
    }
}

#[test]
fn the_same_study_is_rehearsed_with_the_same_figures() {
    let figures = || {
        let place = Place::new(&std::fs::read_to_string(&studies()[0]).unwrap());
        assert_eq!(place.bakeoff(&["run", "study.toml", "--rehearse", "--only", "block=1"]).status.code(), Some(0));
        let totals = |trial: &record::run::StoredTrial| trial.record.driver.as_ref().unwrap().kinds.clone();
        place.record().trials.iter().map(totals).collect::<Vec<_>>()
    };
    assert_eq!(figures(), figures());
}

/// One block gives no interval, which a study may accept if it names the code.
#[test]
fn a_finding_is_explained_and_may_be_accepted_with_a_reason() {
    let study = std::fs::read_to_string(&studies()[0]).unwrap();
    let accepting =
        |code: &str| study.replace("[machine]", &format!("[accept]\n{code} = \"it is tried out\"\n\n[machine]"));
    let place = Place::new(&accepting("too-few-blocks").replace("blocks   = 20", "blocks   = 1"));
    let output = place.bakeoff(&["run", "study.toml", "--rehearse"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let page = std::fs::read_to_string(place.run_folder().join("report.md")).unwrap();
    let accepted = page.lines().find(|line| line.contains("`too-few-blocks`")).unwrap();
    assert!(accepted.starts_with("- – ") && accepted.ends_with("Accepted: it is tried out `too-few-blocks`"), "{page}");

    let explained = text(&place.bakeoff(&["explain", "[too-few-blocks]"]).stdout);
    assert!(explained.contains("What to do: Set blocks = 5 or more.") && explained.contains("[accept]"), "{explained}");
    assert_eq!(text(&place.bakeoff(&["explain"]).stdout).lines().count(), analysis::findings::CODES.len());
    let unknown = place.bakeoff(&["explain", "too-few-block"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean too-few-blocks?"), "{}", text(&unknown.stderr));

    let refused = Place::new(&accepting("check-violated")).bakeoff(&["plan", "study.toml"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("accept.check-violated: "), "{}", text(&refused.stderr));
}
