//! The procedures that are called, and what they return. Pure: values to bytes, bytes to values.

use super::xdr::{Writer, XdrError, XdrReader};
use std::collections::BTreeMap;
use std::fmt;

/// Numbers of procedures, which libvirt never changes.
pub mod number {
    pub const OPEN: u32 = 1;
    pub const HYPERVISOR_VERSION: u32 = 4;
    pub const CAPABILITIES: u32 = 7;
    pub const CREATE: u32 = 10;
    pub const DESTROY: u32 = 12;
    pub const XML: u32 = 14;
    pub const LOOKUP_BY_UUID: u32 = 24;
    pub const WAYS_TO_LOG_IN: u32 = 66;
    pub const LOG_IN_BY_POLKIT: u32 = 70;
    pub const LIBVIRT_VERSION: u32 = 157;
    pub const CPU_MODELS: u32 = 312;
    pub const STATISTICS: u32 = 344;
    /// Of the program for QEMU.
    pub const MONITOR: u32 = 1;
}

/// The domain ends when the connection that made it does.
const AUTO_DESTROY: u32 = 2;
/// Groups of statistics: the vCPUs' times and the disks.
const OF_VCPUS: u32 = 1 << 3;
const OF_DISKS: u32 = 1 << 5;
/// Only what the caller names, and nothing if this libvirt does not know one of the groups.
const ENFORCE_GROUPS: u32 = 1 << 31;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uuid(pub [u8; 16]);

/// How libvirt names a domain in its calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    pub name: String,
    pub uuid: Uuid,
    pub id: i32,
}

pub type Statistics = BTreeMap<String, Statistic>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statistic {
    Whole(u64),
    Text(String),
    /// Negative, or no whole number.
    Other,
}

/// A way in which libvirt lets somebody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogIn {
    None,
    Password,
    Polkit,
}

impl Uuid {
    /// A random one (RFC 9562, version 4).
    pub fn of_random(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        Self(bytes)
    }

    /// Reads "c1a5…-…": 32 digits, with or without hyphens.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
        if digits.len() != 32 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                formatter.write_str("-")?;
            }
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

pub fn open(uri: &str) -> Vec<u8> {
    Writer::default().some_text(uri).word(0).bytes()
}

pub fn create(xml: &str) -> Vec<u8> {
    Writer::default().text(xml).word(AUTO_DESTROY).bytes()
}

fn domain(writer: Writer, domain: &Domain) -> Writer {
    writer.text(&domain.name).fixed(&domain.uuid.0).signed(domain.id)
}

pub fn destroy(which: &Domain) -> Vec<u8> {
    domain(Writer::default(), which).bytes()
}

pub fn xml(which: &Domain) -> Vec<u8> {
    domain(Writer::default(), which).word(0).bytes()
}

pub fn lookup(uuid: Uuid) -> Vec<u8> {
    Writer::default().fixed(&uuid.0).bytes()
}

pub fn monitor(which: &Domain, command: &str) -> Vec<u8> {
    domain(Writer::default(), which).text(command).word(0).bytes()
}

pub fn statistics(which: &Domain) -> Vec<u8> {
    domain(Writer::default().word(1), which).word(OF_VCPUS | OF_DISKS).word(ENFORCE_GROUPS).bytes()
}

/// Asks for the names of all CPU models of this architecture.
pub fn cpu_models(architecture: &str) -> Vec<u8> {
    Writer::default().text(architecture).signed(1).word(0).bytes()
}

pub fn read_domain(reader: &mut XdrReader<'_>) -> Result<Domain, XdrError> {
    Ok(Domain { name: reader.text()?, uuid: Uuid(reader.fixed()?), id: reader.signed()? })
}

pub fn read_ways_to_log_in(reader: &mut XdrReader<'_>) -> Result<Vec<LogIn>, XdrError> {
    reader.list(|reader| match reader.word()? {
        0 => Ok(LogIn::None),
        1 => Ok(LogIn::Password),
        2 => Ok(LogIn::Polkit),
        found => Err(XdrError::Number { found, expected: "a way to log in" }),
    })
}

/// libvirt writes a version as one number: 9000000 is 9.0.0.
pub fn read_version(reader: &mut XdrReader<'_>) -> Result<String, XdrError> {
    let number = reader.long()?;
    Ok(format!("{}.{}.{}", number / 1_000_000, number / 1_000 % 1_000, number % 1_000))
}

/// The statistics of one domain, by libvirt's names.
pub fn read_statistics(reader: &mut XdrReader<'_>) -> Result<Statistics, XdrError> {
    let domains = reader.list(|reader| {
        read_domain(reader)?;
        reader.list(|reader| Ok((reader.text()?, value(reader)?)))
    })?;
    Ok(domains.into_iter().next().unwrap_or_default().into_iter().collect())
}

/// A value with its type.
fn value(reader: &mut XdrReader<'_>) -> Result<Statistic, XdrError> {
    let whole = |value: Option<u64>| value.map_or(Statistic::Other, Statistic::Whole);
    match reader.word()? {
        // Words with a sign, and truths.
        1 | 6 => Ok(whole(u64::try_from(reader.signed()?).ok())),
        2 => Ok(Statistic::Whole(reader.word()?.into())),
        3 => Ok(whole(u64::try_from(reader.long()?.cast_signed()).ok())),
        4 => Ok(Statistic::Whole(reader.long()?)),
        5 => reader.long().map(|_| Statistic::Other),
        7 => reader.text().map(Statistic::Text),
        found => Err(XdrError::Number { found, expected: "the type of a value" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_written_and_read_as_people_write_it() {
        let text = "c1a5e0f2-0001-4203-8405-060708090a0b";
        let uuid = Uuid::parse(text).unwrap();
        assert_eq!(uuid.to_string(), text);
        assert_eq!(Uuid::of_random(uuid.0), uuid);
        assert_eq!(Uuid::of_random([0xff; 16]).to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        for wrong in ["", "c1a5", "c1a5e0f2-0001-4203-8405-060708090a0g", "+1a5e0f2-0001-4203-8405-060708090a0b"] {
            assert_eq!(Uuid::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn statistics_are_read_by_name_whatever_their_type() {
        let which = Domain { name: "d".to_owned(), uuid: Uuid([7; 16]), id: 3 };
        let head = domain(Writer::default().word(1), &which).word(4);
        let long = |writer: Writer, name: &str, kind: u32, value: u64| {
            writer.text(name).word(kind).fixed(&value.to_be_bytes())
        };
        let body = long(head, "block.0.rd.reqs", 4, 12);
        let body = long(body, "share", 5, 0).text("block.0.name").word(7).text("vda").text("state").word(1).signed(-1);
        let found = read_statistics(&mut XdrReader::new(&body.bytes())).unwrap();
        let expected = [
            ("block.0.name", Statistic::Text("vda".to_owned())),
            ("block.0.rd.reqs", Statistic::Whole(12)),
            ("share", Statistic::Other),
            ("state", Statistic::Other),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)).into());
        let none = Writer::default().word(0).bytes();
        assert_eq!(read_statistics(&mut XdrReader::new(&none)), Ok(Statistics::new()));
        let wrong = domain(Writer::default().word(1), &which).word(1).text("x").word(9).bytes();
        assert!(read_statistics(&mut XdrReader::new(&wrong)).is_err());
    }
}
