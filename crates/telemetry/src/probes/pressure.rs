//! Time in which tasks had to wait for a CPU, memory or storage, or because of interrupts (`/proc/pressure`).
//!
//! *Some* is time in which at least one task waited. *All* is time in which every task that was not idle waited.

use super::Opening;
use crate::counter::Counter;

const FOLDER: &str = "/proc/pressure";
/// Interrupts are counted since Linux 6.1, by kernels that account for their time.
const KINDS: [&str; 4] = ["cpu", "io", "memory", "irq"];

pub fn opening() -> Opening {
    let remedy = "a kernel since 4.20 built with CONFIG_PSI has it, some only when booted with psi=1";
    Opening::new("pressure", FOLDER, remedy, |files| {
        let mut counters = totals("cpu", &files.text(&format!("{FOLDER}/cpu"))?);
        for kind in &KINDS[1..] {
            let text = files.text(&format!("{FOLDER}/{kind}"));
            counters.extend(text.iter().flat_map(|text| totals(kind, text)));
        }
        Ok(counters)
    })
}

fn totals(kind: &str, text: &str) -> Vec<Counter> {
    let counter = |(line, name)| Some(Counter::counts(format!("pressure.{kind}.{name}"), "us", total(text, line)?));
    [("some", "some"), ("full", "all")].into_iter().filter_map(counter).collect()
}

/// Microseconds since boot on the line `of`, such as "some avg10=0.02 avg60=4.41 avg300=29.23 total=9236581109".
pub fn total(text: &str, of: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(of)?.strip_prefix(' '))?;
    rest.split_whitespace().find_map(|word| word.strip_prefix("total=")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_some_and_all() {
        // As recorded on Linux 6.18.
        let text = "some avg10=0.32 avg60=3.21 avg300=2.12 total=887911226\nfull avg10=0.00 avg60=0.40 avg300=0.28 total=251776853\n";
        let expected = [
            Counter::counts("pressure.io.some", "us", 887_911_226),
            Counter::counts("pressure.io.all", "us", 251_776_853),
        ];
        assert_eq!(totals("io", text), expected);
    }

    #[test]
    fn kernels_before_5_13_have_no_full_line_for_the_cpu_and_interrupts_no_other() {
        assert_eq!(totals("cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n").len(), 1);
        assert_eq!(totals("irq", "full avg10=0.00 avg60=0.00 avg300=0.00 total=6\n")[0].name, "pressure.irq.all");
    }
}
