//! Deferred work of interrupts by kind, of the whole system and of the CPUs of a shape (`/proc/softirqs`).

use super::{Opening, fields};
use crate::counter::{Counter, part};
use std::collections::BTreeSet;

const SOFTIRQS: &str = "/proc/softirqs";

pub fn opening(cpus: Option<&BTreeSet<u32>>) -> Opening {
    let cpus = cpus.cloned();
    Opening::new("softirqs", SOFTIRQS, "kernels have it since 2.6.31", move |files| {
        let text = files.text(SOFTIRQS)?;
        let mut counters = counters(&text, "softirqs", None);
        if cpus.is_some() {
            counters.extend(self::counters(&text, "softirqs.shape", cpus.as_ref()));
        }
        Ok(counters)
    })
}

fn counters(text: &str, prefix: &str, cpus: Option<&BTreeSet<u32>>) -> Vec<Counter> {
    let mut lines = text.lines();
    let wanted = fields::cpu_columns(lines.next().unwrap_or_default(), cpus);
    let kinds = lines.filter_map(|line| line.split_once(':'));
    let counter = |(kind, rest): (&str, &str)| {
        let name = format!("{prefix}.{}", part(&kind.trim().to_lowercase()));
        Counter::counts(name, "", fields::sum(rest, &wanted))
    };
    kinds.map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18.
    const TEXT: &str = "\
                    CPU0       CPU1       
          HI:          0          0
       TIMER:     802345     646109
      NET_RX:    7050250    8201249
       BLOCK:     461641   19948520
";

    #[test]
    fn kinds_are_summed_over_the_cpus() {
        let found = counters(TEXT, "softirqs", None);
        assert_eq!(found.len(), 4);
        assert_eq!(found[2], Counter::counts("softirqs.net_rx", "", 15_251_499));
        let found = counters(TEXT, "softirqs.shape", Some(&[1].into()));
        assert_eq!(found[3], Counter::counts("softirqs.shape.block", "", 19_948_520));
        assert!(counters("", "softirqs", None).is_empty());
    }
}
