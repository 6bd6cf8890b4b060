//! Finds the customer that the inputs name.

use super::super::definition::last_name;
use super::super::inputs::CustomerKey;
use super::super::rows::Home;
use super::super::statements::OrderEntryStatement;
use super::{Requests, number};
use engines::session::{Param, Session, SessionError};

/// A customer whose id may still have to be asked for.
pub enum NamedCustomer {
    Known(i64),
    /// The number of the answer that lists those of the name.
    Asked(usize),
}

/// Asks who has the name, if the inputs have no id.
pub fn ask(requests: &mut Requests<'_>, home: Home, who: CustomerKey) -> NamedCustomer {
    match who {
        CustomerKey::Id(id) => NamedCustomer::Known(i64::from(id)),
        CustomerKey::LastName(name) => {
            let name = last_name(name);
            let params = [number(home.warehouse), number(home.district), Param::Text(name.as_str())];
            NamedCustomer::Asked(requests.add(OrderEntryStatement::CustomersOfName, &params))
        }
    }
}

/// The customer's id, asked for in a batch of its own if the inputs have none. That also sends what was added before.
pub async fn id<S: Session>(
    session: &mut S,
    requests: &mut Requests<'_>,
    home: Home,
    who: CustomerKey,
) -> Result<i64, SessionError> {
    let named = ask(requests, home, who);
    if let NamedCustomer::Known(id) = named {
        return Ok(id);
    }
    requests.send(session).await?;
    let id = found(requests, &named)?;
    requests.clear();
    Ok(id)
}

/// The customer's id. Of several with the same last name, it is the middle one by first name. If their number is
/// even, it is the first of the two in the middle.
pub fn found(requests: &Requests<'_>, named: &NamedCustomer) -> Result<i64, SessionError> {
    let answer = match *named {
        NamedCustomer::Known(id) => return Ok(id),
        NamedCustomer::Asked(answer) => answer,
    };
    match requests.answer(answer).rows() {
        0 => Err(requests.unexpected(answer, "no customer has the name".to_owned())),
        rows => requests.answer(answer).integer(middle(rows), 0),
    }
}

/// The middle row, counted from 0. Counted from 1, it is half of the number of rows, rounded up.
fn middle(rows: usize) -> usize {
    rows.div_ceil(2) - 1
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_is_the_first_of_two() {
        let found: Vec<usize> = (1..=7).map(middle).collect();
        assert_eq!(found, [0, 0, 1, 1, 2, 2, 3]);
    }
}
