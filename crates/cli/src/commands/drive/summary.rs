//! The summary of a run: totals and latencies of each kind, and the driver's testimony.

use crate::display::span;
use analysis::latency::{Counts, counts_of_kind};
use analysis::measures::{MeasureReading, Unit, activity};
use analysis::missing::Missing;
use analysis::phases::{self, PhaseFigures};
use driver::plan::Driven;
use engines::statement::{ByDialect, Dialect};
use record::check::{CheckResult, Verdict};
use record::intervals::Span;
use record::looks::Looks;
use record::text::visible;
use record::trial::{DriverFacts, KindTotals};
use report::format::{count, counted, decimal, milliseconds, quantity};
use report::{measures, missing};
use serde_json::{Map, Value, json};
use settings::Key;
use std::fmt::Write as _;
use std::time::Duration;
use workloads::dataset::Dataset;

/// How many of the most frequent errors are shown. Programs get all.
const ERRORS_SHOWN: usize = 5;

/// The keys of all workloads that decide how much data there is.
const OF_THE_AMOUNT: [&str; 9] = [
    "warehouses",
    "tables",
    "table_size",
    "schemas",
    "scale",
    "db_size",
    "customers",
    "initial_trade_days",
    "scale_factor",
];

/// The result of a run.
pub struct DriveResult<'a> {
    pub driven: &'a Driven,
    /// What the server counted, if the window was long enough to look twice.
    pub looks: Option<&'a Looks>,
    /// Of a load that ends with its work.
    pub phases: Option<Result<Vec<PhaseFigures>, Missing>>,
}

impl DriveResult<'_> {
    /// The throughput figure, per unit of time of the metric: counted transactions in the measured window, or the geometric mean of
    /// the phases, if all of their work was done.
    pub fn throughput(&self) -> Option<f64> {
        if let Some(phases) = &self.phases {
            return phases.as_ref().ok().map(|phases| phases::combined(phases));
        }
        let facts = &self.driven.facts;
        let counted = facts.kinds.iter().filter(|kind| facts.metric.counts(&kind.kind));
        let finished: u64 = counted.map(KindTotals::finished).sum();
        let per_ms = |ms: u64| finished as f64 * facts.metric.per_ms as f64 / ms as f64;
        Some(if facts.measured_ms == 0 { 0.0 } else { per_ms(facts.measured_ms) })
    }
}

/// Totals and response times of each kind, and of all kinds together.
pub fn text(measured: &DriveResult<'_>, limit_us: Option<u64>) -> String {
    let DriveResult { driven, looks, phases } = measured;
    let facts = &driven.facts;
    let seconds = facts.measured_ms as f64 / 1000.0;
    let response = |index| counts_of_kind(driven.latencies.iter(), index, Span::Response);
    let kinds: Vec<(&KindTotals, Counts)> = facts.kinds.iter().zip((0..).map(response)).collect();
    let all_counts = Counts::merged(kinds.iter().filter(|(kind, _)| !kind.step).map(|(_, counts)| counts));
    let all = total(&facts.kinds);
    let (transactions, steps): (Vec<_>, Vec<_>) = kinds.iter().partition(|(kind, _)| !kind.step);
    let mut text = String::from("\n");
    let sum = (transactions.len() > 1).then_some((&all, &all_counts));
    let rows = transactions.into_iter().map(|(kind, counts)| (*kind, counts));
    table("kind", rows.chain(sum), seconds, &mut text);
    if !steps.is_empty() {
        text.push('\n');
        table("step", steps.into_iter().map(|(kind, counts)| (*kind, counts)), seconds, &mut text);
    }
    if let Some(phases) = phases {
        of_phases(phases, &facts.metric.unit, &mut text);
    }
    let _ = writeln!(text, "\n{}", rates(measured, &all));
    if all.rolled_back > 0 {
        let _ = writeln!(text, "{} of these were rolled back, as the workload intends", count(all.rolled_back));
    }
    if let Some(limit) = limit_us {
        let above = all_counts.count_above(limit);
        let share = above as f64 * 100.0 / (all_counts.total().max(1)) as f64;
        let _ = writeln!(text, "above {} ms: {} ({} %)", milliseconds(limit as f64), count(above), decimal(share, 3));
    }
    let _ = writeln!(text, "{}", of_server(*looks, facts.phases.len()));
    about_itself(facts, &mut text);
    troubles(facts, &mut text);
    text
}

