//! Limits of this process that its children inherit: files a database may open, memory a hypervisor may lock.

use crate::Readings;
use crate::tree::{Tree, TreeReading};

const LIMITS: &str = "/proc/self/limits";
/// Width of the column with the kernel's names.
const NAME_WIDTH: usize = 25;

pub fn facts(tree: &Tree) -> Readings {
    let text = tree.text(LIMITS);
    let soft = |name: &str| text.clone().and_then(|text| soft_limit(&text, name));
    vec![
        ("limits.open_files", soft("Max open files")),
        ("limits.locked_memory_bytes", soft("Max locked memory")),
        ("limits.processes", soft("Max processes")),
    ]
}

/// The limit in force; the process itself could raise it up to the hard limit.
fn soft_limit(text: &str, name: &str) -> TreeReading {
    let line = text.lines().find(|line| line.get(..NAME_WIDTH).is_some_and(|label| label.trim() == name));
    let value = line.and_then(|line| line.get(NAME_WIDTH..)?.split_whitespace().next());
    value.map(ToOwned::to_owned).ok_or_else(|| format!("{LIMITS} has no line {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_both_limits_binds() {
        let text = "\
Limit                     Soft Limit           Hard Limit           Units
Max open files            1024                 524288               files
Max locked memory         8388608              unlimited            bytes
";
        assert_eq!(soft_limit(text, "Max open files").as_deref(), Ok("1024"));
        assert_eq!(soft_limit(text, "Max locked memory").as_deref(), Ok("8388608"));
        assert!(soft_limit(text, "Max locked").unwrap_err().contains("no line"));
    }
}
