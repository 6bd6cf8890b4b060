//! Combines what was driven on several machines, by several load generators or in several phases. Counts are added;
//! of the load engine's figures about itself, the worst is kept.

use crate::script::{PhaseDone, PhaseEnd};
use crate::trial::{
    Deferred, DriverFacts, KindTotals, Losses, Pacing, QueuedWork, RunDelay, Spread, Stalls, Testimony, Unended, Work,
};
use serde_json::Map;
use std::collections::BTreeMap;

/// Combines phases that one load engine drove one after another. `None` if there are none.
pub fn in_turn(phases: &[&DriverFacts]) -> Option<DriverFacts> {
    let first = *phases.first()?;
    let most = |of: fn(&DriverFacts) -> u32| phases.iter().map(|phase| of(phase)).max();
    let each_second = phases.iter().filter_map(|phase| phase.queue.as_ref()).flat_map(|queue| &queue.each_second);
    let queue = queue(phases).map(|queue| QueuedWork { each_second: each_second.copied().collect(), ..queue });
    // Some phases may have deferred nothing, and all phases use the same sessions.
    let own: Vec<&Deferred> = phases.iter().filter_map(|phase| phase.deferred.as_ref()).collect();
    let deferred = own.first().zip(own.last()).map(|(first, last)| {
        let mut sum = Deferred::default();
        for own in &own {
            sum.add(own);
        }
        let (sessions_at_start, sessions_at_end) = (first.sessions_at_start, last.sessions_at_end);
        Deferred { sessions_at_start, sessions_at_end, ..sum }
    });
    Some(DriverFacts {
        deferred,
        warmup_ms: first.warmup_ms,
        measured_ms: phases.iter().map(|phase| phase.measured_ms).sum(),
        clients: most(|phase| phase.clients)?,
        pacing: first.pacing,
        sessions: most(|phase| phase.sessions)?,
        shards: first.shards,
        phases: phases.iter().flat_map(|phase| phase.phases.iter().cloned()).collect(),
        queue,
        ..added_up(phases)?
    })
}

/// Combines what was driven at the same time. `None` if there is nothing.
pub fn added_up(drivers: &[&DriverFacts]) -> Option<DriverFacts> {
    let first = *drivers.first()?;
    let sum = |of: fn(&DriverFacts) -> u32| drivers.iter().map(|driver| of(driver)).fold(0, u32::saturating_add);
    let work = work(drivers);
    Some(DriverFacts {
        placement: first.placement.clone(),
        warmup_ms: drivers.iter().map(|driver| driver.warmup_ms).max()?,
        window_start_ns: first.window_start_ns,
        measured_ms: drivers.iter().map(|driver| driver.measured_ms).max()?,
        clients: sum(|driver| driver.clients),
        pacing: pacing(drivers),
        sessions: sum(|driver| driver.sessions),
        shards: sum(|driver| driver.shards),
        metric: first.metric.clone(),
        kinds: KindTotals::summed(drivers.iter().flat_map(|driver| &driver.kinds)),
        whole_run: KindTotals::summed(drivers.iter().flat_map(|driver| &driver.whole_run)),
        tally: by_name(drivers.iter().map(|driver| &driver.tally)),
        work,
        testimony: testimony(drivers, work),
        paused_ms: drivers.iter().map(|driver| driver.paused_ms).sum(),
        queue: queue(drivers),
        phases: phases(drivers),
        // Each machine made its own climb, if any.
        ladder: None,
        errors: errors(drivers),
        deferred: deferred(drivers),
        losses: losses(drivers),
        unended: unended(drivers),
        in_process: drivers.iter().any(|driver| driver.in_process),
        on_one_cpu_each: drivers.iter().all(|driver| driver.on_one_cpu_each),
        through_io_uring: drivers.iter().all(|driver| driver.through_io_uring),
        extra: Map::new(),
    })
}

/// The phases of all drivers, combined one by one: they begin together, and last as long as the longest.
fn phases(drivers: &[&DriverFacts]) -> Vec<PhaseDone> {
    let Some((first, others)) = drivers.split_first() else { return Vec::new() };
    let mut phases = first.phases.clone();
    for other in others {
        for (phase, own) in phases.iter_mut().zip(&other.phases) {
            phase.measured_ms = phase.measured_ms.max(own.measured_ms);
            phase.kinds = KindTotals::summed(phase.kinds.iter().chain(&own.kinds));
            if phase.ended != own.ended {
                phase.ended = if own.ended == PhaseEnd::Stopped { own.ended } else { phase.ended };
            }
        }
    }
    phases
}

/// Errors by their code, which stands before the message; the first message is kept.
pub fn errors(drivers: &[&DriverFacts]) -> BTreeMap<String, u64> {
    let mut by_code: BTreeMap<&str, (&str, u64)> = BTreeMap::new();
    for (message, count) in drivers.iter().flat_map(|driver| &driver.errors) {
        let code = message.split_once(": ").map_or(&**message, |(code, _)| code);
        by_code.entry(code).or_insert((message, 0)).1 += count;
    }
    by_code.into_values().map(|(message, count)| (message.to_owned(), count)).collect()
}

fn by_name<'a>(parts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in parts.flatten() {
        *sums.entry(name.clone()).or_insert(0) += count;
    }
    sums
}

fn work(drivers: &[&DriverFacts]) -> Work {
    drivers.iter().fold(Work::default(), |sum, driver| Work {
        transactions: sum.transactions + driver.work.transactions,
        statements: sum.statements + driver.work.statements,
        round_trips: sum.round_trips + driver.work.round_trips,
        rows_returned: sum.rows_returned + driver.work.rows_returned,
        rows_changed: sum.rows_changed + driver.work.rows_changed,
    })
}

