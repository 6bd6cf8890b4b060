//! What follows from an account: its broker, its securities, and who may trade in it.

use super::customers;
use super::people::Person;
use super::size::{ACCOUNT_SLOTS, BROKERS_OF_UNIT, BrokerageSize, LOAD_UNIT};
use super::words::below;
use super::{ids, words};
use crate::random::RandomStream;

/// No account trades in more securities.
pub const BASKET_MAX: usize = 18;
/// Persons besides its owner who may trade in an account.
pub const OTHERS_MAX: usize = 2;
/// Rights of the owner, and of the others.
pub const OWNER_RIGHTS: &str = "0000";
pub const OTHER_RIGHTS: [&str; OTHERS_MAX] = ["0001", "0011"];
/// Of a hundred accounts, so many have one other person or more, and so many have two.
const ONE_OTHER_PERCENT: u32 = 40;
const TWO_OTHERS_PERCENT: u32 = 2;
/// Ids of persons who are no customers.
const OTHERS_FROM: i64 = 4_200_000_000;
const OTHERS: i64 = 90_000_000;
/// Tax status 0, 1 and 2 of a hundred accounts.
const UNTAXED_PERCENT: u32 = 20;
const WITHHELD_PERCENT: u32 = 50;
const BALANCE_MAX_CENTS: i64 = 999_999_999;
const POSITIVE_BALANCE_PERCENT: u32 = 80;

/// The fewest and the most securities of an account, by the number of accounts that its owner has.
const BASKETS: [&[(u32, u32)]; 3] = [
    &[(6, 14), (4, 16), (2, 18), (2, 18)],
    &[(6, 14), (7, 13), (5, 15), (4, 16), (3, 17), (2, 18), (2, 18), (2, 18)],
    &[(6, 14), (6, 14), (6, 14), (6, 14), (4, 16), (4, 16), (3, 17), (3, 17), (2, 18), (2, 18)],
];

/// An account, but for its securities.
#[derive(Debug, Clone, Copy)]
pub struct CustomerAccount {
    /// The place of its broker.
    pub broker: u32,
    /// 0: not taxable; 1: taxes are withheld; 2: taxable, not withheld.
    pub tax_status: u32,
    pub balance_cents: i64,
    others: [i64; OTHERS_MAX],
    others_count: usize,
}

impl CustomerAccount {
    /// One of a customer's accounts, which count from 0.
    pub fn new(seed: u64, customer: u32, account: u32) -> Self {
        let mut stream = stream(seed, "account", customer, account);
        let broker = customer / LOAD_UNIT * BROKERS_OF_UNIT + below(&mut stream, BROKERS_OF_UNIT);
        let tax_status = match below(&mut stream, 100) {
            0..UNTAXED_PERCENT => 0,
            drawn if drawn < UNTAXED_PERCENT + WITHHELD_PERCENT => 1,
            _ => 2,
        };
        let amount = stream.uniform(0, BALANCE_MAX_CENTS);
        let balance_cents = if below(&mut stream, 100) < POSITIVE_BALANCE_PERCENT { amount } else { -amount };
        let others_count = match below(&mut stream, 100) {
            0..TWO_OTHERS_PERCENT => 2,
            TWO_OTHERS_PERCENT..ONE_OTHER_PERCENT => 1,
            _ => 0,
        };
        let first = stream.uniform(0, OTHERS - 1);
        let step = stream.uniform(1, OTHERS - 1);
        let others = [first, (first + step) % OTHERS].map(|other| OTHERS_FROM + other);
        Self { broker, tax_status, balance_cents, others, others_count }
    }

    /// Ids of the persons besides the owner who may trade in it.
    pub fn others(&self) -> &[i64] {
        &self.others[..self.others_count]
    }

