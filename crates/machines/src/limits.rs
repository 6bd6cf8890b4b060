//! Limits that this process was started with, and how to recognise that one was reached.
//!
//! Reaching one says nothing about a contender: the host lacks something. Such errors come from many places, some as
//! text from an agent. Each one from the kernel ends in its number, in the standard library's words.

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::error::Error;
use std::io;
use std::iter::successors;

/// As many files as a server with thousands of sessions opens, on every platform: servers size their caches of tables by this limit.
pub const OPEN_FILES: u64 = 1 << 16;

/// How many files a process of a machine may have open here.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES))
}

/// Sets the limit of open files of this process and of those that it starts to that of every machine.
pub fn hold_open_files() -> io::Result<()> {
    let files = Some(open_files());
    Ok(setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files })?)
}

/// Sets it in the first process of a guest, whose kernel grants it another number.
pub fn raise_open_files(files: Option<u64>) -> io::Result<()> {
    let files = files.or(Some(OPEN_FILES));
    Ok(setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files })?)
}

/// How large a file may become; `None` if there is no limit.
pub fn file_bytes() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// The limit that an error points to, and how to raise it; `None` for any other error.
pub fn met(error: &str) -> Option<String> {
    let is = |errno: Errno| error.contains(&format!("(os error {})", errno.raw_os_error()));
    if is(Errno::MFILE) {
        let files = getrlimit(Resource::Nofile).current.map_or_else(String::new, |files| format!(" of {files}"));
        return Some(format!("the limit{files} files open at once in one process was met; ulimit -n raises it"));
    }
    if is(Errno::NFILE) {
        return Some("the host's limit of files open at once was met; sysctl fs.file-max raises it".to_owned());
    }
    is(Errno::FBIG).then(|| format!("{}; ulimit -f raises it", told(file_bytes())))
}

/// As [`met`], for an error that may quote what another host said: only what this host's own kernel said counts.
pub fn met_here(error: &(dyn Error + 'static)) -> Option<String> {
    let mut causes = successors(Some(error), |&error| error.source());
    let of_kernel = |error: &&(dyn Error + 'static)| {
        error.downcast_ref::<io::Error>().is_some_and(|error| error.raw_os_error().is_some())
    };
    causes.find(of_kernel).and_then(|error| met(&error.to_string()))
}

fn told(bytes: Option<u64>) -> String {
    bytes.map_or_else(
        || "the file system's limit of a file's size was met".to_owned(),
        |bytes| format!("the limit of {bytes} bytes in one file was met"),
    )
}

#[cfg(test)]
mod tests {
    use super::{met, met_here};
    use crate::machine::MachineError;
    use std::io::Error;

    #[test]
    fn errors_of_a_limit_name_it_and_others_do_not() {
        let of = |number: i32| met(&format!("opening session 7: {}", Error::from_raw_os_error(number)));
        assert!(of(24).unwrap().contains("ulimit -n"));
        assert!(of(23).unwrap().contains("fs.file-max"));
        assert!(of(27).is_some());
        assert_eq!((of(2), of(28), met("too many files")), (None, None, None));
    }

    #[test]
    fn a_limit_of_another_host_is_none_of_this_one() {
        let io = |source| MachineError::Io { doing: "starting ssh".to_owned(), source };
        let here = Error::from_raw_os_error(24);
        let there = Error::other(here.to_string());
        assert!(met_here(&io(here)).is_some());
        assert_eq!(met_here(&io(there)), None);
    }
}
