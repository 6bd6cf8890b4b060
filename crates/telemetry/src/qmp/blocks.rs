//! What QEMU's block devices did for the guest (`query-blockstats`), a layer between the guest's counters and the host's.

use crate::counter::{Counter, part};
use record::telemetry::Behaviour::{self, Counts, Stands};
use serde_json::Value;

/// QEMU's names and ours.
const FIELDS: [(&str, &str, &str, Behaviour); 16] = [
    ("rd_operations", "reads", "", Counts),
    ("rd_merged", "reads_merged", "", Counts),
    ("rd_bytes", "read_bytes", "bytes", Counts),
    ("rd_total_time_ns", "read_time", "ns", Counts),
    ("wr_operations", "writes", "", Counts),
    ("wr_merged", "writes_merged", "", Counts),
    ("wr_bytes", "write_bytes", "bytes", Counts),
    ("wr_total_time_ns", "write_time", "ns", Counts),
    ("flush_operations", "flushes", "", Counts),
    ("flush_total_time_ns", "flush_time", "ns", Counts),
    ("unmap_operations", "discards", "", Counts),
    ("unmap_bytes", "discard_bytes", "bytes", Counts),
    ("failed_rd_operations", "failed_reads", "", Counts),
    ("failed_wr_operations", "failed_writes", "", Counts),
    ("failed_flush_operations", "failed_flushes", "", Counts),
    ("wr_highest_offset", "highest_offset_written", "bytes", Stands),
];

/// Parses the answer of `query-blockstats`: `qemu_disk.data.reads` is for the device with the block node `data`.
pub fn block_counters(answer: &Value) -> Result<Vec<Counter>, String> {
    let devices = answer.as_array().ok_or_else(|| format!("QEMU's block devices are given as {answer}"))?;
    Ok(devices.iter().filter(|device| device["qdev"].is_string()).flat_map(of_device).collect())
}

/// The counters of one device. Nodes without a device are layers of others; the caller leaves them out.
fn of_device(device: &Value) -> Vec<Counter> {
    let named = ["node-name", "device", "qdev"].into_iter().filter_map(|key| device[key].as_str());
    let Some(label) = named.into_iter().find(|name| !name.is_empty()).map(part) else { return Vec::new() };
    let counter = |(key, name, unit, behaviour): (&str, &str, &'static str, Behaviour)| {
        let value = device["stats"][key].as_u64()?;
        Some(Counter { name: format!("qemu_disk.{label}.{name}"), unit: unit.into(), behaviour, value })
    };
    FIELDS.into_iter().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Recorded from QEMU 7.2.
    const RECORDED: &str = include_str!("../../tests/qmp/blockstats.json");

    #[test]
    fn a_device_goes_by_its_block_node() {
        let mut answer: Value = serde_json::from_str(RECORDED).unwrap();
        answer[0]["stats"]["rd_operations"] = json!(12);
        answer[0]["stats"]["rd_bytes"] = json!(49_152);
        let found = block_counters(&answer).unwrap();
        assert_eq!(found.len(), FIELDS.len());
        assert_eq!(found[0], Counter::counts("qemu_disk.data.reads", "", 12));
        assert_eq!(found[2], Counter::counts("qemu_disk.data.read_bytes", "bytes", 49_152));
    }

    #[test]
    fn layers_are_left_out_and_old_qemu_says_less() {
        let answer = json!([
            { "device": "drive0", "qdev": "/machine/peripheral/x", "stats": { "rd_operations": 3 } },
            { "node-name": "file", "stats": { "rd_operations": 4 } }
        ]);
        assert_eq!(block_counters(&answer), Ok(vec![Counter::counts("qemu_disk.drive0.reads", "", 3)]));
        assert!(block_counters(&json!(1)).is_err());
    }
}
