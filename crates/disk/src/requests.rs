//! The kernel's requests for one file, and our answers, as bytes (FUSE protocol 7). Pure.
//!
//! Only what a file that is a mount's root is asked for. All else is answered with "not implemented", which the kernel remembers.

use crate::entry::{MOST_WRITE_BYTES, u32_at, u64_at};
use rustix::io::Errno;

/// Before the body of every request.
const REQUEST_HEADER: usize = 40;
const ANSWER_HEADER: usize = 16;
/// What is written begins here in its request. So there is room before it for an entry of the log.
pub(crate) const WRITTEN_AT: usize = REQUEST_HEADER + 40;
/// The longest request: a write, with its pages' padding.
pub(crate) const REQUEST_BYTES: usize = MOST_WRITE_BYTES as usize + 4096;

const PROTOCOL: u32 = 7;
/// What we speak of it: that of Linux 6.1.
const MINOR: u32 = 38;
/// From here on a long write is one request.
const LEAST_MINOR: u32 = 28;

// Abilities that we ask the kernel for.
const ASYNC_READ: u32 = 1 << 0;
const BIG_WRITES: u32 = 1 << 5;
/// Several direct reads and writes of one caller at a time.
const ASYNC_DIRECT: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;

// How an opened file behaves.
const DIRECT_IO: u32 = 1 << 0;
const PARALLEL_DIRECT_WRITES: u32 = 1 << 6;

/// Reads and writes that the kernel sends ahead of their answers.
const BACKGROUND: u16 = 256;
const BLOCK_BYTES: u64 = 4096;
/// The kernel may keep attributes so long. They never change.
const VALID_S: u64 = 3600;

const REGULAR: u32 = 0o100_000;
const ROOT: u64 = 1;

/// Bits of `SETATTR` that say what is to be changed.
const SETS_SIZE: u32 = 1 << 3;
/// The flag of a write that must be on the disk when it is answered, in `O_DSYNC` as in `O_SYNC`.
const DSYNC: u32 = 0o10_000;

