//! The user's own transactions, from scripts, on each kind of database.

use crate::drive::{Database, bakeoff, events, not_in_logs, refused, succeeded};
use engines::server::Endpoint;
use engines::sqlite::settings::DatabaseFile;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const TABLES: &str = "\
DROP TABLE IF EXISTS accounts;
DROP TABLE IF EXISTS log;
CREATE TABLE accounts (aid INTEGER PRIMARY KEY, balance INTEGER NOT NULL, share DOUBLE PRECISION NOT NULL);
CREATE TABLE log (aid INTEGER NOT NULL, client INTEGER NOT NULL, delta INTEGER NOT NULL, note VARCHAR(20) NOT NULL);
INSERT INTO accounts
    WITH RECURSIVE numbers AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM numbers WHERE n < 100) SELECT n, 0, 0.5 FROM numbers;
";

const TRANSFER: &str = "\
-- Moves money, and writes it down.
\\set rows 100
\\set aid random(1, :rows)
\\set delta random_gaussian(-5000, 5000, 2.5)
\\set share 1 / 4.0
BEGIN;
UPDATE accounts SET balance = balance + :delta, share = 0.25 + :share WHERE aid = :aid;
\\sleep 1 ms
INSERT INTO log
    VALUES (:aid, :client_id, :delta, ':aid; as it is');
END;
";

const LOOK: &str = "\\set aid random_zipfian(1, 100, 1.2)\nSELECT balance FROM accounts WHERE aid = :aid;\n";

const CHECKS: &str = "\
-- Every balance is the sum of what was written down.
SELECT aid, balance FROM accounts
WHERE balance <> (SELECT COALESCE(SUM(delta), 0) FROM log WHERE log.aid = accounts.aid);
SELECT client FROM log WHERE client NOT IN (0, 1) OR note <> ':aid; as it is';
SELECT share FROM accounts WHERE share NOT BETWEEN 0.49 AND 0.51;
";

const SCRIPTS: [&str; 8] =
    ["-f", "transfer.sql@3", "--file", "look.sql", "--setup-file", "tables.sql", "--check-file", "checks.sql"];

fn write_scripts(folder: &Path) {
    for (name, text) in [("tables", TABLES), ("transfer", TRANSFER), ("look", LOOK), ("checks", CHECKS)] {
        std::fs::write(folder.join(format!("{name}.sql")), text).unwrap();
    }
}

