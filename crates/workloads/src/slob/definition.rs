//! Fixed sizes: the contents of a row, and the size that it represents.

/// The size of one row where a study gives a size in bytes; it is the page size of most engines.
pub const PAGE_BYTES: u64 = 8 << 10;
/// Text columns of a row, c2 to c20.
pub const COLUMNS: usize = 19;
/// Letters in each of them.
pub const LETTERS: usize = 128;
/// Quotas hold exactly in every hundred.
pub const HUNDRED: u32 = 100;
/// The letter of text that is not random.
pub const FILLER: u8 = b'X';
