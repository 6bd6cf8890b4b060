//! `bakeoff doctor`: what this host can do: yes or no for each thing, and why not.

use crate::ahead;
use crate::arguments::DoctorOptions;
use crate::commands::study_file::plan_of;
use crate::display::{print, result, say, wrapped};
use crate::exit::Exit;
use crate::readiness;
use crate::tools::{FoundTool, OF_OTHER_HOSTS, RUNTIMES, TOOLS};
use crate::{host, site};
use analysis::equal::{EqualRow, Sameness};
use anyhow::Result;
use images::KernelChoice;
use machines::scratch::Scratch;
use platforms::HostTrial;
use platforms::credentials::{Credentials, VSPHERE_PASSWORD, VSPHERE_USER};
use platforms::libvirt;
use platforms::oci::runtime::Runtime;
use platforms::qemu::accelerator::{self, KvmProbe};
use platforms::qemu::isolation::Isolation;
use platforms::qemu::settings::QemuSettings;
use record::facts::{Fact, Facts};
use record::looks::Reading;
use report::sections::equal::words;
use std::path::Path;
use trial::site::Site;

const QEMU: &str = "qemu-system-x86_64";
const KVM: &str = "accelerator kvm";
/// The host's own kernel in guests.
const KERNEL: &str = "kernel of guests";
/// The system's libvirt, which few hosts have.
const LIBVIRT: &str = "libvirt qemu:///system";
const LIBVIRT_URI: &str = "qemu:///system";
/// A study of the kinds of machines that this host has, which is planned only.
const SMALL: &str = "question = \"\"\n[machine]\nvcpus = 1\nmemory = \"512MiB\"\ndisk = { size = \"64MiB\" }\n\
    [engine]\nkind = \"sqlite\"\n[workload]\nkind = \"dvd-store\"\ndb_size = \"1MB\"\n\
    [load]\nclients = 1\nwarmup = \"0s\"\nmeasure = \"1s\"\n";
/// Stands before a property of machines.
const EQUAL: &str = "equal ";
/// Stands before the name of a runtime of containers.
const RUNTIME: &str = "runtime ";

/// Probes of a running guest, and their requirements.
const OF_A_GUEST: [(&str, &str); 4] = [
    ("kvm", "QEMU 7.1 or newer reports what KVM counts, if the guest runs with it"),
    ("qemu_disk", "QEMU reports what its block devices do"),
    ("balloon", "QEMU reports it of a guest that has a balloon"),
    (
        "perf.vcpus",
        "the kernel counts a guest's instructions apart from the host's where it has the processor's counters and KVM works",
    ),
];

pub fn doctor(options: &DoctorOptions) -> Result<Exit> {
    let site = site::site()?;
    let mut can = Facts::new();
    for tool in TOOLS.iter().chain(OF_OTHER_HOSTS) {
        can.insert(format!("tool {}", tool.program), told(tool));
    }
    can.insert("accelerator tcg".to_owned(), qemu_version());
    can.extend(held_back());
    can.insert("login vsphere".to_owned(), login());
    let libvirt = libvirt::ready::answering(LIBVIRT_URI);
    can.insert(LIBVIRT.to_owned(), libvirt.map_or_else(Fact::unavailable, Fact::known));
    can.extend(RUNTIMES.iter().map(|tool| (format!("{RUNTIME}{}", tool.program), runtime(tool))));
    can.insert(KERNEL.to_owned(), kernel(&site.cache));
    let limits = limits(&site.cache);
    can.extend(limits.clone());
    let unknown = |error: anyhow::Error| [(format!("{EQUAL}machines"), Fact::unavailable(error.to_string()))].into();
    can.extend(equal(&can, &site).unwrap_or_else(unknown));
    say("probing whether KVM works, by booting a small guest with it …");
    let kvm = kvm(&site).map_err(|error| format!("{error:#}"));
    can.insert(KVM.to_owned(), fact_of(&kvm));
    let counts = probes(&site.cache);
    if !options.all && !options.json {
        print_verdict(&can, &kvm, &limits, &site);
        let lacking = TOOLS.iter().any(|tool| tool.find().is_none());
        return Ok(if lacking { Exit::Host } else { Exit::Done });
    }
    let host = telemetry::describe(&site.cache);
    if options.json {
        let found: Facts = can.into_iter().chain(counts).chain(host).collect();
        print(&format!("{}\n", serde_json::to_string_pretty(&found)?));
    } else {
        let what_it_is =
            format!("\nWhat it is, with the disk of {}:\n{}", site.cache.display(), lines(&host, Fact::to_string));
        let what_it_counts = format!("\nWhat can be counted while trials run:\n{}", lines(&counts, yes_or_no));
        print(&format!("What this host can do:\n{}{what_it_counts}{what_it_is}", lines(&can, yes_or_no)));
    }
    let lacking = TOOLS.iter().any(|tool| tool.find().is_none());
    Ok(if lacking { Exit::Host } else { Exit::Done })
}

