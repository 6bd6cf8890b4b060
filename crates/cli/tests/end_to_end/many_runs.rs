//! Runs in a folder: listed, shown and followed over time, with and without their index.

use crate::setting::{Place, can_mount, missing, program, text};
use crate::two_runs::{change_json, copy};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RECORDED: [&str; 3] = ["disturbed", "postgres", "sqlite"];

/// A folder with copies of recorded runs.
struct Runs {
    place: Place,
}

impl Runs {
    fn recorded() -> Self {
        let runs = Self { place: Place::new("") };
        for name in RECORDED {
            runs.add(name, name);
        }
        runs
    }

    fn dir(&self) -> PathBuf {
        self.place.folder.path().join("runs")
    }

    fn index(&self) -> PathBuf {
        self.dir().join("index.sqlite")
    }

    fn add(&self, recorded: &str, name: &str) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/runs").join(recorded);
        copy(&from, &self.dir().join(name))
    }

    /// A copy of the SQLite run as if it had begun on this day.
    fn on_day(&self, day: u32) -> PathBuf {
        let run = self.add("sqlite", &format!("202611{day:02}T020000Z-sqlite"));
        for trial in 1..=6 {
            change_json(&run.join(format!("trials/{trial:04}/trial.json")), |record| {
                record["started"] = format!("2026-11-{day:02}T02:00:0{trial}Z").into();
            });
        }
        run
    }

    /// A command's standard output and standard error.
    fn told(&self, arguments: &[&str]) -> (String, String) {
        let output = self.place.bakeoff(arguments);
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{printed}{said}");
        (printed, said)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.told(arguments).0).unwrap()
    }

    fn refused(&self, arguments: &[&str], words: &[&str]) {
        let output = self.place.bakeoff(arguments);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(output.stdout.is_empty() && words.iter().all(|word| told.contains(word)), "{told}");
    }

    /// Changes the index through SQLite.
    fn change_index(&self, sql: &str) {
        Connection::open(self.index()).unwrap().execute_batch(sql).unwrap();
    }

    fn indexed(&self) -> i64 {
        let index = Connection::open(self.index()).unwrap();
        index.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap()
    }
}

fn analysed(count: u32) -> String {
    format!("runs that are new or have changed, and were analysed: {count}\n")
}

#[test]
fn runs_are_listed_and_only_what_changed_is_analysed_again() {
    let runs = Runs::recorded();
    let (first, said) = runs.told(&["runs"]);
    assert_eq!(said, analysed(3));
    assert_eq!(first.lines().count(), 5, "{first}");
    for part in ["complete", "6 of 6", "AMD EPYC, 2 CPUs, 23.54 GiB", "2026-11-23 00:45", "other: ", " against one"] {
        assert!(first.contains(part), "{part:?}: {first}");
    }
    assert_eq!(runs.told(&["runs", "list", "runs"]), (first.clone(), String::new()));

    change_json(&runs.dir().join("sqlite/trials/0003/trial.json"), |record| {
        record["outcome"] = json!({ "outcome": "failed", "phase": "boot", "why": "it fell" });
    });
    let (changed, said) = runs.told(&["runs"]);
    assert!(said == analysed(1) && changed.contains("5 of 6"), "{said}{changed}");
    fs::remove_dir_all(runs.dir().join("postgres")).unwrap();
    let (fewer, said) = runs.told(&["runs"]);
    assert!(said.is_empty() && !fewer.contains("postgres") && fewer.lines().count() == 4, "{said}{fewer}");
    assert_eq!(runs.indexed(), 2);

    fs::remove_file(runs.dir().join("sqlite/trials/0006/trial.json")).unwrap();
    change_json(&runs.dir().join("disturbed/plan.json"), |plan| plan["rehearsed"] = true.into());
    let list = runs.json(&["runs", "--json"]);
    let states = list.as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap());
    assert_eq!(states.collect::<Vec<_>>(), ["rehearsed", "unfinished"]);
}

