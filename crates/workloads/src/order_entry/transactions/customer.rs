//! Finding the customer who is meant.

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
        return Err(unexpected(Sql::CustomersOfName, format!("nobody is called {}", name.as_str())));
    }
    found.integer((found.rows() - 1) / 2, 0)
}
