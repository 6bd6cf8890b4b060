//! A noisy neighbour: what the others get before, while and after it works, in sentences and in a table.

use super::{contender, headed};
use crate::document::Block;
use crate::format::{self, Style, joined, who, within};
use crate::table::{TableCell, TableOf, Tone};
use crate::{figures, missing};
use analysis::consolidation::Consolidation;
use analysis::consolidation::neighbour::beside::BesideRatio;
use analysis::consolidation::neighbour::{Neighbour, NeighbourEffect, Of};
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use analysis::summary::Analysis;
use record::settings::ExceptionLoad;

const NOTE: &str = "A second of the others belongs to before, while or after by its middle, on the host's clock; one within a second of a change, or of \
     what clocks leave open, is left out. “Without” is before and after together where there are both, so that an even drift of the \
     host cancels out; else the one there is. Ratios are of parts of the same trial, over blocks, with 95 % confidence intervals by Student's t; \
     response times are of the counted transactions of all the others together. For a machine that is idle, “before” is beside it, and \
     “while it works” where it works; their ratio is paired by block. Work that the neighbour leaves behind, such as pages still to be \
     written, belongs to after.";

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let comes_and_goes = analysis.consolidation.iter().filter(|one| headline(one).is_some());
    let found: Vec<(&Consolidation, &Neighbour)> =
        comes_and_goes.filter_map(|one| Some((one, one.neighbour.as_ref()?))).collect();
    let Some((first, _)) = found.first() else { return Vec::new() };
    let mut blocks: Vec<Block> = found.iter().filter_map(|(one, _)| headline(one)).map(Block::Paragraph).collect();
    let rows: Vec<OfTheOthers<'_>> = found.iter().flat_map(|(one, neighbour)| rows(one, neighbour)).collect();
    let caption = format!(
        "The others before, while and after a machine works; throughput in {}, responses in ms",
        first.metric.unit
    );
    let table = TableOf::new(&rows)
        .text("contender", |row| contender(&row.one.contender, &row.one.coordinates))
        .text("of the others", |row| {
            TableCell::text(row.style().0).detail(row.effect.why_none.as_ref().map(missing::why).unwrap_or_default())
        })
        .text("at work at", |row| TableCell::text(row.place))
        .number("before", |row| row.level(row.effect.before.as_ref()))
        .number("while it works", |row| row.level(row.effect.during.as_ref()))
        .number("after", |row| row.level(row.effect.after.as_ref()))
        .number("while / without", |row| row.ratio(row.effect.kept()))
        .number("after / before", |row| row.ratio(row.effect.after_over_before.as_ref()))
        .table("neighbour", caption);
    blocks.extend(table.map(Block::Table));
    blocks.extend(figures::neighbour::figure(&analysis.consolidation).map(Block::Figure));
    headed("Noisy neighbour", blocks, NOTE)
}

/// A figure of the others.
struct OfTheOthers<'a> {
    one: &'a Consolidation,
    /// Where an idle neighbour works.
    place: &'a str,
    effect: &'a NeighbourEffect,
}

fn rows<'a>(one: &'a Consolidation, neighbour: &'a Neighbour) -> Vec<OfTheOthers<'a>> {
    let beside = neighbour.beside.iter().map(|beside| (beside.reference.coordinates.as_str(), &beside.effects));
    let all = [("", &neighbour.effects)].into_iter().chain(beside);
    all.flat_map(|(place, effects)| effects.iter().map(move |effect| OfTheOthers { one, place, effect })).collect()
}

impl OfTheOthers<'_> {
    /// The name, the style, and which change is bad: a loss of throughput, or a longer response.
    fn style(&self) -> (&'static str, Style<'_>, Position) {
        let throughput = Style::quantity(&self.one.metric.unit);
        match self.effect.of {
            Of::Mean => ("mean throughput", throughput, Position::Below),
            Of::Least => ("throughput of the worst-off", throughput, Position::Below),
            Of::Median => ("median response", Style::MILLISECONDS, Position::Above),
            Of::P99 => ("p99 response", Style::MILLISECONDS, Position::Above),
        }
    }

    fn cell(&self, found: Option<&Estimate>, style: Style<'_>) -> TableCell {
        let why = self.effect.why_none.as_ref().map(missing::why);
        TableCell::estimate(found, style, why.as_deref().unwrap_or("its load does not change there"))
    }

    fn level(&self, found: Option<&Estimate>) -> TableCell {
        self.cell(found, self.style().1)
    }

    fn ratio(&self, found: Option<&Estimate>) -> TableCell {
        let is_bad = found.is_some_and(|ratio| ratio.bounds.against(1.0) == self.style().2);
        self.cell(found, Style::EFFECT).tone(if is_bad { Tone::Bad } else { Tone::Plain })
    }
}

