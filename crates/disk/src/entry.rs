//! The log's header and entries as bytes. Pure.
//!
//! The log is a header of fixed size, then entries. An entry is 32 bytes, little endian, followed by its data: what was
//! written, or the text of a mark.

/// The size of the header.
pub const HEADER_BYTES: usize = 1024;
/// The size of an entry without its data.
pub const ENTRY_BYTES: usize = 32;
/// No request of the kernel is longer than this, and so no write.
pub const MOST_WRITE_BYTES: u32 = 1 << 20;
/// The longest text of a mark.
pub const MOST_MARK_BYTES: u32 = 512;
/// The longest text that says what the disk was at first.
pub const MOST_BASE_BYTES: usize = HEADER_BYTES - BASE_AT;

const MAGIC: [u8; 8] = *b"bakedisk";
/// Grows when older readers would misread a log.
const FORMAT: u32 = 1;
const BASE_AT: usize = 24;

const WRITE: u8 = 1;
const ZERO: u8 = 2;
const FLUSH_BEGUN: u8 = 3;
const ENDED: u8 = 4;
const MARK: u8 = 5;
const TOLD: u8 = 6;

/// What a log says about its disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub size_bytes: u64,
    /// Which disk it was at first: a hash or a name, in the caller's words.
    pub base: String,
}

/// Something that happened to the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// How many entries are before it.
    pub index: u64,
    /// Of the host's monotonic clock.
    pub nanoseconds: u64,
    pub event: DiskEvent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskEvent {
    /// With `fua` it is on the disk when it has ended, as its sender asked for.
    Write {
        offset: u64,
        length: u32,
        fua: bool,
    },
    /// Zeroed or discarded.
    Zero {
        offset: u64,
        length: u64,
    },
    FlushBegun,
    /// The flush, or the write with `fua`, which is the entry `begun` was answered.
    Ended {
        begun: u64,
        is_flush: bool,
        took_ns: u64,
    },
    Mark(String),
    Told(DiskOrders),
}

/// An order that the disk obeys from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskOrders {
    /// To hold the answers to flushes.
    Stall,
    Go,
    /// To take no further writes and flushes.
    Freeze,
    Thaw,
    /// To answer flushes so much later.
    DelayUs(u64),
    /// To answer flushes without having flushed.
    Lie,
    /// To stop lying.
    Honest,
}

/// An entry as it is written: what follows it is not known yet, and an end does not repeat what it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw {
    Write { offset: u64, length: u32, fua: bool },
    Zero { offset: u64, length: u64 },
    FlushBegun,
    Ended { begun: u64 },
    Mark { length: u32 },
    Told(DiskOrders),
}

impl Raw {
    /// How many bytes of data follow.
    pub fn data_bytes(self) -> u32 {
        match self {
            Self::Write { length, .. } | Self::Mark { length } => length,
            _ => 0,
        }
    }
}

pub(crate) fn encode(raw: Raw, nanoseconds: u64) -> [u8; ENTRY_BYTES] {
    let (kind, detail, place, extent) = match raw {
        Raw::Write { offset, fua, .. } => (WRITE, u8::from(fua), offset, 0),
        Raw::Zero { offset, length } => (ZERO, 0, offset, length),
        Raw::FlushBegun => (FLUSH_BEGUN, 0, 0, 0),
        Raw::Ended { begun } => (ENDED, 0, begun, 0),
        Raw::Mark { .. } => (MARK, 0, 0, 0),
        Raw::Told(told) => {
            let (detail, value) = told.number();
            (TOLD, detail, value, 0)
        }
    };
    let mut bytes = [0; ENTRY_BYTES];
    bytes[0] = kind;
    bytes[1] = detail;
    bytes[4..8].copy_from_slice(&raw.data_bytes().to_le_bytes());
    bytes[8..16].copy_from_slice(&place.to_le_bytes());
    bytes[16..24].copy_from_slice(&extent.to_le_bytes());
    bytes[24..32].copy_from_slice(&nanoseconds.to_le_bytes());
    bytes
}

