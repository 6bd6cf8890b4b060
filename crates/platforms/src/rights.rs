//! What this host lets us do, found out by doing it with nothing at stake.
//!
//! What counts is whether a program ends with success, not what it prints: its words change with its version, and may
//! be those of another program. They are only shown to the user.

use machines::machine::MachineError;
use machines::process::{Ended, Launch, ProcessError};
use std::io;
use std::time::Duration;

/// Becomes the rest of the command line in a process namespace that ends with us. Bubblewrap alone would not do: its second process
/// hears that its parent is gone only after the parent has told it to go on, so that a parent killed before leaves it waiting for ever.
pub const CONTAINED: [&str; 5] = ["unshare", "--pid", "--fork", "--kill-child", "--"];
const MOUNTING: [&str; 5] = ["unshare", "--mount", "--propagation", "private", "--"];
/// Everything that a machine asks of it.
const CONFINING: &str = "bwrap --die-with-parent --unshare-pid --unshare-ipc --ro-bind / / --dev /dev --proc /proc --";
const UTIL_LINUX: &str = "util-linux";
/// Making surroundings for a program that does nothing.
const LIMIT: Duration = Duration::from_secs(30);

/// Whether we may make process namespaces. Without them there is no second promise that nothing outlives us.
pub fn can_contain() -> bool {
    refused(CONTAINED, UTIL_LINUX).is_none()
}

/// Why we may not make mount namespaces, if so.
pub fn mounting_refused() -> Option<MachineError> {
    refused(MOUNTING, UTIL_LINUX)
}

/// Why bubblewrap cannot do here what machines need, if so.
pub fn confining_refused() -> Option<MachineError> {
    refused(CONFINING.split(' '), "bubblewrap")
}

/// Has a program make the surroundings for `true`, and tells why it could not.
fn refused(words: impl IntoIterator<Item = &'static str>, package: &'static str) -> Option<MachineError> {
    let words: Vec<&str> = words.into_iter().chain(["true"]).collect();
    let program = words[0];
    match Launch::new(&words).run_to_any_end(LIMIT, &mut |_| ()) {
        Ok(ended) if ended.status.success() => None,
        Ok(Ended { status, stderr, .. }) => {
            let why = stderr.lines().last().map_or_else(|| format!("{program} ended ({status})"), str::to_owned);
            Some(MachineError::Unavailable { why })
        }
        Err(ProcessError::Missing { .. }) => Some(MachineError::MissingTool { program, package }),
        Err(error) => Some(MachineError::Io { doing: format!("trying {program}"), source: io::Error::other(error) }),
    }
}

#[cfg(test)]
mod tests {
    use super::{UTIL_LINUX, refused};
    use machines::machine::MachineError;

    #[test]
    fn what_ends_badly_is_refused_in_its_own_words() {
        assert!(refused(["env"], UTIL_LINUX).is_none());
        let told = refused(["sh", "-c", "echo first >&2; echo 'not for you' >&2; exit 1"], UTIL_LINUX).unwrap();
        assert!(matches!(&told, MachineError::Unavailable { why } if why == "not for you"), "{told}");
        let told = refused(["no-such-program"], "its-package").unwrap();
        assert!(matches!(told, MachineError::MissingTool { program: "no-such-program", package: "its-package" }));
    }
}
