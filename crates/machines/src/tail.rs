//! The end of a log, which a person looks at first after a failure.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How much of a log is worth showing in an error.
const TAIL_BYTES: u64 = 4096;

/// The last lines of a file, whole lines only; empty if it cannot be read.
pub fn of_file(path: &Path) -> String {
    read_end(path).unwrap_or_default()
}

fn read_end(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let whole = if start == 0 { &*text } else { text.split_once('\n').map_or(&*text, |(_, rest)| rest) };
    Ok(whole.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_whole_lines_of_a_long_log_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let lines: Vec<_> = (0..2000).map(|line| format!("line {line}")).collect();
        std::fs::write(&path, lines.join("\n")).unwrap();
        let tail = super::of_file(&path);
        assert!(tail.starts_with("line "), "{tail}");
        assert!(tail.ends_with("line 1999"));
        assert_eq!(super::of_file(&folder.path().join("absent")), "");
    }
}
