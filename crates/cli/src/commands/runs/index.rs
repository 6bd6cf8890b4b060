//! The index of a folder of runs: the brief of each run, in tables that other tools can read, too.
//!
//! It is a cache. What differs from what was written (an old version, damage, a changed row) is discarded and made
//! again from the runs. If there can be no index, commands say so and work without it. Each run has a checksum of what
//! was written about it, since a database file does not show that a number in it was changed.

use crate::display::say;
use analysis::contrast::Contrast;
use analysis::estimate::{Bounds, Estimate};
use analysis::many_runs::{Brief, BriefCell, BriefLevel, hexadecimal};
use analysis::measures::Measure;
use machines::owned::{self, ForeignError};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE: &str = "index.sqlite";
const SCHEMA: &str = include_str!("schema.sql");
/// Increased whenever the tables or their contents change.
const VERSION: i32 = 3;
/// "bake": identifies a file of ours.
const OURS: i32 = 0x6261_6b65;
/// Writing a large index completely takes a second.
const PATIENCE: Duration = Duration::from_secs(3);

/// Positions of the format's name, the owner's version and the owner in the head of a database file.
const HEAD_BYTES: usize = 100;
const MAGIC: &[u8] = b"SQLite format 3\0";
const VERSION_AT: usize = 60;
const OWNER_AT: usize = 68;

const TABLES: [&str; 4] = ["runs", "cells", "levels", "contrasts"];

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("runs are read without an index, because {0}")]
    NotOurs(#[from] ForeignError),
    #[error(
        "runs are read without an index, because {} was not made by bakeoff or is damaged at its beginning; remove it, or rename it if it \
         is yours", .path.display()
    )]
    Foreign { path: PathBuf },
    #[error("runs are read without an index, because reading {} failed: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the index {} was not {doing}: {source}; the answer is made from the runs", .path.display())]
    Sql { path: PathBuf, doing: &'static str, source: rusqlite::Error },
}

pub struct Index {
    path: PathBuf,
    connection: Connection,
    /// Made by another version, so nothing in it is read.
    is_old: bool,
}

/// The briefs of runs, by the fingerprints of their folders.
pub type KeptBriefs = BTreeMap<String, Brief>;

impl Index {
    /// Nobody else may be able to write into the folder, since the index is believed.
    pub fn open(runs: &Path) -> Result<Self, IndexError> {
        owned::require(runs)?;
        let path = runs.join(FILE);
        let is_old = is_old(&path)?;
        let failing = |source| IndexError::Sql { path: path.clone(), doing: "opened", source };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(failing)?;
        let prepare = || {
            connection.busy_timeout(PATIENCE)?;
            // We need neither, and the file may come from anywhere.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)
        };
        prepare().map_err(failing)?;
        Ok(Self { path, connection, is_old })
    }

    /// Everything that is as it was written; the rest is dropped. A damaged index is emptied.
    pub fn load(&mut self) -> Result<KeptBriefs, IndexError> {
        if self.is_old {
            say(&format!("{} is of another version of bakeoff and is made again", self.path.display()));
            return self.empty().map(|()| KeptBriefs::new());
        }
        match load(&self.connection) {
            Ok((kept, 0)) => Ok(kept),
            Ok((kept, damaged)) => {
                let path = self.path.display();
                say(&format!(
                    "{path} is damaged: {damaged} runs in it are not as they were written and are read again"
                ));
                Ok(kept)
            }
            Err(source) if is_damage(&source) => {
                say(&format!("{} is damaged and is made again: {source}", self.path.display()));
                self.empty().map(|()| KeptBriefs::new())
            }
            Err(source) => Err(self.failed("read", source)),
        }
    }

    /// Adds the new briefs, each with its fingerprint. With `staying`, other runs are removed.
    pub fn store(&mut self, made: &[(&str, &Brief)], staying: Option<&[&str]>) -> Result<(), IndexError> {
        store(&mut self.connection, made, staying).map_err(|source| self.failed("written", source))
    }

    /// Lets SQLite empty the file under its own locks, whatever it contains, since others may be using it.
    fn empty(&mut self) -> Result<(), IndexError> {
        let reset = |on| self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, on);
        let emptied = reset(true).and_then(|_| self.connection.execute_batch("VACUUM")).and_then(|()| reset(false));
        self.is_old = false;
        emptied.map(drop).map_err(|source| self.failed("emptied", source))
    }

    fn failed(&self, doing: &'static str, source: rusqlite::Error) -> IndexError {
        IndexError::Sql { path: self.path.clone(), doing, source }
    }
}

