//! Real images from Debian's packages, in one cache that repeated runs share.
//!
//! Without mmdebstrap or an archive these tests are skipped, with a message; under `REQUIRE=qemu` they fail instead.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

use images::{Cache, Image, ImageError, KernelChoice, initramfs, kernel};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

fn cache() -> Cache {
    let shared = std::env::var_os("BAKEOFF_CACHE").map(PathBuf::from);
    // The folder is `target/TRIPLE/tmp`; end-to-end tests use the same cache.
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../../test-cache");
    Cache::open(&shared.unwrap_or(own)).unwrap()
}

/// The image, or `None` where it cannot be built and need not be.
fn image(name: &str, kernel: &KernelChoice) -> Option<Image> {
    let recipe = images::find(name, None).unwrap();
    match images::build(&recipe, kernel, &cache(), false, &mut |line| eprintln!("{line}")) {
        Ok(image) => Some(image),
        Err(error @ (ImageError::Tree { .. } | ImageError::Kernel { .. } | ImageError::Tool(_))) => {
            let required = std::env::var("REQUIRE").is_ok_and(|list| list.split(',').any(|word| word == "qemu"));
            assert!(!required, "REQUIRE has qemu, and {error}");
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn names(modules: &[PathBuf]) -> Vec<String> {
    modules.iter().map(|path| path.file_stem().unwrap().to_string_lossy().replace('-', "_")).collect()
}

/// The output of a program, which must not fail.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn micro_is_a_kernel_and_empty_folders() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    assert_eq!(micro.root_disk, None);
    let kernel = micro.guest_kernel().unwrap();
    assert!(kernel.file.is_file());
    assert!(kernel.release.ends_with("-cloud-amd64"), "{}", kernel.release);
    let mut folders: Vec<String> =
        fs::read_dir(&micro.tree).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    folders.sort();
    assert_eq!(folders, ["data", "dev", "proc", "run", "sys", "tmp"]);
    assert!(micro.packages.iter().any(|package| package.starts_with("linux-image-6.")), "{:?}", micro.packages);
    let bare = images::build_without_kernel(&images::find("micro", None).unwrap(), &cache(), &mut |_| ()).unwrap();
    assert_eq!((&bare.tree, &bare.tree_id, bare.kernel), (&micro.tree, &micro.tree_id, None));
    assert_ne!(bare.id, micro.id);
    assert_eq!(
        image("micro", &KernelChoice::DEBIAN_12).unwrap(),
        micro,
        "the second time it is the same image from the cache"
    );
    assert_eq!(Cache::of(&micro).unwrap().folder(), cache().folder());
}

#[test]
fn modules_come_after_what_they_need() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let wanted = ["virtio_pci", "virtio_blk", "virtio_console", "vmw_pvscsi", "ext4", "nvme"];
    let order = names(&kernel::module_closure(micro.guest_kernel().unwrap(), &wanted).unwrap());
    let position = |name: &str| order.iter().position(|module| module == name);
    for (module, needed) in
        [("virtio_pci", "virtio"), ("virtio_pci", "virtio_ring"), ("virtio_blk", "virtio"), ("vmw_pvscsi", "scsi_mod")]
    {
        let (module_at, needed_at) = (position(module).unwrap(), position(needed));
        assert!(needed_at.is_none_or(|needed_at| needed_at < module_at), "{needed} before {module} in {order:?}");
    }
    assert!(position("virtio_ring").is_some(), "{order:?}");
    assert_eq!(position("ext4"), None, "it is built into this kernel");
    assert_eq!(position("nvme"), None, "it is built into this kernel");
    let error = kernel::module_closure(micro.guest_kernel().unwrap(), &["ahci"]).unwrap_err().to_string();
    assert!(error.contains("no driver `ahci`") && error.contains("kernel = \"debian-12-generic\""), "{error}");
}

#[test]
fn the_generic_kernel_brings_filesystem_and_checksums_along() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12_GENERIC) else { return };
    let order = names(&kernel::module_closure(micro.guest_kernel().unwrap(), &["ahci", "sd_mod", "ext4"]).unwrap());
    let position =
        |name: &str| order.iter().position(|module| module == name).unwrap_or_else(|| panic!("{name}: {order:?}"));
    assert!(position("libata") < position("ahci"));
    assert!(position("jbd2") < position("ext4"));
    assert!(position("crc32c_generic") < position("ext4"), "asked for by an alias only");
}

#[test]
fn modules_that_debian_13_compresses_are_plain_in_the_cache() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_13) else { return };
    let kernel = micro.guest_kernel().unwrap();
    assert!(kernel.release.contains("+deb13-cloud"), "{}", kernel.release);
    let order =
        kernel::module_closure(kernel, &["virtio_pci", "virtio_blk", "virtio_net", "virtio_scsi", "ext4"]).unwrap();
    assert!(names(&order).iter().any(|name| name == "virtio_net"), "{order:?}");
    for module in &order {
        assert_eq!(module.extension().unwrap(), "ko");
        assert!(fs::read(module).unwrap().starts_with(b"\x7fELF"), "{}", module.display());
    }
    assert_eq!(image("micro", &KernelChoice::DEBIAN_13).unwrap(), micro);
    assert_ne!(image("micro", &KernelChoice::DEBIAN_12).unwrap().id, micro.id);
}

