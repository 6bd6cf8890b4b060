//! Packets, bytes, errors and drops of network interfaces, in both directions (`/proc/net/dev`).
//!
//! They are those of the sampler's network namespace. For an interface that leads into a guest, received is what the
//! guest sent.

use super::{Opening, ProbeReading};
use crate::counter::{Counter, part};
use crate::targets::Interfaces;
use crate::tree::Tree;
use std::collections::BTreeSet;

const DEV: &str = "/proc/net/dev";
const LOOPBACK: &str = "lo";
const INTERFACES: &str = "/sys/class/net";
/// `IFF_UP` of an interface's flags.
const FLAG_UP: u32 = 1;
/// A host with containers has hundreds of interfaces, each of which would have eight columns.
const MOST_UNNAMED: usize = 32;

/// Indexes of the numbers after an interface's name, and their columns.
const FIELDS: [(usize, &str, &str); 8] = [
    (0, "received_bytes", "bytes"),
    (1, "received_packets", ""),
    (2, "received_errors", ""),
    (3, "received_drops", ""),
    (8, "sent_bytes", "bytes"),
    (9, "sent_packets", ""),
    (10, "sent_errors", ""),
    (11, "sent_drops", ""),
];

pub fn opening(tree: &Tree, interfaces: &Interfaces) -> Opening {
    let (interfaces, down) = (interfaces.clone(), down(tree));
    let remedy = "the kernel must have a network, and the named interfaces must be in our namespace and up";
    Opening::new("network", DEV, remedy, move |files| counters(&files.text(DEV)?, &interfaces, &down))
}

/// Interfaces that are down when the probe is opened: kernels create some that nobody uses.
fn down(tree: &Tree) -> BTreeSet<String> {
    let is_down = |name: &String| {
        let flags = tree.value(&format!("{INTERFACES}/{name}/flags")).ok();
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok());
        flags.is_some_and(|flags| flags & FLAG_UP == 0)
    };
    tree.names(INTERFACES).into_iter().filter(is_down).collect()
}

fn counters(text: &str, interfaces: &Interfaces, down: &BTreeSet<String>) -> ProbeReading {
    let lines: Vec<(&str, &str)> = text.lines().skip(2).filter_map(|line| line.trim_start().split_once(':')).collect();
    let is_used = |name: &str| name != LOOPBACK && !down.contains(name);
    let chosen: Vec<(&str, &str)> = match interfaces {
        Interfaces::AllButLoopback => lines.into_iter().filter(|(name, _)| is_used(name)).collect(),
        Interfaces::Named(names) => lines.into_iter().filter(|(name, _)| names.iter().any(|one| one == name)).collect(),
    };
    match interfaces {
        Interfaces::AllButLoopback if chosen.is_empty() => Err("there is no interface but lo that is up".to_owned()),
        Interfaces::AllButLoopback if chosen.len() > MOST_UNNAMED => {
            Err(format!("there are {} interfaces and none is named", chosen.len()))
        }
        Interfaces::Named(names) if chosen.is_empty() => Err(format!("{DEV} has none of {}", names.join(", "))),
        _ => Ok(chosen.into_iter().flat_map(|(name, numbers)| of_interface(name, numbers)).collect()),
    }
}

fn of_interface(name: &str, numbers: &str) -> Vec<Counter> {
    let numbers: Vec<u64> = numbers.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let counter = |(place, field, unit): (usize, &str, &'static str)| {
        Some(Counter::counts(format!("network.{}.{field}", part(name)), unit, *numbers.get(place)?))
    };
    FIELDS.into_iter().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18; old kernels write no space after the colon.
    const TEXT: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 5955562101 15143501    0    0    0     0          0         0 5955562101 15143501    0    0    0     0       0          0
  eth0:6369838634  145753    1    2    0     0          0         0  6929741   83288    3    4    0     0       0          0
";

    fn none() -> BTreeSet<String> {
        BTreeSet::new()
    }

    #[test]
    fn interfaces_that_are_switched_off_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        for (name, flags) in [("lo", "0x9\n"), ("eth0", "0x1003\n"), ("ifb0", "0x82\n"), ("odd", "x\n")] {
            let folder = root.path().join("sys/class/net").join(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("flags"), flags).unwrap();
        }
        assert_eq!(down(&Tree::new(root.path())), ["ifb0".to_owned()].into());
        let why = counters(TEXT, &Interfaces::AllButLoopback, &["eth0".to_owned()].into());
        assert_eq!(why, Err("there is no interface but lo that is up".to_owned()));
    }

    #[test]
    fn both_ways_without_loopback() {
        let found = counters(TEXT, &Interfaces::AllButLoopback, &none()).unwrap();
        let values: Vec<u64> = found.iter().map(|counter| counter.value).collect();
        assert_eq!(values, [6_369_838_634, 145_753, 1, 2, 6_929_741, 83_288, 3, 4]);
        assert_eq!(found[5], Counter::counts("network.eth0.sent_packets", "", 83_288));
    }

    #[test]
    fn loopback_only_if_named() {
        let found = counters(TEXT, &Interfaces::Named(vec!["lo".to_owned()]), &none()).unwrap();
        assert_eq!(found[1], Counter::counts("network.lo.received_packets", "", 15_143_501));
        let missing = Interfaces::Named(vec!["tap0".to_owned()]);
        assert_eq!(counters(TEXT, &missing, &none()), Err("/proc/net/dev has none of tap0".to_owned()));
        let many: Vec<String> = (0..40).map(|number| format!("veth{number}: 1 2 3\n")).collect();
        assert!(
            counters(&format!("\n\n{}", many.concat()), &Interfaces::AllButLoopback, &none())
                .unwrap_err()
                .contains("40 interfaces")
        );
    }
}
