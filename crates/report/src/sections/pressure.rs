//! How work was offered if not by a fixed number of clients: the climb to the peak, and the queue for sessions.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::figures::Figure;
use crate::figures::chart::{Paper, Spacing};
use crate::figures::curve::{Curve, panels};
use crate::format::Style;
use crate::table::{TableCell, TableOf, Tone, id};
use analysis::cells::CellResult;
use analysis::summary::Analysis;
use record::ladder::{ClimbEnd, Ladder, Rung};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let blocks = each_group(analysis, |cells| climb(cells).chain(queue(cells)));
    headed("How work was offered", blocks, "")
}

fn climb(cells: &[&CellResult]) -> impl Iterator<Item = Block> + use<> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        cell.climbs.iter().map(move |climbed| {
            let point = |rung: &Rung| (f64::from(rung.clients), rung.per_second * cell.metric.per_ms as f64 / 1000.0);
            let mut points: Vec<(f64, f64)> = climbed.ladder.rungs.iter().map(point).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let chosen = f64::from(climbed.ladder.chosen);
            let mark = points.iter().copied().find(|(clients, _)| (clients - chosen).abs() < 0.5);
            Curve { head: format!("Block {}", climbed.block), index, contender: &cell.contender, points, mark }
        })
    });
    let unit = cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput");
    let axes = [("clients", Spacing::Logarithmic), (unit, Spacing::Linear)];
    let panels = panels(Paper::SMALL, &curves.collect::<Vec<_>>(), axes);
    let description = format!(
        "{unit} in each step, over the number of clients. The dot is the number with which the trial was then measured \
         afresh; the steps themselves count for nothing else."
    );
    let id_of = |what: &str| id(what, &cells[0].coordinates);
    let figure = Figure::of(id_of("climb-to-the-peak"), "The climb to the peak", description, panels);
    let climbs = cells.iter().flat_map(|cell| cell.climbs.iter().map(|climbed| (*cell, climbed)));
    let table = TableOf::new(&climbs.collect::<Vec<_>>())
        .text("contender", |(cell, _)| TableCell::text(&cell.contender))
        .number("block", |(_, climbed)| TableCell::name(climbed.block))
        .number("clients at the peak", |(_, climbed)| TableCell::count(climbed.ladder.chosen))
        .number("fewest as good", |(_, climbed)| TableCell::count(climbed.ladder.smallest_tied))
        .number("steps", |(_, climbed)| TableCell::count(climbed.ladder.rungs.len()))
        .text("climb ended", |(_, climbed)| ended(&climbed.ladder))
        .text("what ran out at the peak", |(_, climbed)| TableCell::text(&climbed.ladder.saturated))
        .table(id_of("climbs"), "Where each climb ended; “fewest as good” cannot be distinguished from the peak");
    figure.map(Block::Figure).into_iter().chain(table.map(Block::Table))
}

fn ended(ladder: &Ladder) -> TableCell {
    let text = match ladder.ended {
        ClimbEnd::Declined => "more clients got less done",
        ClimbEnd::Levelled => "more clients got no more done",
        ClimbEnd::LargestReached => {
            return TableCell::verdict(format!("still rising at the {} allowed", ladder.largest_allowed), Tone::Marked);
        }
        ClimbEnd::Errors => "too many transactions failed",
        ClimbEnd::Slow => "responses became too long",
    };
    TableCell::verdict(text, Tone::Plain)
}

fn queue(cells: &[&CellResult]) -> impl Iterator<Item = Block> + use<> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        cell.queues.iter().map(move |queued| {
            let lengths = (1_u32..).zip(&queued.queue.each_second);
            let points = lengths.map(|(second, length)| (f64::from(second), *length as f64)).collect();
            Curve { head: format!("Block {}", queued.block), index, contender: &cell.contender, points, mark: None }
        })
    });
    let axes = [("seconds", Spacing::Linear), ("waiting", Spacing::Linear)];
    let panels = panels(Paper::SMALL, &curves.collect::<Vec<_>>(), axes);
    let description = "Transactions that were due and waited for a session, at the end of each second since driving \
                       began. A line that rises says that the database does less than it is asked for.";
    let id_of = |what: &str| id(what, &cells[0].coordinates);
    let figure = Figure::of(id_of("waiting-for-a-session"), "Waiting for a session", description, panels);
    let rate = Style::quantity("1/s");
    let time = |value_us: u64| TableCell::number(value_us as f64, Style::MILLISECONDS);
    let turned_away = |count: u64| TableCell::count(count).tone(if count > 0 { Tone::Bad } else { Tone::Plain });
    let queues = cells.iter().flat_map(|cell| cell.queues.iter().map(|queued| (*cell, queued)));
    let table = TableOf::new(&queues.collect::<Vec<_>>())
        .text("contender", |(cell, _)| TableCell::text(&cell.contender))
        .number("block", |(_, queued)| TableCell::name(queued.block))
        .number("asked/s", |(_, queued)| TableCell::number_or(queued.asked_per_s, rate, "no rate was asked for"))
        .number("done/s", |(_, queued)| TableCell::number(queued.done_per_s, rate))
        .number("longest queue", |(_, queued)| TableCell::count(queued.queue.longest))
        .number("left waiting", |(_, queued)| TableCell::count(queued.queue.waiting_at_end))
        .number("turned away", |(_, queued)| turned_away(queued.queue.turned_away))
        .number("wait p99, ms", |(_, queued)| time(queued.session_wait_p99_us))
        .number("response p99, ms", |(_, queued)| time(queued.response_p99_us))
        .table(id_of("queues"), "What was asked for and what was done; point values over all kinds of transaction");
    figure.map(Block::Figure).into_iter().chain(table.map(Block::Table))
}
