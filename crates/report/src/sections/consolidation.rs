//! Machines side by side: what the slowest gets, and why they do not all get the same. Figures are in tables, conclusions in sentences.

use super::attribution::{self, tone};
use super::neighbour::has_scores;
use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Style, filled, joined, who};
use crate::measures::{level, of_cell, style};
use crate::table::{Table, TableCell, TableOf, Tone, said};
use crate::{figures, reasons};
use analysis::consolidation::Consolidation;
use analysis::consolidation::alone::Efficiency;
use analysis::consolidation::chance::AgainstChance;
use analysis::consolidation::slots::{HELD_BACK, StartSlot};
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use analysis::measures::machines::{APART, FAIRNESS, MEAN, SUM};
use analysis::summary::Analysis;

const MEASURES: [(&str, &str); 4] = [("sum", SUM), ("mean", MEAN), ("max / min", APART), ("fairness, %", FAIRNESS)];

/// The reason for figures that need one machine alone.
const NONE_ALONE: &str = "no cell has one such machine alone";
const NONE_OF_BASELINE: &str = "it is the baseline, or the study has no single machine of the baseline under this load";
const NONE_TO_COMPARE: &str = "no cell has one machine to compare with";
const NO_SCORES: &str = "no trial has scores";

const NOTE: &str = "The minimum of a trial is what its slowest machine did in the measured window; figures are over blocks, with 95 % confidence intervals by \
     Student's t. Fairness is Jain's index: 1 if all machines did the same, one over their number if one did everything. “Of one alone” is \
     paired by block with the cell in which one such machine runs by itself. “Of the mean of the others” has intervals that hold for \
     all machines of a cell together; a machine is held back if the whole of it is below 0.95. “Minimum by chance” is what as many equal \
     machines would show that vary as these do, with the range in which it would lie in 95 of 100 runs.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let found: Vec<&Consolidation> = analysis.consolidation.iter().filter(|one| has_scores(one)).collect();
    let Some(first) = found.first() else { return Vec::new() };
    let scores = scores(analysis, &found, &first.metric.unit).map(Block::Table);
    let figure = figures::consolidation::figure(analysis, &found).map(Block::Figure);
    let said = Block::list(found.iter().flat_map(|one| sentences(one)));
    let blocks = [scores, figure, said, machines(&found).map(Block::Table)].into_iter().flatten();
    headed("Consolidation", blocks.chain(attribution::blocks(&found)), NOTE)
}

/// The share of the worst-off machine, and the machines that are held back.
pub fn answer(one: &Consolidation) -> String {
    let (who, machines) = (who(&one.contender, &one.coordinates), one.machines);
    let Some(minimum) = &one.minimum else {
        return format!("{who}: no trial has scores of machines side by side.");
    };
    // Of two machines, one may be there only to disturb the other.
    let whose = match machines {
        1 => "the one measured machine".to_owned(),
        _ => format!("the slowest of {machines} machines"),
    };
    let did = format!("{who}: {whose} did {}.", said(minimum, Style::quantity(&one.metric.name)));
    let alone = one.minimum_of_alone.as_ref();
    let alone = alone.map(|kept| {
        let is_open = kept.bounds.contain(1.0) == Some(true);
        let undecided = if is_open { "undecided, " } else { "" };
        format!("Against one machine alone the change is {undecided}{}.", said(kept, Style::EFFECT))
    });
    let over_baseline = one.of_baseline.as_ref().map(|reference| {
        let each = one.slots.iter().filter_map(|slot| Some(said(slot.of_baseline.as_ref()?, Style::EFFECT)));
        let of = format::who(&reference.contender, &reference.coordinates);
        format!("Against one machine of {of}, the throughput of the machines changed: {}.", format::listed(each))
    });
    let held_back = one.slots.iter().filter(|slot| slot.held_back).filter_map(standing);
    joined([did].into_iter().chain(alone).chain(over_baseline).chain(held_back), " ")
}

/// Sentences beside the tables.
fn sentences(one: &Consolidation) -> Vec<String> {
    let shares = if one.slots.len() > 1 { shares(one) } else { String::new() };
    let mut known = attribution::known(one);
    known.retain(|known| !shares.contains(known));
    let causes = known.into_iter().chain(attribution::unknown(one)).chain(one.reasons.iter().map(reasons::of_machine));
    let causes = causes.map(|sentence| format!("{}: {sentence}", who(&one.contender, &one.coordinates)));
    Some(shares).filter(|shares| !shares.is_empty()).into_iter().chain(causes).collect()
}

/// Whether machines of one shape get equal shares.
pub fn shares(one: &Consolidation) -> String {
    let (who, machines, mut apart) = (who(&one.contender, &one.coordinates), one.slots.len(), standings(&one.slots));
    if apart.is_empty() {
        // Machines that change places get the same in the end, and yet no place has an equal share.
        apart = attribution::known(one);
    }
    if !apart.is_empty() {
        return format!("{who}: shares are unequal. {}", apart.join(" "));
    }
    let Some((low, high)) = one.shares_within() else {
        return format!("{who}: too few blocks to say whether {machines} machines got equal shares.");
    };
    let ends = format!("within {} of the mean of the other machines", format::effect_bounds(1.0, low, high));
    if low >= 1.0 - HELD_BACK && high <= 1.0 + HELD_BACK {
        return format!("{who}: {machines} machines got equal shares, each {ends}.");
    }
    format!("{who}: undecided whether {machines} machines got equal shares. Each machine lies {ends}.")
}

