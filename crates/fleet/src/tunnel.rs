//! A row of items each way, over messages that may be lost, come twice or come late. Pure: the time is given.
//!
//! Each item has a number. A packet carries at most one item, the number of the last item that its sender has received without a gap,
//! and how many of them it has passed on. The first number ends sending again, the second one opens the window: an end whose reader
//! is slow holds no more than [`WINDOW`] items.

use bytes::{BufMut, Bytes, BytesMut};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Items that the other end has not passed on yet.
pub const WINDOW: u64 = 32;
/// The longest piece of a stream in one item. Thirty of them are two megabytes on the way.
pub const LONGEST_PIECE: usize = 64 << 10;
/// What is not acknowledged after this is sent again.
pub const AGAIN_AFTER: Duration = Duration::from_secs(1);

const HEADER: usize = 3 * 8 + 1;
/// The longest packet.
pub const LONGEST_MESSAGE: usize = HEADER + LONGEST_PIECE;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A piece of standard input, or of standard output.
    Data(Bytes),
    /// A piece of standard error.
    Errors(Bytes),
    /// Standard input has ended.
    End,
    /// The program has ended with this status.
    Exit(i32),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TunnelPacket {
    received: u64,
    passed_on: u64,
    item: Option<(u64, Item)>,
}

impl TunnelPacket {
    pub fn encoded(&self) -> Bytes {
        let (number, kind, body) = match &self.item {
            None => (0, b'-', Bytes::new()),
            Some((number, Item::Data(piece))) => (*number, b'd', piece.clone()),
            Some((number, Item::Errors(piece))) => (*number, b'e', piece.clone()),
            Some((number, Item::End)) => (*number, b'.', Bytes::new()),
            Some((number, Item::Exit(status))) => (*number, b'x', Bytes::copy_from_slice(&status.to_le_bytes())),
        };
        let mut bytes = BytesMut::with_capacity(HEADER + body.len());
        bytes.put_u64_le(self.received);
        bytes.put_u64_le(self.passed_on);
        bytes.put_u64_le(number);
        bytes.put_u8(kind);
        bytes.put(body);
        bytes.freeze()
    }

    /// `None` if it is no packet.
    pub fn decoded(bytes: &Bytes) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (received, passed_on, place) = (number(0)?, number(8)?, number(16)?);
        let kind = *bytes.get(HEADER - 1)?;
        let body = bytes.slice(HEADER..);
        let item = match kind {
            b'-' => return Some(Self { received, passed_on, item: None }),
            b'd' => Item::Data(body),
            b'e' => Item::Errors(body),
            b'.' => Item::End,
            b'x' => Item::Exit(i32::from_le_bytes(body[..].try_into().ok()?)),
            _ => return None,
        };
        Some(Self { received, passed_on, item: Some((place, item)) })
    }
}

/// One end.
#[derive(Debug)]
pub struct Tunnel {
    /// Sent, and not known to be there; the first has the number `there + 1`.
    sent: VecDeque<Item>,
    there: u64,
    passed_on_there: u64,
    /// When the other end was last seen to get on, or was first sent something that it did not have.
    progress: Instant,
    /// Received, and not passed on yet.
    waiting: VecDeque<Item>,
    passed_on: u64,
}

impl Tunnel {
    pub fn new(now: Instant) -> Self {
        Self {
            sent: VecDeque::new(),
            there: 0,
            passed_on_there: 0,
            progress: now,
            waiting: VecDeque::new(),
            passed_on: 0,
        }
    }

    pub fn may_send(&self) -> bool {
        self.last_sent().saturating_sub(self.passed_on_there) < WINDOW
    }

    /// The packet to send now. It is sent again until the other end has it.
    pub fn send(&mut self, item: Item, now: Instant) -> TunnelPacket {
        if self.sent.is_empty() {
            self.progress = now;
        }
        self.sent.push_back(item.clone());
        TunnelPacket { item: Some((self.last_sent(), item)), ..self.report() }
    }

    fn last_sent(&self) -> u64 {
        self.there + self.sent.len() as u64
    }

    /// Whether the other end has all that was sent.
    pub fn is_all_there(&self) -> bool {
        self.sent.is_empty()
    }

    /// What to send again.
    pub fn again(&mut self, now: Instant) -> Vec<TunnelPacket> {
        if self.sent.is_empty() || now.saturating_duration_since(self.progress) < AGAIN_AFTER {
            return Vec::new();
        }
        self.progress = now;
        let report = self.report();
        let numbered = (self.there + 1..).zip(&self.sent);
        numbered.map(|(number, item)| TunnelPacket { item: Some((number, item.clone())), ..report.clone() }).collect()
    }

