//! What libvirt made of a domain: read from the domain's XML as it runs, and from the kernel.

use super::domain::DATA_ALIAS;
use crate::affinity;
use crate::placement::cpu_list;
use crate::qemu::isolation::field;
use machines::machine::Decisions;
use roxmltree::{Document, Node};
use std::fs;
use std::path::Path;

const GROUPS: &str = "/sys/fs/cgroup";

/// The facts that only libvirt reports.
pub fn of_libvirt(xml: &str) -> Decisions {
    let document = match Document::parse(xml) {
        Ok(document) => document,
        Err(error) => return [("domain".to_owned(), Err(format!("its XML is none: {error}")))].into(),
    };
    let domain = document.root_element();
    let mut decided = Decisions::new();
    let mut say = |what: &str, answer: Option<String>, lacks: &str| {
        decided.insert(what.to_owned(), answer.ok_or_else(|| format!("the domain has no {lacks}")));
    };
    let devices = child(domain, "devices");
    let emulator = devices.and_then(|devices| child(devices, "emulator")?.text().map(str::to_owned));
    say("qemu binary", emulator, "emulator");
    let data = devices.and_then(|devices| devices.children().find(|device| is_data(*device)));
    let discard = data.and_then(|disk| attribute(child(disk, "driver")?, "discard"));
    say("discard", discard, "such disk");
    let labels = domain.children().filter(|node| node.has_tag_name("seclabel"));
    let labels: Vec<String> = labels.filter_map(label_words).collect();
    say("security labels", Some(if labels.is_empty() { "none".to_owned() } else { labels.join(", ") }), "label");
    if let Some(memory) = child(domain, "numatune").and_then(|tune| child(tune, "memory")) {
        let mode = attribute(memory, "mode").zip(attribute(memory, "nodeset"));
        say("numa", mode.map(|(mode, nodes)| format!("{mode} on node {nodes}")), "mode");
    }
    decided
}

/// Where libvirt says that its threads are, for a host whose kernel cannot be asked.
pub fn placed_elsewhere(xml: &str) -> Decisions {
    let unknown = || Err("the domain runs at another host, and libvirt does not say".to_owned());
    let document = Document::parse(xml).ok();
    let tune = document.as_ref().and_then(|document| child(document.root_element(), "cputune"));
    let pins: Vec<(String, String)> = tune
        .into_iter()
        .flat_map(|tune| tune.children())
        .filter(|node| node.has_tag_name("vcpupin"))
        .filter_map(|pin| attribute(pin, "vcpu").zip(attribute(pin, "cpuset")))
        .collect();
    let words = pins.iter().map(|(vcpu, cpus)| format!("vCPU {vcpu} on CPU {cpus}")).collect::<Vec<_>>().join(", ");
    let cpus: Vec<usize> = pins.iter().filter_map(|(_, cpus)| cpu_list::parse(cpus).ok()).flatten().collect();
    let emulator = tune.and_then(|tune| attribute(child(tune, "emulatorpin")?, "cpuset"));
    let said = |text: String| if text.is_empty() { unknown() } else { Ok(text) };
    let facts = [
        ("vcpu pinning", if words.is_empty() { Ok("none, as libvirt has it".to_owned()) } else { Ok(words) }),
        ("host CPUs", said(affinity::list(&cpus))),
        ("emulator CPUs", emulator.map_or_else(unknown, Ok)),
        ("memory node", unknown()),
    ];
    facts.map(|(name, fact)| (name.to_owned(), fact)).into()
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn attribute(node: Node<'_, '_>, name: &str) -> Option<String> {
    node.attribute(name).map(str::to_owned)
}

fn is_data(device: Node<'_, '_>) -> bool {
    child(device, "alias").and_then(|alias| alias.attribute("name")) == Some(DATA_ALIAS)
}

/// "dac +0:+0", or "dac none".
fn label_words(label: Node<'_, '_>) -> Option<String> {
    let model = label.attribute("model")?;
    let words = child(label, "label").and_then(|label| label.text());
    Some(format!("{model} {}", words.or(label.attribute("type")).unwrap_or("?")))
}

/// The confinement of the QEMU with id `process`, as the kernel reports it.
pub fn confinement(process: u32) -> Decisions {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let sandbox = match field(&status, "Seccomp") {
        Some("2") => Ok("QEMU's system calls are filtered".to_owned()),
        other => Err(format!("the kernel has Seccomp {other:?} for QEMU")),
    };
    let user = match field(&status, "Uid") {
        Some(user) if user == rustix::process::geteuid().as_raw().to_string() => Ok(format!("{user}, who started it")),
        Some(user) => Ok(user.to_owned()),
        None => Err("the kernel does not report it".to_owned()),
    };
    [("sandbox".to_owned(), sandbox), ("user".to_owned(), user)].into()
}

/// The CPU time that the control groups above this process leave it, in words of [`machines::cgroup::CpuTime`].
pub fn quota(process: u32) -> Result<String, String> {
    let file = format!("/proc/{process}/cgroup");
    let groups = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        if !controllers.is_empty() && !controllers.split(',').any(|controller| controller == "cpu") {
            continue;
        }
        let below = Path::new(path.trim_start_matches('/'));
        for group in below.ancestors() {
            let roots = [controllers, "cpu", "unified", ""].map(|tree| Path::new(GROUPS).join(tree).join(group));
            if let Some(time) = roots.iter().find_map(|group| of_group(group)) {
                return Ok(time);
            }
        }
    }
    Err("no control group of the domain limits its CPU time".to_owned())
}

