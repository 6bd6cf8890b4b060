//! How many lines orders have, and how many of them are returned, without making the rows.

use crate::decision_support::scale::DataScale;
use std::ops::RangeInclusive;
use tpcdsgen::config::Table;
use tpcdsgen::generator::{
    CatalogSalesGeneratorColumn as Catalog, GeneratorColumn, StoreSalesGeneratorColumn as Store,
    WebSalesGeneratorColumn as Web,
};
use tpcdsgen::random::{RandomNumberStream, RandomValueGenerator};

/// Of a hundred lines, so many are returned.
const RETURNED: i32 = 10;

/// Rows of a table of sales and of that of its returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesCounts {
    pub sales: u64,
    pub returns: u64,
}

/// The rows of all tables of sales and returns.
#[derive(Debug)]
pub struct AllCounts {
    pub store: SalesCounts,
    pub catalog: SalesCounts,
    pub web: SalesCounts,
}

impl AllCounts {
    pub fn at(scale: DataScale) -> Self {
        let orders = |table| scale.rows(table);
        Self {
            store: counts(orders(Table::StoreSales), 8..=16, &Store::SsTicketNumber, &Store::SrIsReturned),
            catalog: counts(orders(Table::CatalogSales), 4..=14, &Catalog::CsOrderNumber, &Catalog::CrIsReturned),
            web: counts(orders(Table::WebSales), 8..=16, &Web::WsOrderNumber, &Web::WrIsReturned),
        }
    }
}

/// Draws as the generator does: a number of lines for each order, and for each line whether it is returned.
fn counts(
    orders: u64,
    lines: RangeInclusive<i32>,
    lines_of: &impl GeneratorColumn,
    returns_of: &impl GeneratorColumn,
) -> SalesCounts {
    let (mut of_lines, mut of_returns) = (stream(lines_of), stream(returns_of));
    let mut counts = SalesCounts { sales: 0, returns: 0 };
    for _ in 0..orders {
        let lines = RandomValueGenerator::generate_uniform_random_int(*lines.start(), *lines.end(), &mut of_lines);
        for _ in 0..lines {
            let drawn = RandomValueGenerator::generate_uniform_random_int(0, 99, &mut of_returns);
            counts.returns += u64::from(drawn < RETURNED);
            counts.sales += 1;
        }
        while of_returns.get_seeds_used() < of_returns.get_seeds_per_row() {
            of_returns.next_random();
        }
        of_returns.reset_seeds_used();
    }
    counts
}

fn stream(column: &impl GeneratorColumn) -> RandomNumberStream {
    RandomNumberStream::new_with_column(column.get_global_column_number(), column.get_seeds_per_row())
}
