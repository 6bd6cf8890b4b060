//! Packets, the frames of the protocol: three bytes of length, one of sequence, and a body.

use crate::wire::{Framing, Malformed};
use bytes::{BufMut, BytesMut};

const HEADER: usize = 4;

/// A packet of this length continues in the next. Ours are never that long: the server's own limit is as low.
const CONTINUED: usize = 0xff_ff_ff;

/// Features agreed at login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    /// Rows end with an OK packet. Otherwise columns and rows each end with an EOF packet.
    pub no_eof: bool,
    /// The columns of a prepared statement are sent again only if they have changed.
    pub cached_columns: bool,
    /// A prepared statement that changes rows can be executed with many rows of values in one request. The server reports only
    /// how many rows all of them changed.
    pub executes_all: bool,
}

/// First bytes of requests.
pub mod command {
    pub const QUERY: u8 = 0x03;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
    pub const CLOSE: u8 = 0x19;
    pub const EXECUTE_ALL: u8 = 0xfa;
}

/// One packet from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    pub sequence: u8,
    pub body: &'a [u8],
}

/// The protocol's frames.
#[derive(Debug)]
pub struct Packets;

impl Framing for Packets {
    type Frame<'a> = Packet<'a>;
    type Agreed = Features;

    fn first(waiting: &[u8]) -> Result<Option<(Packet<'_>, usize)>, Malformed> {
        let Some((&[a, b, c, sequence], rest)) = waiting.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if length == CONTINUED {
            return Err(Malformed::too_large("a row of 16 MiB or more. Select less of it"));
        }
        Ok(rest.get(..length).map(|body| (Packet { sequence, body }, HEADER + length)))
    }
}

/// Appends one packet, whose body `write` writes. If the body is too long, it appends nothing and fails.
pub fn put(out: &mut BytesMut, sequence: u8, write: impl FnOnce(&mut BytesMut)) -> Result<(), Malformed> {
    let start = out.len();
    out.put_bytes(0, HEADER);
    write(out);
    let length = out.len() - start - HEADER;
    if length >= CONTINUED {
        out.truncate(start);
        return Err(Malformed::new(format!("{length} bytes are too many for one packet")));
    }
    // The check above leaves fewer than three bytes' worth.
    let [a, b, c, ..] = length.to_le_bytes();
    out[start..start + HEADER].copy_from_slice(&[a, b, c, sequence]);
    Ok(())
}

/// Reads a body piece by piece.
#[derive(Debug, Clone, Copy)]
pub struct PacketReader<'a>(pub &'a [u8]);

impl<'a> PacketReader<'a> {
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, rest) = self.0.split_first_chunk::<N>().ok_or_else(ends_early)?;
        self.0 = rest;
        Ok(*head)
    }

    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    pub fn short(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn long(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (head, rest) = self.0.split_at_checked(count).ok_or_else(ends_early)?;
        self.0 = rest;
        Ok(head)
    }

    /// Reads a number of one, three, four or nine bytes; the first byte says which.
    pub fn number(&mut self) -> Result<u64, Malformed> {
        Ok(match self.byte()? {
            small @ 0..=0xfa => small.into(),
            0xfc => self.short()?.into(),
            0xfd => {
                let [a, b, c] = self.array()?;
                u32::from_le_bytes([a, b, c, 0]).into()
            }
            0xfe => u64::from_le_bytes(self.array()?),
            other => return Err(Malformed::new(format!("{other:#04x} begins no number"))),
        })
    }

    /// Reads bytes that follow their own count.
    pub fn counted(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.number()?;
        self.bytes(usize::try_from(count).map_err(|_| ends_early())?)
    }

    /// Reads up to the next zero byte.
    pub fn zero_ended(&mut self) -> Result<&'a [u8], Malformed> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(|| Malformed::new("a text has no end"))?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(text)
    }
}

#[cold]
fn ends_early() -> Malformed {
    Malformed::new("a packet ends early")
}

/// Writes a number in the form of [`PacketReader::number`].
pub fn put_number(out: &mut BytesMut, number: usize) {
    match number {
        0..=0xfa => out.put_slice(&number.to_le_bytes()[..1]),
        0xfb..=0xffff => {
            out.put_u8(0xfc);
            out.put_slice(&number.to_le_bytes()[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.put_u8(0xfd);
            out.put_slice(&number.to_le_bytes()[..3]);
        }
        _ => {
            out.put_u8(0xfe);
            out.put_u64_le(number as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::SessionError;
    use crate::wire::Incoming;
    use proptest::prelude::*;

    fn packet(body: &[u8]) -> Vec<u8> {
        let mut out = BytesMut::new();
        put(&mut out, 7, |out| out.put_slice(body)).unwrap();
        out.to_vec()
    }

    /// Every packet in `bytes`, fed in chunks of `piece` bytes.
    fn packets(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut incoming = Incoming::<Packets>::default();
        let mut found = Vec::new();
        for mut part in bytes.chunks(piece) {
            while !part.is_empty() {
                let space = incoming.space();
                let count = part.len().min(space.len());
                space[..count].copy_from_slice(&part[..count]);
                incoming.arrived(count);
                part = &part[count..];
            }
            while let Some(packet) = incoming.next().unwrap() {
                assert_eq!(packet.sequence, 7);
                found.push(packet.body.to_vec());
            }
        }
        found
    }

    #[test]
    fn a_packet_has_its_length_and_sequence_before_it() {
        assert_eq!(packet(b"abc"), b"\x03\0\0\x07abc");
        assert_eq!(packet(b""), b"\0\0\0\x07");
    }

    #[test]
    fn a_body_for_several_packets_leaves_nothing_behind() {
        let mut out = BytesMut::from(b"before".as_slice());
        let error = put(&mut out, 0, |out| out.put_bytes(b'x', CONTINUED)).unwrap_err();
        assert_eq!(error.to_string(), "16777215 bytes are too many for one packet");
        assert_eq!(out, b"before".as_slice());
    }

    #[test]
    fn a_continued_packet_is_a_row_that_is_too_large() {
        let mut incoming = Incoming::<Packets>::default();
        incoming.space()[..HEADER].copy_from_slice(&[0xff, 0xff, 0xff, 1]);
        incoming.arrived(HEADER);
        let error = incoming.next().expect_err("no row is that long");
        assert!(matches!(SessionError::from(error), SessionError::TooLarge(_)));
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_same_packets(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 0..40), piece in 1_usize..5000,
        ) {
            let bytes = bodies.iter().map(|body| packet(body)).collect::<Vec<_>>().concat();
            prop_assert_eq!(packets(&bytes, piece), bodies);
        }

        #[test]
        fn numbers_are_read_as_they_were_put(number in any::<u64>(), shift in 0_u32..64) {
            let number = usize::try_from(number >> shift).unwrap();
            let mut out = BytesMut::new();
            put_number(&mut out, number);
            let mut reader = PacketReader(&out);
            prop_assert_eq!(reader.number().unwrap(), number as u64);
            prop_assert!(reader.0.is_empty());
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut incoming = Incoming::<Packets>::default();
            incoming.space()[..bytes.len()].copy_from_slice(&bytes);
            incoming.arrived(bytes.len());
            while let Ok(Some(_)) = incoming.next() {}
            let mut reader = PacketReader(&bytes);
            while reader.counted().is_ok() {}
        }
    }
}
