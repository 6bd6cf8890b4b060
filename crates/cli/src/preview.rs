//! What a study measures and how long that takes, in lines for people, before anything starts.

use crate::display::{span, wrapped};
use engines::programs::VERSION;
use record::plan::{Cell, Plan};
use record::settings::at;
use report::format::counted;
use serde_json::Value;
use std::time::Duration;
use study::{OfferedWork, TypedPlan};
use trial::site::Site;

/// Between two parts of a line.
const DOT: &str = " · ";

/// "quickstart: native against vm · sqlite, order-entry, 77.0 MiB of data, 2 clients", and how many trials of which length.
pub fn text(plan: &TypedPlan, expected: Option<Duration>) -> String {
    let mut extent = vec![trials(plan), windows(plan)];
    extent.extend(expected.map(|expected| length(plan, expected, "")));
    format!(
        "{}\n{}\n{}",
        wrapped(&format!("{}: {}{DOT}{}", plan.study, contenders(plan), work(plan)), "  "),
        wrapped(&extent.join(DOT), "  "),
        skipped_changes(plan)
    )
}

/// A line for each change of an ablation that its platform cannot make.
fn skipped_changes(plan: &Plan) -> String {
    let skipped = plan.ablation.iter().flat_map(|ablation| &ablation.changes).filter_map(|change| {
        let why = change.skipped.as_ref()?;
        Some(format!("{}\n", wrapped(&format!("skipped: {}, because {why}", change.name), "  ")))
    });
    skipped.collect()
}

/// The same for audits without trials; the plan has a trial of each cell to be audited.
pub fn of_audits(plan: &TypedPlan) -> String {
    let drive = plan.durability.as_ref().map(|audit| Duration::from_millis(audit.drive_ms));
    let extent = format!(
        "audits of durability: {}, each driven for {}",
        counted(plan.trials.len() as u64, "contender"),
        span(drive.unwrap_or_default())
    );
    format!(
        "{}\n{}\n",
        wrapped(&format!("{}: {}{DOT}{}", plan.study, contenders(plan), work(plan)), "  "),
        wrapped(&extent, "  ")
    )
}

/// How long these trials will take, including what has to be made first; what is in the cache costs nothing.
pub fn expected(plan: &TypedPlan, site: &Site) -> anyhow::Result<(Duration, Duration)> {
    let estimate = study::estimate(plan);
    let preparing = Duration::from_millis(trial::room::preparing_ms(plan, site)?);
    Ok((Duration::from_millis(estimate.total_ms - estimate.preparing_ms) + preparing, preparing))
}

fn planned(plan: &TypedPlan) -> impl Iterator<Item = &Cell> {
    plan.planned().map(|cell| &cell.written)
}

fn contenders(plan: &TypedPlan) -> String {
    let (baselines, others): (Vec<&Cell>, Vec<&Cell>) = planned(plan).partition(|cell| cell.baseline);
    let names = |cells: Vec<&Cell>| distinct(cells.into_iter().map(|cell| cell.contender.clone()));
    let (baselines, others) = (names(baselines), names(others));
    match (baselines.is_empty(), others.is_empty()) {
        (false, false) => format!("{} against {}", others.join(" and "), baselines.join(" and ")),
        _ => [baselines, others].concat().join(" and "),
    }
}

