//! Finding the customer that the inputs name.

use super::super::definition::last_name;
use super::super::inputs::Who;
use super::super::rows::Home;
use super::super::statements::Sql;
use super::{number, unexpected};
use engines::session::{Param, Session, SessionError};

/// The customer's id. Of several with the same last name it is the one in the middle by first name, and the first of
/// the two in the middle if they are even in number.
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

/// The row in the middle, counted from 0: half of the number of rows, rounded up, is its number counted from 1.
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
