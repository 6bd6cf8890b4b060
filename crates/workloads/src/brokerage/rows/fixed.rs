//! Tables of the same rows at every size, and addresses.

use super::super::ids;
use super::super::market::{self, EXCHANGE_IDS, SECTORS, Security};
use super::super::places::{COUNTRY_RATES, DIVISION_RATES, DivisionRate, PostalAddress, ZIP_CODES, ZipCode};
use super::super::size::{BrokerageSize, EXCHANGES};
use super::super::trading::{BANDS, TIERS, TradeType, commission_rate, status};
use super::{integers, rows_of, text_or_null, texts};
use crate::chunks::Chunk;
use crate::random::Letters;

const OPENING: i64 = 930;
const CLOSING: i64 = 1_600;
const EXCHANGE_NAMES: [&str; EXCHANGES as usize] =
    ["New York Stock Exchange", "NASDAQ Stock Market", "American Stock Exchange", "Pacific Exchange"];

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(0)
}

pub fn statuses() -> impl Chunk {
    rows_of(count(status::ALL.len()), |row, sink| {
        let (id, name) = status::ALL[row as usize];
        texts(sink, &[id, name]);
    })
}

pub fn zip_codes() -> impl Chunk {
    rows_of(ZIP_CODES, |row, sink| {
        let zip_code = ZipCode(row);
        texts(sink, &[zip_code.code().as_str(), zip_code.town().as_str(), zip_code.division_name()]);
    })
}

pub fn tax_rates() -> impl Chunk {
    let countries = count(COUNTRY_RATES.len());
    rows_of(countries + DIVISION_RATES, move |row, sink| {
        if let Some((id, rate)) = COUNTRY_RATES.get(row as usize) {
            let mut name = Letters::<50>::default();
            write!(name, "{} Income Tax Bracket {}", &id[..2], &id[2..]);
            texts(sink, &[id, name.as_str()]);
            sink.integer(*rate);
        } else {
            let rate = DivisionRate(row - countries);
            texts(sink, &[rate.id().as_str(), rate.name().as_str()]);
            sink.integer(rate.rate());
        }
    })
}

pub fn sectors() -> impl Chunk {
    rows_of(count(SECTORS.len()), |row, sink| {
        let (id, name) = SECTORS[row as usize];
        texts(sink, &[id, name]);
    })
}

pub fn industries() -> impl Chunk {
    let mut industries = market::industries();
    rows_of(market::INDUSTRIES_COUNT, move |row, sink| {
        let (sector, name) = industries.next().unwrap_or((0, ""));
        texts(sink, &[market::industry_id(row).as_str(), name, SECTORS[sector].0]);
    })
}

pub fn exchanges(size: BrokerageSize) -> impl Chunk {
    let mut securities = [0; EXCHANGES as usize];
    for security in 0..size.securities() {
        securities[Security::new(security).exchange() as usize] += 1;
    }
    rows_of(EXCHANGES, move |row, sink| {
        let place = row as usize;
        texts(sink, &[EXCHANGE_IDS[place], EXCHANGE_NAMES[place]]);
        integers(sink, &[securities[place], OPENING, CLOSING]);
        let mut description = Letters::<150>::default();
        write!(description, "{} trades from 9:30 to 16:00", EXCHANGE_NAMES[place]);
        sink.text(description.as_str());
        sink.integer(ids::id(row));
    })
}

pub fn trade_types() -> impl Chunk {
    rows_of(count(TradeType::ALL.len()), |row, sink| {
        let of = TradeType::ALL[row as usize];
        texts(sink, &[of.id(), of.name()]);
        integers(sink, &[of.is_sell().into(), of.is_market().into()]);
    })
}

pub fn charges() -> impl Chunk {
    rows_of(count(TradeType::ALL.len()) * TIERS, |row, sink| {
        let (of, tier) = (TradeType::ALL[(row / TIERS) as usize], row % TIERS + 1);
        sink.text(of.id());
        integers(sink, &[tier.into(), of.charge_cents(tier)]);
    })
}

pub fn commission_rates() -> impl Chunk {
    let (types, bands) = (count(TradeType::ALL.len()), count(BANDS.len()));
    rows_of(TIERS * types * EXCHANGES * bands, move |row, sink| {
        let (band, rest) = ((row % bands) as usize, row / bands);
        let (exchange, rest) = (rest % EXCHANGES, rest / EXCHANGES);
        let (of, tier) = (TradeType::ALL[(rest % types) as usize], rest / types + 1);
        sink.integer(tier.into());
        texts(sink, &[of.id(), EXCHANGE_IDS[exchange as usize]]);
        integers(sink, &[BANDS[band].0, BANDS[band].1, commission_rate(tier, exchange, band)]);
    })
}

pub fn address(seed: u64, place: u32) -> impl Chunk {
    rows_of(1, move |_, sink| {
        let address = PostalAddress::new(seed, place);
        sink.integer(ids::id(place));
        sink.text(address.line_1.as_str());
        text_or_null(sink, address.line_2.as_ref().map(Letters::as_str));
        texts(sink, &[address.zip_code.code().as_str(), address.zip_code.country()]);
    })
}
