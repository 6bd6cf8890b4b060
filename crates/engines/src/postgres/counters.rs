//! PostgreSQL's counters, under their own names and in the words that all engines share.

use crate::admin::{Admin, CountersOf, counted};
use crate::limit::ReplyLimit;
use crate::server::Counters;
use crate::session::SessionError;
use record::looks::DatabaseCounts;
use std::time::Instant;

const MEANING: &str = "A read or a write is one page, 8 KiB unless PostgreSQL was built otherwise; the server learns of a \
                       session's reads up to a second late.";

/// Pages by the process that wrote them. From version 17 on, writes of sessions are counted only together with all
/// others.
const WRITTEN_BY: [&str; 3] = ["buffers_checkpoint", "buffers_clean", "buffers_backend"];

/// Checkpoints begun by the timer, and requested ones: by a command, or because the log had grown too long.
const CHECKPOINTS: [&str; 2] = ["checkpoints_timed", "checkpoints_req"];
const CHECKPOINTS_FROM_17: [&str; 2] = ["num_timed", "num_requested"];

/// Views that older versions lack: the question whether there is one, and the question for its counters.
const NEWER: [(&str, &str); 2] = [
    ("SELECT 1 WHERE to_regclass('pg_catalog.pg_stat_wal') IS NOT NULL", include_str!("sql/counters_from_14.sql")),
    (
        "SELECT 1 WHERE to_regclass('pg_catalog.pg_stat_checkpointer') IS NOT NULL",
        include_str!("sql/counters_from_17.sql"),
    ),
];

pub(super) fn read(admin: &mut dyn Admin, of: CountersOf, limit: ReplyLimit) -> Result<Counters, SessionError> {
    let begun = Instant::now();
    let mut counters = counted(admin, include_str!("sql/counters_of_database.sql"), limit)?;
    if of == CountersOf::Database {
        return Ok(counters);
    }
    counters.extend(counted(admin, include_str!("sql/counters_of_server.sql"), limit.since(begun))?);
    for (is_there, view) in NEWER {
        let mut found = false;
        admin.ask(is_there, limit.since(begun), &mut |_, _| found = true)?;
        if found {
            counters.extend(counted(admin, view, limit.since(begun))?);
        }
    }
    Ok(counters)
}

pub fn in_shared_words(counters: &Counters) -> DatabaseCounts {
    let of = |name: &str| counters.get(name).copied();
    // A peer that is no real server may send any numbers.
    let sum = |names: &[&str]| names.iter().try_fold(0_u64, |sum, name| Some(sum.saturating_add(of(name)?)));
    DatabaseCounts {
        meaning: MEANING.to_owned(),
        reads: of("blks_read"),
        hits: of("blks_hit"),
        writes: of("relation_writes").or_else(|| sum(&WRITTEN_BY)),
        log_bytes: of("wal_position"),
        checkpoints: sum(&CHECKPOINTS_FROM_17).or_else(|| sum(&CHECKPOINTS)),
        data_bytes: of("database_bytes"),
        cache_bytes: of("cache_bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(values: &[(&str, u64)]) -> Counters {
        values.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn writes_are_counted_in_one_view_or_in_three_places() {
        let old = counters(&[("buffers_checkpoint", 1), ("buffers_clean", 20), ("buffers_backend", 300)]);
        assert_eq!(in_shared_words(&old).writes, Some(321));
        let new = counters(&[("buffers_clean", 20), ("relation_writes", 400)]);
        assert_eq!(in_shared_words(&new).writes, Some(400));
        assert_eq!(in_shared_words(&counters(&[("buffers_clean", 20)])).writes, None);
    }

    #[test]
    fn what_no_server_counts_does_no_harm() {
        let huge = counters(&[("num_timed", u64::MAX), ("num_requested", 1)]);
        assert_eq!(in_shared_words(&huge).checkpoints, Some(u64::MAX));
    }

    #[test]
    fn checkpoints_are_counted_under_old_names_and_new_ones() {
        let old = counters(&[("checkpoints_timed", 3), ("checkpoints_req", 2)]);
        assert_eq!(in_shared_words(&old).checkpoints, Some(5));
        let new = counters(&[("num_timed", 4), ("num_requested", 0)]);
        assert_eq!(in_shared_words(&new).checkpoints, Some(4));
        assert_eq!(in_shared_words(&counters(&[("num_timed", 4)])).checkpoints, None);
    }
}
