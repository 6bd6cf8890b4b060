//! The workloads on real databases: loading, checking, running, and finding violations.
//!
//! SQLite is always there. Where PostgreSQL or MariaDB is not installed, its tests are skipped with a message; under
//! `REQUIRE=postgres,mariadb` that is a failure.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod brokerage;
mod brokering;
mod conditions;
mod damage;
mod database;
mod decision_support;
mod dvd;
mod effects;
mod loaded;
#[path = "../../../engines/tests/conformance/made.rs"]
mod made;
mod playing;
mod retail_chain;
mod running;
mod slob;
mod sysbench;
mod values;
mod whole;

use database::Database;
use std::path::Path;
use workloads::dvd_store::DvdStoreVersion;

const POSTGRES: &str = "/usr/lib/postgresql/15/bin/postgres";
const MARIADB: &str = "/usr/sbin/mariadbd";

/// Whether a server is installed. If not, it says so, and fails if the server is required.
fn is_here(name: &str, program: &str) -> bool {
    let here = Path::new(program).exists();
    if !here {
        let required = std::env::var("REQUIRE").unwrap_or_default();
        assert!(!required.split(',').any(|word| word == name), "{name} is required, and there is no {program}");
        eprintln!("SKIPPED: there is no {program}");
    }
    here
}

fn postgres_is_here() -> bool {
    is_here("postgres", POSTGRES)
}

fn mariadb_is_here() -> bool {
    is_here("mariadb", MARIADB)
}

#[test]
fn everything_holds_on_sqlite() {
    let database = Database::sqlite();
    whole::load_run_and_check(&database, 2);
    values::checksums_are_those_of_the_rows(&database);
}

#[test]
fn everything_holds_on_postgres() {
    if postgres_is_here() {
        let database = Database::postgres();
        whole::load_run_and_check(&database, 1);
        values::checksums_are_those_of_the_rows(&database);
    }
}

