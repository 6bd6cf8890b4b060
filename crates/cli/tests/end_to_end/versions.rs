//! Images of other versions and of the user's own recipes, on native machines.

use crate::runs::{small, with_time};
use crate::setting::{Place, end_of, has_qemu, missing, none_failed, text};
use crate::sshd::Sshd;
use crate::starved::counts_or_was_starved;
use engines::postgres;
use engines::version::ServerVersion;
use record::trial::Outcome;
use std::path::Path;

const RECIPE: &str = "about = 'nothing but a note'\n[[file]]\npath = '/etc/note'\ntext = 'mine'\n";

/// A study with a folder of recipes beside it, in which there is one.
fn with_own_image(recipe: &str) -> Place {
    let own = small("sqlite", "384MiB", "").replace("seed = 7", "seed = 7\nrecipes = \"own\"");
    let place = Place::new(&own.replace("vcpus = 1", "vcpus = 1\nimage = \"noted\""));
    std::fs::create_dir(place.folder.path().join("own")).unwrap();
    std::fs::write(place.folder.path().join("own/noted.toml"), recipe).unwrap();
    place
}

#[test]
fn a_study_runs_on_an_image_of_its_own_recipe_whose_text_is_in_the_record() {
    let place = with_own_image(RECIPE);
    let planned = place.bakeoff(&["plan", "study.toml"]);
    assert!(text(&planned.stdout).contains("image = \"noted\""), "{}", text(&planned.stdout));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), end_of(none_failed(&place, 1)), "{told}");
    let run = place.record();
    assert_eq!(run.plan.recipes.get("noted").map(String::as_str), Some(RECIPE));
    let machine = run.trials[0].record.machine.as_ref().unwrap();
    assert!(machine.image.starts_with("noted "), "{}", machine.image);

    // The record goes on with the recipe that it was begun with, and another one is another plan.
    std::fs::write(place.folder.path().join("own/noted.toml"), RECIPE.replace("mine", "changed")).unwrap();
    let resumed = place.bakeoff(&["run", "study.toml", "--resume"]);
    assert_eq!(resumed.status.code(), Some(2));
    assert!(text(&resumed.stderr).contains("now gives another plan"), "{}", text(&resumed.stderr));
}

#[test]
fn a_wrong_recipe_of_a_study_is_refused_with_its_file_and_line() {
    let place = with_own_image("about = 'x'\npakages = []\n");
    for command in ["plan", "run"] {
        let output = place.bakeoff(&[command, "study.toml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        for part in ["recipes: found \"own\"", "own/noted.toml:2: unknown field `pakages`", "did you mean `packages`?"]
        {
            assert!(told.contains(part), "{part:?} is not in:\n{told}");
        }
    }
}

/// Whether the image can be had. Releases move, and what one has today need not be there next year.
fn has_image(place: &Place, recipe: &str) -> bool {
    if missing("qemu", has_qemu()) {
        return false;
    }
    let built = place.bakeoff(&["image", "build", recipe]);
    let told = text(&built.stderr);
    let has_moved = ["a package of the recipe is not in the archive", "does not have the recipe's suite"];
    if has_moved.iter().any(|why| told.contains(why)) {
        eprintln!("SKIPPED: {recipe}: {told}");
        return false;
    }
    assert_eq!(built.status.code(), Some(0), "{told}");
    true
}

fn a_trial_of(engine: &str, version: &str, recipe: &str) {
    let kind = format!("kind = \"{engine}\"");
    let study = small(engine, "768MiB", "").replace(&kind, &format!("{kind}\nversion = \"{version}\""));
    let place = Place::new(&with_time(&study));
    if !has_image(&place, recipe) {
        return;
    }
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    let run = place.record();
    assert_eq!(run.trials.len(), 1, "{told}");
    let trial = &run.trials[0];
    assert!(counts_or_was_starved(&trial.record), "{:?}\n{told}", trial.record.outcome);
    assert_eq!(output.status.code(), end_of(trial.record.outcome == Outcome::Completed), "{told}");
    assert!(trial.findings.iter().all(|finding| !finding.is_violated()), "{:?}", trial.findings);
    let server = trial.record.server.as_ref().unwrap();
    let (found, asked) = (ServerVersion::printed(&server.version).unwrap(), ServerVersion::asked(version).unwrap());
    assert!(found.is_of(&asked), "{}", server.version);
    assert!(trial.record.machine.as_ref().unwrap().image.starts_with(&format!("{recipe} ")));
    // Versions differ in these as they come; the profile makes them equal.
    for (name, value) in [("data_checksums", "off"), ("innodb_snapshot_isolation", "OFF")] {
        assert!(server.effective.get(name).is_none_or(|effective| effective == value), "{name}");
    }
    assert!(["data_checksums", "innodb_snapshot_isolation"].iter().any(|name| server.effective.contains_key(*name)));
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_trial_of_postgres_17() {
    a_trial_of("postgres", "17", "postgres-17");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_trial_of_postgres_18() {
    a_trial_of("postgres", "18", "postgres-18");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_trial_of_mariadb_11_8() {
    a_trial_of("mariadb", "11.8", "mariadb-11.8");
}

#[test]
fn an_installed_server_of_another_version_is_refused_with_those_that_are_there() {
    let installed = postgres::PLACES.find(&serde_json::Map::new());
    if missing("ssh", Sshd::is_installed()) || missing("postgres", installed.is_ok()) {
        return;
    }
    let sshd = Sshd::start();
    let serde_json::Value::Object(mut platform) = sshd.table(Path::new("/var/tmp"), "installed") else {
        panic!("no table")
    };
    platform.insert("kind".to_owned(), "host".into());
    let keys: Vec<String> = platform.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let study = small("postgres", "512MiB", "").replace("kind = \"native\"", &keys.join(", "));
    let place = Place::new(&study.replace("kind = \"postgres\"", "kind = \"postgres\"\nversion = \"99\""));
    let output = place.bakeoff(&["run", "study.toml"]);
    let told = text(&output.stderr);
    let expected = format!("PostgreSQL 99 is not in this machine; there is {} (", installed.unwrap().version);
    assert!(output.status.code() != Some(0) && told.contains(&expected), "{expected:?} is not in:\n{told}");
}
