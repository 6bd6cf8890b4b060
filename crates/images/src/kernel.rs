//! Kernels: Debian's, unpacked without being installed. Also the modules that a guest must load before it can mount
//! anything, in the order in which they can be loaded.
//!
//! Nothing here runs `depmod` or a maintainer's script: each module itself says what it depends on.

use crate::Kernel;
use crate::cache::{
    BUILDER, Cache, CacheError, EntryKind, Lookup, Manifest, identity, keep, look_up, size_on_disk, unix_seconds, walk,
};
use crate::modinfo::{self, ModinfoError};
use crate::tool::{MMDEBSTRAP, ToolError};
use crate::tree::{self, TreeError};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The release that kernels come from, whatever release is in the image: one kernel for all contenders.
const SUITE: &str = "bookworm";

/// One of Debian's kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// For virtual machines: small, with virtio drivers only.
    #[default]
    Cloud,
    /// With every driver, including AHCI.
    Generic,
}

impl Flavour {
    /// The flavour with the name that a study uses.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Cloud, Self::Generic].into_iter().find(|flavour| flavour.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Flavour::Cloud => "cloud",
            Flavour::Generic => "generic",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Flavour::Cloud => "linux-image-cloud-amd64",
            Flavour::Generic => "linux-image-amd64",
        }
    }
}

impl FromStr for Flavour {
    type Err = KernelError;

    fn from_str(name: &str) -> Result<Flavour, KernelError> {
        let known = [Flavour::Cloud, Flavour::Generic].into_iter().find(|flavour| flavour.name() == name);
        known.ok_or_else(|| KernelError::UnknownFlavour { name: name.to_owned() })
    }
}

