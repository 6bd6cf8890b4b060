//! Postal codes, addresses and tax rates.

use super::size::EXCHANGES;
use super::words::{self, below};
use crate::random::{Letters, RandomStream};

pub const ZIP_CODES: u32 = 14_741;
/// The postal codes at home; the others are of the neighbours.
const HOME_ZIP_CODES: u32 = 14_000;
const HOME_DIVISIONS: &str = "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM \
    NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY";
const HOME_DIVISIONS_COUNT: u32 = 51;
const OTHER_DIVISIONS: &str = "AB BC MB NB NL NS NT NU ON PE QC SK YT";
const OTHER_DIVISIONS_COUNT: u32 = 13;
const DIVISIONS: u32 = HOME_DIVISIONS_COUNT + OTHER_DIVISIONS_COUNT;

/// Tax rates of countries: ids and rates in 1/100,000.
pub const COUNTRY_RATES: [(&str, i64); 9] = [
    ("US1", 15_000),
    ("US2", 27_500),
    ("US3", 30_500),
    ("US4", 35_500),
    ("US5", 39_100),
    ("CN1", 16_000),
    ("CN2", 22_000),
    ("CN3", 26_000),
    ("CN4", 29_000),
];
const HOME_RATES: u32 = 5;
/// Tax rates of divisions; each division has 4 or 5.
pub const DIVISION_RATES: u32 = 311;
const DIVISION_RATE_MAX: i64 = 48_640;

pub type TaxId = Letters<4>;

/// A postal code by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZipCode(pub u32);

impl ZipCode {
    pub fn is_home(self) -> bool {
        self.0 < HOME_ZIP_CODES
    }

    pub fn country(self) -> &'static str {
        if self.is_home() { "USA" } else { "CANADA" }
    }

    fn division(self) -> u32 {
        if self.is_home() {
            self.0 * HOME_DIVISIONS_COUNT / HOME_ZIP_CODES
        } else {
            HOME_DIVISIONS_COUNT + (self.0 - HOME_ZIP_CODES) * OTHER_DIVISIONS_COUNT / (ZIP_CODES - HOME_ZIP_CODES)
        }
    }

    /// Two letters.
    pub fn division_name(self) -> &'static str {
        division_name(self.division())
    }

    pub fn code(self) -> Letters<12> {
        /// Codes are spread over five digits.
        const STEP: u32 = 7;
        const FIRST: u32 = 1_001;
        let mut code = Letters::default();
        if self.is_home() {
            write!(code, "{:05}", FIRST + STEP * self.0);
        } else {
            let number = self.0 - HOME_ZIP_CODES;
            let letter = |number: u32| char::from(b'A' + (number % 26) as u8);
            write!(code, "{}{}{} {}", letter(self.division()), number / 100, letter(number), 100 + number % 100);
        }
        code
    }

    pub fn town(self) -> Letters<80> {
        let mut town = Letters::default();
        words::push_town(&mut town, self.0 % words::TOWNS);
        town
    }
}

fn division_name(division: u32) -> &'static str {
    let (list, place) = match division.checked_sub(HOME_DIVISIONS_COUNT) {
        None => (HOME_DIVISIONS, division as usize),
        Some(place) => (OTHER_DIVISIONS, place as usize),
    };
    &list[3 * place..3 * place + 2]
}

/// An address by its place: exchanges first, then companies, then customers.
#[derive(Debug, Clone, Copy)]
pub struct PostalAddress {
    pub line_1: Letters<80>,
    pub line_2: Option<Letters<80>>,
    pub zip_code: ZipCode,
}

impl PostalAddress {
    pub fn new(seed: u64, place: u32) -> Self {
        let mut stream = RandomStream::new(seed, "address", [place, 0]);
        let zip_code = ZipCode(below(&mut stream, ZIP_CODES));
        let mut line_1 = Letters::default();
        write!(line_1, "{} ", stream.uniform(100, 25_000));
        let street = below(&mut stream, words::STREETS);
        words::push_street(&mut line_1, street, &mut stream);
        Self { line_1, line_2: second_line(&mut stream), zip_code }
    }
}

