//! `bakeoff drive` against existing databases: a file, and a PostgreSQL server that the test starts.

use crate::made;
use crate::own_transactions::in_file;
use crate::setting::{missing, program, text};
use engines::catalog;
use engines::port::HeldPort;
use engines::remote::{Remote, Tls, TlsMode};
use engines::server::{Endpoint, Server, ServerPlace, ServerShape};
use serde_json::Value;
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub const SMALL: [&str; 4] = ["--set", "tables=2", "--set", "table_size=500"];
const SHORT: [&str; 4] = ["--time", "1s", "--warmup", "0s"];
/// With a warm-up, and a window that is long enough for two looks at the counters.
const LOOKED_AT: [&str; 4] = ["--time", "2s", "--warmup", "1s"];

/// Runs in its own folder, without the user's environment, and keeps no run of another test or user waiting.
pub fn bakeoff(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", folder);
    command.env("BAKEOFF_QUEUE", folder.file_name().expect("a temporary folder's name"));
    command
}

pub fn drive(folder: &Path, url: &str, more: &[&str]) -> Output {
    let arguments = [&["drive", "sysbench-oltp", url], &SMALL[..], &SHORT[..], more].concat();
    bakeoff(folder, &arguments).output().expect("running bakeoff")
}

pub fn succeeded(output: &Output) -> String {
    let told = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    told
}

/// Expects exit code 2, and all of these parts in the message.
pub fn refused(output: &Output, parts: &[&str]) {
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(parts.iter().all(|part| told.contains(part)), "not all of {parts:?} are in:\n{told}");
}

pub fn events(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("a document a line")).collect()
}

/// Loads, runs, checks and cleans, and verifies everything that is reported about it.
fn whole_life(folder: &Path, url: &str) {
    let steps = ["--steps", "load,run,check,clean", "--clients", "2", "--json", "--record", "kept"];
    let arguments = [&["drive", "sysbench-oltp", url], &SMALL[..], &LOOKED_AT[..], &steps].concat();
    let output = bakeoff(folder, &arguments).output().expect("running bakeoff");
    let told = succeeded(&output);
    assert!(told.contains("loaded 1,000 rows into 2 tables") && told.contains("dropped sbtest1, sbtest2"), "{told}");
    assert!(told.contains("TPS") && told.contains("0 violated"), "{told}");
    assert!(
        told.contains("counters over ")
            && told.contains(" s: reads past the cache")
            && told.contains("\"cache_bytes\":"),
        "{told}"
    );
    let events = events(&output);
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    assert_eq!(names, ["begin", "loaded", "interval", "interval", "interval", "checked", "cleaned", "result"]);
    let in_intervals: u64 = events[3..5].iter().filter_map(|event| event["finished"].as_u64()).sum();
    let totals = &events[7]["driver"]["kinds"][0];
    assert!(in_intervals > 0 && totals["committed"].as_u64() == Some(in_intervals), "{events:?}");
    let log = std::fs::read(folder.join("kept/trials/0001/intervals.hlog")).expect("histograms");
    assert_eq!(record::hlog::read(&log[..]).expect("a readable log").intervals.len(), 3);
    refused(&drive(folder, url, &[]), &["sbtest1, sbtest2 are missing", "--steps load,run"]);
}

#[test]
fn a_file_is_loaded_run_checked_and_cleaned() {
    let folder = tempfile::tempdir().unwrap();
    whole_life(folder.path(), "sqlite:shop.db");
}

#[test]
fn nothing_is_lost_and_nothing_else_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let on_file = |more: &[&str]| drive(folder.path(), "sqlite:shop.db", more);
    refused(&on_file(&[]), &["sqlite:shop.db", "no such file", "--steps load"]);
    assert!(!folder.path().join("shop.db").exists());
    succeeded(&on_file(&["--steps", "load"]));
    refused(&on_file(&["--steps", "load"]), &["sbtest1, sbtest2 exist already", "--steps clean,load"]);
    refused(&on_file(&["--set", "table_size=400"]), &["sbtest1 has 500 rows where the settings say 400"]);
    refused(&on_file(&["--set", "tables=3"]), &["sbtest3 is missing"]);
    let before = rows_in_file(folder.path());
    let told = succeeded(&on_file(&["--steps", "clean,load,check"]));
    assert!(
        told.contains("about to load 1,000 rows into 2 tables: ")
            && told.contains(" with their indexes, 1 s at 50 MB/s and 1 s at 5 MB/s\n"),
        "{told}"
    );
    assert_eq!(before, rows_in_file(folder.path()));
}