/// Expects the setup, both scripts by weight, the checks, and the figures to be right.
fn hold(folder: &Path, url: &str, command: impl Fn(&[&str]) -> Command) {
    write_scripts(folder);
    let more = ["--steps", "load,check,run,check", "--clients", "2", "--time", "2s", "--warmup", "1s", "--json", "-r"];
    let output = command(&[&["drive", "file", url], &SCRIPTS[..], &more].concat()).output().unwrap();
    let told = succeeded(&output);
    assert!(told.contains("TPS") && told.matches(" 0 violated").count() == 2, "{told}");
    let events = events(&output);
    let result = events.last().unwrap();
    let names = |of: &Value| {
        of.as_array().unwrap().iter().map(|kind| kind["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let kinds = &result["driver"]["kinds"];
    assert_eq!(names(kinds), ["transfer", "look", "transfer:7", "transfer:9", "look:2"]);
    let done = |index: usize| kinds[index]["committed"].as_u64().unwrap();
    // Three transfers for each look, drawn by chance: within five standard deviations of it.
    let all = (done(0) + done(1)) as f64;
    assert!(all > 0.0 && (done(0) as f64 - 0.75 * all).abs() <= 5.0 * (0.1875 * all).sqrt(), "{kinds}");
    let per_s = result["throughput"].as_f64().unwrap();
    let measured_s = result["driver"]["measured_ms"].as_f64().unwrap() / 1000.0;
    assert!((per_s - (done(0) + done(1)) as f64 / measured_s).abs() < 0.01, "{result}");
    assert_eq!([done(2), done(3), done(4)], [done(0), done(0), done(1)], "{kinds}");
    let p50 = |kind: &str| result["latency"][kind]["response"]["p50_us"].as_u64().unwrap();
    assert!(p50("transfer") >= 1_000 && p50("look") < p50("transfer"), "{}", result["latency"]);
    assert!(p50("transfer:7") < p50("transfer") && told.contains("step "), "{}", result["latency"]);
}

#[test]
fn scripts_hold_on_a_file() {
    let folder = tempfile::tempdir().unwrap();
    hold(folder.path(), "sqlite:shop.db", |arguments| bakeoff(folder.path(), arguments));
    // One row that a check finds, and a line that is no query.
    std::fs::write(
        folder.path().join("checks.sql"),
        "-- There are no accounts.\nSELECT aid FROM accounts WHERE aid < 3;",
    )
    .unwrap();
    let arguments = |more: &[&'static str]| [&["drive", "file", "sqlite:shop.db"], more].concat();
    let check = [&SCRIPTS[..], &["--steps", "check", "--json"]].concat();
    let output = bakeoff(folder.path(), &arguments(&check)).output().unwrap();
    let told = crate::setting::text(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{told}");
    assert!(told.contains("VIOLATED file/checks.sql:2: There are no accounts. found 1; 2"), "{told}");
    assert!(events(&output)[0]["plan"].is_null(), "nothing is driven");
    std::fs::write(folder.path().join("look.sql"), "SELECT 1;\n\\gset\n").unwrap();
    let wrong = bakeoff(folder.path(), &arguments(&["-f", "look.sql", "-f", "gone.sql@2"])).output().unwrap();
    refused(&wrong, &["gone.sql", "No such file"]);
    let wrong = bakeoff(folder.path(), &arguments(&["-f", "look.sql"])).output().unwrap();
    refused(&wrong, &["look.sql, line 2: found \\gset; expected only \\set and \\sleep"]);
    refused(&bakeoff(folder.path(), &arguments(&[])).output().unwrap(), &["--file transfer.sql"]);
}

/// Trials of scripts without checks count, and the run says that nothing looked at the data.
#[test]
fn scripts_without_checks_count_as_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let words = ["drive", "file", "sqlite:shop.db", "-f", "look.sql", "--setup-file", "tables.sql", "--record", "kept"];
    let more = ["--steps", "load,run,check", "--time", "2s", "--warmup", "0s"];
    let told = succeeded(&bakeoff(folder.path(), &[&words[..], &more].concat()).output().unwrap());
    assert!(told.contains("not checked: no file of checks is named"), "{told}");
    let text = std::fs::read_to_string(folder.path().join("kept/analysis.json")).unwrap();
    let analysis: Value = serde_json::from_str(&text).unwrap();
    let kinds: Vec<&str> =
        analysis["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"data-unchecked"), "{kinds:?}");
    assert!(!kinds.iter().any(|kind| kind.contains("disagree") || kind.contains("trials-invalid")), "{kinds:?}");
    assert_eq!(analysis["observations"][0]["observations"].as_array().unwrap().len(), 1, "the trial counts");
}

#[test]
fn scripts_hold_on_servers() {
    for database in [Database::new("{}"), Database::mariadb("{}")].into_iter().flatten() {
        hold(database.folder.path(), &database.url(""), |arguments| database.bakeoff(arguments));
    }
}

/// The server's CPU time is what is measured. It is not that of other processes beside it, on a file no less.
#[test]
fn a_server_on_this_host_is_no_other_load() {
    let others = |folder: &Path| {
        let record: Value =
            serde_json::from_slice(&std::fs::read(folder.join("kept/trials/0001/trial.json")).unwrap()).unwrap();
        record["host_state"]["end"]["processes"].clone()
    };
    let more = ["--steps", "load,run", "--time", "2s", "--warmup", "1s", "--record", "kept"];
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let on_file = [&["drive", "file", "sqlite:shop.db"], &SCRIPTS[..], &more].concat();
    succeeded(&bakeoff(folder.path(), &on_file).output().unwrap());
    assert!(others(folder.path())["known"]["others_ticks"].is_u64(), "{}", others(folder.path()));
    let Some(database) = Database::new("{}") else { return };
    write_scripts(database.folder.path());
    let url = database.url("");
    succeeded(&database.bakeoff(&[&["drive", "file", &url], &SCRIPTS[..], &more].concat()).output().unwrap());
    let others = others(database.folder.path());
    assert!(others.to_string().contains("the server's address is of this host"), "{others}");
}

/// A file that tests look into through bakeoff's own engine.
pub fn in_file(folder: &Path) -> Endpoint {
    Endpoint::Sqlite(DatabaseFile {
        file: folder.join("shop.db"),
        journal_mode: "wal".to_owned(),
        synchronous: "full".to_owned(),
        cache_bytes: 1 << 20,
        busy_timeout_ms: 1000,
        wal_autocheckpoint_pages: 1000,
    })
}

/// What is said of a DVD Store that other settings loaded.
#[test]
fn a_shop_of_another_size_or_version_or_without_its_indexes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = |more: &[&str]| {
        let shared = ["drive", "dvd-store", "sqlite:shop.db", "--warmup", "0s", "--time", "1s", "--clients", "2"];
        bakeoff(folder.path(), &[&shared, more].concat()).output().unwrap()
    };
    let of = |version: &'static str| ["--set", "db_size=1MB", "--set", version];
    succeeded(&sqlite(&[&of("version=2")[..], &["--steps", "load,run,check"]].concat()));
    let run = ["--steps", "run,check"];
    succeeded(&sqlite(&[&of("version=2")[..], &run].concat()));
    let said = "customers has 2000 rows where the settings say 4000";
    refused(&sqlite(&[&["--set", "db_size=2MB"][..], &run].concat()), &[said, "give the settings it was loaded with"]);
    refused(&sqlite(&[&of("version=3")[..], &run].concat()), &["membership, reviews, reviews_helpfulness are missing"]);
    refused(&sqlite(&["--set", "db_size=1024MB"]), &["db_size", "did you mean \"1GB\"?"]);
    refused(&sqlite(&["--set", "version=4"]), &["version", "a whole number from 2 to 3"]);
    let mut admin = engines::catalog::admin(&in_file(folder.path())).unwrap();
    admin.script("DROP TABLE products_by_title").unwrap();
    refused(&sqlite(&[&of("version=2")[..], &run].concat()), &["the index products_by_title is missing"]);
    admin.script("CREATE TABLE reviews (review_id INTEGER)").unwrap();
    refused(
        &sqlite(&[&of("version=2")[..], &run].concat()),
        &["reviews exists, and only other settings of the workload have it"],
    );
}

#[test]
fn a_shop_holds_on_both_servers_in_every_way() {
    for database in [Database::new("{}"), Database::mariadb("{}")].into_iter().flatten() {
        let url = database.url("");
        let drive = |more: &[&str]| {
            let shared = ["drive", "dvd-store", &url, "--set", "db_size=1MB", "--time", "2s", "--warmup", "0s"];
            database.bakeoff(&[&shared, more].concat()).output().unwrap()
        };
        let pipelined = ["--set", "statements=pipelined", "--clients", "2", "--steps", "load,check,run,check"];
        let told = succeeded(&drive(&pipelined));
        assert!(told.contains("OPM") && told.matches("0 violated").count() == 2, "{told}");
        not_in_logs(&database);
        let called = ["--set", "transactions=procedures", "--steps"];
        let missing = "the procedures login, purchase are missing";
        refused(&drive(&[&called[..], &["run"]].concat()), &[missing, "`--steps clean,load` makes them"]);
        succeeded(&drive(&[&called[..], &["clean,load,run,check"]].concat()));
        succeeded(&drive(&["--set", "version=3", "--steps", "clean,load,run,check"]));
        // What the newer version added is dropped as well.
        succeeded(&drive(&["--steps", "clean,load"]));
    }
}