/// How often each occurred, and its response times. A step has neither failures nor retries.
fn table<'a>(what: &str, rows: impl Iterator<Item = (&'a KindTotals, &'a Counts)>, seconds: f64, text: &mut String) {
    const NARROWEST: usize = 14;
    let rows: Vec<_> = rows.collect();
    let longest = rows.iter().map(|(kind, _)| kind.kind.chars().count() + 1).max().unwrap_or(0);
    let width = longest.max(NARROWEST);
    let line = |name: &str, cells: [&str; 10]| {
        let [many, rate, mean, deviation, p50, p95, p99, max, failed, retried] = cells;
        let line = format!(
            "{name:<width$} {many:>8} {rate:>8} {mean:>8} {deviation:>8} {p50:>8} {p95:>8} {p99:>8} {max:>9} {failed:>7} {retried:>7}"
        );
        format!("{}\n", line.trim_end())
    };
    let are_steps = rows.iter().all(|(kind, _)| kind.step);
    let [failed, retried] = if are_steps { ["", ""] } else { ["failed", "retried"] };
    text.push_str(&line(what, ["count", "/s", "mean ms", "stddev", "p50", "p95", "p99", "max", failed, retried]));
    for (kind, counts) in rows {
        let rate = if seconds > 0.0 { kind.finished() as f64 / seconds } else { 0.0 };
        let ms = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), milliseconds);
        let at = |quantile: f64| ms(counts.quantile(quantile).map(|value| value as f64));
        let many = |many: u64| if kind.step { String::new() } else { count(many) };
        let cells = [
            count(kind.finished()),
            quantity(rate),
            ms(counts.mean()),
            ms(counts.deviation()),
            at(0.5),
            at(0.95),
            at(0.99),
            ms(counts.longest().map(|value| value as f64)),
            many(kind.failed),
            many(kind.retries),
        ];
        text.push_str(&line(&kind.kind, cells.each_ref().map(String::as_str)));
    }
}

/// All kinds together.
fn total(kinds: &[KindTotals]) -> KindTotals {
    // A step is a part of a transaction.
    let sum = |of: fn(&KindTotals) -> u64| kinds.iter().filter(|kind| !kind.step).map(of).sum();
    KindTotals {
        kind: "all".to_owned(),
        step: false,
        committed: sum(|kind| kind.committed),
        rolled_back: sum(|kind| kind.rolled_back),
        failed: sum(|kind| kind.failed),
        retries: sum(|kind| kind.retries),
    }
}

/// The length of each phase and what it yielded, or why there is no figure.
fn of_phases(phases: &Result<Vec<PhaseFigures>, Missing>, unit: &str, text: &mut String) {
    match phases {
        Ok(phases) => {
            let _ = writeln!(text, "\n{:<14} {:>8} {unit:>15}", "phase", "s");
            for PhaseFigures { name, rate, length_s, .. } in phases {
                let rate = rate.map(quantity).unwrap_or_default();
                let _ = writeln!(text, "{}", format!("{name:<14} {:>8} {rate:>15}", decimal(*length_s, 2)).trim_end());
            }
        }
        Err(missing) => {
            let _ = writeln!(text, "\nno throughput: {}", missing::why(missing));
        }
    }
}

/// "10,370 NOPM · 23,780 TPM · 7,573 statements/s".
fn rates(measured: &DriveResult<'_>, all: &KindTotals) -> String {
    let facts = &measured.driven.facts;
    let metric = &facts.metric;
    let unit = if metric.unit == metric.name { String::new() } else { format!(" ({})", metric.unit) };
    let of_phases = if measured.phases.is_some() { ", the geometric mean of the phases" } else { "" };
    let throughput = |throughput: f64| format!("{} {}{unit}{of_phases}", quantity(throughput), metric.name);
    let mut rates: Vec<String> = measured.throughput().map(throughput).into_iter().collect();
    let seconds = facts.measured_ms as f64 / 1000.0;
    // If only some kinds are counted, all kinds together follow, per the same unit of time.
    if metric.counted.len() < facts.kinds.iter().filter(|kind| !kind.step).count() && seconds > 0.0 {
        let (per, name) = if metric.per_ms == 60_000 { (60.0, "TPM") } else { (1.0, "TPS") };
        rates.push(format!("{} {name} (all kinds)", quantity(all.finished() as f64 / seconds * per)));
    }
    if facts.work.statements > 0 && seconds > 0.0 {
        rates.push(format!("{} statements/s", decimal(facts.work.statements as f64 / seconds, 0)));
    }
    rates.join(" · ")
}