#[test]
fn the_first_user_space_is_what_the_kernel_expects() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let agent = Path::new("/bin/true");
    let archive = initramfs::build(&micro, agent, &["virtio_blk"], &cache()).unwrap();
    assert_eq!(initramfs::build(&micro, agent, &["virtio_blk"], &cache()).unwrap(), archive);
    assert_ne!(initramfs::build(&micro, agent, &["virtio_pci"], &cache()).unwrap(), archive);
    let mut entries = HashMap::new();
    let mut file = File::open(&archive).unwrap();
    loop {
        let mut reader = cpio::NewcReader::new(file).unwrap();
        if reader.entry().is_trailer() {
            break;
        }
        let mut content = Vec::new();
        reader.read_to_end(&mut content).unwrap();
        let entry = reader.entry();
        entries.insert(entry.name().to_owned(), (entry.mode(), entry.rdev_major(), entry.rdev_minor(), content));
        file = reader.finish().unwrap();
    }
    assert_eq!(entries["init"], (0o100_755, 0, 0, fs::read(agent).unwrap()));
    assert_eq!(entries["dev/console"], (0o020_600, 5, 1, Vec::new()));
    assert_eq!(entries["bakeoff-image"].3, micro.id.as_bytes());
    assert_eq!(entries["newroot"].0, 0o040_755);
    let closure = kernel::module_closure(micro.guest_kernel().unwrap(), &["virtio_blk"]).unwrap();
    for (position, module) in closure.iter().enumerate() {
        let name = format!("modules/{position:03}-{}", module.file_name().unwrap().display());
        assert_eq!(entries[&name].3, fs::read(module).unwrap(), "{name}");
    }
}

#[test]
fn postgres_is_a_server_without_a_cluster() {
    let Some(postgres) = image("postgres", &KernelChoice::DEBIAN_12) else { return };
    let tree = &postgres.tree;
    assert!(
        postgres.packages.iter().any(|package| package.starts_with("postgresql-15=15.")),
        "{:?}",
        postgres.packages
    );
    assert!(tree.join("usr/lib/postgresql/15/bin/postgres").is_file());
    assert!(!tree.join("etc/postgresql/15").exists(), "a cluster was created");
    assert!(!tree.join("etc/resolv.conf").exists());
    assert!(!tree.join("usr/share/doc/postgresql-15").exists(), "documentation was not left out");
    assert!(fs::read_to_string(tree.join("etc/hosts")).unwrap().contains("localhost"));
    assert!(tree.join("data").is_dir());
    let micro = image("micro", &KernelChoice::DEBIAN_12).unwrap();
    assert_eq!(postgres.kernel, micro.kernel);
    assert_ne!(postgres.id, micro.id);
    let listed = images::list(&cache()).unwrap();
    let entry = listed.iter().find(|entry| entry.name == "postgres").unwrap();
    assert!(entry.packages > 50 && entry.size_bytes > 100 << 20, "{entry:?}");
}

/// Native machines use it, too: where this test does not build it, the last ones do, which have the CPUs to themselves.
#[test]
fn mariadb_is_a_server_without_a_database() {
    let Some(mariadb) = image("mariadb", &KernelChoice::DEBIAN_12) else { return };
    let tree = &mariadb.tree;
    for program in ["usr/sbin/mariadbd", "usr/bin/mariadb-install-db", "usr/bin/my_print_defaults"] {
        assert!(tree.join(program).is_file(), "{program}");
    }
    assert!(!tree.join("var/lib/mysql").exists(), "a database was created");
}

#[test]
fn the_root_disk_holds_the_tree() {
    let Some(postgres) = image("postgres", &KernelChoice::DEBIAN_12) else { return };
    let disk = postgres.root_disk.unwrap();
    let disk = disk.to_str().unwrap();
    output("/usr/sbin/e2fsck", &["-fn", disk]);
    let server = "/usr/lib/postgresql/15/bin/postgres";
    let copied = tempfile::tempdir().unwrap();
    let copy = copied.path().join("postgres");
    output("/usr/sbin/debugfs", &["-R", &format!("dump {server} {}", copy.display()), disk]);
    assert!(fs::read(copy).unwrap() == fs::read(postgres.tree.join(&server[1..])).unwrap());
    let stat = output("/usr/sbin/debugfs", &["-R", &format!("stat {server}"), disk]);
    assert!(stat.contains("User:     0"), "{stat}");
}

#[test]
#[ignore = "slow: cargo xtask ci --full"]
fn a_build_that_fails_says_why_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let recipes = place.path().join("recipes");
    fs::create_dir(&recipes).unwrap();
    let text = "about = 'wrong'\nsuite = 'bookworm'\npackages = ['no-such-package-at-all']\n";
    fs::write(recipes.join("wrong.toml"), text).unwrap();
    if image("micro", &KernelChoice::DEBIAN_12).is_none() {
        return;
    }
    let recipe = images::find("wrong", Some(&recipes)).unwrap();
    let cache = Cache::open(&place.path().join("cache")).unwrap();
    let error = images::build_without_kernel(&recipe, &cache, &mut |_| ()).unwrap_err().to_string();
    let first = "cannot build the image `wrong`: a package of the recipe is not in the archive; mmdebstrap failed";
    assert!(error.starts_with(first), "{error}");
    assert!(error.contains("no-such-package-at-all"), "mmdebstrap's last words: {error}");
    assert_eq!(fs::read_dir(cache.folder().join("trees")).unwrap().count(), 0);
}