const FALLOCATE_KEEPS_SIZE: u32 = 1;
const FALLOCATE_PUNCHES: u32 = 2;
const FALLOCATE_ZEROES: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiskRequest {
    pub id: u64,
    pub asked: DiskCommand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskCommand {
    Init {
        minor: u32,
        flags: u32,
        read_ahead: u32,
    },
    Attributes,
    /// Changes of attributes; with the new size, if that is one.
    SetAttributes {
        size: Option<u64>,
    },
    Open,
    Read {
        offset: u64,
        length: u32,
    },
    /// What is to be written begins at [`WRITTEN_AT`].
    Write {
        offset: u64,
        length: u32,
        fua: bool,
    },
    Statistics,
    /// The last descriptor was closed, which flushes nothing.
    Release,
    Flush,
    Zero {
        offset: u64,
        length: u64,
    },
    /// Space is to be reserved up to here.
    Allocate {
        end: u64,
    },
    /// Needs no answer.
    Notice,
    /// What we do not do.
    Other,
}

/// The request in these bytes, of which the kernel gives one at a time.
pub(crate) fn parse(bytes: &[u8]) -> Result<DiskRequest, String> {
    if bytes.len() < REQUEST_HEADER || u32_at(bytes, 0) as usize != bytes.len() {
        return Err(format!("the kernel sent a request of {} bytes that is not whole", bytes.len()));
    }
    let (kind, id, body) = (u32_at(bytes, 4), u64_at(bytes, 8), &bytes[REQUEST_HEADER..]);
    let needs = match kind {
        26 => 16,
        4 => 24,
        15 | 16 => 40,
        43 => 32,
        _ => 0,
    };
    if body.len() < needs {
        return Err(format!("the kernel sent request {kind} with {} bytes, not {needs}", body.len()));
    }
    let asked = match kind {
        26 if u32_at(body, 0) == PROTOCOL && u32_at(body, 4) >= LEAST_MINOR => {
            DiskCommand::Init { minor: u32_at(body, 4), read_ahead: u32_at(body, 8), flags: u32_at(body, 12) }
        }
        26 => return Err(format!("the kernel speaks FUSE {}.{}", u32_at(body, 0), u32_at(body, 4))),
        3 => DiskCommand::Attributes,
        4 => DiskCommand::SetAttributes { size: (u32_at(body, 0) & SETS_SIZE != 0).then(|| u64_at(body, 16)) },
        14 => DiskCommand::Open,
        15 => DiskCommand::Read { offset: u64_at(body, 8), length: u32_at(body, 16) },
        16 => {
            let length = u32_at(body, 16);
            if bytes.len() - WRITTEN_AT != length as usize {
                return Err(format!("the kernel sent a write of {length} bytes that is not whole"));
            }
            DiskCommand::Write { offset: u64_at(body, 8), length, fua: u32_at(body, 32) & DSYNC != 0 }
        }
        17 => DiskCommand::Statistics,
        18 => DiskCommand::Release,
        20 => DiskCommand::Flush,
        43 => fallocate(u64_at(body, 8), u64_at(body, 16), u32_at(body, 24)),
        // What is forgotten or interrupted. A flush cannot be interrupted on a real disk, either.
        2 | 36 | 42 => DiskCommand::Notice,
        _ => DiskCommand::Other,
    };
    Ok(DiskRequest { id, asked })
}

fn fallocate(offset: u64, length: u64, mode: u32) -> DiskCommand {
    match mode & !FALLOCATE_KEEPS_SIZE {
        0 => DiskCommand::Allocate { end: offset.saturating_add(length) },
        FALLOCATE_PUNCHES | FALLOCATE_ZEROES => DiskCommand::Zero { offset, length },
        _ => DiskCommand::Other,
    }
}

/// An answer that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadyAnswer(pub Vec<u8>);

impl ReadyAnswer {
    fn of(id: u64, error: i32, body: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(ANSWER_HEADER + body.len());
        push(&mut bytes, &[u32::try_from(ANSWER_HEADER + body.len()).unwrap_or(u32::MAX)]);
        bytes.extend_from_slice(&error.to_le_bytes());
        bytes.extend_from_slice(&id.to_le_bytes());
        bytes.extend_from_slice(body);
        Self(bytes)
    }

    pub fn done(id: u64) -> Self {
        Self::of(id, 0, &[])
    }

    pub fn refused(id: u64, error: Errno) -> Self {
        Self::of(id, -error.raw_os_error(), &[])
    }

    /// The same request refused instead.
    pub fn refuse(&self, error: Errno) -> Self {
        Self::refused(u64_at(&self.0, 8), error)
    }

    pub fn written(id: u64, length: u32) -> Self {
        Self::of(id, 0, &u64::from(length).to_le_bytes())
    }

    /// Room for so much data, which the caller fills in from [`ReadyAnswer::data`].
    pub fn read(id: u64, length: usize) -> Self {
        let mut answer = Self::of(id, 0, &[]);
        answer.0.resize(ANSWER_HEADER + length, 0);
        let whole = u32::try_from(answer.0.len()).unwrap_or(u32::MAX);
        answer.0[..4].copy_from_slice(&whole.to_le_bytes());
        answer
    }

    pub fn data(&mut self) -> &mut [u8] {
        &mut self.0[ANSWER_HEADER..]
    }

    pub fn opened(id: u64) -> Self {
        let mut body = vec![0; 8];
        push(&mut body, &[DIRECT_IO | PARALLEL_DIRECT_WRITES, 0]);
        Self::of(id, 0, &body)
    }

    pub fn init(id: u64, minor: u32, flags: u32, read_ahead: u32) -> Self {
        let mut body = Vec::new();
        let wanted = ASYNC_READ | BIG_WRITES | ASYNC_DIRECT | MAX_PAGES;
        push(&mut body, &[PROTOCOL, minor.min(MINOR), read_ahead, flags & wanted]);
        body.extend_from_slice(&BACKGROUND.to_le_bytes());
        body.extend_from_slice(&(BACKGROUND / 4 * 3).to_le_bytes());
        // Times are in nanoseconds.
        push(&mut body, &[MOST_WRITE_BYTES, 1]);
        let pages = u16::try_from(u64::from(MOST_WRITE_BYTES) / BLOCK_BYTES).unwrap_or(u16::MAX);
        body.extend_from_slice(&pages.to_le_bytes());
        body.resize(64, 0);
        Self::of(id, 0, &body)
    }

    /// `owner` is its user and group.
    pub fn attributes(id: u64, size_bytes: u64, owner: (u32, u32)) -> Self {
        let mut body = Vec::new();
        push_long(&mut body, &[VALID_S, 0, ROOT, size_bytes, size_bytes.div_ceil(512), 0, 0, 0]);
        push(&mut body, &[0, 0, 0, REGULAR | 0o600, 1, owner.0, owner.1, 0, 4096, 0]);
        Self::of(id, 0, &body)
    }

    pub fn statistics(id: u64, size_bytes: u64) -> Self {
        let mut body = Vec::new();
        push_long(&mut body, &[size_bytes / BLOCK_BYTES, 0, 0, 1, 0]);
        push(&mut body, &[4096, 255, 4096, 0]);
        body.resize(80, 0);
        Self::of(id, 0, &body)
    }
}

fn push(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn push_long(bytes: &mut Vec<u8>, numbers: &[u64]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: u32, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push(&mut bytes, &[u32::try_from(REQUEST_HEADER + body.len()).unwrap(), kind]);
        push_long(&mut bytes, &[77, ROOT, 0, 0]);
        bytes.extend_from_slice(body);
        bytes
    }

    fn asked(kind: u32, body: &[u8]) -> DiskCommand {
        let request = parse(&request(kind, body)).unwrap();
        assert_eq!(request.id, 77);
        request.asked
    }

    fn write(flags: u32, written: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        push_long(&mut body, &[0, 4096, written.len() as u64, 0]);
        push(&mut body, &[flags, 0]);
        body.extend_from_slice(written);
        body
    }

    #[test]
    fn a_write_says_whether_it_must_be_on_the_disk() {
        let plain = DiskCommand::Write { offset: 4096, length: 3, fua: false };
        assert_eq!(asked(16, &write(0, b"abc")), plain);
        let fua = DiskCommand::Write { offset: 4096, length: 3, fua: true };
        for flags in [0o10_000, 0o4_010_000] {
            assert_eq!(asked(16, &write(flags, b"abc")), fua);
        }
        assert_eq!(&request(16, &write(0, b"abc"))[WRITTEN_AT..], b"abc");
    }

    #[test]
    fn zeroing_and_allocating_are_told_apart() {
        let body = |mode: u32| {
            let mut body = Vec::new();
            push_long(&mut body, &[0, 512, 1024]);
            push(&mut body, &[mode, 0]);
            body
        };
        for mode in [2 | 1, 16, 16 | 1] {
            assert_eq!(asked(43, &body(mode)), DiskCommand::Zero { offset: 512, length: 1024 });
        }
        for mode in [0, 1] {
            assert_eq!(asked(43, &body(mode)), DiskCommand::Allocate { end: 1536 });
        }
        assert_eq!(asked(43, &body(8)), DiskCommand::Other, "a range cannot be taken out");
    }

    #[test]
    fn closing_is_no_flush() {
        assert_eq!(asked(18, &[0; 24]), DiskCommand::Release);
        assert_eq!(asked(25, &[0; 24]), DiskCommand::Other, "what the kernel calls flush is a close");
        assert_eq!(asked(20, &[0; 16]), DiskCommand::Flush);
    }

    #[test]
    fn what_is_not_whole_is_refused() {
        let mut short = request(16, &write(0, b"abc"));
        short.pop();
        assert!(parse(&short).unwrap_err().contains("not whole"));
        assert!(parse(&request(15, &[0; 39])).unwrap_err().contains("not 40"));
        let mut old = Vec::new();
        push(&mut old, &[7, 23, 0, 0]);
        assert_eq!(parse(&request(26, &old)).unwrap_err(), "the kernel speaks FUSE 7.23");
    }

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        let sizes = [
            (ReadyAnswer::init(1, 45, u32::MAX, 0), 64),
            (ReadyAnswer::attributes(1, 4096, (0, 0)), 104),
            (ReadyAnswer::statistics(1, 4096), 80),
            (ReadyAnswer::opened(1), 16),
            (ReadyAnswer::written(1, 5), 8),
            (ReadyAnswer::read(1, 100), 100),
            (ReadyAnswer::done(1), 0),
        ];
        for (answer, body) in sizes {
            assert_eq!(answer.0.len(), ANSWER_HEADER + body, "{answer:?}");
            assert_eq!(u32_at(&answer.0, 0) as usize, answer.0.len());
        }
        let refused = ReadyAnswer::written(9, 5).refuse(Errno::NOSPC);
        assert_eq!(refused, ReadyAnswer::refused(9, Errno::NOSPC));
        assert_eq!(u32_at(&refused.0, 4), 28_u32.wrapping_neg());
    }
}
