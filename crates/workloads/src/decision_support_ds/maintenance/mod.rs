//! Maintenance of the data: old sales, returns and inventory of some days go, and new ones of the same days come.

pub mod orders;
pub mod sets;
mod statements;
mod things;

use super::DecisionSupportDs;
use super::function::Function;
use super::inputs::Input;
use crate::effects::Effects;
use crate::requests::Requests;
use engines::batch::Sending;
use engines::session::{Access, Param, Session, SessionError};
use orders::{Channel, NewOrder};
use sets::{SETS_MAX, windows};

pub use statements::{Sql, read};
pub use things::Things;

/// Orders whose rows go to the server together.
const ORDERS_OF_A_BATCH: usize = 20;

/// Each function is one transaction.
pub async fn run<S: Session>(
    workload: &DecisionSupportDs,
    session: &mut S,
    function: Function,
    effects: &mut Effects<'_, Input>,
) -> Result<(), SessionError> {
    effects.batch.send_by(Sending::Together);
    let mut requests = Requests::new(&mut effects.batch, Sql::NAMES);
    requests.begin(Access::ReadWrite);
    let takes = function == Function::DeleteStore;
    let set = set(session, &mut requests, takes).await?;
    let insertion = match function {
        Function::DeleteStore => {
            return delete_sales(session, requests, set, Sql::DeleteStoreReturns, Sql::DeleteStoreSales).await;
        }
        Function::DeleteCatalog => {
            return delete_sales(session, requests, set, Sql::DeleteCatalogReturns, Sql::DeleteCatalogSales).await;
        }
        Function::DeleteWeb => {
            return delete_sales(session, requests, set, Sql::DeleteWebReturns, Sql::DeleteWebSales).await;
        }
        Function::DeleteInventory => return delete_inventory(session, requests, set).await,
        Function::InsertInventory => return insert_inventory(session, requests, set).await,
        Function::InsertStoreSales => Insertion::sales(Channel::Store, Sql::InsertStoreSales),
        Function::InsertCatalogSales => Insertion::sales(Channel::Catalog, Sql::InsertCatalogSales),
        Function::InsertWebSales => Insertion::sales(Channel::Web, Sql::InsertWebSales),
        Function::InsertStoreReturns => Insertion::returns(Channel::Store, Sql::InsertStoreReturns),
        Function::InsertCatalogReturns => Insertion::returns(Channel::Catalog, Sql::InsertCatalogReturns),
        Function::InsertWebReturns => Insertion::returns(Channel::Web, Sql::InsertWebReturns),
    };
    insertion.run(workload, session, requests, set).await
}

/// The set of the run, which its first function takes.
async fn set<S: Session>(session: &mut S, requests: &mut Requests<'_>, takes: bool) -> Result<u32, SessionError> {
    let change = takes.then(|| requests.add(Sql::Take, &[]));
    let used = requests.add(Sql::Used, &[]);
    requests.send(session).await?;
    change.map_or(Ok(()), |change| requests.require_change(change))?;
    let set = u32::try_from(requests.row(used)?.integer(0, 0)?).unwrap_or(0);
    if !(1..=SETS_MAX).contains(&set) {
        let why = format!("set {set} is none of the {SETS_MAX} refresh sets; load the data again");
        return Err(requests.unexpected(used, why));
    }
    requests.clear();
    Ok(set)
}

async fn delete_sales<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    set: u32,
    returns: Sql,
    sales: Sql,
) -> Result<(), SessionError> {
    let days = windows(set).map(|window| window.sales().map(Param::Date));
    for statement in [returns, sales] {
        for days in &days {
            requests.add(statement, days);
        }
    }
    requests.finish(session, |_| Ok(())).await
}

async fn delete_inventory<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    set: u32,
) -> Result<(), SessionError> {
    for window in windows(set) {
        requests.add(Sql::DeleteInventory, &window.inventory().map(Param::Date));
    }
    requests.finish(session, |_| Ok(())).await
}

async fn insert_inventory<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    set: u32,
) -> Result<(), SessionError> {
    let days: Vec<_> = windows(set).into_iter().flat_map(sets::Window::inventory).map(Param::Date).collect();
    requests.add(Sql::InsertInventory, &days);
    requests.finish(session, |_| Ok(())).await
}

/// Sales or returns that a function inserts: their rows go into tables of their own first, and from there into the table of
/// facts.
struct Insertion {
    channel: Channel,
    are_returns: bool,
    insert: Sql,
}

impl Insertion {
    fn sales(channel: Channel, insert: Sql) -> Self {
        Self { channel, are_returns: false, insert }
    }

    fn returns(channel: Channel, insert: Sql) -> Self {
        Self { channel, are_returns: true, insert }
    }

    async fn run<S: Session>(
        &self,
        workload: &DecisionSupportDs,
        session: &mut S,
        mut requests: Requests<'_>,
        set: u32,
    ) -> Result<(), SessionError> {
        let mut orders = orders::new_orders(workload.things(), workload.settings.scale, self.channel, set);
        let mut expected = 0;
        loop {
            let some: Vec<_> = orders.by_ref().take(ORDERS_OF_A_BATCH).collect();
            if some.is_empty() {
                break;
            }
            expected += self.stage(&mut requests, &some);
            requests.send(session).await?;
            requests.clear();
        }
        let inserted = requests.add(self.insert, &[]);
        for clear in if self.are_returns { &[Sql::ClearReturns][..] } else { &[Sql::ClearOrders, Sql::ClearLines] } {
            requests.add(*clear, &[]);
        }
        let judge = |requests: &Requests<'_>| match requests.answer(inserted).changed() {
            found if found == expected => Ok(()),
            found => Err(requests.unexpected(inserted, format!("{found} rows instead of {expected}"))),
        };
        requests.finish(session, judge).await
    }

    /// Returns the number of rows that will be inserted for these orders. Requests of one statement follow each other, so that
    /// they can be executed as one.
    fn stage(&self, requests: &mut Requests<'_>, orders: &[NewOrder]) -> u64 {
        if self.are_returns {
            let returns = orders.iter().flat_map(NewOrder::returns);
            return returns.map(|params| requests.add(Sql::StageReturn, &params)).count() as u64;
        }
        for order in orders {
            requests.add(Sql::StageOrder, &order.params());
        }
        let lines = orders.iter().flat_map(|order| &order.lines);
        lines.map(|line| requests.add(Sql::StageLine, &line.params())).count() as u64
    }
}
