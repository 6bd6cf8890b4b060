//! The inputs of data maintenance: twelve tables in a fixed cycle.

use super::super::places::{DIVISION_RATES, DivisionRate};
use super::super::size::BrokerageSize;
use super::super::words::below;
use super::super::{accounts, customers};
use super::{AccountPlace, BrokerageInput};
use crate::random::RandomStream;
use crate::workload::User;

/// What to change, by the table that is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    AccountPermission(AccountPlace),
    AddressOfCustomer(u32),
    AddressOfCompany(u32),
    Company(u32),
    Customer(u32),
    CustomerTaxrate(u32),
    /// All rows of the security with this day of the month.
    DailyMarket {
        security: u32,
        day: i64,
        change: i64,
    },
    Exchange,
    Financial(u32),
    NewsItem(u32),
    Security(u32),
    /// A rate of a state or province.
    Taxrate(DivisionRate),
    WatchItem(u32),
}

const TABLES: u32 = 12;
const CUSTOMERS_ADDRESS_PERCENT: u32 = 67;
const DAYS_OF_MONTH: i64 = 31;
const VOLUME_CHANGE_MAX: i64 = 3;

/// The user that maintains the data. First of all it cancels trades that an earlier run has left over.
#[derive(Debug, Clone)]
pub struct Maintainer {
    stream: RandomStream,
    done: u32,
}

impl Maintainer {
    pub fn new(user: User) -> Self {
        Self { stream: RandomStream::new(user.seed, "maintenance", [user.index, user.phase.into()]), done: 0 }
    }

    pub fn draw(&mut self, size: BrokerageSize) -> BrokerageInput {
        let turn = self.done.checked_sub(1);
        self.done += 1;
        turn.map_or(BrokerageInput::TradeCleanup, |turn| {
            BrokerageInput::DataMaintenance(of_table(turn % TABLES, size, &mut self.stream))
        })
    }
}

fn of_table(table: u32, size: BrokerageSize, stream: &mut RandomStream) -> Upkeep {
    let customer = |stream: &mut RandomStream| below(stream, size.customers);
    let company = |stream: &mut RandomStream| below(stream, size.companies());
    let security = |stream: &mut RandomStream| below(stream, size.securities());
    match table {
        0 => {
            let customer = customers::draw(size.load_units(), stream);
            Upkeep::AccountPermission(AccountPlace { customer, number: accounts::draw(customer, stream) })
        }
        1 if below(stream, 100) < CUSTOMERS_ADDRESS_PERCENT => Upkeep::AddressOfCustomer(customer(stream)),
        1 => Upkeep::AddressOfCompany(company(stream)),
        2 => Upkeep::Company(company(stream)),
        3 => Upkeep::Customer(customer(stream)),
        4 => Upkeep::CustomerTaxrate(customer(stream)),
        5 => {
            let (security, day) = (security(stream), stream.uniform(1, DAYS_OF_MONTH));
            let change = stream.uniform(1, VOLUME_CHANGE_MAX);
            Upkeep::DailyMarket { security, day, change: if stream.once_in(2) { change } else { -change } }
        }
        6 => Upkeep::Exchange,
        7 => Upkeep::Financial(company(stream)),
        8 => Upkeep::NewsItem(company(stream)),
        9 => Upkeep::Security(security(stream)),
        10 => Upkeep::Taxrate(DivisionRate(below(stream, DIVISION_RATES))),
        _ => Upkeep::WatchItem(customer(stream)),
    }
}
