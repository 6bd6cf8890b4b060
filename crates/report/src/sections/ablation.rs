//! One change at a time: what each did to throughput, what that cost in response times, and whether it was in force.

use super::headed;
use crate::document::Block;
use crate::format::{Style, counted, joined};
use crate::measures::{self, compare};
use crate::sentence::AnswerParts;
use crate::table::{Table, TableCell, TableOf, Tone, said};
use analysis::ablation::{AblationResult, Effect, ReadBack};
use analysis::compare::{COMPARED_QUANTILES, Comparison, RatioVerdict, headline};
use analysis::summary::Analysis;
use record::ablation::Direction;
use serde_json::Value;

/// More reported facts than these are in the appendix of what ran.
const READ_BACK_MOST: usize = 3;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let Some(ablation) = &analysis.ablation else { return Vec::new() };
    let skipped = ablation.skipped.iter().map(|one| format!("{} was skipped: {}.", one.change, one.why));
    let found = table(analysis, ablation).map(Block::Table).into_iter().chain(Block::list(skipped));
    let note = format!(
        "{} The greatest effect comes first. A change is said to make a difference only if that is shown among as many changes: \
         with no effect at all, at most one run in twenty names any change (Holm's method). Each interval is for itself.",
        match ablation.direction {
            Direction::AddOne =>
                format!("Each row is {} with this one change, against {}.", ablation.of, ablation.against),
            Direction::LeaveOneOut => format!("Each row is {} without this one change, against {0}.", ablation.against),
        }
    );
    headed("One change at a time", found, note)
}

/// A row for each change.
fn table(analysis: &Analysis, ablation: &AblationResult) -> Option<Table> {
    let changes: Vec<(&Effect, &Comparison)> = compared(analysis, ablation).collect();
    let time = changes.iter().find_map(|(_, own)| response(own)).unwrap_or_default();
    let p95 = time.split_once('/').map_or_else(|| "p95".to_owned(), |(_, kind)| format!("p95 of {kind}"));
    let caption = "What each change did, and what was read back from the platform, the system inside and the server";
    TableOf::new(&changes)
        .text("change", |(effect, _)| TableCell::text(&effect.change).detail(&effect.coordinates))
        .text("sets", |(effect, _)| TableCell::text(set(effect)))
        .number("throughput", |(_, own)| compare(own.throughput(), Style::EFFECT))
        .number(p95, |(_, own)| compare(response(own).and_then(|id| own.contrast(&id)), Style::EFFECT))
        .text("makes a difference", |(_, own)| verdict(own.verdict))
        .text("read back", |(effect, _)| read_back(&effect.read_back))
        .table("ablation", caption)
}

/// The same for the terminal, without what a change sets and what was read back.
pub fn short(analysis: &Analysis) -> Option<Table> {
    const KEPT: [usize; 4] = [0, 2, 3, 4];
    let whole = table(analysis, analysis.ablation.as_ref()?)?;
    let columns = KEPT.map(|at| whole.columns[at].clone()).to_vec();
    let rows = whole.rows.iter().map(|row| KEPT.map(|at| row[at].clone()).to_vec());
    Some(Table { rows: rows.collect(), columns, caption: String::new(), ..whole })
}

/// The 95th percentile of what throughput counts, or of the first kind of that.
fn response(comparison: &Comparison) -> Option<String> {
    let at = COMPARED_QUANTILES.iter().position(|quantile| *quantile > 0.9)?;
    headline(&comparison.metric.counted).into_iter().nth(1 + at)
}

fn set(effect: &Effect) -> String {
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    joined(effect.set.iter().map(|(key, own)| format!("{key} = {}", value(own))), ", ")
}

fn verdict(verdict: RatioVerdict) -> TableCell {
    match verdict {
        other if other.is_difference() => TableCell::verdict("yes", Tone::Marked),
        RatioVerdict::Equivalent => TableCell::verdict("no: equivalent", Tone::Good),
        RatioVerdict::Undecided => TableCell::verdict("not shown", Tone::Muted),
        RatioVerdict::TooFewTrials => TableCell::verdict("too few blocks", Tone::Muted),
        RatioVerdict::WrongData => TableCell::verdict("wrong data", Tone::Bad),
        _ => TableCell::verdict("not measured", Tone::Bad),
    }
}

/// "aio: threads, now native". A change that nothing reports may not be in force.
fn read_back(all: &[ReadBack]) -> TableCell {
    if all.is_empty() {
        return TableCell::text("nothing").tone(Tone::Marked);
    }
    let of = |side: &Option<String>| side.clone().unwrap_or_else(|| "absent".to_owned());
    let one = |one: &ReadBack| format!("{}: {} instead of {}", one.name, of(&one.own), of(&one.against));
    let shown = joined(all.iter().take(READ_BACK_MOST).map(one), "; ");
    let more = all.len().saturating_sub(READ_BACK_MOST);
    TableCell::text(shown).detail(if more == 0 { String::new() } else { format!("and {more} more") })
}

/// The answer at the point of one effect, over all effects there.
pub fn answer(analysis: &Analysis, effect: usize) -> AnswerParts {
    let Some(ablation) = &analysis.ablation else { return AnswerParts::default() };
    let place = &ablation.effects[effect].coordinates;
    let own: Vec<(&Effect, &Comparison)> =
        compared(analysis, ablation).filter(|(effect, _)| effect.coordinates == *place).collect();
    let emulated = own.iter().any(|(_, comparison)| !comparison.emulated.is_empty());
    let but = if emulated { "The CPU was emulated in software: on KVM the changes may do something else." } else { "" };
    AnswerParts { place: place.clone(), says: says(ablation, &own), but: but.to_owned(), ..AnswerParts::default() }
}

/// Effects with their comparisons, the greatest first.
fn compared<'a>(
    analysis: &'a Analysis,
    ablation: &'a AblationResult,
) -> impl Iterator<Item = (&'a Effect, &'a Comparison)> {
    ablation.effects.iter().filter_map(|effect| Some((effect, measures::compared(analysis, effect.cell)?)))
}

/// "Of 6 changes to vm, 1 made a difference: disk limit −21 % (−23 to −19 %). For the rest no difference is shown."
fn says(ablation: &AblationResult, own: &[(&Effect, &Comparison)]) -> String {
    let found: Vec<String> = own
        .iter()
        .filter(|(_, comparison)| comparison.verdict.is_difference())
        .filter_map(|(effect, comparison)| {
            let ratio = comparison.throughput()?;
            Some(format!("{} {}", effect.change, said(&ratio.estimate, Style::EFFECT)))
        })
        .collect();
    let changes = counted(own.len() as u64, "change");
    let what = match ablation.direction {
        Direction::AddOne => format!("Of {changes} to {}", ablation.of),
        Direction::LeaveOneOut => format!("Of {changes} left out of {}, one at a time", ablation.against),
    };
    if found.is_empty() {
        return format!("{what}, none is shown to make a difference to throughput.");
    }
    let rest = if found.len() < own.len() { " For the rest no difference is shown." } else { "" };
    format!("{what}, {} made a difference to throughput: {}.{rest}", found.len(), found.join("; "))
}