#[test]
fn an_index_that_is_lost_or_damaged_changes_no_answer() {
    let runs = Runs::recorded();
    let ask = ["runs", "show", "sqlite", "--json"];
    let (list, show) = (runs.told(&["runs"]).0, runs.told(&ask).0);
    let is_the_same = |what: &str, word: &str| {
        let (again, said) = runs.told(&["runs"]);
        assert!(said.contains(word), "{what}: {said:?}");
        assert_eq!(again, list, "{what}");
        assert_eq!(runs.told(&ask).0, show, "{what}");
    };
    let is_mended = || assert_eq!(runs.told(&["runs"]), (list.clone(), String::new()));
    fs::remove_file(runs.index()).unwrap();
    is_the_same("lost", &analysed(3));
    is_mended();

    runs.change_index("PRAGMA user_version = 99");
    is_the_same("another version", "is of another version of bakeoff");
    is_mended();
    runs.change_index("UPDATE levels SET point = point * 2 WHERE run = 'sqlite'");
    is_the_same("another number", "damaged: 1 runs in it");
    is_mended();
    runs.change_index("DELETE FROM contrasts; UPDATE runs SET host = 'x' WHERE run = 'sqlite'");
    is_the_same("another type", "is damaged and is made again");
    is_mended();
    runs.change_index("DROP TABLE levels");
    is_the_same("no table", "is damaged and is made again");
    is_mended();

    let mut bytes = fs::read(runs.index()).unwrap();
    for byte in bytes.iter_mut().skip(100).step_by(3) {
        *byte ^= 0x5a;
    }
    fs::write(runs.index(), &bytes).unwrap();
    is_the_same("other bytes", "is damaged and is made again");
    is_mended();
    let bytes = fs::read(runs.index()).unwrap();
    fs::write(runs.index(), &bytes[..5000]).unwrap();
    is_the_same("cut off", "is damaged and is made again");
    is_mended();
}

#[test]
fn a_file_that_is_no_index_is_left_as_it_is() {
    let runs = Runs::recorded();
    let (list, _) = runs.told(&["runs"]);
    fs::remove_file(runs.index()).unwrap();
    runs.change_index("CREATE TABLE of_mine (text); INSERT INTO of_mine VALUES ('kept')");
    let theirs = fs::read(runs.index()).unwrap();
    for bytes in [theirs.as_slice(), b"no database at all"] {
        fs::write(runs.index(), bytes).unwrap();
        let (again, said) = runs.told(&["runs"]);
        assert_eq!(again, list);
        assert!(said.contains("was not made by bakeoff") && said.contains("remove it"), "{said}");
        assert_eq!(fs::read(runs.index()).unwrap(), bytes);
    }
    fs::remove_file(runs.index()).unwrap();
    fs::create_dir(runs.index()).unwrap();
    assert_eq!(runs.told(&["runs"]).0, list);
}

