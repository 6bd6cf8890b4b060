//! From options to what the driver is asked; the rules and words are those of a study's `[load]`.

use crate::arguments::DriveOptions;
use crate::commands::workload::refused;
use crate::exit::Ended;
use driver::plan::{DrivePlan, Pacing, Phase, Process};
use serde_json::{Map, Value, json};
use std::time::Duration;
use workloads::catalog::AnyWorkload;

/// Sessions that terminals or arrivals share unless it is said how many; as in a study.
const SESSIONS: u64 = study::SESSIONS_DEFAULT;

/// A server that is restarted, or takes over from another, is back by then.
const AWAY_LIMIT_MS: u64 = 60_000;

pub fn decided(options: &DriveOptions, workload: &AnyWorkload) -> Result<DrivePlan, Ended> {
    let table = settings::check_written(&written(options), study::LOAD).map_err(|problems| {
        let named = problems.into_iter().map(|problem| settings::Problem {
            path: if problem.path == "measure" { "time".to_owned() } else { problem.path },
            ..problem
        });
        refused("--", named.collect())
    })?;
    let number = |name: &str| table.get(name).and_then(Value::as_u64);
    let small = |name: &str| number(name).and_then(|value| u32::try_from(value).ok());
    let sessions = small("sessions");
    let shared = |most: u64| sessions.unwrap_or(u32::try_from(SESSIONS.min(most)).unwrap_or(u32::MAX));
    let pacing = if let Some(terminals) = small("terminals") {
        let sessions = shared(terminals.into());
        if sessions > terminals {
            let why = format!("--sessions: found {sessions}; expected at most {terminals}, the number of terminals");
            return Err(Ended::bad_input(why));
        }
        Pacing::Terminals { terminals, sessions }
    } else if let Some(per_second) = table.get("arrivals").and_then(Value::as_f64) {
        let even = table.get("process").and_then(Value::as_str) == Some("uniform");
        let process = if even { Process::Uniform } else { Process::Poisson };
        Pacing::Arrivals { per_second, process, sessions: shared(u64::MAX) }
    } else {
        if sessions.is_some() {
            return Err(Ended::bad_input("--sessions goes with --terminals or --arrivals; clients have their own"));
        }
        Pacing::Clients { clients: small("clients").unwrap_or(1) }
    };
    let (warmup_ms, measure_ms) = (number("warmup").unwrap_or_default(), number("measure").unwrap_or_default());
    let plan = DrivePlan::of(workload.script(Phase::timed(pacing, warmup_ms, measure_ms)), options.seed);
    let plan = DrivePlan { shards: options.shards, retries: options.retries, away_limit_ms: AWAY_LIMIT_MS, ..plan };
    driver::script::check(&plan, workload.actors()).map_err(|error| Ended::bad_input(error.to_string()))?;
    Ok(plan)
}

/// The options as a table that a study could hold.
fn written(options: &DriveOptions) -> Map<String, Value> {
    let mut table = Map::from_iter([
        ("warmup".to_owned(), json!(options.warmup)),
        ("measure".to_owned(), json!(options.time)),
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
    add("arrivals", options.arrivals.clone().map(Value::from));
    add("process", options.process.clone().map(Value::from));
    add("sessions", options.sessions.map(Value::from));
    table
}

/// Whole seconds, because that is the grid on which everything is recorded.
pub fn interval_s(options: &DriveOptions) -> Result<u64, Ended> {
    let span = settings::parse_span(&options.interval).map(|span| Duration::from_millis(span.0));
    let whole = span.filter(|span| span.as_secs() > 0 && span.subsec_nanos() == 0);
    let wrong =
        || Ended::bad_input(format!("--interval: found {:?}; expected whole seconds, as in 1s", options.interval));
    whole.map(|span| span.as_secs()).ok_or_else(wrong)
}
