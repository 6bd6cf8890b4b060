//! How much a scale means.

use crate::decision_support::scale::DataScale;
use tpcdsgen::config::{Session, SessionBuilder, Table};

impl DataScale {
    /// What the generators need to know.
    pub(super) fn session(self) -> Session {
        SessionBuilder::new().with_scale_factor(self.plain()).build().expect("a scale is a positive number")
    }

    /// Rows of a table. Of a table of sales or returns, it is the number of orders.
    pub fn rows(self, table: Table) -> u64 {
        self.session().get_scaling().get_row_count(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_grow_each_in_its_own_way() {
        let tables = [Table::Store, Table::Item, Table::Customer, Table::Inventory, Table::StoreSales, Table::DateDim];
        let of = |scale: f64| tables.map(|table| DataScale::of(scale).unwrap().rows(table));
        assert_eq!(of(0.01), [2, 2_000, 1_000, 261_261, 10_000, 73_049]);
        assert_eq!(of(1.0), [12, 18_000, 100_000, 11_745_000, 240_000, 73_049]);
        assert_eq!(of(1_000.0), [1_002, 300_000, 12_000_000, 783_000_000, 240_000_000, 73_049]);
    }
}
