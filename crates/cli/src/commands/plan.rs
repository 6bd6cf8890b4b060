//! `bakeoff plan`: what would run, how long it takes, and every problem. Starts nothing.

use crate::ahead;
use crate::arguments::PlanOptions;
use crate::catalog::keys;
use crate::commands::pilot;
use crate::commands::study_file::{CheckedStudy, chosen, planned};
use crate::display::{print, say, span, wrapped};
use crate::exit::Exit;
use crate::preview;
use crate::readiness;
use crate::site;
use analysis::equal::EqualRow;
use anyhow::Result;
use record::plan::Cell;
use serde_json::Value;
use settings::{Bytes, Holds, Key, Share, TimeSpan};
use std::fmt::Write as _;
use std::time::Duration;
use study::{Host, OtherLoadLimit, TimeEstimate, TypedPlan};

pub fn plan(options: &PlanOptions) -> Result<Exit> {
    let CheckedStudy { plan, host, .. } = planned(&options.study, options.aa, &options.set)?;
    let chosen = chosen(&plan, &options.only)?;
    let site = site::site()?;
    let outlook = pilot::outlook_of(options, &plan)?;
    let lacking = readiness::lacking(&chosen, &site)?;
    let foreseen = ahead::of(&chosen, &site);
    let equal = ahead::equal(&chosen, &foreseen);
    let exit = if lacking.is_empty() { Exit::Done } else { Exit::Host };
    for sentence in lacking {
        say(&wrapped(&format!("✗ {sentence}"), "  "));
    }
    let without = ahead::without(&chosen, &foreseen);
    for sentence in without.into_iter().chain(ahead::unequal(&equal)).chain(readiness::busy(&site)) {
        say(&wrapped(&format!("! {sentence}"), "  "));
    }
    if options.require_kvm {
        readiness::require_kvm(&chosen, &site.cache)?;
    }
    if readiness::is_kvm_open(&chosen, &site.cache) {
        say("! whether KVM works here is known once `bakeoff doctor` or a run has tried it");
    }
    if options.json {
        let mut printed = serde_json::to_value(chosen.plan())?;
        if let (Value::Object(printed), Some(outlook)) = (&mut printed, &outlook) {
            printed.insert("outlook".to_owned(), serde_json::to_value(outlook)?);
        }
        print(&format!("{}\n", serde_json::to_string_pretty(&printed)?));
    } else {
        // Times that a pilot measured are better.
        let expected = if outlook.is_none() { Some(preview::expected(&chosen, &site)?.0) } else { None };
        print(&text(&chosen, &host, &equal, expected)?);
        print(&match (&outlook, &options.pilot) {
            (Some(outlook), Some(path)) => pilot::text(outlook, path)?,
            _ => ASK_A_PILOT.to_owned(),
        });
    }
    Ok(exit)
}

/// The precision cannot be known from the plan alone.
const ASK_A_PILOT: &str =
    "To see how precise the result will be, add --pilot RUN with an earlier run of\nthese contenders (--pilot last).\n";

fn text(plan: &TypedPlan, host: &Host, equal: &[EqualRow], expected: Option<Duration>) -> Result<String> {
    let mut text = format!("{}\n\n", wrapped(&plan.question, ""));
    text.push_str(&preview::text(plan, expected));
    write_settings(&mut text, plan)?;
    write_host(&mut text, plan, host)?;
    if !equal.is_empty() {
        write!(text, "\nEqual on both sides, as far as is known:\n{}", ahead::text(equal))?;
    }
    writeln!(text, "\nOrder of the trials, each with its number (seed {}):", plan.seed)?;
    let has_coordinates = plan.cells.iter().any(|cell| !cell.coordinates().is_empty());
    for block in preview::distinct(plan.trials.iter().map(|trial| trial.block)) {
        let trials = plan.trials.iter().filter(|trial| trial.block == block).filter_map(|trial| {
            let cell = plan.cells.iter().find(|cell| cell.id == trial.cell)?;
            let number = if has_coordinates { format!(" (cell {})", cell.id) } else { String::new() };
            Some(format!("{} {}{number}", trial.id, told(cell)))
        });
        let line = format!("  block {block}: {}", trials.collect::<Vec<_>>().join("; "));
        writeln!(text, "{}", wrapped(&line, "    "))?;
    }
    let estimate = study::estimate(plan);
    if let Some(expected) = expected {
        let mut length = preview::length(plan, expected, " in all");
        if estimate.driving_ms > 0 {
            write!(length, ", {} of it under load", span(Duration::from_millis(estimate.driving_ms)))?;
        }
        writeln!(text, "\n{}", wrapped(&length, ""))?;
    }
    write_repeats(&mut text, plan, &estimate)?;
    write_precision(&mut text, plan)?;
    Ok(text)
}

