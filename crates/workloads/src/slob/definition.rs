//! Fixed sizes: what a row consists of, and what it stands for.

/// What a row counts for where a study gives a size; the page of most engines.
pub const PAGE_BYTES: u64 = 8 << 10;
/// Text columns of a row, c2 to c20.
pub const COLUMNS: usize = 19;
/// Letters in each of them.
pub const LETTERS: usize = 128;
/// Quotas are kept in every hundred.
pub const HUNDRED: u32 = 100;
/// What text consists of unless it is random.
pub const FILLER: u8 = b'X';
