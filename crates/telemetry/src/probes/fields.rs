//! Parsers for the forms of the kernel's texts: a named number per line, and tables with a column for each CPU.

use super::Opening;
use crate::counter::Counter;
use record::telemetry::Behaviour;
use std::collections::BTreeSet;

/// One field of a text of named numbers, and its column.
pub struct Field {
    /// The kernel's name.
    pub key: &'static str,
    pub name: &'static str,
    pub unit: &'static str,
    pub behaviour: Behaviour,
}

impl Field {
    pub const fn counts(key: &'static str, name: &'static str, unit: &'static str) -> Self {
        Self { key, name, unit, behaviour: Behaviour::Counts }
    }

    pub const fn stands(key: &'static str, name: &'static str, unit: &'static str) -> Self {
        Self { key, name, unit, behaviour: Behaviour::Stands }
    }
}

/// The number after a name on its own line: "name 12", "name: 12 kB" or "name : 12".
pub fn number(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(key)?;
        let rest = rest.strip_prefix(':').or_else(|| rest.starts_with([' ', '\t']).then_some(rest))?;
        let mut words = rest.trim_start().trim_start_matches(':').split_whitespace();
        let value: u64 = words.next()?.parse().ok()?;
        let is_kibibytes = words.next() == Some("kB");
        value.checked_mul(if is_kibibytes { 1024 } else { 1 })
    })
}

/// The fields that a text has, in the order of the list; "kB" are converted to bytes.
pub fn counters(text: &str, prefix: &str, fields: &[Field]) -> Vec<Counter> {
    let found = fields.iter().filter_map(|field| {
        let value = number(text, field.key)?;
        let name = format!("{prefix}.{}", field.name);
        Some(Counter { name, unit: field.unit.into(), behaviour: field.behaviour, value })
    });
    found.collect()
}

/// A probe of one text of named numbers.
pub fn opening(probe: &'static str, file: &'static str, fields: &'static [Field]) -> Opening {
    Opening::new(probe, file, "the proc file system must be mounted", move |files| {
        Ok(counters(&files.text(file)?, probe, fields))
    })
}

/// Which columns of a table belong to `cpus`, by its heading "CPU0 CPU1 CPU8".
pub fn cpu_columns(heading: &str, cpus: Option<&BTreeSet<u32>>) -> Vec<bool> {
    let is_wanted = |cpu: &str| {
        let number = cpu.strip_prefix("CPU").and_then(|number| number.parse().ok());
        number.is_some_and(|number| cpus.is_none_or(|cpus| cpus.contains(&number)))
    };
    heading.split_whitespace().map(is_wanted).collect()
}

/// The sum of a line's wanted columns. Lines may be shorter than the heading (`ERR`, `MIS`), and words may follow.
pub fn sum(line: &str, wanted: &[bool]) -> u64 {
    let numbers = line.split_whitespace().map_while(|word| word.parse::<u64>().ok());
    total(numbers.zip(wanted).filter(|(_, is_wanted)| **is_wanted).map(|(number, _)| number))
}

/// A sum that saturates, since a kernel may write nonsense.
pub fn total(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_each_way_of_writing_them() {
        assert_eq!(number("pgfault 12\npgfault_more 9\n", "pgfault"), Some(12));
        assert_eq!(number("MemFree:       10 kB\n", "MemFree"), Some(10_240));
        assert_eq!(
            number("se.nr_migrations                             :                   42\n", "se.nr_migrations"),
            Some(42)
        );
        assert_eq!(number("MemFreeElse: 1 kB\n", "MemFree"), None);
        assert_eq!(number("MemFree: many\n", "MemFree"), None);
    }

    #[test]
    fn only_columns_of_wanted_cpus_are_added_up() {
        let heading = "           CPU0       CPU1       CPU8";
        let all = cpu_columns(heading, None);
        assert_eq!((all.len(), sum(" 1 2 4  IO-APIC 5-edge 9", &all)), (3, 7));
        let some = cpu_columns(heading, Some(&[0, 8].into()));
        assert_eq!(sum(" 1 2 4  IO-APIC", &some), 5);
        assert_eq!(sum(" 1", &some), 1);
    }
}
