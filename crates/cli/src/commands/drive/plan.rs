//! Turns options into a study's `[load]`, with the study's own rules and words.

use crate::arguments::DriveOptions;
use crate::commands::workload::refused;
use crate::exit::EndedWith;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Sessions that terminals or arrivals share by default, as in a study.
const SESSIONS: u64 = study::SESSIONS_DEFAULT;

pub fn decided(options: &DriveOptions) -> Result<Map<String, Value>, EndedWith> {
    if has_own_phases(options) {
        return with_own_phases(options);
    }
    let mut table = settings::check_written(&written(options), study::LOAD).map_err(|problems| {
        let named = problems.into_iter().map(|problem| settings::Problem {
            path: if problem.path == "measure" { "time".to_owned() } else { problem.path },
            ..problem
        });
        refused("--", named.collect())
    })?;
    let number = |name: &str| table.get(name).and_then(Value::as_u64);
    let (terminals, sessions) = (number("terminals"), number("sessions"));
    if terminals.is_none() && !table.contains_key("arrivals") {
        if sessions.is_some() {
            return Err(EndedWith::bad_input("--sessions goes with --terminals or --arrivals; clients have their own"));
        }
        table.entry("clients").or_insert(json!(1));
        return Ok(table);
    }
    let most = terminals.unwrap_or(u64::MAX);
    let sessions = sessions.unwrap_or(SESSIONS.min(most));
    if sessions > most {
        let why = format!("--sessions: found {sessions}; expected at most {most}, the number of terminals");
        return Err(EndedWith::bad_input(why));
    }
    table.insert("sessions".to_owned(), json!(sessions));
    Ok(table)
}

pub fn has_own_phases(options: &DriveOptions) -> bool {
    workloads::catalog::entry(&options.workload).is_some_and(|entry| entry.own_phases)
}

/// The phases of the workload say who works and for how long, so options do not. A span may be the default.
fn with_own_phases(options: &DriveOptions) -> Result<Map<String, Value>, EndedWith> {
    let keys = study::load_keys(true);
    let mut table = written(options);
    let is_key = |name: &str| keys.iter().any(|key| key.name == name);
    let spans = ["warmup", "measure"];
    if let Some(other) = table.keys().find(|name| !is_key(name) && !spans.contains(&name.as_str())) {
        let why =
            format!("--{other}: given; expected no such option, because {} has phases of its own", options.workload);
        return Err(EndedWith::bad_input(why));
    }
    table.retain(|name, _| is_key(name));
    settings::check_written(&table, &keys).map_err(|problems| refused("--", problems))
}

/// One hour.
const LONGEST_LIMIT_MS: f64 = 3_600_000.0;

/// The options as a table that a study could contain.
fn written(options: &DriveOptions) -> Map<String, Value> {
    let mut table = Map::from_iter([
        // The load generator is this host; what the server's machine counts is not known here.
        ("placement".to_owned(), json!("outside")),
        ("telemetry".to_owned(), json!(false)),
        ("warmup".to_owned(), json!(in_unit(&options.warmup, "s"))),
        ("measure".to_owned(), json!(in_unit(&options.time, "s"))),
        ("shards".to_owned(), json!(options.shards)),
        ("retries".to_owned(), json!(options.retries)),
    ]);
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(name.to_owned(), value);
        }
    };
    add("clients", options.clients.map(Value::from));
    add("terminals", options.terminals.map(Value::from));
    add("arrivals", options.arrivals.as_ref().map(|rate| in_unit(rate, "/s").into()));
    add("process", options.process.clone().map(Value::from));
    add("sessions", options.sessions.map(Value::from));
    table
}

/// A bare number gets this unit, as with pgbench and sysbench.
pub fn in_unit(text: &str, unit: &str) -> String {
    let is_bare = text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_bare { format!("{text}{unit}") } else { text.to_owned() }
}

/// The limit in microseconds.
pub fn latency_limit_us(options: &DriveOptions) -> Result<Option<u64>, EndedWith> {
    let Some(text) = &options.latency_limit else { return Ok(None) };
    let written = in_unit(text, "ms");
    // Spans are whole milliseconds, but a limit may be a fraction of one.
    let part = written.strip_suffix("ms").and_then(|number| number.trim().parse::<f64>().ok());
    let part = part.filter(|ms| *ms >= 0.001 && *ms <= LONGEST_LIMIT_MS);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Within bounds.
    let limit = part.map(|ms| (ms * 1000.0).round() as u64);
    let limit = limit.or_else(|| settings::parse_span(&written).map(|span| span.0 * 1000)).filter(|us| *us > 0);
    let wrong =
        || EndedWith::bad_input(format!("--latency-limit: found {text:?}; expected a span such as 50ms or 0.5ms"));
    limit.map(Some).ok_or_else(wrong)
}

/// Whole seconds, because everything is recorded on that grid.
pub fn interval_s(options: &DriveOptions) -> Result<u64, EndedWith> {
    let span = settings::parse_span(&in_unit(&options.interval, "s")).map(|span| Duration::from_millis(span.0));
    let whole = span.filter(|span| span.as_secs() > 0 && span.subsec_nanos() == 0);
    let wrong =
        || EndedWith::bad_input(format!("--interval: found {:?}; expected whole seconds, as in 1s", options.interval));
    whole.map(|span| span.as_secs()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser;

    fn options(more: &[&str]) -> DriveOptions {
        let told = ["bakeoff", "drive"].into_iter().chain(more.iter().copied());
        let crate::arguments::Command::Drive(options) = Arguments::parse_from(told).command.unwrap() else {
            unreachable!("it is a drive");
        };
        options
    }

    #[test]
    fn a_workload_with_phases_of_its_own_is_offered_nothing() {
        let decided = |more: &[&str]| {
            let words = ["decision-support-h", "sqlite:x.db"].into_iter().chain(more.iter().copied());
            decided(&options(&words.collect::<Vec<_>>())).map_err(|error| error.message)
        };
        let table = decided(&["--shards", "2"]).unwrap();
        assert_eq!((table["shards"].clone(), table.contains_key("clients")), (json!(2), false));
        let told = "--clients: given; expected no such option, because decision-support-h has phases of its own";
        assert_eq!(decided(&["--clients", "9"]).unwrap_err(), told);
    }

    #[test]
    fn a_limit_may_be_a_part_of_a_millisecond() {
        let limit = |text: &str| {
            latency_limit_us(&options(&["slob", "sqlite:x.db", "-L", text])).map_err(|error| error.message)
        };
        assert_eq!(["0.5", "0.05ms", "50", "2s"].map(limit), [500, 50, 50_000, 2_000_000].map(|us| Ok(Some(us))));
        for wrong in ["0", "0.0001", "nan", "soon", "1e9"] {
            assert!(limit(wrong).unwrap_err().contains("expected a span such as 50ms or 0.5ms"), "{wrong}");
        }
    }
}
