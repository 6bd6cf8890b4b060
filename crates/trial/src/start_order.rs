//! Machines of a trial are launched one after the other, each as soon as the one before it is launched or has failed.
//! The order changes from block to block, so an advantage of being first shows as such. Their data are cloned in
//! parallel before, and they boot in parallel afterwards.

use crate::conversation::AskError;
use crate::halt::Halt;
use record::rotation::Rotation;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a waiting machine checks whether the trial is given up.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The start order of one trial.
#[derive(Debug, Default)]
pub struct StartOrder {
    /// How many machines have had their turn.
    passed: Mutex<u32>,
    changed: Condvar,
}

/// The turn of one machine.
#[derive(Debug, Clone, Copy)]
pub struct StartTurn<'a> {
    order: &'a StartOrder,
    /// Counted from 1.
    position: u32,
}

impl StartOrder {
    pub fn turn(&self, machine: u32, block: u32, count: u32) -> StartTurn<'_> {
        StartTurn { order: self, position: Rotation::of_block(block, count).start(machine, count) }
    }

    fn passed(&self) -> MutexGuard<'_, u32> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StartTurn<'_> {
    /// When this machine is started among the others, from 1.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Waits until all machines before this one have had their turn. Everything that they do until then has a limit.
    pub fn wait(&self, halt: Halt<'_>) -> Result<(), AskError> {
        let mut passed = self.order.passed();
        while *passed + 1 < self.position {
            if halt.now() {
                return Err(AskError::halted(halt));
            }
            let waited = self.order.changed.wait_timeout(passed, LOOK_UP);
            passed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(())
    }

    /// Lets the next machine begin. Further calls change nothing.
    pub fn pass(&self) {
        let mut passed = self.order.passed();
        *passed = (*passed).max(self.position);
        self.order.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rendezvous::Rendezvous;
    use machines::interrupts::Interrupts;
    use std::thread;

    #[test]
    fn each_begins_when_the_one_before_it_has_passed_its_turn_on() {
        for block in 1..=9 {
            let (order, interrupts, begun) = (StartOrder::default(), Interrupts::default(), Mutex::new(Vec::new()));
            thread::scope(|scope| {
                for machine in 1..=8 {
                    let (order, interrupts, begun) = (&order, &interrupts, &begun);
                    scope.spawn(move || {
                        let turn = order.turn(machine, block, 8);
                        turn.wait(Halt::by_user(interrupts)).unwrap();
                        begun.lock().unwrap().push(turn.position);
                        turn.pass();
                        // A machine that did not come out as requested is launched again.
                        turn.pass();
                    });
                }
            });
            assert_eq!(begun.into_inner().unwrap(), (1..=8).collect::<Vec<_>>(), "block {block}");
        }
    }

    #[test]
    fn nobody_waits_for_one_that_failed_or_when_the_user_stops() {
        let (order, interrupts, others) = (StartOrder::default(), Interrupts::default(), Rendezvous::of(2));
        let halt = Halt { interrupts: &interrupts, others: Some(&others) };
        let last = order.turn(2, 1, 2);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| last.wait(halt));
            others.give_up();
            assert!(matches!(waiting.join().unwrap(), Err(AskError::OthersFailed)));
        });
        interrupts.raise();
        interrupts.raise();
        assert!(matches!(last.wait(halt), Err(AskError::Interrupted)));
        assert!(order.turn(1, 1, 2).wait(halt).is_ok(), "there is nobody to wait for");
    }
}
