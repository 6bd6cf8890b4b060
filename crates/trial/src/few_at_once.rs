//! The same work for many hosts.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// An ssh server refuses logins at random while ten are under way, and hosts may be reached through one that all pass. Clocks
/// are read worse the more are read at once.
const AT_ONCE: usize = 8;

/// Does the work for each, a few at once, and returns the results in the order of the items. After an error no more is begun.
pub fn few_at_once<T, R, E>(
    items: impl IntoIterator<Item = T, IntoIter: Send>,
    work: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    T: Send,
    R: Send,
    E: Send,
{
    let (items, has_failed) = (Mutex::new(items.into_iter().enumerate()), AtomicBool::new(false));
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let some = || {
        let mut done = Vec::new();
        while !has_failed.load(Ordering::Relaxed) {
            let Some((place, item)) = next() else { break };
            let result = work(item).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
            done.push((place, result));
        }
        Ok(done)
    };
    let parts = thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(some)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect::<Result<Vec<_>, E>>()
    })?;
    let mut results: Vec<_> = parts.into_iter().flatten().collect();
    results.sort_by_key(|(place, _)| *place);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn results_come_in_order_and_no_more_than_a_few_are_under_way() {
        let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let doubled = few_at_once(0..1_000, |number: usize| {
            most.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            under_way.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, ()>(number * 2)
        });
        assert_eq!(doubled, Ok((0..1_000).map(|number| number * 2).collect()));
        assert!((1..=AT_ONCE).contains(&most.into_inner()));
    }

    #[test]
    fn after_an_error_no_more_is_begun() {
        let (begun, met) = (AtomicUsize::new(0), std::sync::Barrier::new(AT_ONCE));
        let failed = few_at_once(0..1_000, |_: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            met.wait();
            Err::<(), _>("no")
        });
        assert_eq!((failed, begun.into_inner()), (Err("no"), AT_ONCE));
    }
}