/// A plan is refused by an estimate of the data's size. It must not be more than they take, and only slightly less.
#[test]
fn loaded_data_take_what_a_plan_reckons_with() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("sysbench-oltp", "table_size", "20000"),
        ("slob", "scale", "16MiB"),
        ("order-entry", "warehouses", "1"),
        ("dvd-store", "db_size", "30MB"),
    ];
    for (workload, key, value) in cases {
        let file = format!("{workload}.db");
        let setting = format!("{key}={value}");
        let arguments = ["drive", workload, &format!("sqlite:{file}"), "--set", &setting, "--steps", "load"];
        succeeded(&bakeoff(folder.path(), &arguments).output().expect("running bakeoff"));
        let taken = std::fs::metadata(folder.path().join(&file)).unwrap().len() as f64;
        let entry = workloads::catalog::entry(workload).unwrap();
        let value = value.parse().map_or_else(|_| Value::from(value), |number: u64| Value::from(number));
        let table = settings::check_written(&[(key.to_owned(), value)].into_iter().collect(), entry.keys).unwrap();
        let reckoned = study::data_bytes("sqlite", workload, &table).unwrap() as f64;
        assert!((0.7..=1.0).contains(&(reckoned / taken)), "{workload}: {reckoned} bytes reckoned, {taken} taken");
    }
}

/// The check finds no tables any more: that says nothing about the run before it, which must be kept.
#[test]
fn a_run_is_kept_and_told_when_a_later_step_fails() {
    let folder = tempfile::tempdir().unwrap();
    let steps = ["--steps", "load,run,clean,check", "--json", "--record", "kept"];
    let output = drive(folder.path(), "sqlite:shop.db", &steps);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("sbtest1, sbtest2 are missing"), "{told}");
    let result = events(&output).pop().expect("a result");
    assert_eq!((&result["event"], &result["exit"]), (&"result".into(), &1.into()), "{result}");
    assert!(result["throughput"].as_f64().is_some_and(|throughput| throughput > 0.0), "{result}");
    assert!(result["failed"].as_str().is_some_and(|why| why.contains("are missing")), "{result}");
    let kept = std::fs::read(folder.path().join("kept/result.json")).expect("the result");
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), result);
    let log = std::fs::read(folder.path().join("kept/trials/0001/intervals.hlog")).expect("histograms");
    assert!(!record::hlog::read(&log[..]).expect("a readable log").intervals.is_empty());
}

/// There is an interval, and `report` and `compare` read what is recorded.
#[test]
fn several_measurements_have_a_mean_with_its_interval_and_are_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let on_file = |more: &[&str]| drive(folder.path(), "sqlite:shop.db", more);
    let three = ["--repeat", "3", "--record"];
    let output = on_file(&[&["--steps", "load,run,check", "--json"], &three[..], &["one"]].concat());
    succeeded(&output);
    let events = events(&output);
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!((of("loaded").len(), of("measured").len(), of("checked").len()), (1, 3, 3), "{events:?}");
    let result = of("result")[0];
    let [low, mean, high] = [&result["interval"]["low"], &result["throughput"], &result["interval"]["high"]];
    assert!(low.as_f64() < mean.as_f64() && mean.as_f64() < high.as_f64(), "{result}");
    let each = result["repeats"].as_array().unwrap().iter().map(|own| own["throughput"].as_f64().unwrap());
    let logarithms: f64 = each.map(f64::ln).sum();
    assert!(((logarithms / 3.0).exp() / mean.as_f64().unwrap() - 1.0).abs() < 1e-9, "{result}");

    // A recorded run is checked, too.
    let told = succeeded(&on_file(&[&three[..], &["two"]].concat()));
    assert_eq!(told.matches(" 0 violated").count(), 3, "{told}");
    assert!(told.contains("3 measurements: ") && told.contains("95 % CI") && told.contains("report: two/"), "{told}");
    let asked = |arguments: &[&str]| succeeded(&bakeoff(folder.path(), arguments).output().expect("running bakeoff"));
    let report = asked(&["report", "one", "--summary", "md"]);
    assert!(report.contains("How fast is sysbench-oltp on sqlite:shop.db?"), "{report}");
    let change = asked(&["compare", "one", "two"]);
    assert!(change.contains("server"), "{change}");
}

