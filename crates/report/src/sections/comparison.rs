//! The comparison table: the figures that answer the question, in a column for each contender, or in a row if there are many.

use super::place;
use crate::document::Block;
use crate::figures;
use crate::format::{self, Style, distinct, grouped_by, joined, within};
use crate::measures::{compare, compared, level, named, style};
use crate::table::{Table, TableCell, TableOf, Tone, id};
use analysis::cells::CellResult;
use analysis::checks::{self, CheckCounts};
use analysis::measures::Measure;
use analysis::measures::counted::{CPU_INSIDE, CPU_ON_HOST};
use analysis::measures::throughput::THROUGHPUT;
use analysis::summary::Analysis;
use record::trial::Metric;

/// More contenders than this do not fit beside each other.
const COLUMNS_MAX: usize = 3;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let ratios = figures::ratio::figure(analysis).map(Block::Figure);
    let each = each_group(analysis, |cells| {
        tables(analysis, cells, true).into_iter().map(Block::Table).chain(left_out(analysis, cells))
    });
    let mut blocks = match (overview(analysis), ratios) {
        // A single table has the figure beside it, if it is narrow.
        (None, Some(figure)) if matches!(&each[..], [Block::Table(_)]) && analysis.cells.len() <= COLUMNS_MAX => {
            vec![Block::Beside(each.into_iter().chain([figure]).collect())]
        }
        (None, figure) => each.into_iter().chain(figure).collect(),
        (Some(overview), figure) => {
            let each = Block::fold("Each point of the study", each);
            [Block::Table(overview)].into_iter().chain(figure).chain(each).collect()
        }
    };
    blocks.push(Block::Note(format!(
        "Figures are geometric means over blocks. Below a change is its {:.0} % confidence interval. Response times are of what \
         throughput counts.",
        analysis.method.confidence * 100.0
    )));
    if !analysis.consolidation.is_empty() {
        let note = "Where several machines run side by side, throughput is that of the slowest one. Response times are of all machines \
                    together.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks
}

/// A row for each point of a study with several points: throughput of all contenders, and their changes.
pub fn overview(analysis: &Analysis) -> Option<Table> {
    let groups = groups(analysis);
    let first = groups.first().filter(|_| groups.len() > 1)?;
    let throughput =
        |cell: &CellResult| level(analysis, cell, THROUGHPUT, Style::quantity(&cell.metric.name)).detail("");
    let point =
        |cells: &[&CellResult]| TableCell::text(&cells[0].coordinates).detail(metric_of(cells).unwrap_or_default());
    let table = TableOf::new(&groups).text("point", |cells| point(cells));
    let table = first.iter().fold(table, |table, column| {
        let own = |cells: &[&'_ CellResult]| cells.iter().position(|cell| cell.contender == column.contender);
        let table = table.number(&column.contender, |cells| {
            own(cells).map_or_else(|| TableCell::missing("not at this point"), |place| throughput(cells[place]))
        });
        if compared(analysis, column.cell).is_none() {
            return table;
        }
        table.number(format!("change of {}", column.contender), |cells| {
            let compared = own(cells).and_then(|place| compared(analysis, cells[place].cell));
            compare(compared.and_then(|one| one.throughput()), Style::EFFECT)
        })
    });
    table.table("overview", "")
}

/// The name of the metric of the first cell that has one.
pub fn metric_of<'a>(cells: &[&'a CellResult]) -> Option<&'a str> {
    cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty())
}

/// Cells that differ only in their contender, in the order of the plan.
pub fn groups(analysis: &Analysis) -> Vec<Vec<&CellResult>> {
    grouped_by(&analysis.cells, |cell| &cell.coordinates)
}

