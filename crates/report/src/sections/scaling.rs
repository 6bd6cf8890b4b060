//! How throughput grows with vCPUs or clients, where a study varies them: table, figure, fitted laws, borders crossed.

use super::heading;
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::figures;
use crate::format;
use crate::measures::estimate;
use analysis::contrast::Contrast;
use analysis::estimate::Estimate;
use analysis::scaling::law::Peak;
use analysis::scaling::{Point, Resource, Scaling};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    if analysis.scaling.is_empty() {
        return Vec::new();
    }
    let groups = groups(&analysis.scaling);
    let mut blocks = vec![heading("Growth with size")];
    blocks.extend(figures::scaling::figure(&groups, &contenders(analysis)).map(Block::Figure));
    for group in &groups {
        let title = title(group[0]);
        blocks.push(Block::Heading { level: 3, text: title });
        blocks.push(Block::Table(growth(group)));
        blocks.push(Block::List(group.iter().flat_map(|curve| remarks(curve)).collect()));
        blocks.push(Block::Table(laws(group)));
    }
    blocks.push(Block::Note(note()));
    blocks
}

/// Curves that stand in one table: of the same resource under the same circumstances.
fn groups(curves: &[Scaling]) -> Vec<Vec<&Scaling>> {
    let mut groups: Vec<Vec<&Scaling>> = Vec::new();
    for curve in curves {
        let same = |group: &&mut Vec<&Scaling>| group[0].resource == curve.resource && group[0].held == curve.held;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups
}

/// In the order of the plan, so that each has the look it has in other figures.
fn contenders(analysis: &Analysis) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in &analysis.cells {
        if !names.contains(&cell.contender.as_str()) {
            names.push(&cell.contender);
        }
    }
    names
}

fn title(curve: &Scaling) -> String {
    let place = if curve.held.is_empty() { String::new() } else { format!(", {}", curve.held) };
    format!("Over {}{place}", curve.resource.plural())
}

fn growth(group: &[&Scaling]) -> Table {
    let resource = group[0].resource;
    let unit = match resource {
        Resource::Vcpus => "efficiency per vCPU",
        Resource::Clients => "efficiency per client",
    };
    let mut columns = vec![Column::text("contender"), Column::number(resource.plural())];
    columns.extend(["throughput", "of the smallest", unit, "per doubling"].map(Column::number));
    if resource == Resource::Vcpus {
        columns.extend(["cores", "memory nodes"].map(Column::number));
    }
    let rows = group.iter().flat_map(|curve| (0..curve.points.len()).map(|place| row(curve, place)));
    Table { caption: group[0].metric.unit.clone(), columns, rows: rows.collect() }
}

fn row(curve: &Scaling, place: usize) -> Vec<Cell> {
    let point = &curve.points[place];
    let name = if place == 0 { Cell::new(&curve.contender) } else { Cell::new("") };
    let relative = |found: Option<&Contrast>| match place {
        0 => Cell::new("1").tone(Tone::Muted),
        _ => estimate(found.map(|ratio| &ratio.estimate), format::ratio),
    };
    let step = place.checked_sub(1).and_then(|before| curve.steps.get(before));
    let per_doubling = step.map_or_else(Cell::none, |step| {
        estimate(step.per_doubling.as_ref().map(|ratio| &ratio.estimate), format::ratio)
    });
    let mut cells = vec![
        name,
        Cell::new(format::count(u64::from(point.size))),
        estimate(point.throughput.as_ref(), format::quantity),
        relative(point.growth.as_ref()),
        relative(point.efficiency.as_ref()),
        per_doubling,
    ];
    if curve.resource == Resource::Vcpus {
        cells.extend([cores(point), point.place.nodes.map_or_else(unknown, |nodes| Cell::new(nodes.to_string()))]);
    }
    cells
}

fn cores(point: &Point) -> Cell {
    let Some(cores) = point.place.cores else { return unknown() };
    let cell = Cell::new(cores.to_string());
    if point.place.shares_cores(point.size) == Some(true) { cell.detail("shared").tone(Tone::Marked) } else { cell }
}

fn unknown() -> Cell {
    Cell::new("not recorded").tone(Tone::Muted)
}

fn remarks(curve: &Scaling) -> Vec<String> {
    let mut said: Vec<String> = curve.remarks.iter().map(|remark| format!("{}: {remark}", curve.contender)).collect();
    said.push(format!("{}: {}", curve.contender, peak(curve)));
    said
}

fn peak(curve: &Scaling) -> String {
    let of_law = curve.universal.as_ref().map(|law| (&law.peak, law.sizes.len()));
    let unit = curve.resource.plural();
    match of_law {
        None => "Too few sizes for the Universal Scalability Law.".to_owned(),
        Some((Peak::Determined { size }, _)) => {
            let largest = curve.points.last().map_or(0.0, |point| f64::from(point.size));
            let beyond = if size.point > largest { ", beyond the largest size measured" } else { "" };
            format!("Throughput is highest at {} {unit}{beyond}.", format::estimate(size, format::ratio))
        }
        Some((Peak::NotDetermined { extrapolated, why }, _)) => {
            let beyond =
                extrapolated.map(|size| format!(" (the curve, extrapolated, has it at {})", format::ratio(size)));
            format!("Peak not determined{}: {}.", beyond.unwrap_or_default(), why.join("; "))
        }
    }
}

fn laws(group: &[&Scaling]) -> Table {
    let one = match group[0].resource {
        Resource::Vcpus => "λ, of one vCPU",
        Resource::Clients => "λ, of one client",
    };
    let mut columns = vec![Column::text("contender"), Column::text("law")];
    columns.extend([one, "σ, contention", "κ, coherency", "furthest off, %"].map(Column::number));
    let mut rows = Vec::new();
    for curve in group {
        if let Some(law) = &curve.universal {
            let coherency = estimate(Some(&law.coherency), scientific);
            rows.push(law_row(curve, "universal", [&law.rate_of_one, &law.contention], coherency, law.furthest_off));
        }
        if let Some(law) = &curve.amdahl {
            rows.push(law_row(curve, "Amdahl's", [&law.rate_of_one, &law.contention], Cell::none(), law.furthest_off));
        }
    }
    Table { caption: "Fitted laws".to_owned(), columns, rows }
}

fn law_row(curve: &Scaling, name: &str, [one, queue]: [&Estimate; 2], coherency: Cell, furthest_off: f64) -> Vec<Cell> {
    vec![
        Cell::new(&curve.contender),
        Cell::new(name),
        estimate(Some(one), format::quantity),
        estimate(Some(queue), small),
        coherency,
        Cell::new(format::decimal(furthest_off * 100.0, 1)).detail("plain reading"),
    ]
}

/// σ is a share; below a hundred-thousandth it is nothing.
fn small(value: f64) -> String {
    if value < 1e-5 { "0".to_owned() } else { format::ratio(value) }
}

/// κ is a small number of which the power of ten matters.
fn scientific(value: f64) -> String {
    match value {
        ..1e-12 => "0".to_owned(),
        0.1.. => format::ratio(value),
        _ => format!("{value:.2e}"),
    }
}

fn note() -> String {
    "Cells that differ in nothing but the size. Growth and efficiency are ratios of the same block; “per doubling” is the growth \
     from the row above, for as much of a doubling as the step is. The laws are fitted to the logarithms of throughput \
     by least squares, with σ and κ not below zero; Amdahl's is the universal law without κ."
        .to_owned()
}
