//! Writes a data disk onto a block device that the study names. This destroys the device's content, so it refuses
//! everything that is not clearly an idle block device of sufficient size.

use crate::data::{CloneMethod, DataDisk, DataError, forget};
use crate::sparse;
use rustix::fs::FallocateFlags;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Zeros that are written at once to devices that cannot zero by themselves.
const ZEROS_BYTES: usize = 1 << 20;

/// Makes the device hold the same bytes as the image file. Bytes beyond the file's size stay as they are.
pub fn write_to_device(from: &Path, device: &Path) -> Result<(DataDisk, CloneMethod), DataError> {
    let source = File::open(from).map_err(DataError::io("open", from))?;
    let size = source.metadata().map_err(DataError::io("look at", from))?.len();
    let target = open_idle(device, size)?;
    let mut written_until = 0;
    sparse::each_data_range(&source, size, |range| {
        zero(&target, written_until..range.start)?;
        written_until = range.end;
        sparse::copy_range(&source, &target, range)
    })
    .and_then(|()| zero(&target, written_until..size))
    .map_err(DataError::io("write to", device))?;
    target.sync_all().map_err(DataError::io("bring to disk", device))?;
    for (file, path) in [(&source, from), (&target, device)] {
        forget(file).map_err(DataError::io("drop from the cache", path))?;
    }
    Ok((DataDisk::Device(device.to_owned()), CloneMethod::SparseCopy))
}

/// Fails unless the device could be written to now: it is a block device, idle, large enough, and we may open it.
pub fn require_idle(device: &Path, size: u64) -> Result<(), DataError> {
    open_idle(device, size).map(drop)
}

/// Opens an idle block device that has at least that many bytes.
fn open_idle(device: &Path, size: u64) -> Result<File, DataError> {
    let refused = |why: String| DataError::Device { path: device.to_owned(), why };
    let metadata = device.metadata().map_err(DataError::io("look at", device))?;
    if !metadata.file_type().is_block_device() {
        return Err(refused("it is not a block device".into()));
    }
    // For block devices this flag asks the kernel for exclusive use. Opening fails while the device, or a part of it,
    // is mounted, swapped to, or below another device.
    let exclusive = i32::try_from(rustix::fs::OFlags::EXCL.bits()).unwrap_or_default();
    let opened = File::options().read(true).write(true).custom_flags(exclusive).open(device);
    let mut file = opened.map_err(|cause| match cause.kind() {
        io::ErrorKind::ResourceBusy => refused("it is mounted or in use".into()),
        _ => DataError::io("open", device)(cause),
    })?;
    let device_bytes = file.seek(SeekFrom::End(0)).map_err(DataError::io("look at", device))?;
    if device_bytes < size {
        return Err(refused(format!("it has {device_bytes} bytes, the data disk {size}")));
    }
    Ok(file)
}

/// Makes a range read as zeros.
fn zero(device: &File, range: Range<u64>) -> io::Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let flags = FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE;
    if rustix::fs::fallocate(device, flags, range.start, range.end - range.start).is_ok() {
        return Ok(());
    }
    let zeros = vec![0; ZEROS_BYTES];
    let mut position = range.start;
    while position < range.end {
        let left = usize::try_from(range.end - position).unwrap_or(usize::MAX);
        let part = &zeros[..left.min(ZEROS_BYTES)];
        device.write_all_at(part, position)?;
        position += part.len() as u64;
    }
    Ok(())
}
