//! Kernels for guests, and the modules that a guest must load before it can mount anything, in the order in which they can be loaded.
//!
//! A kernel in the cache has those modules only, decompressed, whatever it was taken from: a package of Debian's that is unpacked
//! without being installed, this host, or a file. Nothing here runs `depmod` or a maintainer's script: each module itself says what
//! it depends on. Nothing of the host's is changed.

use crate::Kernel;
use crate::cache::{
    BUILDER, Cache, CacheError, EntryKind, Lookup, Manifest, identity, keep, look_up, size_on_disk, unix_seconds, walk,
};
use crate::choice::{BUILT_IN, DebianKernel, KernelChoice, KernelSource, in_file};
use crate::modinfo::{self, ModinfoError};
use crate::recipe::did_you_mean;
use crate::tool::{MMDEBSTRAP, ToolError};
use crate::tree::{self, TreeError};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The drivers that guests of any platform ask for, whatever their disks are attached to.
pub const GUEST_DRIVERS: &[&str] = &[
    "virtio_pci",
    "virtio_console",
    "virtio_rng",
    "virtio_net",
    "virtio_blk",
    "virtio_scsi",
    "sd_mod",
    "nvme",
    "vmw_pvscsi",
    "ahci",
    "ext4",
];

/// The aliases of all modules, as `depmod` lists them on a host where they are installed.
const ALIASES: &str = "modules.alias";

/// Increased when an entry of the cache has other content for the same kernel.
const LAYOUT: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    #[error(
        "there is no kernel `{word}`{}; there are: {}, or the path of a vmlinuz",
        did_you_mean(KernelChoice::nearest(.word)),
        KernelChoice::words().collect::<Vec<_>>().join(", ")
    )]
    Unknown { word: String },
    #[error("guests cannot boot this host's own kernel: {why}; kernel = \"debian-12\" boots one of Debian's")]
    NoneOfHost { why: String },
    #[error("the kernel {}: {problem}", .file.display())]
    File { file: PathBuf, problem: String },
    #[error("the image `{image}` was built without a kernel, for native machines alone")]
    NoKernel { image: String },
    #[error(
        "the kernel {release} has no driver `{module}`; Debian's with every driver may have it: kernel = \"debian-12-generic\""
    )]
    MissingDriver { module: String, release: String },
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

