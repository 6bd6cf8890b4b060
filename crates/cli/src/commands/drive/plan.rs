//! From options to a study's `[load]`, by its own rules and words.

use crate::arguments::DriveOptions;
use crate::commands::workload::refused;
use crate::exit::Ended;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Sessions that terminals or arrivals share unless it is said how many; as in a study.
const SESSIONS: u64 = study::SESSIONS_DEFAULT;

pub fn decided(options: &DriveOptions) -> Result<Map<String, Value>, Ended> {
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
            return Err(Ended::bad_input("--sessions goes with --terminals or --arrivals; clients have their own"));
        }
        table.entry("clients").or_insert(json!(1));
        return Ok(table);
    }
    let most = terminals.unwrap_or(u64::MAX);
    let sessions = sessions.unwrap_or(SESSIONS.min(most));
    if sessions > most {
        let why = format!("--sessions: found {sessions}; expected at most {most}, the number of terminals");
        return Err(Ended::bad_input(why));
    }
    table.insert("sessions".to_owned(), json!(sessions));
    Ok(table)
}

/// The options as a table that a study could hold.
fn written(options: &DriveOptions) -> Map<String, Value> {
    let mut table = Map::from_iter([
        // The server is asked from here, and what its machine counts is not known here.
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

/// A bare number is in this unit, as for pgbench and sysbench.
pub fn in_unit(text: &str, unit: &str) -> String {
    let is_bare = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    if is_bare { format!("{text}{unit}") } else { text.to_owned() }
}

/// In microseconds.
pub fn latency_limit_us(options: &DriveOptions) -> Result<Option<u64>, Ended> {
    let Some(text) = &options.latency_limit else { return Ok(None) };
    let span = settings::parse_span(&in_unit(text, "ms")).filter(|span| span.0 > 0);
    let wrong = || Ended::bad_input(format!("--latency-limit: found {text:?}; expected a span such as 50ms"));
    span.map(|span| Some(span.0 * 1000)).ok_or_else(wrong)
}

/// Whole seconds, because that is the grid on which everything is recorded.
pub fn interval_s(options: &DriveOptions) -> Result<u64, Ended> {
    let span = settings::parse_span(&in_unit(&options.interval, "s")).map(|span| Duration::from_millis(span.0));
    let whole = span.filter(|span| span.as_secs() > 0 && span.subsec_nanos() == 0);
    let wrong =
        || Ended::bad_input(format!("--interval: found {:?}; expected whole seconds, as in 1s", options.interval));
    whole.map(|span| span.as_secs()).ok_or_else(wrong)
}