/// "server's counters over 8.0 s: reads past the cache 52.1/s · …".
fn of_server(looks: Option<&Looks>, phases: usize) -> String {
    let why = match looks {
        None if phases > 1 => "they are not read in a load of several phases".to_owned(),
        None => "the run was too short to read them twice, or was cut short".to_owned(),
        Some(looks) => {
            let shown: Vec<String> = activity::between_looks(looks).iter().filter_map(shown).collect();
            if !shown.is_empty() {
                let seconds = decimal(looks.span_ns() as f64 / 1e9, 1);
                return format!("server's counters over {seconds} s: {}", shown.join(" · "));
            }
            visible(why_not_counted(looks).unwrap_or("it has none of these, or they were reset in between"))
                .into_owned()
        }
    };
    format!("server's counters: unavailable, because {why}")
}

fn shown(reading: &MeasureReading) -> Option<String> {
    let (measure, value) = (&reading.measure, reading.value.as_ref().ok()?);
    let (name, _) = measures::words(&measure.id);
    let name = name.strip_prefix("database: ").unwrap_or(&name);
    let unit = match &measure.unit {
        Unit::PerSecond => "/s".to_owned(),
        unit => format!(" {}", measures::style(unit).unit),
    };
    Some(format!("{name} {}{unit}", measures::number(&measure.unit, *value)))
}

fn why_not_counted(looks: &Looks) -> Option<&str> {
    [&looks.start, &looks.end].into_iter().find_map(|look| look.database.why_not())
}

fn about_itself(facts: &DriverFacts, text: &mut String) {
    let testimony = &facts.testimony;
    let _ = write!(
        text,
        "load engine: {} on {}",
        counted(facts.sessions.into(), "session"),
        counted(facts.shards.into(), "thread")
    );
    if facts.work.statements > 0 {
        let each_us = testimony.cpu_ns as f64 / facts.work.statements as f64 / 1000.0;
        let whose = if facts.in_process { ", the database's own with it," } else { "" };
        let (each, statements) = (decimal(each_us, 1), count(facts.work.statements));
        let _ = write!(text, ", {each} µs of CPU{whose} for each of {statements} statements");
    }
    let late = [testimony.lateness_p50_us, testimony.lateness_p99_us, testimony.lateness_max_us];
    let [p50, p99, max] = late.map(|value_us| milliseconds(value_us as f64));
    let busy = testimony.busiest_shard * 100.0;
    let _ = write!(text, ", started work {p50} ms late (p99 {p99}, max {max}), busiest thread {busy:.0} % busy");
    let waited = testimony.run_delay.map(|delay| {
        format!(", waited for a CPU {:.0} % of the time, {:.0} µs at a time", delay.share * 100.0, delay.us_per_turn)
    });
    let throttled = testimony.stalls.throttled_ms.filter(|ms| *ms > 0);
    let throttled =
        throttled.map(|ms| format!(", throttled for {:.1} s by a CPU limit (added up over CPUs)", ms as f64 / 1000.0));
    let _ = writeln!(text, "{}{}", waited.unwrap_or_default(), throttled.unwrap_or_default());
}

/// Bytes per second of a load on a slow disk and on a fast server. Progress lines show how fast it really is.
const LOADED_PER_S: [f64; 2] = [5e6, 50e6];

/// The size of a load, and its time at two speeds; `None` if the size is not known.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn of_load(dataset: &dyn Dataset, dialect: Dialect) -> Option<String> {
    let bytes = dataset.stored_bytes(dialect);
    let tables = dataset.tables();
    let rows: u64 = tables.iter().map(|table| dataset.expected_rows(table)).sum();
    let [slow, fast] = LOADED_PER_S.map(|per_s| span(Duration::from_secs((bytes as f64 / per_s).ceil() as u64)));
    (bytes > 0).then(|| {
        format!(
            "about to load {} rows into {}: {} with their indexes, {fast} at 50 MB/s and {slow} at 5 MB/s",
            count(rows),
            counted(tables.len() as u64, "table"),
            study::roughly(bytes)
        )
    })
}

