//! Whether this host can carry out a plan, as far as that is known without measuring: tools, rights, room, devices, KVM, quiet.

use crate::exit::EndedWith;
use crate::live::BUSY;
use crate::{host, tools};
use anyhow::Result;
use images::{Recipe, RecipeError};
use machines::scratch::Scratch;
use platforms::capabilities::ImageUse;
use platforms::qemu::accelerator::{self, KvmProbe};
use record::host_state::HostState;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use study::{Storage, TypedCell, TypedPlan};
use trial::order::{Images, image_name};
use trial::site::Site;

/// The time between two readings of the host's processes.
const LOOK: Duration = Duration::from_millis(500);

/// Trials would fail without these, each as a sentence. Room is that of `site`, so that tests can pass their own place.
pub fn lacking(plan: &TypedPlan, site: &Site) -> Result<Vec<String>> {
    let lacks = tools::require_for(plan, site.lines.is_none()).err();
    let mut lacking: Vec<String> = lacks.map(|lacks| lacks.to_string()).into_iter().collect();
    lacking.extend(trial::room::lacking(plan, site)?);
    lacking.extend(no_right_to_build(plan, site)?);
    for cell in plan.planned() {
        for why in [device_lacks(cell), runtime_lacks(cell), kernel_lacks(cell)].into_iter().flatten() {
            let sentence = format!("contender {}: {why}", cell.written.contender);
            if !lacking.contains(&sentence) {
                lacking.push(sentence);
            }
        }
    }
    lacking.extend(daemons_lack(plan));
    Ok(lacking)
}

/// Why this host cannot run some cells of the plan, by cell: what their platforms need is not there.
pub fn missing(plan: &TypedPlan, site: &Site) -> BTreeMap<u32, String> {
    let credentials = host::credentials();
    let lacks = |cell: &TypedCell| {
        let id = cell.written.id;
        let own = plan.with_trials(plan.trials.iter().filter(|trial| trial.cell == id).cloned().collect());
        let tools = tools::missing(&own, site.lines.is_none())
            .into_iter()
            .map(|tool| format!("{} is not installed (on Debian: apt-get install {})", tool.program, tool.package));
        let login = cell.platform.without_login(&credentials);
        let lacks = tools.chain(runtime_lacks(cell)).chain(kernel_lacks(cell)).chain(login).chain(daemons_lack(&own));
        let lacks: Vec<String> = lacks.collect();
        (!lacks.is_empty()).then(|| (id, lacks.join("; ")))
    };
    plan.planned().filter_map(lacks).collect()
}

/// Fails if a contender that should run with KVM is known not to.
pub fn require_kvm(plan: &TypedPlan, cache: &Path) -> Result<()> {
    for cell in plan.planned() {
        if let Some(why) = cell.platform.kvm_wish().and_then(|wish| accelerator::without_kvm(&wish, cache)) {
            let contender = &cell.written.contender;
            return Err(EndedWith::host(format!("--require-kvm: {contender} cannot run with KVM here: {why}")).into());
        }
    }
    Ok(())
}

/// True if KVM has still to be tried: only booting a guest with it shows whether it works for a contender.
pub fn is_kvm_open(plan: &TypedPlan, cache: &Path) -> bool {
    let mut wishes = plan.planned().filter_map(|cell| cell.platform.kvm_wish());
    wishes.any(|wish| accelerator::is_to_be_tried(&wish, cache))
}

/// Tries KVM where only trying shows whether it works, as the first trial would have to do.
pub fn try_kvm(plan: &TypedPlan, images: &Images, site: &Site) -> Result<()> {
    for cell in plan.planned() {
        let wish = cell.platform.kvm_wish().filter(|wish| accelerator::is_to_be_tried(wish, &site.cache));
        let Some(wish) = wish else { continue };
        let Some(image) = images.get(&image_name(cell)) else { continue };
        let scratch = Scratch::create(&site.scratch, &format!("kvm-{}", std::process::id()))?;
        let probe = KvmProbe {
            image: image.clone(),
            agent: site.agent.clone(),
            cache: site.cache.clone(),
            scratch: scratch.machine("kvm")?.path().to_owned(),
            wish,
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
fn no_right_to_build(plan: &TypedPlan, site: &Site) -> Result<Option<String>> {
    let may_build = rustix::process::geteuid().is_root() || tools::may_map_ids();
    let recipes = plan.planned().map(TypedCell::recipe);
    if may_build { Ok(None) } else { to_be_built(recipes, &site.cache) }
}

fn to_be_built(recipes: impl Iterator<Item = Result<Recipe, RecipeError>>, cache: &Path) -> Result<Option<String>> {
    for recipe in recipes {
        let recipe = recipe?;
        // Without packages no file belongs to anybody else.
        if !recipe.packages.is_empty() && images::tree_in_cache(&recipe, cache)?.is_none() {
            return Ok(Some(format!(
                "the image {} has to be built, and this user has no right to: run it as root once, or give the user \
                 subordinate ids (usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER)",
                recipe.name
            )));
        }
    }
    Ok(None)
}

/// A runtime that is named by its path and cannot be run. Those that are named by their name are tools.
fn runtime_lacks(cell: &TypedCell) -> Option<String> {
    let path = cell.platform.runtime().filter(|named| named.starts_with('/'))?;
    platforms::oci::runtime::lacking(Path::new(path))
}

/// A kernel on this host that guests cannot boot.
fn kernel_lacks(cell: &TypedCell) -> Option<String> {
    let boots = cell.platform.can().image == ImageUse::TreeAndKernel;
    boots.then(|| cell.machine.kernel.lacking()).flatten()
}

/// Daemons that contenders need and that do not answer. Each is asked once.
fn daemons_lack(plan: &TypedPlan) -> Vec<String> {
    let needed: BTreeSet<&str> = plan.planned().filter_map(|cell| cell.platform.daemon()).collect();
    let lacks = |uri: &str| Some(format!("{uri}: {}", platforms::libvirt::ready::answering(uri).err()?));
    needed.into_iter().filter_map(lacks).collect()
}

fn device_lacks(cell: &TypedCell) -> Option<String> {
    let disk = &cell.machine.disk;
    let device = disk.device.as_ref().filter(|_| disk.storage == Storage::Device)?;
    images::data::require_idle(device.as_ref(), disk.size_bytes.0).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_image_with_packages_needs_the_right_to_build() {
        let cache = tempfile::tempdir().unwrap();
        let why = |image: &str| to_be_built([images::find(image, None)].into_iter(), cache.path()).unwrap();
        assert_eq!(why("micro"), None);
        let told = why("postgres").unwrap();
        assert!(told.starts_with("the image postgres has to be built") && told.contains("--add-subuids"), "{told}");
    }
}