/// The entry and its time, or what is wrong with it.
pub(crate) fn decode(bytes: &[u8; ENTRY_BYTES], size_bytes: u64) -> Result<(Raw, u64), String> {
    let [kind, detail, reserved @ ..] = [bytes[0], bytes[1], bytes[2], bytes[3]];
    let (length, place, extent) = (u32_at(bytes, 4), u64_at(bytes, 8), u64_at(bytes, 16));
    let (raw, used) = match (kind, detail) {
        (WRITE, 0 | 1) => (Raw::Write { offset: place, length, fua: detail == 1 }, [true, true, false]),
        (ZERO, 0) => (Raw::Zero { offset: place, length: extent }, [false, true, true]),
        (FLUSH_BEGUN, 0) => (Raw::FlushBegun, [false; 3]),
        (ENDED, 0) => (Raw::Ended { begun: place }, [false, true, false]),
        (MARK, 0) => (Raw::Mark { length }, [true, false, false]),
        (TOLD, _) => match DiskOrders::of(detail, place) {
            Some(told) => (Raw::Told(told), [false, matches!(told, DiskOrders::DelayUs(_)), false]),
            None => return Err(format!("its order {detail} is unknown")),
        },
        _ => return Err(format!("its kind {kind} with {detail} is unknown")),
    };
    if reserved != [0, 0]
        || [u64::from(length), place, extent].iter().zip(used).any(|(field, used)| *field != 0 && !used)
    {
        return Err("a field that it does not have is not zero".to_owned());
    }
    let (most, extent) = match raw {
        Raw::Write { .. } => (MOST_WRITE_BYTES, u64::from(length)),
        Raw::Mark { .. } => (MOST_MARK_BYTES, 0),
        _ => (u32::MAX, extent),
    };
    if length > most {
        return Err(format!("it has {length} bytes, and at most {most} can be"));
    }
    if matches!(raw, Raw::Write { .. } | Raw::Zero { .. })
        && place.checked_add(extent).is_none_or(|end| end > size_bytes)
    {
        return Err(format!("it ends behind the disk of {size_bytes} bytes"));
    }
    Ok((raw, u64_at(bytes, 24)))
}

impl DiskOrders {
    /// Each with its word, in the order of their numbers in the log.
    fn all(value: u64) -> [(&'static str, Self); 7] {
        [
            ("stall", Self::Stall),
            ("go", Self::Go),
            ("freeze", Self::Freeze),
            ("thaw", Self::Thaw),
            ("delay-us", Self::DelayUs(value)),
            ("lie", Self::Lie),
            ("honest", Self::Honest),
        ]
    }

    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::all(0).into_iter().find(|(known, _)| *known == word).map(|(_, order)| order)
    }

    pub(crate) fn word(self) -> &'static str {
        Self::all(0)[usize::from(self.number().0) - 1].0
    }

    fn number(self) -> (u8, u64) {
        match self {
            Self::Stall => (1, 0),
            Self::Go => (2, 0),
            Self::Freeze => (3, 0),
            Self::Thaw => (4, 0),
            Self::DelayUs(delay) => (5, delay),
            Self::Lie => (6, 0),
            Self::Honest => (7, 0),
        }
    }

    fn of(number: u8, value: u64) -> Option<Self> {
        Self::all(value).into_iter().map(|(_, order)| order).find(|order| order.number().0 == number)
    }
}

impl Header {
    /// `None` if the text about the base is too long.
    pub(crate) fn encode(&self) -> Option<[u8; HEADER_BYTES]> {
        let mut bytes = [0; HEADER_BYTES];
        let length = u32::try_from(self.base.len()).ok()?;
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        bytes[12..16].copy_from_slice(&length.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.size_bytes.to_le_bytes());
        bytes.get_mut(BASE_AT..BASE_AT + self.base.len())?.copy_from_slice(self.base.as_bytes());
        Some(bytes)
    }

