//! The kernel and the distribution around it: versions, command line, clock.

use crate::Readings;
use crate::tree::{Tree, TreeReading};
use sha2::{Digest, Sha256};

const HOST_ID_BYTES: usize = 8;

pub fn facts(tree: &Tree) -> Readings {
    let clock = |name: &str| tree.value(&format!("/sys/devices/system/clocksource/clocksource0/{name}"));
    vec![
        ("kernel.release", tree.value("/proc/sys/kernel/osrelease")),
        ("kernel.version", tree.value("/proc/sys/kernel/version")),
        ("kernel.command_line", tree.value("/proc/cmdline").map(|line| for_the_kernel(&line))),
        ("kernel.clocksource", clock("current_clocksource")),
        ("kernel.clocksources_available", clock("available_clocksource")),
        ("kernel.cpu_isolated_list", listed(tree, "isolated")),
        ("kernel.cpu_without_ticks_list", listed(tree, "nohz_full")),
        ("kernel.timer_hz", timer_hz(tree)),
        ("kernel.io_uring", tree.value("/proc/sys/kernel/io_uring_disabled").map(|level| io_uring(&level))),
        ("kernel.autogroup", tree.value("/proc/sys/kernel/sched_autogroup_enabled").map(|on| on_or_off(&on))),
        ("kernel.watchdog", tree.value("/proc/sys/kernel/watchdog").map(|on| on_or_off(&on))),
        ("system.distribution", distribution(tree)),
        ("system.host_id", tree.value("/etc/machine-id").and_then(|id| host_id(&id))),
        ("system.boot_id", tree.value("/proc/sys/kernel/random/boot_id")),
        ("system.uptime_s", tree.value("/proc/uptime").and_then(|text| whole_seconds(&text))),
    ]
}

/// The id itself is not for everybody to see (machine-id(5)). Its hash identifies the host as well.
fn host_id(machine_id: &str) -> TreeReading {
    if machine_id.is_empty() || !machine_id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("/etc/machine-id holds {machine_id:?}"));
    }
    let hash = Sha256::digest(format!("bakeoff {machine_id}"));
    let head = hash.iter().take(HOST_ID_BYTES).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    Ok(format!("{head:016x}"))
}

pub fn on_or_off(text: &str) -> String {
    if text == "0" { "off" } else { "on" }.to_owned()
}

/// Words after a lone `--` are for the first process. They do not affect us and may contain secrets, so they are left out.
fn for_the_kernel(line: &str) -> String {
    let words = line.split_whitespace().take_while(|word| *word != "--");
    words.collect::<Vec<_>>().join(" ")
}

/// CPUs that were isolated when the kernel started.
fn listed(tree: &Tree, name: &str) -> TreeReading {
    tree.text(&format!("/sys/devices/system/cpu/{name}")).map(|list| none_if_empty(&list))
}

/// For a file that may be empty, which is also an answer. The kernel writes "(null)" for a list that was never made.
pub fn none_if_empty(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text == "(null)" { "none".to_owned() } else { text.to_owned() }
}

/// The kernel's timer frequency, as its build was configured; no file of the running kernel has it.
fn timer_hz(tree: &Tree) -> TreeReading {
    let path = format!("/boot/config-{}", tree.value("/proc/sys/kernel/osrelease")?);
    let text = tree.text(&path)?;
    let hz = text.lines().find_map(|line| line.strip_prefix("CONFIG_HZ="));
    hz.map(ToOwned::to_owned).ok_or_else(|| format!("{path} has no CONFIG_HZ"))
}

fn io_uring(level: &str) -> String {
    match level {
        "0" => "allowed",
        "1" => "for a group and the privileged only",
        _ => "not allowed",
    }
    .to_owned()
}

fn whole_seconds(uptime: &str) -> TreeReading {
    let seconds = uptime.split(['.', ' ']).next().filter(|seconds| seconds.parse::<u64>().is_ok());
    seconds.map(ToOwned::to_owned).ok_or_else(|| format!("/proc/uptime says {uptime:?}"))
}

fn distribution(tree: &Tree) -> TreeReading {
    // The first path is the administrator's, the second the distribution's own.
    let text = tree.text("/etc/os-release").or_else(|_| tree.text("/usr/lib/os-release"));
    let text = text.map_err(|_| "neither /etc/os-release nor /usr/lib/os-release exists".to_owned())?;
    pretty_name(&text).ok_or_else(|| "os-release has no PRETTY_NAME".to_owned())
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_by_a_hash_of_its_id() {
        let id = host_id("0123456789abcdef0123456789abcdef").unwrap();
        assert_eq!((id.len(), id.contains("0123")), (2 * HOST_ID_BYTES, false), "{id}");
        assert_ne!(host_id("0123456789abcdef0123456789abcdee").unwrap(), id);
        assert!(host_id("").is_err() && host_id("uninitialized").is_err());
    }

    #[test]
    fn quotes_around_the_name_are_optional() {
        assert_eq!(pretty_name("ID=debian\nPRETTY_NAME=\"Debian 12\"\n").as_deref(), Some("Debian 12"));
        assert_eq!(pretty_name("PRETTY_NAME=Arch\n").as_deref(), Some("Arch"));
        assert_eq!(pretty_name("ID=debian\n"), None);
    }

    #[test]
    fn words_for_the_first_process_are_left_out() {
        assert_eq!(for_the_kernel("quiet mitigations=auto -- --key 1234"), "quiet mitigations=auto");
        assert_eq!(for_the_kernel("init=/a--b quiet"), "init=/a--b quiet");
    }

    #[test]
    fn uptime_is_cut_to_whole_seconds() {
        assert_eq!(whole_seconds("1283.13 2370.71").as_deref(), Ok("1283"));
        assert!(whole_seconds("soon").is_err());
    }
}
