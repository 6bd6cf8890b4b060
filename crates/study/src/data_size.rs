//! Checks that loaded data fit on the disk that a study gives them, before anything is loaded.

use crate::typed::ChosenWorkload;
use serde_json::{Map, Value};
use settings::{Bytes, Chosen};

/// A run adds a quarter of the loaded size as new rows and versions, and the log between two checkpoints.
const GROWTH: (u64, u64) = (5, 4);
const LOG_BYTES: u64 = 1 << 30;

const MIB: u64 = 1 << 20;

/// Space that the loaded data of a workload take on an engine, low rather than high. `None` for kinds in no catalog,
/// and for a workload whose data only its user knows.
pub fn data_bytes(engine: &str, kind: &str, table: &Map<String, Value>) -> Option<u64> {
    let chosen = Chosen { kind: kind.to_owned(), settings: table.clone() };
    ChosenWorkload::new(chosen).ok()?.data_bytes(engines::catalog::entry(engine)?)
}

/// The size expected of `machine.disk.size` if this many bytes of data do not fit on the disk.
pub fn misfit(disk_bytes: u64, data_bytes: u64, whose: &str) -> Option<String> {
    if data_bytes.saturating_add(images::data::filesystem_bytes(disk_bytes)) <= disk_bytes {
        return None;
    }
    let (times, of) = GROWTH;
    let room = data_bytes / of * times + if data_bytes > LOG_BYTES { LOG_BYTES } else { 0 };
    // The space added for the file system has overhead of its own.
    let least = Bytes(whole(room + 2 * images::data::filesystem_bytes(room)));
    Some(format!("at least {least}: the loaded data of {whose} take about {}", roughly(data_bytes)))
}

/// Rounds up to a size that people would write.
fn whole(bytes: u64) -> u64 {
    let unit = [1 << 40, 1 << 30, 64 * MIB].into_iter().find(|unit| bytes >= 4 * unit).unwrap_or(64 * MIB);
    bytes.next_multiple_of(unit)
}

/// A size such as "9.8 TiB".
pub fn roughly(bytes: u64) -> String {
    let units = [("TiB", 1_u64 << 40), ("GiB", 1 << 30), ("MiB", MIB)];
    let (unit, size) = units.into_iter().find(|(_, size)| bytes >= *size).unwrap_or(("MiB", MIB));
    format!("{:.1} {unit}", bytes as f64 / size as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_too_small_is_told_one_that_is_not() {
        let told = misfit(64 << 20, 77 << 20, "the workload").unwrap();
        assert_eq!(told, "at least 192 MiB: the loaded data of the workload take about 77.0 MiB");
        assert_eq!(misfit(192 << 20, 77 << 20, ""), None);
        let told = misfit(4 << 30, 10 << 40, "the workload").unwrap();
        assert_eq!(told, "at least 13 TiB: the loaded data of the workload take about 10.0 TiB");
        assert_eq!(misfit(13 << 40, 10 << 40, ""), None);
    }

    #[test]
    fn every_workload_is_larger_the_more_it_holds_on_every_engine() {
        let cases = [
            ("order-entry", r#"[{"warehouses":1},{"warehouses":9}]"#),
            ("slob", r#"[{"scale":16777216},{"scale":167772160}]"#),
            ("sysbench-oltp", r#"[{"table_size":100},{"table_size":1000000}]"#),
        ];
        for (workload, tables) in cases {
            let [small, large]: [Map<String, Value>; 2] = serde_json::from_str(tables).unwrap();
            for engine in engines::catalog::ENGINES {
                let bytes = |table| data_bytes(engine.kind, workload, table).unwrap();
                assert!(bytes(&small) < bytes(&large), "{workload} on {}", engine.kind);
            }
        }
    }
}
