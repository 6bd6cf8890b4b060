//! Data folders of servers that were made before: a copy takes a tenth of the time that making one takes.
//!
//! A folder is made when a test first needs it, and kept until the programs that make it, or our code that calls them,
//! are others. What tests the making itself does not use this.

use engines::catalog;
use engines::server::{ServerPlace, ServerShape};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Our code that decides what is in a folder.
const MAKERS: [&str; 5] = [
    include_str!("../../src/account.rs"),
    include_str!("../../src/own_server.rs"),
    include_str!("../../src/postgres/cluster.rs"),
    include_str!("../../src/mysql/install.rs"),
    include_str!("../../src/mysql/sql/first.sql"),
];

/// Puts a made folder of this engine's server, if it has one, below the folder of its data. Its owner stays the same.
pub fn put(engine: &str, data: &Path) {
    let (folder, program) = match engine {
        "postgres" => ("postgres", newest_postgres()),
        "mariadb" => ("mariadb", Path::new("/usr/sbin/mariadbd").to_owned()),
        _ => return,
    };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made-servers");
    fs::create_dir_all(&cache).unwrap();
    let made = cache.join(format!("{engine}-{:016x}", key(&program)));
    if !made.exists() {
        let lock = File::create(cache.join(format!("{engine}.lock"))).unwrap();
        lock.lock().unwrap();
        if !made.exists() {
            make(engine, folder, &made);
        }
    }
    copy(&made, &data.join(folder));
}

fn newest_postgres() -> PathBuf {
    let installed = fs::read_dir("/usr/lib/postgresql").unwrap().flatten();
    let major = |entry: &fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
    installed.max_by_key(major).unwrap().path().join("bin/postgres")
}

/// An upgrade replaces the program. Another user could not read a folder of ours.
fn key(program: &Path) -> u64 {
    let (program, us) = (fs::metadata(program).unwrap(), fs::metadata("/proc/self").unwrap());
    let mut hasher = DefaultHasher::new();
    (MAKERS, program.ino(), program.mtime(), program.size(), us.uid()).hash(&mut hasher);
    hasher.finish()
}

/// Starts and stops a server once, elsewhere: its account may not be able to enter our folder.
fn make(engine: &str, folder: &str, made: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    let place = ServerPlace { data: elsewhere.path().to_owned(), logs: elsewhere.path().join("logs"), listen: None };
    let table = settings::check(&serde_json::Map::new(), catalog::entry(engine).unwrap().keys).unwrap();
    let shape = ServerShape { vcpus: 2, memory_bytes: 512 << 20 };
    catalog::start(engine, &table, &place, &shape).unwrap().stop().unwrap();
    let unfinished = made.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).unwrap();
    }
    copy(&elsewhere.path().join(folder), &unfinished);
    fs::rename(&unfinished, made).unwrap();
}

/// Most of what a server makes in advance for its log is zero.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").args(["--archive", "--sparse=always"]).args([from, to]).status().unwrap();
    assert!(copied.success(), "copying {} to {}", from.display(), to.display());
}