#[test]
fn what_is_not_measured_is_neither_recorded_nor_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let on_file = |more: &[&str]| drive(folder.path(), "sqlite:shop.db", more);
    refused(&on_file(&["--steps", "load", "--record", "kept"]), &["--record goes with the step run"]);
    refused(&on_file(&["--steps", "load,check", "--repeat", "2"]), &["--repeat goes with the step run"]);
    refused(&on_file(&["--steps", "load,run,run"]), &["run is named twice", "--repeat 2"]);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

/// It does not wait, since the server it drives may be elsewhere, but it says so.
#[test]
fn another_bakeoff_that_measures_on_this_host_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("drive-{}", std::process::id());
    let turn = trial::queue::Queue::named(Some(&name)).unwrap().try_turn().unwrap().expect("nobody else's");
    let arguments = [&["drive", "sysbench-oltp", "sqlite:shop.db"], &SMALL[..], &SHORT[..], &["--json"]].concat();
    let arguments = [&arguments[..], &["--steps", "load,run"]].concat();
    let output = bakeoff(folder.path(), &arguments).env("BAKEOFF_QUEUE", name).output().expect("running bakeoff");
    drop(turn);
    let told = succeeded(&output);
    let beside = format!("another bakeoff (process {}) measures on this host, too", std::process::id());
    assert!(told.contains(&beside), "{told}");
    let result = events(&output).pop().expect("a result");
    assert!(result["beside"].as_str().is_some_and(|told| told.contains(&beside)), "{result}");
}

#[test]
fn a_test_is_refused_on_tables_that_another_has_grown() {
    let folder = tempfile::tempdir().unwrap();
    let on_file = |more: &[&str]| drive(folder.path(), "sqlite:shop.db", more);
    let delete = ["--set", "test=delete", "--steps", "run,check"];
    succeeded(&on_file(&["--steps", "load"]));
    succeeded(&on_file(&delete));
    // Rows are missing now, and more may be deleted.
    succeeded(&on_file(&delete));
    succeeded(&on_file(&["--set", "test=insert", "--steps", "clean,load,run,check"]));
    refused(&on_file(&delete), &["sbtest1 has ", " rows where the settings say 500"]);
    let bulk_insert = |steps| on_file(&["--set", "test=bulk_insert", "--steps", steps]);
    succeeded(&bulk_insert("clean,load,run,check"));
    refused(&bulk_insert("run,check"), &["sbtest1 has ", " rows where the settings say 0"]);
}

/// The number of rows in the first table, asked through bakeoff's own engine.
fn rows_in_file(folder: &Path) -> i64 {
    count(&in_file(folder))
}

fn count(endpoint: &Endpoint) -> i64 {
    let mut found = 0;
    let mut admin = catalog::admin(endpoint).unwrap();
    admin.scan("SELECT count(*) FROM sbtest1", &mut |rows, row| found = rows.integer(row, 0).unwrap()).unwrap();
    found
}

