//! Which build of bakeoff this is: its version, the revision, and the linker's hash of what it linked.
//!
//! The revision is what the builder set in `BAKEOFF_REVISION`, as the Makefile does. A build script would run before
//! every build; this way, only this file is compiled again for another revision.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::sync::LazyLock;

/// The revision that was checked out, as git describes it; `None` if the build was not given one.
const REVISION: Option<&str> = option_env!("BAKEOFF_REVISION");

static VERSION: LazyLock<String> = LazyLock::new(|| described(env!("CARGO_PKG_VERSION"), REVISION));

/// Version and revision: "0.1.0 (619ca8b)".
pub fn version() -> &'static str {
    &VERSION
}

/// The same with the name before it and the build behind it, for records: programs of one version may differ.
pub fn made_by() -> String {
    let build = BUILD.as_ref().map(|build| format!(", build {build}")).unwrap_or_default();
    format!("bakeoff {}{build}", version())
}

static BUILD: LazyLock<Option<String>> = LazyLock::new(|| {
    let mut head = Vec::new();
    File::open("/proc/self/exe").ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    build_of(&head)
});

/// Linkers put notes right behind the headers.
const HEAD_BYTES: u64 = 4_096;
/// Of a note: the length of its name, the length of what it says, its type, and its name.
const BUILD_ID: &[u8] = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
/// Of twenty bytes; as many as distinguish builds.
const SHOWN_BYTES: usize = 6;

/// The linker's hash, from the beginning of a program's file.
fn build_of(head: &[u8]) -> Option<String> {
    let note = head.windows(BUILD_ID.len()).position(|bytes| bytes == BUILD_ID)? + BUILD_ID.len();
    let mut shown = String::new();
    head.get(note..note + SHOWN_BYTES)?.iter().try_for_each(|byte| write!(shown, "{byte:02x}")).ok()?;
    Some(shown)
}

fn described(version: &str, revision: Option<&str>) -> String {
    // Without git, the Makefile passes an empty text.
    match revision.filter(|revision| !revision.is_empty()) {
        Some(revision) => format!("{version} ({revision})"),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_told_where_it_is_known() {
        assert_eq!(described("0.1.0", Some("v0.1-7-g619ca8b-dirty")), "0.1.0 (v0.1-7-g619ca8b-dirty)");
        assert_eq!((described("0.1.0", None), described("0.1.0", Some(""))), ("0.1.0".to_owned(), "0.1.0".to_owned()));
        assert!(made_by().starts_with("bakeoff "));
    }

    #[test]
    fn a_build_is_what_the_linker_calls_it() {
        let head = [&b"\x7fELF\x02"[..], BUILD_ID, b"\x41\xe5\xe4\x7d\x0f\x86\xd9"].concat();
        assert_eq!(build_of(&head).as_deref(), Some("41e5e47d0f86"));
        assert_eq!(build_of(&head[..BUILD_ID.len() + 8]), None);
        assert_eq!(build_of(b"\x7fELF\x02"), None);
        let made_by = made_by();
        let (_, build) = made_by.split_once(", build ").expect("linkers give one");
        assert_eq!(build.len(), 2 * SHOWN_BYTES, "{made_by}");
    }
}
