//! Customers, their tax rates, accounts and watch lists.

use super::super::accounts::{CustomerAccount, OTHER_RIGHTS, OWNER_RIGHTS};
use super::super::calendar::{FIRST_DAY, date};
use super::super::customers::{self, watch_list_of};
use super::super::market::Security;
use super::super::people::Person;
use super::super::places::{self, COUNTRY_RATES, TaxRates};
use super::super::size::BrokerageSize;
use super::super::trading::status;
use super::super::words::{below, one_of};
use super::super::{ids, watched};
use super::{integers, rows_of, stream, text_or_null, texts};
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::rows::RowSink;

/// Where customers have mail. Data maintenance moves a customer's second address between the first two of them.
pub const MAIL_DOMAINS: [&str; 6] =
    ["letters.example", "post.example", "inbox.example", "mail.example", "home.example", "office.example"];
/// Percent of the customers in each band of ages, and the ages.
const AGES: [(u32, i64, i64); 9] = [
    (5, 10, 19),
    (16, 19, 25),
    (17, 25, 35),
    (19, 35, 45),
    (16, 45, 55),
    (11, 55, 65),
    (8, 65, 75),
    (7, 75, 85),
    (1, 85, 100),
];
const COUNTRY_CODE: &str = "011";
const AREA_CODES: u32 = 284;
const FIRST_AREA_CODE: u32 = 201;
/// Percent of the three phones that have an extension.
const EXTENSION_PERCENT: [u32; 3] = [25, 15, 5];
const TAXABLE_ENDINGS: [&str; 13] = [
    "Savings", "Growth", "Income", "Trading", "Reserve", "Joint", "Holiday", "House", "Venture", "Cash", "Margin",
    "Family", "Play",
];
const UNTAXED_ENDINGS: [&str; 11] = [
    "Pension",
    "Retirement",
    "College",
    "Charity",
    "Trust",
    "Health",
    "School",
    "Old Age",
    "Rollover",
    "Foundation",
    "Children",
];

pub fn customer(seed: u64, size: BrokerageSize, customer: u32) -> impl Chunk {
    rows_of(1, move |_, sink| {
        let mut stream = stream(seed, "customer", customer);
        let person = Person::new(seed, ids::id(customer));
        sink.integer(ids::id(customer));
        texts(sink, &[person.tax_id.as_str(), status::ACTIVE, person.last_name.as_str(), person.first_name.as_str()]);
        texts(sink, &[person.middle_name.as_str(), if person.is_female { "F" } else { "M" }]);
        sink.integer(customers::tier(customer).into());
        sink.date(date(FIRST_DAY - age_days(&mut stream)));
        sink.integer(ids::id(places::address_of_customer(size.companies(), customer)));
        for percent in EXTENSION_PERCENT {
            push_phone(&mut stream, percent, sink);
        }
        push_mail(&mut stream, &person, sink);
    })
}

fn age_days(stream: &mut RandomStream) -> i64 {
    /// The days of four years.
    const DAYS: i64 = 1_461;
    let mut drawn = below(stream, 100);
    let (mut from, mut to) = (0, 1);
    for (percent, youngest, oldest) in AGES {
        (from, to) = (youngest, oldest);
        match drawn.checked_sub(percent) {
            Some(left) => drawn = left,
            None => break,
        }
    }
    stream.uniform(from * DAYS / 4 + 1, to * DAYS / 4)
}

fn push_phone(stream: &mut RandomStream, extension_percent: u32, sink: &mut dyn RowSink) {
    let mut area = Letters::<3>::default();
    write!(area, "{}", FIRST_AREA_CODE + 2 * below(stream, AREA_CODES));
    let (mut local, mut extension) = ([0; 7], [0; 3]);
    stream.digits(&mut local);
    stream.digits(&mut extension);
    let digits = |digits| std::str::from_utf8(digits).unwrap_or_default();
    texts(sink, &[COUNTRY_CODE, area.as_str(), digits(&local)]);
    let has_extension = below(stream, 100) < extension_percent;
    text_or_null(sink, has_extension.then(|| digits(&extension)));
}

/// Two addresses in different domains.
fn push_mail(stream: &mut RandomStream, person: &Person, sink: &mut dyn RowSink) {
    let domains = MAIL_DOMAINS.len();
    let first = usize::try_from(stream.below(domains as u64)).unwrap_or(0);
    let step = usize::try_from(stream.below(domains as u64 - 1)).unwrap_or(0) + 1;
    for domain in [first, (first + step) % domains] {
        let mut mail = Letters::<50>::default();
        for part in [&person.first_name.as_str()[..1], person.last_name.as_str(), "@", MAIL_DOMAINS[domain]] {
            mail.push(part.as_bytes());
        }
        sink.text(mail.as_str());
    }
}

pub fn tax_rates(seed: u64, size: BrokerageSize, customer: u32) -> impl Chunk {
    rows_of(2, move |row, sink| {
        let rates = TaxRates::new(seed, size.companies(), customer);
        match row {
            0 => sink.text(COUNTRY_RATES[rates.country].0),
            _ => sink.text(rates.division.id().as_str()),
        }
        sink.integer(ids::id(customer));
    })
}

pub fn accounts(seed: u64, customer: u32) -> impl Chunk {
    let owner = Person::new(seed, ids::id(customer)).full_name();
    let mut endings = stream(seed, "account names", customer);
    rows_of(customers::accounts(customer), move |row, sink| {
        let account = CustomerAccount::new(seed, customer, row);
        integers(sink, &[ids::account_id(customer, row), ids::id(account.broker), ids::id(customer)]);
        let ending = if account.tax_status == 0 {
            one_of(&mut endings, &UNTAXED_ENDINGS)
        } else {
            one_of(&mut endings, &TAXABLE_ENDINGS)
        };
        let mut name = Letters::<50>::default();
        for part in [owner.as_str(), " ", ending] {
            name.push(part.as_bytes());
        }
        sink.text(name.as_str());
        integers(sink, &[account.tax_status.into(), account.balance_cents]);
    })
}

/// The permissions of all accounts of a customer.
pub fn permissions(seed: u64, customer: u32) -> impl Chunk {
    let persons: Vec<_> = (0..customers::accounts(customer))
        .flat_map(|account| {
            let rights = std::iter::once(OWNER_RIGHTS).chain(OTHER_RIGHTS);
            let persons = CustomerAccount::new(seed, customer, account).persons(seed, customer);
            persons.zip(rights).map(move |(person, rights)| (ids::account_id(customer, account), rights, person))
        })
        .collect();
    rows_of(u32::try_from(persons.len()).unwrap_or(0), move |row, sink| {
        let (account, rights, person) = &persons[row as usize];
        sink.integer(*account);
        texts(sink, &[rights, person.tax_id.as_str(), person.last_name.as_str(), person.first_name.as_str()]);
    })
}

pub fn watch_list(customer: u32) -> impl Chunk {
    rows_of(1, move |_, sink| integers(sink, &[ids::id(watch_list_of(customer)), ids::id(customer)]))
}

pub fn watch_items(seed: u64, size: BrokerageSize, customer: u32) -> impl Chunk {
    let securities = watched::securities(seed, size, customer);
    rows_of(u32::try_from(securities.len()).unwrap_or(0), move |row, sink| {
        sink.integer(ids::id(watch_list_of(customer)));
        sink.text(Security::new(securities[row as usize]).symbol().as_str());
    })
}
