//! Companies, their competitors, figures and news.

use super::super::calendar::{self, date};
use super::super::people::Person;
use super::super::size::BrokerageSize;
use super::super::trading::status;
use super::super::words::{self, below, one_of};
use super::super::{ids, market, places};
use super::{integers, rows_of, stream, texts};
use crate::chunks::Chunk;
use crate::random::{Letters, RandomStream};
use engines::session::Date;

pub const COMPETITORS: u32 = 3;
pub const NEWS: u32 = 2;
const FIRST_YEAR: u32 = 2_000;
const YEARS: u32 = 5;
pub const QUARTERS: u32 = 4 * YEARS;
/// The persons who lead companies have ids of their own.
const CHIEFS_FROM: i64 = 50_000_000;
/// 1800-01-01 and 2000-01-01, in days since 1970.
const FOUNDED: (i64, i64) = (-62_091, 10_957);
const DESCRIPTION: (i64, i64) = (24, 150);
/// A rating is one of these 12, or three of the first three letters of the alphabet.
const SHORT_RATINGS: [&str; 12] = ["A", "AA", "B", "BB", "C", "CC", "D", "DD", "A+", "B+", "C+", "D+"];
const RATINGS: u32 = 39;
/// The newest news are from the end of the trading; the oldest are so many days older.
const NEWS_DAYS: i64 = 50;
const SECONDS_OF_DAY: i64 = 86_400;

pub fn company(seed: u64, company: u32) -> impl Chunk {
    rows_of(1, move |_, sink| {
        let mut stream = stream(seed, "company", company);
        let chief = Person::new(seed, ids::id(company) + CHIEFS_FROM);
        sink.integer(ids::id(company));
        texts(sink, &[status::ACTIVE, market::company_name(company).as_str()]);
        let industry = market::industry_id(market::industry_of(company));
        texts(sink, &[industry.as_str(), rating(&mut stream).as_str(), chief.full_name().as_str()]);
        sink.integer(ids::id(places::address_of_company(company)));
        let mut description = String::new();
        let length = stream.uniform(DESCRIPTION.0, DESCRIPTION.1);
        push_words(&mut description, &mut stream, usize::try_from(length).unwrap_or(0));
        sink.text(&description);
        sink.date(date(stream.uniform(FOUNDED.0, FOUNDED.1)));
    })
}

fn rating(stream: &mut RandomStream) -> Letters<4> {
    let drawn = below(stream, RATINGS);
    let mut rating = Letters::default();
    match SHORT_RATINGS.get(drawn as usize) {
        Some(short) => rating.push(short.as_bytes()),
        None => [9, 3, 1].iter().for_each(|power| rating.push(&[b"ABC"[(drawn / power % 3) as usize]])),
    }
    rating
}

/// Appends random words up to exactly this length, without a blank at the end.
fn push_words(text: &mut String, stream: &mut RandomStream, length: usize) {
    while text.len() < length {
        let mut word = Letters::<20>::default();
        words::push_surname(&mut word, below(stream, words::SURNAMES));
        text.push_str(word.as_str());
        text.push(' ');
    }
    text.truncate(length);
    if text.ends_with(' ') {
        text.pop();
        text.push('.');
    }
}

pub fn competitors(size: BrokerageSize, company: u32) -> impl Chunk {
    rows_of(COMPETITORS, move |row, sink| {
        let competitor = (company + (row + 1) * market::INDUSTRIES_COUNT) % size.companies();
        integers(sink, &[ids::id(company), ids::id(competitor)]);
        sink.text(market::industry_id(market::industry_of(company)).as_str());
    })
}

/// What changes from quarter to quarter, in cents or shares.
struct CompanyFigures {
    revenue: i64,
    earnings: i64,
    inventory: i64,
    assets: i64,
    liability: i64,
    shares: i64,
}

impl CompanyFigures {
    fn draw(stream: &mut RandomStream) -> Self {
        let revenue = stream.uniform(10_000_000, 1_600_000_000_000);
        Self {
            revenue,
            earnings: stream.uniform(-30_000_000_000, revenue.min(300_000_000_000)),
            inventory: stream.uniform(0, 200_000_000_000),
            assets: stream.uniform(10_000_000, 6_500_000_000_000),
            liability: stream.uniform(10_000_000, 3_500_000_000_000),
            shares: stream.uniform(400_000, 9_500_000_000),
        }
    }

    fn grow(&mut self, stream: &mut RandomStream) {
        let Self { revenue, earnings, inventory, assets, liability, shares } = self;
        for figure in [revenue, earnings, inventory, assets, liability, shares] {
            *figure = *figure * stream.uniform(9_000, 11_500) / 10_000;
        }
        self.earnings = self.earnings.min(self.revenue);
    }
}

pub fn financials(seed: u64, company: u32) -> impl Chunk {
    let mut stream = stream(seed, "financial", company);
    let mut figures = CompanyFigures::draw(&mut stream);
    rows_of(QUARTERS, move |row, sink| {
        let (year, quarter) = (FIRST_YEAR + row / 4, row % 4 + 1);
        let diluted = figures.shares * 11 / 10;
        integers(sink, &[ids::id(company), year.into(), quarter.into()]);
        sink.date(Date::from_year_month_day(year, 3 * quarter - 2, 1).unwrap_or(date(0)));
        let margin = figures.earnings * 100 / figures.revenue;
        integers(sink, &[figures.revenue, figures.earnings, figures.earnings / figures.shares]);
        integers(sink, &[figures.earnings / diluted, margin, figures.inventory, figures.assets, figures.liability]);
        integers(sink, &[figures.shares, diluted]);
        figures.grow(&mut stream);
    })
}

const SOURCES: [&str; 6] =
    ["Daily Ledger", "Market Courier", "Evening Ticker", "Exchange Gazette", "Capital Observer", "Trading Post"];

pub fn news(seed: u64, size: BrokerageSize, bytes: usize, company: u32) -> impl Chunk {
    const HEADLINE: usize = 80;
    const SUMMARY: usize = 255;
    let mut stream = stream(seed, "news", company);
    rows_of(NEWS, move |row, sink| {
        let mut item = String::with_capacity(bytes + 20);
        push_words(&mut item, &mut stream, bytes);
        sink.integer(ids::id(NEWS * company + row));
        texts(sink, &[&item[..HEADLINE], &item[..SUMMARY]]);
        let age = stream.uniform(0, NEWS_DAYS * SECONDS_OF_DAY);
        sink.integer(calendar::end(size.days) - calendar::microseconds(1_000 * age));
        sink.text(one_of(&mut stream, &SOURCES));
        let mut author = Letters::<30>::default();
        words::push_surname(&mut author, below(&mut stream, words::SURNAMES));
        texts(sink, &[author.as_str(), &item]);
    })
}

pub fn news_of_company(company: u32) -> impl Chunk {
    rows_of(NEWS, move |row, sink| integers(sink, &[ids::id(NEWS * company + row), ids::id(company)]))
}
