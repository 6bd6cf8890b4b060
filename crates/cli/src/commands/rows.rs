//! `bakeoff rows`: the generated rows of a table, without any database.

use crate::arguments::RowsOptions;
use crate::commands::workload;
use crate::display::print;
use crate::exit::{EndedWith, Exit};
use anyhow::{Context, Result};
use std::io::Write;
use workloads::dataset::{DataTable, Dataset, TablePart};

/// Rows are written in pieces of about this size.
const PIECE_BYTES: usize = 1 << 20;
/// Parts of a table that are summed in parallel.
const CHECKSUM_THREADS: u32 = 4;

pub fn rows(options: &RowsOptions) -> Result<Exit> {
    let workload = workload::made(&options.workload, &options.set)?.made;
    let dataset = workload.dataset();
    let Some(name) = &options.table else {
        print(&tables(dataset, options.checksum));
        return Ok(Exit::Done);
    };
    let table = dataset.tables().iter().find(|table| table.name == *name).ok_or_else(|| {
        let known: Vec<_> = dataset.tables().iter().map(|table| &*table.name).collect();
        EndedWith::bad_input(format!("{} has no table {name:?}; it has {}", options.workload, known.join(", ")))
    })?;
    if options.checksum {
        print(&checksum_line(dataset, table));
        return Ok(Exit::Done);
    }
    let part = part(options.part.as_deref())?;
    // It is no failure if a reader closes its end early (`| head`).
    match write_rows(dataset, table, part) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        result => result.map(|()| Exit::Done).context("writing rows"),
    }
}

fn tables(dataset: &dyn Dataset, checksum: bool) -> String {
    let line = |table: &DataTable| {
        if checksum {
            checksum_line(dataset, table)
        } else {
            format!("{:<12} {:>10} rows  {}\n", table.name, dataset.expected_rows(table), table.columns.join(" "))
        }
    };
    dataset.tables().iter().map(line).collect()
}

fn checksum_line(dataset: &dyn Dataset, table: &DataTable) -> String {
    let sum = workloads::checksum::expected(dataset, table, CHECKSUM_THREADS);
    format!("{:<12} {:>10} rows  {:016x}\n", table.name, sum.rows, sum.sum)
}

/// "2/4" is the second of four parts.
fn part(text: Option<&str>) -> Result<TablePart> {
    let Some(text) = text else { return Ok(TablePart { index: 0, count: 1 }) };
    let parsed = text.split_once('/').and_then(|(number, count)| {
        let (number, count) = (number.parse::<u32>().ok()?, count.parse::<u32>().ok()?);
        (1..=count).contains(&number).then(|| TablePart { index: number - 1, count })
    });
    Ok(parsed
        .ok_or_else(|| EndedWith::bad_input(format!("--part {text:?}: expected N/M with 1 ≤ N ≤ M, as in 2/4")))?)
}

fn write_rows(dataset: &dyn Dataset, table: &DataTable, part: TablePart) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut text = workloads::checksum::TextRows::default();
    let mut source = dataset.rows(&table.name, part);
    loop {
        let more = source.fill(&mut text);
        if text.bytes().len() >= PIECE_BYTES || !more {
            out.write_all(text.bytes())?;
            text.clear();
        }
        if !more {
            return out.flush();
        }
    }
}
