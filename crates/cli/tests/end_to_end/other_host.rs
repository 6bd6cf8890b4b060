//! A server that already runs on another host: it is measured there and from here, and left as it was. The other host is
//! this one, reached by ssh.

use crate::drive::Database;
use crate::running::Running;
use crate::runs::at_an_easy_pace;
use crate::setting::{NOT_USABLE, Place, missing, none_failed, text};
use crate::sshd::Sshd;
use engines::catalog;
use engines::limit::ReplyLimit;
use record::trial::Outcome;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// A server that runs already, and the way to its host.
struct There {
    database: Database,
    sshd: Sshd,
}

impl There {
    fn new(database: Option<Database>) -> Option<Self> {
        if missing("ssh", Sshd::is_installed()) {
            return None;
        }
        Some(Self { database: database?, sshd: Sshd::start() })
    }

    fn contender(&self, name: &str, more: &str) -> String {
        let platform = self.sshd.table(Path::new("/var/tmp"), "running");
        let Value::Object(mut platform) = platform else { unreachable!("a table") };
        platform.insert("kind".to_owned(), "host".into());
        platform.insert("database".to_owned(), self.database.url("").into());
        let keys: Vec<String> = platform.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        format!("[[contender]]\nname = \"{name}\"\nplatform = {{ {} }}\n{more}\n", keys.join(", "))
    }

    /// A short study of these contenders, on machines as large as this host.
    fn study(engine: &str, contenders: &str) -> String {
        let cpus = std::thread::available_parallelism().unwrap();
        format!(
            "question = \"What does the way cost?\"\nseed = 7\nblocks = 1\n[machine]\nvcpus = {cpus}\nmemory = \"512MiB\"\n\
             [engine]\nkind = \"{engine}\"\n[workload]\nkind = \"dvd-store\"\ndb_size = \"1MB\"\n\
             [load]\nclients = 2\nwarmup = \"1s\"\nmeasure = \"2s\"\n{contenders}"
        )
    }

    /// A command with the database's password.
    fn command(&self, place: &Place, arguments: &[&str]) -> Command {
        let mut command = place.command(arguments);
        command.env(self.database.words.1, &self.database.password);
        command
    }

    fn run(&self, place: &Place) -> Output {
        self.command(place, &["run", "study.toml"]).output().unwrap()
    }

    fn script(&self, sql: &str) {
        catalog::admin(&self.database.server.report().endpoint).unwrap().script(sql).unwrap();
    }

    fn has(&self, table: &str) -> bool {
        catalog::admin(&self.database.server.report().endpoint).unwrap().has_table(table).unwrap()
    }

    /// The server has the user's table with its row, and none of ours.
    fn is_as_it_was(&self) {
        let mut rows = 0;
        let mut admin = catalog::admin(&self.database.server.report().endpoint).unwrap();
        admin.ask("SELECT kept FROM keepsake", ReplyLimit::QUESTION, &mut |_, _| rows += 1).unwrap();
        assert_eq!(rows, 1);
        for table in ["categories", "products", "customers", "orders", "orderlines", "bakeoff_tables"] {
            assert!(!self.has(table), "{table} is left");
        }
    }
}

const KEEPSAKE: &str = "CREATE TABLE keepsake (kept INTEGER); INSERT INTO keepsake (kept) VALUES (7);";

/// Trials that a busy host made invalid are as good here.
fn all_measured(place: &Place, trials: usize, output: &Output) {
    let whole = none_failed(place, trials);
    assert_eq!(output.status.code(), if whole { NOT_USABLE } else { Some(4) }, "{}", text(&output.stderr));
    for trial in &place.record().trials {
        assert!(trial.findings.iter().all(|finding| !finding.is_violated()), "{:#?}", trial.findings);
        assert!(trial.findings.len() >= 12, "only {} data checks", trial.findings.len());
        let server = trial.record.server.as_ref().unwrap();
        assert!(server.profile.is_empty() && server.effective.len() > 20, "{server:?}");
        assert!(trial.record.machine.as_ref().unwrap().inside.contains_key("kernel.release"));
    }
}

