//! Finds the customer that the inputs name.

use super::super::definition::last_name;
use super::super::inputs::Who;
use super::super::rows::Home;
use super::super::statements::Sql;
use super::{number, unexpected};
use engines::session::{Param, Session, SessionError};

/// The customer's id. Of several with the same last name, it is the middle one by first name. If their number is
/// even, it is the first of the two in the middle.
pub async fn find<S: Session>(session: &mut S, home: Home, who: Who) -> Result<i64, SessionError> {
    let name_number = match who {
        Who::Id(id) => return Ok(i64::from(id)),
        Who::LastName(number) => number,
    };
    let name = last_name(name_number);
    let params = [number(home.warehouse), number(home.district), Param::Text(name.as_str())];
    let found = session.execute(Sql::CustomersOfName.id(), &params).await?;
    if found.rows() == 0 {
        return Err(unexpected(Sql::CustomersOfName, format!("no customer is called {}", name.as_str())));
    }
    found.integer(middle(found.rows()), 0)
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
