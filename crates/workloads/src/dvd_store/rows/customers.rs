//! Customers: the first half at home, the others abroad.

use super::super::definition::{COUNTRIES, HOME_COUNTRY, MAIL, PASSWORD, STATES, STATES_COUNT, STREET};
use super::super::size::DvdStoreSize;
use super::{ids, stream};
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;
use std::ops::RangeInclusive;

const INCOME_STEP: i64 = 20_000;
const LOADED_AGE_MAX: i64 = 90;

/// The customers of one chunk.
pub struct ShopCustomers {
    stream: RandomStream,
    at_home: u32,
    has_community: bool,
    left: RangeInclusive<u32>,
}

impl ShopCustomers {
    pub fn new(seed: u64, size: DvdStoreSize, has_community: bool, chunk: u32) -> Self {
        let all = size.customers();
        Self { stream: stream(seed, "customers", chunk), at_home: all / 2, has_community, left: ids(chunk, all) }
    }
}

impl Chunk for ShopCustomers {
    fn write(&mut self, sink: &mut dyn RowSink) -> bool {
        let Some(id) = self.left.next() else { return false };
        let mut username = Letters::<16>::default();
        write!(username, "user{id}");
        sink.integer(id.into());
        let who =
            CustomerKind { at_home: id <= self.at_home, age_max: LOADED_AGE_MAX, has_community: self.has_community };
        push_attributes(&mut self.stream, &who, username.as_str(), sink);
        sink.end_row();
        true
    }
}

/// What decides how a customer's attributes are drawn.
pub struct CustomerKind {
    pub at_home: bool,
    pub age_max: i64,
    /// The years of version 3 are later.
    pub has_community: bool,
}

/// All columns but the id, in their order.
pub fn push_attributes(stream: &mut RandomStream, who: &CustomerKind, username: &str, sink: &mut dyn RowSink) {
    let first = capitals::<6>(stream);
    let last = capitals::<10>(stream);
    let mut phone = [0; 10];
    stream.digits(&mut phone);
    let mut address = Letters::<19>::default();
    address.push(&phone);
    address.push(STREET.as_bytes());
    let mut mail = last;
    mail.push(MAIL.as_bytes());
    sink.text(first.as_str());
    sink.text(&last.as_str()[..10]);
    sink.text(address.as_str());
    sink.null();
    sink.text(capitals::<7>(stream).as_str());
    if who.at_home {
        let state = usize::try_from(stream.below(STATES_COUNT as u64)).unwrap_or(0);
        let mut zip = Letters::<5>::default();
        write!(zip, "{}", stream.uniform(10_000, 99_999));
        sink.text(&STATES[3 * state..3 * state + 2]);
        sink.text(zip.as_str());
        sink.text(HOME_COUNTRY);
        sink.integer(1);
    } else {
        let country = usize::try_from(stream.below(COUNTRIES.len() as u64)).unwrap_or(0);
        sink.null();
        sink.text("00000");
        sink.text(COUNTRIES[country]);
        sink.integer(2);
    }
    sink.text(mail.as_str());
    sink.text(std::str::from_utf8(&phone).unwrap_or_default());
    sink.integer(stream.uniform(1, 5));
    let mut card = [0; 16];
    stream.digits(&mut card);
    sink.text(std::str::from_utf8(&card).unwrap_or_default());
    let first_year = if who.has_community { 2_015 } else { 2_008 };
    let mut expiry = Letters::<7>::default();
    let (year, month) = (stream.uniform(first_year, first_year + 4), stream.uniform(1, 12));
    write!(expiry, "{year}/{month:02}");
    sink.text(expiry.as_str());
    sink.text(username);
    sink.text(PASSWORD);
    sink.integer(stream.uniform(18, who.age_max));
    sink.integer(INCOME_STEP * stream.uniform(1, 5));
    sink.text(if stream.once_in(2) { "M" } else { "F" });
}

/// Room for a mail address is left behind them.
fn capitals<const COUNT: usize>(stream: &mut RandomStream) -> Letters<19> {
    let mut letters = [0; COUNT];
    stream.capitals(&mut letters);
    let mut text = Letters::default();
    text.push(&letters);
    text
}
