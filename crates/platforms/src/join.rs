//! Words before a command line that make its process join control groups, with the limit of open files of a machine, before it starts any
//! thread. Pure.

use machines::limits::OPEN_FILES;
use std::path::PathBuf;

/// Joins the groups, then executes the rest of the command line.
pub const JOIN: &str = include_str!("join.sh");

pub fn words(groups: &[PathBuf]) -> Vec<String> {
    let lines = groups.iter().map(|group| group.to_string_lossy()).collect::<Vec<_>>().join("\n");
    ["sh", "-c", JOIN, "join", &OPEN_FILES.to_string(), &lines].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::words;
    use std::process::Command;

    #[test]
    fn who_joins_is_in_every_group_and_becomes_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let groups = ["one of two", "two"].map(|name| folder.path().join(name));
        for group in &groups {
            std::fs::create_dir(group).unwrap();
        }
        let before = words(&groups);
        let output = Command::new(&before[0]).args(&before[1..]).args(["sh", "-c", "echo $$"]).output().unwrap();
        let process = String::from_utf8(output.stdout).unwrap();
        assert!(!process.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        for group in &groups {
            assert_eq!(std::fs::read_to_string(group.join("cgroup.procs")).unwrap(), process);
        }
    }
}
