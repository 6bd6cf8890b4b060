//! How throughput grows with vCPUs, clients or another number, if a study varies it: table, figure, laws, limits crossed.

use super::{busy, headed};
use crate::document::Block;
use crate::figures::{self, scaling::plural};
use crate::format::{self, Digits, Style, distinct, filled, grouped_by, joined, within};
use crate::measures::compare;
use crate::missing;
use crate::table::{Cell, Table, TableOf, Tone, columns, id};
use analysis::contrast::Contrast;
use analysis::estimate::Estimate;
use analysis::scaling::law::Peak;
use analysis::scaling::{Crossing, Point, Remark, Scaling, is_resource};
use analysis::summary::Analysis;
use record::settings::key;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    // Curves that share one table: the same resource under the same conditions.
    let groups = grouped_by(&analysis.scaling, |curve| (&curve.axis, &curve.held));
    // In the order of the plan, so that each contender has the same look as in other figures.
    let contenders = distinct(analysis.cells.iter().map(|cell| cell.contender.as_str()));
    let mut blocks: Vec<Block> =
        figures::scaling::figure(&groups, &contenders).map(Block::Figure).into_iter().collect();
    for group in &groups {
        let text = format!("Over {}", filled([plural(&group[0].axis), &group[0].held], ", "));
        blocks.push(Block::Heading { level: 3, text });
        blocks.push(Block::Table(growth(group)));
        blocks.extend(Block::list(group.iter().flat_map(|curve| remarks(curve))));
        blocks.extend(busy::table(analysis, group).map(Block::Table));
        blocks.extend(laws(group).map(Block::Table));
    }
    if !analysis.thread_gains.is_empty() {
        blocks.push(Block::Heading { level: 3, text: "Second threads of the cores".to_owned() });
        blocks.push(Block::Table(second_threads(analysis)));
    }
    let has_laws = analysis.scaling.iter().any(|curve| curve.universal.is_some() || curve.amdahl.is_some());
    headed("Growth with size", blocks, Some(note(has_laws)))
}

/// The gain of second threads, which is no part of a curve.
fn second_threads(analysis: &Analysis) -> Table {
    let level = |cell: u32| {
        let known = analysis.cells.iter().find(|known| known.cell == cell);
        let unit = known.map_or("", |known| known.metric.unit.as_str());
        Cell::estimate(known.and_then(|known| known.throughput()), Style::quantity(unit), "no valid trial has it")
    };
    TableOf::new(&analysis.thread_gains)
        .text("contender", |one| Cell::text(&one.contender))
        .number("cores", |one| Cell::count(one.cores))
        .number("one vCPU on each", |one| level(one.one_each))
        .number("two on each", |one| level(one.two_each))
        .number("gain of second threads", |one| compare(one.gain.as_ref(), Style::EFFECT))
        .table("second-threads", "Throughput on the same number of cores")
}

fn growth(group: &[&Scaling]) -> Table {
    let (first, axis) = (group[0], group[0].axis.as_str());
    let points = group.iter().flat_map(|curve| curve.points.iter().enumerate().map(move |(at, one)| (*curve, at, one)));
    let points: Vec<(&Scaling, usize, &Point)> = points.collect();
    let over_smallest = |place: usize, found: Option<&Contrast>, style: Style<'static>| match place {
        0 => Cell::count(1).tone(Tone::Muted),
        _ => compare(found, style),
    };
    let throughput = |curve: &Scaling, point: &Point| {
        Cell::estimate(point.throughput.as_ref(), Style::quantity(&curve.metric.unit), "no valid trial has it")
    };
    let per_doubling = |curve: &Scaling, place: usize| {
        let step = place.checked_sub(1).and_then(|before| curve.steps.get(before));
        compare(step.and_then(|step| step.per_doubling.as_ref()), Style::EFFECT)
    };
    let mut table = TableOf::new(&points)
        .text("contender", |(curve, place, _)| Cell::text(if *place == 0 { &curve.contender } else { "" }))
        .number(plural(axis), |(.., point)| Cell::number(point.size, Style::new("", Digits::Plain)))
        .number("throughput", |(curve, _, point)| throughput(curve, point))
        .number("of the smallest", |(_, place, point)| over_smallest(*place, point.growth.as_ref(), Style::EFFECT));
    if is_resource(axis) {
        let title = format!("efficiency per {}", singular(axis));
        table = table.number(title, |(_, place, one)| over_smallest(*place, one.efficiency.as_ref(), Style::RATIO));
    }
    table = table.number("per doubling", |(curve, place, _)| per_doubling(curve, *place));
    if axis == key::VCPUS {
        table = table
            .number("cores", |(.., point)| cores(point))
            .number("memory nodes", |(.., point)| point.place.nodes.map_or_else(unknown, Cell::count));
    }
    table.table(id_of("growth", first), figures::scaling::of_slowest(first, &first.metric.unit))
}

