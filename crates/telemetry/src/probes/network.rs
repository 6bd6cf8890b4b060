//! Packets, bytes, errors and drops of network interfaces, both ways (`/proc/net/dev`).
//!
//! They are those of the network namespace that the sampler is in. Of an interface that leads into a guest, received is
//! what the guest sent.

use super::{Counters, Opening};
use crate::counter::{Counter, part};
use crate::targets::Interfaces;

const DEV: &str = "/proc/net/dev";
const LOOPBACK: &str = "lo";
/// A host of containers has hundreds, and each would have eight columns.
const MOST_UNNAMED: usize = 32;

/// Places of the numbers after an interface's name, and what they are.
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

pub fn opening(interfaces: &Interfaces) -> Opening {
    let interfaces = interfaces.clone();
    let remedy = "the kernel must have a network, and the named interfaces must be in our namespace";
    Opening::new("network", DEV, remedy, move |files| counters(&files.text(DEV)?, &interfaces))
}

fn counters(text: &str, interfaces: &Interfaces) -> Counters {
    let lines: Vec<(&str, &str)> = text.lines().skip(2).filter_map(|line| line.trim_start().split_once(':')).collect();
    let chosen: Vec<(&str, &str)> = match interfaces {
        Interfaces::AllButLoopback => lines.into_iter().filter(|(name, _)| *name != LOOPBACK).collect(),
        Interfaces::Named(names) => lines.into_iter().filter(|(name, _)| names.iter().any(|one| one == name)).collect(),
    };
    match interfaces {
        Interfaces::AllButLoopback if chosen.is_empty() => Err("there is no interface but lo".to_owned()),
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

    /// As recorded on Linux 6.18; old kernels leave no space behind the colon.
    const TEXT: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 5955562101 15143501    0    0    0     0          0         0 5955562101 15143501    0    0    0     0       0          0
  eth0:6369838634  145753    1    2    0     0          0         0  6929741   83288    3    4    0     0       0          0
";

    #[test]
    fn both_ways_without_loopback() {
        let found = counters(TEXT, &Interfaces::AllButLoopback).unwrap();
        let values: Vec<u64> = found.iter().map(|counter| counter.value).collect();
        assert_eq!(values, [6_369_838_634, 145_753, 1, 2, 6_929_741, 83_288, 3, 4]);
        assert_eq!(found[5], Counter::counts("network.eth0.sent_packets", "", 83_288));
    }

    #[test]
    fn loopback_only_if_named() {
        let found = counters(TEXT, &Interfaces::Named(vec!["lo".to_owned()])).unwrap();
        assert_eq!(found[1], Counter::counts("network.lo.received_packets", "", 15_143_501));
        let missing = Interfaces::Named(vec!["tap0".to_owned()]);
        assert_eq!(counters(TEXT, &missing), Err("/proc/net/dev has none of tap0".to_owned()));
        let many: Vec<String> = (0..40).map(|number| format!("veth{number}: 1 2 3\n")).collect();
        assert!(
            counters(&format!("\n\n{}", many.concat()), &Interfaces::AllButLoopback)
                .unwrap_err()
                .contains("40 interfaces")
        );
    }
}