#[test]
fn every_condition_can_fail_on_sqlite() {
    conditions::each_condition_finds_its_violation(&Database::sqlite());
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn everything_holds_on_postgres_with_a_remote_warehouse() {
    if postgres_is_here() {
        whole::load_run_and_check(&Database::postgres(), 2);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn everything_holds_on_mariadb_with_a_remote_warehouse() {
    if mariadb_is_here() {
        whole::load_run_and_check(&Database::mariadb(), 2);
    }
}

#[test]
fn every_condition_can_fail_on_postgres() {
    if postgres_is_here() {
        conditions::each_condition_finds_its_violation(&Database::postgres());
    }
}

#[test]
fn everything_holds_on_mariadb() {
    if mariadb_is_here() {
        let database = Database::mariadb();
        whole::load_run_and_check(&database, 1);
        values::checksums_are_those_of_the_rows(&database);
    }
}

#[test]
fn every_condition_can_fail_on_mariadb() {
    if mariadb_is_here() {
        conditions::each_condition_finds_its_violation(&Database::mariadb());
    }
}

#[test]
fn a_failure_of_slob_leaves_mariadb_as_it_was() {
    if mariadb_is_here() {
        slob::a_failure_leaves_the_server_as_it_was(&Database::mariadb());
    }
}

#[test]
fn slob_holds_on_sqlite() {
    slob::load_run_and_check(&Database::sqlite());
}

#[test]
fn slob_holds_on_postgres() {
    if postgres_is_here() {
        slob::load_run_and_check(&Database::postgres());
    }
}

#[test]
fn slob_holds_on_mariadb() {
    if mariadb_is_here() {
        slob::load_run_and_check(&Database::mariadb());
    }
}

#[test]
fn every_condition_of_slob_can_fail_on_sqlite() {
    slob::each_condition_finds_its_violation(&Database::sqlite());
}

#[test]
fn every_condition_of_slob_can_fail_on_postgres() {
    if postgres_is_here() {
        slob::each_condition_finds_its_violation(&Database::postgres());
    }
}

#[test]
fn sysbench_holds_on_sqlite() {
    sysbench::every_test_holds(&Database::sqlite());
}

#[test]
fn sysbench_holds_on_postgres() {
    if postgres_is_here() {
        sysbench::every_test_holds(&Database::postgres());
    }
}

#[test]
fn every_condition_of_sysbench_can_fail_on_sqlite() {
    let database = Database::sqlite();
    sysbench::each_condition_finds_its_violation(&database);
    sysbench::statements_alone_commit_themselves(&database);
}

#[test]
fn every_condition_of_sysbench_can_fail_on_postgres() {
    if postgres_is_here() {
        let database = Database::postgres();
        sysbench::each_condition_finds_its_violation(&database);
        sysbench::statements_alone_commit_themselves(&database);
    }
}

#[test]
fn sysbench_holds_on_mariadb() {
    if mariadb_is_here() {
        sysbench::every_test_holds(&Database::mariadb());
    }
}

#[test]
fn every_condition_of_sysbench_can_fail_on_mariadb() {
    if mariadb_is_here() {
        let database = Database::mariadb();
        sysbench::each_condition_finds_its_violation(&database);
        sysbench::statements_alone_commit_themselves(&database);
        sysbench::tables_compare_as_their_database_does(&database);
    }
}

#[test]
fn dvd_store_holds_on_sqlite() {
    dvd::load_run_and_check(&Database::sqlite(), DvdStoreVersion::Two);
    dvd::load_run_and_check(&Database::sqlite(), DvdStoreVersion::Three);
}

#[test]
fn dvd_store_holds_on_postgres() {
    if postgres_is_here() {
        dvd::load_run_and_check(&Database::postgres(), DvdStoreVersion::Three);
    }
}

#[test]
fn dvd_store_holds_on_mariadb() {
    if mariadb_is_here() {
        dvd::load_run_and_check(&Database::mariadb(), DvdStoreVersion::Three);
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn dvd_store_of_version_two_holds_on_servers() {
    if postgres_is_here() && mariadb_is_here() {
        dvd::load_run_and_check(&Database::postgres(), DvdStoreVersion::Two);
        dvd::load_run_and_check(&Database::mariadb(), DvdStoreVersion::Two);
    }
}

#[test]
fn brokerage_holds_and_can_fail_on_sqlite() {
    brokerage::load_and_find_each_violation(&Database::sqlite());
}

#[test]
fn brokerage_holds_and_can_fail_on_postgres() {
    if postgres_is_here() {
        brokerage::load_and_find_each_violation(&Database::postgres());
    }
}

#[test]
fn brokerage_holds_and_can_fail_on_mariadb() {
    if mariadb_is_here() {
        brokerage::load_and_find_each_violation(&Database::mariadb());
    }
}

#[test]
fn brokerage_answers_on_sqlite() {
    brokering::play_and_check(&Database::sqlite());
}

#[test]
fn brokerage_answers_on_postgres() {
    if postgres_is_here() {
        brokering::play_and_check(&Database::postgres());
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn brokerage_answers_on_mariadb() {
    if mariadb_is_here() {
        brokering::play_and_check(&Database::mariadb());
    }
}

#[test]
fn decision_support_holds_on_sqlite() {
    decision_support::everything_holds(&Database::sqlite());
}

#[test]
fn decision_support_holds_on_postgres() {
    if postgres_is_here() {
        decision_support::everything_holds(&Database::postgres());
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn decision_support_holds_on_mariadb() {
    if mariadb_is_here() {
        decision_support::everything_holds(&Database::mariadb());
    }
}

#[test]
fn retail_chain_holds_on_sqlite() {
    retail_chain::everything_holds(&Database::sqlite());
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn retail_chain_holds_on_postgres() {
    if postgres_is_here() {
        retail_chain::everything_holds(&Database::postgres());
    }
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn retail_chain_holds_on_mariadb() {
    if mariadb_is_here() {
        retail_chain::everything_holds(&Database::mariadb());
    }
}
