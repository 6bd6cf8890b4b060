//! A thread that samples at the moments of a grid until it is stopped, and reports its own cost.
//!
//! Samples stay in memory; nothing is written or sent meanwhile. A moment that passes while a sample is taken is skipped.

use crate::latest::{Latest, Showing};
use crate::sample_buffer::SampleBuffer;
use crate::sampler::Sampler;
use record::telemetry::{Sample, Series};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The times of samples, by this side's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Any of the moments. Sides whose grids have the same origin sample at the same time.
    pub origin_ns: u64,
    pub step_ns: u64,
}

impl Grid {
    /// Once a second.
    pub fn of_seconds(origin_ns: u64) -> Self {
        Self { origin_ns, step_ns: 1_000_000_000 }
    }

    /// Number and time of the first moment after `now_ns`.
    fn next(self, now_ns: u64) -> (u64, u64) {
        let step_ns = self.step_ns.max(1);
        let first = self.origin_ns % step_ns;
        let number = if now_ns < first { 0 } else { (now_ns - first) / step_ns + 1 };
        (number, first.saturating_add(number.saturating_mul(step_ns)))
    }
}

/// A running sampling thread.
pub struct Sampling {
    told: Arc<ThreadCommand>,
    /// The series without samples, to return if the thread has died.
    opened: Series,
    thread: Option<JoinHandle<Series>>,
}

/// Commands to the thread.
#[derive(Default)]
struct ThreadCommand {
    commands: Mutex<Commands>,
    changed: Condvar,
}

#[derive(Default)]
struct Commands {
    mark: bool,
    stop: bool,
}

impl Sampling {
    /// Starts the thread; it takes the first sample at the grid's next moment.
    pub fn start(sampler: Sampler, grid: Grid) -> io::Result<Self> {
        Self::start_shown(sampler, grid, None)
    }

    /// Like [`Self::start`], but also shows the last sample where other threads can read it.
    pub fn start_shown(sampler: Sampler, grid: Grid, latest: Option<Arc<Latest>>) -> io::Result<Self> {
        let told = Arc::new(ThreadCommand::default());
        let opened = sampler.series(Vec::new());
        let heard = Arc::clone(&told);
        let showing = latest.map(|latest| latest.showing(&opened));
        let body = move || run(sampler, grid, &heard, showing.as_ref());
        let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(body)?;
        Ok(Self { told, opened, thread: Some(thread) })
    }

    /// Requests a sample now, off the grid and with costly probes, for the beginning and the end. Does not wait for it.
    pub fn mark(&self) {
        self.told.commands().mark = true;
        self.told.changed.notify_one();
    }

    /// Ends sampling and returns the series. A mark that was requested before is still taken.
    pub fn stop(mut self) -> Series {
        self.tell_to_stop();
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(Result::ok).unwrap_or_else(|| self.opened.clone())
    }

    fn tell_to_stop(&self) {
        self.told.commands().stop = true;
        self.told.changed.notify_one();
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.tell_to_stop();
        if let Some(thread) = self.thread.take() {
            // Its samples are dropped, too.
            let _ = thread.join();
        }
    }
}

