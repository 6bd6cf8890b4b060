//! Customers, and the one payment that each of them made before the start.

use super::super::definition::{
    BAD_CREDIT, CREDIT_LIMIT_CENTS, CUSTOMER_DATA_MAX, CUSTOMERS, DISCOUNT_MAX, FIRST_PAYMENT_CENTS, GOOD_CREDIT,
    LAST_NAME_SKEW, LAST_NAMES, LOADED_AT_US, last_name,
};
use super::{Home, write_address};
use crate::chunks::Chunk;
use crate::random::{Letters, Picks, RandomStream};
use engines::rows::RowSink;
use std::ops::RangeInclusive;

const MIDDLE_NAME: &str = "OE";
/// A tenth of the customers of a district have bad credit.
const BAD_CREDITS: u64 = CUSTOMERS as u64 / 10;

/// The customers of one district.
pub struct CustomerRows {
    stream: RandomStream,
    bad_credits: Picks,
    constant: i64,
    home: Home,
    left: RangeInclusive<u32>,
}

impl CustomerRows {
    pub fn new(seed: u64, constant: i64, home: Home) -> Self {
        let bad_credits = Picks::new(BAD_CREDITS, u64::from(CUSTOMERS));
        Self { stream: home.stream(seed, "customer"), bad_credits, constant, home, left: 1..=CUSTOMERS }
    }

    fn last_name(&mut self, id: u32) -> u32 {
        if id <= LAST_NAMES {
            return id - 1;
        }
        // The distribution has exactly the range of the names.
        u32::try_from(self.stream.skewed(LAST_NAME_SKEW, self.constant)).unwrap_or(0)
    }
}

impl Chunk for CustomerRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        self.home.write(sink);
        sink.integer(i64::from(id));
        sink.text(Letters::<16>::alphanumeric(&mut self.stream, 8).as_str());
        sink.text(MIDDLE_NAME);
        sink.text(last_name(self.last_name(id)).as_str());
        write_address(&mut self.stream, sink);
        let mut phone = [0; 16];
        self.stream.digits(&mut phone);
        sink.text(std::str::from_utf8(&phone).unwrap_or_default());
        sink.integer(LOADED_AT_US);
        sink.text(if self.bad_credits.next(&mut self.stream) { BAD_CREDIT } else { GOOD_CREDIT });
        sink.integer(CREDIT_LIMIT_CENTS);
        sink.integer(self.stream.uniform(0, DISCOUNT_MAX));
        sink.integer(-FIRST_PAYMENT_CENTS);
        sink.integer(FIRST_PAYMENT_CENTS);
        // One payment and no delivery so far.
        sink.integer(1);
        sink.integer(0);
        sink.text(Letters::<CUSTOMER_DATA_MAX>::alphanumeric(&mut self.stream, 300).as_str());
        sink.end_row();
        true
    }
}

/// The first payments of the customers of one district.
pub struct HistoryRows {
    stream: RandomStream,
    home: Home,
    left: RangeInclusive<u32>,
}

impl HistoryRows {
    pub fn new(seed: u64, home: Home) -> Self {
        Self { stream: home.stream(seed, "history"), home, left: 1..=CUSTOMERS }
    }
}

impl Chunk for HistoryRows {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(customer) = self.left.next() else { return false };
        let (district, warehouse) = (i64::from(self.home.district), i64::from(self.home.warehouse));
        // The customer, then the place of the payment.
        for value in [i64::from(customer), district, warehouse, district, warehouse] {
            sink.integer(value);
        }
        sink.integer(LOADED_AT_US);
        sink.integer(FIRST_PAYMENT_CENTS);
        sink.text(Letters::<24>::alphanumeric(&mut self.stream, 12).as_str());
        sink.end_row();
        true
    }
}