    /// The persons who may trade in it, its owner first.
    pub fn persons(self, seed: u64, customer: u32) -> impl Iterator<Item = Person> {
        let others = self.others.into_iter().take(self.others_count);
        std::iter::once(ids::id(customer)).chain(others).map(move |id| Person::new(seed, id))
    }
}

/// The securities in which an account trades, by their places.
#[derive(Debug, Clone, Copy)]
pub struct Basket {
    securities: [u32; BASKET_MAX],
    count: usize,
}

impl Basket {
    pub fn new(seed: u64, size: BrokerageSize, customer: u32, account: u32) -> Self {
        let mut stream = stream(seed, "basket", customer, account);
        let (tier, accounts) = (customers::tier(customer), customers::accounts(customer));
        let (fewest, most) = BASKETS[tier as usize - 1][accounts as usize - 1];
        let wanted = (fewest + below(&mut stream, most - fewest + 1)) as usize;
        let mut basket = Self { securities: [0; BASKET_MAX], count: 0 };
        while basket.count < wanted {
            let security = below(&mut stream, size.securities());
            if !basket.securities().contains(&security) {
                basket.securities[basket.count] = security;
                basket.count += 1;
            }
        }
        basket
    }

    pub fn securities(&self) -> &[u32] {
        &self.securities[..self.count]
    }

    pub fn draw(&self, stream: &mut RandomStream) -> u32 {
        words::one_of(stream, self.securities())
    }
}

fn stream(seed: u64, purpose: &str, customer: u32, account: u32) -> RandomStream {
    RandomStream::new(seed, purpose, [customer, account])
}

/// One of a customer's accounts, which count from 0.
pub fn draw(customer: u32, stream: &mut RandomStream) -> u32 {
    assert!(customers::accounts(customer) <= ACCOUNT_SLOTS);
    below(stream, customers::accounts(customer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SIZE: BrokerageSize = BrokerageSize { customers: 1_000, days: 5, scale_factor: 20_000 };

    fn all() -> impl Iterator<Item = (u32, u32)> {
        (0..SIZE.customers)
            .flat_map(|customer| (0..customers::accounts(customer)).map(move |account| (customer, account)))
    }

    #[test]
    fn a_basket_has_ten_different_securities_on_average() {
        let (mut sum, mut counted, mut seen) = (0, 0, BTreeSet::new());
        for (customer, account) in all() {
            let basket = Basket::new(42, SIZE, customer, account);
            let different: BTreeSet<_> = basket.securities().iter().copied().collect();
            assert_eq!(different.len(), basket.securities().len());
            assert!((2..=BASKET_MAX).contains(&different.len()));
            sum += different.len();
            counted += 1;
            seen.extend(different);
        }
        assert_eq!(counted, 5_000);
        let mean = sum as f64 / f64::from(counted);
        assert!((mean - 10.0).abs() < 0.15, "{mean}");
        assert_eq!(seen.len(), 685);
    }

    #[test]
    fn accounts_have_142_permissions_in_a_hundred_and_their_shares_of_everything() {
        let accounts: Vec<_> = all().map(|(customer, account)| CustomerAccount::new(42, customer, account)).collect();
        let share = |test: &dyn Fn(&CustomerAccount) -> bool| {
            accounts.iter().filter(|account| test(account)).count() as f64 / accounts.len() as f64
        };
        let near =
            |share: f64, expected: f64| assert!((share - expected).abs() < 0.025, "{share} instead of {expected}");
        near(share(&|account| account.others().is_empty()), 0.6);
        near(share(&|account| account.others().len() == 2), 0.02);
        near(share(&|account| account.tax_status == 1), 0.5);
        near(share(&|account| account.tax_status == 2), 0.3);
        near(share(&|account| account.balance_cents > 0), 0.8);
        assert!(accounts.iter().all(|account| account.broker < SIZE.brokers()));
        let two = accounts.iter().find(|account| account.others().len() == 2).unwrap();
        assert_ne!(two.others()[0], two.others()[1]);
    }
}
