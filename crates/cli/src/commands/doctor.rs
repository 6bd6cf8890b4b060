//! `bakeoff doctor`: what this host can do; each thing yes, or no and why.

use crate::arguments::DoctorOptions;
use crate::display::{print, say};
use crate::exit::Exit;
use crate::host;
use anyhow::Result;
use machines::scratch::Scratch;
use platforms::qemu::accelerator::{self, Probe};
use record::facts::{Fact, Facts};
use std::path::Path;
use trial::site::Site;

/// Programs that runs are made of, and Debian's package for each.
const TOOLS: &[(&str, &str, &str)] = &[
    ("qemu-system-x86_64", "qemu-system-x86", "platform qemu"),
    ("bwrap", "bubblewrap", "platform native"),
    ("setpriv", "util-linux", "processes that die with the run"),
    ("taskset", "util-linux", "native machines on the shape's CPUs"),
    ("mmdebstrap", "mmdebstrap", "building images"),
    ("mke2fs", "e2fsprogs", "making disks"),
];
/// Folders beside PATH in which Debian keeps tools for administrators.
const MORE_FOLDERS: &[&str] = &["/usr/sbin", "/sbin"];

pub fn doctor(options: &DoctorOptions) -> Result<Exit> {
    let site = host::site()?;
    let mut found = Facts::new();
    for (program, package, purpose) in TOOLS {
        found.insert(format!("tool {program}"), tool(program, package, purpose));
    }
    found.insert("accelerator tcg".to_owned(), qemu_version());
    say("probing whether KVM works, by booting a small guest with it …");
    found.insert("accelerator kvm".to_owned(), kvm(&site));
    found.extend(telemetry::describe(&site.cache));
    if options.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&found)?));
    } else {
        let width = found.keys().map(String::len).max().unwrap_or_default();
        let lines = found.iter().map(|(name, fact)| format!("{name:<width$}  {fact}\n"));
        print(&lines.collect::<String>());
    }
    let lacking = TOOLS.iter().any(|(program, ..)| matches!(found[&format!("tool {program}")], Fact::Unavailable(_)));
    Ok(if lacking { Exit::Host } else { Exit::Done })
}

fn tool(program: &str, package: &str, purpose: &str) -> Fact {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(MORE_FOLDERS.iter().map(|folder| Path::new(folder).to_owned()));
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    match found {
        Some(file) => Fact::known(format!("{} (for {purpose})", file.display())),
        None => Fact::unavailable(format!("{program} is not installed; install Debian's package {package}")),
    }
}

fn qemu_version() -> Fact {
    accelerator::qemu_version().map_or_else(|error| Fact::unavailable(error.to_string()), Fact::known)
}

/// Boots a tiny guest with KVM, with a deadline; the answer is remembered until the host is booted again.
fn kvm(site: &Site) -> Fact {
    let probed = || -> Result<accelerator::Finding> {
        let cache = images::Cache::open(&site.cache)?;
        let recipe = images::find("micro", None)?;
        let image = images::build(&recipe, images::Flavour::Cloud, &cache, false, &mut |step| say(step))?;
        let scratch = Scratch::create(&site.scratch, &format!("doctor-{}", std::process::id()))?;
        let folder = scratch.machine("kvm")?;
        let probe = Probe {
            image,
            agent: site.agent.clone(),
            cache: site.cache.clone(),
            scratch: folder.path().to_owned(),
            cpu: "auto".to_owned(),
            cpus: site.cpus.clone(),
        };
        Ok(accelerator::kvm(&probe)?)
    };
    match probed() {
        Ok(finding) if finding.works => Fact::known(finding.sentence),
        Ok(finding) => Fact::unavailable(finding.sentence),
        Err(error) => Fact::unavailable(format!("{error:#}")),
    }
}
