//! What is collected for each socket, and what has arrived.

use std::io;

/// A socket's index among the slots of a ring. The number is never given twice, so that no other socket of this slot, and none of
/// another ring, is taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotIndex {
    pub index: u32,
    pub number: u64,
}

/// Room for bytes that the kernel has not taken.
const MOST_OUTGOING: usize = 1 << 20;
/// A socket is not read further while so much waits for its owner.
const MOST_INCOMING: usize = 1 << 20;

/// How receiving has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiveEnd {
    Closed,
    Failed(i32),
}

/// One socket. The kernel may hold it, and its bytes in `flying`, after its owner has left.
#[derive(Debug, Default)]
pub struct Slot {
    /// What is reported for it; `None` after its owner has left.
    pub token: Option<u32>,
    /// See [`SlotIndex`].
    pub number: u64,
    /// Collected, and not yet given to the kernel.
    pub outgoing: Vec<u8>,
    /// Given to the kernel, which has sent `sent` of them. Nothing may change or move them while `is_flying`.
    pub flying: Vec<u8>,
    pub sent: usize,
    pub is_flying: bool,
    /// Whether it is in the list of those that have something to send.
    pub is_listed: bool,
    incoming: Vec<u8>,
    read: usize,
    /// Whether the kernel receives for it.
    pub is_receiving: bool,
    pub end: Option<ReceiveEnd>,
    /// Why nothing can be sent any more.
    pub broken: Option<i32>,
}

impl Slot {
    /// Makes a used slot one of a new socket. Its buffers are kept.
    pub fn renew(&mut self, number: u64, token: Option<u32>) {
        let (mut outgoing, mut flying, mut incoming) =
            (std::mem::take(&mut self.outgoing), std::mem::take(&mut self.flying), std::mem::take(&mut self.incoming));
        outgoing.clear();
        flying.clear();
        incoming.clear();
        *self = Self { token, number, outgoing, flying, incoming, ..Self::default() };
    }

    pub fn collect(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(code) = self.broken {
            return Err(io::Error::from_raw_os_error(code));
        }
        let room = MOST_OUTGOING - self.outgoing.len();
        if room == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = room.min(bytes.len());
        self.outgoing.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    pub fn arrived(&mut self, bytes: &[u8]) {
        if self.token.is_some() {
            self.incoming.extend_from_slice(bytes);
        }
    }

    pub fn is_full(&self) -> bool {
        self.incoming.len() - self.read >= MOST_INCOMING
    }

    /// Whether the kernel should receive for it.
    pub fn wants_more(&self) -> bool {
        !self.is_receiving && !self.is_full() && self.token.is_some() && self.end.is_none()
    }

    pub fn take(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let waiting = &self.incoming[self.read..];
        if waiting.is_empty() {
            return match self.end {
                Some(ReceiveEnd::Closed) => Ok(0),
                Some(ReceiveEnd::Failed(code)) => Err(io::Error::from_raw_os_error(code)),
                None => Err(io::ErrorKind::WouldBlock.into()),
            };
        }
        let taken = waiting.len().min(space.len());
        space[..taken].copy_from_slice(&waiting[..taken]);
        self.read += taken;
        if self.read == self.incoming.len() {
            self.incoming.clear();
            self.read = 0;
        }
        Ok(taken)
    }

    /// Whether neither its owner nor the kernel holds it.
    pub fn is_free(&self) -> bool {
        self.token.is_none() && !self.is_receiving && !self.is_flying
    }
}
