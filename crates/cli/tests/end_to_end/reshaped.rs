//! Tables that are no longer as `load` left them are not driven: an index is gone, a type is another one, a load was broken off.

use crate::drive::{Database, bakeoff, drive, refused, succeeded};
use crate::own_transactions::in_file;
use engines::server::Endpoint;
use std::process::Command;

/// What is done to the loaded tables in SQL, what the refusal names, and how it is undone.
type Harm<'a> = (&'a str, &'a str, &'a str);

fn is_refused_after(url: &str, endpoint: &Endpoint, harms: &[Harm<'_>], bakeoff: impl Fn(&[&str]) -> Command) {
    let drive = |steps: &str| {
        let small = ["--set", "tables=2", "--set", "table_size=500", "--time", "1s", "--warmup", "0s"];
        bakeoff(&[&["drive", "sysbench-oltp", url, "--steps", steps], &small[..]].concat()).output().unwrap()
    };
    succeeded(&drive("load,run"));
    let mut admin = engines::catalog::admin(endpoint).unwrap();
    for (harm, named, undone) in harms {
        admin.script(harm).unwrap();
        refused(&drive("run"), &["sbtest2 is not as it was loaded: ", named, "--steps clean,load"]);
        admin.script(undone).unwrap();
    }
    succeeded(&drive("run"));
    admin.script("UPDATE bakeoff_tables SET shape = NULL WHERE name = 'sbtest1'").unwrap();
    refused(&drive("run"), &["sbtest1 was not loaded to its end", "--steps clean,load"]);
    succeeded(&drive("clean,load,run"));
    // As if another program had loaded them.
    admin.script("DELETE FROM bakeoff_tables").unwrap();
    let told = succeeded(&drive("run"));
    assert!(told.contains("warning: sbtest1, sbtest2 were not made by bakeoff, and columns"), "{told}");
}

const WITH_A_COLUMN: Harm<'_> =
    ("ALTER TABLE sbtest2 ADD COLUMN more INTEGER", "with column more int", "ALTER TABLE sbtest2 DROP COLUMN more");

#[test]
fn tables_of_a_file_that_were_changed_are_not_driven() {
    let folder = tempfile::tempdir().unwrap();
    let index = ("DROP INDEX sbtest2_k", "without index sbtest2_k (k)", "CREATE INDEX sbtest2_k ON sbtest2 (k)");
    let more = ("ALTER TABLE sbtest2 ADD COLUMN more INTEGER", "with column more INTEGER", WITH_A_COLUMN.2);
    is_refused_after("sqlite:shop.db", &in_file(folder.path()), &[index, more], |words| bakeoff(folder.path(), words));
    // An old version's list says nothing about how tables were made.
    let mut admin = engines::catalog::admin(&in_file(folder.path())).unwrap();
    admin.script("DROP INDEX sbtest2_k; ALTER TABLE bakeoff_tables DROP COLUMN shape").unwrap();
    succeeded(&drive(folder.path(), "sqlite:shop.db", &[]));
}

#[test]
fn tables_on_postgres_that_were_changed_are_not_driven() {
    let Some(database) = Database::new("{}") else { return };
    let harms = [
        ("DROP INDEX sbtest2_k", "without index sbtest2_k btree (k)", "CREATE INDEX sbtest2_k ON sbtest2 (k)"),
        (
            "ALTER TABLE sbtest2 DROP CONSTRAINT sbtest2_pkey",
            "without constraint sbtest2_pkey PRIMARY KEY (id)",
            "ALTER TABLE sbtest2 ADD CONSTRAINT sbtest2_pkey PRIMARY KEY (id)",
        ),
        ("ALTER TABLE sbtest2 SET UNLOGGED", "without logged, and with unlogged", "ALTER TABLE sbtest2 SET LOGGED"),
        (
            "ALTER TABLE sbtest2 ALTER k TYPE numeric(10)",
            "without column k integer not null, and with column k numeric(10,0) not null",
            "ALTER TABLE sbtest2 ALTER k TYPE integer",
        ),
        WITH_A_COLUMN,
    ];
    let endpoint = &database.server.report().endpoint;
    is_refused_after(&database.url(""), endpoint, &harms, |words| database.bakeoff(words));
}

#[test]
fn tables_on_mariadb_that_were_changed_are_not_driven() {
    let Some(database) = Database::mariadb("{}") else { return };
    let harms = [
        ("DROP INDEX sbtest2_k ON sbtest2", "without index sbtest2_k (k)", "CREATE INDEX sbtest2_k ON sbtest2 (k)"),
        (
            "ALTER TABLE sbtest2 MODIFY k DECIMAL(10) NOT NULL DEFAULT 0",
            "with column k decimal(10,0) not null",
            "ALTER TABLE sbtest2 MODIFY k INTEGER NOT NULL DEFAULT 0",
        ),
        (
            "ALTER TABLE sbtest2 DROP PRIMARY KEY, ADD INDEX sbtest2_id (id)",
            "without index PRIMARY (id) unique",
            "ALTER TABLE sbtest2 DROP INDEX sbtest2_id, ADD PRIMARY KEY (id)",
        ),
        ("ALTER TABLE sbtest2 ENGINE = Aria", "without engine InnoDB", "ALTER TABLE sbtest2 ENGINE = InnoDB"),
        WITH_A_COLUMN,
    ];
    let endpoint = &database.server.report().endpoint;
    is_refused_after(&database.url(""), endpoint, &harms, |words| database.bakeoff(words));
}
