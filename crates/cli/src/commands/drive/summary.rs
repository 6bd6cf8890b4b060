//! What a run was, once it is over: totals and latencies of each kind, and the driver about itself.

use super::live::milliseconds;
use analysis::latency::{Counts, counts_of_kind};
use driver::plan::Driven;
use record::check::{CheckResult, Verdict};
use record::intervals::Span;
use record::trial::{DriverFacts, KindTotals};
use report::format::{count, decimal};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The most frequent ones; a deadlock tells another story each time. Programs get all of them.
const ERRORS_SHOWN: usize = 5;

/// The throughput figure: counted transactions in the measured window, by the span it is counted in.
pub fn throughput(facts: &DriverFacts) -> f64 {
    let counted = facts.kinds.iter().filter(|kind| facts.metric.counted.contains(&kind.kind));
    let finished: u64 = counted.map(KindTotals::finished).sum();
    if facts.measured_ms == 0 { 0.0 } else { finished as f64 * facts.metric.per_ms as f64 / facts.measured_ms as f64 }
}

pub fn text(driven: &Driven) -> String {
    let facts = &driven.facts;
    let mut text = String::new();
    let seconds = facts.measured_ms as f64 / 1000.0;
    let _ = writeln!(
        text,
        "\n{:<16}{:>11}{:>12}{:>8}{:>9}{:>11}{:>10}{:>10}{:>10}{:>10}",
        "kind", "committed", "rolled back", "failed", "retries", "/s", "p50 ms", "p95 ms", "p99 ms", "max ms"
    );
    for (kind, index) in facts.kinds.iter().zip(0..) {
        let response = counts_of_kind(driven.latencies.iter(), index, Span::Response);
        let rate = if seconds > 0.0 { kind.finished() as f64 / seconds } else { 0.0 };
        let spans = [response.quantile(0.5), response.quantile(0.95), response.quantile(0.99), response.longest()];
        let spans = spans.map(|value| value.map_or_else(|| "–".to_owned(), milliseconds));
        let _ = writeln!(
            text,
            "{:<16}{:>11}{:>12}{:>8}{:>9}{:>11}{:>10}{:>10}{:>10}{:>10}",
            kind.kind,
            count(kind.committed),
            count(kind.rolled_back),
            count(kind.failed),
            count(kind.retries),
            decimal(rate, 1),
            spans[0],
            spans[1],
            spans[2],
            spans[3],
        );
    }
    let metric = &facts.metric;
    let _ = writeln!(text, "\n{} {} ({}), over {seconds} s", decimal(throughput(facts), 1), metric.name, metric.unit);
    about_itself(facts, &mut text);
    troubles(facts, &mut text);
    text
}

fn about_itself(facts: &DriverFacts, text: &mut String) {
    let testimony = &facts.testimony;
    let _ = write!(text, "driver: {} sessions on {} threads", facts.sessions, facts.shards);
    if facts.work.statements > 0 {
        let each_us = testimony.cpu_ns as f64 / facts.work.statements as f64 / 1000.0;
        let whose = if facts.in_process { ", the database's own with it," } else { "" };
        let (each, statements) = (decimal(each_us, 1), count(facts.work.statements));
        let _ = write!(text, ", {each} µs of CPU{whose} for each of {statements} statements");
    }
    let late = [testimony.lateness_p50_us, testimony.lateness_p99_us, testimony.lateness_max_us];
    let [p50, p99, max] = late.map(milliseconds);
    let busy = testimony.busiest_shard * 100.0;
    let _ = writeln!(text, ", started work {p50} ms late (p99 {p99}, max {max}), busiest thread {busy:.0} % busy");
}

fn troubles(facts: &DriverFacts, text: &mut String) {
    if let Some(queue) = &facts.queue {
        let (longest, turned_away, left) =
            (count(queue.longest), count(queue.turned_away), count(queue.waiting_at_end));
        let _ =
            writeln!(text, "queue for sessions: longest {longest}, turned away {turned_away}, left at the end {left}");
    }
    let losses = facts.losses;
    if losses.lost > 0 {
        let (lost, reopened, longest) = (losses.lost, losses.reopened, decimal(losses.longest_ms as f64 / 1e3, 1));
        let _ = writeln!(text, "sessions lost: {lost}, opened again: {reopened}, longest time without: {longest} s");
    }
    if let Some(deferred) = facts.deferred {
        let (done, queued) = (count(deferred.done), count(deferred.queued));
        let (before, after) = (deferred.sessions_at_start, deferred.sessions_at_end);
        let _ = writeln!(
            text,
            "deferred: {done} of {queued} done by {after} background sessions ({before} at the start), longest queue {}",
            count(deferred.longest_queue)
        );
    }
    let mut errors: Vec<_> = facts.errors.iter().collect();
    errors.sort_by_key(|(_, times)| std::cmp::Reverse(**times));
    for (message, times) in errors.iter().take(ERRORS_SHOWN) {
        let _ = writeln!(text, "error, {} times: {}", count(**times), message.lines().next().unwrap_or_default());
    }
    if let Some(others) = errors.get(ERRORS_SHOWN..).filter(|others| !others.is_empty()) {
        let times = others.iter().map(|(_, times)| **times).sum();
        let _ = writeln!(text, "other errors, {} times", count(times));
    }
}

/// How many conditions hold, and each that does not.
pub fn findings(findings: &[CheckResult]) -> String {
    let mut text = String::new();
    let (mut hold, mut undecided, mut violated) = (0, 0, 0);
    for finding in findings {
        match &finding.verdict {
            Verdict::Holds { .. } => hold += 1,
            Verdict::Undecided { .. } => undecided += 1,
            Verdict::Violated { seen } => {
                violated += 1;
                let _ = writeln!(text, "VIOLATED {}: {} {seen}", finding.name, finding.rule);
            }
        }
    }
    let _ = write!(text, "data checks: {hold} hold, {undecided} undecided, {violated} violated");
    text
}

/// The same for programs.
pub fn of(driven: &Driven) -> Map<String, Value> {
    let spread = |counts: &Counts| {
        json!({
            "p50_us": counts.quantile(0.5), "p95_us": counts.quantile(0.95), "p99_us": counts.quantile(0.99),
            "max_us": counts.longest(), "mean_us": counts.mean(),
        })
    };
    let latency = driven.facts.kinds.iter().zip(0..).map(|(kind, index)| {
        let of = |span| spread(&counts_of_kind(driven.latencies.iter(), index, span));
        (kind.kind.clone(), json!({ "response": of(Span::Response), "service": of(Span::Service) }))
    });
    Map::from_iter([
        ("throughput".to_owned(), json!(throughput(&driven.facts))),
        ("latency".to_owned(), Value::Object(latency.collect())),
        ("driver".to_owned(), json!(driven.facts)),
        ("stopped".to_owned(), json!(driven.stopped)),
        ("broke_off".to_owned(), json!(driven.broke_off)),
    ])
}