/// True if another version of bakeoff made it. A file that is missing or empty is not old.
fn is_old(path: &Path) -> Result<bool, IndexError> {
    let unreadable = |source| IndexError::Unreadable { path: path.to_owned(), source };
    let metadata = match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        metadata => metadata.map_err(unreadable)?,
    };
    if !metadata.is_file() {
        return Err(IndexError::Foreign { path: path.to_owned() });
    }
    owned::judge(path, &metadata)?;
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head)).map_err(unreadable)?;
    let number = |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes);
    match (number(VERSION_AT), number(OWNER_AT)) {
        _ if head.is_empty() => Ok(false),
        (Some(version), Some(OURS)) if head.starts_with(MAGIC) => Ok(version != VERSION),
        _ => Err(IndexError::Foreign { path: path.to_owned() }),
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown),
        // A value has another type than the one that was written.
        None => true,
    }
}

/// The briefs, and the number of runs that are not as they were written.
fn load(connection: &Connection) -> rusqlite::Result<(KeptBriefs, usize)> {
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    if tables == 0 {
        return Ok((KeptBriefs::new(), 0));
    }
    // One transaction, so that all tables match, whatever others write meanwhile.
    let connection = connection.unchecked_transaction()?;
    let mut found: BTreeMap<String, (String, String, Brief)> = BTreeMap::new();
    each(&connection, "SELECT * FROM runs", |row| {
        let brief = read_brief(row)?;
        found.insert(brief.run.clone(), (row.get("fingerprint")?, row.get("checksum")?, brief));
        Ok(())
    })?;
    each(&connection, "SELECT * FROM cells ORDER BY rowid", |row| {
        if let Some((_, _, brief)) = found.get_mut(&row.get::<_, String>("run")?) {
            brief.cells.push(read_cell(row)?);
        }
        Ok(())
    })?;
    let mut in_cell = |sql: &str, add: fn(&mut BriefCell, &Row<'_>) -> rusqlite::Result<()>| {
        each(&connection, sql, |row| {
            let number: u32 = row.get("cell")?;
            let brief = found.get_mut(&row.get::<_, String>("run")?).map(|(_, _, brief)| brief);
            let cell = brief.and_then(|brief| brief.cells.iter_mut().find(|cell| cell.cell == number));
            cell.map_or(Ok(()), |cell| add(cell, row))
        })
    };
    in_cell("SELECT * FROM levels ORDER BY rowid", |cell, row| {
        cell.levels.push(read_level(row)?);
        Ok(())
    })?;
    in_cell("SELECT * FROM contrasts ORDER BY rowid", |cell, row| {
        cell.contrasts.push(read_contrast(row)?);
        Ok(())
    })?;
    let all = found.len();
    let whole = found.into_values().filter(|(fingerprint, told, brief)| checksum(fingerprint, brief) == *told);
    let kept: KeptBriefs = whole.map(|(fingerprint, _, brief)| (fingerprint, brief)).collect();
    let damaged = all - kept.len();
    Ok((kept, damaged))
}

fn each(
    connection: &Connection,
    sql: &str,
    mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}

fn store(connection: &mut Connection, made: &[(&str, &Brief)], staying: Option<&[&str]>) -> rusqlite::Result<()> {
    let gone = staying.map(|staying| vanished(connection, staying)).transpose()?.unwrap_or_default();
    if made.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", OURS)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    for run in made.iter().map(|(_, brief)| &brief.run).chain(&gone) {
        for table in TABLES {
            transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
        }
    }
    for (fingerprint, brief) in made {
        insert(&transaction, fingerprint, brief)?;
    }
    transaction.commit()
}

fn vanished(connection: &Connection, staying: &[&str]) -> rusqlite::Result<Vec<String>> {
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    let mut known: BTreeSet<String> = BTreeSet::new();
    if tables > 0 {
        each(connection, "SELECT run FROM runs", |row| {
            known.insert(row.get(0)?);
            Ok(())
        })?;
    }
    Ok(known.into_iter().filter(|run| !staying.contains(&run.as_str())).collect())
}

