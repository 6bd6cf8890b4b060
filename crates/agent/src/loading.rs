//! Fills the tables of a workload with several writers.

use engines::admin::Admin;
use engines::server::Endpoint;
use engines::session::SessionError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;
use workloads::dataset::{Checksum, DataTable, Dataset, TablePart};

/// Parts of each table for each writer: enough that the writers finish together, and few enough that each part is long.
const PARTS_PER_WRITER: u32 = 4;
/// How often a thread looks whether a statement is to be ended.
const LOOK_UP: Duration = Duration::from_millis(200);
/// Reports of finished parts that may wait to be passed on.
const QUEUED_REPORTS: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("loading table {table}: {source}")]
    Table { table: String, source: SessionError },
    #[error("{doing}: {source}")]
    Script { doing: &'static str, source: SessionError },
    #[error("a writer panicked while loading")]
    Panicked,
    #[error("the conductor is gone")]
    Alone,
}

impl From<SessionError> for LoadError {
    fn from(source: SessionError) -> Self {
        Self::Script { doing: "connecting", source }
    }
}

/// Makes the tables, fills them, and finishes keys and indexes. Returns how many rows the database took, by table.
pub fn load(
    dataset: &dyn Dataset,
    endpoint: &Endpoint,
    writers: u32,
    is_alone: &AtomicBool,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<BTreeMap<String, u64>, LoadError> {
    let dialect = endpoint.dialect();
    let administer = |doing, work: &dyn Fn(&mut dyn Admin) -> Result<(), SessionError>| {
        cancellable(endpoint, is_alone, work).map_err(|source| LoadError::Script { doing, source })
    };
    administer("making the tables", &|admin| admin.script(&dataset.schema(dialect)))?;
    let rows = fill(dataset, endpoint, (writers, is_alone), progress)?;
    if is_alone.load(Ordering::Relaxed) {
        return Err(LoadError::Alone);
    }
    progress("keys and indexes", 0, 1);
    administer("making keys and indexes", &|admin| dataset.finish_over(admin, dialect))?;
    progress("statistics", 0, 1);
    administer("gathering statistics", &|admin| admin.settle())?;
    progress("statistics", 1, 1);
    Ok(rows)
}

/// A connection for work of any length.
pub(crate) fn patient_admin(endpoint: &Endpoint) -> Result<Box<dyn Admin>, SessionError> {
    let mut admin = engines::catalog::admin(endpoint)?;
    admin.work_long()?;
    Ok(admin)
}

/// Work of any length, which the server ends once the conductor is gone, or once this process is killed if the server can.
pub(crate) fn cancellable<T, E: From<SessionError>>(
    endpoint: &Endpoint,
    is_alone: &AtomicBool,
    work: impl FnOnce(&mut dyn Admin) -> Result<T, E>,
) -> Result<T, E> {
    let mut admin = patient_admin(endpoint)?;
    let cancel = admin.canceller()?;
    std::thread::scope(|scope| {
        let (over, is_over) = channel::<()>();
        scope.spawn(move || {
            while is_over.recv_timeout(LOOK_UP) == Err(RecvTimeoutError::Timeout) {
                if is_alone.load(Ordering::Relaxed) {
                    cancel();
                }
            }
        });
        let worked = work(admin.as_mut());
        drop(over);
        worked
    })
}

/// Fills the tables in order, each in parts. A writer takes the next part as soon as it is free.
fn fill(
    dataset: &dyn Dataset,
    endpoint: &Endpoint,
    (writers, is_alone): (u32, &AtomicBool),
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<BTreeMap<String, u64>, LoadError> {
    let writers = writers.max(1);
    let count = writers * PARTS_PER_WRITER;
    let parts =
        dataset.tables().iter().flat_map(|table| (0..count).map(move |index| (table, TablePart { index, count })));
    let queue = Mutex::new(parts);
    let next = || queue.lock().ok()?.next().filter(|_| !is_alone.load(Ordering::Relaxed));
    let expected: u64 = dataset.tables().iter().map(|table| dataset.expected_rows(table)).sum();
    let mut rows = BTreeMap::new();
    let mut done = 0;
    std::thread::scope(|scope| {
        let (send, finished) = sync_channel(QUEUED_REPORTS);
        let workers: Vec<_> = (0..writers)
            .map(|_| {
                let (send, next) = (send.clone(), &next);
                scope.spawn(move || write_parts(dataset, endpoint, (next, is_alone), &send))
            })
            .collect();
        drop(send);
        for (table, taken) in finished {
            *rows.entry(String::from(table)).or_insert(0) += taken;
            done += taken;
            progress(table, done, expected);
        }
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| LoadError::Panicked)?)
    })?;
    Ok(rows)
}

fn write_parts<'a>(
    dataset: &dyn Dataset,
    endpoint: &Endpoint,
    (next, is_alone): (&(dyn Fn() -> Option<(&'a DataTable, TablePart)> + Sync), &AtomicBool),
    finished: &SyncSender<(&'a str, u64)>,
) -> Result<(), LoadError> {
    let mut admin = patient_admin(endpoint).map_err(|source| LoadError::Script { doing: "connecting", source })?;
    while let Some((table, part)) = next() {
        let mut source = dataset.rows(&table.name, part);
        let taken = admin
            .load(&table.name, table.columns, &mut |sink| source.fill(sink) && !is_alone.load(Ordering::Relaxed))
            .map_err(|source| LoadError::Table { table: table.name.to_string(), source })?;
        if finished.send((&table.name, taken)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// A table's checksum by the workload's definition, and that of the rows in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableChecksum {
    pub expected: Checksum,
    pub stored: Checksum,
}

/// Checksums of all tables, both by the workload's definition and of the rows in the database.
pub fn verify(
    dataset: &dyn Dataset,
    endpoint: &Endpoint,
    threads: u32,
    progress: &mut dyn FnMut(&str, u64, u64),
) -> Result<BTreeMap<String, TableChecksum>, LoadError> {
    let tables = dataset.tables();
    let mut sums = BTreeMap::new();
    for (done, table) in (0..).zip(tables) {
        progress(&format!("verifying {}", table.name), done, tables.len() as u64);
        let (expected, stored) = std::thread::scope(|scope| {
            let stored = scope.spawn(|| -> Result<_, SessionError> {
                workloads::checksum::stored(patient_admin(endpoint)?.as_mut(), table)
            });
            let expected = workloads::checksum::expected(dataset, table, threads);
            stored.join().map(|stored| (expected, stored))
        })
        .map_err(|_| LoadError::Panicked)?;
        let stored = stored.map_err(|source| LoadError::Table { table: table.name.to_string(), source })?;
        sums.insert(table.name.to_string(), TableChecksum { expected, stored });
    }
    Ok(sums)
}
