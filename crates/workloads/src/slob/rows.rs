//! The tables: each schema has one that is read and updated by key, and one that is scanned. And the initial rows: those of a schema are a permutation of its keys, so that neighbours by key lie in pages far apart.
//!
//! The permutation needs no memory: the key of any place can be computed, and any part of a table can be made by
//! itself. Text has a stream named by schema, table and key, so a row has the same bytes wherever it lies.

use super::settings::SlobSettings;
use crate::dataset::{DataTable, RowSource, TablePart};
use crate::random::RandomStream;
use engines::rows::RowSink;
use std::borrow::Cow;
use std::ops::Range;

/// Text columns of a row, c2 to c20.
pub const COLUMNS: usize = 19;
/// Letters in each of them.
pub const LETTERS: usize = 128;
/// The letter of text that is not random.
pub const FILLER: u8 = b'X';
/// Rows written by one call of [`RowSource::fill`].
const ROWS_PER_FILL: usize = 64;
/// Rounds of the permutation. After four, nothing here can distinguish its results from random ones.
const ROUNDS: usize = 4;

/// In the order in which rows are made.
const COLUMN_NAMES: &[&str] = &[
    "custid", "changes", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15",
    "c16", "c17", "c18", "c19", "c20",
];

/// The purpose of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TablePurpose {
    /// Read and updated at random places.
    Ranges,
    /// Read from one end to the other, and never changed.
    Scans,
}

/// The table of a schema; schemas are counted from 1.
pub fn name(schema: u32, purpose: TablePurpose) -> String {
    match purpose {
        TablePurpose::Ranges => format!("slob{schema}"),
        TablePurpose::Scans => format!("slob{schema}_scan"),
    }
}

/// Those for scans come first: they are small, so mistakes show early.
pub fn tables(schemas: u32) -> Vec<DataTable> {
    let of = |purpose| (1..=schemas).map(move |schema| name(schema, purpose));
    let names = of(TablePurpose::Scans).chain(of(TablePurpose::Ranges));
    names.map(|name| DataTable { name: Cow::Owned(name), columns: COLUMN_NAMES, key: &["custid"] }).collect()
}

/// Schema and purpose of a table by its name.
pub fn parse(name: &str) -> Option<(u32, TablePurpose)> {
    let rest = name.strip_prefix("slob")?;
    let (number, purpose) = match rest.strip_suffix("_scan") {
        Some(number) => (number, TablePurpose::Scans),
        None => (rest, TablePurpose::Ranges),
    };
    Some((number.parse().ok()?, purpose))
}

/// The rows of one part of a table.
pub fn rows(settings: &SlobSettings, table: &str, part: TablePart) -> Box<dyn RowSource> {
    let (schema, purpose) = parse(table).filter(|(schema, _)| (1..=settings.schemas).contains(schema)).unzip();
    let purpose = purpose.unwrap_or(TablePurpose::Scans);
    let count = if schema.is_some() { rows_of(settings, purpose) } else { 0 };
    Box::new(BlockRows {
        left: part.chunks(u64::from(count)),
        order: BlockOrder::new(settings.data_seed, schema.unwrap_or_default(), purpose, count),
        seed: settings.data_seed,
        schema: schema.unwrap_or_default(),
        purpose,
        random: settings.obfuscate_columns,
    })
}

pub fn rows_of(settings: &SlobSettings, purpose: TablePurpose) -> u32 {
    match purpose {
        TablePurpose::Ranges => settings.scale,
        TablePurpose::Scans => settings.scan_table_sz,
    }
}

struct BlockRows {
    left: Range<u64>,
    order: BlockOrder,
    seed: u64,
    schema: u32,
    purpose: TablePurpose,
    random: bool,
}

impl BlockRows {
    fn write(&self, place: u64, sink: &mut dyn RowSink) {
        let key = self.order.key(place);
        sink.integer(i64::from(key));
        sink.integer(0);
        let mut text = [FILLER; LETTERS];
        let purpose = match self.purpose {
            TablePurpose::Ranges => "slob range text",
            TablePurpose::Scans => "slob scan text",
        };
        let mut stream = self.random.then(|| RandomStream::new(self.seed, purpose, [self.schema, key]));
        for _ in 0..COLUMNS {
            if let Some(stream) = &mut stream {
                stream.alphanumeric(&mut text);
            }
            sink.text(std::str::from_utf8(&text).unwrap_or_default());
        }
        sink.end_row();
    }
}

impl RowSource for BlockRows {
    fn fill(&mut self, sink: &mut dyn RowSink) -> bool {
        for _ in 0..ROWS_PER_FILL {
            let Some(place) = self.left.next() else { return false };
            self.write(place, sink);
        }
        true
    }
}

/// The key at each place: a random permutation of `1..=count`.
///
/// A Feistel network permutes all numbers of twice as many bits as its halves have. A result beyond the count is
/// permuted again until it falls within. There are at most four times `count` such numbers, so that takes few turns.
struct BlockOrder {
    count: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl BlockOrder {
    fn new(seed: u64, schema: u32, purpose: TablePurpose, count: u32) -> Self {
        let name = match purpose {
            TablePurpose::Ranges => "slob range order",
            TablePurpose::Scans => "slob scan order",
        };
        let mut stream = RandomStream::new(seed, name, [schema, 0]);
        let bits = u64::BITS - u64::from(count).leading_zeros();
        Self { count: u64::from(count), half_bits: bits.div_ceil(2).max(1), keys: [(); ROUNDS].map(|()| stream.bits()) }
    }

    /// Key of the row at a place that is counted from 0.
    fn key(&self, place: u64) -> u32 {
        let mut value = self.permute(place);
        while value >= self.count {
            value = self.permute(value);
        }
        // The value is below the count, which has 32 bits.
        u32::try_from(value + 1).unwrap_or(u32::MAX)
    }

    fn permute(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mixed(right ^ key) & mask));
        }
        (left << self.half_bits) | right
    }
}

