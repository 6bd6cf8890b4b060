//! Merges what shards hand on into the driver's result: one series of seconds, totals, and its account of itself.
//!
//! Pure. A second is handed on as soon as every shard has closed it, and only its sums are kept. Every total is a sum
//! over those seconds, and every sum is one over shards, so the number of shards does not change the result.

use crate::clock::Nanos;
use crate::counts::{self, CountsSum, SparseCounts};
use crate::deferral::{self, ResultLines};
use crate::errors::ErrorBook;
use crate::pacing::ARRIVALS_WAITING_MAX;
use crate::plan::{Driven, Generator, LoadPhase, OF_THE_LOAD, Pacing, SecondDone, SecondSeen};
use crate::recorder::Second;
use crate::report::{GivenUp, ShardReport};
use crate::testimony::{ShardTime, Times, testify};
use crate::window::Window;
use record::intervals::{Interval, KindInterval, Span};
use record::script::{PhaseDone, PhaseEnd};
use record::trial::{Deferred, DriverFacts, KindTotals, Losses, Metric, QueuedWork, Stalls, Unended, Work};
use std::collections::BTreeMap;
use workloads::effects::Tally;
use workloads::workload::{TransactionKind, Workload};

const SECOND_MS: u64 = 1_000;

/// The workload's names of kinds and counters.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    pub kinds: &'static [TransactionKind],
    pub counters: &'static [&'static str],
}

impl Names {
    pub fn of<W: Workload>(workload: &W) -> Self {
        Self { kinds: workload.kinds(), counters: W::COUNTERS }
    }
}

/// Takes in the seconds of all shards, and keeps only what the result needs.
pub struct Gathering {
    names: Names,
    window: Window,
    shards: usize,
    /// The first second that was not handed on yet.
    next: u64,
    /// Set once some shard did not drive through a whole second. From there on nothing counts.
    is_over: bool,
    /// Seconds that not every shard has closed yet. Each shard closes its seconds in order.
    closed: BTreeMap<u64, Vec<(u32, Second)>>,
    whole_run: Vec<KindTotals>,
    measured: Sums,
    measured_ms: u64,
    /// One for each shard, over the measured window.
    time: Vec<ShardTime>,
    done: Vec<SecondDone>,
    /// When the last transaction ended that any shard booked.
    last_done: Nanos,
    queued_each_second: Vec<u64>,
    backlog: BacklogInWindow,
}

/// Totals over the seconds of the measured window.
struct Sums {
    kinds: Vec<KindTotals>,
    tally: Tally,
    work: Work,
    paused: Nanos,
    came: u64,
    turned_away: u64,
    session_wait: CountsSum,
    lateness: CountsSum,
    /// Response and service, of each kind.
    latencies: Vec<[CountsSum; 2]>,
}

#[derive(Default)]
struct BacklogInWindow {
    at_start: u64,
    at_end: u64,
    queued: u64,
}

impl Gathering {
    pub fn new(names: Names, window: Window, shards: usize) -> Self {
        let (kinds, counters) = (names.kinds.len(), names.counters.len());
        Self {
            names,
            window,
            shards,
            next: 0,
            is_over: false,
            closed: BTreeMap::new(),
            whole_run: named(names.kinds),
            measured: Sums {
                kinds: named(names.kinds),
                tally: Tally::new(counters),
                work: Work::default(),
                paused: Nanos::ZERO,
                came: 0,
                turned_away: 0,
                session_wait: CountsSum::default(),
                lateness: CountsSum::default(),
                latencies: vec![Default::default(); kinds],
            },
            measured_ms: 0,
            time: vec![ShardTime::ZERO; shards],
            done: Vec::new(),
            last_done: window.start,
            queued_each_second: Vec::new(),
            backlog: BacklogInWindow::default(),
        }
    }

    /// Takes in a second of one shard; returns the second that this completes. Seconds after the window are not part of it.
    pub fn take(&mut self, shard: u32, second: Second) -> Option<SecondSeen> {
        add_totals(&mut self.whole_run, &second);
        self.last_done = self.last_done.max(second.last_done);
        if second.index >= self.window.seconds() {
            return None;
        }
        self.closed.entry(second.index).or_default().push((shard, second));
        // Where streams decide the end, the length of the last second is not known yet.
        let is_complete = self.closed.get(&self.next).is_some_and(|parts| {
            parts.len() == self.shards && !(self.window.is_open && parts.iter().any(|(_, second)| second.is_last))
        });
        let parts = is_complete.then(|| self.closed.remove(&self.next)).flatten()?;
        self.is_over |= parts.iter().any(|(_, second)| !second.whole);
        let index = self.next;
        self.next += 1;
        if self.is_over { None } else { Some(self.absorb(index, &parts, SECOND_MS)) }
    }