fn insert(transaction: &Transaction<'_>, fingerprint: &str, brief: &Brief) -> rusqlite::Result<()> {
    let Brief { run, started, study, study_id, state, planned, valid, versions, cells, host } = brief;
    let (state, versions, host, checksum) = (word(state), json(versions), json(host), checksum(fingerprint, brief));
    transaction.execute(
        "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![run, fingerprint, checksum, started, study, study_id, state, planned, valid, versions, host],
    )?;
    let mut add_cell = transaction.prepare("INSERT INTO cells VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let mut add_level =
        transaction.prepare("INSERT INTO levels VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")?;
    let mut add_contrast = transaction.prepare("INSERT INTO contrasts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for BriefCell { cell, contender, coordinates, baseline, wrong_data, stamp, levels, contrasts } in cells {
        let stamp = stamp.as_ref().map(word);
        add_cell.execute(params![run, cell, contender, coordinates, baseline, wrong_data, stamp])?;
        for BriefLevel { measure, estimate, trials } in levels {
            let Measure { id, unit, better, scale } = measure;
            let (low, high, why) = ends(estimate);
            let (unit, better, scale) = (word(unit), word(better), word(scale));
            let (point, method) = (estimate.point, json(&estimate.method));
            let trials = i64::try_from(*trials).unwrap_or(i64::MAX);
            add_level.execute(params![run, cell, id, unit, better, scale, point, low, high, why, method, trials])?;
        }
        for Contrast { measure, scale, estimate, .. } in contrasts {
            let (low, high, why) = ends(estimate);
            let (scale, point, method) = (word(scale), estimate.point, json(&estimate.method));
            add_contrast.execute(params![run, cell, measure, scale, point, low, high, why, method])?;
        }
    }
    Ok(())
}

fn read_brief(row: &Row<'_>) -> rusqlite::Result<Brief> {
    Ok(Brief {
        run: row.get("run")?,
        started: row.get("started")?,
        study: row.get("study")?,
        study_id: row.get("study_id")?,
        state: from_word(row, "state")?,
        planned: row.get("planned")?,
        valid: row.get("valid")?,
        versions: from_json(row, "versions")?,
        cells: Vec::new(),
        host: from_json(row, "host")?,
    })
}

fn read_cell(row: &Row<'_>) -> rusqlite::Result<BriefCell> {
    Ok(BriefCell {
        cell: row.get("cell")?,
        contender: row.get("contender")?,
        coordinates: row.get("coordinates")?,
        baseline: row.get("baseline")?,
        wrong_data: row.get("wrong_data")?,
        stamp: row.get::<_, Option<String>>("stamp")?.map(|_| from_word(row, "stamp")).transpose()?,
        levels: Vec::new(),
        contrasts: Vec::new(),
    })
}

fn read_level(row: &Row<'_>) -> rusqlite::Result<BriefLevel> {
    let (unit, better, scale) = (from_word(row, "unit")?, from_word(row, "better")?, from_word(row, "scale")?);
    let trials = usize::try_from(row.get::<_, i64>("trials")?).unwrap_or_default();
    Ok(BriefLevel {
        measure: Measure { id: row.get("measure")?, unit, better, scale },
        estimate: read_estimate(row)?,
        trials,
    })
}

fn read_contrast(row: &Row<'_>) -> rusqlite::Result<Contrast> {
    let (measure, scale) = (row.get("measure")?, from_word(row, "scale")?);
    Ok(Contrast { measure, scale, estimate: read_estimate(row)?, spread: None, blocks: Vec::new() })
}

fn read_estimate(row: &Row<'_>) -> rusqlite::Result<Estimate> {
    let bounds = match row.get::<_, Option<String>>("why_no_interval")? {
        Some(_) => Bounds::Unknown { why: from_json(row, "why_no_interval")? },
        None => Bounds::Known { low: row.get("low")?, high: row.get("high")? },
    };
    Ok(Estimate { point: row.get("point")?, bounds, method: from_json(row, "method")? })
}

fn ends(estimate: &Estimate) -> (Option<f64>, Option<f64>, Option<String>) {
    match &estimate.bounds {
        Bounds::Known { low, high } => (Some(*low), Some(*high), None),
        Bounds::Unknown { why } => (None, None, Some(json(why))),
    }
}

/// A checksum of everything that was written about a run.
fn checksum(fingerprint: &str, brief: &Brief) -> String {
    hexadecimal(&Sha256::new().chain_update(fingerprint).chain_update(json(brief)).finalize())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_value(value).unwrap_or_default().to_string()
}

/// The word for a value's type, without quotes.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => other.unwrap_or_default().to_string(),
    }
}

fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    parsed(column, serde_json::from_value(Value::String(row.get(column)?)))
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    parsed(column, serde_json::from_str(&row.get::<_, String>(column)?))
}

fn parsed<T>(column: &str, value: serde_json::Result<T>) -> rusqlite::Result<T> {
    value.map_err(|error| {
        let error = io::Error::new(io::ErrorKind::InvalidData, format!("{column}: {error}"));
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}