fn id_of(what: &str, curve: &Scaling) -> String {
    id(what, &format!("{} {}", plural(&curve.axis), curve.held))
}

fn cores(point: &Point) -> Cell {
    let Some(cores) = point.place.cores else { return unknown() };
    let cell = Cell::count(cores);
    if point.place.shares_cores(point.size) == Some(true) { cell.detail("shared").tone(Tone::Marked) } else { cell }
}

fn unknown() -> Cell {
    Cell::text("not recorded").tone(Tone::Muted)
}

fn remarks(curve: &Scaling) -> Vec<String> {
    let peak = is_resource(&curve.axis).then(|| peak(curve));
    let said = curve.remarks.iter().map(remark).chain(peak);
    said.map(|one| format!("{}: {one}", curve.contender)).collect()
}

fn peak(curve: &Scaling) -> String {
    match curve.universal.as_ref().map(|law| &law.peak) {
        None => "Too few sizes for the Universal Scalability Law.".to_owned(),
        Some(Peak::Determined { size }) => {
            let largest = curve.points.last().map_or(0.0, |point| point.size);
            let beyond = if size.point > largest { ", beyond the largest size measured" } else { "" };
            let size = format::estimate_in(size, format::ratio, plural(&curve.axis));
            format!("Throughput is highest at {size}{beyond}.")
        }
        Some(Peak::NotDetermined { extrapolated, why }) => {
            let size = extrapolated.map(format::ratio).unwrap_or_default();
            let beyond = within(" (the curve, extrapolated, has it at ", &size, ")");
            format!("Peak not determined{beyond}: {}.", joined(why.iter().map(missing::why), "; "))
        }
    }
}

fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Crossed { from, to, what } => {
            let what = match what {
                Crossing::SharedCores { vcpus, cores } => format!("{vcpus} vCPUs share {cores} cores"),
                Crossing::MemoryNodes { from, to } => format!("from {from} to {to} memory nodes (NUMA)"),
            };
            return format!("Between {from} and {to} vCPUs: {what}.");
        }
        Remark::CoresSharedAtEverySize => "At every size vCPUs share cores: a vCPU is a hardware thread here, or less.",
        Remark::CoresSharedAtSomeSizes => "Sizes at which vCPUs share cores are not part of the fitted law.",
        Remark::CoresUnknown => "Whether vCPUs share cores is not in the record.",
        Remark::NodesUnknown => "On which memory nodes (NUMA) vCPUs ran is not in the record.",
        Remark::HostIsGuest => "The host is itself a guest: what it takes for cores may be threads of its own host.",
    }
    .to_owned()
}

/// "vCPU", "client".
fn singular(resource: &str) -> &str {
    let plural = plural(resource);
    plural.strip_suffix('s').unwrap_or(plural)
}

fn laws(group: &[&Scaling]) -> Option<Table> {
    let one = format!("λ, of one {}", singular(&group[0].axis));
    let columns = columns(&["contender", "law"], &[&one, "σ, contention", "κ, coherency", "furthest off, %"]);
    let rows = group.iter().flat_map(|curve| {
        let row = |name: &str, one: &Estimate, queue: &Estimate, coherency: Option<&Estimate>, furthest_off: f64| {
            vec![
                Cell::text(&curve.contender),
                Cell::text(name),
                Cell::estimate(Some(one), Style::quantity(&curve.metric.unit), ""),
                Cell::estimate(Some(queue), Style::new("", Digits::Small), ""),
                Cell::estimate(coherency, Style::new("", Digits::Scientific), "the law has none"),
                Cell::number(furthest_off, Style::PERCENT).detail("point value"),
            ]
        };
        let universal = curve
            .universal
            .as_ref()
            .map(|law| row("universal", &law.rate_of_one, &law.contention, Some(&law.coherency), law.furthest_off));
        let amdahl =
            curve.amdahl.as_ref().map(|law| row("Amdahl's", &law.rate_of_one, &law.contention, None, law.furthest_off));
        universal.into_iter().chain(amdahl)
    });
    Table::new(id_of("laws", group[0]), "Fitted laws", columns, rows).unless_empty()
}

fn note(has_laws: bool) -> String {
    let growth = "Cells that differ in nothing but the size. Growth and efficiency are ratios of the same block; “per doubling” is the growth \
                  from the row above, for as much of a doubling as the step is.";
    let laws = " The laws are fitted to the logarithms of throughput by least squares, with σ and κ not below zero; Amdahl's is the universal \
                law without κ.";
    format!("{growth}{}", if has_laws { laws } else { "" })
}
