//! Draws the inputs of a customer's next transaction.

use super::super::calendar::{self, FIRST_MARKET_DAY, MARKET_DAYS, WEEKDAYS};
use super::super::market::{INDUSTRIES_COUNT, SECTORS};
use super::super::settings::BrokerageSettings;
use super::super::size::BrokerageSize;
use super::super::skew::{self, ShiftedSkew};
use super::super::trading::{QUANTITIES, TradeType};
use super::super::words::{below, one_of};
use super::super::work::BrokerageWork;
use super::super::{accounts, customers, ids, price};
use super::{
    AccountPlace, BROKERS_MAX, BrokerVolume, BrokerageInput, Customer, CustomerPosition, MarketWatch, SecurityDetail,
    TRADES, TradeOrder, TradeSelection, WatchTarget,
};
use crate::random::RandomStream;

const HUNDRED: u64 = 100;
/// A broker-volume asks for 20 to 40 brokers.
const BROKERS_MIN: u32 = 20;
const BROKERS_SPREAD: u32 = 21;
const BY_TAX_ID_PERCENT: u64 = 50;
const HISTORY_PERCENT: u64 = 50;
const WATCH_LIST_PERCENT: u64 = 60;
const WATCH_ACCOUNT_PERCENT: u64 = 35;
const WHOLE_ITEM_PERCENT: u64 = 1;
const DETAIL_DAYS: (i64, i64) = (5, 20);
/// Weeks of daily prices that the first drawn week is after the first.
const FIRST_WEEK: i64 = 5;
const WEEKS: ShiftedSkew = ShiftedSkew::new(0, 255, 255, 0);
/// Of a hundred draws, 20 are Mondays, then 7, 6 and 7, and 60 Fridays.
const WEEKDAY_ENDS: [u64; WEEKDAYS as usize] = [20, 27, 33, 40, 100];
/// Companies of the window in which an industry is watched.
const WINDOW: u32 = 5_000;
/// How long before the end of the initial trading the times of lookups end.
const BEFORE_END_OF_ACCOUNT_MS: i64 = 32 * HOUR_MS;
const BEFORE_END_OF_SECURITY_MS: i64 = 200 * MINUTE_MS;
const BEFORE_END_OF_HOLDINGS_MS: i64 = 500 * MINUTE_MS;
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Of a hundred lookups, how many are of trades, of an account and of a security; the rest is of holdings.
const LOOKUPS_PERCENT: [u64; 3] = [30, 30, 30];
const UPDATES_PERCENT: [u64; 3] = [33, 33, 34];
/// Orders in an account in which others may trade that are by its owner.
const BY_OWNER_PERCENT: u64 = 75;
const BY_COMPANY_PERCENT: u64 = 40;
const MARKET_PERCENT: u64 = 60;
const MARGIN_PERCENT: u64 = 16;
const NEWEST_FIRST_PERCENT: u64 = 35;
const ONE_IN_ROLLED_BACK: u64 = 101;

/// Draws with a customer's stream, for a database of this size.
struct InputDraw<'a> {
    size: BrokerageSize,
    seed: u64,
    stream: &'a mut RandomStream,
}

pub fn draw(customer: &mut Customer, settings: &BrokerageSettings) -> BrokerageInput {
    let work = customer.deck.deal(&mut customer.stream);
    let mut draw = InputDraw { size: settings.size(), seed: settings.data_seed, stream: &mut customer.stream };
    match work {
        BrokerageWork::BrokerVolume => BrokerageInput::BrokerVolume(Box::new(draw.broker_volume())),
        BrokerageWork::CustomerPosition => BrokerageInput::CustomerPosition(draw.customer_position()),
        BrokerageWork::MarketWatch => BrokerageInput::MarketWatch(draw.market_watch()),
        BrokerageWork::SecurityDetail => BrokerageInput::SecurityDetail(draw.security_detail()),
        BrokerageWork::TradeLookup => BrokerageInput::TradeLookup(draw.lookup(LOOKUPS_PERCENT)),
        BrokerageWork::TradeOrder => BrokerageInput::TradeOrder(Box::new(draw.trade_order())),
        BrokerageWork::TradeUpdate => BrokerageInput::TradeUpdate(draw.lookup(UPDATES_PERCENT)),
        _ => BrokerageInput::TradeStatus(draw.account()),
    }
}