#[test]
fn wrong_words_are_told_with_the_nearest_right_ones() {
    let folder = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str], parts: &[&str]| {
        refused(&bakeoff(folder.path(), arguments).output().unwrap(), parts);
    };
    told(&["drive", "order-entri", "sqlite:x"], &["order-entri", "did you mean \"order-entry\""]);
    told(&["drive", "order-entry", "postgras://h/d"], &["did you mean \"postgres\""]);
    told(&["drive", "order-entry", "postgres://h/d?sslmod=require"], &["did you mean \"sslmode\""]);
    told(&["drive", "order-entry", "sqlite:x", "--set", "warehuoses=2"], &["did you mean \"warehouses\""]);
    told(&["drive", "order-entry", "sqlite:x", "--clients", "0"], &["--clients: found 0"]);
    told(&["drive", "order-entry", "sqlite:x", "--clients", "10000000"], &["--clients: found 10000000"]);
    told(&["drive", "order-entry", "sqlite:x", "--clients", "2", "--arrivals", "5/s"], &["cannot be used with"]);
    told(&["drive", "order-entry", "sqlite:x", "--arrivals", "many"], &["--arrivals", "many"]);
    told(&["drive", "order-entry", "sqlite:x", "--sessions", "2"], &["--terminals or --arrivals"]);
    told(&["drive", "order-entry", "sqlite:x", "--time", "5x"], &["--time"]);
    told(&["drive", "order-entry", "sqlite:x", "-L", "soon"], &["--latency-limit", "such as 50ms"]);
    told(&["drive", "tpc-c", "sqlite:x"], &["order-entry is the one derived from it"]);
    told(&["drive", "order-entry", "localhost:5432/shop"], &["write postgres://localhost:5432/shop"]);
    told(&["drive", "order-entry", "sqlite:x", "--interval", "1.5s"], &["--interval", "whole seconds"]);
    told(&["drive", "order-entry", "sqlite:x", "--steps", "laod"], &["laod", "load"]);
}

/// A server with a port and a password.
pub struct Database {
    pub server: Box<dyn Server>,
    pub folder: TempDir,
    pub port: u16,
    pub password: String,
    /// Its scheme in URLs, and the variable for its password.
    pub words: (&'static str, &'static str),
}

impl Database {
    pub fn new(settings: &str) -> Option<Self> {
        let is_there = Path::new("/usr/lib/postgresql").is_dir();
        Self::of("postgres", is_there, settings, ("postgres", "PGPASSWORD"))
    }

    pub fn mariadb(settings: &str) -> Option<Self> {
        Self::of("mariadb", Path::new("/usr/sbin/mariadbd").exists(), settings, ("mariadb", "MYSQL_PWD"))
    }

    fn of(kind: &str, is_there: bool, settings: &str, words: (&'static str, &'static str)) -> Option<Self> {
        if missing(kind, is_there) {
            return None;
        }
        let held = HeldPort::of_loopback().unwrap();
        let port = held.number();
        // The server's account must be able to enter it.
        let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        made::put(kind, folder.path());
        let listen = Some((Ipv4Addr::LOCALHOST, port).into());
        let place = ServerPlace { data: folder.path().to_owned(), logs: folder.path().join("logs"), listen };
        let keys = catalog::entry(kind).unwrap().keys;
        let table = settings::check(&serde_json::from_str(settings).unwrap(), keys).unwrap();
        let shape = ServerShape { vcpus: 1, memory_bytes: 256 << 20 };
        let server = catalog::start(kind, &table, &place, &shape).unwrap();
        let password = remote(&*server).password.as_ref().expect("a password").reveal().to_owned();
        Some(Self { server, folder, port, password, words })
    }

    pub fn url(&self, more: &str) -> String {
        let Remote { user, database, .. } = remote(&*self.server);
        format!("{}://{user}@localhost:{}/{database}{more}", self.words.0, self.port)
    }

    /// The folder of a server's socket is beside its data. The server's own report names it for this process only.
    fn socket_url(&self) -> String {
        let Remote { user, database, port, .. } = remote(&*self.server);
        let host = format!("{}/{}.socket", self.folder.path().display(), self.words.0).replace('/', "%2F");
        format!("{}://{user}@{host}:{port}/{database}", self.words.0)
    }

    fn drive(&self, url: &str, more: &[&str]) -> Command {
        self.bakeoff(&[&["drive", "sysbench-oltp", url], &SMALL[..], &SHORT[..], more].concat())
    }

    /// A command with the password in its environment.
    pub fn bakeoff(&self, arguments: &[&str]) -> Command {
        let mut command = bakeoff(self.folder.path(), arguments);
        command.env(self.words.1, &self.password);
        command
    }
}

