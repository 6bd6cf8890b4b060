//! Driving as it is seen while it goes on: the same seconds as in the result, each as soon as all shards have closed it.

use crate::merge::{Names, interval, kind_totals};
use crate::plan::SecondSeen;
use crate::recorder::Second;
use crate::window::Window;
use std::collections::BTreeMap;

/// Seconds that not every shard has closed yet. A shard closes them in order.
pub struct Gathering {
    names: Names,
    window: Window,
    shards: usize,
    /// The first second that was not handed on.
    next: u64,
    closed: BTreeMap<u64, Vec<Second>>,
}

impl Gathering {
    pub fn new(names: Names, window: Window, shards: usize) -> Self {
        Self { names, window, shards, next: 0, closed: BTreeMap::new() }
    }

    /// Takes a second of one shard in; returns what is now complete. What ended after the window is not part of it.
    pub fn take(&mut self, second: Second) -> Option<SecondSeen> {
        if second.index >= self.window.seconds() {
            return None;
        }
        self.closed.entry(second.index).or_default().push(second);
        let complete = self.closed.get(&self.next).is_some_and(|parts| parts.len() == self.shards);
        let parts = complete.then(|| self.closed.remove(&self.next)).flatten()?;
        let parts: Vec<&Second> = parts.iter().collect();
        let seen = SecondSeen {
            interval: interval(&self.window, self.next, &parts),
            totals: kind_totals(self.names.kinds, parts.iter().copied()),
        };
        self.next += 1;
        Some(seen)
    }
}