/// Machines that surely get less. If there are none, those that get more: beside a straggler, being ahead is nothing new.
fn standings(slots: &[StartSlot]) -> Vec<String> {
    let at = |position| slots.iter().filter(move |slot| slot.position == position).filter_map(standing);
    let less: Vec<String> = at(Position::Below).collect();
    if less.is_empty() { at(Position::Above).collect() } else { less }
}

fn standing(slot: &StartSlot) -> Option<String> {
    let figure = said(slot.of_others.as_ref()?, Style::EFFECT);
    let end = match slot.position {
        Position::Below if slot.held_back => "it is a straggler",
        Position::Below => "it is a little behind",
        Position::Above => "it is ahead",
        Position::Across | Position::Unknown => return None,
    };
    Some(format!("Machine {} did {figure} against the mean of the others: {end}.", slot.machine))
}

fn scores(analysis: &Analysis, found: &[&Consolidation], unit: &str) -> Option<Table> {
    let measured = |one: &Consolidation, id: &str| {
        let cell = of_cell(analysis, one.cell);
        let measure = analysis.observations.measure(id).map(|measured| &measured.measure);
        let level = cell.zip(measure).map(|(cell, measure)| level(analysis, cell, id, style(&measure.unit)));
        level.unwrap_or_else(|| TableCell::missing(NO_SCORES))
    };
    let rate = Style::quantity(unit);
    let efficiency = |one: &Consolidation| one.efficiency.as_ref().map(|found| found.value.clone());
    TableOf::new(found)
        .text("contender", |one| contender(&one.contender, &one.coordinates))
        .text("machines", |one| TableCell::count(one.machines).detail(size(one)))
        .number("minimum", |one| TableCell::estimate(one.minimum.as_ref(), rate, NO_SCORES))
        .number("of one alone", |one| TableCell::estimate(one.minimum_of_alone.as_ref(), Style::EFFECT, NONE_ALONE))
        .numbers(MEASURES, |(title, _)| (*title).to_owned(), |(_, id), one| measured(one, id))
        .number("efficiency", |one| TableCell::estimate(efficiency(one).as_ref(), Style::RATIO, NONE_TO_COMPARE))
        .text("efficiency over", |one| reference(one.efficiency.as_ref()))
        .number("minimum by chance", |one| {
            TableCell::estimate(one.chance.as_ref().map(|chance| &chance.expected), rate, "too few trials with scores")
        })
        .text("it is", |one| against_chance(one.chance.as_ref()))
        .table("scores", format!("Scores, in {unit}"))
}

/// "2 vCPUs, 2 GiB each".
fn size(one: &Consolidation) -> String {
    let vcpus = one.vcpus.map(|vcpus| format::counted(vcpus, "vCPU"));
    let parts = filled(vcpus.into_iter().chain(one.memory_bytes.map(format::bytes)), ", ");
    format::within("", &parts, " each")
}

fn reference(found: Option<&Efficiency>) -> TableCell {
    let Some(found) = found else { return TableCell::missing(NONE_TO_COMPARE) };
    let size = if found.same_total { "of the same size in total" } else { "of another size in total" };
    TableCell::text(who(&found.reference.contender, &found.reference.coordinates)).detail(size)
}

fn against_chance(chance: Option<&AgainstChance>) -> TableCell {
    match chance.map(|chance| chance.minimum) {
        Some(Position::Below) => TableCell::verdict("lower than by chance", Tone::Marked),
        Some(Position::Across) => TableCell::verdict("as by chance", Tone::Plain),
        Some(Position::Above) => TableCell::verdict("higher than by chance", Tone::Plain),
        Some(Position::Unknown) | None => TableCell::missing("too few blocks"),
    }
}

fn machines(found: &[&Consolidation]) -> Option<Table> {
    let slots: Vec<(&Consolidation, &StartSlot)> =
        found.iter().flat_map(|one| one.slots.iter().map(move |slot| (*one, slot))).collect();
    let figure = |found: Option<&Estimate>, style| TableCell::estimate(found, style, NO_SCORES);
    let over = |found: Option<&Estimate>, why| TableCell::estimate(found, Style::EFFECT, why);
    TableOf::new(&slots)
        .text("contender", |(one, _)| contender(&one.contender, &one.coordinates))
        .number("machine", |(_, slot)| TableCell::name(slot.machine))
        .number("throughput", |(one, slot)| figure(slot.throughput.as_ref(), Style::quantity(&one.metric.unit)))
        .number("share of the sum", |(_, slot)| figure(slot.share.as_ref(), Style::RATIO))
        .number("of the mean of the others", |(_, slot)| {
            figure(slot.of_others.as_ref(), Style::EFFECT).tone(tone(slot.of_others.as_ref()))
        })
        .number("of one alone", |(_, slot)| over(slot.of_alone.as_ref(), NONE_ALONE))
        .number("of one of the baseline", |(_, slot)| over(slot.of_baseline.as_ref(), NONE_OF_BASELINE))
        .text("least in", |(one, slot)| TableCell::part(slot.least_in, one.trials.len(), "trials"))
        .table("machines", "Each machine by itself")
}
