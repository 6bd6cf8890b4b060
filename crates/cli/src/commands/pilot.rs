//! `bakeoff plan --pilot`: what a planned study will be able to tell, judged by an earlier run of the same contenders.

use crate::arguments::PlanOptions;
use crate::commands::compare::MADE_UP;
use crate::display::span;
use crate::exit::Ended;
use analysis::pilot::{BlocksNeeded, Forecast, Outlook, Range, outlook};
use anyhow::{Context, Result};
use record::folder::RunFolder;
use record::plan::Plan;
use record::run::Run;
use report::format;
use serde_json::{Map, Value};
use settings::Share;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Nothing unless a pilot is named. A precision on the command line goes before the study's.
pub fn outlook_of(options: &PlanOptions, plan: &Plan) -> Result<Option<Outlook>> {
    let Some(path) = &options.pilot else { return Ok(None) };
    let wished = match &options.precision {
        Some(text) => Some(precision(text)?),
        None => plan.precision.map(|wish| wish.half_width),
    };
    let bad = |error: &dyn std::fmt::Display| Ended::bad_input(format!("--pilot {}: {error}", path.display()));
    RunFolder::open(path).map_err(|error| bad(&format!("{error}; name a run folder")))?;
    let pilot = Run::open(path).context("reading the pilot")?;
    if pilot.plan.rehearsed {
        return Err(bad(&MADE_UP).into());
    }
    Ok(Some(outlook(plan, &pilot, wished).map_err(|error| bad(&error))?))
}

/// Read as a study's is.
fn precision(text: &str) -> Result<f64> {
    let key = study::STUDY.iter().find(|key| key.name == "precision").copied();
    let table = Map::from_iter([("precision".to_owned(), Value::from(text))]);
    let checked = settings::check_written(&table, key.as_slice()).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("--{problem}")).collect();
        Ended::bad_input(told.join("\n"))
    })?;
    checked.get("precision").and_then(Value::as_f64).context("a precision is a number")
}

pub fn text(outlook: &Outlook, pilot: &Path) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "\nby the pilot {}:", pilot.display())?;
    for forecast in &outlook.comparisons {
        write_forecast(&mut text, outlook, forecast)?;
    }
    let block = span(Duration::from_millis(outlook.block_ms));
    writeln!(text, "  a block takes about {block}, by the pilot's trials (a plain reading)")?;
    if !outlook.same_windows {
        writeln!(text, "  the pilot's warm-up or measured window is of another length: shorter ones spread more")?;
    }
    writeln!(text, "  in brackets: what the pilot's few blocks leave open, at 95 %; another day may be less quiet")?;
    Ok(text)
}

fn write_forecast(text: &mut String, outlook: &Outlook, forecast: &Forecast) -> std::fmt::Result {
    let Forecast { contender, baseline, pilot_blocks, .. } = forecast;
    let place = if forecast.coordinates.is_empty() { String::new() } else { format!(" at {}", forecast.coordinates) };
    let spread = match forecast.spread.bounds.known() {
        Some((low, high)) => ranged(Range { point: forecast.spread.point, low, high }),
        None => percent(forecast.spread.point),
    };
    writeln!(
        text,
        "  {contender} against {baseline}{place}: in its {pilot_blocks} blocks the log ratio spreads by {spread}"
    )?;
    let blocks = outlook.blocks;
    match (forecast.half_width, forecast.smallest_effect) {
        (Some(half_width), Some(effect)) => {
            writeln!(text, "    {blocks} blocks will know the ratio to within ±{}", ranged(half_width))?;
            writeln!(text, "    and find a difference of {} in four runs of five", ranged(effect))?;
        }
        _ => writeln!(text, "    {blocks} blocks are too few for an interval")?,
    }
    let wished = outlook.wished_half_width.zip(forecast.blocks_needed);
    wished.map_or(Ok(()), |(wished, needed)| write_needed(text, outlook.block_ms, wished, needed))
}

fn write_needed(text: &mut String, block_ms: u64, wished: f64, needed: BlocksNeeded) -> std::fmt::Result {
    let count =
        |blocks: Option<u32>| blocks.map_or_else(|| "more than anybody runs".to_owned(), |blocks| blocks.to_string());
    let time = |blocks: Option<u32>| {
        let length = blocks.map(|blocks| span(Duration::from_millis(block_ms.saturating_mul(blocks.into()))));
        length.unwrap_or_else(|| "for ever".to_owned())
    };
    let BlocksNeeded { point, low, high } = needed;
    writeln!(
        text,
        "    ±{} needs {} blocks ({} to {}), about {} ({} to {})",
        Share(wished),
        count(point),
        count(low),
        count(high),
        time(point),
        time(low),
        time(high)
    )
}

/// "1.16 % (0.796 to 2.13 %)".
fn ranged(range: Range) -> String {
    let Range { point, low, high } = range;
    format!("{} ({} to {})", percent(point), format::ratio(low * 100.0), percent(high))
}

fn percent(share: f64) -> String {
    format!("{} %", format::ratio(share * 100.0))
}