#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    #[error("there is no kernel `{name}`; there are: cloud, generic")]
    UnknownFlavour { name: String },
    #[error("the image `{image}` was built without a kernel, for native machines alone")]
    NoKernel { image: String },
    #[error("the kernel {release} has no driver `{module}`{}", after_semicolon(.hint.as_ref()))]
    MissingDriver { module: String, release: String, hint: Option<&'static str> },
    #[error("the module {} is compressed; only plain modules can be loaded here", .path.display())]
    Compressed { path: PathBuf },
    #[error("the kernel package holds {found} kernels in {}, not one", .folder.display())]
    NotOneKernel { folder: PathBuf, found: usize },
    #[error(transparent)]
    Modinfo(#[from] ModinfoError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error(transparent)]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Tool(#[from] ToolError),
}

fn after_semicolon(hint: Option<&&'static str>) -> String {
    hint.map(|hint| format!("; {hint}")).unwrap_or_default()
}

/// The kernel of that flavour and its manifest. It is unpacked if it is not in the cache.
pub(crate) fn fetch(
    flavour: Flavour,
    cache: &Cache,
    force: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<(Kernel, Manifest), KernelError> {
    let key = identity([SUITE.as_bytes(), flavour.package().as_bytes(), &BUILDER.to_le_bytes()]);
    let place = cache.place(EntryKind::Kernel, flavour.name(), &key);
    let folder = match look_up(&place, force, progress)? {
        Lookup::Found(manifest) => return Ok((kernel_in(&place, &manifest), manifest)),
        Lookup::Missing(folder) => folder,
    };
    progress(&format!("unpacking Debian's {} kernel", flavour.name()));
    let archive = tree::bootstrap(&tree::Contents::unpacked(SUITE, flavour.package()), folder.work(), progress)?;
    let unpacked = tree::unpack(&archive, folder.work())?;
    let built = folder.built();
    let release = take_kernel(&unpacked, &built)?;
    let packages = tree::unpacked_packages(&unpacked)?;
    let packages: Vec<String> = packages.into_iter().filter(|name| name.starts_with("linux-image-")).collect();
    let id = identity([key.as_bytes(), packages.join("\n").as_bytes()]);
    let manifest = Manifest {
        name: flavour.name().to_owned(),
        key,
        id,
        packages,
        size_bytes: size_on_disk(&built)?,
        built_unix_s: unix_seconds(),
        builder: BUILDER,
        tools: vec![MMDEBSTRAP.version("--version")?],
        release: Some(release),
    };
    keep(folder, &manifest)?;
    Ok((kernel_in(&place, &manifest), manifest))
}

fn kernel_in(place: &Path, manifest: &Manifest) -> Kernel {
    let release = manifest.release.clone().unwrap_or_default();
    Kernel { file: place.join("vmlinuz"), modules: place.join("modules"), release }
}

/// Moves the kernel and its modules out of an unpacked package; returns the kernel's release.
fn take_kernel(unpacked: &Path, to: &Path) -> Result<String, KernelError> {
    let boot = unpacked.join("boot");
    let mut releases = Vec::new();
    for entry in fs::read_dir(&boot).map_err(CacheError::io("list", &boot))? {
        let name = entry.map_err(CacheError::io("list", &boot))?.file_name();
        releases.extend(name.to_string_lossy().strip_prefix("vmlinuz-").map(str::to_owned));
    }
    let [release] = releases.as_slice() else {
        return Err(KernelError::NotOneKernel { folder: boot, found: releases.len() });
    };
    fs::create_dir(to).map_err(CacheError::io("create", to))?;
    // Newer packages have only `usr/lib`, older ones only `lib`.
    let modules = ["lib/modules", "usr/lib/modules"].map(|folder| unpacked.join(folder).join(release));
    let modules = modules.iter().find(|folder| folder.is_dir()).unwrap_or(&modules[0]);
    fs::rename(modules, to.join("modules")).map_err(CacheError::io("move", modules))?;
    let file = boot.join(format!("vmlinuz-{release}"));
    fs::rename(&file, to.join("vmlinuz")).map_err(CacheError::io("move", &file))?;
    Ok(release.clone())
}

/// The wanted modules and everything they need, each after those it needs. Drivers built into the kernel are left out.
pub fn module_closure(kernel: &Kernel, wanted: &[&str]) -> Result<Vec<PathBuf>, KernelError> {
    let index = ModuleIndex::read(kernel)?;
    let mut order = KernelOrder { index: &index, aliases: None, visited: HashSet::new(), files: Vec::new() };
    for module in wanted {
        order.require(module)?;
    }
    Ok(order.files)
}

/// The modules of a kernel, by name.
struct ModuleIndex<'a> {
    kernel: &'a Kernel,
    files: HashMap<String, PathBuf>,
    built_in: HashSet<String>,
}

impl<'a> ModuleIndex<'a> {
    fn read(kernel: &'a Kernel) -> Result<Self, KernelError> {
        let mut files = HashMap::new();
        walk(&kernel.modules, &mut |path, metadata| {
            if let Some(name) = module_name(path).filter(|_| metadata.is_file()) {
                files.insert(name, path.to_owned());
            }
        })?;
        let list = kernel.modules.join("modules.builtin");
        let text = fs::read_to_string(&list).map_err(CacheError::io("read", &list))?;
        let built_in = text.lines().filter_map(|line| module_name(Path::new(line))).collect();
        Ok(ModuleIndex { kernel, files, built_in })
    }

    fn missing(&self, module: &str) -> KernelError {
        let is_cloud = self.kernel.release.contains("cloud");
        let hint = is_cloud.then_some("Debian's generic kernel may have it: kernel = \"generic\"");
        KernelError::MissingDriver { module: module.to_owned(), release: self.kernel.release.clone(), hint }
    }

    /// Module names by their aliases. Making this map reads every module, so it is made only when needed.
    fn aliases(&self) -> Result<HashMap<String, String>, KernelError> {
        let mut aliases = HashMap::new();
        let mut modules: Vec<(&String, &PathBuf)> = self.files.iter().collect();
        // Portable implementations are named `…_generic`. They come last, so they win over those that need special hardware.
        modules.sort_by_key(|(name, _)| (name.ends_with("_generic"), name.as_str()));
        for (name, path) in modules {
            let info = modinfo::read(path)?;
            aliases.extend(modinfo::values(&info, "alias").map(|alias| (normal(alias), name.clone())));
        }
        Ok(aliases)
    }
}

/// The growing load order.
struct KernelOrder<'a> {
    index: &'a ModuleIndex<'a>,
    aliases: Option<HashMap<String, String>>,
    visited: HashSet<String>,
    files: Vec<PathBuf>,
}

impl KernelOrder<'_> {
    fn require(&mut self, module: &str) -> Result<(), KernelError> {
        let module = normal(module);
        if self.index.built_in.contains(&module) || !self.visited.insert(module.clone()) {
            return Ok(());
        }
        let path = self.index.files.get(&module).ok_or_else(|| self.index.missing(&module))?;
        if path.extension().is_none_or(|extension| extension != "ko") {
            return Err(KernelError::Compressed { path: path.clone() });
        }
        let info = modinfo::read(path)?;
        for needed in modinfo::values(&info, "softdep").flat_map(needed_before) {
            self.require_if_there(needed)?;
        }
        for needed in modinfo::values(&info, "depends").flat_map(|list| list.split(',')).filter(|name| !name.is_empty())
        {
            self.require(needed)?;
        }
        self.files.push(path.clone());
        Ok(())
    }

    /// A soft dependency names a module or an alias, and may be missing.
    fn require_if_there(&mut self, module: &str) -> Result<(), KernelError> {
        let module = normal(module);
        if self.index.files.contains_key(&module) || self.index.built_in.contains(&module) {
            return self.require(&module);
        }
        let index = self.index;
        let aliases = match &mut self.aliases {
            Some(aliases) => aliases,
            none => none.insert(index.aliases()?),
        };
        match aliases.get(&module).cloned() {
            Some(name) => self.require(&name),
            None => Ok(()),
        }
    }
}