/// Whether each kind of contender can be measured here, and what to do if not.
fn print_verdict(can: &Facts, kvm: &TriedKvm, limits: &Facts, site: &Site) {
    let missing: Vec<&FoundTool> = TOOLS.iter().filter(|tool| tool.find().is_none()).collect();
    let lacks = |program: &str| missing.iter().any(|tool| tool.program == program);
    let may_build = rustix::process::geteuid().is_root() || crate::tools::may_map_ids();
    let is_native_ready = !missing.iter().any(|tool| tool.program != QEMU);
    let native = match (is_native_ready, may_build) {
        (true, true) => "✓ Native: ready",
        (true, false) => "! Native: only with images that are built already",
        (false, _) => "✗ Native: tools are missing",
    };
    let vm = if lacks(QEMU) { "✗ VM: QEMU is missing".to_owned() } else { vm_line(kvm) };
    let quiet = readiness::busy(site).map_or_else(|| "✓ Quiet: yes".to_owned(), |busy| format!("! Quiet: no, {busy}"));
    let rights =
        if may_build { "✓ Rights: images can be built" } else { "✗ Rights: this user cannot build images" };
    let (native, rights) = (native.to_owned(), rights.to_owned());
    let mut lines = vec![
        native,
        limits_line(limits),
        equal_line(can),
        vm,
        kernel_line(can),
        libvirt_line(can),
        containers(can),
        other_hosts(),
        quiet,
        rights,
    ];
    if !missing.is_empty() {
        let mut packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
        packages.sort_unstable();
        packages.dedup();
        lines.push(format!("To do: apt-get install {}", packages.join(" ")));
    } else if !may_build {
        lines.push("To do: build images as root, or give this user subordinate ids (/etc/subuid)".to_owned());
    } else if limits.values().any(|limit| matches!(limit, Fact::Unavailable(_))) {
        lines.push("To do: run as root; for memory nodes alone: apt-get install numactl".to_owned());
    } else if kvm.as_ref().is_ok_and(|tried| !tried.works) {
        lines.push(
            "To do: for a VM's real cost use a host with KVM: bare metal, or nested virtualization on".to_owned(),
        );
    }
    lines.push("bakeoff doctor --all shows everything that was found".to_owned());
    let lines: Vec<String> = lines.iter().map(|line| wrapped(line, "  ")).collect();
    result(&format!("{}\n", lines.join("\n")));
}

/// What trying KVM showed, or why it could not be tried.
type TriedKvm = Result<accelerator::ProbeResult, String>;

fn vm_line(kvm: &TriedKvm) -> String {
    match kvm {
        Ok(tried) if tried.works => format!("✓ VM: ready, {}", tried.sentence),
        Ok(tried) => format!("! VM: only emulated, because {}", accelerator::cause(&tried.sentence)),
        Err(why) => format!("! VM: not known, because KVM could not be tried: {why}"),
    }
}

/// Whether guests boot this host's own kernel if a study does not say which.
fn kernel(cache: &Path) -> Fact {
    match KernelChoice::Host.release(cache) {
        Ok(release) => Fact::known(format!("this host's own, {}", release.unwrap_or_default())),
        Err(why) => Fact::unavailable(why.to_string()),
    }
}

fn kernel_line(can: &Facts) -> String {
    match can.get(KERNEL) {
        Some(Fact::Known(which)) => format!("✓ Kernel of guests: {which}"),
        Some(Fact::Unavailable(why)) => format!("! Kernel of guests: {}, because {why}", KernelChoice::of_this_host()),
        None => "- Kernel of guests: not known".to_owned(),
    }
}

fn fact_of(kvm: &TriedKvm) -> Fact {
    match kvm {
        Ok(tried) if tried.works => Fact::known(tried.sentence.clone()),
        Ok(tried) => Fact::unavailable(tried.sentence.clone()),
        Err(why) => Fact::unavailable(format!("it could not be tried: {why}")),
    }
}

/// Whether machines on this host's kernel can be held to their shape.
fn limits(cache: &Path) -> Facts {
    let HostTrial { memory, cpu_time, memory_nodes, .. } = platforms::on_this_host(cache);
    let tried = [("memory", memory), ("CPU time", cpu_time), ("memory nodes", memory_nodes)];
    tried
        .into_iter()
        .map(|(name, held)| {
            let held = held.map(|_| Fact::known("machines are held to it"));
            (format!("limit {name}"), held.unwrap_or_else(Fact::unavailable))
        })
        .collect()
}

