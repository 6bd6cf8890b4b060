//! How much a scale means.

use crate::decision_support::scale::{EXPECTED, hundredths, plain};
use serde::Deserialize;
use tpcdsgen::config::{Session, SessionBuilder, Table};

/// A scale in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Scale(u32);

impl TryFrom<f64> for Scale {
    type Error = &'static str;

    fn try_from(scale: f64) -> Result<Self, Self::Error> {
        Self::of(scale).ok_or(EXPECTED)
    }
}

impl Scale {
    /// `None` if it has more than two digits after the point, or is out of range.
    pub fn of(scale: f64) -> Option<Self> {
        hundredths(scale).map(Self)
    }

    pub const fn hundredths(self) -> u32 {
        self.0
    }

    /// What the generators need to know.
    pub(super) fn session(self) -> Session {
        SessionBuilder::new().with_scale_factor(plain(self.0)).build().expect("a scale is a positive number")
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
        let of = |scale: f64| tables.map(|table| Scale::of(scale).unwrap().rows(table));
        assert_eq!(of(0.01), [2, 2_000, 1_000, 261_261, 10_000, 73_049]);
        assert_eq!(of(1.0), [12, 18_000, 100_000, 11_745_000, 240_000, 73_049]);
        assert_eq!(of(1_000.0), [1_002, 300_000, 12_000_000, 783_000_000, 240_000_000, 73_049]);
    }
}
