//! Limits of what a record may contain: sizes of files, lengths of lines, and ranges of numbers.
//!
//! Each limit is far beyond what bakeoff writes and far below what would overflow a sum, fill the memory or take for ever.
//! So a damaged or forged record causes an error that names its file, and code that uses the record need not check again.

use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// JSON files. The largest is a plan of as many trials as a study may have, which is a tenth of this.
pub const JSON_BYTES: u64 = 64 << 20;
/// A log of latencies or a table of samples: a day of each is about half of this.
pub const SERIES_BYTES: u64 = 2 << 30;
/// A line of those files. A histogram with every possible value takes a tenth of this.
pub const LINE_BYTES: u64 = 1 << 20;
/// Counts in all histograms of a log, and values in all samples of a table; each takes 16 bytes of memory.
pub const SERIES_NUMBERS: usize = 256 << 20;
/// Seconds of one trial: a study may ask for at most a day of warm-up and a measured day.
pub const SECONDS: usize = 200_000;
/// Entries of one list or table in a JSON file.
const ENTRIES: usize = 200_000;
/// Findings of one trial, and kinds of its transactions.
pub const FINDINGS: usize = 10_000;
pub const KINDS: usize = 256;
/// A warm-up, a measured window, or the span that a throughput figure is for.
const WINDOW_MS: f64 = 2.0 * 24.0 * 3_600_000.0;
/// Readings of clocks, and the difference of two: this many nanoseconds are 73 years.
pub const LARGEST_READING: u64 = 1 << 61;
/// Sizes and CPU times, which are added up over the machines of a trial: 128 PiB, or four years.
pub const LARGEST_TOTAL: u64 = 1 << 57;
/// The length of a phase: 99 days.
const LONGEST_PHASE_MS: u64 = 1 << 33;
/// All other numbers, which are added up over all trials: 10¹⁵ and a little more.
pub const LARGEST: u64 = 1 << 50;
/// Keys that may exceed [`LARGEST`]: clocks of machines that have been up for two weeks do.
const READINGS: [&str; 5] = ["at_ns", "took_ns", "window_start_ns", "offset_ns", "round_trip_ns"];
/// Keys that are passed on unchecked: a seed, tables as a study wrote them, and a database's own counters, some of
/// which reach the largest possible number.
const PASSED_ON: [&str; 7] = ["seed", "settings", "sweep", "workload", "counters", "before", "after"];

/// Opens a file for reading; an error if it is not a file or is larger than this.
pub fn open(path: &Path, most_bytes: u64) -> io::Result<BufReader<File>> {
    // Opening a pipe would wait for a writer.
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if about.len() > most_bytes {
        return Err(io::Error::other(too_large(most_bytes)));
    }
    Ok(BufReader::new(File::open(path)?))
}

/// Reads a whole file.
pub fn read(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    open(path, most_bytes)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes { Err(io::Error::other(too_large(most_bytes))) } else { Ok(bytes) }
}

fn too_large(most_bytes: u64) -> String {
    format!("it is larger than {} MiB, and nothing that bakeoff writes is", most_bytes >> 20)
}

/// The lines of a text, one after the other, with their line breaks.
pub struct Lines<R> {
    text: R,
    line: Vec<u8>,
    /// The number of the line that was read last.
    pub number: usize,
    read_bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn of(text: R) -> Self {
        Self { text, line: Vec::new(), number: 0, read_bytes: 0 }
    }

    /// Returns `None` after the last line.
    pub fn next_line(&mut self) -> Result<Option<&str>, String> {
        self.line.clear();
        self.number += 1;
        let read = (&mut self.text).take(LINE_BYTES + 1).read_until(b'\n', &mut self.line);
        let wrong = |why: String| format!("line {}: {why}", self.number);
        let bytes = read.map_err(|error| wrong(error.to_string()))? as u64;
        self.read_bytes = self.read_bytes.saturating_add(bytes);
        if bytes > LINE_BYTES {
            return Err(wrong(format!("longer than {} KiB, and no line that bakeoff writes is", LINE_BYTES >> 10)));
        }
        if self.read_bytes > SERIES_BYTES {
            return Err(too_large(SERIES_BYTES));
        }
        let line = std::str::from_utf8(&self.line).map_err(|error| wrong(format!("not UTF-8 text: {error}")))?;
        Ok(Some(line).filter(|line| !line.is_empty()))
    }
}

