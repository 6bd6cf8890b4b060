//! One list of promises, kept by every engine: real files, a real server, real sessions.
//!
//! The engine's own `start` starts PostgreSQL and MariaDB from the installed binaries. If these are missing, their
//! tests are skipped with a message; under `REQUIRE=postgres,mariadb` that is a failure.

// Lints recognise a test by its attribute, which shared functions lack. And a test program can only print why something
// was skipped.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod batches;
mod certificates;
mod fake;
mod ground;
mod hostile;
mod lifecycle;
mod loading;
mod made;
mod mariadb;
mod secure;
mod secure_mariadb;
mod sessions;
mod texts;
mod values;
mod waits;

use ground::{Engine, Ground, Mariadb, Postgres, Sqlite, in_a_ring};

/// All promises about sessions and administration, on one server.
fn keeps_its_promises<E: Engine>() {
    let Some(ground) = Ground::<E>::new(E::SETTINGS) else { return };
    sessions::values_come_back_as_they_went(&ground);
    sessions::every_count_of_changed_rows_is_true(&ground);
    sessions::an_update_returns_its_rows(&ground);
    sessions::others_see_what_is_committed_and_nothing_else(&ground);
    sessions::a_refused_statement_leaves_the_session_usable(&ground);
    sessions::a_statement_over_its_limit_is_refused(&ground);
    sessions::of_two_that_conflict_one_may_try_again(&ground);
    sessions::a_long_text_arrives_whole(&ground);
    sessions::an_abandoned_answer_is_not_taken_for_the_next(&ground);
    sessions::a_statement_that_makes_no_sense_is_named_at_once(&ground);
    sessions::work_is_counted(&ground);
    batches::a_batch_is_answered_like_single_requests(&ground);
    batches::after_a_failed_request_nothing_is_left(&ground);
    batches::after_a_conflict_nothing_is_left(&ground);
    batches::a_batch_outside_of_a_transaction_leaves_none_open(&ground);
    batches::an_abandoned_batch_is_not_taken_for_the_next(&ground);
    batches::many_requests_of_one_statement_get_their_own_rows(&ground);
    batches::a_long_batch_arrives_whole(&ground);
    values::decimals_and_dates_come_back_as_they_went(&ground);
    values::sums_are_exact_or_refused(&ground);
    values::decimals_and_dates_are_loaded(&ground);
    values::the_number_of_a_new_row_is_told(&ground);
    texts::a_text_returns_what_a_prepared_statement_does(&ground);
    texts::a_text_is_one_statement(&ground);
    texts::texts_are_counted_and_take_part_in_transactions(&ground);
    texts::an_abandoned_text_is_not_taken_for_the_next(&ground);
    texts::literals_are_data_whatever_they_hold(&ground);
    loading::scripts_and_scans_agree_with_sessions(&ground);
    loading::a_hundred_thousand_rows_arrive_as_they_were_made(&ground);
    loading::loads_on_several_threads_all_arrive(&ground);
    loading::a_row_that_is_refused_takes_the_load_back(&ground);
    ground.server.into_inner().stop().unwrap();
}

#[test]
fn sqlite_keeps_its_promises() {
    keeps_its_promises::<Sqlite>();
}

#[test]
fn postgres_keeps_its_promises() {
    keeps_its_promises::<Postgres>();
}

#[test]
fn mariadb_keeps_its_promises() {
    keeps_its_promises::<Mariadb>();
}

#[test]
fn postgres_keeps_its_promises_in_a_ring() {
    in_a_ring(keeps_its_promises::<Postgres>);
}

#[test]
fn mariadb_keeps_its_promises_in_a_ring() {
    in_a_ring(keeps_its_promises::<Mariadb>);
}

#[test]
fn sqlite_keeps_data_over_a_restart() {
    lifecycle::a_restart_keeps_data::<Sqlite>();
}

#[test]
fn sqlite_tells_its_counters_in_shared_words() {
    lifecycle::counters_are_told_in_shared_words::<Sqlite>();
}

#[test]
fn postgres_keeps_data_over_a_restart() {
    lifecycle::a_restart_keeps_data::<Postgres>();
}

#[test]
fn mariadb_keeps_data_over_a_restart() {
    lifecycle::a_restart_keeps_data::<Mariadb>();
}

#[test]
fn postgres_has_deadlocks_that_may_be_tried_again() {
    sessions::a_deadlock_may_be_tried_again::<Postgres>("40P01");
}

#[test]
fn mariadb_has_deadlocks_that_may_be_tried_again() {
    sessions::a_deadlock_may_be_tried_again::<Mariadb>("1213");
}

#[test]
fn postgres_has_further_databases() {
    lifecycle::a_server_has_further_databases::<Postgres>(true);
}

#[test]
fn mariadb_has_further_databases() {
    lifecycle::a_server_has_further_databases::<Mariadb>(false);
}

#[test]
fn postgres_tells_its_counters_in_shared_words() {
    lifecycle::counters_are_told_in_shared_words::<Postgres>();
}

#[test]
fn mariadb_tells_its_counters_in_shared_words() {
    lifecycle::counters_are_told_in_shared_words::<Mariadb>();
}