/// The share that they keep while it works, and whether the rest comes back; `None` without such a machine, or if it works all the time.
pub fn headline(one: &Consolidation) -> Option<String> {
    let neighbour = one.neighbour.as_ref()?;
    let said = match (neighbour.work, neighbour.beside.is_empty()) {
        (Some(_), _) => of_effects(neighbour).unwrap_or_else(|unknown| unknown),
        (None, false) => joined(neighbour.beside.iter().map(|beside| of_idle(neighbour, beside)), " "),
        // For one that works all the time, the cost is stated where it stands idle; here the scores are the answer.
        (None, true) if neighbour.load == ExceptionLoad::Same => return None,
        (None, true) => unmoved(neighbour),
    };
    Some(format!("{}: {said}", who(&one.contender, &one.coordinates)))
}

/// False for a single machine beside one that comes and goes: that section says everything.
pub fn has_scores(one: &Consolidation) -> bool {
    one.machines > 1 || headline(one).is_none()
}

/// How a sentence about the others begins.
fn others(neighbour: &Neighbour) -> (&'static str, &'static str, &'static str) {
    if neighbour.others == 1 { ("the other machine", "does", "It has") } else { ("the others", "do", "They have") }
}

/// Their mean, or why it is not known.
fn mean<'a>(
    neighbour: &Neighbour,
    effects: &'a [NeighbourEffect],
    none: &str,
) -> Result<(&'a NeighbourEffect, &'a Estimate), String> {
    let Some(mean) = effects.iter().find(|effect| effect.of == Of::Mean) else { return Err(unmoved(neighbour)) };
    let why = mean.why_none.as_ref().map_or_else(|| none.to_owned(), missing::why);
    let unknown = || format!("what machine {} costs the others is not known: {why}.", neighbour.machine);
    mean.kept().map(|kept| (mean, kept)).ok_or_else(unknown)
}

fn of_effects(neighbour: &Neighbour) -> Result<String, String> {
    let (whole, kept) = mean(neighbour, &neighbour.effects, "no trial has seconds of both")?;
    let without = match (&whole.during_over_both, &whole.during_over_before) {
        (Some(_), _) => "before and after it",
        (None, Some(_)) => "before it",
        (None, None) => "after it",
    };
    let opening = format!("while machine {} works,", neighbour.machine);
    let kept = told(neighbour, &opening, kept, without, no_effect(neighbour.kept));
    let have = others(neighbour).2;
    let recovered = match neighbour.recovered {
        Position::Below => format!(" {have} not recovered."),
        Position::Across => format!(" {have} recovered."),
        Position::Above | Position::Unknown => String::new(),
    };
    let after = whole.after_over_before.as_ref();
    let after = after.map(|after| told(neighbour, "Afterwards", after, "before it", &recovered));
    Ok(joined(std::iter::once(kept).chain(after), " "))
}

fn no_effect(kept: Position) -> &'static str {
    if kept == Position::Across { " No effect is shown." } else { "" }
}

/// "while machine 3 works, the others do 29 % less work than before and after it (−34 to −24 %)."
fn told(neighbour: &Neighbour, opening: &str, ratio: &Estimate, without: &str, end: &str) -> String {
    let (name, does, _) = others(neighbour);
    let work = format::work_against(ratio.point);
    let ends = ratio.bounds.known().map(|(low, high)| format::effect_bounds(ratio.point, low, high));
    format!("{opening} {name} {does} {work} {without}{}.{end}", within(" (", &ends.unwrap_or_default(), ")"))
}

fn of_idle(neighbour: &Neighbour, beside: &BesideRatio) -> String {
    let opening = format!("at {}, where machine {} works,", beside.reference.coordinates, neighbour.machine);
    let known = mean(neighbour, &beside.effects, "no block has both");
    let told = |(_, kept)| told(neighbour, &opening, kept, "where it is idle", no_effect(beside.kept));
    known.map_or_else(|unknown| unknown, told)
}

/// For a machine whose load never changes, where no other cell shows its effect either.
fn unmoved(neighbour: &Neighbour) -> String {
    let (name, machine) = (others(neighbour).0, neighbour.machine);
    match (neighbour.load, neighbour.left_out.first()) {
        (_, Some(why)) => format!("what machine {machine} costs {name} is not known: {}.", missing::why(why)),
        (ExceptionLoad::Idle, None) => format!(
            "machine {machine} stands idle, and no cell of the same machines has it at work all the time, so what that costs {name} is \
             unknown."
        ),
        (_, None) => {
            format!("machine {machine} neither came nor went while {name} worked, by what its own driver recorded.")
        }
    }
}
