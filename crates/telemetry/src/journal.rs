//! How a file system makes commits durable: its journal, and whether it flushes the disk's cache.
//!
//! The mount table only names options that differ from the kernel's defaults, and these differ between kernels.

use crate::Readings;
use crate::tree::{Tree, TreeReading};

/// Words in ext4's own list of options that determine the cost of a commit.
const TELLING: &[&str] =
    &["data", "barrier", "nobarrier", "commit", "discard", "nodiscard", "delalloc", "nodelalloc", "dax"];

/// Facts about a file system of this kind on this device; either may be unknown for a reason.
pub fn facts(tree: &Tree, file_system: Result<&str, &String>, device: TreeReading) -> Readings {
    let device = match file_system {
        Ok("ext4") => device,
        Ok(_) => Err("only ext4 reports it".to_owned()),
        Err(why) => Err(why.clone()),
    };
    let of = |read: fn(&Tree, &str) -> TreeReading| device.clone().and_then(|device| read(tree, &device));
    vec![("storage.commit_options", of(options)), ("storage.journal", of(journal))]
}

fn options(tree: &Tree, device: &str) -> TreeReading {
    let text = tree.text(&format!("/proc/fs/ext4/{device}/options"))?;
    let is_telling = |line: &&str| TELLING.contains(&line.split('=').next().unwrap_or_default());
    Ok(text.lines().filter(is_telling).collect::<Vec<_>>().join(","))
}

fn journal(tree: &Tree, device: &str) -> TreeReading {
    // The file has the process that writes the journal, or "<none>".
    let writer = tree.value(&format!("/sys/fs/ext4/{device}/journal_task"))?;
    Ok(if writer == "<none>" { "no" } else { "yes" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_commit_costs_is_picked_out_of_the_options() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).and_then(|()| std::fs::write(path, text)).unwrap();
        };
        file("proc/fs/ext4/vdb/options", "rw\nbarrier\ndelalloc\ncommit=5\ndata=ordered\nstripe=0\n");
        file("sys/fs/ext4/vdb/journal_task", "211\n");
        file("sys/fs/ext4/vda/journal_task", "<none>\n");
        let tree = Tree::new(root.path());
        assert_eq!(options(&tree, "vdb").as_deref(), Ok("barrier,delalloc,commit=5,data=ordered"));
        assert_eq!((journal(&tree, "vdb"), journal(&tree, "vda")), (Ok("yes".to_owned()), Ok("no".to_owned())));
        let of_xfs = facts(&tree, Ok("xfs"), Ok("vdb".to_owned()));
        assert!(of_xfs.iter().all(|(_, reading)| *reading == Err("only ext4 reports it".to_owned())), "{of_xfs:?}");
    }
}