/// A kernel and its manifest. It is put into the cache if it is not there.
pub(crate) fn fetch(
    choice: &KernelChoice,
    cache: &Cache,
    force: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<(Kernel, Manifest), KernelError> {
    let source = choice.source()?;
    let key = key(&source)?;
    let place = cache.place(EntryKind::Kernel, choice.label(), &key);
    let folder = match look_up(&place, force, progress)? {
        Lookup::Found(manifest) => return Ok((kernel_in(&place, &manifest), manifest)),
        Lookup::Missing(folder) => folder,
    };
    let (kernel, packages) = match source {
        KernelSource::Here(kernel) => (kernel, Vec::new()),
        KernelSource::Package(debian) => unpacked(debian, folder.work(), progress)?,
    };
    progress(&format!("taking the kernel {} and its modules", kernel.release));
    let built = folder.built();
    let id = take(&kernel, &built)?;
    let tools = if packages.is_empty() { Vec::new() } else { vec![MMDEBSTRAP.version("--version")?] };
    let manifest = Manifest {
        name: choice.label().to_owned(),
        key,
        id,
        packages,
        size_bytes: size_on_disk(&built)?,
        built_unix_s: unix_seconds(),
        builder: BUILDER,
        tools,
        release: Some(kernel.release),
    };
    keep(folder, &manifest)?;
    Ok((kernel_in(&place, &manifest), manifest))
}

/// The release of a package's kernel, if the cache has it.
pub(crate) fn fetched(package: &'static DebianKernel, cache: &Cache) -> Result<Option<String>, CacheError> {
    let place = cache.place(EntryKind::Kernel, package.name, &key(&KernelSource::Package(package))?);
    Ok(Manifest::read(&place)?.and_then(|manifest| manifest.release))
}

/// A package is known by its name, whatever its version is; a kernel of this host by its release, the content of its file, and the
/// names, sizes and times of its modules.
fn key(source: &KernelSource) -> Result<String, CacheError> {
    let mut parts = vec![BUILDER.to_le_bytes().to_vec(), LAYOUT.to_le_bytes().to_vec()];
    match source {
        KernelSource::Package(DebianKernel { suite, package, .. }) => {
            parts.extend([suite, package].map(|word| word.as_bytes().to_vec()));
        }
        KernelSource::Here(Kernel { release, file, modules }) => {
            let content = fs::read(file).map_err(CacheError::io("read", file))?;
            parts.extend([release.clone().into_bytes(), Sha256::digest(&content).to_vec()]);
            let mut listed = Vec::new();
            walk(modules, &mut |path, metadata| {
                if metadata.is_file() && module_name(path).is_some() {
                    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                    let name = path.strip_prefix(modules).unwrap_or(path);
                    listed.push((name.to_owned(), metadata.len(), changed.map_or(0, |since| since.as_secs())));
                }
            })?;
            listed.sort();
            parts.push(format!("{listed:?}").into_bytes());
        }
    }
    Ok(identity(parts.iter().map(Vec::as_slice)))
}

fn kernel_in(place: &Path, manifest: &Manifest) -> Kernel {
    let release = manifest.release.clone().unwrap_or_default();
    Kernel { file: place.join("vmlinuz"), modules: place.join("modules"), release }
}

/// The kernel in a package that is unpacked in `work`, and the packages that it came with.
fn unpacked(
    debian: &DebianKernel,
    work: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(Kernel, Vec<String>), KernelError> {
    progress(&format!("unpacking the kernel {}", debian.name));
    let archive = tree::bootstrap(&tree::Contents::unpacked(debian.suite, debian.package), work, progress)?;
    let tree = tree::unpack(&archive, work)?;
    let boot = tree.join("boot");
    let mut files = Vec::new();
    for entry in fs::read_dir(&boot).map_err(CacheError::io("list", &boot))? {
        let entry = entry.map_err(CacheError::io("list", &boot))?;
        files.extend(entry.file_name().to_string_lossy().starts_with("vmlinuz-").then(|| entry.path()));
    }
    let [file] = files.as_slice() else {
        return Err(KernelError::NotOneKernel { folder: boot, found: files.len() });
    };
    let packages = tree::unpacked_packages(&tree)?;
    Ok((in_file(file)?, packages.into_iter().filter(|name| name.starts_with("linux-image-")).collect()))
}

/// Copies a kernel, with the modules that guests may load, decompressed; returns the hash of all of it.
fn take(source: &Kernel, to: &Path) -> Result<String, KernelError> {
    let modules = to.join("modules");
    fs::create_dir_all(&modules).map_err(CacheError::io("create", &modules))?;
    let index = ModuleIndex::read(source)?;
    let mut order = KernelOrder { index: &index, aliases: None, visited: HashSet::new(), files: Vec::new() };
    for driver in GUEST_DRIVERS {
        match order.require(driver) {
            // Said when a guest needs it.
            Ok(()) | Err(KernelError::MissingDriver { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    let list = source.modules.join(BUILT_IN);
    let mut content = Vec::new();
    for (from, to) in [(&source.file, to.join("vmlinuz")), (&list, modules.join(BUILT_IN))] {
        content.push((to, fs::read(from).map_err(CacheError::io("read", from))?));
    }
    for file in &order.files {
        let name = module_name(file).unwrap_or_default();
        content.push((modules.join(format!("{name}.ko")), modinfo::plain(file)?));
    }
    content.sort();
    let mut parts = vec![source.release.as_bytes().to_vec()];
    for (file, bytes) in &content {
        fs::write(file, bytes).map_err(CacheError::io("write", file))?;
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        parts.extend([name.to_vec(), Sha256::digest(bytes).to_vec()]);
    }
    Ok(identity(parts.iter().map(Vec::as_slice)))
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
        let list = kernel.modules.join(BUILT_IN);
        let text = fs::read_to_string(&list).map_err(CacheError::io("read", &list))?;
        let built_in = text.lines().filter_map(|line| module_name(Path::new(line))).collect();
        Ok(ModuleIndex { kernel, files, built_in })
    }

    fn missing(&self, module: &str) -> KernelError {
        KernelError::MissingDriver { module: module.to_owned(), release: self.kernel.release.clone() }
    }

    /// Module names by their aliases. Where `depmod` has not listed them, each module is read, so the map is made only when needed. A
    /// module that cannot be read has none: it may be one of another vendor, which no guest needs.
    fn aliases(&self) -> HashMap<String, String> {
        let mut aliases = Vec::new();
        if let Ok(listed) = fs::read_to_string(self.kernel.modules.join(ALIASES)) {
            let listed = listed.lines().filter_map(|line| line.strip_prefix("alias ")?.rsplit_once(' '));
            aliases.extend(listed.map(|(alias, name)| (normal(name), normal(alias))));
            aliases.retain(|(name, _)| self.files.contains_key(name));
        } else {
            for (name, path) in &self.files {
                let info = modinfo::read(path).unwrap_or_default();
                aliases.extend(modinfo::values(&info, "alias").map(|alias| (name.clone(), normal(alias))));
            }
        }
        // Portable implementations are named `…_generic`. They come last, so they win over those that need special hardware.
        aliases.sort_by_key(|(name, _)| (name.ends_with("_generic"), name.clone()));
        aliases.into_iter().map(|(name, alias)| (alias, name)).collect()
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
            none => none.insert(index.aliases()),
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
    use crate::choice::tests::kernel_file;
    use crate::modinfo::tests::{gz, xz, zst};

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
        let listed = "# Aliases\nalias crc32c gone\nalias crc32c crc32c_intel\nalias pci:v*d* later\n";
        fs::write(folder.path().join(ALIASES), listed).unwrap();
        let order = module_closure(&kernel, &["ext4"]).unwrap();
        assert_eq!(names(&order), ["crc32c-intel.ko", "ext4.ko"], "depmod's list is enough");
    }

    #[test]
    fn modules_that_need_each_other_end() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(folder.path(), &[("a.ko", &["depends=b"]), ("b.ko", &["depends=a"])]);
        assert_eq!(names(&module_closure(&kernel, &["a"]).unwrap()), ["b.ko", "a.ko"]);
    }

    #[test]
    fn missing_and_damaged_modules_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = kernel_with(folder.path(), &[("a.ko", &["depends=gone"])]);
        for broken in ["broken.ko", "packed.ko.xz"] {
            fs::write(folder.path().join(broken), "text").unwrap();
        }
        let error = |module: &str| module_closure(&kernel, &[module]).unwrap_err().to_string();
        assert!(
            error("a").starts_with("the kernel 6.1.0-1-cloud-amd64 has no driver `gone`; Debian's with every driver")
        );
        assert!(error("broken").contains("broken.ko: it ends too early"), "{}", error("broken"));
        assert!(error("packed").contains("packed.ko.xz: it cannot be decompressed"), "{}", error("packed"));
    }

    /// A folder with a kernel and modules in all forms in which distributions ship them.
    fn kernel_of_a_distribution(root: &Path) -> KernelChoice {
        let modules = root.join("lib/modules/6.12.48+deb13-amd64");
        let drivers = modules.join("kernel/drivers");
        fs::create_dir_all(&drivers).unwrap();
        let module = |name: &str, content: Vec<u8>| fs::write(drivers.join(name), content).unwrap();
        module("virtio-pci.ko.gz", gz(&module_file(&["depends=virtio"])));
        module("virtio_blk.ko.xz", xz(&module_file(&["depends=virtio"])));
        module("virtio.ko.zst", zst(&module_file(&["depends="])));
        module("ext4.ko.xz", xz(&module_file(&["softdep=pre: crc32c", "depends="])));
        module("crc32c_generic.ko.zst", zst(&module_file(&["alias=crc32c", "depends="])));
        module("sound.ko", module_file(&["depends="]));
        module("unreadable.ko.xz", b"another vendor's".to_vec());
        fs::write(modules.join(BUILT_IN), "kernel/drivers/nvme.ko\n").unwrap();
        fs::write(root.join("vmlinuz"), kernel_file("6.12.48+deb13-amd64")).unwrap();
        KernelChoice::File(root.join("vmlinuz"))
    }

    #[test]
    fn a_kernel_is_cut_down_to_what_guests_need_and_the_hosts_files_stay() {
        let (host, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let choice = kernel_of_a_distribution(host.path());
        let cache = Cache::open(cache.path()).unwrap();
        let before = files(host.path());
        let (kernel, manifest) = fetch(&choice, &cache, false, &mut |_| ()).unwrap();
        assert_eq!(files(host.path()), before);
        assert_eq!((kernel.release.as_str(), manifest.name.as_str()), ("6.12.48+deb13-amd64", "file"));
        let kept: Vec<String> = files(&kernel.modules).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            kept,
            ["crc32c_generic.ko", "ext4.ko", "modules.builtin", "virtio.ko", "virtio_blk.ko", "virtio_pci.ko"]
        );
        let order = module_closure(&kernel, &["virtio_blk", "nvme", "ext4"]).unwrap();
        assert_eq!(names(&order), ["virtio.ko", "virtio_blk.ko", "crc32c_generic.ko", "ext4.ko"]);
        assert!(fs::read(&order[0]).unwrap() == module_file(&["depends="]));
        let error = module_closure(&kernel, &["ahci"]).unwrap_err().to_string();
        assert!(error.contains("has no driver `ahci`"), "{error}");
    }

    #[test]
    fn another_kernel_or_other_modules_are_another_entry() {
        let (host, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let choice = kernel_of_a_distribution(host.path());
        let cache = Cache::open(cache.path()).unwrap();
        let fetched = || {
            let (kernel, manifest) = fetch(&choice, &cache, false, &mut |_| ()).unwrap();
            (kernel.file, manifest.id)
        };
        let first = fetched();
        assert_eq!(fetched(), first);
        let mut upgraded = kernel_file("6.12.48+deb13-amd64");
        upgraded.push(1);
        fs::write(host.path().join("vmlinuz"), upgraded).unwrap();
        let second = fetched();
        assert!(second.0 != first.0 && second.1 != first.1, "{first:?}, {second:?}");
        let module = host.path().join("lib/modules/6.12.48+deb13-amd64/kernel/drivers/virtio.ko.zst");
        fs::write(module, zst(&module_file(&["depends=", "version=2"]))).unwrap();
        let third = fetched();
        assert!(third.0 != second.0 && third.1 != second.1, "{second:?}, {third:?}");
        assert_eq!(fs::read_dir(cache.folder().join("kernels")).unwrap().count(), 3);
    }

    /// The names of all files below a folder, with their content.
    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        walk(folder, &mut |path, metadata| {
            if metadata.is_file() {
                found.push((path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap()));
            }
        })
        .unwrap();
        found.sort();
        found
    }
}
