//! `--steps clean` drops the tables that `load` made, and never a table of the user's that has such a name.

use crate::drive::{Database, bakeoff, refused, succeeded};
use crate::own_transactions::in_file;
use engines::server::Endpoint;
use std::process::{Command, Output};

fn count(endpoint: &Endpoint, table: &str) -> i64 {
    let mut found = 0;
    let mut admin = engines::catalog::admin(endpoint).unwrap();
    let query = format!("SELECT count(*) FROM {table}");
    admin.scan(&query, &mut |rows, row| found = rows.integer(row, 0).unwrap()).unwrap();
    found
}

/// The user's table lies in the way of one workload, while another one is loaded and cleaned beside it.
fn a_users_table_survives(url: &str, endpoint: &Endpoint, bakeoff: impl Fn(&[&str]) -> Command) {
    let drive = |workload: &str, set: &str, steps: &str| -> Output {
        bakeoff(&["drive", workload, url, "--set", set, "--steps", steps]).output().unwrap()
    };
    let mut admin = engines::catalog::admin(endpoint).unwrap();
    admin.script("CREATE TABLE customer (id INTEGER, note VARCHAR(20))").unwrap();
    admin.script("INSERT INTO customer VALUES (1, 'precious')").unwrap();
    let untouched = "customer exists already, was not made by bakeoff and was not touched; name another database";
    for steps in ["clean", "load", "clean,load"] {
        let output = drive("order-entry", "warehouses=1", steps);
        refused(&output, &[untouched]);
        assert!(!crate::setting::text(&output.stderr).contains("--steps"), "it advises to drop the table");
    }
    let told = succeeded(&drive("sysbench-oltp", "table_size=100", "load,clean"));
    assert!(told.contains("dropped sbtest1"), "{told}");
    assert!(!admin.has_table("sbtest1").unwrap() && !admin.has_table("bakeoff_tables").unwrap());
    assert_eq!(count(endpoint, "customer"), 1);
    // A table of the user's in the place of one that was loaded and dropped.
    succeeded(&drive("sysbench-oltp", "table_size=100", "load"));
    admin.script("DROP TABLE sbtest1; CREATE TABLE sbtest1 (note VARCHAR(20))").unwrap();
    admin.script("INSERT INTO sbtest1 VALUES ('precious')").unwrap();
    refused(&drive("sysbench-oltp", "table_size=100", "clean"), &["sbtest1 exists already, was not made by bakeoff"]);
    assert_eq!(count(endpoint, "sbtest1"), 1);
}

/// The same of a routine, which `load` would replace. Those that it makes are dropped with the tables.
fn a_users_routine_survives(url: &str, endpoint: &Endpoint, routine: [&str; 3], bakeoff: impl Fn(&[&str]) -> Command) {
    let [made, dropped, schema] = routine;
    let drive = |steps: &str| -> Output {
        let shop = ["--set", "db_size=1MB", "--set", "transactions=procedures", "--steps", steps];
        bakeoff(&[&["drive", "dvd-store", url], &shop[..]].concat()).output().unwrap()
    };
    let routines = || {
        let of_schema = format!("information_schema.routines WHERE routine_schema = {schema}");
        count(endpoint, &of_schema)
    };
    let mut admin = engines::catalog::admin(endpoint).unwrap();
    admin.script(made).unwrap();
    refused(
        &drive("load"),
        &["login() exists already, was not made by bakeoff and was not touched; name another database"],
    );
    assert_eq!(routines(), 1);
    admin.script(dropped).unwrap();
    succeeded(&drive("load"));
    assert!(routines() >= 2);
    let told = succeeded(&drive("clean"));
    assert!(told.contains("login()") && routines() == 0, "{told}");
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    a_users_table_survives("sqlite:shop.db", &in_file(folder.path()), |words| bakeoff(folder.path(), words));
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_on_postgres() {
    let Some(database) = Database::new("{}") else { return };
    let (url, endpoint) = (database.url(""), &database.server.report().endpoint);
    a_users_table_survives(&url, endpoint, |words| database.bakeoff(words));
    let made = "CREATE FUNCTION login() RETURNS INTEGER LANGUAGE sql AS 'SELECT 7'";
    let routine = [made, "DROP FUNCTION login", "current_schema()"];
    a_users_routine_survives(&url, endpoint, routine, |words| database.bakeoff(words));
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_on_mariadb() {
    let Some(database) = Database::mariadb("{}") else { return };
    let (url, endpoint) = (database.url(""), &database.server.report().endpoint);
    a_users_table_survives(&url, endpoint, |words| database.bakeoff(words));
    let routine = ["CREATE PROCEDURE login() SELECT 7", "DROP PROCEDURE login", "DATABASE()"];
    a_users_routine_survives(&url, endpoint, routine, |words| database.bakeoff(words));
}

#[test]
fn one_workload_does_not_drop_the_tables_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let drive = |workload: &str, set: &str, steps: &str| {
        let asked = ["drive", workload, "sqlite:shop.db", "--set", set, "--steps", steps];
        bakeoff(folder.path(), &asked).output().unwrap()
    };
    succeeded(&drive("decision-support-h", "scale=0.01", "load"));
    let before = count(&in_file(folder.path()), "customer");
    refused(&drive("order-entry", "warehouses=1", "clean"), &["customer, orders exist already, were not made by"]);
    assert_eq!(count(&in_file(folder.path()), "customer"), before);
    let told = succeeded(&drive("decision-support-h", "scale=0.01", "clean"));
    assert!(told.contains("dropped ") && told.contains("customer"), "{told}");
}
