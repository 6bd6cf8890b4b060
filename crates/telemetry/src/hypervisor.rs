//! Whether this system is a guest, of which hypervisor, and how that is known; and whether it could host guests.

use crate::Readings;
use crate::kvm::KvmFeatures;
use crate::tree::{Tree, TreeReading};

/// The names that hypervisors give when a guest asks the processor (CPUID leaf `0x4000_0000`).
const SIGNATURES: &[(&str, &str)] = &[
    ("KVMKVMKVM", "KVM"),
    ("TCGTCGTCGTCG", "QEMU without hardware acceleration (TCG)"),
    ("VMwareVMware", "VMware"),
    ("Microsoft Hv", "Hyper-V"),
    ("XenVMMXenVMM", "Xen"),
    ("bhyve bhyve ", "bhyve"),
    ("ACRNACRNACRN", "ACRN"),
    (" QNXQVMBSQG ", "QNX"),
    ("VBoxVBoxVBox", "VirtualBox"),
];

/// Words in the firmware's names of vendor and product that only occur in virtual machines.
const FIRMWARE_WORDS: &[(&str, &str)] = &[
    ("qemu", "QEMU"),
    ("kvm", "KVM"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("xen", "Xen"),
    ("virtual machine", "Hyper-V"),
    ("amazon ec2", "Amazon EC2"),
    ("google compute engine", "Google Compute Engine"),
    ("openstack", "OpenStack"),
    ("bochs", "Bochs or QEMU"),
];

pub fn facts(tree: &Tree, signature: Option<&str>) -> Readings {
    let firmware = Firmware::read(tree);
    let flagged = hypervisor_flag(tree);
    let found = find(tree, signature, &firmware);
    let guest = match (&found, flagged) {
        (Some(_), _) | (None, Ok(true)) => Ok("yes".to_owned()),
        (None, Ok(false)) => Ok("no".to_owned()),
        (None, Err(why)) => Err(why),
    };
    let unnamed = || match guest.as_deref() {
        Ok("yes") => "the hypervisor does not name itself".to_owned(),
        Ok(_) => "this system is no guest".to_owned(),
        Err(why) => why.clone(),
    };
    let (vendor, known_by) = match found {
        Some(HypervisorSource { vendor, known_by }) => (Ok(vendor), Ok(known_by)),
        None => (Err(unnamed()), Err(unnamed())),
    };
    vec![
        ("system.vendor", firmware.vendor),
        ("system.product", firmware.product),
        // A hypervisor's machine type and version, if it gives them: "pc-q35-7.2".
        ("system.product_version", dmi(tree, "product_version")),
        ("system.firmware", firmware_version(tree)),
        ("virtualization.nested", nested(guest.as_deref())),
        ("virtualization.guest", guest),
        ("virtualization.vendor", vendor),
        ("virtualization.known_by", known_by),
        ("virtualization.kvm_device", Ok(if tree.exists("/dev/kvm") { "present" } else { "absent" }.to_owned())),
        ("virtualization.kvm_nesting", kvm_nesting(tree)),
    ]
}

/// Asks the processor for its hypervisor's signature. Only x86 supports this; `None` if there is no hypervisor.
#[cfg(target_arch = "x86_64")]
pub fn processor_signature() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const FEATURES: u32 = 1;
    const HYPERVISOR_BIT: u32 = 1 << 31;
    const HYPERVISOR_LEAF: u32 = 0x4000_0000;
    if __cpuid(FEATURES).ecx & HYPERVISOR_BIT == 0 {
        return None;
    }
    let answer = __cpuid(HYPERVISOR_LEAF);
    let bytes: Vec<u8> = [answer.ebx, answer.ecx, answer.edx].into_iter().flat_map(u32::to_le_bytes).collect();
    let text = String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
    (!text.is_empty()).then_some(text)
}

/// Asks KVM, if the signature is KVM's, for the features that it offers its guests.
#[cfg(target_arch = "x86_64")]
pub fn kvm_offer(signature: Option<&str>) -> Option<KvmFeatures> {
    const FEATURES_LEAF: u32 = 0x4000_0001;
    (signature? == "KVMKVMKVM").then(|| {
        let answer = std::arch::x86_64::__cpuid(FEATURES_LEAF);
        KvmFeatures { features: answer.eax, hints: answer.edx }
    })
}

