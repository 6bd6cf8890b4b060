//! Throughput over time: one panel for each block, so that drift and disturbances can be seen where they happened.

use super::scale::{Scale, ticks};
use super::svg::{Anchor, Canvas};
use super::{label, look, spread};
use crate::document::{Figure, Panel};
use crate::format;
use analysis::batches::Second;
use analysis::cells::CellResult;
use analysis::steadiness::Settled;
use analysis::throughput::TrialThroughput;

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 64.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 36.0;
const LABELS_APART: f64 = 14.0;
const MARK_RADIUS: f64 = 3.0;

/// Room above the highest line, for the word in the shaded part.
const HEADROOM: f64 = 1.15;

/// What one contender did in one block.
struct Line<'a> {
    index: usize,
    contender: &'a str,
    trial: &'a TrialThroughput,
}

pub fn figure(cells: &[&CellResult]) -> Option<Figure> {
    let lines: Vec<Line<'_>> = cells.iter().enumerate().flat_map(lines_of).collect();
    let seconds = || lines.iter().flat_map(|line| &line.trial.seconds);
    let highest = seconds().map(|second| second.rate).fold(0.0, f64::max);
    let length_s = seconds().map(end_s).fold(0.0, f64::max);
    if lines.is_empty() || highest <= 0.0 {
        return None;
    }
    let mut blocks: Vec<u32> = lines.iter().map(|line| line.trial.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let unit = cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput");
    let panels = blocks.into_iter().map(|block| {
        let own: Vec<&Line<'_>> = lines.iter().filter(|line| line.trial.block == block).collect();
        Panel { svg: panel(block, &own, highest * HEADROOM, length_s, unit) }
    });
    Some(Figure {
        title: "Throughput over time".to_owned(),
        description: format!(
            "{unit}, second by second, since driving began. Each panel is a block. The shaded part is warm-up and does not \
             count; the thin level line is the figure of the measured window. A dot on the axis is where MSER-5 would begin."
        ),
        panels: panels.collect(),
        wide: false,
    })
}

fn lines_of<'a>((index, cell): (usize, &&'a CellResult)) -> Vec<Line<'a>> {
    let drawn = cell.trials.iter().filter(|trial| !trial.seconds.is_empty());
    drawn.map(|trial| Line { index, contender: &cell.contender, trial }).collect()
}

fn end_s(second: &Second) -> f64 {
    second.start_ms as f64 / 1000.0 + 1.0
}

fn panel(block: u32, lines: &[&Line<'_>], highest: f64, length_s: f64, unit: &str) -> String {
    let mut canvas = Canvas::new(WIDTH, HEIGHT);
    let across = Scale::linear((0.0, length_s), (LEFT, RIGHT));
    let up = Scale::linear((0.0, highest), (BOTTOM, TOP));
    let warmup_s = lines.iter().filter_map(|line| measured_from_s(&line.trial.seconds)).fold(f64::INFINITY, f64::min);
    if warmup_s.is_finite() && warmup_s > 0.0 {
        canvas.rectangle("shade", (LEFT, TOP), (across.at(warmup_s) - LEFT, BOTTOM - TOP));
        canvas.text("small", (LEFT + 4.0, TOP + 11.0), Anchor::Start, "warm-up");
    }
    axes(&mut canvas, across, up, (highest, length_s));
    canvas.text("head", (LEFT, 14.0), Anchor::Start, &format!("Block {block}"));
    canvas.text("small", (RIGHT, 14.0), Anchor::End, unit);
    for line in lines {
        draw(&mut canvas, line, across, up);
        mark(&mut canvas, line, across);
    }
    labels(&mut canvas, lines, up);
    let said = lines.iter().map(|line| {
        let value = line.trial.value.map_or_else(|| "nothing".to_owned(), format::quantity);
        format!("{} {value}{}", line.contender, if line.trial.valid { "" } else { " (does not count)" })
    });
    let said = said.collect::<Vec<_>>().join(", ");
    canvas.finish(&format!("Throughput in block {block}"), &format!("In the measured window, {unit}: {said}."))
}

fn measured_from_s(seconds: &[Second]) -> Option<f64> {
    seconds.iter().find(|second| second.measured).map(|second| second.start_ms as f64 / 1000.0)
}

fn axes(canvas: &mut Canvas, across: Scale, up: Scale, (highest, length_s): (f64, f64)) {
    for tick in ticks(0.0, highest, 4.0) {
        let class = if tick == 0.0 { "axis" } else { "grid" };
        canvas.line(class, (LEFT, up.at(tick)), (RIGHT, up.at(tick)));
        canvas.text("tick", (LEFT - 6.0, up.at(tick) + 4.0), Anchor::End, &format::decimal(tick, 0));
    }
    for tick in ticks(0.0, length_s, 5.0) {
        canvas.line("axis", (across.at(tick), BOTTOM), (across.at(tick), BOTTOM + 4.0));
        let text = format!("{}{}", format::decimal(tick, 0), if tick == 0.0 { " s" } else { "" });
        canvas.text("tick", (across.at(tick), BOTTOM + 17.0), Anchor::Middle, &text);
    }
}

fn draw(canvas: &mut Canvas, line: &Line<'_>, across: Scale, up: Scale) {
    let seconds = &line.trial.seconds;
    let middle = |second: &Second| (across.at(second.start_ms as f64 / 1000.0 + 0.5), up.at(second.rate));
    let look = look(line.index);
    let faded = if line.trial.valid { "" } else { " faded" };
    canvas.path(&format!("line {look}{faded}"), seconds.iter().map(middle));
    if let (Some(value), Some(from_s)) = (line.trial.value, measured_from_s(seconds)) {
        let to_s = seconds.iter().filter(|second| second.measured).map(end_s).fold(0.0, f64::max);
        canvas.line(
            &format!("level {look}{faded}"),
            (across.at(from_s), up.at(value)),
            (across.at(to_s), up.at(value)),
        );
    }
}

/// On the axis of time, where MSER-5 would begin; as far as it says.
fn mark(canvas: &mut Canvas, line: &Line<'_>, across: Scale) {
    if let Settled::At { start_ms, .. } = line.trial.steadiness.settled {
        let look = look(line.index);
        canvas.circle(&format!("point {look}"), (across.at(start_ms as f64 / 1000.0), BOTTOM), MARK_RADIUS);
    }
}

fn labels(canvas: &mut Canvas, lines: &[&Line<'_>], up: Scale) {
    let last = |line: &&Line<'_>| line.trial.value.or_else(|| line.trial.seconds.last().map(|second| second.rate));
    let heights: Vec<f64> = lines.iter().map(|line| up.at(last(line).unwrap_or(0.0)) + 4.0).collect();
    for (line, height) in lines.iter().zip(spread(&heights, LABELS_APART, BOTTOM)) {
        let class = format!("name {}", look(line.index));
        canvas.text(&class, (RIGHT + 6.0, height), Anchor::Start, &label(line.contender));
    }
}
