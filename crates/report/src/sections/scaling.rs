//! How throughput grows with vCPUs, clients or another number, if a study varies it: table, figure, laws, limits crossed.

use super::headed;
use crate::document::Block;
use crate::figures::{self, scaling::plural};
use crate::format::{self, Digits, Style, distinct, filled, grouped_by, joined, within};
use crate::measures::{compare, label, level, of_cell, style};
use crate::missing;
use crate::table::{Table, TableCell, TableOf, Tone, id, said};
use crate::words::words;
use analysis::cells::CellResult;
use analysis::contrast::Contrast;
use analysis::measures::Measure;
use analysis::measures::counted::{CPUS_BUSY, DISK_READ_TIME, DISK_WRITE_TIME};
use analysis::scaling::busy::Saturated;
use analysis::scaling::law::LawPeak;
use analysis::scaling::{Crossing, Remark, Scaling, ScalingPoint, is_resource};
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
        blocks.push(Block::lower(text));
        blocks.extend(growth(group).map(Block::Table));
        blocks.extend(Block::list(group.iter().flat_map(|curve| remarks(curve))));
        blocks.extend([busy(analysis, group), laws(group)].into_iter().flatten().map(Block::Table));
    }
    let threads =
        second_threads(analysis).map(|table| [Block::lower("Second threads of the cores"), Block::Table(table)]);
    blocks.extend(threads.into_iter().flatten());
    let has_laws = analysis.scaling.iter().any(|curve| curve.universal.is_some() || curve.amdahl.is_some());
    headed("Growth with size", blocks, note(has_laws))
}

/// The gain of second threads, which is no part of a curve.
fn second_threads(analysis: &Analysis) -> Option<Table> {
    let level = |cell: u32| {
        let known = of_cell(analysis, cell);
        let unit = known.map_or("", |known| known.metric.unit.as_str());
        TableCell::estimate(known.and_then(|known| known.throughput()), Style::quantity(unit), "no valid trial has it")
    };
    TableOf::new(&analysis.thread_gains)
        .text("contender", |one| TableCell::text(&one.contender))
        .number("cores", |one| TableCell::count(one.cores))
        .number("one vCPU on each", |one| level(one.one_each))
        .number("two on each", |one| level(one.two_each))
        .number("gain of second threads", |one| compare(one.gain.as_ref(), Style::EFFECT))
        .table("second-threads", "Throughput on the same number of cores")
}

/// The points of all curves, each with its place in its curve.
fn points<'a>(group: &[&'a Scaling]) -> Vec<OfCurve<'a>> {
    group.iter().flat_map(|curve| curve.points.iter().enumerate().map(move |(at, one)| (*curve, at, one))).collect()
}

type OfCurve<'a> = (&'a Scaling, usize, &'a ScalingPoint);

/// A table of sizes, without the columns that say what they did.
fn sizes<'a, 'b>(points: &'b [OfCurve<'a>], axis: &str) -> TableOf<'b, OfCurve<'a>> {
    TableOf::new(points)
        .text("contender", |(curve, place, _)| TableCell::text(if *place == 0 { &curve.contender } else { "" }))
        .number(plural(axis), |(.., point)| TableCell::number(point.size, Style::new("", Digits::Plain)))
}

/// The resources that each size kept busy: CPUs, disk and load engine. `None` if nothing was counted.
fn busy(analysis: &Analysis, group: &[&Scaling]) -> Option<Table> {
    let found = [CPUS_BUSY, DISK_READ_TIME, DISK_WRITE_TIME].map(|id| analysis.observations.measure(id));
    let measures: Vec<&Measure> = found.into_iter().flatten().map(|measured| &measured.measure).collect();
    if measures.is_empty() {
        return None;
    }
    let of_point = |point: &ScalingPoint, of: &dyn Fn(&CellResult) -> Option<TableCell>| {
        of_cell(analysis, point.cell).and_then(of).unwrap_or_else(|| TableCell::missing("no valid trial has it"))
    };
    let whole = Style { digits: Digits::Decimals(0), ..Style::PERCENT };
    let of_measure = |measure: &Measure, cell: &CellResult| level(analysis, cell, &measure.id, style(&measure.unit));
    let engine = |cell: &CellResult| Some(TableCell::number(cell.driver.as_ref()?.busiest_shard, whole));
    let points = points(group);
    let table = sizes(&points, &group[0].axis)
        .numbers(
            &measures,
            |measure| label(measure),
            |measure, (.., point)| of_point(point, &|cell| Some(of_measure(measure, cell))),
        )
        .number("load engine's busiest thread, %", |(.., point)| of_point(point, &engine))
        .text("saturated", |(.., point)| {
            of_point(point, &|cell| Some(TableCell::text(saturated(Saturated::of(cell)))))
        });
    let caption = "What each size kept busy; the load engine's thread is a point value of the worst trial";
    table.table(id_of("busy", group[0]), caption)
}

fn saturated(saturated: Saturated) -> &'static str {
    match saturated {
        Saturated::LoadEngine => "the load engine",
        Saturated::Cpus => "the CPUs",
        Saturated::Neither => "neither CPUs nor load engine",
        Saturated::Unknown => "not known",
    }
}

