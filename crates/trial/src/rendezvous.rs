//! Where the machines of one trial wait for each other, and learn that one of them cannot go on.

use machines::interrupts::Interrupts;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting machine checks whether the user wants to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// One for each trial. Every wait ends, because every step of a machine on its way here has a limit.
#[derive(Debug)]
pub struct Rendezvous {
    of: u32,
    state: Mutex<RendezvousState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct RendezvousState {
    waiting: u32,
    /// How often all machines have met.
    met: u64,
    /// The value that the last machine brought to the last meeting.
    brought: u64,
    given_up: bool,
}

/// The error of a wait that ended because one machine failed or the user stopped the trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalledOff;

impl Rendezvous {
    pub fn of(machines: u32) -> Self {
        Self { of: machines, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until all machines are here. All get the value that the last one brings.
    pub fn meet(&self, interrupts: &Interrupts, bring: impl FnOnce() -> u64) -> Result<u64, CalledOff> {
        let mut state = self.state();
        if state.given_up {
            return Err(CalledOff);
        }
        state.waiting += 1;
        let meeting = state.met;
        if state.waiting == self.of {
            state.waiting = 0;
            state.met += 1;
            state.brought = bring();
            self.changed.notify_all();
            return Ok(state.brought);
        }
        // No machine can reach the next meeting before all have left this one, so `brought` stays.
        while state.met == meeting {
            if state.given_up || interrupts.now() {
                return Err(CalledOff);
            }
            state = self.changed.wait_timeout(state, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(state.brought)
    }

    /// Called when one machine cannot go on, so that the others stop, too.
    pub fn give_up(&self) {
        self.state().given_up = true;
        self.changed.notify_all();
    }

    pub fn is_given_up(&self) -> bool {
        self.state().given_up
    }

    fn state(&self) -> MutexGuard<'_, RendezvousState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_get_what_the_last_one_brings_each_time() {
        let (rendezvous, interrupts) = (Rendezvous::of(8), Interrupts::default());
        let each = thread::scope(|scope| {
            let one = |number: u64| {
                let (rendezvous, interrupts) = (&rendezvous, &interrupts);
                move || {
                    (0..200)
                        .map(|round| rendezvous.meet(interrupts, || round * 10 + number).unwrap())
                        .collect::<Vec<_>>()
                }
            };
            let threads: Vec<_> = (0..8).map(|number| scope.spawn(one(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(each.iter().all(|brought| brought == &each[0]));
        assert!(each[0].iter().enumerate().all(|(round, brought)| *brought / 10 == round as u64), "{:?}", each[0]);
    }

    #[test]
    fn nobody_waits_for_one_that_failed_or_when_the_user_stops() {
        let (rendezvous, interrupts) = (Rendezvous::of(2), Interrupts::default());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| rendezvous.meet(&interrupts, || 1));
            rendezvous.give_up();
            assert_eq!(waiting.join().unwrap(), Err(CalledOff));
        });
        assert_eq!(rendezvous.meet(&interrupts, || 1), Err(CalledOff));
        let other = Rendezvous::of(2);
        interrupts.raise();
        interrupts.raise();
        assert_eq!(other.meet(&interrupts, || 1), Err(CalledOff));
    }
}
