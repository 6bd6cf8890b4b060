//! From the reports of the shards to what the driver says: one series of seconds, totals, and its account of itself.
//!
//! Pure. Every total is a sum over seconds, and every sum over shards, so a run split over more shards says the same.

use crate::clock::Nanos;
use crate::counts;
use crate::deferral::{self, DeferredTotals, ResultLines};
use crate::errors::ErrorBook;
use crate::pacing::ARRIVALS_WAITING_MAX;
use crate::plan::{DrivePlan, Driven};
use crate::recorder::Second;
use crate::shard::ShardReport;
use crate::testimony::testify;
use crate::window::Window;
use record::intervals::{Interval, KindInterval, Measured, Span};
use record::trial::{DriverFacts, KindTotals, Metric, Pacing, Queue, Work};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use workloads::workload::{Kind, Tally};

const SECOND_MS: u64 = 1_000;

/// What the workload calls things.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    pub kinds: &'static [Kind],
    pub counters: &'static [&'static str],
}

pub fn merge(names: Names, plan: &DrivePlan, window: &Window, shards: Vec<ShardReport>) -> Driven {
    // A second counts only if every shard drove through all of it.
    let complete = shards.iter().map(|shard| window.second_of(shard.closed_at)).min().unwrap_or(0);
    let complete = complete.min(window.seconds());
    let measured_s = complete.saturating_sub(window.warmup_s);
    let is_measured = |second: &&Second| window.is_measured(second.index) && second.index < complete;
    let per_shard: Vec<Vec<&Second>> =
        shards.iter().map(|shard| shard.seconds.iter().filter(is_measured).collect()).collect();
    let measured = || per_shard.iter().flatten().copied();
    let whole = || shards.iter().flat_map(|shard| &shard.seconds);
    let facts = DriverFacts {
        placement: String::new(),
        warmup_ms: window.warmup_s * SECOND_MS,
        window_start_ns: Some(window.second_start(window.warmup_s).0),
        measured_ms: measured_s * SECOND_MS,
        clients: plan.pacing.clients(),
        pacing: Some(plan.pacing),
        sessions: shards.iter().map(|shard| shard.sessions).sum(),
        shards: u32::try_from(shards.len()).unwrap_or(u32::MAX),
        metric: counted_kinds(names.kinds),
        kinds: kind_totals(names.kinds, measured()),
        whole_run: kind_totals(names.kinds, whole()),
        tally: tally_totals(names.counters, measured()),
        work: work_totals(measured()),
        paused_ms: Some(paused_ms(plan.pacing, measured())),
        testimony: testify(&per_shard, Nanos::from_seconds(measured_s), shards.iter().any(|shard| shard.in_process)),
        queue: queue(plan.pacing, &shards, &per_shard, complete),
        ladder: None,
        errors: BTreeMap::new(),
        extra: extra(&shards),
    };
    let measured = Measured {
        kinds: names.kinds.iter().map(|kind| kind.name.to_owned()).collect(),
        intervals: intervals(window, complete, whole()),
    };
    let stopped = complete < window.seconds();
    let (errors, lines) = errors_and_lines(shards);
    let kind_names: Vec<&str> = names.kinds.iter().map(|kind| kind.name).collect();
    Driven {
        facts: DriverFacts { errors: errors.into_counts(), ..facts },
        measured,
        log: deferral::render(&kind_names, &lines),
        stopped,
    }
}

/// The names of the counted kinds; what the figure is called is for who knows the workload by name.
fn counted_kinds(kinds: &[Kind]) -> Metric {
    let counted = kinds.iter().filter(|kind| kind.counted).map(|kind| kind.name.to_owned()).collect();
    Metric { counted, ..Metric::default() }
}

pub fn kind_totals<'a>(kinds: &[Kind], seconds: impl Iterator<Item = &'a Second>) -> Vec<KindTotals> {
    let named = |kind: &Kind| KindTotals { kind: kind.name.to_owned(), ..KindTotals::default() };
    let mut totals: Vec<KindTotals> = kinds.iter().map(named).collect();
    for second in seconds {
        for (total, part) in totals.iter_mut().zip(&second.kinds) {
            total.committed += part.committed;
            total.rolled_back += part.rolled_back;
            total.retries += part.retries;
            total.failed += part.failed;
        }
    }
    totals
}

fn tally_totals<'a>(counters: &[&str], seconds: impl Iterator<Item = &'a Second>) -> BTreeMap<String, u64> {
    let mut total = Tally::new(counters.len());
    for second in seconds {
        total.absorb(&second.tally);
    }
    counters.iter().map(|name| (*name).to_owned()).zip(total.0).collect()
}

