//! A noisy neighbour: what the others get before, while and after it works.

use super::{contender, heading};
use crate::document::Block;
use crate::figures;
use crate::format::Style;
use crate::missing;
use crate::neighbour::{headline, sentences};
use crate::table::{Cell, Column, Table, Tone, columns, id};
use analysis::consolidation::Consolidation;
use analysis::consolidation::neighbour::{Effect, Neighbour, Of};
use analysis::contrast::Position;
use analysis::estimate::Estimate;
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let comes_and_goes = analysis.consolidation.iter().filter(|one| headline(one).is_some());
    let found: Vec<(&Consolidation, &Neighbour)> =
        comes_and_goes.filter_map(|one| Some((one, one.neighbour.as_ref()?))).collect();
    let Some((first, _)) = found.first() else { return Vec::new() };
    let mut blocks = vec![heading("Noisy neighbour")];
    blocks.extend(found.iter().filter_map(|(one, _)| headline(one)).map(Block::Paragraph));
    let unit = &first.metric.unit;
    let table = |what: &str, said: &str, columns: Vec<Column>, rows| {
        let caption = format!("{said}; throughput in {unit}, responses in ms");
        Table::new(id(what, ""), caption, columns, rows).unless_empty().map(Block::Table)
    };
    let numbers = ["before", "while it works", "after", "while / without", "after / before"];
    let titles = columns(&["contender", "of the others"], &numbers);
    blocks.extend(table("neighbour", CHANGES, titles, changes(&found)));
    blocks.extend(figures::neighbour::figure(&analysis.consolidation).map(Block::Figure));
    let titles = columns(&["contender", "of the others", "at work at"], &["idle", "at work", "at work / idle"]);
    blocks.extend(table("neighbour-idle", IDLE, titles, idle(&found)));
    let said: Vec<String> = found.iter().flat_map(|(one, _)| sentences(one)).collect();
    blocks.extend((!said.is_empty()).then_some(Block::List(said)));
    blocks.push(Block::Note(note()));
    blocks
}

const CHANGES: &str = "The others before, while and after a machine works";
const IDLE: &str = "The others beside an idle machine and beside the same at work";

fn changes(found: &[(&Consolidation, &Neighbour)]) -> Vec<Vec<Cell>> {
    let row = |one: &Consolidation, effect: &Effect| {
        let levels = [&effect.before, &effect.during, &effect.after].map(|level| measured(one, effect, level.as_ref()));
        let ratios = [ratio(effect, effect.kept()), ratio(effect, effect.after_over_before.as_ref())];
        named(one, effect).into_iter().chain(levels).chain(ratios).collect()
    };
    let rows = |(one, neighbour): &(&Consolidation, &Neighbour)| -> Vec<Vec<Cell>> {
        neighbour.effects.iter().map(|effect| row(one, effect)).collect()
    };
    found.iter().flat_map(rows).collect()
}

fn idle(found: &[(&Consolidation, &Neighbour)]) -> Vec<Vec<Cell>> {
    let row = |one: &Consolidation, place: &str, effect: &Effect| {
        let levels = [&effect.before, &effect.during].map(|level| measured(one, effect, level.as_ref()));
        let ratio = ratio(effect, effect.kept());
        named(one, effect).into_iter().chain([Cell::text(place)]).chain(levels).chain([ratio]).collect()
    };
    let rows = |(one, neighbour): &(&Consolidation, &Neighbour)| -> Vec<Vec<Cell>> {
        let pairs = neighbour.beside.iter();
        let pairs = pairs.flat_map(|beside| beside.effects.iter().map(move |effect| (&beside.reference, effect)));
        pairs.map(|(reference, effect)| row(one, &reference.coordinates, effect)).collect()
    };
    found.iter().flat_map(rows).collect()
}

fn named(one: &Consolidation, effect: &Effect) -> [Cell; 2] {
    let of = match effect.of {
        Of::Mean => "mean throughput",
        Of::Least => "throughput of the worst-off",
        Of::Median => "median response",
        Of::P99 => "p99 response",
    };
    let why = effect.why_none.as_ref().map(missing::why).unwrap_or_default();
    [contender(&one.contender, &one.coordinates), Cell::text(of).detail(why)]
}

fn measured(one: &Consolidation, effect: &Effect, level: Option<&Estimate>) -> Cell {
    let style = match effect.of {
        Of::Mean | Of::Least => Style::quantity(&one.metric.unit),
        Of::Median | Of::P99 => Style::MILLISECONDS,
    };
    Cell::estimate(level, style, &why_none(effect))
}

fn why_none(effect: &Effect) -> String {
    effect.why_none.as_ref().map_or_else(|| "its load does not change there".to_owned(), missing::why)
}

/// A certain loss of throughput, or a certainly longer response, is bad.
fn ratio(effect: &Effect, ratio: Option<&Estimate>) -> Cell {
    let bad = match effect.of {
        Of::Mean | Of::Least => Position::Below,
        Of::Median | Of::P99 => Position::Above,
    };
    let tone = if ratio.is_some_and(|ratio| ratio.bounds.against(1.0) == bad) { Tone::Bad } else { Tone::Plain };
    Cell::estimate(ratio, Style::EFFECT, &why_none(effect)).tone(tone)
}

fn note() -> String {
    "A second of the others belongs to before, while or after by its middle, on the host's clock; one within a second of a change, or of \
     what clocks leave open, is left out. “Without” is before and after together where there are both, so that an even drift of the \
     host cancels out; else the one there is. Ratios are of parts of the same trial, over blocks, with 95 % confidence intervals by Student's t; \
     response times are of the counted transactions of all the others together. “At work / \
     idle” is paired by block. What the neighbour leaves behind, such as pages still to be written, belongs to after."
        .to_owned()
}
