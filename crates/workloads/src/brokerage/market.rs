//! Companies and their securities: symbols, names and exchanges by place.
//!
//! A load unit has 500 companies with 685 securities. Their names repeat after ten units, with a number or letters added.

use super::size::{COMPANIES_OF_UNIT, EXCHANGES, SECURITIES_OF_UNIT};
use super::words;
use crate::random::Letters;

pub const SYMBOL_MAX: usize = 15;
pub const COMPANY_NAME_MAX: usize = 60;
pub const SECURITY_NAME_MAX: usize = 70;
/// Companies and securities whose names differ without an addition.
const BASE_COMPANIES: u32 = 5_000;
const BASE_SECURITIES: u32 = 6_850;
/// Securities of the base set on each exchange, in the order of [`EXCHANGE_IDS`].
const ON_EXCHANGE: [u32; EXCHANGES as usize] = [1_704, 1_749, 1_666, 1_731];
pub const EXCHANGE_IDS: [&str; EXCHANGES as usize] = ["NYSE", "NASDAQ", "AMEX", "PCX"];
/// The exchange with higher commissions.
pub const DEAR_EXCHANGE: u32 = 3;
pub const ISSUES: [&str; 5] = ["COMMON", "PREF_A", "PREF_B", "PREF_C", "PREF_D"];
/// How a symbol ends, by issue.
const ISSUE_ENDINGS: [&str; 5] = ["", "PRA", "PRB", "PRC", "PRD"];
/// Companies of a load unit that have more than so many securities: 1, 2, 3, 4.
const WITH_MORE: [u32; 4] = [100, 50, 25, 10];

pub const SECTORS: [(&str, &str); 12] = [
    ("BM", "Basic Materials"),
    ("CG", "Capital Goods"),
    ("CO", "Conglomerates"),
    ("CC", "Consumer Cyclical"),
    ("CN", "Consumer Non-Cyclical"),
    ("EN", "Energy"),
    ("FN", "Financial"),
    ("HC", "Healthcare"),
    ("SV", "Services"),
    ("TC", "Technology"),
    ("TR", "Transportation"),
    ("UT", "Utilities"),
];
pub const INDUSTRIES_COUNT: u32 = 102;
/// A line for each sector, in their order: names of industries with semicolons between them.
const INDUSTRIES: &str = include_str!("words/industries.txt");

const KINDS_OF_COMPANY: [&str; 10] = [
    "Systems",
    "Holdings",
    "Industries",
    "Works",
    "Partners",
    "Products",
    "Resources",
    "Networks",
    "Laboratories",
    "Brands",
];
const FORMS_OF_COMPANY: [&str; 3] = ["Inc.", "Corp.", "Ltd."];

/// The first security of each company of a load unit.
const FIRST_SECURITIES: [u32; COMPANIES_OF_UNIT as usize] = {
    let mut first = [0; COMPANIES_OF_UNIT as usize];
    let mut company = 1;
    while company < COMPANIES_OF_UNIT {
        first[company as usize] = first[company as usize - 1] + issues_in_unit(company - 1);
        company += 1;
    }
    first
};

/// How many securities a company of a load unit has: 1 to 5.
const fn issues_in_unit(company: u32) -> u32 {
    /// Spreads companies with several securities.
    const STEP: u32 = 203;
    let place = company * STEP % COMPANIES_OF_UNIT;
    let mut issues = 1;
    let mut more = 0;
    while more < WITH_MORE.len() {
        if place < WITH_MORE[more] {
            issues += 1;
        }
        more += 1;
    }
    issues
}

/// A security: its company and which of the company's issues it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Security {
    pub place: u32,
    pub company: u32,
    pub issue: u32,
}

impl Security {
    pub fn new(place: u32) -> Self {
        let (unit, in_unit) = (place / SECURITIES_OF_UNIT, place % SECURITIES_OF_UNIT);
        let company = FIRST_SECURITIES.partition_point(|first| *first <= in_unit) - 1;
        let issue = in_unit - FIRST_SECURITIES[company];
        let company = unit * COMPANIES_OF_UNIT + u32::try_from(company).unwrap_or(0);
        Self { place, company, issue }
    }

    pub fn symbol(self) -> Letters<SYMBOL_MAX> {
        let mut symbol = Letters::default();
        push_code(&mut symbol, self.company % BASE_COMPANIES);
        symbol.push(ISSUE_ENDINGS[self.issue as usize].as_bytes());
        let block = self.place / BASE_SECURITIES;
        if block > 0 {
            symbol.push(b"-");
            push_block(&mut symbol, block);
        }
        symbol
    }

    pub fn issue_name(self) -> &'static str {
        ISSUES[self.issue as usize]
    }

    pub fn name(self) -> Letters<SECURITY_NAME_MAX> {
        let mut name = Letters::default();
        for part in [self.issue_name(), " of ", company_name(self.company).as_str()] {
            name.push(part.as_bytes());
        }
        name
    }

    /// The place of its exchange.
    pub fn exchange(self) -> u32 {
        /// Spreads the exchanges over all securities.
        const STEP: u32 = 4_099;
        let mut left = self.place % BASE_SECURITIES * STEP % BASE_SECURITIES;
        for (exchange, count) in (0..).zip(ON_EXCHANGE) {
            if left < count {
                return exchange;
            }
            left -= count;
        }
        0
    }
}

