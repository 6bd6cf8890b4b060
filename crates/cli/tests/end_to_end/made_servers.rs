//! The data folders of new servers: each is made once on this host, kept between test runs, and copied for every server that a
//! test starts.

use crate::setting::text;
use engines::catalog;
use engines::server::{ServerPlace, ServerShape};
use machines::cached::CachedFolder;
use std::fs::Permissions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

const LONG: Duration = Duration::from_mins(5);

/// The programs that make and read the folders; another version makes another folder.
const PROGRAMS: [&str; 2] = ["/usr/lib/postgresql", "/usr/sbin/mariadbd"];

/// Puts the data of a server on which nothing was done yet where a server of this kind looks for its own.
pub fn copy(kind: &str, to: &Path) {
    let versions = PROGRAMS.map(|path| std::fs::metadata(path).and_then(|about| about.modified()).ok());
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{kind}-{}", stamp(&versions)));
    if !made.exists() {
        let folder = CachedFolder::lock(&made, LONG, &mut || true).unwrap();
        if !made.exists() {
            make(kind, &folder.built());
            folder.keep().unwrap();
        }
    }
    copied(&made, &to.join(kind));
}

/// A number for the times at which programs were installed.
fn stamp(times: &[Option<SystemTime>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    times.hash(&mut hasher);
    hasher.finish()
}

fn make(kind: &str, built: &Path) {
    // The server's account must be able to enter it.
    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let place = ServerPlace { data: folder.path().to_owned(), logs: folder.path().join("logs"), listen: None };
    let table = settings::check(&serde_json::Map::new(), catalog::entry(kind).unwrap().keys).unwrap();
    let shape = ServerShape { vcpus: 1, memory_bytes: 256 << 20 };
    catalog::start(kind, &table, &place, &shape).unwrap().stop().unwrap();
    copied(&folder.path().join(kind), built);
}

fn copied(from: &Path, to: &Path) {
    let output = Command::new("cp").args(["--archive", "--reflink=auto"]).args([from, to]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