fn is_measured_and_left_as_it_was(engine: &str, there: &There) {
    there.script(KEEPSAKE);
    let outside = "load = { placement = \"outside\" }";
    let contenders = there.contender("inside", "baseline = true") + &there.contender("outside", outside);
    let place = Place::new(&There::study(engine, &contenders));
    let output = there.run(&place);
    all_measured(&place, 2, &output);
    there.is_as_it_was();
    let plan = std::fs::read_to_string(place.run_folder().join("plan.json")).unwrap();
    assert!(plan.contains("running") && !plan.contains(&there.database.password), "{plan}");
}

#[test]
fn a_postgres_that_runs_on_another_host_is_measured_and_left_as_it_was() {
    let Some(there) = There::new(Database::new("{}")) else { return };
    is_measured_and_left_as_it_was("postgres", &there);
}

#[test]
fn a_mariadb_that_runs_on_another_host_is_measured_and_left_as_it_was() {
    let Some(there) = There::new(Database::mariadb("{}")) else { return };
    is_measured_and_left_as_it_was("mariadb", &there);
}

/// What a killed run leaves on the server is told from the user's tables by a list there.
#[test]
fn the_next_run_drops_what_a_killed_one_has_left_on_the_server_and_nothing_else() {
    let Some(there) = There::new(Database::new("{}")) else { return };
    there.script(KEEPSAKE);
    let study = There::study("postgres", &there.contender("there", ""));
    let place = Place::new(&at_an_easy_pace(&study));
    let mut running = Running::of(there.command(&place, &["run", "study.toml"]));
    running.until("there: warm up");
    running.strike(Signal::KILL);
    running.end();
    assert!(there.has("orders") && there.has("bakeoff_tables"), "it was killed while it drove");

    let again = Place::new(&study);
    let output = there.run(&again);
    all_measured(&again, 1, &output);
    there.is_as_it_was();

    // Without a list they are the user's.
    there.script("CREATE TABLE orders (mine INTEGER);");
    let refused = Place::new(&study);
    let output = there.run(&refused);
    let Outcome::Failed { why, .. } = &refused.record().trials[0].record.outcome else { panic!("{output:?}") };
    assert_eq!(why, "orders exists already, was not made by bakeoff and was not touched");
    assert!(there.has("orders") && !there.has("bakeoff_tables"));
}

#[test]
fn a_user_who_stops_a_run_finds_the_server_as_it_was() {
    let Some(there) = There::new(Database::new("{}")) else { return };
    there.script(KEEPSAKE);
    let study =
        There::study("postgres", &there.contender("there", "")).replace("measure = \"2s\"", "measure = \"60s\"");
    let place = Place::new(&at_an_easy_pace(&study));
    let mut running = Running::of(there.command(&place, &["run", "study.toml"]));
    running.until("there: warm up");
    running.strike(Signal::TERM);
    let (code, told) = running.end();
    assert_eq!(code, Some(130), "{told}");
    there.is_as_it_was();
}

#[test]
fn a_study_of_a_running_server_is_refused_before_it_starts_if_it_asks_for_what_cannot_be() {
    let table = |more: &str| {
        let platform =
            format!("platform = {{ kind = \"host\", host = \"nowhere.invalid\", server = \"running\"{more} }}");
        format!("[[contender]]\nname = \"there\"\n{platform}\n")
    };
    let at = ", database = \"postgres://bench@127.0.0.1/bench\"";
    let with_settings =
        There::study("postgres", &table(at)).replace("[workload]", "shared_buffers = \"1GiB\"\n[workload]");
    let cases = [
        (There::study("postgres", &table("")), "platform.database: missing"),
        (There::study("postgres", &table(&at.replace("bench@", "bench:s3cret@"))), "without a password"),
        (There::study("sqlite", &table(at)), "an engine with a server"),
        (with_settings, "because the server of this contender runs already, with its own settings"),
        (There::study("postgres", &table(at)).replace("running", "image"), "only beside server = \"running\""),
    ];
    for (study, said) in cases {
        let place = Place::new(&study);
        let output = place.bakeoff(&["plan", "study.toml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(said) && !told.contains("s3cret"), "{said} is not in:\n{told}");
    }
}
