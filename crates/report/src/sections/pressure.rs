//! How work was offered if not by a fixed number of clients: the climb to the peak, and the queue for sessions.

use super::comparison::each_group;
use super::headed;
use crate::document::Block;
use crate::figures::Figure;
use crate::figures::chart::Spacing;
use crate::figures::curve::{Curve, panels};
use crate::format::Style;
use crate::table::{Cell, Table, Tone, columns, id};
use analysis::cells::CellResult;
use analysis::pressure::{TrialClimb, TrialQueue};
use analysis::summary::Analysis;
use record::ladder::{ClimbEnd, Rung};

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let blocks = each_group(analysis, |cells| climb(cells).chain(queue(cells)).collect());
    headed("How work was offered", blocks, None)
}

fn climb(cells: &[&CellResult]) -> impl Iterator<Item = Block> + use<> {
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
    let panels = panels(&curves.collect::<Vec<_>>(), ("clients", Spacing::Logarithmic), unit);
    let description = format!(
        "{unit} in each step, over the number of clients. The dot is the number with which the trial was then measured \
         afresh; the steps themselves count for nothing else."
    );
    let id_of = |what: &str| id(what, &cells[0].coordinates);
    let figure = Figure::of(id_of("climb-to-the-peak"), "The climb to the peak", description, panels);
    let rows = cells.iter().flat_map(|cell| cell.climbs.iter().map(|climbed| climb_row(&cell.contender, climbed)));
    let mut titles = columns(&["contender"], &["block", "clients at the peak", "fewest as good", "steps"]);
    titles.extend(columns(&["climb ended", "what ran out at the peak"], &[]));
    let caption = "Where each climb ended; “fewest as good” cannot be told apart from the peak";
    let table = Table::new(id_of("climbs"), caption, titles, rows).unless_empty();
    figure.map(Block::Figure).into_iter().chain(table.map(Block::Table))
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
        Cell::text(contender),
        Cell::name(climbed.block),
        Cell::count(ladder.chosen),
        Cell::count(ladder.smallest_tied),
        Cell::count(ladder.rungs.len()),
        Cell::verdict(ended, tone),
        Cell::text(&ladder.saturated),
    ]
}

fn unit<'a>(cells: &[&'a CellResult]) -> &'a str {
    cells.iter().map(|cell| cell.metric.name.as_str()).find(|name| !name.is_empty()).unwrap_or("throughput")
}

fn queue(cells: &[&CellResult]) -> impl Iterator<Item = Block> + use<> {
    let curves = cells.iter().enumerate().flat_map(|(index, cell)| {
        let of_trial = move |queued: &TrialQueue| {
            let lengths = (1_u32..).zip(&queued.queue.each_second);
            let points = lengths.map(|(second, length)| (f64::from(second), *length as f64)).collect();
            Curve { block: queued.block, index, contender: &cell.contender, points, mark: None }
        };
        cell.queues.iter().map(of_trial)
    });
    let panels = panels(&curves.collect::<Vec<_>>(), ("seconds", Spacing::Linear), "waiting");
    let description = "Transactions that were due and waited for a session, at the end of each second since driving \
                       began. A line that rises says that the database does less than it is asked for.";
    let id_of = |what: &str| id(what, &cells[0].coordinates);
    let figure = Figure::of(id_of("waiting-for-a-session"), "Waiting for a session", description, panels);
    let rows = cells.iter().flat_map(|cell| cell.queues.iter().map(|queued| queue_row(&cell.contender, queued)));
    let waited = ["longest queue", "left waiting", "turned away", "wait p99, ms", "response p99, ms"];
    let columns = columns(&["contender"], &[["block", "asked/s", "done/s"].as_slice(), &waited].concat());
    let caption = "What was asked for and what was done; point values over all kinds of transaction";
    let table = Table::new(id_of("queues"), caption, columns, rows).unless_empty();
    figure.map(Block::Figure).into_iter().chain(table.map(Block::Table))
}

fn queue_row(contender: &str, queued: &TrialQueue) -> Vec<Cell> {
    let queue = &queued.queue;
    let alarm = if queue.turned_away > 0 { Tone::Bad } else { Tone::Plain };
    let rate = Style::quantity("1/s");
    vec![
        Cell::text(contender),
        Cell::name(queued.block),
        Cell::number_or(queued.asked_per_s, rate, "no rate was asked for"),
        Cell::number(queued.done_per_s, rate),
        Cell::count(queue.longest),
        Cell::count(queue.waiting_at_end),
        Cell::count(queue.turned_away).tone(alarm),
        Cell::number(queued.session_wait_p99_us as f64, Style::MILLISECONDS),
        Cell::number(queued.response_p99_us as f64, Style::MILLISECONDS),
    ]
}