#[cfg(not(target_arch = "x86_64"))]
pub fn processor_signature() -> Option<String> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
pub fn kvm_offer(_: Option<&str>) -> Option<KvmFeatures> {
    None
}

struct HypervisorSource {
    vendor: String,
    known_by: String,
}

/// Asks the most direct source first: the processor, then the kernel, then the firmware.
fn find(tree: &Tree, signature: Option<&str>, firmware: &Firmware) -> Option<HypervisorSource> {
    let by_processor = signature.map(|signature| HypervisorSource {
        vendor: vendor_of_signature(signature),
        known_by: format!("the processor (signature {signature:?})"),
    });
    let by_kernel = || {
        let vendor = tree.value("/sys/hypervisor/type").ok()?;
        Some(HypervisorSource { vendor, known_by: "the kernel (/sys/hypervisor/type)".to_owned() })
    };
    by_processor.or_else(by_kernel).or_else(|| firmware.hypervisor())
}

fn vendor_of_signature(signature: &str) -> String {
    let known = SIGNATURES.iter().find(|(theirs, _)| theirs.trim() == signature.trim());
    known.map_or_else(|| format!("unknown ({signature:?})"), |(_, vendor)| (*vendor).to_owned())
}

struct Firmware {
    vendor: TreeReading,
    product: TreeReading,
}

impl Firmware {
    fn read(tree: &Tree) -> Self {
        Self { vendor: dmi(tree, "sys_vendor"), product: dmi(tree, "product_name") }
    }

    fn hypervisor(&self) -> Option<HypervisorSource> {
        let named = [&self.vendor, &self.product].into_iter().flatten().find_map(|text| {
            let lower = text.to_lowercase();
            let (_, vendor) = FIRMWARE_WORDS.iter().find(|(word, _)| lower.contains(word))?;
            Some((text, *vendor))
        });
        named.map(|(text, vendor)| HypervisorSource {
            vendor: vendor.to_owned(),
            known_by: format!("the firmware (it calls the system {text:?})"),
        })
    }
}

/// Whether the processor has the flag that hypervisors set.
fn hypervisor_flag(tree: &Tree) -> Result<bool, String> {
    let cpuinfo = tree.text("/proc/cpuinfo")?;
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
    flags
        .map(|(_, flags)| flags.split_whitespace().any(|flag| flag == "hypervisor"))
        .ok_or_else(|| "/proc/cpuinfo lists no flags".to_owned())
}

/// Guests of a guest bear the cost of two hypervisors.
fn nested(guest: Result<&str, &String>) -> TreeReading {
    let is_guest = guest.map_err(Clone::clone)? == "yes";
    Ok(if is_guest { "yes, guests of this system run within a guest" } else { "no" }.to_owned())
}

fn dmi(tree: &Tree, name: &str) -> TreeReading {
    tree.value(&format!("/sys/class/dmi/id/{name}"))
}

fn firmware_version(tree: &Tree) -> TreeReading {
    Ok(format!("{} {}", dmi(tree, "bios_vendor")?, dmi(tree, "bios_version")?))
}

/// Whether guests of this system may host guests themselves.
fn kvm_nesting(tree: &Tree) -> TreeReading {
    let modules = ["kvm_intel", "kvm_amd"].iter();
    let nested = modules.flat_map(|module| tree.value(&format!("/sys/module/{module}/parameters/nested"))).next();
    match nested.as_deref() {
        Some("Y" | "1") => Ok("allowed".to_owned()),
        Some(_) => Ok("not allowed".to_owned()),
        None => Err("no KVM module with such a parameter is loaded".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_name_the_hypervisor_and_unknown_ones_are_shown() {
        assert_eq!(vendor_of_signature("KVMKVMKVM"), "KVM");
        assert_eq!(vendor_of_signature("bhyve bhyve"), "bhyve");
        assert_eq!(vendor_of_signature("NewOneNewOne"), "unknown (\"NewOneNewOne\")");
    }

    #[test]
    fn firmware_of_a_physical_server_names_no_hypervisor() {
        let firmware = Firmware { vendor: Ok("Dell Inc.".to_owned()), product: Ok("PowerEdge R650".to_owned()) };
        assert!(firmware.hypervisor().is_none());
        let firmware = Firmware { vendor: Ok("VMware, Inc.".to_owned()), product: Ok("VMware7,1".to_owned()) };
        assert_eq!(firmware.hypervisor().map(|found| found.vendor).as_deref(), Some("VMware"));
    }
}
