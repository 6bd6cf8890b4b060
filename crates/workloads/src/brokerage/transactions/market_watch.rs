//! Market-watch: by how much a list of securities has changed in value since a date.

use super::super::ids;
use super::super::inputs::{MarketWatch, WatchTarget};
use super::super::market::industry_name;
use super::super::statements::BrokerageStatement;
use super::number;
use crate::requests::Requests;
use engines::session::{Access, Param, Session, SessionError};

pub async fn run<S: Session>(
    session: &mut S,
    mut requests: Requests<'_>,
    input: &MarketWatch,
) -> Result<(), SessionError> {
    let since = Param::Date(input.since);
    requests.begin(Access::ReadOnly);
    let sums = match input.of {
        WatchTarget::ListOf(customer) => {
            requests.add(BrokerageStatement::ChangeOfWatchList, &[since, number(ids::id(customer))])
        }
        WatchTarget::Account(account) => {
            requests.add(BrokerageStatement::ChangeOfAccount, &[since, number(account.id())])
        }
        WatchTarget::Industry { industry, first, last } => {
            let range = [first, last].map(|company| number(ids::id(company)));
            let name = Param::Text(industry_name(industry));
            requests.add(BrokerageStatement::ChangeOfIndustry, &[since, name, range[0], range[1]])
        }
    };
    requests
        .finish(session, |requests| {
            let sums = requests.row(sums)?;
            // An account may hold nothing.
            if !sums.is_null(0, 0) {
                let (then, now) = (sums.integer(0, 0)?, sums.integer(0, 1)?);
                change(then, now);
            }
            Ok(())
        })
        .await
}

/// The answer to the customer, in hundredths of a percent.
fn change(then: i64, now: i64) -> i128 {
    const HUNDREDTHS_OF_PERCENT: i128 = 10_000;
    let more = i128::from(now) - i128::from(then);
    (more * HUNDREDTHS_OF_PERCENT).checked_div(then.into()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_share_of_what_it_was() {
        assert_eq!([change(200, 150), change(0, 5)], [-2_500, 0]);
    }
}
