//! What a new user types first, and what a run prints on its two streams.

use crate::setting::{Place, text};
use std::path::Path;
use std::process::Command;

#[test]
fn nothing_said_is_answered_with_first_steps_and_init_writes_a_study_that_can_be_planned() {
    let place = Place::new("");
    let first = place.bakeoff(&[]);
    assert_eq!((first.status.code(), text(&first.stderr)), (Some(0), String::new()));
    let told = text(&first.stdout);
    for command in ["bakeoff doctor", "bakeoff init", "bakeoff drive"] {
        assert!(told.contains(command), "{told}");
    }
    for engine in ["postgres", "mariadb", "sqlite"] {
        for compare in ["native-vm", "disk-cache", "versions"] {
            if (engine, compare) == ("sqlite", "versions") {
                let one = place.bakeoff(&["init", "x.toml", "--engine", engine, "--compare", compare]);
                assert_eq!(one.status.code(), Some(2));
                assert!(
                    text(&one.stderr).contains("of these there are more: postgres, mariadb"),
                    "{}",
                    text(&one.stderr)
                );
                continue;
            }
            let file = format!("{engine}-{compare}.toml");
            let wish = ["--engine", engine, "--compare", compare, "--warehouses", "3", "--minutes", "20"];
            let init = place.bakeoff(&[&["init", &file], &wish[..]].concat());
            assert_eq!(init.status.code(), Some(0), "{}", text(&init.stderr));
            let plan = place.bakeoff(&["plan", &file]);
            assert!(is_planned(&plan), "{}", text(&plan.stderr));
            let told = text(&plan.stdout);
            assert!(told.contains("warehouses = 3") && told.contains(engine), "{told}");
            assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
        }
    }
    let again = place.bakeoff(&["init", "sqlite-native-vm.toml"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("is there already"), "{}", text(&again.stderr));
    let missing = place.bakeoff(&["plan", "quickstart.toml"]);
    assert!(text(&missing.stderr).contains("there are: mariadb-disk-cache.toml, "), "{}", text(&missing.stderr));
    assert!(!text(&missing.stderr).contains("os error"));
    let misspelt = place.bakeoff(&["plan", "mariadb-dsik-cache.toml"]);
    assert!(text(&misspelt.stderr).contains("did you mean mariadb-disk-cache.toml?"), "{}", text(&misspelt.stderr));
}

/// A host that lacks what a study needs can still plan it.
fn is_planned(plan: &std::process::Output) -> bool {
    matches!(plan.status.code(), Some(0 | 3))
}

#[test]
fn the_study_that_compares_one_option_of_qemu_differs_in_that_option_alone() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compare.md")).unwrap();
    let study = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let plan = Place::new(study).bakeoff(&["plan", "study.toml"]);
    assert!(is_planned(&plan), "{}", text(&plan.stderr));
    let told = text(&plan.stdout);
    let differs = told.split("What differs:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    assert_eq!(differs, "  platform.disk.iothread: false (main-thread); true (iothread)");
}

#[test]
fn a_plan_promises_no_time_for_queries() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/published/consolidation-minimum");
    for file in ["decision-support-ds-small", "decision-support-h-small"] {
        let study = std::fs::read_to_string(studies.join(format!("consolidation-minimum-{file}.toml"))).unwrap();
        let told = text(&Place::new(&study).bakeoff(&["plan", "study.toml"]).stdout).replace('\n', " ");
        assert!(told.contains(" in all, plus the time of the queries, which is not known in advance "), "{told}");
        assert!(!told.contains("under load"), "{told}");
    }
}