    /// Called once the streams have ended and no shard hands on anything. Returns the remaining seconds, up to the
    /// last transaction. Shards without work end a little earlier than others.
    pub fn end_with_streams(&mut self) -> Vec<SecondSeen> {
        let last = self.window.second_of(self.last_done);
        let mut seen = Vec::new();
        while self.next <= last && !self.is_over {
            let index = self.next;
            let parts = self.closed.remove(&index).unwrap_or_default();
            let begins = self.window.second_start(index);
            // The last second is never of zero length, even if its last transaction ended as it began.
            let length_ms = if index == last { self.last_done.since(begins).as_millis().max(1) } else { SECOND_MS };
            self.next += 1;
            seen.push(self.absorb(index, &parts, length_ms));
        }
        seen
    }

    fn absorb(&mut self, index: u64, parts: &[(u32, Second)], length_ms: u64) -> SecondSeen {
        let mut totals = named(self.names.kinds);
        for (_, second) in parts {
            add_totals(&mut totals, second);
        }
        let interval = Interval {
            start_ms: self.window.offset_ms() + index * SECOND_MS,
            length_ms,
            measured: self.window.is_measured(index),
            kinds: kind_intervals(parts),
        };
        self.queued_each_second.push(parts.iter().map(|(_, second)| second.queue.waiting).sum());
        let deferred = parts.iter().map(|(_, second)| second.deferred);
        let (waiting, queued) =
            deferred.fold((0, 0), |(waiting, queued), backlog| (waiting + backlog.waiting, queued + backlog.queued));
        if interval.measured {
            self.measured_ms += length_ms;
            self.measured.add(parts, &interval);
            for (shard, second) in parts {
                if let Some(time) = self.time.get_mut(*shard as usize) {
                    time.add(second);
                }
            }
            self.done.push(done(self.names.kinds, &totals));
            self.backlog.at_end = waiting;
            self.backlog.queued += queued;
        } else {
            self.backlog.at_start = waiting;
        }
        SecondSeen { interval, totals }
    }

    /// Makes one result of a phase. Its stalls are those of the thread that stood still longest, the watching one included.
    pub fn conclude(self, generator: Generator, phase: &LoadPhase, shards: Vec<ShardReport>, stalls: Stalls) -> Driven {
        let window = &self.window;
        let measured = Nanos::from_millis(self.measured_ms);
        let is_whole = self.done.len() as u64 >= window.measure_s;
        let ended = ended(&shards, is_whole);
        let in_process = shards.iter().any(|shard| shard.in_process);
        let unended = unended_latencies(&shards);
        let latencies = self.measured.latencies(&unended);
        let is_step = |kind: u16| self.names.kinds.get(usize::from(kind)).is_some_and(|kind| kind.step);
        let of_transactions = || latencies.iter().filter(|part| !is_step(part.kind));
        let times = Times {
            response: of_transactions().filter(|part| part.span != Span::Service).map(|part| &part.counts).collect(),
            service: of_transactions().filter(|part| part.span == Span::Service).map(|part| &part.counts).collect(),
            session_wait: self.measured.session_wait.counts(),
            lateness: self.measured.lateness.counts(),
        };
        let stalls = shards.iter().map(|shard| shard.stalls).fold(stalls, longer);
        let testimony = testify(&times, &self.time, self.measured.work.statements, measured, in_process);
        let pacings = || phase.streams.iter().map(|stream| generator.of_pacing(stream.pacing));
        // Streams that end a phase are the workload's own, whoever they are.
        let of_the_load = phase.streams.iter().filter(|stream| window.is_open || stream.actor == OF_THE_LOAD);
        let facts = DriverFacts {
            placement: String::new(),
            warmup_ms: window.warmup_s * SECOND_MS,
            window_start_ns: Some(window.measured_start().0),
            measured_ms: self.measured_ms,
            clients: of_the_load.map(|stream| generator.of_pacing(stream.pacing).clients()).sum(),
            pacing: pacings().next(),
            sessions: shards.iter().map(|shard| shard.sessions).sum(),
            shards: u32::try_from(shards.len()).unwrap_or(u32::MAX),
            metric: counted_kinds(self.names.kinds),
            tally: self.names.counters.iter().map(|name| (*name).to_owned()).zip(self.measured.tally.0).collect(),
            work: self.measured.work,
            paused_ms: Some(self.measured.paused.as_millis()),
            testimony: record::trial::Testimony { stalls, ..testimony },
            queue: queue(pacings(), &shards, self.measured.came, self.measured.turned_away, self.queued_each_second),
            phases: vec![PhaseDone {
                name: phase.name.clone(),
                start_ms: window.offset_ms(),
                warmup_ms: window.warmup_s * SECOND_MS,
                measured_ms: self.measured_ms,
                ended,
                streams: phase.streams.clone(),
                kinds: self.measured.kinds.clone(),
            }],
            kinds: self.measured.kinds,
            whole_run: self.whole_run,
            deferred: deferred(&shards, &self.backlog),
            losses: losses(&shards),
            unended: given_up(&shards, measured),
            in_process,
            on_one_cpu_each: shards.iter().all(|shard| shard.on_one_cpu),
            through_io_uring: shards.iter().all(|shard| shard.through_io_uring),
            ..DriverFacts::default()
        };
        let (errors, lines) = errors_and_lines(shards);
        let kind_names: Vec<&str> = self.names.kinds.iter().map(|kind| kind.name).collect();
        Driven {
            facts: DriverFacts { errors: errors.into_counts(), ..facts },
            latencies,
            seconds: self.done,
            log: deferral::render(&kind_names, &lines),
            stopped: ended == PhaseEnd::Stopped,
            broke_off: None,
        }
    }
}

