//! A noisy neighbour: what the others get before, while and after it works.

use super::{contender, headed};
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
    let headlines = found.iter().filter_map(|(one, _)| headline(one));
    let mut blocks: Vec<Block> = headlines.map(Block::Paragraph).collect();
    let unit = &first.metric.unit;
    let table = |what: &str, said: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>| {
        let caption = format!("{said}; throughput in {unit}, responses in ms");
        Table::new(id(what, ""), caption, columns, rows).unless_empty().map(Block::Table)
    };
    let changes =
        found.iter().flat_map(|(one, neighbour)| neighbour.effects.iter().map(move |effect| row(one, None, effect)));
    let numbers = ["before", "while it works", "after", "while / without", "after / before"];
    let titles = columns(&["contender", "of the others"], &numbers);
    blocks.extend(table("neighbour", CHANGES, titles, changes.collect()));
    blocks.extend(figures::neighbour::figure(&analysis.consolidation).map(Block::Figure));
    let beside = found.iter().flat_map(|(one, neighbour)| neighbour.beside.iter().map(move |beside| (one, beside)));
    let idle = beside.flat_map(|(one, beside)| {
        beside.effects.iter().map(move |effect| row(one, Some(&beside.reference.coordinates), effect))
    });
    let titles = columns(&["contender", "of the others", "at work at"], &["idle", "at work", "at work / idle"]);
    blocks.extend(table("neighbour-idle", IDLE, titles, idle.collect()));
    let said: Vec<String> = found.iter().flat_map(|(one, _)| sentences(one)).collect();
    blocks.extend((!said.is_empty()).then_some(Block::List(said)));
    headed("Noisy neighbour", blocks, Some(NOTE.to_owned()))
}

const CHANGES: &str = "The others before, while and after a machine works";
const IDLE: &str = "The others beside an idle machine and beside the same at work";

/// `place` is where an idle neighbour works, which has no time after its work.
fn row(one: &Consolidation, place: Option<&str>, effect: &Effect) -> Vec<Cell> {
    let throughput = Style::quantity(&one.metric.unit);
    // A certain loss of throughput, or a certainly longer response, is bad.
    let (of, style, bad) = match effect.of {
        Of::Mean => ("mean throughput", throughput, Position::Below),
        Of::Least => ("throughput of the worst-off", throughput, Position::Below),
        Of::Median => ("median response", Style::MILLISECONDS, Position::Above),
        Of::P99 => ("p99 response", Style::MILLISECONDS, Position::Above),
    };
    let why = effect.why_none.as_ref().map(missing::why);
    let none = why.as_deref().unwrap_or("its load does not change there");
    let level = |level: &Option<Estimate>| Cell::estimate(level.as_ref(), style, none);
    let ratio = |ratio: Option<&Estimate>| {
        let is_bad = ratio.is_some_and(|ratio| ratio.bounds.against(1.0) == bad);
        Cell::estimate(ratio, Style::EFFECT, none).tone(if is_bad { Tone::Bad } else { Tone::Plain })
    };
    let of = Cell::text(of).detail(why.clone().unwrap_or_default());
    let (before, during) = (level(&effect.before), level(&effect.during));
    let (who, kept) = (contender(&one.contender, &one.coordinates), ratio(effect.kept()));
    match place {
        Some(place) => vec![who, of, Cell::text(place), before, during, kept],
        None => {
            vec![who, of, before, during, level(&effect.after), kept, ratio(effect.after_over_before.as_ref())]
        }
    }
}

const NOTE: &str = "A second of the others belongs to before, while or after by its middle, on the host's clock; one within a second of a change, or of \
     what clocks leave open, is left out. “Without” is before and after together where there are both, so that an even drift of the \
     host cancels out; else the one there is. Ratios are of parts of the same trial, over blocks, with 95 % confidence intervals by Student's t; \
     response times are of the counted transactions of all the others together. “At work / \
     idle” is paired by block. What the neighbour leaves behind, such as pages still to be written, belongs to after.";
