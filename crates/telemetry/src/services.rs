//! Programs and kernel settings around the database that change its interrupts, its clock or its settings while it runs.

use crate::kernel::none_if_empty;
use crate::tree::{Tree, TreeReading};
use crate::{Readings, processes};

/// Programs that adjust the system's clock. We use the monotonic clock, whose rate they change by up to 0.05 %.
const TIME_KEEPERS: &[&str] =
    &["chronyd", "ntpd", "ntpsec", "openntpd", "systemd-timesyn", "ptp4l", "phc2sys", "vmtoolsd"];
const INTERRUPT_BALANCERS: &[&str] = &["irqbalance"];

pub fn facts(tree: &Tree) -> Readings {
    let running = processes::names(tree);
    let of = |wanted: &[&str]| -> TreeReading {
        let running = running.as_ref().map_err(Clone::clone)?;
        let found: Vec<&str> = wanted.iter().copied().filter(|name| running.contains(*name)).collect();
        Ok(if found.is_empty() { "none is running".to_owned() } else { found.join(" and ") })
    };
    vec![
        ("system.time_service", of(TIME_KEEPERS)),
        ("kernel.interrupt_balancer", of(INTERRUPT_BALANCERS)),
        (
            "kernel.interrupt_affinity",
            tree.value("/proc/irq/default_smp_affinity").map(|mask| format!("mask {mask} by default")),
        ),
        ("kernel.security_modules", tree.text("/sys/kernel/security/lsm").map(|list| none_if_empty(&list))),
        ("system.tuned_profile", tree.value("/etc/tuned/active_profile")),
    ]
}