fn remote(server: &dyn Server) -> &Remote {
    match &server.report().endpoint {
        Endpoint::Postgres(remote) | Endpoint::Mysql(remote) => remote,
        other @ Endpoint::Sqlite { .. } => panic!("{other}"),
    }
}

#[test]
fn a_server_is_loaded_run_checked_and_cleaned_over_its_socket() {
    let Some(database) = Database::new("{}") else { return };
    whole_life(database.folder.path(), &database.socket_url());
}

#[test]
fn mariadb_is_loaded_run_checked_and_cleaned_over_the_network() {
    let Some(database) = Database::mariadb("{}") else { return };
    let file = format!("[client]\npassword={}\n", database.password);
    std::fs::write(database.folder.path().join(".my.cnf"), file).unwrap();
    whole_life(database.folder.path(), &database.url(""));
}

#[test]
fn a_password_is_written_nowhere() {
    let Some(database) = Database::new("{}") else { return };
    let steps = ["--steps", "load,run,check", "--json", "--record", "kept", "--clients", "4"];
    let output = database.drive(&database.url(""), &steps).output().unwrap();
    succeeded(&output);
    let pass_file = database.folder.path().join(".pgpass");
    std::fs::write(&pass_file, format!("localhost:*:*:postgres:{}\n", database.password)).unwrap();
    std::fs::set_permissions(&pass_file, Permissions::from_mode(0o600)).unwrap();
    let by_file = drive(database.folder.path(), &database.url(""), &["--json"]);
    succeeded(&by_file);
    std::fs::remove_file(&pass_file).unwrap();
    let without = drive(database.folder.path(), &database.url(""), &["--json"]);
    refused(&without, &["postgres@localhost", "asks for a password", "PGPASSWORD"]);

    for said in [&output, &by_file, &without] {
        assert!(!text(&said.stdout).contains(&database.password) && !text(&said.stderr).contains(&database.password));
    }
    not_in(&database.folder.path().join("kept"), &database.password);
    not_in_logs(&database);
}

pub fn not_in_logs(database: &Database) {
    not_in(&database.folder.path().join("logs"), &database.password);
}

fn not_in(folder: &Path, password: &str) {
    for file in std::fs::read_dir(folder).unwrap().flatten() {
        if file.path().is_dir() {
            not_in(&file.path(), password);
            continue;
        }
        assert!(!text(&std::fs::read(file.path()).unwrap()).contains(password), "{}", file.path().display());
    }
}

/// Makes the server encrypt, and returns the file of the authority that signed its certificate.
fn encrypt(database: &Database) -> PathBuf {
    let folder = database.folder.path();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let (certificate_file, key_file) = (folder.join("server.crt"), folder.join("server.key"));
    std::fs::write(&certificate_file, certificate.pem()).unwrap();
    std::fs::write(&key_file, key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key_file, Permissions::from_mode(0o600)).unwrap();
    let owner = std::fs::metadata(folder.join("postgres")).unwrap();
    std::os::unix::fs::chown(&key_file, Some(owner.uid()), Some(owner.gid())).unwrap();
    let mut admin = catalog::admin(&database.server.report().endpoint).unwrap();
    for (name, file) in [("ssl_cert_file", &certificate_file), ("ssl_key_file", &key_file)] {
        admin.script(&format!("ALTER SYSTEM SET {name} = '{}'", file.display())).unwrap();
    }
    admin.script("ALTER SYSTEM SET ssl = on").unwrap();
    admin.script("SELECT pg_reload_conf()").unwrap();
    let over_network = Remote { host: "127.0.0.1".to_owned(), ..remote(&*database.server).clone() };
    let required = Endpoint::Postgres(Remote { tls: Tls::of_mode(TlsMode::Require), ..over_network });
    let deadline = Instant::now() + Duration::from_mins(1);
    while catalog::admin(&required).is_err() {
        assert!(Instant::now() < deadline, "the server does not encrypt");
    }
    certificate_file
}

