//! Trades and everything that follows from them, out of replays of the initial trading.

use super::super::calendar;
use super::super::ids;
use super::super::people::Person;
use super::super::replay::{Brokered, CompletedTrade, Replay};
use super::super::size::BrokerageSize;
use super::super::trading::{cash_type, status};
use super::super::unit::{Member, UnitPosition};
use super::{integers, rows_of, texts};
use crate::chunks::Chunk;
use crate::random::Letters;
use engines::rows::RowSink;

/// The trade whose rows are written. The replay knows what it did to lots.
pub struct TradeInReplay<'a> {
    seed: u64,
    replay: &'a Replay,
    trade: &'a CompletedTrade,
}

/// Writes the row of a trade with this number; returns false if the trade has fewer rows.
pub type RowOf = fn(&TradeInReplay<'_>, usize, &mut dyn RowSink) -> bool;

/// How the rows of a table are written that come trade by trade.
pub fn row_of(table: &str) -> Option<RowOf> {
    match table {
        "trade" => Some(trade),
        "trade_history" => Some(history),
        "settlement" => Some(settlement),
        "cash_transaction" => Some(cash_transaction),
        "holding_history" => Some(holding_history),
        _ => None,
    }
}

/// The rows of a load unit's trades in one table.
pub struct Trades {
    seed: u64,
    replay: Replay,
    row: RowOf,
    current: Option<CompletedTrade>,
    /// Rows of the current trade that were written.
    written: usize,
}

impl Trades {
    pub fn new(seed: u64, size: BrokerageSize, unit: u32, row: RowOf) -> Self {
        Self { seed, replay: Replay::new(seed, size, unit), row, current: None, written: 0 }
    }
}

impl Chunk for Trades {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        loop {
            if let Some(trade) = &self.current
                && (self.row)(&TradeInReplay { seed: self.seed, replay: &self.replay, trade }, self.written, sink)
            {
                self.written += 1;
                sink.end_row();
                return true;
            }
            self.current = self.replay.next();
            self.written = 0;
            if self.current.is_none() {
                return false;
            }
        }
    }
}

fn trade(made: &TradeInReplay<'_>, row: usize, sink: &mut dyn RowSink) -> bool {
    if row > 0 {
        return false;
    }
    let CompletedTrade { order, member, .. } = made.trade;
    let symbol = made.replay.position(order).security.symbol();
    integers(sink, &[made.trade.id(), order.completed]);
    texts(sink, &[status::COMPLETED, order.of.id()]);
    sink.integer(order.is_cash.into());
    sink.text(symbol.as_str());
    integers(sink, &[order.quantity, order.bid_cents, ids::account_id(member.customer, member.account)]);
    sink.text(Person::new(made.seed, ids::id(member.customer)).full_name().as_str());
    integers(sink, &[order.price_cents, made.trade.charge_cents, made.trade.commission_cents, made.trade.tax_cents]);
    sink.integer(order.is_lifo.into());
    true
}

fn history(made: &TradeInReplay<'_>, row: usize, sink: &mut dyn RowSink) -> bool {
    let order = &made.trade.order;
    let all =
        [(order.placed, status::PENDING), (order.submitted, status::SUBMITTED), (order.completed, status::COMPLETED)];
    let states = if order.of.is_market() { &all[1..] } else { &all[..] };
    let Some((moment, state)) = states.get(row) else { return false };
    integers(sink, &[made.trade.id(), *moment]);
    sink.text(state);
    true
}

fn settlement(made: &TradeInReplay<'_>, row: usize, sink: &mut dyn RowSink) -> bool {
    if row > 0 {
        return false;
    }
    let order = &made.trade.order;
    sink.integer(made.trade.id());
    sink.text(cash_type(order.is_cash));
    sink.date(calendar::due_date(order.completed));
    sink.integer(made.trade.amount_cents);
    true
}

fn cash_transaction(made: &TradeInReplay<'_>, row: usize, sink: &mut dyn RowSink) -> bool {
    let order = &made.trade.order;
    if row > 0 || !order.is_cash {
        return false;
    }
    integers(sink, &[made.trade.id(), order.completed, made.trade.amount_cents]);
    let security = made.replay.position(order).security.name();
    let mut name = Letters::<100>::default();
    write!(name, "{} {} shares of {}", order.of.name(), order.quantity, security.as_str());
    sink.text(name.as_str());
    true
}

fn holding_history(made: &TradeInReplay<'_>, row: usize, sink: &mut dyn RowSink) -> bool {
    let Some(change) = made.replay.changes().get(row) else { return false };
    integers(sink, &[ids::trade_id(change.opened_by), made.trade.id(), change.before, change.after]);
    true
}

pub fn broker(seed: u64, brokers: &[Brokered], place: u32) -> impl Chunk {
    let Brokered { trades, commission_cents } = brokers[place as usize];
    rows_of(1, move |_, sink| {
        sink.integer(ids::id(place));
        texts(sink, &[status::ACTIVE, Person::of_broker(seed, place).full_name().as_str()]);
        integers(sink, &[trades, commission_cents]);
    })
}

/// What is held of each security that an account holds anything of.
pub fn summaries(seed: u64, size: BrokerageSize, unit: u32) -> impl Chunk {
    let unit = Replay::new(seed, size, unit).finish();
    let held: Vec<_> = unit.positions.into_iter().filter(|position| !position.lots.is_empty()).collect();
    rows_of(count(held.len()), move |row, sink| {
        let position = &held[row as usize];
        push_place(&unit.members, position, sink);
        sink.integer(position.lots.iter().map(|held| held.lot.quantity).sum());
    })
}

pub fn holdings(seed: u64, size: BrokerageSize, unit: u32) -> impl Chunk {
    let unit = Replay::new(seed, size, unit).finish();
    let places = (0..unit.positions.len())
        .flat_map(|position| (0..unit.positions[position].lots.len()).map(move |lot| (position, lot)));
    let places: Vec<_> = places.collect();
    rows_of(count(places.len()), move |row, sink| {
        let (position, lot) = places[row as usize];
        let position = &unit.positions[position];
        let held = position.lots[lot];
        sink.integer(ids::trade_id(held.order));
        push_place(&unit.members, position, sink);
        integers(sink, &[held.opened, held.lot.price_cents, held.lot.quantity]);
    })
}

/// The account and the security of a position.
fn push_place(members: &[Member], position: &UnitPosition, sink: &mut dyn RowSink) {
    let Member { customer, account, .. } = members[position.account as usize];
    sink.integer(ids::account_id(customer, account));
    sink.text(position.security.symbol().as_str());
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
