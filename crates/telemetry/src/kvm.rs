//! KVM on this system: the settings of its modules and, in a guest, the features that the host's KVM offers it.
//!
//! The modules' parameters apply to all guests of a host, and some are fixed when a module is loaded. So they are
//! facts of the host, not of a contender.

use crate::Readings;
use crate::tree::{Tree, TreeReading};

/// Parameters that change the cost of a guest; the others are for debugging.
const PARAMETERS: &[&str] = &[
    "halt_poll_ns",
    "halt_poll_ns_grow",
    "halt_poll_ns_grow_start",
    "halt_poll_ns_shrink",
    "tdp_mmu",
    "nx_huge_pages",
    "eager_page_split",
    "enable_pmu",
    "lapic_timer_advance",
    "pi_inject_timer",
];
/// Such parameters of the module for the processor's vendor.
const VENDORS: &[(&str, &[&str])] = &[
    (
        "kvm_intel",
        &["ept", "vpid", "unrestricted_guest", "enable_apicv", "ple_gap", "vmentry_l1d_flush", "preemption_timer"],
    ),
    ("kvm_amd", &["npt", "avic", "vgif", "vls", "pause_filter_count"]),
];

/// Feature bits that KVM offers its guests (CPUID leaf `0x4000_0001`, EAX), named as in the kernel's documentation.
const FEATURES: &[(u32, &str)] = &[
    (3, "clocksource2"),
    (4, "async_pf"),
    (5, "steal_time"),
    (6, "pv_eoi"),
    (7, "pv_unhalt"),
    (9, "pv_tlb_flush"),
    (11, "pv_send_ipi"),
    (12, "poll_control"),
    (13, "pv_sched_yield"),
    (14, "async_pf_int"),
    (15, "msi_ext_dest_id"),
    (24, "clocksource_stable"),
];
/// In EDX: each vCPU has a CPU of its own, so spinning for a lock is worth it.
const DEDICATED_BIT: u32 = 0;

/// KVM's answer to a guest that asks for its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KvmFeatures {
    pub features: u32,
    pub hints: u32,
}

pub fn facts(tree: &Tree, offered: Option<KvmFeatures>) -> Readings {
    let told = offered.map(named).ok_or_else(|| "this system is no guest of KVM that reports them".to_owned());
    let polling =
        ["haltpoll", "cpuidle_haltpoll"].map(|module| format!("/sys/module/{module}/parameters/guest_halt_poll_ns"));
    vec![
        ("kvm.modules", modules(tree)),
        ("kvm.parameters", parameters(tree, "kvm", PARAMETERS)),
        ("kvm.vendor_parameters", vendor_parameters(tree)),
        ("virtualization.kvm_features", told),
        ("virtualization.guest_halt_poll_ns", tree.value(&polling[0]).or_else(|_| tree.value(&polling[1]))),
    ]
}

/// The loaded modules, which include one for the processor's vendor, or one that needs no hardware virtualization.
fn modules(tree: &Tree) -> TreeReading {
    let loaded = tree.names("/sys/module").into_iter().filter(|name| name == "kvm" || name.starts_with("kvm_"));
    let loaded: Vec<String> = loaded.collect();
    if loaded.is_empty() { Err("no module of KVM is loaded".to_owned()) } else { Ok(loaded.join(" ")) }
}

/// Those parameters that this kernel's module has, each as "name=value".
fn parameters(tree: &Tree, module: &str, wanted: &[&str]) -> TreeReading {
    let folder = format!("/sys/module/{module}/parameters");
    let value = |name: &&str| Some(format!("{name}={}", tree.value(&format!("{folder}/{name}")).ok()?));
    let found: Vec<String> = wanted.iter().filter_map(value).collect();
    if found.is_empty() {
        Err(format!("the module {module} is not loaded, or shows none"))
    } else {
        Ok(found.join(" "))
    }
}

fn vendor_parameters(tree: &Tree) -> TreeReading {
    let found = VENDORS.iter().find_map(|(module, wanted)| {
        let found = parameters(tree, module, wanted).ok()?;
        Some(format!("{module}: {found}"))
    });
    found.ok_or_else(|| "neither kvm_intel nor kvm_amd is loaded".to_owned())
}

fn named(offered: KvmFeatures) -> String {
    let features = FEATURES.iter().filter(|(bit, _)| offered.features & (1 << bit) != 0).map(|(_, name)| *name);
    let dedicated = (offered.hints & (1 << DEDICATED_BIT) != 0).then_some("hint_dedicated");
    let found: Vec<&str> = features.chain(dedicated).collect();
    if found.is_empty() { "none".to_owned() } else { found.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_named_in_the_order_of_their_bits() {
        // As QEMU's CPU model "host" offers them on Linux 6.1, with kvm-hint-dedicated=on.
        assert_eq!(
            named(KvmFeatures { features: 0x0100_7efb, hints: 1 }),
            "clocksource2 async_pf steal_time pv_eoi pv_unhalt pv_tlb_flush pv_send_ipi poll_control pv_sched_yield \
             async_pf_int clocksource_stable hint_dedicated"
        );
        assert_eq!(named(KvmFeatures { features: 0, hints: 0 }), "none");
    }
}