#[test]
fn a_folder_that_others_can_write_is_read_without_an_index() {
    let runs = Runs::recorded();
    let (list, _) = runs.told(&["runs"]);
    runs.change_index("UPDATE runs SET study = 'forged'");
    fs::set_permissions(runs.dir(), Permissions::from_mode(0o777)).unwrap();
    let (again, said) = runs.told(&["runs"]);
    assert_eq!(again, list);
    assert!(said.contains("without an index") && said.contains("mode is 0777"), "{said}");
    fs::set_permissions(runs.dir(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(runs.index(), Permissions::from_mode(0o666)).unwrap();
    let (again, said) = runs.told(&["runs"]);
    assert!(again == list && said.contains("mode is 0666"), "{said}{again}");
}

#[test]
fn a_folder_that_cannot_be_written_is_read_all_the_same() {
    if missing("root", can_mount()) {
        return;
    }
    let runs = Runs::recorded();
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && exec \"$0\" runs list \"$1\"";
    let read_only = || -> Output {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", script]).arg(program()).arg(runs.dir());
        command.output().unwrap()
    };
    let without = read_only();
    let (list, said) = runs.told(&["runs"]);
    assert_eq!(said, analysed(3));
    assert_eq!((without.status.code(), text(&without.stdout)), (Some(0), list.clone()));
    assert!(text(&without.stderr).contains("index.sqlite was not opened"), "{}", text(&without.stderr));
    let with = read_only();
    assert_eq!((text(&with.stdout), text(&with.stderr)), (list, String::new()));
    runs.add("sqlite", "another");
    assert!(text(&read_only().stderr).contains("was not written"));
}

#[test]
fn several_at_once_and_one_that_waits_in_vain_give_the_same_answer() {
    let runs = Runs::recorded();
    let begin = |_| runs.place.command(&["runs"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let children: Vec<_> = (0..5).map(begin).collect();
    let outputs: Vec<Output> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let list = text(&outputs[0].stdout);
    assert_eq!(list.lines().count(), 5, "{list}");
    for output in &outputs {
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), list.clone()));
    }
    assert_eq!(runs.told(&["runs"]), (list.clone(), String::new()));
    let other = Connection::open(runs.index()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (again, said) = runs.told(&["runs"]);
    assert!(again == list && said.contains("was not read"), "{said}{again}");
}

#[test]
fn damaged_runs_are_listed_with_the_reason_beside_the_others() {
    let runs = Runs::recorded();
    let hostile = runs.add("sqlite", "odd\u{1b}[2J");
    fs::write(hostile.join("plan.json"), "{").unwrap();
    fs::write(runs.dir().join("postgres/trials/0001/intervals.hlog"), "no log").unwrap();
    fs::create_dir(runs.dir().join(".beginning-1-0")).unwrap();
    let (list, _) = runs.told(&["runs"]);
    assert!(!list.contains('\u{1b}') && list.contains("odd\\x1b[2J"), "{list}");
    let line = |name: &str| list.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("postgres").contains("damaged") && line("postgres").contains("intervals.hlog"), "{list}");
    assert!(line("odd").contains("not what this version of bakeoff writes"), "{list}");
    assert!(line("sqlite").contains("complete") && line("disturbed").contains("complete"), "{list}");
    let (trend, said) = runs.told(&["runs", "trend", "throughput"]);
    assert!(said.contains("left out: postgres, because it is damaged") && !trend.contains("postgres"), "{said}{trend}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    runs.refused(&["runs", "show", "postgres"], &["postgres is damaged", "intervals.hlog"]);
    runs.refused(&["runs", "nowhere"], &["nowhere", "name a folder that holds runs"]);
    let (none, said) = runs.told(&["runs", "."]);
    assert!(none.is_empty() && said.contains("there is no run in ."), "{said}");
    assert!(!runs.place.folder.path().join("index.sqlite").exists());
}

#[test]
fn a_run_is_shown_with_its_versions_levels_and_ratios() {
    let runs = Runs::recorded();
    let (show, _) = runs.told(&["runs", "show", "runs/postgres"]);
    for part in
        ["study     postgres (", "PostgreSQL 15.20", "bakeoff 0.1.0", "cell 1: other", "against one", "response.p99/"]
    {
        assert!(show.contains(part), "{part:?}: {show}");
    }
    // The levels from a run's own report.
    runs.told(&["report", "runs/postgres"]);
    let report: Value = serde_json::from_slice(&fs::read(runs.dir().join("postgres/analysis.json")).unwrap()).unwrap();
    let shown = runs.json(&["runs", "show", "postgres", "--measure", "throughput", "--json"]);
    for cell in [0, 1] {
        let (level, own) = (&shown["cells"][cell]["levels"][0], &report["cells"][cell]["levels"][0]);
        assert_eq!((&level["id"], &level["point"], &level["low"]), (&own["measure"], &own["point"], &own["low"]));
        assert_eq!(shown["cells"][cell]["levels"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(shown["cells"][1]["contrasts"][0]["point"], report["comparisons"][0]["contrasts"][0]["point"]);
    runs.refused(&["runs", "show", "postgres", "--measure", "troughput"], &["did you mean throughput"]);
    runs.refused(&["runs", "show", "nothing"], &["there is no run nothing"]);
}

#[test]
fn a_measure_is_followed_over_runs_of_one_study_and_host() {
    let runs = Runs::recorded();
    for day in [21, 20, 22] {
        runs.on_day(day);
    }
    let moved = runs.on_day(24);
    change_json(&moved.join("host.json"), |host| host["memory.swappiness"] = json!({ "known": "1" }));
    let trend = runs.json(&["runs", "trend", "throughput", "--study", "sqlite", "--json"]);
    let courses = trend["courses"].as_array().unwrap();
    let of = |course: &Value| {
        let runs = course["runs"].as_array().unwrap().iter();
        runs.map(|run| run["run"].as_str().unwrap().split('T').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(&courses[0]), ["20261120", "20261121", "20261122", "sqlite"]);
    assert_eq!(of(&courses[1]), ["20261124"]);
    let changed = json!({ "name": "memory.swappiness", "old": "60", "new": "1" });
    assert_eq!(courses[1]["apart"], json!({ "by": "host", "changes": [changed] }));
    let mean = &courses[0]["series"][1]["mean"];
    assert_eq!(mean["interval"], "known");
    let first = &courses[0]["series"][1]["levels"][0]["point"];
    assert!((mean["point"].as_f64().unwrap() / first.as_f64().unwrap() - 1.0).abs() < 1e-9, "equal runs: {mean}");

    let files = ["--html", "t.html", "--md", "t.md", "--csv", "t.csv"];
    let (text, _) =
        runs.told(&[&["runs", "trend", "response.p99/new-order", "--contender", "other"][..], &files].concat());
    assert!(text.contains("├") && text.contains("other against one") && text.contains("mean over runs"), "{text}");
    let read = |name: &str| fs::read_to_string(runs.place.folder.path().join(name)).unwrap();
    assert!(read("t.html").contains("<svg") && read("t.md").contains("| mean over runs |"), "{}", read("t.md"));
    // Seven runs of three studies, each with a level and a ratio.
    assert_eq!(read("t.csv").lines().count(), 1 + 7 * 2);

    runs.refused(&["runs", "trend", "response.p98/new-order"], &["did you mean response.p9", "/new-order"]);
    runs.refused(
        &["runs", "trend", "throughput", "--study", "sqllite"],
        &["no run is of the study", "did you mean sqlite"],
    );
    runs.refused(&["runs", "trend", "throughput", "--contender", "x"], &["there are: one (cell 0), other (cell 1)"]);
}