/// The first number or list of a JSON file that is out of its range, with its name and the range.
pub fn out_of_range(value: &Value) -> Option<String> {
    beyond("", "", value)
}

fn beyond(path: &str, name: &str, value: &Value) -> Option<String> {
    let below = |path: &str, key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Number(number) => {
            let (least, most) = range(name);
            let found = number.as_f64().unwrap_or(f64::INFINITY);
            let is_in_range = (least..=most).contains(&found);
            (!is_in_range).then(|| format!("{path} is {number}; it must be {least} to {most}"))
        }
        Value::Array(list) if list.len() > ENTRIES => Some(too_many(path, list.len(), ENTRIES)),
        Value::Array(list) => {
            list.iter().enumerate().find_map(|(place, one)| beyond(&format!("{path}[{place}]"), name, one))
        }
        Value::Object(table) if table.len() > ENTRIES => Some(too_many(path, table.len(), ENTRIES)),
        Value::Object(table) => table
            .iter()
            .filter(|(key, _)| !PASSED_ON.contains(&key.as_str()))
            .find_map(|(key, one)| beyond(&below(path, key), key, one)),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

pub fn too_many(what: &str, found: usize, most: usize) -> String {
    format!("{what} has {found} entries; it must have at most {most}")
}

/// Numbers that must not be negative have an unsigned type, which ensures that.
fn range(name: &str) -> (f64, f64) {
    let up_to = |most: u64| (-(most as f64), most as f64);
    match name {
        "per_ms" => (1.0, WINDOW_MS),
        "warmup_ms" | "measured_ms" => (0.0, WINDOW_MS),
        "length_ms" => up_to(LONGEST_PHASE_MS),
        name if READINGS.contains(&name) => up_to(LARGEST_READING),
        name if name == "cpu_ns" || name.ends_with("_bytes") => up_to(LARGEST_TOTAL),
        _ => up_to(LARGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let driver = |key: &str, value: Value| json!({ "driver": { key: value } });
        let told = |value: &Value| out_of_range(value).unwrap_or_default();
        assert_eq!(
            told(&driver("measured_ms", json!(u64::MAX))),
            "driver.measured_ms is 18446744073709551615; it must be 0 to 172800000"
        );
        assert!(told(&driver("window_start_ns", json!(u64::MAX))).contains("window_start_ns"));
        assert!(
            told(&driver("kinds", json!([{ "committed": 1 }, { "committed": 1e17 }]))).contains("kinds[1].committed")
        );
        assert_eq!(told(&json!({ "per_ms": 0 })), "per_ms is 0; it must be 1 to 172800000");
        assert!(told(&json!({ "each_second": vec![0; ENTRIES + 1] })).contains("at most 200000"));
    }

    #[test]
    fn a_clock_after_years_and_a_seed_are_in_range() {
        let fine = json!({
            "seed": u64::MAX, "workload": { "seed": u64::MAX }, "offset_ns": -300_000_000_000_000_000_i64,
            "at_ns": 300_000_000_000_000_000_u64, "memory_bytes": 1_u64 << 55
        });
        assert_eq!(out_of_range(&fine), None);
    }

    #[test]
    fn a_line_without_an_end_is_not_read_to_it() {
        let endless = BufReader::new(io::repeat(b'a'));
        assert!(Lines::of(endless).next_line().unwrap_err().contains("longer than 1024 KiB"));
        let mut lines = Lines::of(&b"one\ntwo"[..]);
        assert_eq!(lines.next_line(), Ok(Some("one\n")));
        assert_eq!(lines.next_line(), Ok(Some("two")));
        assert_eq!(lines.number, 2);
        assert_eq!(lines.next_line(), Ok(None));
        assert!(Lines::of(&b"\xff\n"[..]).next_line().unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn a_file_that_is_none_or_too_large_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path(), 10).unwrap_err().to_string().contains("not a file"));
        assert!(read(Path::new("/dev/zero"), 10).unwrap_err().to_string().contains("not a file"));
        let path = folder.path().join("a.json");
        std::fs::write(&path, [b' '; 11]).unwrap();
        assert!(read(&path, 10).unwrap_err().to_string().contains("larger than"));
        assert_eq!(read(&path, 11).unwrap().len(), 11);
    }
}
