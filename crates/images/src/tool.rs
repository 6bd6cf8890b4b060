//! Runs the system's tools (mmdebstrap, mke2fs, tar, cp): it finds them in the usual places, and gives them the same
//! environment everywhere.
//!
//! Nothing here knows what the tools are for.

use machines::process::{Launch, ProcessError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Administrators' tools are not on every user's search path, so the usual places are listed here.
const PLACES: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// For programs that only print a line, or do nothing.
const PROMPT_LIMIT: Duration = Duration::from_secs(30);

/// A program and the Debian package it is in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    pub program: &'static str,
    pub package: &'static str,
}

pub(crate) const MMDEBSTRAP: Tool = Tool { program: "mmdebstrap", package: "mmdebstrap" };
pub(crate) const MKE2FS: Tool = Tool { program: "mke2fs", package: "e2fsprogs" };
pub(crate) const TAR: Tool = Tool { program: "tar", package: "tar" };
pub(crate) const CP: Tool = Tool { program: "cp", package: "coreutils" };
const UNSHARE: Tool = Tool { program: "unshare", package: "util-linux" };

#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("{program} is not installed; on Debian: apt-get install {package}")]
    Missing { program: &'static str, package: &'static str },
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl Tool {
    /// Where the program is.
    pub fn find(self) -> Result<PathBuf, ToolError> {
        let mut candidates = PLACES.split(':').map(|place| Path::new(place).join(self.program));
        candidates
            .find(|path| path.is_file())
            .ok_or(ToolError::Missing { program: self.program, package: self.package })
    }

    /// The first line that the program prints when asked for its version.
    pub fn version(self, option: &str) -> Result<String, ToolError> {
        let ended = self.call()?.args([option]).run_to_any_end(PROMPT_LIMIT, &mut |_| ())?;
        let said = if ended.stdout.is_empty() { ended.stderr } else { ended.stdout };
        Ok(said.lines().next().unwrap_or_default().to_owned())
    }

    /// A call of the program.
    pub fn call(self) -> Result<Launch, ToolError> {
        self.called_through(&[])
    }

    /// A call in which our user looks like root to the program, so that the files it copies belong to root. If we are
    /// root, it is a plain [`Tool::call`].
    pub fn call_as_owner(self) -> Result<Launch, ToolError> {
        if rustix::process::geteuid().is_root() {
            return self.call();
        }
        self.called_through(&[&UNSHARE.find()?.to_string_lossy(), "--map-root-user", "--"])
    }

    /// A call with process and mount namespaces of its own: whatever it started or mounted ends with it. Without the
    /// right to namespaces, as for users and in some containers, it is a plain [`Tool::call`].
    pub fn call_contained(self) -> Result<Launch, ToolError> {
        let unshare = UNSHARE.find()?;
        let unshare = unshare.to_string_lossy();
        let contain = [&*unshare, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--"];
        let attempt = Launch::new(&contain).args(["true"]).run(PROMPT_LIMIT, &mut |_| ());
        if attempt.is_ok() { self.called_through(&contain) } else { self.call() }
    }

    /// Runs the program through these words, such as `unshare` and its options.
    fn called_through(self, words: &[&str]) -> Result<Launch, ToolError> {
        let program = self.find()?;
        let words: Vec<_> = words.iter().map(OsStr::new).chain([program.as_os_str()]).collect();
        Ok(Launch::new(&words).named(self.program).env("PATH", PLACES).env("LC_ALL", "C.UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_called_in_its_own_surroundings_and_by_its_own_name() {
        const SH: Tool = Tool { program: "sh", package: "dash" };
        for call in [SH.call(), SH.call_as_owner(), SH.call_contained()] {
            let call = call.unwrap().args(["-c", "echo $LC_ALL $PATH $WORD >&2; exit 3"]).env("WORD", "own");
            let error = call.run(PROMPT_LIMIT, &mut |_| ()).unwrap_err().to_string();
            assert_eq!(error, format!("sh failed (exit status: 3); its last words:\n  C.UTF-8 {PLACES} own"));
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let missing = Tool { program: "no-such-tool", package: "its-package" };
        let error = missing.call().err().unwrap();
        assert_eq!(error.to_string(), "no-such-tool is not installed; on Debian: apt-get install its-package");
    }
}
