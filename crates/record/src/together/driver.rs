//! What was driven on several machines as the account of all of them: counts are added, of what the load engine says about
//! itself the worst is kept.

use crate::trial::{DriverFacts, KindTotals, Pacing, Queue, Spread, Testimony, Work};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Of numbers under this name the largest counts, as it does for the shards of one machine.
const LONGEST: &str = "longest_queue";

/// `None` of no machines.
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
        // Each machine has climbed by itself, or none.
        ladder: None,
        errors: by_name(drivers.iter().map(|driver| &driver.errors)),
        extra: extra(&drivers.iter().map(|driver| &driver.extra).collect::<Vec<_>>()),
    })
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
        rows_returned: sum.rows_returned + driver.work.rows_returned,
        rows_changed: sum.rows_changed + driver.work.rows_changed,
    })
}

/// `None` where machines are given work in different ways.
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
        without_cpu: worst_share(|testimony| testimony.without_cpu),
        busy: all().flat_map(|testimony| testimony.busy.iter().copied()).collect(),
    }
}

fn longest(spreads: impl Iterator<Item = Spread>) -> Spread {
    spreads.fold(Spread::default(), |longest, own| Spread {
        p50_us: longest.p50_us.max(own.p50_us),
        p99_us: longest.p99_us.max(own.p99_us),
        max_us: longest.max_us.max(own.max_us),
    })
}

/// All who waited anywhere; `None` unless sessions were shared on every machine.
fn queue(drivers: &[&DriverFacts]) -> Option<Queue> {
    let queues: Vec<&Queue> = drivers.iter().map(|driver| driver.queue.as_ref()).collect::<Option<_>>()?;
    let sum = |of: fn(&Queue) -> u64| queues.iter().map(|queue| of(queue)).sum();
    let seconds = queues.iter().map(|queue| queue.each_second.len()).max()?;
    let in_second = |second: usize| queues.iter().filter_map(|queue| queue.each_second.get(second)).sum();
    Some(Queue {
        came: sum(|queue| queue.came),
        turned_away: sum(|queue| queue.turned_away),
        waiting_at_end: sum(|queue| queue.waiting_at_end),
        // Not at the same moment, so that this is the most that can have waited.
        longest: sum(|queue| queue.longest),
        limit: sum(|queue| queue.limit),
        each_second: (0..seconds).map(in_second).collect(),
    })
}

/// Numbers added up, name by name; of everything else what all machines agree on.
fn extra(parts: &[&Map<String, Value>]) -> Map<String, Value> {
    let Some((first, others)) = parts.split_first() else { return Map::new() };
    let mut combined = Map::new();
    for (name, value) in *first {
        let values: Option<Vec<&Value>> = others.iter().map(|other| other.get(name)).collect();
        let Some(mut values) = values else { continue };
        values.insert(0, value);
        combined.extend(of_all(name, &values).map(|value| (name.clone(), value)));
    }
    combined
}

fn of_all(name: &str, values: &[&Value]) -> Option<Value> {
    if let Some(tables) = values.iter().map(|value| value.as_object()).collect::<Option<Vec<_>>>() {
        return Some(Value::Object(extra(&tables)));
    }
    if let Some(numbers) = values.iter().map(|value| value.as_u64()).collect::<Option<Vec<_>>>() {
        let largest = numbers.iter().copied().max().unwrap_or(0);
        return Some(Value::from(if name == LONGEST { largest } else { numbers.iter().sum() }));
    }
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then(|| first.clone())
}
