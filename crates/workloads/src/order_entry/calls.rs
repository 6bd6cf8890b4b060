//! The five transactions as calls of procedures in the database: one request and one answer for each.

use super::definition::{DISTRICTS, LAST_NAME_MAX, LINES_MAX, last_name};
use super::inputs::{
    CustomerKey, DeliveryInput, NewOrderInput, OrderEntryInput, OrderStatusInput, OrderedLine, PaymentInput,
    StockLevelInput,
};
use super::settings::WAREHOUSES_MAX;
use super::tally::{OrderEntryCounter, count, count_districts};
use super::transactions::{length, now_us, number};
use crate::effects::{Effects, Tally};
use crate::random::Letters;
use crate::sql::{self, SqlError};
use crate::workload::Ending;
use engines::session::{Param, ResultSet, Session, SessionError};
use engines::statement::{ByDialect, Dialect, Statement};

const POSTGRES: &str = include_str!("sql/calls.postgres.sql");
const MYSQL: &str = include_str!("sql/calls.mysql.sql");

sql::statement_names! {
    /// Position in the list of prepared statements.
    enum OrderEntryCall {
        NewOrder => "new-order",
        Payment => "payment",
        OrderStatus => "order-status",
        Delivery => "delivery",
        StockLevel => "stock-level",
    }
}

/// The calls of every dialect.
pub fn read() -> Result<ByDialect<Vec<Statement>>, SqlError> {
    let calls = |file| sql::statements(OrderEntryCall::NAMES, file, "");
    Ok(ByDialect { sqlite: Vec::new(), postgres: calls(POSTGRES)?, mysql: calls(MYSQL)? })
}

pub async fn run<S: Session>(
    session: &mut S,
    input: &OrderEntryInput,
    effects: &mut Effects<'_, OrderEntryInput>,
) -> Result<Ending, SessionError> {
    match input {
        OrderEntryInput::NewOrder(order) => {
            let Some((number, total_cents)) = new_order(session, order).await? else {
                count(&mut effects.tally, OrderEntryCounter::OrdersRolledBack, 1);
                return Ok(Ending::RolledBack);
            };
            effects.tell(&[order.warehouse.into(), order.district.into(), number, total_cents]);
        }
        OrderEntryInput::Payment(input) => payment(session, input).await?,
        OrderEntryInput::OrderStatus(input) => order_status(session, input).await?,
        OrderEntryInput::Delivery(input) => delivery(session, input, &mut effects.tally).await?,
        OrderEntryInput::StockLevel(input) => stock_level(session, input).await?,
    }
    Ok(Ending::Committed)
}

async fn call<'a, S: Session>(
    session: &'a mut S,
    call: OrderEntryCall,
    params: &[Param<'_>],
) -> Result<&'a ResultSet, SessionError> {
    session.execute(call.into(), params).await
}

/// Calls what returns exactly one row.
async fn one_row<'a, S: Session>(
    session: &'a mut S,
    of: OrderEntryCall,
    params: &[Param<'_>],
) -> Result<&'a ResultSet, SessionError> {
    let answer = call(session, of, params).await?;
    match answer.rows() {
        1 => Ok(answer),
        rows => Err(unexpected(of, format!("{rows} rows instead of 1"))),
    }
}

#[cold]
fn unexpected(call: OrderEntryCall, what: String) -> SessionError {
    SessionError::Unexpected { statement: call.name(), what }
}

/// Returns the order's number and total, or `None` if it was rolled back because an item does not exist.
async fn new_order<S: Session>(session: &mut S, input: &NewOrderInput) -> Result<Option<(i64, i64)>, SessionError> {
    let lines = input.lines();
    let order = [
        number(input.warehouse),
        number(input.district),
        number(input.customer),
        Param::Integer(now_us()),
        Param::Integer(i64::from(input.is_all_local())),
    ];
    let lists = match session.dialect() {
        Dialect::Mysql => vec![list_of_lists(lines)],
        Dialect::Postgres | Dialect::Sqlite => {
            let values: [fn(&OrderedLine) -> u32; 4] =
                [|line| line.number, |line| line.item, |line| line.supply_warehouse, |line| line.quantity];
            values.map(|value| list(lines.iter().map(value))).to_vec()
        }
    };
    let params: Vec<_> = order.into_iter().chain(lists.iter().map(|list| Param::Text(list.as_str()))).collect();
    let answer = one_row(session, OrderEntryCall::NewOrder, &params).await?;
    let order = answer.integer(0, 0)?;
    if answer.is_null(0, 1) {
        return Ok(None);
    }
    let (total_cents, _, _) = (answer.integer(0, 1)?, answer.integer(0, 2)?, answer.text(0, 3)?);
    Ok(Some((order, total_cents)))
}

async fn payment<S: Session>(session: &mut S, input: &PaymentInput) -> Result<(), SessionError> {
    let payer = Payer::new(input.who);
    let params = [
        number(input.warehouse),
        number(input.district),
        number(input.customer_warehouse),
        number(input.customer_district),
        payer.id(),
        payer.name(),
        Param::Integer(input.amount_cents),
        Param::Integer(now_us()),
    ];
    let answer = one_row(session, OrderEntryCall::Payment, &params).await?;
    answer.integer(0, 0)?;
    answer.text(0, 1).map(drop)
}