impl ThreadCommand {
    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `at_ns` or for a command, and takes the command.
    fn wait_until(&self, at_ns: u64) -> SamplerCommand {
        let mut commands = self.commands();
        loop {
            if std::mem::take(&mut commands.mark) {
                return SamplerCommand::Mark;
            }
            if commands.stop {
                return SamplerCommand::Stop;
            }
            let left_ns = at_ns.saturating_sub(clock_ns(ClockId::Monotonic));
            if left_ns == 0 {
                return SamplerCommand::Sample;
            }
            let waited = self.changed.wait_timeout(commands, Duration::from_nanos(left_ns));
            commands = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

enum SamplerCommand {
    Sample,
    Mark,
    Stop,
}

fn run(mut sampler: Sampler, grid: Grid, told: &ThreadCommand, showing: Option<&Showing>) -> Series {
    let mut buffer = SampleBuffer::for_columns(sampler.columns().len());
    let shown = |sample: Sample| {
        if let Some(showing) = showing {
            showing.show(&sample);
        }
        sample
    };
    loop {
        let (moment, at_ns) = grid.next(clock_ns(ClockId::Monotonic));
        match told.wait_until(at_ns) {
            SamplerCommand::Sample if buffer.wants(moment) => {
                buffer.keep(moment, shown(sampler.sample(clock_ns(ClockId::Monotonic))));
            }
            SamplerCommand::Sample => {}
            SamplerCommand::Mark => buffer.mark(shown(sampler.sample_all(clock_ns(ClockId::Monotonic)))),
            SamplerCommand::Stop => break,
        }
    }
    let cost_ns = Some(clock_ns(ClockId::ThreadCPUTime));
    Series { cost_ns, ..sampler.series(buffer.into_samples()) }
}

fn clock_ns(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    // Both clocks count up from zero, so neither part is ever negative.
    tv_sec.unsigned_abs() * 1_000_000_000 + tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::Counter;
    use crate::sampler::QueryProbe;
    use crate::targets::Targets;
    use record::telemetry::Side;
    use std::path::Path;
    use std::sync::mpsc;

    const LIMIT: Duration = Duration::from_secs(20);

    /// A sampler that reports the number of each reading.
    fn telling() -> (Sampler, mpsc::Receiver<u64>) {
        let (tell, told) = mpsc::channel();
        let mut count = 0;
        let ask = move || {
            count += 1;
            let _ = tell.send(count);
            Ok(vec![Counter::counts("test.readings", "", count)])
        };
        let query = QueryProbe { name: "test".to_owned(), source: "a test".to_owned(), ask: Box::new(ask) };
        let sampler = Sampler::open(Side::Machine, Path::new("/nonexistent"), &Targets::default(), vec![query]);
        (sampler, told)
    }

    #[test]
    fn the_next_moment_is_always_ahead() {
        let grid = Grid { origin_ns: 2_300, step_ns: 1_000 };
        assert_eq!(grid.next(0), (0, 300));
        assert_eq!(grid.next(299), (0, 300));
        assert_eq!(grid.next(300), (1, 1_300));
        assert_eq!(grid.next(5_000), (5, 5_300));
        assert_eq!(Grid { origin_ns: 0, step_ns: 0 }.next(7).1, 8);
    }

    #[test]
    fn samples_lie_on_the_grid_and_their_cost_is_known() {
        let (sampler, told) = telling();
        let grid = Grid { origin_ns: 0, step_ns: 5_000_000 };
        let sampling = Sampling::start(sampler, grid).unwrap();
        // The first reading was made when it was opened.
        for expected in 1..=4 {
            assert_eq!(told.recv_timeout(LIMIT), Ok(expected));
        }
        let series = sampling.stop();
        assert!(series.samples.len() >= 3, "{series:?}");
        assert_eq!((series.side, series.samples[0].values.as_slice()), (Side::Machine, [Some(2)].as_slice()));
        let moments: Vec<u64> = series.samples.iter().map(|sample| sample.at_ns / grid.step_ns).collect();
        assert!(moments.is_sorted_by(|one, next| one < next), "{moments:?}");
        assert!(series.cost_ns.is_some_and(|cost| cost > 0));
    }

    #[test]
    fn it_ends_at_once_and_a_mark_is_not_lost() {
        let (sampler, told) = telling();
        // The next moment is hours away.
        let far = Grid { origin_ns: clock_ns(ClockId::Monotonic) - 1_000_000, step_ns: u64::MAX / 4 };
        let sampling = Sampling::start(sampler, far).unwrap();
        sampling.mark();
        let series = sampling.stop();
        assert_eq!(series.samples.len(), 1);
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [1, 2]);
        drop(Sampling::start(telling().0, far).unwrap());
    }

    #[test]
    fn the_last_sample_is_seen_from_outside_while_there_are_any() {
        let latest = Arc::new(Latest::default());
        let seen = || {
            latest
                .latest_sample()
                .map(|latest_sample| (latest_sample.columns[0].name.clone(), latest_sample.sample.values.clone()))
        };
        assert_eq!(seen(), None);
        let (sampler, told) = telling();
        let grid = Grid { origin_ns: 0, step_ns: 2_000_000 };
        let sampling = Sampling::start_shown(sampler, grid, Some(Arc::clone(&latest))).unwrap();
        // The report comes while the fourth reading is made, so the third can be seen by then.
        while told.recv_timeout(LIMIT).unwrap() < 4 {}
        let (name, values) = seen().unwrap();
        assert_eq!(name, "test.readings");
        assert!(values[0].is_some_and(|count| count >= 3), "{values:?}");
        sampling.stop();
        assert_eq!(seen(), None, "nobody samples any more");
    }
}
