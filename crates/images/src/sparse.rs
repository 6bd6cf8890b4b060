//! Copies files that are mostly holes: only the data is read, and holes stay holes.

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// How much is copied at once where the kernel cannot copy by itself.
const BUFFER_BYTES: usize = 1 << 20;

/// Copies `from` onto `to`, which must be a new, empty file.
pub(crate) fn copy(from: &File, to: &File) -> io::Result<()> {
    let size = from.metadata()?.len();
    to.set_len(size)?;
    each_data_range(from, size, |range| copy_range(from, to, range))
}

/// Calls `visit` with each range of the file that holds data, in order.
pub(crate) fn each_data_range(
    file: &File,
    size: u64,
    mut visit: impl FnMut(Range<u64>) -> io::Result<()>,
) -> io::Result<()> {
    let mut position = 0;
    while position < size {
        let start = match rustix::fs::seek(file, SeekFrom::Data(position)) {
            Ok(start) => start,
            // The rest is one hole.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(start))?.min(size);
        visit(start..end)?;
        position = end;
    }
    Ok(())
}

/// Copies one range to the same place in the other file.
pub(crate) fn copy_range(from: &File, to: &File, range: Range<u64>) -> io::Result<()> {
    let mut position = range.start;
    while position < range.end {
        let wanted = usize::try_from(range.end - position).unwrap_or(usize::MAX).min(1 << 30);
        let (mut read_at, mut write_at) = (position, position);
        match rustix::fs::copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), wanted) {
            // Some filesystems copy nothing although they claim to support this.
            Ok(0) | Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return copy_by_hand(from, to, position..range.end);
            }
            Ok(count) => position += count as u64,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn copy_by_hand(from: &File, to: &File, range: Range<u64>) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut position = range.start;
    while position < range.end {
        let left = usize::try_from(range.end - position).unwrap_or(usize::MAX);
        let part = &mut buffer[..left.min(BUFFER_BYTES)];
        from.read_exact_at(part, position)?;
        to.write_all_at(part, position)?;
        position += part.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::MetadataExt;

    const BLOCK: u64 = 4096;

    /// A file of `blocks` blocks and `odd` further bytes, with data in the given blocks.
    fn file_with(blocks: u64, data: &[u64], odd: u64) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(blocks * BLOCK + odd).unwrap();
        for &block in data {
            let byte = u8::try_from(block % 255).unwrap() + 1;
            file.write_all_at(&[byte; 4096], block * BLOCK).unwrap();
        }
        file
    }

    fn content(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(file.metadata().unwrap().len()).unwrap()];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_copy_is_equal_and_has_the_same_holes(
            data in proptest::collection::btree_set(0_u64..64, 0..24),
            odd in 0_u64..BLOCK,
        ) {
            let from = file_with(64, &data.into_iter().collect::<Vec<_>>(), odd);
            let to = tempfile::tempfile().unwrap();
            copy(&from, &to).unwrap();
            prop_assert!(content(&from) == content(&to));
            from.sync_all().unwrap();
            to.sync_all().unwrap();
            prop_assert_eq!(from.metadata().unwrap().blocks(), to.metadata().unwrap().blocks());
        }

        #[test]
        fn by_hand_is_the_same(data in proptest::collection::btree_set(0_u64..64, 1..24), odd in 0_u64..BLOCK) {
            let from = file_with(64, &data.into_iter().collect::<Vec<_>>(), odd);
            let size = from.metadata().unwrap().len();
            let to = tempfile::tempfile().unwrap();
            to.set_len(size).unwrap();
            each_data_range(&from, size, |range| copy_by_hand(&from, &to, range)).unwrap();
            prop_assert!(content(&from) == content(&to));
        }
    }

    #[test]
    fn nothing_but_a_hole_takes_no_space() {
        let from = file_with(1 << 20, &[], 0);
        let to = tempfile::tempfile().unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(to.metadata().unwrap().len(), BLOCK << 20);
        assert_eq!(to.metadata().unwrap().blocks(), 0);
    }
}
