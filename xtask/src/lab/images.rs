//! Images of this machine's cache for the lab's hosts.

use super::host::LabHost;
use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The hosts boot their own kernel in guests; a study may ask for this one.
const KERNEL: &str = "debian-12";
/// The entries of the cache that runs in the lab need.
const IMAGES: [(&str, &str); 3] = [("tree", "micro"), ("tree", "postgres"), ("kernel", KERNEL)];
const USERS: [&str; 2] = ["root", "dba"];

/// The folder of the newest entry of that kind and name in the cache.
pub fn cached(program: &Path, kind: &str, name: &str) -> anyhow::Result<PathBuf> {
    let listed = Command::new(program).args(["image", "list", "--json"]).output()?.stdout;
    let listed: serde_json::Value = serde_json::from_slice(&listed).context("the list of images")?;
    let entries = listed.as_array().context("a list of images")?.iter();
    let entries = entries.filter(|entry| entry["kind"] == kind && entry["name"] == name);
    let newest = entries.max_by_key(|entry| entry["built_unix_s"].as_u64());
    let newest = newest.with_context(|| format!("the {kind} {name} is not in the cache"))?;
    Ok(newest["folder"].as_str().context("an entry has a folder")?.into())
}

/// Copies images into the lab's caches, where building them would take too long. They stay there on the data disk.
pub fn copy(host: &LabHost, program: &Path) -> anyhow::Result<()> {
    // A kernel comes with each image.
    for (_, name) in IMAGES.iter().filter(|(kind, _)| *kind == "tree") {
        let built =
            Command::new(program).args(["image", "build", name, "--kernel", KERNEL]).stdout(Stdio::null()).status()?;
        ensure!(built.success(), "the image {name} was not built");
    }
    for (kind, name) in IMAGES {
        let folder = cached(program, kind, name)?;
        let shelf = folder.parent().context("an entry has a shelf")?;
        let cache = shelf.parent().context("a shelf is in a cache")?;
        let entry = folder.strip_prefix(cache)?.display().to_string();
        for user in USERS {
            let there = format!("test -e .cache/bakeoff/{entry}/manifest.json && echo there");
            if host.output(user, &there)?.is_empty() {
                let mut pack =
                    Command::new("tar").arg("c").arg("-C").arg(cache).arg(&entry).stdout(Stdio::piped()).spawn()?;
                let packed = pack.stdout.take().context("its output is piped")?;
                host.feed(user, "mkdir -p .cache/bakeoff && tar x --no-same-owner -C .cache/bakeoff", packed.into())?;
                ensure!(pack.wait()?.success(), "{entry} was not packed");
            }
        }
    }
    Ok(())
}
