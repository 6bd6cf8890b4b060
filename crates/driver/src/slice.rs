//! How users are shared out over shards and load generators.

/// A client of this shard, by its index in the shard's list.
pub type ClientIndex = u32;

/// One shard of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    pub shard: u32,
    pub of: u32,
}

impl Slice {
    /// Every `of`-th of `count` things, so that a thing's number alone decides which shard it belongs to.
    pub fn of_all(self, count: u32) -> Vec<u32> {
        (self.shard..count).step_by(self.of as usize).collect()
    }
}
