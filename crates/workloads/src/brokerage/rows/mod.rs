//! The initial population. A chunk is all rows of one customer, company or security, or of a load unit's trades.

mod companies;
mod customers;
mod fixed;
mod securities;
#[cfg(test)]
mod tests;
mod trades;

use super::Brokerage;
use super::customers::accounts;
use super::size::EXCHANGES;
use super::{ids, market, places};
use crate::chunks::{Chunk, id, no_rows, source, source_of_large_rows};
use crate::dataset::{RowSource, TablePart};
use crate::random::RandomStream;
use engines::rows::RowSink;
use std::ops::Range;

pub use customers::MAIL_DOMAINS;

/// The rows of one part of a table.
pub fn rows<'a>(workload: &'a Brokerage, table: &str, part: TablePart) -> Box<dyn RowSource + 'a> {
    let (seed, size) = (workload.settings.data_seed, workload.settings.size());
    let (customers, companies, securities) =
        (u64::from(size.customers), u64::from(size.companies()), u64::from(size.securities()));
    match table {
        "status_type" => source(part, 1, |_| fixed::statuses()),
        "zip_code" => source(part, 1, |_| fixed::zip_codes()),
        "taxrate" => source(part, 1, |_| fixed::tax_rates()),
        "sector" => source(part, 1, |_| fixed::sectors()),
        "industry" => source(part, 1, |_| fixed::industries()),
        "exchange" => source(part, 1, move |_| fixed::exchanges(size)),
        "trade_type" => source(part, 1, |_| fixed::trade_types()),
        "charge" => source(part, 1, |_| fixed::charges()),
        "commission_rate" => source(part, 1, |_| fixed::commission_rates()),
        "address" => source(part, addresses(workload), move |chunk| fixed::address(seed, id(chunk))),
        "company" => source(part, companies, move |chunk| companies::company(seed, id(chunk))),
        "company_competitor" => source(part, companies, move |chunk| companies::competitors(size, id(chunk))),
        "financial" => source(part, companies, move |chunk| companies::financials(seed, id(chunk))),
        "news_item" => {
            let bytes = workload.settings.news_bytes as usize;
            source_of_large_rows(part, companies, move |chunk| companies::news(seed, size, bytes, id(chunk)))
        }
        "news_xref" => source(part, companies, move |chunk| companies::news_of_company(id(chunk))),
        "security" => source(part, securities, move |chunk| securities::security(seed, id(chunk))),
        "daily_market" => source(part, securities, move |chunk| securities::daily_market(seed, id(chunk))),
        "last_trade" => source(part, securities, move |chunk| securities::last_trade(size, id(chunk))),
        "customer" => source(part, customers, move |chunk| customers::customer(seed, size, id(chunk))),
        "customer_taxrate" => source(part, customers, move |chunk| customers::tax_rates(seed, size, id(chunk))),
        "customer_account" => source(part, customers, move |chunk| customers::accounts(seed, id(chunk))),
        "account_permission" => source(part, customers, move |chunk| customers::permissions(seed, id(chunk))),
        "watch_list" => source(part, customers, move |chunk| customers::watch_list(id(chunk))),
        "watch_item" => source(part, customers, move |chunk| customers::watch_items(seed, size, id(chunk))),
        "broker" => {
            let brokers = &workload.totals().brokers;
            source(part, u64::from(size.brokers()), move |chunk| trades::broker(seed, brokers, id(chunk)))
        }
        "holding_summary" => {
            source(part, size.load_units().into(), move |unit| trades::summaries(seed, size, id(unit)))
        }
        "holding" => source(part, size.load_units().into(), move |unit| trades::holdings(seed, size, id(unit))),
        _ => match trades::row_of(table) {
            Some(row) => {
                source(part, size.load_units().into(), move |unit| trades::Trades::new(seed, size, id(unit), row))
            }
            None => no_rows(),
        },
    }
}

/// Number of rows of a table at the start.
pub fn expected_rows(workload: &Brokerage, table: &str) -> u64 {
    let size = workload.settings.size();
    let (customers, companies) = (u64::from(size.customers), u64::from(size.companies()));
    match table {
        "status_type" | "trade_type" => 5,
        "zip_code" => places::ZIP_CODES.into(),
        "taxrate" => places::COUNTRY_RATES.len() as u64 + u64::from(places::DIVISION_RATES),
        "sector" => market::SECTORS.len() as u64,
        "industry" => market::INDUSTRIES_COUNT.into(),
        "exchange" => EXCHANGES.into(),
        "charge" => 15,
        "commission_rate" => 240,
        "address" => addresses(workload),
        "company" => companies,
        "company_competitor" => companies * u64::from(companies::COMPETITORS),
        "financial" => companies * u64::from(companies::QUARTERS),
        "news_item" | "news_xref" => companies * u64::from(companies::NEWS),
        "security" | "last_trade" => size.securities().into(),
        "daily_market" => u64::from(size.securities()) * u64::from(super::calendar::MARKET_DAYS),
        "customer" | "watch_list" => customers,
        "customer_taxrate" => 2 * customers,
        "customer_account" => size.accounts().into(),
        "broker" => size.brokers().into(),
        "account_permission" => workload.totals().permissions,
        "watch_item" => workload.totals().watch_items,
        "trade" | "settlement" => size.trades(),
        "trade_history" => workload.totals().histories,
        "cash_transaction" => workload.totals().cash_transactions,
        "holding_history" => workload.totals().holding_histories,
        "holding" => workload.totals().holdings,
        "holding_summary" => workload.totals().summaries,
        _ => 0,
    }
}

/// The highest key that loading makes, where a number is the key and does not depend on the trading.
pub fn highest_key(workload: &Brokerage, table: &str) -> Option<i64> {
    let size = workload.settings.size();
    let last = |count: u32| ids::id(count - 1);
    match table {
        "address" => Some(last(EXCHANGES + size.companies() + size.customers)),
        "company" => Some(last(size.companies())),
        "news_item" => Some(last(size.companies() * companies::NEWS)),
        "customer" | "watch_list" => Some(last(size.customers)),
        "broker" => Some(last(size.brokers())),
        "customer_account" => {
            let customer = size.customers - 1;
            Some(ids::account_id(customer, accounts(customer) - 1))
        }
        "trade" => Some(ids::trade_id(size.orders())),
        _ => None,
    }
}

fn addresses(workload: &Brokerage) -> u64 {
    let size = workload.settings.size();
    u64::from(EXCHANGES) + u64::from(size.companies()) + u64::from(size.customers)
}

fn stream(seed: u64, purpose: &str, place: u32) -> RandomStream {
    RandomStream::new(seed, purpose, [place, 0])
}

/// So many rows, of which each is written by its number.
struct Rows<Write> {
    left: Range<u32>,
    write: Write,
}

fn rows_of<Write: FnMut(u32, &mut dyn RowSink) + Send>(count: u32, write: Write) -> Rows<Write> {
    Rows { left: 0..count, write }
}

impl<Write: FnMut(u32, &mut dyn RowSink) + Send> Chunk for Rows<Write> {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(row) = self.left.next() else { return false };
        (self.write)(row, sink);
        sink.end_row();
        true
    }
}

fn integers(sink: &mut dyn RowSink, values: &[i64]) {
    for value in values {
        sink.integer(*value);
    }
}

fn texts(sink: &mut dyn RowSink, values: &[&str]) {
    for value in values {
        sink.text(value);
    }
}

fn text_or_null(sink: &mut dyn RowSink, value: Option<&str>) {
    match value {
        Some(text) => sink.text(text),
        None => sink.null(),
    }
}
