//! Maintenance of the data: old sales, returns and inventory of some days go, and new ones of the same days come.

pub mod orders;
pub mod sets;
mod statements;
mod things;

use super::DecisionSupportDs;
use crate::decision_support::streams::StreamInput;
use crate::effects::Effects;
use crate::requests::Requests;
use engines::batch::Sending;
use engines::session::{Access, Param, Session, SessionError};
use orders::{SalesChannel, StagedOrder};
use sets::{SETS_MAX, windows};

pub use statements::{MaintenanceStatement, read};
pub use things::Things;

settings::names! {
    /// The functions of a refresh run, in its order. Old rows go first, since new rows have the same days.
    #[repr(u16)]
    pub enum MaintenanceFunction {
        /// Begins a run, and takes its set.
        DeleteStore => "delete-store",
        DeleteCatalog => "delete-catalog",
        DeleteWeb => "delete-web",
        DeleteInventory => "delete-inventory",
        InsertStoreSales => "insert-store-sales",
        InsertStoreReturns => "insert-store-returns",
        InsertCatalogSales => "insert-catalog-sales",
        InsertCatalogReturns => "insert-catalog-returns",
        InsertWebSales => "insert-web-sales",
        InsertWebReturns => "insert-web-returns",
        InsertInventory => "insert-inventory",
    }
}

impl MaintenanceFunction {
    pub const ALL: [Self; Self::NAMES.len()] = [
        Self::DeleteStore,
        Self::DeleteCatalog,
        Self::DeleteWeb,
        Self::DeleteInventory,
        Self::InsertStoreSales,
        Self::InsertStoreReturns,
        Self::InsertCatalogSales,
        Self::InsertCatalogReturns,
        Self::InsertWebSales,
        Self::InsertWebReturns,
        Self::InsertInventory,
    ];
}

pub type MaintenanceInput = StreamInput<MaintenanceFunction>;

/// Orders whose rows go to the server together.
const ORDERS_OF_A_BATCH: usize = 20;

/// Each function is one transaction.
pub async fn run<S: Session>(
    workload: &DecisionSupportDs,
    session: &mut S,
    function: MaintenanceFunction,
    effects: &mut Effects<'_, MaintenanceInput>,
) -> Result<(), SessionError> {
    use MaintenanceStatement as Of;
    effects.batch.send_by(Sending::Together);
    let mut requests = Requests::new(&mut effects.batch, MaintenanceStatement::NAMES);
    requests.begin(Access::ReadWrite);
    let takes = function == MaintenanceFunction::DeleteStore;
    let set = set(session, &mut requests, takes).await?;
    let insertion = match function {
        MaintenanceFunction::DeleteStore => {
            return delete_sales(session, requests, set, [Of::DeleteStoreReturns, Of::DeleteStoreSales]).await;
        }
        MaintenanceFunction::DeleteCatalog => {
            return delete_sales(session, requests, set, [Of::DeleteCatalogReturns, Of::DeleteCatalogSales]).await;
        }
        MaintenanceFunction::DeleteWeb => {
            return delete_sales(session, requests, set, [Of::DeleteWebReturns, Of::DeleteWebSales]).await;
        }
        MaintenanceFunction::DeleteInventory => return delete_inventory(session, requests, set).await,
        MaintenanceFunction::InsertInventory => return insert_inventory(session, requests, set).await,
        MaintenanceFunction::InsertStoreSales => Insertion::sales(SalesChannel::Store, Of::InsertStoreSales),
        MaintenanceFunction::InsertCatalogSales => Insertion::sales(SalesChannel::Catalog, Of::InsertCatalogSales),
        MaintenanceFunction::InsertWebSales => Insertion::sales(SalesChannel::Web, Of::InsertWebSales),
        MaintenanceFunction::InsertStoreReturns => Insertion::returns(SalesChannel::Store, Of::InsertStoreReturns),
        MaintenanceFunction::InsertCatalogReturns => {
            Insertion::returns(SalesChannel::Catalog, Of::InsertCatalogReturns)
        }
        MaintenanceFunction::InsertWebReturns => Insertion::returns(SalesChannel::Web, Of::InsertWebReturns),
    };
    insertion.run(workload, session, requests, set).await
}

/// The set of the run, which its first function takes.
async fn set<S: Session>(session: &mut S, requests: &mut Requests<'_>, takes: bool) -> Result<u32, SessionError> {
    let change = takes.then(|| requests.add(MaintenanceStatement::Take, &[]));
    let used = requests.add(MaintenanceStatement::Used, &[]);
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
    statements: [MaintenanceStatement; 2],
) -> Result<(), SessionError> {
    let days = windows(set).map(|window| window.sales().map(Param::Date));
    for statement in statements {
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
        requests.add(MaintenanceStatement::DeleteInventory, &window.inventory().map(Param::Date));
    }
    requests.finish(session, |_| Ok(())).await
}

async fn insert_inventory<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    set: u32,
) -> Result<(), SessionError> {
    let days: Vec<_> = windows(set).into_iter().flat_map(sets::RefreshWindow::inventory).map(Param::Date).collect();
    requests.add(MaintenanceStatement::InsertInventory, &days);
    requests.finish(session, |_| Ok(())).await
}

/// Sales or returns that a function inserts: their rows go into tables of their own first, and from there into the table of
/// facts.
struct Insertion {
    channel: SalesChannel,
    are_returns: bool,
    insert: MaintenanceStatement,
}

impl Insertion {
    fn sales(channel: SalesChannel, insert: MaintenanceStatement) -> Self {
        Self { channel, are_returns: false, insert }
    }

    fn returns(channel: SalesChannel, insert: MaintenanceStatement) -> Self {
        Self { channel, are_returns: true, insert }
    }

    async fn run<S: Session>(
        &self,
        workload: &DecisionSupportDs,
        session: &mut S,
        mut requests: Requests<'_>,
        set: u32,
    ) -> Result<(), SessionError> {
        use MaintenanceStatement::{ClearLines, ClearOrders, ClearReturns};
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
        for clear in if self.are_returns { &[ClearReturns][..] } else { &[ClearOrders, ClearLines] } {
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
    fn stage(&self, requests: &mut Requests<'_>, orders: &[StagedOrder]) -> u64 {
        if self.are_returns {
            let returns = orders.iter().flat_map(StagedOrder::returns);
            return returns.map(|params| requests.add(MaintenanceStatement::StageReturn, &params)).count() as u64;
        }
        for order in orders {
            requests.add(MaintenanceStatement::StageOrder, &order.params());
        }
        let lines = orders.iter().flat_map(|order| &order.lines);
        lines.map(|line| requests.add(MaintenanceStatement::StageLine, &line.params())).count() as u64
    }
}