/// Parts of the work that all cells share appear once; where they differ, all are listed.
fn work(plan: &TypedPlan) -> String {
    let kind = |table: &'static str| {
        let of_cell = move |cell: &Cell| {
            let table = at(cell.settings.tables(), table)?;
            let words = ["kind", VERSION].map(|key| table.get(key).and_then(Value::as_str));
            words[0].map(|kind| [kind, words[1].unwrap_or_default()].join(" ").trim_end().to_owned())
        };
        distinct(planned(plan).filter_map(of_cell)).join(" or ")
    };
    let data = plan.planned().filter_map(|cell| cell.data_bytes().first().copied());
    let data = distinct(data.map(|bytes| format!("{} of data", study::roughly(bytes)))).join(" or ");
    let offered = distinct(plan.planned().map(|cell| offered(cell.load.offered))).join(" or ");
    let parts = [kind("engine"), kind("workload"), data, offered];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn offered(offered: OfferedWork) -> String {
    match offered {
        OfferedWork::Paced(driver::plan::Pacing::Clients { clients }) => counted(clients.into(), "client"),
        OfferedWork::Paced(driver::plan::Pacing::Terminals { terminals, .. }) => counted(terminals.into(), "terminal"),
        OfferedWork::Paced(driver::plan::Pacing::Arrivals { per_second, .. }) => {
            format!("{per_second} arrivals a second")
        }
        OfferedWork::Peak(limits) => format!("the best number of clients up to {}", limits.max_clients),
        OfferedWork::OwnPhases => "in phases of its own".to_owned(),
    }
}

fn trials(plan: &Plan) -> String {
    let blocks = distinct(plan.trials.iter().map(|trial| trial.block)).len();
    let trials = plan.trials.len();
    match blocks {
        0 => "no trials".to_owned(),
        _ if trials.is_multiple_of(blocks) => {
            format!("{} of {}", counted(blocks as u64, "block"), counted((trials / blocks) as u64, "trial"))
        }
        _ => format!("{} in {}", counted(trials as u64, "trial"), counted(blocks as u64, "block")),
    }
}

fn windows(plan: &TypedPlan) -> String {
    let loads = plan.planned().map(|cell| &cell.load);
    let windows = distinct(loads.map(|load| {
        if load.offered == OfferedWork::OwnPhases {
            return "as long as its queries take".to_owned();
        }
        let (warmup, measure) = (Duration::from_millis(load.warmup_ms.0), Duration::from_millis(load.measure_ms.0));
        match load.transactions {
            Some(count) => format!("{}, at most {}", counted(count.into(), "transaction"), span(measure)),
            None => format!("{} warm-up + {} measured", span(warmup), span(measure)),
        }
    }));
    format!("each {}", windows.join(" or "))
}

/// "about 5 min in all". A load by count may end earlier than its window; how long queries take is not known in advance.
pub fn length(plan: &TypedPlan, expected: Duration, in_all: &str) -> String {
    let has = |is: fn(&study::Load) -> bool| plan.planned().any(|cell| is(&cell.load));
    let expected = span(expected);
    if has(|load| load.offered == OfferedWork::OwnPhases) {
        return format!("about {expected}{in_all}, plus the time of the queries, which is not known in advance");
    }
    let at_most = if has(|load| load.transactions.is_some()) { "at most " } else { "" };
    format!("{at_most}about {expected}{in_all}")
}

/// Each value once, in order of first use.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Settings that differ between planned cells, by path, with each contender's value.
pub fn differing(plan: &TypedPlan) -> Vec<(String, Vec<(String, Value)>)> {
    let cells: Vec<&Cell> = planned(plan).collect();
    let mut paths: Vec<String> = Vec::new();
    for cell in &cells {
        for path in leaves("", &Value::Object(cell.settings.tables().clone())) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    let values = |path: &String| -> Vec<(String, Value)> {
        let value = |cell: &&Cell| at(cell.settings.tables(), path).cloned().unwrap_or(Value::Null);
        distinct(cells.iter().map(|cell| (cell.contender.clone(), value(cell))))
    };
    let rows = paths.into_iter().map(|path| (values(&path), path));
    let differs = |values: &[(String, Value)]| distinct(values.iter().map(|(_, value)| value)).len() > 1;
    rows.filter(|(values, _)| differs(values)).map(|(values, path)| (path, values)).collect()
}

/// Dotted paths of everything that is not a table.
fn leaves(above: &str, value: &Value) -> Vec<String> {
    let Value::Object(table) = value else { return vec![above.to_owned()] };
    let below = table.iter().flat_map(|(key, value)| {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        leaves(&path, value)
    });
    below.collect()
}
