//! The frequency of CPUs, as the kernel sets or measures it, and the governors that choose it (`cpufreq`).
//!
//! A guest does not see it. On some processors, `scaling_cur_freq` is measured over some milliseconds; on others it
//! is the frequency that was last asked for.

use super::{Opening, fields};
use crate::counter::{Counter, part};
use crate::files::Files;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

const CPUS: &str = "/sys/devices/system/cpu";
const REMEDY: &str = "the host must leave the choice of frequencies to this kernel, with a cpufreq driver loaded";

pub fn opening(tree: &Tree) -> Opening {
    let cpus = scaled(tree);
    Opening::new("frequency", format!("{CPUS}/cpu*/cpufreq/scaling_cur_freq"), REMEDY, move |files| {
        Ok(frequencies(&read_all(files, &cpus, Files::number, "scaling_cur_freq")?))
    })
}

/// The number of CPUs under each governor; a change between readings shows in the sum.
pub fn governor(tree: &Tree) -> Opening {
    let cpus = scaled(tree);
    let on_offer = |cpu: &String| tree.value(&format!("{CPUS}/{cpu}/cpufreq/scaling_available_governors")).ok();
    let offered: Vec<String> = cpus.iter().filter_map(on_offer).collect();
    let offered: BTreeSet<String> = offered.iter().flat_map(|list| list.split_whitespace()).map(part).collect();
    Opening::new("governor", format!("{CPUS}/cpu*/cpufreq/scaling_governor"), REMEDY, move |files| {
        let governors = read_all(files, &cpus, Files::text, "scaling_governor")?;
        Ok(governed(&governors, &offered))
    })
}

/// CPUs whose frequency this kernel sets.
fn scaled(tree: &Tree) -> Vec<String> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok());
    let cpus = tree.names(CPUS).into_iter().filter(is_cpu);
    cpus.filter(|cpu| tree.exists(&format!("{CPUS}/{cpu}/cpufreq"))).collect()
}

fn read_all<T>(
    files: &mut Files,
    cpus: &[String],
    read: impl Fn(&mut Files, &str) -> Result<T, String>,
    file: &str,
) -> Result<Vec<T>, String> {
    if cpus.is_empty() {
        return Err("the kernel offers no frequency scaling here".to_owned());
    }
    cpus.iter().map(|cpu| read(files, &format!("{CPUS}/{cpu}/cpufreq/{file}"))).collect()
}

fn frequencies(khz: &[u64]) -> Vec<Counter> {
    let (Some(least), Some(most)) = (khz.iter().min(), khz.iter().max()) else { return Vec::new() };
    let mean = fields::total(khz.iter().copied()) / khz.len() as u64;
    let stands = |name: &str, value| Counter::stands(format!("frequency.{name}"), "khz", value);
    vec![stands("mean", mean), stands("least", *least), stands("most", *most)]
}

fn governed(governors: &[String], offered: &BTreeSet<String>) -> Vec<Counter> {
    let mut cpus: BTreeMap<String, u64> = offered.iter().map(|name| (name.clone(), 0)).collect();
    for governor in governors {
        *cpus.entry(part(governor.trim())).or_default() += 1;
    }
    cpus.into_iter().map(|(name, count)| Counter::stands(format!("governor.{name}"), "cpus", count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_and_the_fastest_cpu_stand_beside_the_mean() {
        let values: Vec<u64> =
            frequencies(&[800_000, 3_200_000, 2_000_000]).iter().map(|counter| counter.value).collect();
        assert_eq!(values, [2_000_000, 800_000, 3_200_000]);
    }

    #[test]
    fn governors_on_offer_have_columns_also_if_no_cpu_has_them() {
        let offered = ["performance".to_owned(), "powersave".to_owned()].into();
        let found = governed(&["powersave\n".to_owned(), "powersave\n".to_owned()], &offered);
        let expected =
            [Counter::stands("governor.performance", "cpus", 0), Counter::stands("governor.powersave", "cpus", 2)];
        assert_eq!(found, expected);
    }
}