fn limits_line(limits: &Facts) -> String {
    let names = |holds: bool| -> Vec<&str> {
        let these = limits.iter().filter(|(_, limit)| matches!(limit, Fact::Known(_)) == holds);
        these.filter_map(|(name, _)| name.strip_prefix("limit ")).collect()
    };
    let why = limits.values().find_map(|limit| if let Fact::Unavailable(why) = limit { Some(why) } else { None });
    match (names(true), why) {
        (held, None) => format!("✓ Limits: native machines and containers are held to {}", held.join(", ")),
        (held, Some(why)) if held.is_empty() => format!("! Limits: none, because {why}"),
        (held, Some(why)) => {
            format!("! Limits: {}, but not {}, because {why}", held.join(", "), names(false).join(", "))
        }
    }
}

/// The properties that native machines, guests and containers of one shape have here, and whether they are equal.
fn equal(can: &Facts, site: &Site) -> Result<Facts> {
    let is_here = |tool: &&FoundTool| matches!(can.get(&format!("{RUNTIME}{}", tool.program)), Some(Fact::Known(_)));
    let runtime = |tool: &FoundTool| (tool.program, format!("\"oci\", runtime = \"{}\"", tool.program));
    let machines = [("native", "\"native\""), ("VM", "\"qemu\", accelerator = \"tcg\"")];
    let machines = machines.map(|(name, kind)| (name, kind.to_owned())).into_iter();
    let machines = machines.chain(RUNTIMES.iter().filter(is_here).map(runtime));
    let contender =
        |(name, kind): (&str, String)| format!("[[contender]]\nname = \"{name}\"\nplatform = {{ kind = {kind} }}\n");
    let contenders: String = machines.map(contender).collect();
    let plan = plan_of(&format!("{SMALL}{contenders}"))?;
    let row = |row: EqualRow| {
        let [property, value, sameness] = words(&row);
        let differs = row.sameness == Sameness::Differs;
        let fact = if differs { Fact::unavailable(value) } else { Fact::known(format!("{sameness}: {value}")) };
        (format!("{EQUAL}{property}"), fact)
    };
    Ok(ahead::equal(&plan, &ahead::of(&plan, site)).into_iter().map(row).collect())
}

fn equal_line(can: &Facts) -> String {
    let of = |is_it: &dyn Fn(&Fact) -> bool| -> String {
        let these = can.iter().filter(|(_, fact)| is_it(fact)).filter_map(|(name, _)| name.strip_prefix(EQUAL));
        these.collect::<Vec<_>>().join(", ")
    };
    let is = |words: &'static str| move |fact: &Fact| matches!(fact, Fact::Known(text) if text.starts_with(words));
    let same = of(&is(Sameness::Equal.words()));
    let kind = of(&is(Sameness::OfTheKind.words()));
    match of(&|fact| matches!(fact, Fact::Unavailable(_))) {
        none if none.is_empty() => format!("✓ Equal on both sides: {same}; part of the comparison: {kind}"),
        differing => format!("! Equal on both sides: {same}; but not {differing}; part of the comparison: {kind}"),
    }
}

/// A host without libvirt lacks nothing, unless a study asks for it.
fn libvirt_line(can: &Facts) -> String {
    match can.get(LIBVIRT) {
        Some(Fact::Known(what)) => format!("✓ libvirt: ready, {what} at {LIBVIRT_URI}"),
        Some(Fact::Unavailable(why)) => format!("- libvirt: none, because {why}"),
        None => "- libvirt: not known".to_owned(),
    }
}

/// Whether machines on other hosts can be reached; which of them are there shows only when one is asked.
fn other_hosts() -> String {
    let missing: Vec<&str> =
        OF_OTHER_HOSTS.iter().filter(|tool| tool.find().is_none()).map(|tool| tool.program).collect();
    if missing.is_empty() {
        "✓ Other hosts: ready, by ssh; each is asked when a run needs it".to_owned()
    } else {
        format!("! Other hosts: {} missing", missing.join(" and "))
    }
}

/// Which runtimes of containers are ready.
fn containers(can: &Facts) -> String {
    let runtimes = || can.iter().filter_map(|(name, fact)| Some((name.strip_prefix(RUNTIME)?, fact)));
    let ready: Vec<&str> = runtimes()
        .filter_map(|(_, fact)| if let Fact::Known(version) = fact { Some(version.as_str()) } else { None })
        .collect();
    let lacking: Vec<&str> =
        runtimes().filter(|(_, fact)| matches!(fact, Fact::Unavailable(_))).map(|(name, _)| name).collect();
    match (ready.is_empty(), lacking.is_empty()) {
        (true, _) => format!("! Containers: none of {} is ready", lacking.join(", ")),
        (false, true) => format!("✓ Containers: {}", ready.join(", ")),
        (false, false) => format!("✓ Containers: {}; not {}", ready.join(", "), lacking.join(", ")),
    }
}

