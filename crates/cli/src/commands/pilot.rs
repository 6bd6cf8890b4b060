//! `bakeoff plan --pilot`: what a planned study will be able to show, judging by an earlier run of the same contenders.

use crate::arguments::PlanOptions;
use crate::commands::compare::MADE_UP;
use crate::display::{span, wrapped};
use crate::exit::EndedWith;
use crate::run_name;
use analysis::pilot::{BlocksNeeded, Forecast, Outlook, Range, outlook};
use anyhow::{Context, Result};
use record::folder::RunFolder;
use record::plan::Plan;
use record::run::Run;
use report::format::{self, counted};
use serde_json::{Map, Value};
use settings::Share;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// `None` unless a pilot is named. A precision on the command line overrides the study's.
pub fn outlook_of(options: &PlanOptions, plan: &Plan) -> Result<Option<Outlook>> {
    let Some(named) = &options.pilot else { return Ok(None) };
    let path = &run_name::resolve(named)
        .map_err(|error| EndedWith::bad_input(format!("--pilot {}: {error}", named.display())))?;
    let wished = match &options.precision {
        Some(text) => Some(precision(text)?),
        None => plan.precision.map(|wish| wish.half_width),
    };
    let bad = |error: &dyn std::fmt::Display| EndedWith::bad_input(format!("--pilot {}: {error}", path.display()));
    RunFolder::open(path).map_err(|error| bad(&format!("{error}; name a run folder")))?;
    let pilot = Run::open(path).context("reading the pilot")?;
    if pilot.plan.rehearsed {
        return Err(bad(&MADE_UP).into());
    }
    Ok(Some(outlook(plan, &pilot, wished).map_err(|error| bad(&error))?))
}

/// Reads it by the rules of a study.
fn precision(text: &str) -> Result<f64> {
    let key = study::STUDY.iter().find(|key| key.name == "precision").copied();
    // A bare number is in per cent, since no other unit makes sense.
    let text = if text.trim().ends_with('%') { text.to_owned() } else { format!("{text}%") };
    let table = Map::from_iter([("precision".to_owned(), Value::from(text))]);
    let checked = settings::check_written(&table, key.as_slice()).map_err(|problems| {
        let told: Vec<String> = problems.iter().map(|problem| format!("--{problem}")).collect();
        EndedWith::bad_input(told.join("\n"))
    })?;
    checked.get("precision").and_then(Value::as_f64).context("a precision is a number")
}

pub fn text(outlook: &Outlook, pilot: &Path) -> Result<String, std::fmt::Error> {
    let mut text = format!("\nHow precise the result will be, judged by {}:\n", pilot.display());
    for forecast in &outlook.comparisons {
        write_forecast(&mut text, outlook, forecast)?;
    }
    let block = span(Duration::from_millis(outlook.block_ms));
    let all = span(Duration::from_millis(outlook.block_ms.saturating_mul(outlook.blocks.into())));
    writeln!(
        text,
        "  A block took {block} in that run: {} take about {all}.",
        counted(outlook.blocks.into(), "block")
    )?;
    if !outlook.same_windows {
        writeln!(text, "  That run had another warm-up or measured time; with a shorter one, blocks\n  differ more.")?;
    }
    writeln!(
        text,
        "  In brackets: 95 % confidence intervals, since that run had few blocks. A less quiet host\n  gives wider ones."
    )?;
    Ok(text)
}

fn write_forecast(text: &mut String, outlook: &Outlook, forecast: &Forecast) -> std::fmt::Result {
    let Forecast { contender, baseline, pilot_blocks, .. } = forecast;
    let place = if forecast.coordinates.is_empty() { String::new() } else { format!(" at {}", forecast.coordinates) };
    let spread = match forecast.spread.bounds.known() {
        Some((low, high)) => ranged(Range { point: forecast.spread.point, low, high }),
        None => percent(forecast.spread.point),
    };
    let mut sentences = vec![format!(
        "{contender} against {baseline}{place}: the ratio differed by about {spread} between its {}.",
        counted(*pilot_blocks as u64, "block")
    )];
    let blocks = counted(outlook.blocks.into(), "block");
    match (forecast.half_width, forecast.smallest_effect) {
        (Some(half_width), Some(effect)) => {
            sentences.push(format!("{blocks} will show the ratio to about ±{}", ranged(half_width)));
            sentences.push(format!("and will probably miss a difference smaller than {}.", ranged(effect)));
        }
        _ => sentences.push(format!("{blocks} are too few for an interval: take 3 or more.")),
    }
    if let Some((wished, needed)) = outlook.wished_half_width.zip(forecast.blocks_needed) {
        sentences.push(needed_sentence(outlook.block_ms, wished, needed));
    }
    writeln!(text, "{}", wrapped(&format!("  {}", sentences.join(" ")), "  "))
}

fn needed_sentence(block_ms: u64, wished: f64, needed: BlocksNeeded) -> String {
    let count =
        |blocks: Option<u32>| blocks.map_or_else(|| "more than can be run".to_owned(), |blocks| blocks.to_string());
    let time = |blocks: Option<u32>| {
        let length = blocks.map(|blocks| span(Duration::from_millis(block_ms.saturating_mul(blocks.into()))));
        length.map(|length| format!(", which take about {length}")).unwrap_or_default()
    };
    let BlocksNeeded { point, low, high } = needed;
    format!("±{} needs {} blocks ({} to {}){}.", Share(wished), count(point), count(low), count(high), time(point))
}

/// "1.16 % (0.796 to 2.13 %)".
fn ranged(range: Range) -> String {
    let Range { point, low, high } = range;
    format!("{} ({} to {})", percent(point), format::ratio(low * 100.0), percent(high))
}

fn percent(share: f64) -> String {
    format!("{} %", format::ratio(share * 100.0))
}