/// The blocks of each group, with its coordinates above them; a group without blocks is left out.
pub fn each_group<B: IntoIterator<Item = Block>>(
    analysis: &Analysis,
    blocks: impl Fn(&[&CellResult]) -> B,
) -> Vec<Block> {
    let of_group = |cells: Vec<&CellResult>| {
        let found: Vec<Block> = blocks(&cells).into_iter().collect();
        let place = place(&cells[0].coordinates).filter(|_| !found.is_empty());
        place.into_iter().chain(found).collect::<Vec<_>>()
    };
    groups(analysis).into_iter().flat_map(of_group).collect()
}

/// One group of cells. Many contenders have a row each, and response times in tables of their own; these have changes only if
/// `changes`, since they are too wide for a terminal with them.
pub fn tables(analysis: &Analysis, cells: &[&CellResult], changes: bool) -> Vec<Table> {
    if cells.len() <= COLUMNS_MAX {
        return in_columns(analysis, cells).into_iter().collect();
    }
    let kinds = grouped_by(headline(analysis, cells), |measure| percentile_of(measure).map(|(_, kind)| kind));
    kinds.iter().filter_map(|measures| in_rows(analysis, cells, measures, changes)).collect()
}

fn in_columns(analysis: &Analysis, cells: &[&CellResult]) -> Option<Table> {
    let measures = headline(analysis, cells);
    let others = cells.iter().filter(|cell| compared(analysis, cell.cell).is_some()).count();
    let table = TableOf::new(&measures).text("", |measure| label(measure, cells).known_as(&measure.id));
    let table = cells.iter().fold(table, |table, cell| {
        let table = table.number(&cell.contender, |measure| plain_level(analysis, cell, measure));
        let Some(comparison) = compared(analysis, cell.cell) else { return table };
        let title = if others == 1 { "change".to_owned() } else { format!("change of {}", cell.contender) };
        table.number(title, |measure| compare(comparison.contrast(&measure.id), Style::EFFECT))
    });
    let row = |name: &str, of: &dyn Fn(&CellResult) -> TableCell| {
        let no_change = |cell: &CellResult| compared(analysis, cell.cell).map(|_| TableCell::text(""));
        let own = cells.iter().flat_map(|cell| std::iter::once(of(cell)).chain(no_change(cell)));
        std::iter::once(TableCell::text(name)).chain(own).collect()
    };
    let table = table.row(row("valid trials", &completed)).row(row("data", &|cell| checks(analysis, cell)));
    table.table(id("comparison", &cells[0].coordinates), "")
}

/// The interval of the change matters here; those of levels are among all measures.
fn plain_level(analysis: &Analysis, cell: &CellResult, measure: &Measure) -> TableCell {
    level(analysis, cell, &measure.id, style(&measure.unit)).detail("")
}

/// Some measures with a row for each contender: throughput, or the response times of a kind of transaction.
fn in_rows(analysis: &Analysis, cells: &[&CellResult], measures: &[&Measure], changes: bool) -> Option<Table> {
    let kind = percentile_of(measures[0]).map(|(_, kind)| kind);
    let is_compared = (changes || kind.is_none()) && cells.iter().any(|cell| compared(analysis, cell.cell).is_some());
    let change = |cell: &CellResult, measure: &Measure| {
        let change = compared(analysis, cell.cell).map(|one| compare(one.contrast(&measure.id), Style::EFFECT));
        change.unwrap_or_else(|| TableCell::text(""))
    };
    let table = TableOf::new(cells)
        .text(within("response of ", kind.unwrap_or_default(), ""), |cell| TableCell::text(&cell.contender));
    let table = measures.iter().fold(table, |table, measure| {
        let (title, of) = match percentile_of(measure) {
            Some((figure, _)) => (format!("{figure}, {}", style(&measure.unit).unit), format!("change of {figure}")),
            None => (label(measure, cells).shown().text, "change".to_owned()),
        };
        let table = table.number(title, |cell| plain_level(analysis, cell, measure));
        if is_compared { table.number(of, |cell| change(cell, measure)) } else { table }
    });
    let id = id("comparison", &format!("{} {}", cells[0].coordinates, kind.unwrap_or_default()));
    match kind {
        Some(_) => table,
        None => table.number("trials", |cell| completed(cell)).number("data", |cell| checks(analysis, cell)),
    }
    .table(id, "")
}

