//! Sizes and spans of time, as people write them.

use serde::{Deserialize, Serialize};

/// A size, normalised. Serialises as a whole number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A span of time, normalised. Serialises as a whole number of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

/// Reads "2GiB", "512 MiB", "1.5GB" or "4096". Decimal and binary units are told apart.
pub fn parse_size(_text: &str) -> Option<Bytes> {
    None
}

/// Reads "30s", "2m", "1h", "500ms".
pub fn parse_span(_text: &str) -> Option<Span> {
    None
}
