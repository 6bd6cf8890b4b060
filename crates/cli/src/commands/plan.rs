//! `bakeoff plan`: what would run, how long it takes, and every problem. Starts nothing.

use crate::arguments::PlanOptions;
use crate::commands::list::keys;
use crate::commands::pilot;
use crate::commands::study_file::{Planned, chosen, planned};
use crate::display::{print, say, span};
use crate::exit::Exit;
use crate::host;
use crate::readiness::{self, Readiness};
use anyhow::Result;
use record::plan::{Cell, Plan};
use serde_json::Value;
use settings::{Bytes, Holds, Key, Share, Span};
use std::fmt::Write as _;
use std::time::Duration;
use study::{Host, OtherLoadLimit, TimeEstimate};

pub fn plan(options: &PlanOptions) -> Result<Exit> {
    let Planned { plan, host, .. } = planned(&options.study, options.aa)?;
    let chosen = chosen(&plan, &options.only)?;
    let outlook = pilot::outlook_of(options, &plan)?;
    let Readiness { lacking, without } = readiness::of(&chosen, &host::site()?)?;
    for sentence in lacking.iter().chain(&without) {
        say(&format!("warning: {sentence}"));
    }
    if options.json {
        let mut printed = serde_json::to_value(&chosen)?;
        if let (Value::Object(printed), Some(outlook)) = (&mut printed, &outlook) {
            printed.insert("outlook".to_owned(), serde_json::to_value(outlook)?);
        }
        print(&format!("{}\n", serde_json::to_string_pretty(&printed)?));
    } else {
        print(&text(&chosen, &host)?);
        print(&match (&outlook, &options.pilot) {
            (Some(outlook), Some(path)) => pilot::text(outlook, path)?,
            _ => ASK_A_PILOT.to_owned(),
        });
    }
    Ok(Exit::Done)
}

/// Nobody can know it from the plan alone.
const ASK_A_PILOT: &str = "what these blocks will be able to tell depends on how far they lie apart here: --pilot RUN says it \
                           from an earlier run of the same contenders\n";

fn text(plan: &Plan, host: &Host) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "{}\n", plan.question)?;
    for cell in &plan.cells {
        let baseline = if cell.baseline { " (baseline)" } else { "" };
        let coordinates = cell.coordinates();
        let coordinates = if coordinates.is_empty() { coordinates } else { format!(", {coordinates}") };
        writeln!(text, "cell {}: {}{baseline}{coordinates}", cell.id, cell.contender)?;
        for (table, value) in cell.settings.tables() {
            writeln!(text, "    {table:<9} {}", one_line(value, keys_of(table, value)))?;
        }
        if let Some(bytes) = study::data_bytes_of(cell).filter(|bytes| !bytes.is_empty()) {
            let told: Vec<_> = bytes.into_iter().map(|bytes| format!("about {}", study::roughly(bytes))).collect();
            writeln!(text, "    {:<9} {} once loaded", "data", told.join(", and of the odd machine "))?;
        }
        if let Some(room) = study::room(cell, host) {
            writeln!(text, "    {:<9} {room}", "room")?;
        }
        for place in study::places(cell, host).unwrap_or_default() {
            writeln!(text, "    {:<9} {place}", "")?;
        }
    }
    writeln!(text, "\ntrials, in the order in which they run (seed {}):", plan.seed)?;
    for trial in &plan.trials {
        let cell = plan.cells.iter().find(|cell| cell.id == trial.cell);
        let what = cell.map_or_else(|| "?".to_owned(), told);
        writeln!(text, "  {:>4}  block {:<3} cell {:<3} {what}", trial.id, trial.block, trial.cell)?;
    }
    let estimate = study::estimate(plan);
    let (total, driving) = (Duration::from_millis(estimate.total_ms), Duration::from_millis(estimate.driving_ms));
    writeln!(text, "\nabout {} in all, {} of it under load", span(total), span(driving))?;
    write_repeats(&mut text, plan, &estimate)?;
    write_precision(&mut text, plan)?;
    Ok(text)
}