/// What all contenders have in common, then the differences between them.
fn write_settings(text: &mut String, plan: &TypedPlan) -> std::fmt::Result {
    let differing = preview::differing(plan);
    let Some(first) = plan.cells.iter().find(|cell| plan.trials.iter().any(|trial| trial.cell == cell.id)) else {
        return Ok(());
    };
    writeln!(text, "\nThe same everywhere:")?;
    for (table, value) in first.settings.tables() {
        let keys = keys_of(table, value);
        let alike = without(table, value, &differing);
        if alike.as_object().is_none_or(|table| !table.is_empty()) {
            let pairs = one_line(&alike, keys);
            writeln!(text, "{}", wrapped_pairs(&format!("  {table:<9} "), &pairs, &" ".repeat(12)))?;
        }
    }
    writeln!(text, "\nWhat differs:")?;
    // A key that only some kinds have says nothing about the others.
    let (of_some, of_all): (Vec<_>, Vec<_>) =
        differing.iter().partition(|(_, values)| values.iter().any(|(_, value)| value.is_null()));
    for (path, values) in of_all {
        let mut told: Vec<(String, Vec<&str>)> = Vec::new();
        for (contender, value) in values {
            let value = shown(path, value);
            match told.iter_mut().find(|(known, _)| *known == value) {
                Some((_, contenders)) if contenders.contains(&contender.as_str()) => {}
                Some((_, contenders)) => contenders.push(contender),
                None => told.push((value, vec![contender])),
            }
        }
        let told = told.into_iter().map(|(value, contenders)| format!("{value} ({})", contenders.join(", ")));
        writeln!(text, "{}", wrapped(&format!("  {path}: {}", told.collect::<Vec<_>>().join("; ")), "    "))?;
    }
    let mut only: Vec<(String, Vec<String>)> = Vec::new();
    for (path, values) in of_some {
        for (contender, value) in values.iter().filter(|(_, value)| !value.is_null()) {
            let told = format!("{path} = {}", shown(path, value));
            match only.iter_mut().find(|(whose, _)| whose == contender) {
                Some((_, keys)) => keys.push(told),
                None => only.push((contender.clone(), vec![told])),
            }
        }
    }
    for (contender, keys) in only {
        writeln!(text, "{}", wrapped_pairs(&format!("  only {contender}: "), &keys.join(", "), "    "))?;
    }
    if differing.is_empty() {
        writeln!(text, "  nothing")?;
    }
    Ok(())
}

/// A value at a path, with the units of a study file.
fn shown(path: &str, value: &Value) -> String {
    if value.is_null() {
        return "–".to_owned();
    }
    let (table, key) = path.split_once('.').unwrap_or(("", path));
    let name = key.rsplit('.').next().unwrap_or(key).to_owned();
    let keys = keys(table).unwrap_or_default();
    one_line(&Value::Object([(name, value.clone())].into_iter().collect()), keys)
        .split_once(" = ")
        .map_or_else(String::new, |(_, value)| value.to_owned())
}

/// The table without the differing keys.
fn without(path: &str, value: &Value, differing: &[(String, Vec<(String, Value)>)]) -> Value {
    let Value::Object(table) = value else { return value.clone() };
    let kept = table.iter().filter_map(|(key, value)| {
        let path = format!("{path}.{key}");
        let rest = without(&path, value, differing);
        let is_emptied = rest.as_object().is_some_and(|rest| rest.is_empty() && value.as_object() != Some(rest));
        let differs = differing.iter().any(|(other, _)| *other == path);
        (!differs && !is_emptied).then(|| (key.clone(), rest))
    });
    Value::Object(kept.collect())
}

/// What the plan needs from this host; equal lines appear once, with their contenders.
fn write_host(text: &mut String, plan: &TypedPlan, host: &Host) -> std::fmt::Result {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for cell in plan.typed() {
        let data = Some(cell.data_bytes()).filter(|bytes| !bytes.is_empty()).map(|bytes| {
            let sizes: Vec<_> = bytes.into_iter().map(|bytes| format!("about {}", study::roughly(bytes))).collect();
            format!("data: {} once loaded", sizes.join(", and of the exception "))
        });
        let room = study::room(cell, host).map(|room| room.to_string());
        let places = study::places(cell, host).unwrap_or_default().into_iter().map(|place| place.to_string());
        let elsewhere = study::other_host(cell);
        let elsewhere =
            elsewhere.map(|host| format!("on the host {host}, which is asked for its CPUs and its room in the run"));
        for line in data.into_iter().chain(room).chain(elsewhere).chain(places) {
            match lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, contenders)) if contenders.contains(&cell.written.contender.as_str()) => {}
                Some((_, contenders)) => contenders.push(&cell.written.contender),
                None => lines.push((line, vec![&cell.written.contender])),
            }
        }
    }
    writeln!(text, "\nOn this host:")?;
    let all = preview::distinct(plan.cells.iter().map(|cell| &cell.contender)).len();
    for (line, contenders) in lines {
        let whose = if contenders.len() == all { String::new() } else { format!("{}: ", contenders.join(", ")) };
        writeln!(text, "{}", wrapped(&format!("  {whose}{line}"), "    "))?;
    }
    Ok(())
}