/// Spreads every bit over all bits (the finalizer of `MurmurHash3`).
fn mixed(mut value: u64) -> u64 {
    value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::{TextRows, of_source};
    use proptest::prelude::*;

    fn settings(scale: u32, random: bool) -> SlobSettings {
        let mut settings: SlobSettings =
            ::settings::read(&serde_json::Map::new(), super::super::settings::KEYS).unwrap();
        (settings.schemas, settings.scale, settings.obfuscate_columns) = (2, scale, random);
        settings
    }

    fn text(settings: &SlobSettings, table: &str, part: TablePart) -> String {
        let (mut text, mut source) = (TextRows::default(), rows(settings, table, part));
        while source.fill(&mut text) {}
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    const WHOLE: TablePart = TablePart { index: 0, count: 1 };

    #[test]
    fn golden_rows() {
        let plain = text(&settings(1_024, false), "slob1", WHOLE);
        let keys: Vec<&str> = plain.lines().take(8).map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(keys, ["385", "961", "829", "8", "399", "544", "901", "69"]);
        let x = "X".repeat(LETTERS);
        let first = plain.lines().next().unwrap();
        assert_eq!(first, format!("{}\t0{}", keys[0], format!("\t{x}").repeat(COLUMNS)));
        let random = text(&settings(1_024, true), "slob1", WHOLE);
        let cells: Vec<&str> = random.lines().next().unwrap().split('\t').collect();
        assert_eq!((cells[0], cells.len()), (keys[0], COLUMNS + 2));
        assert_eq!(&cells[2][..24], "g1v7pEzojl1TQcCqs2UAdJ6V");
        assert!(cells[2..].iter().all(|cell| cell.len() == LETTERS));
    }

    #[test]
    fn golden_checksums() {
        let sums = ["slob1", "slob2", "slob2_scan"].map(|table| {
            let sum = of_source(rows(&settings(2_000, true), table, WHOLE).as_mut());
            (sum.rows, format!("{:016x}", sum.sum))
        });
        let sums: Vec<(u64, &str)> = sums.iter().map(|(rows, sum)| (*rows, sum.as_str())).collect();
        assert_eq!(sums, [(2_000, "9ac1bd7693a15718"), (2_000, "24f8a7cf18900dfa"), (128, "0aaca3be0523abf7")]);
    }

    #[test]
    fn neighbours_by_key_are_no_neighbours_by_place() {
        let order = BlockOrder::new(42, 1, TablePurpose::Ranges, 100_000);
        let keys: Vec<i64> = (0..100_000).map(|place| i64::from(order.key(place))).collect();
        let neighbours = keys.windows(2).filter(|pair| (pair[0] - pair[1]).abs() == 1).count();
        // A random permutation has two such pairs on average, with a Poisson distribution.
        assert!(neighbours <= 10, "{neighbours}");
        // The lower half of the keys is spread evenly over the quarters of the places.
        for quarter in keys.chunks(25_000) {
            let low = quarter.iter().filter(|key| **key <= 50_000).count() as f64;
            assert!((low - 12_500.0).abs() < 5.0 * 79.0, "{low}");
        }
    }

    #[test]
    fn a_table_of_another_workload_has_no_rows() {
        assert_eq!(text(&settings(1_024, false), "slob3", WHOLE), "");
        assert_eq!(text(&settings(1_024, false), "warehouse", WHOLE), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn every_key_has_one_place(seed: u64, count in 1_u32..3_000) {
            let order = BlockOrder::new(seed, 1, TablePurpose::Ranges, count);
            let mut keys: Vec<u32> = (0..u64::from(count)).map(|place| order.key(place)).collect();
            keys.sort_unstable();
            prop_assert_eq!(keys, (1..=count).collect::<Vec<_>>());
        }

    }

    proptest! {
        // Each makes a megabyte of rows several times.
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn any_split_gives_the_same_rows(count in 1_u32..20, scale in 1_024_u32..1_200) {
            let settings = settings(scale, true);
            let parts: String = (0..count).map(|index| text(&settings, "slob2", TablePart { index, count })).collect();
            prop_assert_eq!(parts, text(&settings, "slob2", WHOLE));
        }
    }

    #[test]
    fn names_are_told_apart_again() {
        let names: Vec<String> = tables(2).into_iter().map(|table| table.name.into_owned()).collect();
        assert_eq!(names, ["slob1_scan", "slob2_scan", "slob1", "slob2"]);
        assert_eq!(parse("slob2_scan"), Some((2, TablePurpose::Scans)));
        assert_eq!(parse("slob12"), Some((12, TablePurpose::Ranges)));
        assert_eq!(parse("slobs"), None);
        assert_eq!(parse("order_line"), None);
    }
}
