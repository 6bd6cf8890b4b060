//! When each client's next transaction is due.
//!
//! A client is data, not a thread: its random stream and a due time. Sessions take whichever client is due first.
//! Here clients work back to back: the next transaction is due the moment the previous one is done, so due times
//! never go down and a plain queue keeps their order. Other ways of pacing change only this file.

use crate::clock::Nanos;
use std::collections::VecDeque;

/// A client of this shard, by its place in the shard's list.
pub type ClientIndex = u32;

pub struct Clients<C> {
    states: Vec<C>,
    due: VecDeque<(Nanos, ClientIndex)>,
}

impl<C> Clients<C> {
    /// All clients are due at `start`.
    pub fn back_to_back(states: Vec<C>, start: Nanos) -> Self {
        let due = (0..).zip(&states).map(|(index, _)| (start, index)).collect();
        Self { states, due }
    }

    /// Due time of the client that comes next, if one is due by now.
    pub fn next_due(&self, now: Nanos) -> Option<Nanos> {
        self.due.front().map(|(due, _)| *due).filter(|due| *due <= now)
    }

    /// Takes the client that is due first; it is out of the queue until [`Clients::finished`].
    pub fn take(&mut self) -> Option<(Nanos, ClientIndex, &mut C)> {
        let (due, index) = self.due.pop_front()?;
        let state = self.states.get_mut(index as usize)?;
        Some((due, index, state))
    }

    pub fn finished(&mut self, index: ClientIndex, done: Nanos) {
        self.due.push_back((done, index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_that_waits_longest_goes_first() {
        let mut clients = Clients::back_to_back(vec!["a", "b", "c"], Nanos(100));
        assert_eq!(clients.next_due(Nanos(99)), None);
        assert_eq!(clients.take().map(|(due, index, _)| (due, index)), Some((Nanos(100), 0)));
        clients.finished(0, Nanos(150));
        let order: Vec<_> = std::iter::from_fn(|| clients.take().map(|(due, _, name)| (due, *name))).collect();
        assert_eq!(order, [(Nanos(100), "b"), (Nanos(100), "c"), (Nanos(150), "a")]);
    }
}
