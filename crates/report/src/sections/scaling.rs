//! How throughput grows with vCPUs, clients or another number, if a study varies it: table, figure, laws, limits crossed.

use super::{busy, heading};
use crate::document::Block;
use crate::figures::{self, scaling::plural};
use crate::format::{self, Digits, Style, distinct};
use crate::measures::compare;
use crate::missing;
use crate::table::{Cell, Table, Tone, columns, id};
use analysis::contrast::Contrast;
use analysis::estimate::Estimate;
use analysis::scaling::law::Peak;
use analysis::scaling::{Crossing, Point, Remark, Scaling, is_resource};
use analysis::summary::Analysis;
use record::settings::key;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    if analysis.scaling.is_empty() && analysis.thread_gains.is_empty() {
        return Vec::new();
    }
    let groups = groups(&analysis.scaling);
    let mut blocks = vec![heading("Growth with size")];
    // In the order of the plan, so that each contender has the same look as in other figures.
    let contenders = distinct(analysis.cells.iter().map(|cell| cell.contender.as_str()));
    blocks.extend(figures::scaling::figure(&groups, &contenders).map(Block::Figure));
    for group in &groups {
        let title = title(group[0]);
        blocks.push(Block::Heading { level: 3, text: title });
        blocks.push(Block::Table(growth(group)));
        let remarks: Vec<String> = group.iter().flat_map(|curve| remarks(curve)).collect();
        blocks.extend((!remarks.is_empty()).then_some(Block::List(remarks)));
        blocks.extend(busy::table(analysis, group).map(Block::Table));
        blocks.extend(laws(group).map(Block::Table));
    }
    if !analysis.thread_gains.is_empty() {
        blocks.push(Block::Heading { level: 3, text: "Second threads of the cores".to_owned() });
        blocks.push(Block::Table(second_threads(analysis)));
    }
    let has_laws = analysis.scaling.iter().any(|curve| curve.universal.is_some() || curve.amdahl.is_some());
    blocks.push(Block::Note(note(has_laws)));
    blocks
}

/// The gain of second threads, which is no part of a curve.
fn second_threads(analysis: &Analysis) -> Table {
    let level = |cell: u32| {
        let known = analysis.cells.iter().find(|known| known.cell == cell);
        let unit = known.map_or("", |known| known.metric.unit.as_str());
        Cell::estimate(known.and_then(|known| known.throughput()), Style::quantity(unit), "no valid trial has it")
    };
    let rows = analysis.thread_gains.iter().map(|gain| {
        vec![
            Cell::text(&gain.contender),
            Cell::count(gain.cores),
            level(gain.one_each),
            level(gain.two_each),
            compare(gain.gain.as_ref(), Style::EFFECT),
        ]
    });
    let numbers = ["cores", "one vCPU on each", "two on each", "gain of second threads"];
    Table::new(
        "second-threads".to_owned(),
        "Throughput on the same number of cores".to_owned(),
        columns(&["contender"], &numbers),
        rows,
    )
}

