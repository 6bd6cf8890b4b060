//! The mount table of a process (`/proc/self/mountinfo`), parsed.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// "major:minor" of the device, as in `/sys`; major 0 means that there is no block device.
    pub device: String,
    /// The mounted folder of the file system ("/" except for bind mounts and control groups).
    pub root: PathBuf,
    pub point: PathBuf,
    pub file_system: String,
    pub source: String,
    /// Options of the mount, then those of the file system, each once.
    pub options: Vec<String>,
}

/// Leaves out lines that do not have the documented form.
pub fn parse(text: impl AsRef<[u8]>) -> Vec<Mount> {
    text.as_ref().split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let device = text(fields.nth(2)?);
    let (root, point) = (unescape(fields.next()?).into(), unescape(fields.next()?).into());
    let own_options = text(fields.next()?);
    // Any number of other fields ends with a dash.
    fields.find(|field| *field == b"-")?;
    let file_system = text(fields.next()?);
    let source = unescape(fields.next()?).to_string_lossy().into_owned();
    let mut options: Vec<String> = Vec::new();
    for option in own_options.split(',').chain(text(fields.next().unwrap_or_default()).split(',')) {
        if !option.is_empty() && !options.iter().any(|known| known == option) {
            options.push(option.to_owned());
        }
    }
    Some(Mount { device, root, point, file_system, source, options })
}

/// Decodes paths, in which the kernel writes blanks and backslashes as `\040` and the like.
fn unescape(text: &[u8]) -> OsString {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, behind)) = rest.split_first() {
        let octal = behind.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &behind[3..] } else { behind };
    }
    OsString::from_vec(plain)
}

/// The mount that a resolved absolute path lies on: the deepest one, and the last of several on one point.
pub fn covering<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
28 27 0:25 / /with\\040blank ro,nosuid - tmpfs none ro,size=4k
29 27 8:1 /sub /data rw - xfs /dev/sda1 rw,attr2
30 27 8:17 / /data rw shared:1 - ext4 /dev/sdb1 rw
broken line
";

    #[test]
    fn a_line_is_taken_apart() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[0].options, ["rw", "relatime", "discard"]);
        assert_eq!(mounts[1].point, Path::new("/with blank"));
        assert_eq!((mounts[2].root.as_path(), mounts[2].source.as_str()), (Path::new("/sub"), "/dev/sda1"));
    }

    #[test]
    fn the_deepest_and_last_mount_covers_a_path() {
        let mounts = parse(TEXT);
        let device = |path: &str| covering(&mounts, Path::new(path)).map(|mount| mount.device.as_str());
        assert_eq!(device("/data/base/1"), Some("8:17"));
        assert_eq!(device("/database"), Some("254:0"));
        assert_eq!(covering(&[], Path::new("/")), None);
    }

    #[test]
    fn a_lone_backslash_stays() {
        assert_eq!(unescape(br"a\b"), r"a\b");
        assert_eq!(unescape(br"a\134b\"), r"a\b\");
        assert_eq!(unescape(br"\999"), r"\999");
    }
}