/// "PostgreSQL 15.14".
pub fn product(dialect: Dialect, version: &str) -> String {
    const NAMES: ByDialect<&str> = ByDialect { sqlite: "SQLite", postgres: "PostgreSQL", mysql: "MySQL" };
    let name = if version.contains("MariaDB") { "MariaDB" } else { NAMES.of(dialect) };
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let number = version.split([' ', '-']).find(is_number).unwrap_or_default();
    format!("{name} {}", visible(number)).trim_end().to_owned()
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
            "deferred: {done} of {queued} done by {} ({before} at the start), longest queue {}",
            counted(after.into(), "background session"),
            count(deferred.longest_queue)
        );
    }
    let mut errors: Vec<(u64, &str)> = facts.errors.iter().map(|(message, times)| (*times, &**message)).collect();
    errors.sort_by_key(|(times, _)| std::cmp::Reverse(*times));
    for (times, message) in errors.iter().take(ERRORS_SHOWN) {
        let _ = writeln!(text, "error, {}: {message}", counted(*times, "time"));
    }
    if let Some(others) = errors.get(ERRORS_SHOWN..).filter(|others| !others.is_empty()) {
        let _ = writeln!(text, "other errors, {}", counted(others.iter().map(|(times, _)| times).sum(), "time"));
    }
}

/// The keys that decide how much data there is, where they have their defaults.
pub fn scale(workload: &str, set: &[String]) -> Vec<String> {
    let Some(entry) = workloads::catalog::entry(workload) else { return Vec::new() };
    let is_set = |key: &Key| set.iter().any(|pair| pair.split('=').next() == Some(key.name));
    let keys = entry.keys.iter().filter(|key| OF_THE_AMOUNT.contains(&key.name) && !is_set(key));
    keys.map(|key| format!("{}={}", key.name, key.default.unwrap_or_default().trim_matches('"'))).collect()
}

/// How many checks hold, and each one that does not.
pub fn findings(findings: &[CheckResult]) -> String {
    let mut text = String::new();
    let (mut hold, mut undecided, mut violated) = (0, 0, 0);
    let none_was_judged = findings.iter().all(|finding| matches!(finding.verdict, Verdict::Undecided { .. }));
    for finding in findings {
        match &finding.verdict {
            Verdict::Holds { .. } => hold += 1,
            Verdict::Undecided { why } => {
                undecided += 1;
                if none_was_judged {
                    let _ = writeln!(text, "not checked: {why}");
                }
            }
            Verdict::Violated { seen } => {
                violated += 1;
                let _ = writeln!(text, "VIOLATED {}: {} {seen}", finding.name, finding.rule);
            }
        }
    }
    let _ = write!(text, "data checks: {hold} passed, {violated} violated, {undecided} not judged");
    text
}

/// The same for programs.
pub fn of(measured: &DriveResult<'_>, set: &[String], limit_us: Option<u64>) -> Map<String, Value> {
    let DriveResult { driven, looks, phases } = measured;
    let spread = |counts: &Counts| {
        json!({
            "p50_us": counts.quantile(0.5), "p95_us": counts.quantile(0.95), "p99_us": counts.quantile(0.99),
            "max_us": counts.longest(), "mean_us": counts.mean(), "stddev_us": counts.deviation(),
        })
    };
    let latency = driven.facts.kinds.iter().zip(0..).map(|(kind, index)| {
        let of = |span| spread(&counts_of_kind(driven.latencies.iter(), index, span));
        (kind.kind.clone(), json!({ "response": of(Span::Response), "service": of(Span::Service) }))
    });
    let metric = &driven.facts.metric;
    let total = total(&driven.facts.kinds);
    Map::from_iter([
        ("throughput".to_owned(), json!(measured.throughput())),
        ("phases".to_owned(), phases.as_ref().map_or(Value::Null, phases_json)),
        ("metric".to_owned(), json!({ "name": metric.name, "unit": metric.unit })),
        ("set".to_owned(), json!(set)),
        (
            "total".to_owned(),
            json!({ "committed": total.committed, "rolled_back": total.rolled_back, "failed": total.failed, "retries": total.retries }),
        ),
        ("latency_limit_us".to_owned(), json!(limit_us)),
        ("latency".to_owned(), Value::Object(latency.collect())),
        ("driver".to_owned(), json!(driven.facts)),
        ("counters".to_owned(), looks.map_or(Value::Null, counters)),
        ("stopped".to_owned(), json!(driven.stopped)),
        ("broke_off".to_owned(), json!(driven.broke_off)),
    ])
}