impl Sums {
    fn add(&mut self, parts: &[(u32, Second)], interval: &Interval) {
        for (_, second) in parts {
            add_totals(&mut self.kinds, second);
            self.tally.absorb(&second.tally);
            self.work.transactions += second.work.transactions;
            self.work.statements += second.work.statements;
            self.work.round_trips += second.work.round_trips;
            self.work.rows_returned += second.work.rows_returned;
            self.work.rows_changed += second.work.rows_changed;
            self.paused = self.paused + second.paused;
            self.came += second.queue.came;
            self.turned_away += second.queue.turned_away;
            self.session_wait.add(&second.session_wait);
            self.lateness.add(&second.lateness);
        }
        for part in &interval.kinds {
            if let Some(latencies) = self.latencies.get_mut(usize::from(part.kind)) {
                latencies[usize::from(part.span == Span::Service)].add(&part.counts);
            }
        }
    }

    /// Latencies of the window, including those of transactions that had not ended with it.
    fn latencies(&self, unended: &[SparseCounts]) -> Vec<KindInterval> {
        let spans = [Span::Response, Span::Service];
        let ended = self.latencies.iter().zip(0_u16..).flat_map(|(parts, kind)| {
            let part = move |(span, counts): (Span, &CountsSum)| KindInterval { kind, span, counts: counts.counts() };
            spans.into_iter().zip(parts).map(part)
        });
        let unended = unended.iter().zip(0_u16..);
        let unended = unended.map(|(counts, kind)| KindInterval { kind, span: Span::Unended, counts: counts.clone() });
        ended.chain(unended).filter(|part| !part.counts.is_empty()).collect()
    }
}

fn named(kinds: &[TransactionKind]) -> Vec<KindTotals> {
    kinds
        .iter()
        .map(|kind| KindTotals { kind: kind.name.to_owned(), step: kind.step, ..KindTotals::default() })
        .collect()
}

fn add_totals(totals: &mut [KindTotals], second: &Second) {
    for (total, part) in totals.iter_mut().zip(&second.kinds) {
        total.committed += part.committed;
        total.rolled_back += part.rolled_back;
        total.retries += part.retries;
        total.failed += part.failed;
    }
}

fn done(kinds: &[TransactionKind], totals: &[KindTotals]) -> SecondDone {
    let counted = totals.iter().zip(kinds).filter(|(_, kind)| kind.counted).map(|(total, _)| total.finished()).sum();
    let ended = totals.iter().filter(|total| !total.step).map(|total| total.finished() + total.failed).sum();
    SecondDone { counted, ended }
}

/// Only the watching thread counts what is scattered: all others also wait for CPUs that the database has.
fn longer(one: Stalls, other: Stalls) -> Stalls {
    let longest = if other.total_ms > one.total_ms { other } else { one };
    let scattered_ms = one.scattered_ms.max(other.scattered_ms);
    let without_waits = one.without_waits || other.without_waits;
    Stalls { scattered_ms, without_waits, throttled_ms: one.throttled_ms.max(other.throttled_ms), ..longest }
}

/// The names of the counted kinds. The caller adds the figure's name, because it knows the workload by name.
fn counted_kinds(kinds: &[TransactionKind]) -> Metric {
    let counted = kinds.iter().filter(|kind| kind.counted).map(|kind| kind.name.to_owned()).collect();
    Metric { counted, ..Metric::default() }
}