/// `None` if machines have different kinds of pacing.
fn pacing(drivers: &[&DriverFacts]) -> Option<Pacing> {
    let mut all = drivers.iter().map(|driver| driver.pacing);
    let first = all.next()?;
    all.fold(first, |sum, own| match (sum?, own?) {
        (Pacing::Clients { clients }, Pacing::Clients { clients: more }) => {
            Some(Pacing::Clients { clients: clients.saturating_add(more) })
        }
        (Pacing::Terminals { terminals, sessions }, Pacing::Terminals { terminals: more, sessions: further }) => {
            Some(Pacing::Terminals {
                terminals: terminals.saturating_add(more),
                sessions: sessions.saturating_add(further),
            })
        }
        (
            Pacing::Arrivals { per_second, process, sessions },
            Pacing::Arrivals { per_second: more, process: same, sessions: further },
        ) if process == same => Some(Pacing::Arrivals {
            per_second: per_second + more,
            process,
            sessions: sessions.saturating_add(further),
        }),
        _ => None,
    })
}

/// Percentiles cannot be added up, so each is that of the machine where it is longest.
fn testimony(drivers: &[&DriverFacts], work: Work) -> Testimony {
    let all = || drivers.iter().map(|driver| &driver.testimony);
    let worst_us = |of: fn(&Testimony) -> u64| all().map(of).max().unwrap_or(0);
    let worst_share = |of: fn(&Testimony) -> f64| all().map(of).fold(0.0, f64::max);
    let cpu_ns: u64 = all().map(|testimony| testimony.cpu_ns).sum();
    let known = all().all(|testimony| testimony.cpu_ns_per_statement.is_some());
    Testimony {
        cpu_ns,
        cpu_ns_per_statement: cpu_ns.checked_div(work.statements).filter(|_| known),
        response: longest(all().map(|testimony| testimony.response)),
        service: longest(all().map(|testimony| testimony.service)),
        session_wait: longest(all().map(|testimony| testimony.session_wait)),
        lateness_p50_us: worst_us(|testimony| testimony.lateness_p50_us),
        lateness_p99_us: worst_us(|testimony| testimony.lateness_p99_us),
        lateness_max_us: worst_us(|testimony| testimony.lateness_max_us),
        busiest_shard: worst_share(|testimony| testimony.busiest_shard),
        run_delay: RunDelay::longest(all().map(|testimony| testimony.run_delay)),
        busy: all().flat_map(|testimony| testimony.busy.iter().copied()).collect(),
        stalls: stalls(all().map(|testimony| testimony.stalls)),
    }
}

fn longest(spreads: impl Iterator<Item = Spread>) -> Spread {
    spreads.fold(Spread::default(), |longest, own| Spread {
        p50_us: longest.p50_us.max(own.p50_us),
        p99_us: longest.p99_us.max(own.p99_us),
        max_us: longest.max_us.max(own.max_us),
    })
}

/// The queues of all machines; `None` unless sessions were shared on every machine.
fn queue(drivers: &[&DriverFacts]) -> Option<QueuedWork> {
    let queues: Vec<&QueuedWork> = drivers.iter().map(|driver| driver.queue.as_ref()).collect::<Option<_>>()?;
    let sum = |of: fn(&QueuedWork) -> u64| queues.iter().map(|queue| of(queue)).sum();
    let seconds = queues.iter().map(|queue| queue.each_second.len()).max()?;
    let in_second = |second: usize| queues.iter().filter_map(|queue| queue.each_second.get(second)).sum();
    Some(QueuedWork {
        came: sum(|queue| queue.came),
        turned_away: sum(|queue| queue.turned_away),
        waiting_at_end: sum(|queue| queue.waiting_at_end),
        // The maxima did not occur at the same moment, so this is an upper bound.
        longest: sum(|queue| queue.longest),
        limit: sum(|queue| queue.limit),
        each_second: (0..seconds).map(in_second).collect(),
    })
}

/// `None` unless every machine defers.
fn deferred(drivers: &[&DriverFacts]) -> Option<Deferred> {
    let parts: Vec<&Deferred> = drivers.iter().map(|driver| driver.deferred.as_ref()).collect::<Option<_>>()?;
    let mut sum = Deferred::default();
    for part in parts {
        sum.add(part);
    }
    Some(sum)
}

fn losses(drivers: &[&DriverFacts]) -> Losses {
    drivers.iter().map(|driver| driver.losses).fold(Losses::default(), |sum, own| Losses {
        lost: sum.lost + own.lost,
        reopened: sum.reopened + own.reopened,
        longest_ms: sum.longest_ms.max(own.longest_ms),
    })
}

fn unended(drivers: &[&DriverFacts]) -> Unended {
    let machines = drivers.len().max(1) as f64;
    drivers.iter().map(|driver| driver.unended).fold(Unended::default(), |sum, own| Unended {
        transactions: sum.transactions + own.transactions,
        oldest_ms: sum.oldest_ms.max(own.oldest_ms),
        window_share: sum.window_share + own.window_share / machines,
    })
}

fn stalls(all: impl Iterator<Item = Stalls>) -> Stalls {
    let all: Vec<Stalls> = all.collect();
    let throttled: Option<Vec<u64>> = all.iter().map(|stalls| stalls.throttled_ms).collect();
    let longest = |of: fn(&Stalls) -> u64| all.iter().map(of).max().unwrap_or(0);
    Stalls {
        total_ms: longest(|stalls| stalls.total_ms),
        longest_ms: longest(|stalls| stalls.longest_ms),
        scattered_ms: longest(|stalls| stalls.scattered_ms),
        without_waits: all.iter().all(|stalls| stalls.without_waits),
        throttled_ms: throttled.and_then(|each| each.into_iter().max()),
    }
}