fn work_totals<'a>(seconds: impl Iterator<Item = &'a Second>) -> Work {
    seconds.fold(Work::default(), |total, second| Work {
        transactions: total.transactions + second.work.transactions,
        statements: total.statements + second.work.statements,
        rows_returned: total.rows_returned + second.work.rows_returned,
        rows_changed: total.rows_changed + second.work.rows_changed,
    })
}

/// Whole milliseconds that clients spent between transactions. Arrivals are nobody's decision, so nobody pauses.
fn paused_ms<'a>(pacing: Pacing, seconds: impl Iterator<Item = &'a Second>) -> u64 {
    let paused: u64 = seconds.map(|second| second.paused.0).sum();
    if let Pacing::Arrivals { .. } = pacing { 0 } else { paused / 1_000_000 }
}

/// One interval for each complete second, also for those in which nothing ended.
fn intervals<'a>(window: &Window, complete: u64, seconds: impl Iterator<Item = &'a Second>) -> Vec<Interval> {
    let mut by_index = BTreeMap::<u64, Vec<&Second>>::new();
    for second in seconds {
        by_index.entry(second.index).or_default().push(second);
    }
    (0..complete).map(|index| interval(window, index, by_index.get(&index).map_or(&[], Vec::as_slice))).collect()
}

/// One second, from what each shard has of it.
pub fn interval(window: &Window, index: u64, shards: &[&Second]) -> Interval {
    Interval {
        start_ms: index * SECOND_MS,
        length_ms: SECOND_MS,
        measured: window.is_measured(index),
        kinds: kind_intervals(shards),
    }
}

/// The same second of all shards, as one.
fn kind_intervals(shards: &[&Second]) -> Vec<KindInterval> {
    let kinds = shards.iter().map(|second| second.kinds.len()).max().unwrap_or(0);
    let mut intervals = Vec::new();
    for (index, kind) in (0..kinds).zip(0_u16..) {
        let of_kind = || shards.iter().filter_map(move |second| second.kinds.get(index));
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

/// Who waited for a session; with a session for each client nobody does.
fn queue(pacing: Pacing, shards: &[ShardReport], measured: &[Vec<&Second>], complete: u64) -> Option<Queue> {
    let limit = match pacing {
        Pacing::Clients { .. } => return None,
        Pacing::Terminals { terminals, .. } => u64::from(terminals),
        Pacing::Arrivals { .. } => ARRIVALS_WAITING_MAX as u64,
    };
    let seconds = || measured.iter().flatten();
    let mut each_second = vec![0; usize::try_from(complete).unwrap_or(0)];
    for second in shards.iter().flat_map(|shard| &shard.seconds) {
        let index = usize::try_from(second.index).unwrap_or(usize::MAX);
        if let Some(length) = each_second.get_mut(index) {
            *length += second.queue.waiting;
        }
    }
    Some(Queue {
        came: seconds().map(|second| second.queue.came).sum(),
        turned_away: seconds().map(|second| second.queue.turned_away).sum(),
        waiting_at_end: shards.iter().map(|shard| shard.queue.waiting).sum(),
        // The shards' queues are not longest at the same time, but nearly: they share one stream of work.
        longest: shards.iter().map(|shard| shard.queue.longest).sum(),
        limit,
        each_second,
    })
}

fn extra(shards: &[ShardReport]) -> Map<String, Value> {
    let mut deferred = DeferredTotals::default();
    for shard in shards {
        deferred.absorb(&shard.deferred);
    }
    let total = |field: fn(&ShardReport) -> u64| shards.iter().map(field).sum::<u64>();
    let mut extra = Map::new();
    extra.insert("on_one_cpu_each".to_owned(), json!(shards.iter().all(|shard| shard.on_one_cpu)));
    extra.insert("in_process".to_owned(), json!(shards.iter().any(|shard| shard.in_process)));
    extra.insert("sessions_lost".to_owned(), json!(total(|shard| shard.lost)));
    extra.insert("sessions_reopened".to_owned(), json!(total(|shard| shard.reopened)));
    extra.insert("unfinished".to_owned(), json!(total(|shard| u64::from(shard.unfinished))));
    extra.insert(
        "deferred".to_owned(),
        json!({
            "queued": deferred.queued,
            "done": deferred.done,
            "failed": deferred.failed,
            "abandoned": deferred.abandoned,
            "waits_for_room": deferred.waits_for_room,
            "turned_away": deferred.turned_away,
            "longest_queue": deferred.longest_queue,
        }),
    );
    extra
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