/// Why the phase ended: with its streams only if those of every shard ended, at its limit if any shard reached that.
fn ended(shards: &[ShardReport], is_whole: bool) -> PhaseEnd {
    let all = |end| shards.iter().all(|shard| shard.ended == end);
    if all(PhaseEnd::Streams) {
        PhaseEnd::Streams
    } else if shards.iter().any(|shard| shard.ended == PhaseEnd::Limit) {
        PhaseEnd::Limit
    } else if is_whole {
        PhaseEnd::Time
    } else {
        PhaseEnd::Stopped
    }
}

/// Merges the same second of all shards.
fn kind_intervals(shards: &[(u32, Second)]) -> Vec<KindInterval> {
    let kinds = shards.iter().map(|(_, second)| second.kinds.len()).max().unwrap_or(0);
    let mut intervals = Vec::new();
    for (index, kind) in (0..kinds).zip(0_u16..) {
        let of_kind = || shards.iter().filter_map(move |(_, second)| second.kinds.get(index));
        let response = counts::sum(of_kind().map(|second| &second.response));
        let service = counts::sum(of_kind().map(|second| &second.service));
        for (span, counts) in [(Span::Response, response), (Span::Service, service)] {
            if !counts.is_empty() {
                intervals.push(KindInterval { kind, span, counts });
            }
        }
    }
    intervals
}

/// By kind, what had not ended with the window.
fn unended_latencies(shards: &[ShardReport]) -> Vec<SparseCounts> {
    let kinds = shards.iter().map(|shard| shard.unended.len()).max().unwrap_or(0);
    (0..kinds).map(|kind| counts::sum(shards.iter().filter_map(|shard| shard.unended.get(kind)))).collect()
}

/// The queue for sessions; `None` where each client has a session, since nobody waits there.
fn queue(
    pacings: impl Iterator<Item = Pacing>,
    shards: &[ShardReport],
    came: u64,
    turned_away: u64,
    each_second: Vec<u64>,
) -> Option<QueuedWork> {
    let limit = pacings.map(|pacing| match pacing {
        Pacing::Clients { .. } => 0,
        Pacing::Terminals { terminals, .. } => u64::from(terminals),
        Pacing::Arrivals { .. } => ARRIVALS_WAITING_MAX as u64,
    });
    let limit: u64 = limit.sum();
    (limit > 0).then(|| QueuedWork {
        came,
        turned_away,
        waiting_at_end: shards.iter().map(|shard| shard.queue.waiting).sum(),
        // The shards' queues are not longest at exactly the same time, but nearly: they share one stream of work.
        longest: shards.iter().map(|shard| shard.queue.longest).sum(),
        limit,
        each_second,
    })
}

/// `None` if nothing was ever deferred.
fn deferred(shards: &[ShardReport], backlog: &BacklogInWindow) -> Option<Deferred> {
    let mut all = Deferred::default();
    for shard in shards {
        all.add(&shard.deferred);
    }
    (all.queued + all.turned_away + u64::from(all.sessions_at_start) > 0).then_some(Deferred {
        waiting_at_start: backlog.at_start,
        waiting_at_end: backlog.at_end,
        queued_in_window: backlog.queued,
        ..all
    })
}

fn losses(shards: &[ShardReport]) -> Losses {
    shards.iter().map(|shard| shard.losses).fold(Losses::default(), |all, own| Losses {
        lost: all.lost + own.lost,
        reopened: all.reopened + own.reopened,
        longest_ms: all.longest_ms.max(own.longest_ms),
    })
}

fn given_up(shards: &[ShardReport], measured: Nanos) -> Unended {
    let all = shards.iter().map(|shard| shard.given_up).fold(GivenUp::default(), |all, own| GivenUp {
        transactions: all.transactions + own.transactions,
        oldest: all.oldest.max(own.oldest),
        in_window: all.in_window + own.in_window,
    });
    let sessions: u32 = shards.iter().map(|shard| shard.sessions).sum();
    let there_was = Nanos(measured.0.saturating_mul(u64::from(sessions)));
    let window_share = if there_was == Nanos::ZERO { 0.0 } else { all.in_window.0 as f64 / there_was.0 as f64 };
    Unended { transactions: all.transactions, oldest_ms: all.oldest.as_millis(), window_share }
}

fn errors_and_lines(shards: Vec<ShardReport>) -> (ErrorBook, Vec<ResultLines>) {
    let mut errors = ErrorBook::default();
    let mut lines = Vec::with_capacity(shards.len());
    for shard in shards {
        errors.absorb(shard.errors);
        lines.push(shard.lines);
    }
    (errors, lines)
}
