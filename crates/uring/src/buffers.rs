//! Buffers that the kernel fills, whichever socket something arrives at.
#![allow(unsafe_code, reason = "the kernel writes into memory of ours")]

use io_uring::{IoUring, types};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};

/// A power of two. As many answers can arrive between two waits before the kernel has to be asked again.
const COUNT: u16 = 256;
/// Longer answers take several.
const SIZE: u32 = 4096;
const ENTRIES_BYTES: usize = COUNT as usize * size_of::<types::BufRingEntry>();
const BYTES: usize = ENTRIES_BYTES + COUNT as usize * SIZE as usize;
/// The kernel's number for these buffers.
pub const GROUP: u16 = 0;

/// One mapping: a list of free buffers that the kernel takes from, and behind it the buffers.
#[derive(Debug)]
pub struct Buffers {
    memory: *mut c_void,
    /// How many buffers were ever put into the list.
    given: u16,
}

impl Buffers {
    /// Registers buffers with a ring. [`Buffers::unregister`] must be called before they are dropped.
    pub fn register(ring: &IoUring) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing.
        let memory = unsafe { mmap_anonymous(ptr::null_mut(), BYTES, access, MapFlags::PRIVATE)? };
        let mut buffers = Self { memory, given: 0 };
        // SAFETY: the list is at the beginning of a page, has room for COUNT entries, and stays until it is unregistered.
        unsafe { ring.submitter().register_buf_ring_with_flags(memory as u64, COUNT, GROUP, 0)? };
        for number in 0..COUNT {
            buffers.give_back(number);
        }
        buffers.publish();
        Ok(buffers)
    }

    /// From here on the kernel writes into none of them.
    pub fn unregister(ring: &IoUring) -> io::Result<()> {
        ring.submitter().unregister_buf_ring(GROUP)
    }

    /// Keeps the memory for ever, because the kernel may still write into it.
    pub fn leak(&mut self) {
        self.memory = ptr::null_mut();
    }

    fn address(&self, number: u16) -> *mut u8 {
        let offset = ENTRIES_BYTES + usize::from(number % COUNT) * SIZE as usize;
        // SAFETY: the offset is within the mapping.
        unsafe { self.memory.cast::<u8>().add(offset) }
    }

    /// What the kernel has written into a buffer.
    pub fn filled(&self, number: u16, length: usize) -> &[u8] {
        // SAFETY: the kernel gave this buffer to us, so it does not write into it until it is given back, which needs `&mut`.
        unsafe { std::slice::from_raw_parts(self.address(number), length.min(SIZE as usize)) }
    }

    /// Puts a buffer into the list. The kernel sees it after [`Buffers::publish`].
    pub fn give_back(&mut self, number: u16) {
        let place = usize::from(self.given % COUNT);
        // SAFETY: the entry is within the mapping. The kernel does not read it before the tail passes it.
        let entry = unsafe { &mut *self.memory.cast::<types::BufRingEntry>().add(place) };
        entry.set_addr(self.address(number) as u64);
        entry.set_len(SIZE);
        entry.set_bid(number);
        self.given = self.given.wrapping_add(1);
    }

    pub fn publish(&mut self) {
        // SAFETY: the mapping begins with the list, whose first entry holds the tail. It is aligned, and only the kernel reads it.
        let tail = unsafe { &*types::BufRingEntry::tail(self.memory.cast()).cast::<AtomicU16>() };
        tail.store(self.given, Ordering::Release);
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if !self.memory.is_null() {
            // SAFETY: nothing refers to the mapping any more. Unmapping it whole cannot fail.
            let _ = unsafe { munmap(self.memory, BYTES) };
        }
    }
}