fn phases_json(phases: &Result<Vec<PhaseFigures>, Missing>) -> Value {
    let of_phase = |phase: &PhaseFigures| {
        let times: Map<String, Value> = phase.times.iter().map(|(kind, us)| (kind.clone(), json!(us))).collect();
        json!({ "name": phase.name, "rate": phase.rate, "length_s": phase.length_s, "mean_us": times })
    };
    match phases {
        Ok(phases) => phases.iter().map(of_phase).collect(),
        Err(missing) => json!({ "missing": missing::why(missing) }),
    }
}

/// Under the server's own names.
fn counters(looks: &Looks) -> Value {
    json!({
        "seconds": looks.span_ns() as f64 / 1e9, "before": looks.start.counters, "after": looks.end.counters,
        "unavailable": why_not_counted(looks),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::testimony::RunDelay;

    #[test]
    fn the_amount_of_data_is_told_where_it_is_the_default() {
        let told = |workload, set: &[&str]| {
            scale(workload, &set.iter().map(|pair| (*pair).to_owned()).collect::<Vec<_>>()).join(" ")
        };
        assert_eq!(told("order-entry", &["delivery=inline"]), "warehouses=10");
        assert_eq!(told("order-entry", &["warehouses=1"]), "");
        assert_eq!(told("sysbench-oltp", &["table_size=5"]), "tables=1");
        assert_eq!(told("dvd-store", &["version=3"]), "db_size=10MB");
        let without = |entry: &&workloads::entry::WorkloadEntry| told(entry.kind, &[]).is_empty();
        let without = workloads::catalog::WORKLOADS.iter().filter(without).map(|entry| entry.kind);
        assert_eq!(without.collect::<Vec<_>>(), ["file"], "scripts make their tables themselves");
    }

    #[test]
    fn columns_stay_apart_however_wide_their_cells_are() {
        let many = 123_456_789_012;
        let kind = KindTotals { committed: many, failed: many, retries: many, ..total(&[]) };
        let counts = Counts::of([(3_600_000_000_000, 5), (7_200_000_000_000, 5)]);
        let mut text = String::new();
        table("kind", [(&kind, &counts)].into_iter(), 0.001, &mut text);
        let row = text.lines().next_back().unwrap();
        assert_eq!(row.split_whitespace().count(), 11, "{row}");
        let name = "a phase of a long name".replace(' ', "-");
        let phase = PhaseFigures { name, rate: Some(1e18), length_s: 1e12, times: Vec::new() };
        let mut text = String::new();
        of_phases(&Ok(vec![phase]), "questions/h", &mut text);
        let row = text.lines().next_back().unwrap();
        assert_eq!(row.split_whitespace().count(), 3, "{row}");
    }

    #[test]
    fn the_load_engine_says_what_kept_it_from_cpus() {
        let mut facts = DriverFacts { sessions: 4, shards: 1, ..DriverFacts::default() };
        let text_of = |facts: &DriverFacts| {
            let mut text = String::new();
            about_itself(facts, &mut text);
            text
        };
        assert!(!text_of(&facts).contains("CPU"), "{}", text_of(&facts));
        facts.testimony.run_delay = Some(RunDelay { share: 0.3, us_per_turn: 120.0, beside_database: None });
        facts.testimony.stalls.throttled_ms = Some(1_500);
        let text = text_of(&facts);
        assert!(text.contains("waited for a CPU 30 % of the time, 120 µs at a time, throttled for 1.5 s by"), "{text}");
    }

    #[test]
    fn products_are_named_with_their_versions() {
        let told = |dialect, version| product(dialect, version);
        assert_eq!(told(Dialect::Postgres, "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64"), "PostgreSQL 15.14");
        assert_eq!(told(Dialect::Mysql, "10.11.19-MariaDB-0+deb12u1"), "MariaDB 10.11.19");
        assert_eq!(told(Dialect::Mysql, "8.0.35"), "MySQL 8.0.35");
        assert_eq!(told(Dialect::Sqlite, ""), "SQLite");
    }
}
