//! Whether this host can carry out a plan, as far as that is known without measuring: tools, rights, room, devices, KVM, quiet.

use crate::exit::Ended;
use crate::live::BUSY;
use crate::tools::{self, planned};
use anyhow::Result;
use machines::scratch::Scratch;
use platforms::qemu::accelerator::{self, Probe};
use platforms::qemu::settings::KvmWish;
use record::host_state::HostState;
use record::plan::{Cell, Plan};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use study::Storage;
use trial::order::Images;
use trial::site::Site;

/// The time between two readings of the host's processes.
const LOOK: Duration = Duration::from_millis(500);

/// Trials would fail without these, each as a sentence. Room is that of `site`, so that tests can pass their own place.
pub fn lacking(plan: &Plan, site: &Site) -> Result<Vec<String>> {
    let lacks = tools::require_for(plan, site.lines.is_none()).err();
    let mut lacking: Vec<String> = lacks.map(|lacks| lacks.to_string()).into_iter().collect();
    lacking.extend(trial::room::lacking(plan, &plan.trials, site)?);
    lacking.extend(no_right_to_build(plan, site)?);
    for cell in planned(plan) {
        for why in [device_lacks(cell), runtime_lacks(cell)].into_iter().flatten() {
            let sentence = format!("contender {}: {why}", cell.contender);
            if !lacking.contains(&sentence) {
                lacking.push(sentence);
            }
        }
    }
    lacking.extend(daemons_lack(plan));
    Ok(lacking)
}

/// Why this host cannot run some cells of the plan, by cell: what their platforms need is not there.
pub fn missing(plan: &Plan, site: &Site) -> BTreeMap<u32, String> {
    let lacks = |cell: &Cell| {
        let trials = plan.trials.iter().filter(|trial| trial.cell == cell.id).cloned().collect();
        let own = Plan { trials, ..plan.clone() };
        let tools = tools::missing(&own, site.lines.is_none())
            .into_iter()
            .map(|tool| format!("{} is not installed (on Debian: apt-get install {})", tool.program, tool.package));
        let lacks = tools.chain(runtime_lacks(cell)).chain(tools::no_login(cell)).chain(daemons_lack(&own));
        let lacks: Vec<String> = lacks.collect();
        (!lacks.is_empty()).then(|| (cell.id, lacks.join("; ")))
    };
    planned(plan).filter_map(lacks).collect()
}

/// Fails if a contender that should run with KVM is known not to.
pub fn require_kvm(plan: &Plan, cache: &Path) -> Result<()> {
    for cell in planned(plan) {
        if let Some(why) = kvm_wish(cell).and_then(|wish| accelerator::without_kvm(&wish, cache)) {
            let contender = &cell.contender;
            return Err(Ended::host(format!("--require-kvm: {contender} cannot run with KVM here: {why}")).into());
        }
    }
    Ok(())
}

/// True if KVM has still to be tried: only booting a guest with it tells whether it works for a contender.
pub fn is_kvm_open(plan: &Plan, cache: &Path) -> bool {
    planned(plan).filter_map(kvm_wish).any(|wish| accelerator::is_to_be_tried(&wish, cache))
}

fn kvm_wish(cell: &Cell) -> Option<KvmWish> {
    let (kind, table) = study::kind_and_table(cell, "platform")?;
    platforms::catalog::kvm_wish(kind, &table)
}

/// Tries KVM where only trying tells whether it works, as the first trial would have to do.
pub fn try_kvm(plan: &Plan, images: &Images, site: &Site) -> Result<()> {
    for cell in planned(plan) {
        let Some(wish) = kvm_wish(cell).filter(|wish| accelerator::is_to_be_tried(wish, &site.cache)) else { continue };
        let Ok(machine) = study::machine(cell) else { continue };
        let Some(image) = images.get(&(machine.image, machine.kernel)) else { continue };
        let scratch = Scratch::create(&site.scratch, &format!("kvm-{}", std::process::id()))?;
        let probe = Probe {
            image: image.clone(),
            agent: site.agent.clone(),
            cache: site.cache.clone(),
            scratch: scratch.machine("kvm")?.path().to_owned(),
            cpu: wish.cpu,
            binary: wish.binary,
            limit_ms: wish.limit_ms,
            cpus: site.cpus.clone(),
        };
        accelerator::kvm(&probe)?;
    }
    Ok(())
}

/// The share of the host's CPUs that other programs use, if it is more than a trial should have beside it. Takes a moment.
pub fn busy(site: &Site) -> Option<String> {
    let start = (site.read_host)();
    std::thread::sleep(LOOK);
    let share = HostState { start, end: (site.read_host)() }.others().known().copied()?;
    (share > BUSY).then(|| format!("other programs are using {:.0} % of the CPUs", share * 100.0))
}

/// Users other than root build images in a user namespace with many ids, which an administrator must have granted.
fn no_right_to_build(plan: &Plan, site: &Site) -> Result<Option<String>> {
    if rustix::process::geteuid().is_root() || tools::may_map_ids() {
        return Ok(None);
    }
    for cell in planned(plan) {
        let Ok(image) = study::machine(cell).map(|machine| machine.image) else { continue };
        let recipe = images::find(&image, None)?;
        // Without packages no file belongs to anybody else.
        if !recipe.packages.is_empty() && images::tree_in_cache(&recipe, &site.cache)?.is_none() {
            return Ok(Some(format!(
                "the image {image} has to be built, and this user has no right to: run it as root once, or give the user \
                 subordinate ids (usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER)"
            )));
        }
    }
    Ok(None)
}

/// A runtime that is named by its path and cannot be run. Those that are named by their name are tools.
fn runtime_lacks(cell: &Cell) -> Option<String> {
    let path = tools::runtime_of(cell).filter(|named| named.starts_with('/'))?;
    platforms::oci::runtime::lacking(Path::new(&path))
}

/// Daemons that contenders need and that do not answer. Each is asked once.
fn daemons_lack(plan: &Plan) -> Vec<String> {
    let needed = planned(plan).filter_map(|cell| {
        let (kind, table) = study::kind_and_table(cell, "platform")?;
        platforms::catalog::daemon(kind, &table)
    });
    let needed: BTreeSet<String> = needed.collect();
    let lacks = |uri: String| Some(format!("{uri}: {}", platforms::libvirt::ready::answering(&uri).err()?));
    needed.into_iter().filter_map(lacks).collect()
}

fn device_lacks(cell: &Cell) -> Option<String> {
    let disk = study::machine(cell).ok()?.disk;
    let device = disk.device.filter(|_| disk.storage == Storage::Device)?;
    images::data::require_idle(device.as_ref(), disk.size_bytes.0).err().map(|error| error.to_string())
}