    /// What this end has, without an item.
    pub fn report(&self) -> TunnelPacket {
        TunnelPacket { received: self.received(), passed_on: self.passed_on, item: None }
    }

    fn received(&self) -> u64 {
        self.passed_on + self.waiting.len() as u64
    }

    /// Whether the other end wants to know what this one has.
    pub fn hear(&mut self, packet: TunnelPacket, now: Instant) -> bool {
        // A packet that is late says less than is known; one of a stranger may say more than was sent.
        let news = packet.received.min(self.last_sent()).saturating_sub(self.there);
        if news > 0 {
            self.sent.drain(..usize::try_from(news).unwrap_or(usize::MAX).min(self.sent.len()));
            self.there += news;
            self.progress = now;
        }
        self.passed_on_there = self.passed_on_there.max(packet.passed_on.min(self.there));
        let Some((number, item)) = packet.item else { return false };
        if number == self.received() + 1 && (self.waiting.len() as u64) < WINDOW {
            self.waiting.push_back(item);
        }
        true
    }

    /// The item that is to be passed on next.
    pub fn next(&self) -> Option<&Item> {
        self.waiting.front()
    }

    pub fn pass_on(&mut self) -> Option<Item> {
        let item = self.waiting.pop_front()?;
        self.passed_on += 1;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(number: u64) -> Item {
        Item::Data(Bytes::copy_from_slice(&number.to_le_bytes()))
    }

    #[test]
    fn every_packet_is_read_as_it_was_written() {
        let items = [Some(piece(7)), Some(Item::Errors("no".into())), Some(Item::End), Some(Item::Exit(-3)), None];
        for item in items {
            let packet = TunnelPacket { received: 5, passed_on: 3, item: item.map(|item| (9, item)) };
            assert_eq!(TunnelPacket::decoded(&packet.encoded()), Some(packet));
        }
        for hostile in ["", "short", "24 bytes and one of kind!", "a body that is no status x"] {
            assert_eq!(TunnelPacket::decoded(&Bytes::from(hostile)), None, "{hostile}");
        }
    }

    /// Two ends, of which each message is lost, doubled or held back by chance, with a reader that is slow by chance.
    fn carried(seed: u64, items: u64) -> (Vec<Item>, usize) {
        let start = Instant::now();
        let (mut from, mut to) = (Tunnel::new(start), Tunnel::new(start));
        let mut state = seed;
        let mut chance = |of: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(of)
        };
        let (mut there, mut back): (VecDeque<TunnelPacket>, VecDeque<TunnelPacket>) =
            (VecDeque::new(), VecDeque::new());
        let (mut got, mut next, mut most) = (Vec::new(), 1, 0);
        for step in 0_u32..200_000 {
            let now = start + Duration::from_millis(100) * step;
            if next <= items && from.may_send() {
                there.push_back(from.send(piece(next), now));
                next += 1;
            }
            there.extend(from.again(now));
            if chance(3) {
                there.rotate_left(usize::from(!there.is_empty()));
            }
            let few = |row: &VecDeque<TunnelPacket>| row.len().min(8);
            for packet in there.drain(..few(&there)).collect::<Vec<_>>() {
                if chance(4) {
                    continue;
                }
                if chance(5) {
                    there.push_back(packet.clone());
                }
                if to.hear(packet, now) {
                    back.push_back(to.report());
                }
            }
            for packet in back.drain(..few(&back)).collect::<Vec<_>>() {
                if !chance(4) {
                    from.hear(packet, now);
                }
            }
            most = most.max(to.waiting.len());
            if chance(2) {
                got.extend(to.pass_on());
            }
            // As a line does when nothing was heard for a while.
            if step % 50 == 0 {
                back.push_back(to.report());
            }
            if got.len() as u64 == items && from.is_all_there() {
                break;
            }
        }
        (got, most)
    }

    #[test]
    fn all_items_come_once_and_in_order_however_many_messages_are_lost() {
        for seed in 0..50 {
            let (got, most) = carried(seed, 300);
            let is_right = got.iter().zip(1..).all(|(item, number)| *item == piece(number));
            assert!(is_right && got.len() == 300, "seed {seed}: {} items", got.len());
            assert!(most as u64 <= WINDOW, "seed {seed}");
        }
    }

    #[test]
    fn a_reader_that_does_not_read_holds_up_the_sender() {
        let now = Instant::now();
        let (mut from, mut to) = (Tunnel::new(now), Tunnel::new(now));
        let mut sent = 0;
        while from.may_send() {
            sent += 1;
            to.hear(from.send(piece(sent), now), now);
            from.hear(to.report(), now);
        }
        assert_eq!((sent, from.is_all_there()), (WINDOW, true));
        assert_eq!(to.pass_on(), Some(piece(1)));
        from.hear(to.report(), now);
        assert!(from.may_send());
    }
}
