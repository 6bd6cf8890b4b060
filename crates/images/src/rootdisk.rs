//! Root disks: an ext4 image made from a root tree, for guests that mount it read-only.

use crate::cache::{CacheError, walk};
use crate::tool::{MKE2FS, ToolError};
use crate::tree::SOURCE_DATE_EPOCH;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_mins(10);
const BLOCK_BYTES: u64 = 4096;
const INODE_BYTES: u64 = 256;
/// Room for the filesystem's own tables beyond the counted content: a tenth of that, plus this.
const SLACK_BYTES: u64 = 32 << 20;
/// Inodes that a filesystem needs for itself, estimated generously.
const SPARE_INODES: u64 = 64;

/// Makes `disk` from `tree`. The same tree and identity give the same bytes.
pub(crate) fn make(tree: &Path, disk: &Path, identity: &str) -> Result<(), RootDiskError> {
    let size = Content::of(tree)?;
    let file = File::create(disk).map_err(CacheError::io("create", disk))?;
    file.set_len(size.disk_bytes()).map_err(CacheError::io("size", disk))?;
    let uuid = uuid_from(identity);
    let call = MKE2FS
        .call_as_owner()?
        .args(["-q", "-F", "-t", "ext4", "-m", "0", "-L", "root", "-U", uuid.as_str()])
        // The disk is never written, so it needs no journal.
        .args(["-O", "^has_journal,^resize_inode"])
        .args(["-E", format!("hash_seed={uuid},lazy_itable_init=0").as_str()])
        .args(["-b", BLOCK_BYTES.to_string().as_str(), "-N", size.inodes().to_string().as_str()])
        .args([Path::new("-d"), tree, disk])
        // Releases up to 1.47.0 read the first name, later ones the second.
        .env("E2FSPROGS_FAKE_TIME", SOURCE_DATE_EPOCH)
        .env("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH);
    call.run(LIMIT, &mut |_| ()).map_err(ToolError::from)?;
    Ok(())
}

#[derive(Debug, thiserror::Error)]
pub enum RootDiskError {
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("cannot make the root disk: {0}")]
    Tool(#[from] ToolError),
}

/// How much a folder contains, as a filesystem counts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub entries: u64,
    /// Bytes of files and folders, in whole blocks.
    pub bytes: u64,
}

impl Content {
    pub fn of(folder: &Path) -> Result<Content, CacheError> {
        let mut content = Content { entries: 1, bytes: BLOCK_BYTES };
        walk(folder, &mut |_, metadata| {
            content.entries += 1;
            content.bytes += metadata.len().next_multiple_of(BLOCK_BYTES).max(BLOCK_BYTES);
        })?;
        Ok(content)
    }

    fn inodes(self) -> u64 {
        self.entries + SPARE_INODES
    }

    fn disk_bytes(self) -> u64 {
        let bytes = self.bytes + self.inodes() * INODE_BYTES;
        (bytes + bytes / 10 + SLACK_BYTES).next_multiple_of(BLOCK_BYTES)
    }
}

/// The first 128 bits of an identity, written as a UUID.
fn uuid_from(identity: &str) -> String {
    let digits = format!("{identity:0<32}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..32]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_written_as_uuid() {
        assert_eq!(uuid_from("00112233445566778899aabbccddeeff"), "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(uuid_from("ab"), "ab000000-0000-0000-0000-000000000000");
    }
}