    /// The header, or what is wrong with it.
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<Self, String> {
        if bytes[..8] != MAGIC {
            return Err("it does not begin as a disk's log does".to_owned());
        }
        let format = u32_at(bytes, 8);
        if format != FORMAT {
            return Err(format!("its format is {format}, and this bakeoff reads {FORMAT}"));
        }
        let length = u32_at(bytes, 12) as usize;
        let Some((base, rest)) = bytes[BASE_AT..].split_at_checked(length) else {
            return Err(format!("the name of its base has {length} bytes, and at most {MOST_BASE_BYTES} can be"));
        };
        if rest.iter().any(|byte| *byte != 0) {
            return Err("something follows the name of its base".to_owned());
        }
        let base = std::str::from_utf8(base).map_err(|_| "the name of its base is not text".to_owned())?.to_owned();
        Ok(Self { size_bytes: u64_at(bytes, 16), base })
    }
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(number)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 1 << 20;

    #[test]
    fn entries_come_back() {
        let told = [
            DiskOrders::Stall,
            DiskOrders::Go,
            DiskOrders::Freeze,
            DiskOrders::Thaw,
            DiskOrders::DelayUs(7),
            DiskOrders::Lie,
            DiskOrders::Honest,
        ];
        let mut all = vec![
            Raw::Write { offset: 4096, length: 512, fua: false },
            Raw::Write { offset: SIZE - 1, length: 1, fua: true },
            Raw::Zero { offset: 0, length: SIZE },
            Raw::FlushBegun,
            Raw::Ended { begun: 12 },
            Raw::Mark { length: 4 },
        ];
        all.extend(told.map(Raw::Told));
        for (time, raw) in (1_u64 << 40..).zip(all) {
            assert_eq!(decode(&encode(raw, time), SIZE), Ok((raw, time)));
        }
    }

    #[test]
    fn what_no_disk_writes_is_refused() {
        let with = |raw, change: &[(usize, u8)]| {
            let mut bytes = encode(raw, 0);
            for (at, byte) in change {
                bytes[*at] = *byte;
            }
            decode(&bytes, SIZE).unwrap_err()
        };
        let write = Raw::Write { offset: SIZE - 512, length: 512, fua: false };
        assert_eq!(with(write, &[(8, 1)]), "it ends behind the disk of 1048576 bytes");
        assert_eq!(with(write, &[(15, 255)]), "it ends behind the disk of 1048576 bytes");
        assert_eq!(with(write, &[(7, 1)]), "it has 16777728 bytes, and at most 1048576 can be");
        assert_eq!(with(write, &[(0, 99)]), "its kind 99 with 0 is unknown");
        assert_eq!(with(write, &[(1, 2)]), "its kind 1 with 2 is unknown");
        assert_eq!(with(write, &[(3, 1)]), "a field that it does not have is not zero");
        assert_eq!(with(Raw::FlushBegun, &[(16, 1)]), "a field that it does not have is not zero");
        assert_eq!(with(Raw::Told(DiskOrders::Go), &[(1, 8)]), "its order 8 is unknown");
        assert_eq!(with(Raw::Mark { length: 1 }, &[(5, 3)]), "it has 769 bytes, and at most 512 can be");
    }

    #[test]
    fn a_header_comes_back_or_says_what_is_wrong() {
        let header = Header { size_bytes: SIZE, base: "sha256 0123".to_owned() };
        let bytes = header.encode().unwrap();
        assert_eq!(Header::decode(&bytes), Ok(header));
        let with = |at: usize, byte: u8| {
            let mut bytes = bytes;
            bytes[at] = byte;
            Header::decode(&bytes).unwrap_err()
        };
        assert_eq!(with(0, 0), "it does not begin as a disk's log does");
        assert_eq!(with(8, 9), "its format is 9, and this bakeoff reads 1");
        assert_eq!(with(13, 255), "the name of its base has 65291 bytes, and at most 1000 can be");
        assert_eq!(with(900, 1), "something follows the name of its base");
        assert_eq!(with(24, 255), "the name of its base is not text");
        assert!(Header { size_bytes: 1, base: "x".repeat(MOST_BASE_BYTES + 1) }.encode().is_none());
    }
}