fn of_group(group: &Path) -> Option<String> {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok().map(|text| text.trim().to_owned());
    let (quota, period) = match read("cpu.max") {
        Some(both) => both.split_once(' ').map(|(quota, period)| (quota.to_owned(), period.to_owned()))?,
        None => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    quota.parse::<u64>().is_ok().then(|| format!("{quota} µs in every {period} µs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const XML: &str = "<domain type='qemu' id='1'>
        <cputune><vcpupin vcpu='0' cpuset='2'/><vcpupin vcpu='1' cpuset='3'/><emulatorpin cpuset='0-1'/></cputune>
        <numatune><memory mode='strict' nodeset='1'/></numatune>
        <devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
        <disk type='file'><driver name='qemu' discard='unmap'/><alias name='ua-data'/></disk>
        <disk type='file'><driver name='qemu'/><alias name='virtio-disk1'/></disk></devices>
        <seclabel type='static' model='dac' relabel='no'><label>+0:+0</label></seclabel></domain>";

    #[test]
    fn a_running_domains_xml_tells_what_libvirt_made_of_it() {
        let decided = of_libvirt(XML);
        let told: Vec<(&str, &str)> =
            decided.iter().map(|(name, fact)| (name.as_str(), fact.as_deref().unwrap())).collect();
        let expected = [
            ("discard", "unmap"),
            ("numa", "strict on node 1"),
            ("qemu binary", "/usr/bin/qemu-system-x86_64"),
            ("security labels", "dac +0:+0"),
        ];
        assert_eq!(told, expected);
        let placed = placed_elsewhere(XML);
        assert_eq!(placed["vcpu pinning"], Ok("vCPU 0 on CPU 2, vCPU 1 on CPU 3".to_owned()));
        assert_eq!((&placed["host CPUs"], &placed["emulator CPUs"]), (&Ok("2,3".to_owned()), &Ok("0-1".to_owned())));
        assert!(placed["memory node"].is_err());
    }

    #[test]
    fn what_is_no_domain_is_said() {
        assert!(of_libvirt("<domain").contains_key("domain"));
        assert!(of_libvirt("<domain/>")["discard"].is_err());
        assert!(placed_elsewhere("").values().filter(|fact| fact.is_err()).count() == 3);
        assert!(quota(u32::MAX).is_err());
    }
}