/// Three capitals, different for each company of the base set.
fn push_code(text: &mut Letters<SYMBOL_MAX>, company: u32) {
    const LETTERS: u32 = 26;
    const STEP: u32 = 3_001;
    let code = (company * STEP + 577) % LETTERS.pow(3);
    for power in [2, 1, 0] {
        text.push(&[b'A' + (code / LETTERS.pow(power) % LETTERS) as u8]);
    }
}

/// "a" for the second set of securities, "b" for the third, and so on: "z", "aa", "ab".
fn push_block(text: &mut Letters<SYMBOL_MAX>, block: u32) {
    const LETTERS: u32 = 26;
    if block > LETTERS {
        push_block(text, (block - 1) / LETTERS);
    }
    text.push(&[b'a' + ((block - 1) % LETTERS) as u8]);
}

pub fn company_name(company: u32) -> Letters<COMPANY_NAME_MAX> {
    let base = company % BASE_COMPANIES;
    let mut name = Letters::default();
    words::push_brand(&mut name, base);
    let kind = KINDS_OF_COMPANY[base as usize % KINDS_OF_COMPANY.len()];
    let form = FORMS_OF_COMPANY[base as usize % FORMS_OF_COMPANY.len()];
    for part in [" ", kind, " ", form] {
        name.push(part.as_bytes());
    }
    let block = company / BASE_COMPANIES;
    if block > 0 {
        write!(name, " #{block}");
    }
    name
}

/// The place of a company's industry. Each load unit has companies of every industry.
pub fn industry_of(company: u32) -> u32 {
    const STEP: u32 = 55;
    company % INDUSTRIES_COUNT * STEP % INDUSTRIES_COUNT
}

/// Two letters.
pub fn industry_id(industry: u32) -> Letters<2> {
    const LETTERS: u32 = 26;
    let mut id = Letters::default();
    id.push(&[b'A' + (industry / LETTERS % LETTERS) as u8, b'A' + (industry % LETTERS) as u8]);
    id
}

/// The industries: the places of their sectors, and their names.
pub fn industries() -> impl Iterator<Item = (usize, &'static str)> {
    INDUSTRIES.lines().enumerate().flat_map(|(sector, line)| line.split(';').map(move |name| (sector, name.trim())))
}

pub fn industry_name(industry: u32) -> &'static str {
    industries().nth(industry as usize).map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_load_unit_has_685_securities_of_500_companies() {
        let securities: Vec<_> = (0..BASE_SECURITIES).map(Security::new).collect();
        let of_issue = |issue| securities.iter().filter(|security| security.issue == issue).count();
        assert_eq!([0, 1, 2, 3, 4].map(of_issue), [5_000, 1_000, 500, 250, 100]);
        assert!(securities.windows(2).all(|pair| match pair[1].issue {
            0 => pair[1].company == pair[0].company + 1,
            issue => pair[1].company == pair[0].company && issue == pair[0].issue + 1,
        }));
        let on = |exchange| securities.iter().filter(|security| security.exchange() == exchange).count();
        assert_eq!([0, 1, 2, 3].map(on), ON_EXCHANGE.map(|count| count as usize));
        assert_eq!(Security::new(SECURITIES_OF_UNIT).company, COMPANIES_OF_UNIT);
    }

    #[test]
    fn symbols_and_names_are_unique() {
        let securities: Vec<_> = (0..2 * BASE_SECURITIES).map(Security::new).collect();
        let symbols: BTreeSet<_> = securities.iter().map(|security| security.symbol().as_str().to_owned()).collect();
        let names: BTreeSet<_> = securities.iter().map(|security| security.name().as_str().to_owned()).collect();
        assert_eq!((symbols.len(), names.len()), (securities.len(), securities.len()));
        let symbol_in_block = |block| {
            let mut text = Letters::default();
            push_block(&mut text, block);
            text.as_str().to_owned()
        };
        assert_eq!([1, 26, 27, 53].map(symbol_in_block), ["a", "z", "aa", "ba"]);
        assert!(symbols.contains("AWF") && symbols.contains("AWF-a"), "{:?}", symbols.first());
    }

    #[test]
    fn every_industry_has_companies_and_a_sector() {
        let found: Vec<_> = industries().collect();
        assert_eq!(found.len(), INDUSTRIES_COUNT as usize);
        assert_eq!(found.iter().map(|(_, name)| name).collect::<BTreeSet<_>>().len(), found.len());
        assert_eq!(found.iter().map(|(sector, _)| sector).collect::<BTreeSet<_>>().len(), SECTORS.len());
        let used: BTreeSet<_> = (0..COMPANIES_OF_UNIT).map(industry_of).collect();
        assert_eq!(used.len(), INDUSTRIES_COUNT as usize);
    }
}