#[test]
fn many_sessions_work_over_tls() {
    let Some(database) = Database::new("{}") else { return };
    let trusted = encrypt(&database);
    let verified = format!("?sslmode=verify-full&channel_binding=require&sslrootcert={}", trusted.display());
    let steps = ["--steps", "load,run,check", "--clients", "24", "--shards", "2", "--set", "test=read_only"];
    let told = succeeded(&database.drive(&database.url(&verified), &steps).output().unwrap());
    assert!(told.contains("24 sessions on 2 threads") && told.contains("0 violated"), "{told}");
    let of_system = database.drive(&database.url("?sslmode=verify-full"), &[]).output().unwrap();
    refused(&of_system, &["no secure connection", "sslrootcert"]);
}

#[test]
fn who_is_not_let_in_is_told_why() {
    let Some(database) = Database::new(r#"{ "max_connections": 10 }"#) else { return };
    let told = |url: &str, parts: &[&str]| refused(&database.drive(url, &[]).output().unwrap(), parts);
    let mut wrong = database.drive(&database.url(""), &[]);
    let wrong = wrong.env("PGPASSWORD", "hunter2").output().unwrap();
    refused(&wrong, &["postgres://postgres@localhost", "password authentication failed for user \"postgres\""]);
    assert!(!text(&wrong.stderr).contains("hunter2"));
    told("postgres://ann@no-such-host.invalid/shop", &["no-such-host.invalid", "is not known here"]);
    told("postgres://ann@localhost:1/shop", &["postgres://ann@localhost:1/shop", "nothing listens there"]);
    told("postgres://ann@%2Fnowhere/shop", &["/nowhere", "no such socket"]);
    told(&database.url("?sslmode=require"), &["the server does not encrypt connections"]);
    told(&database.url("?sslmode=verify-ca&sslrootcert=/no/such.pem"), &["/no/such.pem"]);
    let full = database.drive(&database.url(""), &["--steps", "load,run", "--clients", "40"]).output().unwrap();
    refused(&full, &["session", "of 40 could not be opened", "too many clients"]);
    drop(database.server);
}

#[test]
fn what_is_no_database_is_told_and_nobody_waits_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    // It answers the first client like a web server, and the second not at all.
    let server = std::thread::spawn(move || {
        let (mut first, _) = listener.accept().unwrap();
        first.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        listener.accept().unwrap()
    });
    let web = drive(folder.path(), &format!("postgres://ann@127.0.0.1:{port}/shop"), &[]);
    refused(&web, &["postgres://ann@127.0.0.1", "does not understand the request to encrypt"]);
    let silent = drive(folder.path(), &format!("mariadb://ann@127.0.0.1:{port}/shop"), &[]);
    refused(&silent, &["mysql://ann@127.0.0.1", "nothing answers there"]);
    drop(server.join().unwrap());
}

/// Asks one client for its password in plain text, and returns everything that it sent.
fn asks_for_the_password(listener: &TcpListener) -> Vec<u8> {
    let (mut client, _) = listener.accept().unwrap();
    client.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut length = [0; 4];
    client.read_exact(&mut length).unwrap();
    let mut introduction = vec![0; u32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut introduction).unwrap();
    client.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
    let mut said = vec![0; 64];
    let count = client.read(&mut said).unwrap();
    said.truncate(count);
    said
}

#[test]
fn the_password_itself_is_told_only_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("postgres://ann@127.0.0.1:{}/shop?sslmode=disable", listener.local_addr().unwrap().port());
    let server = std::thread::spawn(move || [asks_for_the_password(&listener), asks_for_the_password(&listener)]);
    let told = |more: &str| {
        let url = format!("{url}{more}");
        bakeoff(folder.path(), &["drive", "sysbench-oltp", &url]).env("PGPASSWORD", "hunter2").output().unwrap()
    };
    refused(&told(""), &["no secure connection", "sslmode=verify-full", "require_auth=password"]);
    refused(&told("&require_auth=password"), &["postgres://ann@127.0.0.1"]);
    assert_eq!(server.join().unwrap(), [b"".to_vec(), b"p\0\0\0\x0chunter2\0".to_vec()]);
}
