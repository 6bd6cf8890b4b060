//! How work was offered, where that was not a fixed number of clients: the climb to the peak, and the queue for sessions.

use super::comparison::groups;
use super::{heading, place};
use crate::document::{Block, Cell, Column, Figure, Table, Tone};
use crate::figures::curve::{Axes, Curve, panels};
use crate::format;
use analysis::cells::CellResult;
use analysis::pressure::{TrialClimb, TrialQueue};
use analysis::summary::Analysis;
use record::ladder::{ClimbEnd, Rung};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut blocks = Vec::new();
    for cells in groups(analysis) {
        let climbs = if cells.iter().any(|cell| !cell.climbs.is_empty()) { climb(&cells) } else { Vec::new() };
        let queues = if cells.iter().any(|cell| !cell.queues.is_empty()) { queue(&cells) } else { Vec::new() };
        if !climbs.is_empty() || !queues.is_empty() {
            blocks.extend(place(&cells[0].coordinates));
        }
        blocks.extend(climbs.into_iter().chain(queues));
    }
    if blocks.is_empty() { blocks } else { std::iter::once(heading("How work was offered")).chain(blocks).collect() }
}

fn climb(cells: &[&CellResult]) -> Vec<Block> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        let of_trial = move |climbed: &TrialClimb| {
            let point = |rung: &Rung| (f64::from(rung.clients), rung.per_second * cell.metric.per_ms as f64 / 1000.0);
            let mut points: Vec<(f64, f64)> = climbed.ladder.rungs.iter().map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let chosen = f64::from(climbed.ladder.chosen);
            let mark = points.iter().copied().find(|(clients, _)| (clients - chosen).abs() < 0.5);
            Curve { block: climbed.block, index, contender: &cell.contender, points, mark }
        };
        cell.climbs.iter().map(of_trial)
    });
    let unit = unit(cells);
    let axes = Axes { across: "clients", up: unit, logarithmic: true };
    let panels = panels(&curves.collect::<Vec<_>>(), &axes);
    let mut blocks = Vec::new();
    if !panels.is_empty() {
        let description = format!(
            "{unit} in each step, over the number of clients. The dot is the number with which the trial was then measured \
             afresh; the steps themselves count for nothing else."
        );
        blocks.push(Block::Figure(Figure {
            title: "The climb to the peak".to_owned(),
            description,
            panels,
            wide: false,
        }));
    }
    let rows = cells.iter().flat_map(|cell| cell.climbs.iter().map(|climbed| climb_row(&cell.contender, climbed)));
    let mut columns = vec![Column::text("contender"), Column::number("block")];
    columns.extend(["clients at the peak", "fewest as good", "steps"].map(Column::number));
    columns.extend(["climb ended", "what ran out at the peak"].map(Column::text));
    let caption = "Where each climb ended; “fewest as good” cannot be told apart from the peak".to_owned();
    blocks.push(Block::Table(Table { caption, columns, rows: rows.collect() }));
    blocks
}

fn climb_row(contender: &str, climbed: &TrialClimb) -> Vec<Cell> {
    let ladder = &climbed.ladder;
    let ended = match ladder.ended {
        ClimbEnd::Declined => "more clients got less done".to_owned(),
        ClimbEnd::Levelled => "more clients got no more done".to_owned(),
        ClimbEnd::LargestReached => format!("still rising at the {} allowed", ladder.largest_allowed),
        ClimbEnd::Errors => "too many transactions failed".to_owned(),
        ClimbEnd::Slow => "responses became too long".to_owned(),
    };
    let tone = if ladder.ended == ClimbEnd::LargestReached { Tone::Marked } else { Tone::Plain };
    vec![
        Cell::new(contender),
        Cell::new(climbed.block.to_string()),
        Cell::new(ladder.chosen.to_string()),
        Cell::new(ladder.smallest_tied.to_string()),
        Cell::new(ladder.rungs.len().to_string()),
        Cell::new(ended).tone(tone),
        Cell::new(&ladder.saturated),
    ]
}

fn unit<'a>(cells: &[&'a CellResult]) -> &'a str {
    cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput")
}

fn queue(cells: &[&CellResult]) -> Vec<Block> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        let of_trial = move |queued: &TrialQueue| {
            let lengths = (1_u32..).zip(&queued.queue.each_second);
            let points = lengths.map(|(second, length)| (f64::from(second), *length as f64)).collect();
            Curve { block: queued.block, index, contender: &cell.contender, points, mark: None }
        };
        cell.queues.iter().map(of_trial)
    });
    let axes = Axes { across: "seconds", up: "waiting", logarithmic: false };
    let panels = panels(&curves.collect::<Vec<_>>(), &axes);
    let mut blocks = Vec::new();
    if !panels.is_empty() {
        let description = "Transactions that were due and waited for a session, at the end of each second since driving \
                           began. A line that rises says that the database does less than it is asked for.";
        let title = "Waiting for a session".to_owned();
        blocks.push(Block::Figure(Figure { title, description: description.to_owned(), panels, wide: false }));
    }
    let rows = cells.iter().flat_map(|cell| cell.queues.iter().map(|queued| queue_row(&cell.contender, queued)));
    let mut columns = vec![Column::text("contender"), Column::number("block")];
    let numbers =
        ["asked/s", "done/s", "longest queue", "left waiting", "turned away", "wait p99, ms", "response p99, ms"];
    columns.extend(numbers.map(Column::number));
    let caption = "What was asked for and what was done; plain readings over all kinds of transaction".to_owned();
    blocks.push(Block::Table(Table { caption, columns, rows: rows.collect() }));
    blocks
}

fn queue_row(contender: &str, queued: &TrialQueue) -> Vec<Cell> {
    let queue = &queued.queue;
    let alarming = |count: u64| {
        let tone = if count > 0 { Tone::Bad } else { Tone::Plain };
        Cell::new(format::count(count)).tone(tone)
    };
    vec![
        Cell::new(contender),
        Cell::new(queued.block.to_string()),
        queued.asked_per_s.map_or_else(Cell::none, |rate| Cell::new(format::quantity(rate))),
        Cell::new(format::quantity(queued.done_per_s)),
        Cell::new(format::count(queue.longest)),
        Cell::new(format::count(queue.waiting_at_end)),
        alarming(queue.turned_away),
        Cell::new(format::milliseconds(queued.session_wait_p99_us as f64)),
        Cell::new(format::milliseconds(queued.response_p99_us as f64)),
    ]
}
