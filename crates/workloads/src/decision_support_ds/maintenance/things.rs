//! What new orders are about: things of the data by their ids, as they are now.

use super::super::rows::rows;
use crate::checksum::TextRows;
use crate::dataset::TablePart;
use crate::decision_support::scale::DataScale;
use tpcdsgen::business_key_generator::make_business_key;
use tpcdsgen::config::{Session, Table};

/// Columns of tables that keep their history: the id, the last day of a row that is past, and the price of an item.
const ID: usize = 1;
const LAST_DAY: usize = 3;
const PRICE: usize = 5;
/// In the text form of rows.
const NULL: &str = "\\N";

/// Names of things that are current.
#[derive(Debug)]
pub struct Things {
    /// With their prices in cents, if they have one.
    pub items: Vec<(String, Option<i64>)>,
    pub stores: Vec<String>,
    pub call_centers: Vec<String>,
    pub web_sites: Vec<String>,
    pub web_pages: Vec<String>,
    session: Session,
}

impl Things {
    pub fn at(scale: DataScale) -> Self {
        let ids = |table| current(scale, table, |cells| cells[ID].to_owned());
        Self {
            items: current(scale, "item", |cells| (cells[ID].to_owned(), cells[PRICE].replace('.', "").parse().ok())),
            stores: ids("store"),
            call_centers: ids("call_center"),
            web_sites: ids("web_site"),
            web_pages: ids("web_page"),
            session: scale.session(),
        }
    }

    /// The number of things in a table without history. Their ids are those of the numbers from 1.
    pub fn count(&self, table: Table) -> u64 {
        self.session.get_scaling().get_row_count(table)
    }
}

/// The id of the thing of this number.
pub fn id(number: u64) -> String {
    make_business_key(number)
}

/// What is wanted of each current row.
fn current<T>(scale: DataScale, table: &str, wanted: impl Fn(&[&str]) -> T) -> Vec<T> {
    let mut source = rows(scale, table, TablePart { index: 0, count: 1 });
    let (mut text, mut found, mut goes_on) = (TextRows::default(), Vec::new(), true);
    while goes_on {
        text.clear();
        goes_on = source.fill(&mut text);
        for line in String::from_utf8_lossy(text.bytes()).lines() {
            let cells: Vec<_> = line.split('\t').collect();
            if cells[LAST_DAY] == NULL {
                found.push(wanted(&cells));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_one_current_row_unless_its_last_row_is_not_made() {
        let things = Things::at(DataScale::of(0.01).unwrap());
        let ids = [&things.stores, &things.call_centers, &things.web_sites, &things.web_pages].map(Vec::len);
        assert_eq!((things.items.len(), ids), (1_000, [1, 1, 1, 1]));
        assert_eq!(things.items[0].0, id(1));
        assert_eq!(things.items[1].0, id(2));
        assert_eq!(things.items[2].0, id(4));
        let priced = things.items.iter().filter_map(|(_, price)| *price);
        assert!(priced.clone().count() > 900 && priced.min() > Some(0));
    }
}
