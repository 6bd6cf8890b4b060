//! Energy use, as the processor estimates it, by package and part (`powercap`).
//!
//! These counters wrap around after minutes at full load. The sampler corrects for that, so its values only grow. It
//! would miss a whole round if it did not read for that long.

use super::Opening;
use crate::counter::{Counter, part};
use crate::files::Files;
use crate::tree::Tree;

const ZONES: &str = "/sys/class/powercap";

pub fn opening(tree: &Tree) -> Opening {
    let mut zones = zones(tree);
    let remedy =
        "a host (not a guest) with a processor that reports it, and root, since recent kernels let nobody else read it";
    Opening::new("energy", format!("{ZONES}/*/energy_uj"), remedy, move |files| {
        if zones.is_empty() {
            return Err(format!("{ZONES} has no zone that counts energy"));
        }
        zones.iter_mut().map(|zone| zone.read(files)).collect()
    })
}

/// One part of the system with a counter of energy.
struct Zone {
    name: String,
    path: String,
    /// The counter's largest value, after which it wraps to zero.
    largest: u64,
    running: WrappedCounter,
}

impl Zone {
    fn read(&mut self, files: &mut Files) -> Result<Counter, String> {
        let used = self.running.with(files.number(&self.path)?, self.largest);
        Ok(Counter::counts(format!("energy.{}", self.name), "uj", used))
    }
}

/// Every zone with a counter, named after itself and the zone around it: `package-0`, `package-0_dram`.
fn zones(tree: &Tree) -> Vec<Zone> {
    let value = |zone: &str, file: &str| tree.value(&format!("{ZONES}/{zone}/{file}")).ok();
    let name = |zone: &str| {
        let own = value(zone, "name")?;
        let outer = zone.rsplit_once(':').and_then(|(outer, _)| value(outer, "name"));
        Some(part(&outer.map_or(own.clone(), |outer| format!("{outer}_{own}"))))
    };
    let zone = |zone: String| {
        let largest = value(&zone, "max_energy_range_uj")?.parse().ok()?;
        let path = format!("{ZONES}/{zone}/energy_uj");
        Some(Zone { name: name(&zone)?, path, largest, running: WrappedCounter::default() })
    };
    // Some platforms count the same packages again in another way, under a name with "mmio" in it.
    let counted = tree.names(ZONES).into_iter().filter(|zone| !zone.contains("mmio"));
    counted.filter_map(zone).collect()
}

/// Turns a counter that wraps around into one that does not.
#[derive(Default)]
struct WrappedCounter {
    last: Option<u64>,
    total: u64,
}

impl WrappedCounter {
    fn with(&mut self, now: u64, largest: u64) -> u64 {
        let step = match self.last {
            None => now,
            Some(last) if now >= last => now - last,
            Some(last) => largest.saturating_sub(last).saturating_add(now).saturating_add(1),
        };
        self.last = Some(now);
        self.total = self.total.saturating_add(step);
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_ran_over_goes_on() {
        let mut running = WrappedCounter::default();
        assert_eq!(running.with(90, 99), 90);
        assert_eq!(running.with(95, 99), 95);
        assert_eq!(running.with(4, 99), 104);
        assert_eq!(running.with(4, 99), 104);
    }

    #[test]
    fn zones_are_named_with_the_package_they_are_in() {
        let root = tempfile::tempdir().unwrap();
        let file = |zone: &str, name: &str, text: &str| {
            let folder = root.path().join("sys/class/powercap").join(zone);
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(folder.join(name), text)).unwrap();
        };
        for (zone, name, energy) in [
            ("intel-rapl:0", "package-0\n", "5000\n"),
            ("intel-rapl:0:0", "dram\n", "70\n"),
            ("intel-rapl-mmio:0", "package-0\n", "5001\n"),
        ] {
            file(zone, "name", name);
            file(zone, "energy_uj", energy);
            file(zone, "max_energy_range_uj", "262143328850\n");
        }
        file("intel-rapl", "enabled", "1\n");
        let mut opening = opening(&Tree::new(root.path()));
        let found = (opening.read)(&mut Files::new(root.path())).unwrap();
        let expected =
            [Counter::counts("energy.package-0", "uj", 5_000), Counter::counts("energy.package-0_dram", "uj", 70)];
        assert_eq!(found, expected);
    }
}