#[test]
fn the_result_is_on_standard_output_and_a_trial_is_a_line_with_its_figure() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let place = Place::new(&std::fs::read_to_string(studies.join("quickstart.toml")).unwrap());
    let json = place.bakeoff(&["run", "study.toml", "--rehearse", "--json"]);
    assert_eq!(json.status.code(), Some(0), "{}", text(&json.stderr));
    let analysis: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let comparison = &analysis["comparisons"][0];
    let estimate = &comparison["contrasts"][0];
    assert!(estimate["point"].as_f64().unwrap() > 0.0, "{comparison}");
    let told = text(&json.stderr);
    let trials: Vec<&str> = told.lines().filter(|line| line.starts_with("trial ")).collect();
    assert_eq!(trials.len(), 10, "one line for a trial: {told}");
    assert!(trials.iter().all(|line| line.contains(" NOPM, after ")), "{told}");
    let last = trials.last().unwrap();
    assert!(last.contains("block 5: vm 0.0 % against native; so far 0.0 % (0.0 to 0.0 %)"), "{last}");
    assert!(told.starts_with(&format!("{}: vm against native · sqlite", place.study().trim_end_matches(".toml"))));

    let open = text(&place.bakeoff(&["open"]).stdout);
    assert_eq!(Path::new(open.trim()), place.run_folder().join("report.html").canonicalize().unwrap());
    let report = place.bakeoff(&["report", "last"]);
    assert!(text(&report.stdout).contains("valid trials"), "{}", text(&report.stdout));
    let parent = text(&place.bakeoff(&["report", "runs"]).stderr);
    assert!(parent.contains("runs is no run folder: runs holds 1 run: 20"), "{parent}");
    completed(&place);
    let unchanged = place.bakeoff(&["plan", "study.toml", "--set", "load.retries=10"]);
    assert_eq!(unchanged.status.code(), Some(2));
    assert!(text(&unchanged.stderr).contains("--set load.retries=10 changes nothing"), "{}", text(&unchanged.stderr));
    let set = ["plan", "study.toml", "--set", "blocks=7", "--set", "load.warmup=1s"];
    let changed = text(&place.bakeoff(&set).stdout);
    assert!(changed.contains("7 blocks of 2 trials · each 1 s warm-up"), "{changed}");
    let quiet = place.bakeoff(&["run", "study.toml", "--rehearse", "--quiet"]);
    assert_eq!((quiet.status.code(), text(&quiet.stderr)), (Some(0), String::new()));
    assert!(text(&quiet.stdout).contains("NOPM"));
}

/// As a bash does that has the script and sees TAB typed at the end of a line.
fn completed(place: &Place) {
    // Shells would split or execute such a path and such a name.
    let program = place.folder.path().join("the program's folder/bakeoff");
    std::fs::create_dir(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bakeoff"), &program).unwrap();
    let odd = place.folder.path().join("runs/2026 $(touch executed)");
    std::fs::create_dir(&odd).unwrap();
    std::fs::copy(place.run_folder().join("plan.json"), odd.join("plan.json")).unwrap();
    let script = text(&Command::new(&program).args(["completions", "bash"]).output().unwrap().stdout);
    let offered = |words: &[&str]| {
        let (typed, before) = words.split_last().unwrap();
        let line = format!(
            "{script}\nCOMP_WORDS=(bakeoff {} '{typed}'); COMP_CWORD={}\n_clap_complete_bakeoff bakeoff '{typed}' x\nprintf '%s ' \"${{COMPREPLY[@]}}\"",
            before.join(" "),
            words.len()
        );
        let output = Command::new("bash").args(["-c", &line]).current_dir(place.folder.path()).output().unwrap();
        text(&output.stdout)
    };
    assert_eq!(offered(&["drive", "o"]), "order-entry ");
    assert_eq!(offered(&["drive", "order-entry", "sqlite:x", "--set", "wa"]), "warehouses= ");
    assert_eq!(offered(&["explain", "host-busy-"]), "host-busy-beside-one ");
    assert_eq!(offered(&["list", "pos"]), "postgres ");
    assert!(!offered(&["report", "2026"]).contains("touch") && !offered(&["report", "runs/"]).contains("touch"));
    std::fs::remove_dir_all(&odd).unwrap();
    let run = place.run_folder().file_name().unwrap().to_string_lossy().into_owned();
    assert!(offered(&["report", ""]).starts_with("last 20"), "{}", offered(&["report", ""]));
    assert!(offered(&["compare", "last", &run[..10]]).contains(&run));
    assert_eq!(offered(&["ag"]), " ", "no command that nobody types");
}

#[test]
fn manual_pages_and_completions_have_no_command_that_nobody_types() {
    let place = Place::new("");
    let man = place.bakeoff(&["man", "pages"]);
    assert_eq!(man.status.code(), Some(0), "{}", text(&man.stderr));
    let page = std::fs::read_to_string(place.folder.path().join("pages/bakeoff-run.1")).unwrap();
    assert!(page.contains("require\\-kvm"), "{page}");
    assert!(!place.folder.path().join("pages/bakeoff-agent.1").exists());
    let misspelt = text(&place.bakeoff(&["images"]).stderr);
    assert!(misspelt.contains("'image'") && !misspelt.contains("'agent'"), "{misspelt}");
}
