//! What machines side by side get, in sentences: for the answer, and for the section with the figures.

use crate::{attribution, format, missing, reasons};
use analysis::consolidation::Consolidation;
use analysis::consolidation::alone::Efficiency;
use analysis::consolidation::chance::AgainstChance;
use analysis::consolidation::skew::{Apart, TrialSkew};
use analysis::consolidation::slots::{HELD_BACK, Slot};
use analysis::contrast::Position;

/// What the worst-off machine gets.
pub fn headline(one: &Consolidation) -> String {
    let (who, machines) = (who(one), one.machines);
    let Some(minimum) = &one.minimum else {
        return format!("{who}: no trial has scores of machines side by side.");
    };
    let figure = format::estimate_in(minimum, format::quantity, &one.metric.name);
    // Of two machines, one may be there only to disturb the other.
    let whose = match machines {
        1 => "the one measured machine".to_owned(),
        _ => format!("the slowest of {machines} machines"),
    };
    let change = one.minimum_of_alone.as_ref().map(|kept| {
        let change = format::effect_of(kept);
        format!("Against one machine alone that is {change}.")
    });
    let sentences = std::iter::once(format!("{who}: {whose} did {figure}.")).chain(change);
    sentences.chain(over_baseline(one)).collect::<Vec<_>>().join(" ")
}

/// The headline, and the machines that are held back.
pub fn answer(one: &Consolidation) -> String {
    let held_back = one.slots.iter().filter(|slot| slot.held_back).filter_map(standing);
    std::iter::once(headline(one)).chain(held_back).collect::<Vec<_>>().join(" ")
}

/// "Each over one machine of native at 1x1: 1/2.78 (1/2.91 to 1/2.65) and 1/4.17 (1/4.30 to 1/4.05)."
fn over_baseline(one: &Consolidation) -> Option<String> {
    let reference = one.of_baseline.as_ref()?;
    let each = one.slots.iter().filter_map(|slot| Some(format::effect_of(slot.of_baseline.as_ref()?)));
    let place = crate::format::at(&reference.coordinates);
    Some(format!("Each over one machine of {}{place}: {}.", reference.contender, format::listed(each)))
}

/// Everything else that the scores show, each in a sentence.
pub fn sentences(one: &Consolidation) -> Vec<String> {
    let mut said = attribution::sentences(one);
    said.extend(one.reasons.iter().map(reasons::of_machine));
    said.extend(one.chance.as_ref().map(|chance| against_chance(one, chance)));
    said.extend(one.efficiency.as_ref().map(|efficiency| together(one, efficiency)));
    said.extend(apart(&one.skew));
    let who = who(one);
    let said = said.into_iter().map(|sentence| format!("{who}: {sentence}"));
    let shares = (one.slots.len() > 1).then(|| shares(one));
    shares.into_iter().chain(said).collect()
}

/// Whether machines of one shape get equal shares.
pub fn shares(one: &Consolidation) -> String {
    let (who, machines, apart) = (who(one), one.slots.len(), standings(&one.slots));
    if !apart.is_empty() {
        return format!("{who}: shares are unequal. {}", apart.join(" "));
    }
    let Some((low, high)) = one.shares_within() else {
        return format!("{who}: too few blocks to say whether {machines} machines got equal shares.");
    };
    let ends = format::effect_bounds(1.0, low, high);
    if low >= 1.0 - HELD_BACK && high <= 1.0 + HELD_BACK {
        return format!("{who}: {machines} machines got equal shares, each within {ends} of the mean of the others.");
    }
    format!(
        "{who}: undecided whether {machines} machines got equal shares. Each lies within {ends} of the mean of the others."
    )
}

/// "kvm at 3x2".
pub fn who(one: &Consolidation) -> String {
    format!("{}{}", one.contender, crate::format::at(&one.coordinates))
}

/// Machines that surely get less. If there are none, those that get more: beside a straggler, being ahead is nothing new.
fn standings(slots: &[Slot]) -> Vec<String> {
    let at = |position| slots.iter().filter(move |slot| slot.position == position).filter_map(standing);
    let less: Vec<String> = at(Position::Below).collect();
    if less.is_empty() { at(Position::Above).collect() } else { less }
}

fn standing(slot: &Slot) -> Option<String> {
    let figure = format::effect_of(slot.of_others.as_ref()?);
    let end = match slot.position {
        Position::Below if slot.held_back => "it is a straggler",
        Position::Below => "it is a little behind",
        Position::Above => "it is ahead",
        Position::Across | Position::Unknown => return None,
    };
    Some(format!("Machine {} did {figure} against the mean of the others: {end}.", slot.machine))
}

fn against_chance(one: &Consolidation, chance: &AgainstChance) -> String {
    let (machines, name) = (one.machines, &one.metric.name);
    let noise = chance.noise.map_or_else(String::new, |noise| {
        format!(", each of which varies by {} % by chance,", format::decimal(noise * 100.0, 1))
    });
    let shown = format!(
        "{machines} equal machines{noise} would show a minimum of {} ({}) {name}",
        format::quantity(chance.expected.point),
        format::bounds(&chance.expected.bounds, format::quantity)
    );
    match chance.minimum {
        Position::Below => format!("The minimum is lower than chance makes it: {shown}."),
        Position::Across => format!("The minimum is what chance makes of equal machines: {shown}."),
        Position::Above => format!(
            "The minimum is higher than chance makes it: {shown}. Machines even each other out, or a few are much faster than \
             the rest by chance."
        ),
        Position::Unknown => "Too few blocks to tell the minimum from chance.".to_owned(),
    }
}

fn together(one: &Consolidation, efficiency: &Efficiency) -> String {
    let reference = &efficiency.reference;
    let place = crate::format::at(&reference.coordinates);
    let (machines, figure) = (one.machines, format::estimate(&efficiency.value, format::ratio));
    let is_like_each = one.alone.as_ref() == Some(reference);
    let size = match (efficiency.same_total, is_like_each) {
        (true, _) => "which has as many vCPUs and as much memory as they have together",
        (false, true) => "which is as large as each of them",
        (false, false) => "which is neither as large as they are together nor like each of them",
    };
    format!("All {machines} together do {figure} of what one machine of {}{place} does, {size}.", reference.contender)
}

fn apart(skew: &[TrialSkew]) -> Vec<String> {
    let worst = skew.iter().filter_map(TrialSkew::worst_ms).reduce(f64::max);
    let (mut uncertain, mut unknown) = (0.0_f64, None);
    for one in skew {
        match &one.apart {
            Apart::Known { uncertain_ms, .. } => uncertain = uncertain.max(*uncertain_ms),
            Apart::Unknown { why } => unknown = unknown.or(Some(missing::why(why))),
        }
    }
    let within = format!(", give or take {} ms", format::decimal(uncertain, 2));
    let within = if uncertain > 0.0 { within.as_str() } else { "" };
    let known = worst.map(|worst| {
        let worst = format::decimal(worst, 1);
        format!("Measured windows of its machines lie at most {worst} ms apart on the host's clock{within}.")
    });
    let unknown = unknown.map(|why| format!("How far measured windows lie apart is not known of every trial: {why}."));
    known.into_iter().chain(unknown).collect()
}