/// "vm, 3x1, 3 machines": what tells a cell from others, and how many machines run side by side, where it is not one.
fn told(cell: &Cell) -> String {
    let machines = (cell.machines() > 1).then(|| format!("{} machines", cell.machines()));
    let parts = [Some(cell.contender.clone()), Some(cell.coordinates()), machines];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What other load the trials allow, and what it costs at most.
fn write_repeats(text: &mut String, plan: &Plan, estimate: &TimeEstimate) -> std::fmt::Result {
    let mut limits = Vec::new();
    for limit in plan.cells.iter().filter_map(|cell| study::load(cell).ok()?.other_load) {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    for OtherLoadLimit { max_other_cpu, max_repeats } in &limits {
        let times = if *max_repeats == 1 { "once".to_owned() } else { format!("{max_repeats} times") };
        writeln!(
            text,
            "a trial beside which others use more than {max_other_cpu} of the host's CPU time is run again, at most {times}"
        )?;
    }
    let longest = Duration::from_millis(estimate.total_ms.saturating_add(estimate.repeating_ms));
    if limits.is_empty() { Ok(()) } else { writeln!(text, "with every such repeat about {} in all", span(longest)) }
}

/// How far the plan may grow.
fn write_precision(text: &mut String, plan: &Plan) -> std::fmt::Result {
    let Some(wish) = plan.precision else { return Ok(()) };
    let longest = study::estimate(&study::grown(plan, wish.max_blocks)).total_ms;
    let limit = wish.time_limit_ms.map(|limit_ms| span(Duration::from_millis(limit_ms)));
    let limit = limit.map(|limit| format!(", or until another would not end within {limit}")).unwrap_or_default();
    writeln!(
        text,
        "after these {} blocks, blocks are added until every throughput ratio is known to within ±{}{limit}; at most {} \
         blocks, about {}",
        wish.least_blocks,
        Share(wish.half_width),
        wish.max_blocks,
        span(Duration::from_millis(longest))
    )
}

/// The keys of a cell's table: those of its kind, or the study's own.
fn keys_of(table: &str, value: &Value) -> &'static [Key] {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or(table);
    keys(kind).unwrap_or_default()
}

/// A table as `key = value` pairs, with the units of a study file.
fn one_line(value: &Value, keys: &[Key]) -> String {
    let Some(table) = value.as_object() else { return value.to_string() };
    let pairs = table.iter().map(|(name, value)| {
        let holds = keys.iter().find(|key| key.name == name).map(|key| key.holds);
        let shown = match (holds, value.as_u64()) {
            (Some(Holds::Size { .. }), Some(bytes)) => Bytes(bytes).to_string(),
            (Some(Holds::Span { .. }), Some(length_ms)) => Span(length_ms).to_string(),
            (Some(Holds::Share { .. }), _) => {
                value.as_f64().map_or_else(|| value.to_string(), |part| Share(part).to_string())
            }
            (Some(Holds::Entry), _) => format!("{{ {} }}", one_line(value, keys_of(name, value))),
            (Some(Holds::Table(inner)), _) => format!("{{ {} }}", one_line(value, inner)),
            _ => value.to_string(),
        };
        format!("{name} = {shown}")
    });
    pairs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_spans_have_the_units_of_a_study() {
        let shown = |table: &str, value: Value| one_line(&value, keys_of(table, &value));
        assert_eq!(shown("machine", serde_json::json!({ "memory": 2_147_483_648_u64 })), "memory = 2 GiB");
        assert_eq!(
            shown("machine", serde_json::json!({ "disk": { "size": 8_589_934_592_u64 } })),
            "disk = { size = 8 GiB }"
        );
        assert_eq!(shown("machine", serde_json::json!({ "vcpus": 2 })), "vcpus = 2");
        assert_eq!(shown("load", serde_json::json!({ "warmup": 15_000 })), "warmup = 15 s");
        assert_eq!(shown("machine", serde_json::json!({ "odd": { "cpu_quota": 0.5 } })), "odd = { cpu_quota = 50 % }");
        let own = serde_json::json!({ "odd": { "workload": { "kind": "sysbench-oltp", "think": 2_000 } } });
        assert_eq!(shown("machine", own), "odd = { workload = { kind = \"sysbench-oltp\", think = 2 s } }");
        let sqlite = serde_json::json!({ "kind": "sqlite", "busy_timeout": 1000 });
        assert!(!keys_of("engine", &sqlite).is_empty());
    }
}
