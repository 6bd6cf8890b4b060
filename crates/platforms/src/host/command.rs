//! The command lines of `ssh`, and what the shell there does first. Pure.

use super::settings::HostSettings;
use std::path::Path;

/// Printed by the shell there before anything else of ours. What comes before is from the user's profile.
pub const MARKER: &str = "bakeoff-begins-here";
/// Exit statuses of the first commands there.
pub const OTHER_SYSTEM_STATUS: i32 = 71;
pub const NO_FOLDER_STATUS: i32 = 72;
pub const CUT_SHORT_STATUS: i32 = 73;
/// `ssh` itself failed.
pub const SSH_STATUS: i32 = 255;

/// Makes the file that our binary goes to. One line, for shells that take only one. Others may enter its folders, since a server has
/// an account of its own; what is private has a mode of its own.
const BEGIN: &str = "\
echo MARKER; umask 022; \
if [ \"$(uname -s -m)\" != \"Linux x86_64\" ]; then uname -s -m >&2; exit 71; fi; \
cd -- FOLDER || exit 72; \
parent=\"$PWD/bakeoff-$(id -u)\"; mkdir -p \"$parent\" || exit 72; \
if [ ! -O \"$parent\" ] || [ -L \"$parent\" ]; then echo \"$parent belongs to somebody else\" >&2; exit 72; fi; \
file=$(mktemp \"$parent/bakeoff.XXXXXXXX\") || exit 72; ";

/// Stores the binary that follows on standard input.
const STORE: &str = "\
head -c SIZE > \"$file\"; \
if [ \"$(wc -c < \"$file\")\" -ne SIZE ]; then rm -f \"$file\"; rmdir \"$parent\" 2>/dev/null; exit 73; fi; ";

/// Copies the binary of the agent that runs the script.
const COPY: &str = "\
if ! cat \"$BAKEOFF_PROGRAM\" > \"$file\"; then rm -f \"$file\"; rmdir \"$parent\" 2>/dev/null; exit 73; fi; ";

/// Becomes the keeper.
const BECOME: &str = "chmod 700 \"$file\"; exec \"$file\" there keep \"$parent\" NAME \"CONNECTION\"";

const TAKE_TREE: &str = "echo MARKER; tar --extract --file=- --directory=FOLDER --numeric-owner --same-permissions";

const RUN: &str = "echo MARKER; umask 022; exec BINARY there run FOLDER";

/// The whole command line that runs a script there. The user's options come first, since ssh keeps the first value of an option;
/// but it must not ask anybody for a password.
pub fn ssh(settings: &HostSettings, script: &str) -> Vec<String> {
    let mut words: Vec<String> = ["ssh", "-T", "-o", "BatchMode=yes"].map(str::to_owned).to_vec();
    words.extend(settings.ssh_options.iter().cloned());
    let ours = ["-a", "-x", "-o", "ConnectTimeout=15", "-o", "ServerAliveInterval=120", "-o", "ServerAliveCountMax=3"];
    words.extend(ours.map(str::to_owned));
    // The login shell may be of any kind, and `sh` is everywhere.
    words.extend(["--".to_owned(), settings.name().to_owned(), format!("exec sh -c {}", quoted(script))]);
    words
}

/// Starts the keeper from the binary that follows on standard input.
pub fn bring(folder: &str, size: u64, name: &str) -> String {
    let script = [BEGIN, STORE, BECOME].concat().replace("SIZE", &size.to_string());
    keeper(&script, folder, name, "${SSH_CONNECTION:-}")
}

/// Starts the keeper from the binary that is there.
pub fn copy(folder: &str, name: &str) -> String {
    keeper(&[BEGIN, COPY, BECOME].concat(), folder, name, "${BAKEOFF_CONNECTION:-}")
}

fn keeper(script: &str, folder: &str, name: &str, connection: &str) -> String {
    script
        .replace("MARKER", MARKER)
        .replace("CONNECTION", connection)
        .replace("FOLDER", &quoted(folder))
        .replace("NAME", &quoted(name))
}

pub fn take_tree(folder: &Path) -> String {
    TAKE_TREE.replace("MARKER", MARKER).replace("FOLDER", &quoted(&folder.to_string_lossy()))
}

/// Runs a machine in the folder of a run there.
pub fn run(folder: &Path) -> String {
    let binary = folder.join(super::there::BINARY);
    RUN.replace("MARKER", MARKER)
        .replace("BINARY", &quoted(&binary.to_string_lossy()))
        .replace("FOLDER", &quoted(&folder.to_string_lossy()))
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::settings::KEYS;
    use super::*;
    use serde_json::json;
    use std::process::Command;

    #[test]
    fn the_whole_command_line() {
        let table = json!({ "host": "root@esx-guest", "ssh_options": ["-J", "jump"] });
        let settings = settings::read(table.as_object().unwrap(), KEYS).unwrap();
        insta::assert_snapshot!(ssh(&settings, &bring("/mnt/a b", 21, "run-1")).join("\n"));
        insta::assert_snapshot!(ssh(&settings, &run(Path::new("/mnt/bakeoff-0/run-1"))).join("\n"));
    }

    #[test]
    fn a_word_for_the_shell_stays_what_it_is() {
        for text in ["plain", "two words", "it's", "$HOME `id` \"x\" \\", "*"] {
            let output = Command::new("sh").args(["-c", &format!("printf %s {}", quoted(text))]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
