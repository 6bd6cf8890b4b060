//! Counters of MariaDB and MySQL, under their own names and in the words that all engines share.

use crate::admin::{Admin, CountersOf, counted};
use crate::limit::ReplyLimit;
use crate::server::Counters;
use crate::session::SessionError;
use record::looks::DatabaseCounts;
use std::time::Instant;

const MEANING: &str = "A read or a write is one page of InnoDB, 16 KiB unless set otherwise; pages that are read ahead count, \
                       too. A page that an operation looks at several times is in the cache as often.";

pub(super) fn read(admin: &mut dyn Admin, of: CountersOf, limit: ReplyLimit) -> Result<Counters, SessionError> {
    let begun = Instant::now();
    let mut counters = Counters::new();
    if of == CountersOf::DatabaseAndServer {
        counters.extend(counted(admin, include_str!("sql/counters.sql"), limit)?);
        counters.extend(counted(admin, include_str!("sql/cache.sql"), limit.since(begun))?);
    }
    match counted(admin, include_str!("sql/size.sql"), limit.since(begun)) {
        Ok(size) => counters.extend(size),
        // Only logins with PROCESS may read file sizes, and MySQL keeps them elsewhere.
        Err(SessionError::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(counters)
}

pub fn in_shared_words(counters: &Counters) -> DatabaseCounts {
    let of = |name: &str| counters.get(name).copied();
    let missed = of("innodb_buffer_pool_reads");
    DatabaseCounts {
        meaning: MEANING.to_owned(),
        reads: of("innodb_pages_read"),
        hits: of("innodb_buffer_pool_read_requests").zip(missed).map(|(asked, missed)| asked.saturating_sub(missed)),
        writes: of("innodb_pages_written"),
        // Only MariaDB reports the position of its log.
        log_bytes: of("innodb_lsn_current").or_else(|| of("innodb_os_log_written")),
        // InnoDB writes dirty pages all the time, so there are no cycles to count.
        checkpoints: None,
        data_bytes: of("database_bytes"),
        cache_bytes: of("cache_bytes"),
    }
}
