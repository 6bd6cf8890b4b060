//! Servers whose owners chose unusual defaults for sessions: our own SQL does the same there, and a user's is left alone.

use crate::drive::Database;
use crate::setting::text;
use engines::admin::Admin;
use engines::limit::ReplyLimit;
use engines::server::Endpoint;

#[test]
fn our_sql_holds_on_a_mariadb_with_odd_defaults() {
    let Some(database) = Database::mariadb("{}") else { return };
    let odd = "SET GLOBAL sql_mode = 'ORACLE,NO_BACKSLASH_ESCAPES', GLOBAL autocommit = 0, GLOBAL sql_select_limit = 1, \
               GLOBAL sql_safe_updates = 1, GLOBAL completion_type = 2, GLOBAL max_statement_time = 100, GLOBAL wait_timeout = 5";
    holds(&database, &[odd]);
    let asked =
        "SELECT CONCAT_WS(' ', @@sql_mode, @@autocommit, @@sql_select_limit, @@max_statement_time, @@wait_timeout)";
    let ours = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION ON 18446744073709551615 0.000000 86400";
    assert_eq!(one(&endpoint(&database).for_sql(true), true, asked), ours);
    let of_user = one(&endpoint(&database), false, asked);
    assert!(of_user.contains("ORACLE") && of_user.ends_with(" OFF 1 100.000000 5"), "{of_user}");
}

#[test]
fn our_sql_holds_on_a_postgres_with_odd_defaults() {
    let Some(database) = Database::new("{}") else { return };
    let set = |name: &str, value: &str| format!("ALTER ROLE CURRENT_USER SET {name} = '{value}'");
    let odd = [
        ("statement_timeout", "100s"),
        ("lock_timeout", "90s"),
        ("idle_session_timeout", "5s"),
        ("DateStyle", "German"),
    ];
    let odd = odd.map(|(name, value)| set(name, value));
    holds(&database, &odd.each_ref().map(String::as_str));
    let asked = "SELECT string_agg(current_setting(name), ' ' ORDER BY name) FROM pg_settings \
                 WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_session_timeout')";
    assert_eq!(one(&endpoint(&database).for_sql(true), true, asked), "0 0 0");
    assert_eq!(one(&endpoint(&database), false, asked), "5s 90s 100s");
}

fn endpoint(database: &Database) -> Endpoint {
    database.server.report().endpoint.clone()
}

/// The text that this query returns, asked patiently or as the server has it.
fn one(endpoint: &Endpoint, patiently: bool, sql: &str) -> String {
    let mut admin: Box<dyn Admin> = engines::catalog::admin(endpoint).unwrap();
    if patiently {
        admin.work_long().unwrap();
    }
    let mut found = String::new();
    admin.ask(sql, ReplyLimit::QUESTION, &mut |rows, row| rows.text(row, 0).unwrap().clone_into(&mut found)).unwrap();
    found
}

/// Loads, drives and checks with these defaults.
fn holds(database: &Database, odd: &[&str]) {
    let mut admin = engines::catalog::admin(&database.server.report().endpoint).unwrap();
    for sql in odd {
        admin.script(sql).unwrap();
    }
    let url = database.url("");
    let small = ["drive", "sysbench-oltp", &url, "--set", "tables=1", "--set", "table_size=500"];
    let short = ["--clients", "1", "--warmup", "0s", "--time", "1s", "--steps", "load,run,check,clean"];
    let output = database.bakeoff(&[&small[..], &short].concat()).output().unwrap();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(told.contains(" 0 violated") && told.contains("dropped sbtest1"), "{told}");
}