/// Curves that share one table: the same resource under the same conditions.
fn groups(curves: &[Scaling]) -> Vec<Vec<&Scaling>> {
    let mut groups: Vec<Vec<&Scaling>> = Vec::new();
    for curve in curves {
        let same = |group: &&mut Vec<&Scaling>| group[0].axis == curve.axis && group[0].held == curve.held;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    groups
}

fn title(curve: &Scaling) -> String {
    let place = if curve.held.is_empty() { String::new() } else { format!(", {}", curve.held) };
    format!("Over {}{place}", plural(&curve.axis))
}

fn growth(group: &[&Scaling]) -> Table {
    let axis = group[0].axis.as_str();
    let efficiency = format!("efficiency per {}", singular(axis));
    let mut numbers = vec![plural(axis), "throughput", "of the smallest", "per doubling"];
    if is_resource(axis) {
        numbers.insert(3, &efficiency);
    }
    if axis == key::VCPUS {
        numbers.extend(["cores", "memory nodes"]);
    }
    let rows = group.iter().flat_map(|curve| (0..curve.points.len()).map(|place| row(curve, place)));
    let caption = figures::scaling::of_slowest(group[0], &group[0].metric.unit);
    Table::new(id_of("growth", group[0]), caption, columns(&["contender"], &numbers), rows)
}

fn id_of(what: &str, curve: &Scaling) -> String {
    id(what, &format!("{} {}", plural(&curve.axis), curve.held))
}

fn row(curve: &Scaling, place: usize) -> Vec<Cell> {
    let point = &curve.points[place];
    let over_smallest = |found: Option<&Contrast>, style: Style<'static>| match place {
        0 => Cell::count(1).tone(Tone::Muted),
        _ => compare(found, style),
    };
    let step = place.checked_sub(1).and_then(|before| curve.steps.get(before));
    let per_doubling = step.and_then(|step| step.per_doubling.as_ref());
    let mut cells = vec![
        Cell::text(if place == 0 { &curve.contender } else { "" }),
        Cell::number(point.size, Style::new("", Digits::Plain)),
        Cell::estimate(point.throughput.as_ref(), Style::quantity(&curve.metric.unit), "no valid trial has it"),
        over_smallest(point.growth.as_ref(), Style::EFFECT),
    ];
    cells.extend(is_resource(&curve.axis).then(|| over_smallest(point.efficiency.as_ref(), Style::RATIO)));
    cells.push(compare(per_doubling, Style::EFFECT));
    if curve.axis == key::VCPUS {
        cells.extend([cores(point), point.place.nodes.map_or_else(unknown, Cell::count)]);
    }
    cells
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
    let mut said: Vec<String> =
        curve.remarks.iter().map(|one| format!("{}: {}", curve.contender, remark(one))).collect();
    said.extend(is_resource(&curve.axis).then(|| format!("{}: {}", curve.contender, peak(curve))));
    said
}

fn peak(curve: &Scaling) -> String {
    let of_law = curve.universal.as_ref().map(|law| (&law.peak, law.sizes.len()));
    let unit = plural(&curve.axis);
    match of_law {
        None => "Too few sizes for the Universal Scalability Law.".to_owned(),
        Some((Peak::Determined { size }, _)) => {
            let largest = curve.points.last().map_or(0.0, |point| point.size);
            let beyond = if size.point > largest { ", beyond the largest size measured" } else { "" };
            format!("Throughput is highest at {}{beyond}.", format::estimate_in(size, format::ratio, unit))
        }
        Some((Peak::NotDetermined { extrapolated, why }, _)) => {
            let beyond =
                extrapolated.map(|size| format!(" (the curve, extrapolated, has it at {})", format::ratio(size)));
            format!(
                "Peak not determined{}: {}.",
                beyond.unwrap_or_default(),
                why.iter().map(missing::why).collect::<Vec<_>>().join("; ")
            )
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
    let mut rows = Vec::new();
    for curve in group {
        if let Some(law) = &curve.universal {
            let coherency = Some(&law.coherency);
            rows.push(law_row(curve, "universal", [&law.rate_of_one, &law.contention], coherency, law.furthest_off));
        }
        if let Some(law) = &curve.amdahl {
            rows.push(law_row(curve, "Amdahl's", [&law.rate_of_one, &law.contention], None, law.furthest_off));
        }
    }
    Table::new(id_of("laws", group[0]), "Fitted laws", columns, rows).unless_empty()
}

fn law_row(
    curve: &Scaling,
    name: &str,
    [one, queue]: [&Estimate; 2],
    coherency: Option<&Estimate>,
    furthest_off: f64,
) -> Vec<Cell> {
    vec![
        Cell::text(&curve.contender),
        Cell::text(name),
        Cell::estimate(Some(one), Style::quantity(&curve.metric.unit), ""),
        Cell::estimate(Some(queue), Style::new("", Digits::Small), ""),
        Cell::estimate(coherency, Style::new("", Digits::Scientific), "the law has none"),
        Cell::number(furthest_off, Style::PERCENT).detail("point value"),
    ]
}

fn note(has_laws: bool) -> String {
    let growth = "Cells that differ in nothing but the size. Growth and efficiency are ratios of the same block; “per doubling” is the growth \
                  from the row above, for as much of a doubling as the step is.";
    let laws = " The laws are fitted to the logarithms of throughput by least squares, with σ and κ not below zero; Amdahl's is the universal \
                law without κ.";
    format!("{growth}{}", if has_laws { laws } else { "" })
}