/// Never breaks a line within a pair.
fn wrapped_pairs(head: &str, pairs: &str, indent: &str) -> String {
    let glued = format!("{head}{pairs}").replace(" = ", "\u{a0}=\u{a0}");
    // The head counts as one word.
    let (head, rest) = glued.split_at(head.len());
    let text = wrapped(&format!("{}{rest}", "x".repeat(head.chars().count())), indent);
    format!("{head}{}", text.get(head.chars().count()..).unwrap_or_default()).replace('\u{a0}', " ")
}

/// "vm, 3x1, 3 machines": what distinguishes a cell, and how many machines run side by side if there are several.
fn told(cell: &Cell) -> String {
    let machines = (cell.machines() > 1).then(|| format!("{} machines", cell.machines()));
    let parts = [Some(cell.contender.clone()), Some(cell.coordinates()), machines];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// How much other load the trials allow, and what that costs at most.
fn write_repeats(text: &mut String, plan: &TypedPlan, estimate: &TimeEstimate) -> std::fmt::Result {
    let mut limits = Vec::new();
    for limit in plan.typed().iter().filter_map(|cell| cell.load.other_load) {
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
    if limits.is_empty() {
        return Ok(());
    }
    writeln!(text, "{}", wrapped(&format!("with every such repeat {}", preview::length(plan, longest, " in all")), ""))
}

/// How far the plan may grow.
fn write_precision(text: &mut String, plan: &TypedPlan) -> std::fmt::Result {
    let Some(wish) = plan.precision else { return Ok(()) };
    let longest = study::estimate(&plan.grown(wish.max_blocks)).total_ms;
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

/// The keys of a cell's table: those of its kind, otherwise the study's own.
fn keys_of(table: &str, value: &Value) -> &'static [Key] {
    let kind = value.get("kind").and_then(Value::as_str).unwrap_or(table);
    keys(kind).unwrap_or_default()
}

/// Files by name and weight; their text is in the plan as JSON.
fn files(value: &Value) -> String {
    let file = |file: &Value| {
        let name = file["name"].as_str().unwrap_or_default();
        file["weight"].as_u64().map_or_else(|| format!("{name:?}"), |weight| format!("\"{name}@{weight}\""))
    };
    value.as_array().into_iter().flatten().map(file).collect::<Vec<_>>().join(", ")
}

/// A table as `key = value` pairs, with the units of a study file.
fn one_line(value: &Value, keys: &[Key]) -> String {
    let Some(table) = value.as_object() else { return value.to_string() };
    let pairs = table.iter().map(|(name, value)| {
        let holds = keys.iter().find(|key| key.name == name).map(|key| key.holds);
        let shown = match (holds, value.as_u64()) {
            (Some(Holds::Size { .. }), Some(bytes)) => Bytes(bytes).to_string(),
            (Some(Holds::Span { .. }), Some(length_ms)) => TimeSpan(length_ms).to_string(),
            (Some(Holds::Share { .. }), _) => {
                value.as_f64().map_or_else(|| value.to_string(), |part| Share(part).to_string())
            }
            (Some(Holds::Entry), _) => format!("{{ {} }}", one_line(value, keys_of(name, value))),
            (Some(Holds::Files { .. }), _) => format!("[{}]", files(value)),
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
        assert_eq!(
            shown("machine", serde_json::json!({ "exception": { "cpu_quota": 0.5 } })),
            "exception = { cpu_quota = 50 % }"
        );
        let own = serde_json::json!({ "exception": { "workload": { "kind": "sysbench-oltp", "think": 2_000 } } });
        assert_eq!(shown("machine", own), "exception = { workload = { kind = \"sysbench-oltp\", think = 2 s } }");
        let sqlite = serde_json::json!({ "kind": "sqlite", "busy_timeout": 1000 });
        assert!(!keys_of("engine", &sqlite).is_empty());
    }
}
