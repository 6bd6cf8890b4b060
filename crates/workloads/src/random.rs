//! Seeded streams of random values.
//!
//! A stream is named by the seed, what it is for, and up to four numbers (warehouse, district, client …). Streams with
//! different names are independent, so the rows of one chunk and the inputs of one client do not depend on what else
//! was drawn, in which order, or on which machine. The values are part of the definition of a data set: changing how
//! one is drawn changes its checksums, and the golden values in the tests say so.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use xxhash_rust::xxh3::xxh3_128;

/// Letters of both cases and digits: what random text is made of.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHABET_LENGTH: usize = ALPHABET.len();
const PAIRS: usize = ALPHABET_LENGTH * ALPHABET_LENGTH;

/// Every pair of letters, so that one step of [`Stream::alphanumeric`] yields two of them.
static PAIR_TABLE: [[u8; 2]; PAIRS] = pair_table();

const fn pair_table() -> [[u8; 2]; PAIRS] {
    let mut table = [[0; 2]; PAIRS];
    let mut index = 0;
    while index < PAIRS {
        table[index] = [ALPHABET[index / ALPHABET_LENGTH], ALPHABET[index % ALPHABET_LENGTH]];
        index += 1;
    }
    table
}

/// Letters taken from one 64-bit draw. Four pairs have 62^8 ≈ 2·10^14 combinations, and each of them gets its share of
/// the 2^64 values to within one part in 80,000.
const LETTERS_PER_DRAW: usize = 8;

/// One stream of random values.
#[derive(Debug, Clone)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream for `purpose` and `keys` under `seed`.
    pub fn new(seed: u64, purpose: &str, keys: [u32; 2]) -> Self {
        // Numbers first and of fixed width, so that no two names have the same bytes.
        let mut name = [0; 64];
        name[..8].copy_from_slice(&seed.to_le_bytes());
        name[8..12].copy_from_slice(&keys[0].to_le_bytes());
        name[12..16].copy_from_slice(&keys[1].to_le_bytes());
        let length = 16 + purpose.len();
        debug_assert!(length <= name.len(), "purpose too long: {purpose}");
        name[16..length].copy_from_slice(purpose.as_bytes());
        Self(Pcg64Mcg::from_seed(xxh3_128(&name[..length]).to_le_bytes()))
    }

    /// Uniform over all 64-bit values.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over `0..count` by multiplication; the bias is below `count` parts in 2^64.
    pub fn below(&mut self, count: u64) -> u64 {
        scale(&mut self.bits(), count)
    }

    /// Uniform over `low..=high`.
    pub fn uniform(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high);
        low + self.below(high.abs_diff(low) + 1).cast_signed()
    }

    /// True once in `one_in` times on average.
    pub fn once_in(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    /// Non-uniform over the range of `skew`, with `constant` as its run-time constant C.
    pub fn skewed(&mut self, skew: Skew, constant: i64) -> i64 {
        let mask = self.uniform(0, skew.mask);
        let value = self.uniform(skew.low, skew.high);
        ((mask | value) + constant) % (skew.high - skew.low + 1) + skew.low
    }

    /// Fills `text` with random letters and digits.
    pub fn alphanumeric(&mut self, text: &mut [u8]) {
        for letters in text.chunks_mut(LETTERS_PER_DRAW) {
            let mut fraction = self.bits();
            for pair in letters.chunks_mut(2) {
                let drawn = PAIR_TABLE[index(scale(&mut fraction, PAIRS as u64))];
                pair.copy_from_slice(&drawn[..pair.len()]);
            }
        }
    }

    /// Fills `text` with random decimal digits.
    pub fn digits(&mut self, text: &mut [u8]) {
        for digits in text.chunks_mut(LETTERS_PER_DRAW) {
            let mut fraction = self.bits();
            for digit in digits {
                *digit = ALPHABET[index(scale(&mut fraction, 10))];
            }
        }
    }

    /// Fills `text` with random capital letters.
    pub fn capitals(&mut self, text: &mut [u8]) {
        for letter in text {
            *letter = ALPHABET[10 + index(self.below(26))];
        }
    }

    /// Puts `values` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, index(self.below(last as u64 + 1)));
        }
    }
}

/// Takes a value in `0..count` off the top of a 64-bit fraction and leaves the rest of the fraction.
fn scale(fraction: &mut u64, count: u64) -> u64 {
    let product = u128::from(*fraction) * u128::from(count);
    *fraction = (product & u128::from(u64::MAX)) as u64;
    (product >> 64) as u64
}

/// Drawn values used as an index are far below the width of `usize`.
fn index(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Range and mask of a non-uniform distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skew {
    pub mask: i64,
    pub low: i64,
    pub high: i64,
}

/// Picks exactly `wanted` of `total` things seen one after another, each set of them with the same chance (Knuth's
/// selection sampling), so that a rule about "10 % of the rows" holds exactly in each chunk.
#[derive(Debug, Clone, Copy)]
pub struct Picks {
    wanted: u64,
    left: u64,
}

impl Picks {
    pub fn new(wanted: u64, total: u64) -> Self {
        debug_assert!(wanted <= total);
        Self { wanted, left: total }
    }

    /// Whether the next thing is one of them.
    pub fn next(&mut self, stream: &mut Stream) -> bool {
        let picked = stream.below(self.left) < self.wanted;
        self.left -= 1;
        self.wanted -= u64::from(picked);
        picked
    }
}

/// A piece of ASCII text of bounded length, without heap.
#[derive(Debug, Clone, Copy)]
pub struct Letters<const LIMIT: usize> {
    bytes: [u8; LIMIT],
    length: usize,
}

impl<const LIMIT: usize> Default for Letters<LIMIT> {
    fn default() -> Self {
        Self { bytes: [0; LIMIT], length: 0 }
    }
}

impl<const LIMIT: usize> Letters<LIMIT> {
    /// Random letters and digits; the length is uniform over `shortest..=LIMIT`.
    pub fn alphanumeric(stream: &mut Stream, shortest: usize) -> Self {
        let mut letters =
            Self { bytes: [0; LIMIT], length: shortest + index(stream.below((LIMIT - shortest) as u64 + 1)) };
        stream.alphanumeric(&mut letters.bytes[..letters.length]);
        letters
    }

    /// Appends what still fits.
    pub fn push(&mut self, text: &[u8]) {
        let taken = text.len().min(LIMIT - self.length);
        self.bytes[self.length..self.length + taken].copy_from_slice(&text[..taken]);
        self.length += taken;
    }

    /// Writes `text` over the letters at a random place; it must not be longer than they are.
    pub fn overwrite(&mut self, stream: &mut Stream, text: &[u8]) {
        let start = index(stream.below((self.length - text.len()) as u64 + 1));
        self.bytes[start..start + text.len()].copy_from_slice(text);
    }

    pub fn as_str(&self) -> &str {
        // Only ASCII is ever put in, so there is always a valid text to show.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}
