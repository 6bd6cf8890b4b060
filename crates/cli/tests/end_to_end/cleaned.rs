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
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    a_users_table_survives("sqlite:shop.db", &in_file(folder.path()), |words| bakeoff(folder.path(), words));
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_on_postgres() {
    let Some(database) = Database::new("{}") else { return };
    a_users_table_survives(&database.url(""), &database.server.report().endpoint, |words| database.bakeoff(words));
}

#[test]
fn a_users_table_of_the_same_name_survives_clean_on_mariadb() {
    let Some(database) = Database::mariadb("{}") else { return };
    a_users_table_survives(&database.url(""), &database.server.report().endpoint, |words| database.bakeoff(words));
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
