//! Commits in a folder one after another, and prints how many microseconds each took: the load of `cargo xtask bench disk`.
//!
//! Arguments: `fdatasync` (8 KiB written to a file that has its size already, then flushed) or `sqlite` (a row inserted, WAL and
//! FULL), the folder, how many.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "its output is the times")]

mod marker;

use marker::marker;
use rusqlite::Connection;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

const BLOCK_BYTES: usize = 8192;
/// The file is written over from its beginning when its end is reached.
const BLOCKS: u64 = 256;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, folder, count] = &words[..] else { panic!("three arguments, not {words:?}") };
    let (folder, count) = (Path::new(folder), count.parse().unwrap());
    let path = folder.join(format!("{what}-{}", std::process::id()));
    match what.as_str() {
        "fdatasync" => flushed_blocks(&path, count),
        "sqlite" => inserted_rows(&path, count),
        other => panic!("commits of `{other}` are not known"),
    }
    std::fs::remove_file(path).unwrap();
}

fn flushed_blocks(path: &Path, count: u32) {
    let file = File::create_new(path).unwrap();
    (0..BLOCKS).for_each(|block| file.write_all_at(&[1; BLOCK_BYTES], block * BLOCK_BYTES as u64).unwrap());
    file.sync_all().unwrap();
    each(count, |number| {
        file.write_all_at(&[2; BLOCK_BYTES], u64::from(number) % BLOCKS * BLOCK_BYTES as u64).unwrap();
        file.sync_data().unwrap();
    });
}

fn inserted_rows(path: &Path, count: u32) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.pragma_update(None, "synchronous", "FULL").unwrap();
    connection.execute("CREATE TABLE done (number INTEGER PRIMARY KEY, words TEXT)", ()).unwrap();
    each(count, |number| {
        // Twice, as in a trial's receipts.
        let words = marker(number.into()).repeat(2);
        connection.execute("INSERT INTO done VALUES (?1, ?2)", (number, words)).unwrap();
    });
}

fn each(count: u32, mut commit: impl FnMut(u32)) {
    for number in 0..count {
        let begun = Instant::now();
        commit(number);
        println!("{:.1}", begun.elapsed().as_secs_f64() * 1e6);
    }
}