async fn order_status<S: Session>(session: &mut S, input: &OrderStatusInput) -> Result<(), SessionError> {
    /// Order, promised lines, item, supplier, quantity and amount.
    const INTEGERS: usize = 6;
    let payer = Payer::new(input.who);
    let params = [number(input.warehouse), number(input.district), payer.id(), payer.name()];
    let lines = call(session, OrderEntryCall::OrderStatus, &params).await?;
    for line in 0..lines.rows() {
        for column in 0..INTEGERS {
            lines.integer(line, column)?;
        }
    }
    let promised = lines.integer(0, 1)?;
    if length(lines.rows()) != promised {
        let what = format!("{} lines of an order that has {promised}", lines.rows());
        return Err(unexpected(OrderEntryCall::OrderStatus, what));
    }
    Ok(())
}

async fn delivery<S: Session>(session: &mut S, input: &DeliveryInput, tally: &mut Tally) -> Result<(), SessionError> {
    let params = [number(input.warehouse), number(input.carrier), Param::Integer(now_us())];
    let delivered = one_row(session, OrderEntryCall::Delivery, &params).await?.integer(0, 0)?;
    let of_all = usize::try_from(delivered).ok().filter(|delivered| *delivered <= DISTRICTS as usize);
    count_districts(
        tally,
        of_all.ok_or_else(|| unexpected(OrderEntryCall::Delivery, format!("{delivered} districts")))?,
    );
    Ok(())
}

async fn stock_level<S: Session>(session: &mut S, input: &StockLevelInput) -> Result<(), SessionError> {
    let params = [number(input.warehouse), number(input.district), Param::Integer(input.threshold)];
    one_row(session, OrderEntryCall::StockLevel, &params).await?.integer(0, 0).map(drop)
}

/// The customer, by id or by name; the other is null.
enum Payer {
    Id(u32),
    Name(Letters<LAST_NAME_MAX>),
}

impl Payer {
    fn new(who: CustomerKey) -> Self {
        match who {
            CustomerKey::Id(id) => Self::Id(id),
            CustomerKey::LastName(name) => Self::Name(last_name(name)),
        }
    }

    fn id(&self) -> Param<'_> {
        match self {
            Self::Id(id) => number(*id),
            Self::Name(_) => Param::Null,
        }
    }

    fn name(&self) -> Param<'_> {
        match self {
            Self::Id(_) => Param::Null,
            Self::Name(name) => Param::Text(name.as_str()),
        }
    }
}

/// Room for the numbers of an order's lines. Items and suppliers have at most six digits each, the others two.
const LIST_MAX: usize = LINES_MAX as usize * (2 * 6 + 3 * 2 + ",,,,[],".len()) + "[]".len();
const _: () = assert!(WAREHOUSES_MAX < 1_000_000 && super::inputs::UNUSED_ITEM < 1_000_000);

/// Numbers with commas between them.
fn list(numbers: impl Iterator<Item = u32>) -> Letters<LIST_MAX> {
    let mut list = Letters::default();
    for (place, number) in numbers.enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(list, "{comma}{number}");
    }
    list
}

/// All lines, with the number of lines before each that take the same stock.
fn list_of_lists(lines: &[OrderedLine]) -> Letters<LIST_MAX> {
    let mut list = Letters::default();
    for (place, line) in lines.iter().enumerate() {
        let stock = |line: &OrderedLine| (line.supply_warehouse, line.item);
        let before = lines[..place].iter().filter(|other| stock(other) == stock(line)).count();
        let (begin, OrderedLine { number, item, supply_warehouse, quantity }) =
            (if place == 0 { "[" } else { "," }, line);
        write!(list, "{begin}[{number},{item},{supply_warehouse},{quantity},{before}]");
    }
    list.push(b"]");
    list
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;

    #[test]
    fn files_and_names_belong_together() {
        let calls = read().unwrap();
        for dialect in [Dialect::Postgres, Dialect::Mysql] {
            let named = |call: OrderEntryCall| calls.of(dialect)[call as usize].sql.as_str();
            assert!(named(OrderEntryCall::NewOrder).contains(" new_order($1"));
            assert!(named(OrderEntryCall::StockLevel).contains("stock_level("));
            for routine in ENTRY.scripts.routines {
                assert!(ENTRY.scripts.procedures.of(dialect).contains(&format!(" {routine}(")), "{routine}");
            }
        }
    }

    #[test]
    fn a_list_has_room_for_the_longest_lines() {
        assert_eq!(list([1, 22, 3].into_iter()).as_str(), "1,22,3");
        let line = |number| OrderedLine { number, item: 100_001, supply_warehouse: 100_000, quantity: 10 };
        let longest: Vec<_> = (1..=LINES_MAX).map(line).collect();
        assert!(list_of_lists(&longest).as_str().ends_with("[15,100001,100000,10,14]]"));
    }

    #[test]
    fn lines_of_one_stock_are_counted() {
        let line = |number, item, supply_warehouse| OrderedLine { number, item, supply_warehouse, quantity: 5 };
        let lines = [line(1, 7, 1), line(2, 7, 2), line(3, 7, 1)];
        assert_eq!(list_of_lists(&lines).as_str(), "[[1,7,1,5,0],[2,7,2,5,0],[3,7,1,5,1]]");
    }
}
