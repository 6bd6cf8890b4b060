//! Interrupts by purpose, of the whole system and of the CPUs of a shape (`/proc/interrupts`).
//!
//! Every device has its own lines, which are summed, since their number and names differ between hosts. `total` is
//! the kernel's own sum, which includes interrupts that are in no line.

use super::{Opening, ProbeReading, fields};
use crate::counter::Counter;
use std::collections::{BTreeMap, BTreeSet};

const INTERRUPTS: &str = "/proc/interrupts";
const STAT: &str = "/proc/stat";

/// Names of x86's lines and their kinds. Lines not listed here are `other`.
const KINDS: &[(&str, &str)] = &[
    ("NMI", "nmi"),
    ("LOC", "timer"),
    ("PMI", "performance"),
    ("IWI", "irq_work"),
    ("RES", "reschedule"),
    ("CAL", "call"),
    ("TLB", "tlb"),
    ("TRM", "thermal"),
    ("THR", "thermal"),
    ("HYP", "hypervisor"),
    ("HVS", "hypervisor"),
    ("HRE", "hypervisor"),
    ("PIN", "posted_notification"),
    ("NPI", "posted_nested"),
    ("PIW", "posted_wakeup"),
];

/// Descriptions of Arm's interrupts between CPUs (`IPI0`, …), and their kinds.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("Rescheduling interrupts", "reschedule"),
    ("Function call interrupts", "call"),
    ("Timer broadcast interrupts", "timer"),
    ("IRQ work interrupts", "irq_work"),
];

const DEVICE: &str = "device";
const OTHER: &str = "other";

pub fn opening(cpus: Option<&BTreeSet<u32>>) -> Opening {
    let cpus = cpus.cloned();
    Opening::new("interrupts", INTERRUPTS, "the proc file system must be mounted", move |files| {
        let (text, stat) = (files.text(INTERRUPTS)?, files.text(STAT)?);
        counters(&text, &stat, cpus.as_ref())
    })
}

fn counters(text: &str, stat: &str, cpus: Option<&BTreeSet<u32>>) -> ProbeReading {
    let total = fields::number(stat, "intr").ok_or_else(|| format!("{STAT} does not count interrupts"))?;
    let mut counters = vec![Counter::counts("interrupts.total", "", total)];
    counters.extend(named("interrupts", &by_kind(text, None)));
    if cpus.is_some() {
        counters.extend(named("interrupts.shape", &by_kind(text, cpus)));
    }
    Ok(counters)
}

fn named(prefix: &str, kinds: &BTreeMap<&'static str, u64>) -> Vec<Counter> {
    kinds.iter().map(|(kind, count)| Counter::counts(format!("{prefix}.{kind}"), "", *count)).collect()
}

fn by_kind(text: &str, cpus: Option<&BTreeSet<u32>>) -> BTreeMap<&'static str, u64> {
    let mut lines = text.lines();
    let wanted = fields::cpu_columns(lines.next().unwrap_or_default(), cpus);
    let mut kinds = BTreeMap::from([(DEVICE, 0), (OTHER, 0)]);
    for (name, rest) in lines.filter_map(|line| line.split_once(':')) {
        let count = kinds.entry(kind(name.trim(), rest)).or_default();
        *count = fields::total([*count, fields::sum(rest, &wanted)]);
    }
    kinds
}

/// Numbered lines are devices, except for Arm's timer.
fn kind(name: &str, rest: &str) -> &'static str {
    if name.parse::<u32>().is_ok() {
        let is_timer = rest.split_whitespace().next_back() == Some("arch_timer");
        return if is_timer { "timer" } else { DEVICE };
    }
    let described = DESCRIPTIONS.iter().find(|(words, _)| rest.trim_end().ends_with(words));
    let named = KINDS.iter().find(|(theirs, _)| *theirs == name);
    named.or(described).map_or(OTHER, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18 in a guest, with some lines left out.
    const X86: &str = "\
           CPU0       CPU1       
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 36:          0   14072637 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 41:      13071          0 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx
NMI:          0          0   Non-maskable interrupts
LOC:    8121046    8375800   Local timer interrupts
RES:    9195907    6690391   Rescheduling interrupts
CAL:    6290163    4707984   Function call interrupts
TLB:    1340634    1318783   TLB shootdowns
HYP:         32         87   Hypervisor callback interrupts
ERR:          5
MIS:          0
PIN:          3          0   Posted-interrupt notification event
PIW:          0          4   Posted-interrupt wakeup event
";
    /// In the form of Linux 5.10 on Arm.
    const ARM: &str = "\
           CPU0       CPU1       CPU2       CPU3       
 11:       1000       2000       3000       4000     GICv3  27 Level     arch_timer
 48:         10         20         30         40     GICv3  79 Edge      virtio0
IPI0:         1          2          3          4       Rescheduling interrupts
IPI1:         5          6          7          8       Function call interrupts
IPI2:         0          0          0          9       CPU stop interrupts
Err:          0
";

    #[test]
    fn lines_of_x86_are_told_apart_and_devices_summed() {
        let kinds = by_kind(X86, None);
        assert_eq!(kinds["device"], 1 + 14_072_637 + 13_071);
        assert_eq!((kinds["timer"], kinds["reschedule"]), (16_496_846, 15_886_298));
        assert_eq!((kinds["call"], kinds["tlb"], kinds["hypervisor"]), (10_998_147, 2_659_417, 119));
        assert_eq!((kinds["posted_notification"], kinds["posted_wakeup"], kinds["other"]), (3, 4, 5));
    }

    #[test]
    fn lines_of_arm_are_told_apart_by_their_descriptions() {
        let kinds = by_kind(ARM, None);
        assert_eq!((kinds["timer"], kinds["device"]), (10_000, 100));
        assert_eq!((kinds["reschedule"], kinds["call"], kinds["other"]), (10, 26, 9));
        let kinds = by_kind(ARM, Some(&[1, 2].into()));
        assert_eq!((kinds["timer"], kinds["call"], kinds["other"]), (5_000, 13, 0));
    }

    #[test]
    fn the_kernels_own_sum_is_kept_beside() {
        let found = counters(X86, "intr 57747151 0 0 5\nctxt 3\n", Some(&[0].into())).unwrap();
        assert_eq!(found[0], Counter::counts("interrupts.total", "", 57_747_151));
        assert!(found.contains(&Counter::counts("interrupts.shape.timer", "", 8_121_046)));
        assert!(counters(X86, "ctxt 3\n", None).is_err());
    }
}