/// What a headline measure is called: the metric, or "p95, ms" with the kind of transaction.
fn label(measure: &Measure, cells: &[&CellResult]) -> TableCell {
    let metric = cells.iter().map(|cell| &cell.metric).find(|metric| !metric.name.is_empty());
    match (metric.filter(|_| measure.id == THROUGHPUT), percentile_of(measure)) {
        (Some(metric), _) => throughput(metric, cells),
        (None, Some((figure, kind))) => {
            let unit = style(&measure.unit).unit;
            TableCell::text(format!("{figure}, {unit}")).detail(format!("{kind} response"))
        }
        (None, None) => named(measure),
    }
}

/// The percentile and the kind of transaction that a measure of response times is about.
fn percentile_of(measure: &Measure) -> Option<(&str, &str)> {
    let figure = measure.id.strip_prefix("response.")?;
    Some(figure.split_once('/').unwrap_or((figure, "")))
}

/// Cells with different numbers of machines have metrics with different names; then all names are shown.
fn throughput(metric: &Metric, cells: &[&CellResult]) -> TableCell {
    let others = cells.iter().map(|cell| cell.metric.name.as_str()).filter(|name| !name.is_empty());
    let names = distinct(std::iter::once(metric.name.as_str()).chain(others));
    let unit = if metric.unit == metric.name { "" } else { &metric.unit };
    TableCell::text(names.join(" | ")).detail(if names.len() > 1 { "of each its own" } else { unit })
}

/// The headline measures that some cell has.
fn headline<'a>(analysis: &'a Analysis, cells: &[&CellResult]) -> Vec<&'a Measure> {
    let counted = cells.iter().map(|cell| &cell.metric.counted).find(|counted| !counted.is_empty());
    let names = analysis::compare::headline(counted.map_or(&[], Vec::as_slice));
    let is_there = |measure: &&Measure| cells.iter().any(|cell| cell.level(&measure.id).is_some());
    let of = |name: &str| analysis.observations.measure(name).map(|measured| &measured.measure).filter(is_there);
    let cpu = [CPU_ON_HOST, CPU_INSIDE].into_iter().find_map(of);
    names.iter().filter_map(|name| of(name)).chain(cpu).collect()
}

fn completed(cell: &CellResult) -> TableCell {
    let (done, planned) = (cell.outcomes.completed, cell.outcomes.planned);
    let tone = if done == planned { Tone::Good } else { Tone::Bad };
    let shown = TableCell::part(done as usize, planned as usize, "").tone(tone);
    let others = [(cell.outcomes.wrong_data, "with wrong data"), (cell.outcomes.disagreeing, "not believed")];
    let others = others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    shown.detail(joined(others, ", "))
}

fn checks(analysis: &Analysis, cell: &CellResult) -> TableCell {
    let of_contender = || checks::sum(analysis.checks.iter().filter(|check| check.contender == cell.contender));
    let CheckCounts { held, violated, held_after, .. } = cell.checks.unwrap_or_else(of_contender);
    match violated {
        0 if held_after == 0 => TableCell::verdict("not checked", Tone::Bad),
        0 => TableCell::verdict("correct", Tone::Good).detail(format::counted(held.into(), "check")),
        _ => {
            let of = format::counted((held + violated).into(), "check");
            TableCell::verdict("wrong", Tone::Bad).detail(format!("{} of {of}", format::count(violated.into())))
        }
    }
}

fn left_out(analysis: &Analysis, cells: &[&CellResult]) -> Option<Block> {
    let own = analysis.comparisons.iter().filter(|found| cells.iter().any(|cell| cell.cell == found.contender_cell));
    let reasons = own.flat_map(|found| &found.left_out).map(|left_out| {
        let why = joined(left_out.why.iter().map(format::unusable), "; ");
        format!("Block {} is left out of the ratios: {why}.", left_out.block)
    });
    Block::list(reasons)
}