fn growth(group: &[&Scaling]) -> Option<Table> {
    let (first, axis, points) = (group[0], group[0].axis.as_str(), points(group));
    let over_smallest = |place: usize, found: Option<&Contrast>, style: Style<'static>| match place {
        0 => TableCell::count(1).tone(Tone::Muted),
        _ => compare(found, style),
    };
    let throughput = |curve: &Scaling, point: &ScalingPoint| {
        TableCell::estimate(point.throughput.as_ref(), Style::quantity(&curve.metric.unit), "no valid trial has it")
    };
    let per_doubling = |curve: &Scaling, place: usize| {
        let step = place.checked_sub(1).and_then(|before| curve.steps.get(before));
        compare(step.and_then(|step| step.per_doubling.as_ref()), Style::EFFECT)
    };
    let mut table = sizes(&points, axis)
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
            .number("memory nodes", |(.., point)| point.place.nodes.map_or_else(unknown, TableCell::count));
    }
    table.table(id_of("growth", first), figures::scaling::of_slowest(first, &first.metric.unit))
}

fn id_of(what: &str, curve: &Scaling) -> String {
    id(what, &format!("{} {}", plural(&curve.axis), curve.held))
}

fn cores(point: &ScalingPoint) -> TableCell {
    let Some(cores) = point.place.cores else { return unknown() };
    let cell = TableCell::count(cores);
    if point.place.shares_cores(point.size) == Some(true) { cell.detail("shared").tone(Tone::Marked) } else { cell }
}

fn unknown() -> TableCell {
    TableCell::text("not recorded").tone(Tone::Muted)
}

fn remarks(curve: &Scaling) -> Vec<String> {
    let peak = is_resource(&curve.axis).then(|| peak(curve));
    let said = curve.remarks.iter().map(remark).chain(peak);
    said.map(|one| format!("{}: {one}", curve.contender)).collect()
}

fn peak(curve: &Scaling) -> String {
    match curve.universal.as_ref().map(|law| &law.peak) {
        None => "Too few sizes for the Universal Scalability Law.".to_owned(),
        Some(LawPeak::Determined { size }) => {
            let largest = curve.points.last().map_or(0.0, |point| point.size);
            let beyond = if size.point > largest { ", beyond the largest size measured" } else { "" };
            let size = said(size, Style::new(plural(&curve.axis), Digits::Ratio));
            format!("Throughput is highest at {size}{beyond}.")
        }
        Some(LawPeak::NotDetermined { extrapolated, why }) => {
            let size = extrapolated.map(format::ratio).unwrap_or_default();
            let beyond = within(" (the curve, extrapolated, has it at ", &size, ")");
            format!("Peak not determined{beyond}: {}.", joined(why.iter().map(missing::why), "; "))
        }
    }
}

words! {
    fn remark(remark: &Remark) {
        remark;
    }
    Remark {
        Crossed { from, to, what: Crossing::SharedCores { vcpus, cores } } =>
            "Between {from} and {to} vCPUs: {vcpus} vCPUs share {cores} cores.";
        Crossed { from, to, what: Crossing::MemoryNodes { from: few, to: many } } =>
            "Between {from} and {to} vCPUs: from {few} to {many} memory nodes (NUMA).";
        CoresSharedAtEverySize => "At every size vCPUs share cores: a vCPU is a hardware thread here, or less.";
        CoresSharedAtSomeSizes => "Sizes at which vCPUs share cores are not part of the fitted law.";
        CoresUnknown => "Whether vCPUs share cores is not in the record.";
        NodesUnknown => "On which memory nodes (NUMA) vCPUs ran is not in the record.";
        HostIsGuest => "The host is itself a guest: what it takes for cores may be threads of its own host.";
    }
}

/// "vCPU", "client".
fn singular(resource: &str) -> &str {
    let plural = plural(resource);
    plural.strip_suffix('s').unwrap_or(plural)
}

fn laws(group: &[&Scaling]) -> Option<Table> {
    let laws = group.iter().flat_map(|curve| {
        let universal = curve.universal.as_ref().map(|law| {
            (*curve, "universal", &law.rate_of_one, &law.contention, Some(&law.coherency), law.furthest_off)
        });
        let amdahl = curve.amdahl.as_ref();
        let amdahl = amdahl.map(|law| (*curve, "Amdahl's", &law.rate_of_one, &law.contention, None, law.furthest_off));
        universal.into_iter().chain(amdahl)
    });
    let small = Style::new("", Digits::Scientific);
    TableOf::new(&laws.collect::<Vec<_>>())
        .text("contender", |(curve, ..)| TableCell::text(&curve.contender))
        .text("law", |(_, name, ..)| TableCell::text(*name))
        .number(format!("λ, of one {}", singular(&group[0].axis)), |(curve, _, one, ..)| {
            TableCell::estimate(Some(one), Style::quantity(&curve.metric.unit), "")
        })
        .number("σ, contention", |(.., contention, _, _)| TableCell::estimate(Some(contention), small, ""))
        .number("κ, coherency", |(.., coherency, _)| TableCell::estimate(*coherency, small, "the law has none"))
        .number("furthest off, %", |(.., off)| TableCell::number(*off, Style::PERCENT).detail("point value"))
        .table(id_of("laws", group[0]), "Fitted laws")
}

fn note(has_laws: bool) -> String {
    let growth = "Cells that differ in nothing but the size. Growth and efficiency are ratios of the same block; “per doubling” is the growth \
                  from the row above, for as much of a doubling as the step is.";
    let laws = " The laws are fitted to the logarithms of throughput by least squares, with σ and κ not below zero; Amdahl's is the universal \
                law without κ.";
    format!("{growth}{}", if has_laws { laws } else { "" })
}
