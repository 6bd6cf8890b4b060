//! What a running QEMU made of what was asked for. Whoever started it, it is asked in the same way.

use super::command::{Accelerator, GuestDisk};
use super::monitor::Monitor;
use super::monitor::QmpError;
use super::settings::{DiskCache, DiskSettings};
use machines::machine::Decisions;
use serde_json::{Value, json};

/// What was asked for.
pub struct AskedGuest<'a> {
    /// QEMU's version.
    pub version: &'a str,
    pub accelerator: Accelerator,
    /// Why it is this accelerator; follows a comma.
    pub why: &'a str,
    pub cpu: &'a str,
    pub huge_pages: bool,
    pub disk: DiskSettings,
    pub data: Option<&'a GuestDisk>,
    /// Whether this is the block node that opened the data's file or device.
    pub is_file_node: &'a dyn Fn(&Value) -> bool,
}

/// The actual value of each requested property, if QEMU reports it.
pub fn read_back(qmp: &mut dyn Monitor, asked: &AskedGuest<'_>) -> Result<Decisions, QmpError> {
    let mut decided = Decisions::new();
    let mut say = |what: &str, answer| decided.insert(what.to_owned(), answer);
    say("qemu", Ok(asked.version.to_owned()));
    let kvm = qmp.execute("query-kvm", json!({}))?;
    let is_kvm = kvm["enabled"] == true;
    let is_as_chosen = is_kvm == (asked.accelerator == Accelerator::Kvm);
    let accelerator = asked.accelerator.name().to_owned();
    say("accelerator", if is_as_chosen { Ok(accelerator) } else { Err(format!("QEMU answers {kvm}")) });
    say("processor", Ok(format!("{}, {}", if is_kvm { "virtual" } else { "emulated" }, asked.why)));
    say("cpu", Ok(asked.cpu.to_owned()));
    let of_machine = json!({ "path": "/machine", "property": "type" });
    let machine = qmp.execute("qom-get", of_machine)?;
    say("machine type", machine.as_str().map(str::to_owned).ok_or_else(|| format!("QEMU answers {machine}")));
    let memory = qmp.execute("query-memory-size-summary", json!({}))?;
    let bytes = memory["base-memory"].as_u64().unwrap_or(0);
    let pages = if asked.huge_pages { "2 MiB pages" } else { "ordinary pages" };
    say("memory", Ok(format!("{bytes} bytes in {pages}")));
    let disk = asked.disk;
    let nodes = qmp.execute("query-named-block-nodes", json!({ "flat": true }))?;
    say("disk cache", cache_read_back(&nodes, asked.is_file_node, disk.cache));
    let thread = if disk.iothread { "on a thread of its own" } else { "on QEMU's main thread" };
    say("disk", Ok(format!("{}, aio {}, {thread}", disk.adapter.name(), disk.aio.name())));
    say("data", Ok(data_words(asked.data)));
    let twice = if disk.cache.is_direct() { "no" } else { "yes" };
    say("data cached twice", Ok(format!("{twice}, as QEMU's cache {} has it", disk.cache.name())));
    Ok(decided)
}

fn data_words(data: Option<&GuestDisk>) -> String {
    match data {
        Some(disk) if disk.is_device => format!("ext4 on the block device {}", disk.path.display()),
        _ => "ext4 in an image file".to_owned(),
    }
}

/// Compares QEMU's actual cache settings with the requested ones.
fn cache_read_back(nodes: &Value, is_it: &dyn Fn(&Value) -> bool, cache: DiskCache) -> Result<String, String> {
    let node = nodes.as_array().and_then(|nodes| nodes.iter().find(|node| is_it(node)));
    let Some(node) = node else { return Err("QEMU has no such disk".to_owned()) };
    let (direct, no_flush) = (&node["cache"]["direct"], &node["cache"]["no-flush"]);
    if *direct == cache.is_direct() && *no_flush == cache.ignores_flushes() {
        Ok(cache.name().to_owned())
    } else {
        Err(format!("{} was asked for, QEMU has direct {direct}, no-flush {no_flush}", cache.name()))
    }
}

/// The limits that are set, as QEMU reports them.
pub fn limit_words(limits: &Value) -> String {
    let known = [("iops-total", "operations/s"), ("bps-total", "bytes/s")];
    let set = known.iter().filter_map(|(name, unit)| {
        let limit = limits[name].as_u64().filter(|limit| *limit > 0)?;
        Some(format!("{limit} {unit}"))
    });
    set.collect::<Vec<_>>().join(", ")
}