/// The modules that a `softdep` line wants loaded before: the words between `pre:` and `post:`.
fn needed_before(softdep: &str) -> impl Iterator<Item = &str> {
    let before = softdep.split_once("pre:").map_or("", |(_, rest)| rest);
    before.split("post:").next().unwrap_or_default().split_whitespace()
}

/// `virtio_blk` for `…/virtio-blk.ko` or `….ko.xz`; `None` for other files.
fn module_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (stem, ending) = name.split_once(".ko")?;
    matches!(ending, "" | ".xz" | ".zst" | ".gz").then(|| normal(stem))
}

/// The kernel treats `-` and `_` in names as the same.
fn normal(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest ELF file from which a module's information can be read.
    fn module_file(info: &[&str]) -> Vec<u8> {
        let info: Vec<u8> = info.iter().flat_map(|entry| entry.bytes().chain([0])).collect();
        let names = b"\0.modinfo\0.shstrtab\0";
        let names_at = 64 + info.len() as u64;
        let table_at = names_at + names.len() as u64;
        let mut file = b"\x7fELF\x02\x01".to_vec();
        file.resize(40, 0);
        file.extend(table_at.to_le_bytes());
        file.resize(60, 0);
        file.extend(3_u16.to_le_bytes());
        file.extend(2_u16.to_le_bytes());
        file.extend(&info);
        file.extend(names);
        for (name, offset, size) in [(0, 0, 0), (1, 64, info.len() as u64), (10, names_at, names.len() as u64)] {
            let mut section = u32::to_le_bytes(name).to_vec();
            section.resize(24, 0);
            section.extend(u64::to_le_bytes(offset));
            section.extend(size.to_le_bytes());
            section.resize(64, 0);
            file.extend(section);
        }
        file
    }

    /// A kernel with these modules, and with `built_in` built in.
    fn kernel_with(folder: &Path, modules: &[(&str, &[&str])]) -> Kernel {
        for (name, info) in modules {
            fs::write(folder.join(name), module_file(info)).unwrap();
        }
        fs::write(folder.join("modules.builtin"), "kernel/drivers/built-in.ko\n").unwrap();
        Kernel { release: "6.1.0-1-cloud-amd64".into(), file: folder.join("vmlinuz"), modules: folder.to_owned() }
    }

    fn names(files: &[PathBuf]) -> Vec<&str> {
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
    }

    #[test]
    fn each_module_comes_once_and_after_what_it_needs() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(
            folder.path(),
            &[
                ("top.ko", &["license=GPL", "depends=left-side,right_side,built-in"]),
                ("left-side.ko", &["depends=base"]),
                ("right_side.ko", &["depends=base", "alias=unrelated"]),
                ("base.ko", &["depends="]),
                ("unused.ko", &["depends="]),
            ],
        );
        let order = module_closure(&kernel, &["top", "base", "built_in"]).unwrap();
        assert_eq!(names(&order), ["base.ko", "left-side.ko", "right_side.ko", "top.ko"]);
        assert_eq!(module_closure(&kernel, &[]).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn soft_dependencies_may_be_aliases_and_may_be_absent() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(
            folder.path(),
            &[
                ("ext4.ko", &["softdep=pre: crc32c nothing-like-it post: later", "depends="]),
                ("crc32c-intel.ko", &["alias=crc32c", "depends="]),
                ("crc32c_generic.ko", &["alias=crc32c", "depends="]),
                ("later.ko", &["depends="]),
            ],
        );
        let order = module_closure(&kernel, &["ext4"]).unwrap();
        assert_eq!(names(&order), ["crc32c_generic.ko", "ext4.ko"]);
    }

    #[test]
    fn modules_that_need_each_other_end() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(folder.path(), &[("a.ko", &["depends=b"]), ("b.ko", &["depends=a"])]);
        assert_eq!(names(&module_closure(&kernel, &["a"]).unwrap()), ["b.ko", "a.ko"]);
    }

    #[test]
    fn missing_compressed_and_damaged_modules_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(folder.path(), &[("a.ko", &["depends=gone"]), ("packed.ko.xz", &[])]);
        fs::write(folder.path().join("broken.ko"), "text").unwrap();
        let error = |module: &str| module_closure(&kernel, &[module]).unwrap_err().to_string();
        assert!(error("a").starts_with("the kernel 6.1.0-1-cloud-amd64 has no driver `gone`; Debian's generic"));
        assert!(error("packed").contains("packed.ko.xz is compressed"), "{}", error("packed"));
        assert!(error("broken").contains("broken.ko: it ends too early"), "{}", error("broken"));
    }

    #[test]
    fn a_flavour_is_known_by_its_name() {
        assert_eq!("generic".parse::<Flavour>().unwrap(), Flavour::Generic);
        let error = "Cloud".parse::<Flavour>().unwrap_err().to_string();
        assert_eq!(error, "there is no kernel `Cloud`; there are: cloud, generic");
    }
}