impl InputDraw<'_> {
    fn percent(&mut self, share: u64) -> bool {
        self.stream.below(HUNDRED) < share
    }

    fn customer(&mut self) -> u32 {
        customers::draw(self.size.load_units(), self.stream)
    }

    fn account(&mut self) -> AccountPlace {
        let customer = self.customer();
        AccountPlace { customer, number: accounts::draw(customer, self.stream) }
    }

    fn security(&mut self) -> u32 {
        below(self.stream, self.size.securities())
    }

    fn broker_volume(&mut self) -> BrokerVolume {
        let all = self.size.brokers();
        let count = (BROKERS_MIN + below(self.stream, BROKERS_SPREAD)).min(all) as usize;
        let mut brokers = [0; BROKERS_MAX];
        for place in 0..count {
            brokers[place] = self.new_one(|draw| below(draw.stream, all), &brokers[..place]);
        }
        BrokerVolume { brokers, count, sector: one_of(self.stream, &SECTORS).1 }
    }

    /// Draws until one comes that is not among those drawn before.
    fn new_one<T: PartialEq>(&mut self, mut one: impl FnMut(&mut Self) -> T, before: &[T]) -> T {
        loop {
            let drawn = one(self);
            if !before.contains(&drawn) {
                return drawn;
            }
        }
    }

    fn customer_position(&mut self) -> CustomerPosition {
        let customer = self.customer();
        let by_tax_id = self.percent(BY_TAX_ID_PERCENT);
        let history_of = self.percent(HISTORY_PERCENT).then(|| accounts::draw(customer, self.stream));
        CustomerPosition { customer, by_tax_id, history_of }
    }

    fn market_watch(&mut self) -> MarketWatch {
        let drawn = self.stream.below(HUNDRED);
        let of = if drawn < WATCH_LIST_PERCENT {
            WatchTarget::ListOf(self.customer())
        } else if drawn < WATCH_LIST_PERCENT + WATCH_ACCOUNT_PERCENT {
            WatchTarget::Account(self.account())
        } else {
            let window = WINDOW.min(self.size.companies());
            let first = below(self.stream, self.size.companies() - window + 1);
            WatchTarget::Industry { industry: below(self.stream, INDUSTRIES_COUNT), first, last: first + window - 1 }
        };
        let week = WEEKS.draw(self.stream) + FIRST_WEEK;
        let day = weekday(self.stream.below(HUNDRED));
        MarketWatch { of, since: calendar::date(FIRST_MARKET_DAY + 7 * week + day) }
    }

    fn security_detail(&mut self) -> SecurityDetail {
        let (security, with_item) = (self.security(), self.percent(WHOLE_ITEM_PERCENT));
        let days = self.stream.uniform(DETAIL_DAYS.0, DETAIL_DAYS.1);
        let since = calendar::date(FIRST_MARKET_DAY + self.stream.uniform(0, i64::from(MARKET_DAYS) - days));
        SecurityDetail { security, since, days, with_item }
    }

    fn lookup(&mut self, [trades, account, security]: [u64; 3]) -> TradeSelection {
        let drawn = self.stream.below(HUNDRED);
        if drawn < trades {
            TradeSelection::Trades(self.trades())
        } else if drawn < trades + account {
            TradeSelection::OfAccount { account: self.account(), from_us: self.time(BEFORE_END_OF_ACCOUNT_MS) }
        } else if drawn < trades + account + security {
            TradeSelection::OfSecurity { security: self.security(), from_us: self.time(BEFORE_END_OF_SECURITY_MS) }
        } else {
            TradeSelection::Holdings { account: self.account(), from_us: self.time(BEFORE_END_OF_HOLDINGS_MS) }
        }
    }

    fn trades(&mut self) -> Box<[i64; TRADES]> {
        let skew = skew::orders(self.size);
        let mut trades = [0; TRADES];
        for place in 0..TRADES {
            trades[place] = self.new_one(|draw| existing_trade(skew.draw(draw.stream)), &trades[..place]);
        }
        trades.sort_unstable();
        Box::new(trades)
    }

    /// Microseconds since 1970.
    fn time(&mut self, before_end_ms: i64) -> i64 {
        calendar::moment(skew::times(self.size, before_end_ms).draw(self.stream))
    }

    fn trade_order(&mut self) -> TradeOrder {
        let account = self.account();
        let others = accounts::CustomerAccount::new(self.seed, account.customer, account.number);
        let owner = ids::id(account.customer);
        let executor = match others.others() {
            [.., last] if !self.percent(BY_OWNER_PERCENT) => *last,
            _ => owner,
        };
        let basket = accounts::Basket::new(self.seed, self.size, account.customer, account.number);
        let security = basket.draw(self.stream);
        let by_company = self.percent(BY_COMPANY_PERCENT);
        let kind = self.kind_of_trade();
        TradeOrder {
            account,
            security,
            by_company,
            executor,
            kind,
            on_margin: !kind.is_sell() && self.percent(MARGIN_PERCENT),
            newest_first: self.percent(NEWEST_FIRST_PERCENT),
            quantity: one_of(self.stream, &QUANTITIES),
            limit_cents: self.stream.uniform(price::LOWEST_CENTS, price::HIGHEST_CENTS),
            rolls_back: self.stream.once_in(ONE_IN_ROLLED_BACK),
        }
    }

    fn kind_of_trade(&mut self) -> TradeType {
        let (is_market, is_buy) = (self.percent(MARKET_PERCENT), self.stream.once_in(2));
        match (is_market, is_buy) {
            (true, true) => TradeType::MarketBuy,
            (true, false) => TradeType::MarketSell,
            (false, true) => TradeType::LimitBuy,
            (false, false) if self.stream.once_in(2) => TradeType::StopLoss,
            (false, false) => TradeType::LimitSell,
        }
    }
}

/// The weekday, Monday first, of one of a hundred draws.
fn weekday(drawn: u64) -> i64 {
    let mut days = WEEKDAY_ENDS.iter().zip(0..);
    days.find(|(end, _)| drawn < **end).map_or(0, |(_, day)| day)
}

/// The trade of an order, or of the next one if that was given up.
fn existing_trade(order: i64) -> i64 {
    let order = order.unsigned_abs();
    ids::trade_id(if ids::is_aborted(order) { order + 1 } else { order })
}