fn second_line(stream: &mut RandomStream) -> Option<Letters<80>> {
    const NONE_PERCENT: u64 = 60;
    const APARTMENT_PERCENT: u64 = 75;
    if stream.below(100) < NONE_PERCENT {
        return None;
    }
    let mut line = Letters::default();
    if stream.below(100) < APARTMENT_PERCENT {
        write!(line, "Apt. {}", stream.uniform(1, 1_000));
    } else {
        write!(line, "Suite {}", stream.uniform(1, 500));
    }
    Some(line)
}

/// The place of a company's address.
pub fn address_of_company(company: u32) -> u32 {
    EXCHANGES + company
}

/// The place of a customer's address, where there are so many companies.
pub fn address_of_customer(companies: u32, customer: u32) -> u32 {
    EXCHANGES + companies + customer
}

/// The rate of a division: which of its brackets, and of which division.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DivisionRate(pub u32);

impl DivisionRate {
    pub fn id(self) -> TaxId {
        let mut id = Letters::default();
        write!(id, "{}{}", division_name(self.0 % DIVISIONS), self.0 / DIVISIONS + 1);
        id
    }

    /// In 1/100,000. The rates of a division rise.
    pub fn rate(self) -> i64 {
        i64::from(self.0) * DIVISION_RATE_MAX / i64::from(DIVISION_RATES - 1)
    }

    pub fn name(self) -> Letters<50> {
        let mut name = Letters::default();
        write!(name, "{} Tax Bracket {}", division_name(self.0 % DIVISIONS), self.0 / DIVISIONS + 1);
        name
    }
}

/// The two tax rates of a customer.
#[derive(Debug, Clone, Copy)]
pub struct TaxRates {
    /// Place in [`COUNTRY_RATES`].
    pub country: usize,
    pub division: DivisionRate,
}

impl TaxRates {
    pub fn new(seed: u64, companies: u32, customer: u32) -> Self {
        let zip_code = PostalAddress::new(seed, address_of_customer(companies, customer)).zip_code;
        let mut stream = RandomStream::new(seed, "tax rates", [customer, 0]);
        let others = u32::try_from(COUNTRY_RATES.len()).unwrap_or(0) - HOME_RATES;
        let country =
            if zip_code.is_home() { below(&mut stream, HOME_RATES) } else { HOME_RATES + below(&mut stream, others) };
        let division = zip_code.division();
        let brackets = (DIVISION_RATES - division).div_ceil(DIVISIONS);
        let division = DivisionRate(division + DIVISIONS * below(&mut stream, brackets));
        Self { country: country as usize, division }
    }

    /// Both rates together, in 1/100,000.
    pub fn sum(self) -> i64 {
        COUNTRY_RATES[self.country].1 + self.division.rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn postal_codes_and_tax_ids_are_unique() {
        let codes: BTreeSet<_> = (0..ZIP_CODES).map(|zip| ZipCode(zip).code().as_str().to_owned()).collect();
        assert_eq!(codes.len(), ZIP_CODES as usize);
        let divisions: BTreeSet<_> = (0..ZIP_CODES).map(|zip| ZipCode(zip).division_name()).collect();
        assert_eq!(divisions.len(), DIVISIONS as usize);
        let ids: BTreeSet<_> = (0..DIVISION_RATES).map(|rate| DivisionRate(rate).id().as_str().to_owned()).collect();
        assert_eq!(ids.len(), DIVISION_RATES as usize);
        assert!(ids.iter().all(|id| !id.starts_with("US") && !id.starts_with("CN")));
        assert_eq!((DivisionRate(0).rate(), DivisionRate(310).rate()), (0, 48_640));
    }

    #[test]
    fn the_rates_of_a_customer_are_those_of_the_address() {
        for customer in 0..1_000 {
            let address = PostalAddress::new(42, address_of_customer(500, customer));
            let rates = TaxRates::new(42, 500, customer);
            assert_eq!(&rates.division.id().as_str()[..2], address.zip_code.division_name());
            let country = COUNTRY_RATES[rates.country].0;
            assert_eq!(country.starts_with("US"), address.zip_code.is_home());
            assert!((15_000..=88_000).contains(&rates.sum()));
        }
    }
}