/// The version of a runtime, or why it cannot be used.
fn runtime(tool: &FoundTool) -> Fact {
    Runtime::find(tool.program)
        .map_or_else(|error| Fact::unavailable(error.to_string()), |found| Fact::known(found.version))
}

/// One fact per line, in columns.
fn lines(facts: &Facts, shown: impl Fn(&Fact) -> String) -> String {
    let width = facts.keys().map(String::len).max().unwrap_or_default();
    let lines: Vec<String> = facts.iter().map(|(name, fact)| format!("  {name:<width$}  {}\n", shown(fact))).collect();
    lines.concat()
}

fn yes_or_no(fact: &Fact) -> String {
    match fact {
        Fact::Known(how) => format!("yes, {how}"),
        Fact::Unavailable(why) => format!("no, because {why}"),
    }
}

/// Every probe: how many columns it has here, or why it has none and what would help.
fn probes(path: &Path) -> Facts {
    let told = telemetry::probes_here(path).into_iter().map(|probe| {
        let fact = match &probe.columns {
            Reading::Known(columns) => Fact::known(format!("{} columns from {}", columns.len(), probe.source)),
            Reading::Unavailable(why) => Fact::unavailable(why),
        };
        (format!("probe {}", probe.name), fact)
    });
    let mut facts: Facts = told.collect();
    for (name, needs) in OF_A_GUEST {
        facts.insert(format!("probe {name}"), Fact::unavailable(format!("no guest is running; {needs}")));
    }
    facts
}

fn told(tool: &FoundTool) -> Fact {
    let FoundTool { program, package, purpose, .. } = tool;
    match tool.find() {
        Some(file) => Fact::known(format!("{} (for {purpose})", file.display())),
        None => Fact::unavailable(format!("{program} is not installed; install Debian's package {package}")),
    }
}

/// Whether there is a login for vCenter servers that a study names without one.
fn login() -> Fact {
    let Credentials { vsphere_user, vsphere_password } = host::credentials();
    let unset = [(VSPHERE_USER, vsphere_user.is_some()), (VSPHERE_PASSWORD, vsphere_password.is_some())];
    let unset: Vec<&str> = unset.into_iter().filter(|(_, is_set)| !is_set).map(|(name, _)| name).collect();
    match unset[..] {
        [] => Fact::known(format!("{VSPHERE_USER} and {VSPHERE_PASSWORD} are set (for platform vsphere)")),
        _ => Fact::unavailable(format!(
            "{} is not set; a study can name platform.user and platform.password_file instead",
            unset.join(" and ")
        )),
    }
}

fn qemu_version() -> Fact {
    accelerator::qemu_version().map_or_else(|error| Fact::unavailable(error.to_string()), Fact::known)
}

/// Restrictions on a guest that has taken over QEMU.
fn held_back() -> Facts {
    let Isolation { sandbox, user } = Isolation::here();
    let known = |what: &'static str| move |()| Fact::known(what);
    let user = user.clone().map_or(Ok(()), |switch| switch.map(drop));
    let told = [
        ("qemu sandbox", sandbox.clone().map(known("QEMU's system calls are filtered"))),
        ("qemu without root", user.map(known("QEMU runs as another user than root"))),
    ];
    told.map(|(name, fact)| (name.to_owned(), fact.unwrap_or_else(Fact::unavailable))).into_iter().collect()
}

/// Boots a tiny guest with KVM, within a time limit. The answer is remembered until the host is booted again.
fn kvm(site: &Site) -> Result<accelerator::ProbeResult> {
    let cache = images::Cache::open(&site.cache)?;
    let recipe = images::find("micro", None)?;
    let image = images::build(&recipe, &KernelChoice::of_this_host(), &cache, false, &mut |step| say(step))?;
    let scratch = Scratch::create(&site.scratch, &format!("doctor-{}", std::process::id()))?;
    let folder = scratch.machine("kvm")?;
    let probe = KvmProbe {
        image,
        agent: site.agent.clone(),
        cache: site.cache.clone(),
        scratch: folder.path().to_owned(),
        wish: QemuSettings::default().wish(),
        cpus: site.cpus.clone(),
    };
    Ok(accelerator::kvm(&probe)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kvm_that_was_not_tried_is_not_called_missing() {
        let found = |works, sentence: &str| Ok(accelerator::ProbeResult { works, sentence: sentence.to_owned() });
        assert_eq!(vm_line(&found(true, "KVM works")), "✓ VM: ready, KVM works");
        assert_eq!(vm_line(&found(false, "it hangs")), "! VM: only emulated, because it hangs");
        let untried = Err("cannot build the image micro".to_owned());
        let told = vm_line(&untried);
        assert!(told.starts_with("! VM: not known, because KVM could not be tried: cannot build"), "{told}");
        assert_eq!(
            fact_of(&untried).to_string(),
            "unavailable, because it could not be tried: cannot build the image micro"
        );
    }
}
