//! Whether the transactions of the measured window follow the rules for mix, inputs and response times.
//!
//! The definition allows a little more or less than each rule says, for runs of hours. Chance is allowed for in addition, see
//! [`crate::share`].

use super::checks;
use super::exchange::MARKETS;
use super::size::Size;
use super::tally::Counter;
use super::work::{LIMITED, Work};
use crate::share::{AllowedShare, mean};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;

/// Of all transactions of the ten kinds, so many in a thousand, and by which share of that the definition allows more or less.
const MIX: [(Work, f64); 10] = [
    (Work::TradeStatus, 0.19),
    (Work::MarketWatch, 0.18),
    (Work::SecurityDetail, 0.14),
    (Work::CustomerPosition, 0.13),
    (Work::TradeOrder, 0.101),
    (Work::TradeLookup, 0.08),
    (Work::BrokerVolume, 0.049),
    (Work::TradeUpdate, 0.02),
    (Work::TradeResult, 0.1),
    (Work::MarketFeed, 0.01),
];
const MIX_TOLERANCE: f64 = 0.005;
/// The share of the ten kinds that customers send.
const CUSTOMERS_SHARE: f64 = 0.89;
/// At most this share may take longer than the limit of the kind.
const LATE_SHARE: f64 = 0.1;
/// Results for each market-feed.
const RESULTS_OF_FEED: u64 = 10;
/// With this many trades in the account that trades least, hardly any account has fewer than are asked for.
const TRADES_OF_LEAST_ACTIVE: f64 = 90.0;
/// That account has this share of the trades of a mean one.
const LEAST_ACTIVE_SHARE: f64 = 0.375;

/// Names and rules of shares: the counter, the kind of which it is a share, and the target with what is allowed, in percent.
type ShareRule = (&'static str, &'static str, Counter, Work, [f64; 3]);

const RULES: [ShareRule; 27] = [
    (
        "position-by-tax-id",
        "50 % of the customer-positions find their customer by tax id.",
        Counter::PositionsByTaxId,
        Work::CustomerPosition,
        [50.0, 48.0, 52.0],
    ),
    (
        "position-history",
        "50 % of the customer-positions ask for the history of an account.",
        Counter::PositionsWithHistory,
        Work::CustomerPosition,
        [50.0, 48.0, 52.0],
    ),
    (
        "watch-list",
        "60 % of the market-watches are of a watch list.",
        Counter::WatchesOfList,
        Work::MarketWatch,
        [60.0, 57.0, 63.0],
    ),
    (
        "watch-account",
        "35 % of the market-watches are of an account.",
        Counter::WatchesOfAccount,
        Work::MarketWatch,
        [35.0, 33.0, 37.0],
    ),
    (
        "watch-industry",
        "5 % of the market-watches are of an industry.",
        Counter::WatchesOfIndustry,
        Work::MarketWatch,
        [5.0, 4.5, 5.5],
    ),
    (
        "detail-item",
        "1 % of the security-details ask for whole items of news.",
        Counter::DetailsWithItem,
        Work::SecurityDetail,
        [1.0, 0.9, 1.1],
    ),
    (
        "lookup-trades",
        "30 % of the trade-lookups are of trades.",
        Counter::LookupsOfTrades,
        Work::TradeLookup,
        [30.0, 28.5, 31.5],
    ),
    (
        "lookup-account",
        "30 % of the trade-lookups are of an account.",
        Counter::LookupsOfAccount,
        Work::TradeLookup,
        [30.0, 28.5, 31.5],
    ),
    (
        "lookup-security",
        "30 % of the trade-lookups are of a security.",
        Counter::LookupsOfSecurity,
        Work::TradeLookup,
        [30.0, 28.5, 31.5],
    ),
    (
        "lookup-holdings",
        "10 % of the trade-lookups are of the holdings that a trade changed.",
        Counter::LookupsOfHoldings,
        Work::TradeLookup,
        [10.0, 9.5, 10.5],
    ),
    (
        "update-trades",
        "33 % of the trade-updates are of trades.",
        Counter::UpdatesOfTrades,
        Work::TradeUpdate,
        [33.0, 31.0, 35.0],
    ),
    (
        "update-account",
        "33 % of the trade-updates are of an account.",
        Counter::UpdatesOfAccount,
        Work::TradeUpdate,
        [33.0, 31.0, 35.0],
    ),
    (
        "update-security",
        "34 % of the trade-updates are of a security.",
        Counter::UpdatesOfSecurity,
        Work::TradeUpdate,
        [34.0, 32.0, 36.0],
    ),
    (
        "order-by-other",
        "10 % of the trade-orders are by somebody else than the owner.",
        Counter::OrdersByOthers,
        Work::TradeOrder,
        [10.0, 9.5, 10.5],
    ),
    (
        "order-by-company",
        "40 % of the trade-orders name the company and the issue instead of the symbol.",
        Counter::OrdersByCompany,
        Work::TradeOrder,
        [40.0, 38.0, 42.0],
    ),
    (
        "order-margin",
        "8 % of the trade-orders are on margin.",
        Counter::OrdersOnMargin,
        Work::TradeOrder,
        [8.0, 7.5, 8.5],
    ),
    (
        "order-newest-first",
        "35 % of the trade-orders close the newest lots first.",
        Counter::OrdersNewestFirst,
        Work::TradeOrder,
        [35.0, 33.0, 37.0],
    ),
    (
        "order-100",
        "25 % of the trade-orders are of 100 shares.",
        Counter::Orders100,
        Work::TradeOrder,
        [25.0, 24.0, 26.0],
    ),
    (
        "order-200",
        "25 % of the trade-orders are of 200 shares.",
        Counter::Orders200,
        Work::TradeOrder,
        [25.0, 24.0, 26.0],
    ),
    (
        "order-400",
        "25 % of the trade-orders are of 400 shares.",
        Counter::Orders400,
        Work::TradeOrder,
        [25.0, 24.0, 26.0],
    ),
    (
        "order-800",
        "25 % of the trade-orders are of 800 shares.",
        Counter::Orders800,
        Work::TradeOrder,
        [25.0, 24.0, 26.0],
    ),
    (
        "order-market-buy",
        "30 % of the trade-orders buy at the market price.",
        Counter::MarketBuys,
        Work::TradeOrder,
        [30.0, 29.7, 30.3],
    ),
    (
        "order-market-sell",
        "30 % of the trade-orders sell at the market price.",
        Counter::MarketSells,
        Work::TradeOrder,
        [30.0, 29.7, 30.3],
    ),
    (
        "order-stop-loss",
        "10 % of the trade-orders sell once the price has fallen to a limit.",
        Counter::StopLosses,
        Work::TradeOrder,
        [10.0, 9.9, 10.1],
    ),
    (
        "order-limit-sell",
        "10 % of the trade-orders sell at a limit.",
        Counter::LimitSells,
        Work::TradeOrder,
        [10.0, 9.9, 10.1],
    ),
    (
        "order-limit-buy",
        "20 % of the trade-orders buy at a limit.",
        Counter::LimitBuys,
        Work::TradeOrder,
        [20.0, 19.8, 20.2],
    ),
    (
        "result-cash",
        "92 % of the trade-results are paid in cash.",
        Counter::CashTransactions,
        Work::TradeResult,
        [92.0, 91.5, 92.5],
    ),
];

/// `waiting` is how many transactions of the market were due and not yet executed at most.
pub fn audit(size: Size, kinds: &[KindTotals], tally: &BTreeMap<String, u64>, waiting: u64) -> Vec<CheckResult> {
    let window = Window { kinds, tally };
    let mut findings: Vec<CheckResult> = MIX.iter().map(|(work, target)| window.mix(*work, *target)).collect();
    findings.push(window.feeds(waiting));
    for (name, rule, counter, of, percents) in RULES {
        let [target, low, high] = percents.map(|percent| percent / 100.0);
        let verdict = AllowedShare { target, low, high }.judge(window.counted(counter), window.done(of));
        findings.push(finding(name, rule, verdict));
    }
    let rolled_back = AllowedShare { target: 1.0 / 101.0, low: 0.0094, high: 0.0104 };
    let of_orders = rolled_back.judge(window.rolled_back(Work::TradeOrder), window.done(Work::TradeOrder));
    findings.push(finding("order-rolled-back", "1 of 101 trade-orders is rolled back.", of_orders));
    findings.extend(
        LIMITED.into_iter().zip(Counter::LateTradeResults as usize..).map(|(work, place)| window.late(work, place)),
    );
    findings.push(window.lag());
    findings.push(window.load_units(size));
    findings.push(window.statuses("error", "No transaction finds less or more than it must.", is_error));
    findings.push(window.statuses("warning", "Transactions that find nothing are told.", |_| false));
    findings.push(window.short(size));
    findings
}

/// Errors of small databases and of trades that are not complete are judged by themselves.
fn is_error(name: &str) -> bool {
    ![Counter::Error221, Counter::Error642, Counter::Error911].map(Counter::name).contains(&name)
}

/// What was executed in the measured window.
struct Window<'a> {
    kinds: &'a [KindTotals],
    tally: &'a BTreeMap<String, u64>,
}

impl Window<'_> {
    fn totals(&self, work: Work) -> Option<&KindTotals> {
        self.kinds.iter().find(|totals| totals.kind == work.name())
    }

    fn done(&self, work: Work) -> u64 {
        self.totals(work).map_or(0, KindTotals::finished)
    }

    fn rolled_back(&self, work: Work) -> u64 {
        self.totals(work).map_or(0, |totals| totals.rolled_back)
    }

    fn counted(&self, counter: Counter) -> u64 {
        self.tally.get(counter.name()).copied().unwrap_or(0)
    }

    /// Kinds that customers send are judged among each other, so that a market that lags behind does not change them.
    fn mix(&self, work: Work, target: f64) -> CheckResult {
        let is_of_market = matches!(work, Work::TradeResult | Work::MarketFeed);
        let among = |(other, _): &&(Work, f64)| is_of_market || !matches!(other, Work::TradeResult | Work::MarketFeed);
        let all = MIX.iter().filter(among).map(|(other, _)| self.done(*other)).sum();
        let share = if is_of_market { target } else { target / CUSTOMERS_SHARE };
        let allowed =
            AllowedShare { target: share, low: share * (1.0 - MIX_TOLERANCE), high: share * (1.0 + MIX_TOLERANCE) };
        let of = if is_of_market { "all transactions" } else { "what customers send" };
        let rule = format!("{:.1} % of {of} are {}.", share * 100.0, work.name());
        let ordered = self.totals(Work::TradeOrder).map_or(0, |totals| totals.committed);
        let owed = ordered.cast_signed() - self.done(Work::TradeResult).cast_signed();
        let verdict = match allowed.judge(self.done(work), all) {
            // Results follow orders by up to a quarter of an hour, so their number depends on how fast things went before.
            Verdict::Violated { seen } if is_of_market => {
                Verdict::Undecided { why: format!("{seen}; there are {owed} fewer trade-results than new orders") }
            }
            verdict => verdict,
        };
        finding(&format!("mix-{}", work.name()), &rule, verdict)
    }

    /// Each market keeps back a ticker that is not full, at the beginning of the window and at its end.
    fn feeds(&self, waiting: u64) -> CheckResult {
        let (feeds, results) = (self.done(Work::MarketFeed), self.done(Work::TradeResult));
        let failed = self.totals(Work::MarketFeed).map_or(0, |totals| totals.failed);
        let off = (feeds * RESULTS_OF_FEED).abs_diff(results);
        let seen = format!("{feeds} market-feeds and {results} trade-results");
        let verdict = if off <= RESULTS_OF_FEED * (2 * u64::from(MARKETS) + waiting + failed) {
            Verdict::Holds { seen: Some(seen) }
        } else {
            Verdict::Violated { seen }
        };
        finding("feeds", "There is a market-feed for each ten trade-results of a market.", verdict)
    }

    fn late(&self, work: Work, place: usize) -> CheckResult {
        let late = Counter::NAMES.get(place).and_then(|name| self.tally.get(*name)).copied().unwrap_or(0);
        let (rule, allowed) = if work == Work::DataMaintenance {
            ("all", AllowedShare::exactly(0.0))
        } else {
            ("90 %", AllowedShare { target: LATE_SHARE, low: 0.0, high: LATE_SHARE })
        };
        let rule = format!("{rule} of {} end within {} s of when they are due.", work.name(), work.limit_s());
        let verdict = match allowed.judge(late, self.done(work)) {
            // A violated rule would take the trial out of the comparison, and hide how slow it was.
            Verdict::Violated { seen } => Verdict::Undecided { why: format!("the limit is exceeded: {seen}") },
            verdict => verdict,
        };
        finding(&format!("response-{}", work.name()), &rule, verdict)
    }

    /// How long customers wait for results. The market itself takes a second of it.
    fn lag(&self) -> CheckResult {
        let results = self.done(Work::TradeResult);
        let verdict = match self.counted(Counter::ResultLagMs).checked_div(results) {
            Some(lag_ms) => {
                let sent = self.counted(Counter::SentToMarket);
                let seen =
                    format!("{lag_ms} ms on average; {sent} orders were sent to the market, {results} have results");
                Verdict::Holds { seen: Some(seen) }
            }
            None => Verdict::Undecided { why: "there are no results".to_owned() },
        };
        finding("result-lag", "How long the market and the database take for a result is told.", verdict)
    }

    fn load_units(&self, size: Size) -> CheckResult {
        let units = f64::from(size.load_units());
        let verdict = if size.load_units() == 1 {
            Verdict::Undecided { why: "there is only one load unit".to_owned() }
        } else {
            let middle = f64::midpoint(units, 1.0);
            let deviation = ((units * units - 1.0) / 12.0).sqrt();
            mean(self.counted(Counter::LoadUnits), self.done(Work::TradeResult), (middle, middle), deviation)
        };
        finding("load-units", "Each load unit has as many trade-results as any other.", verdict)
    }

    /// Transactions with a status of this kind, by the number of the status.
    fn statuses(&self, what: &str, rule: &str, is_wrong: fn(&str) -> bool) -> CheckResult {
        let prefix = format!("audit.{what}_");
        let all = self.tally.iter().filter(|(name, count)| **count > 0 && name.starts_with(&prefix));
        let (mut seen, mut wrong) = (Vec::new(), false);
        for (name, count) in all {
            seen.push(format!("{count} of {}", name.trim_start_matches(&prefix)));
            wrong |= is_wrong(name);
        }
        let seen = seen.join(", ");
        let verdict = match (wrong, seen.is_empty()) {
            (true, _) => Verdict::Violated { seen },
            (false, false) => Verdict::Holds { seen: Some(seen) },
            (false, true) => Verdict::Holds { seen: None },
        };
        finding(&format!("{what}s"), rule, verdict)
    }

    /// Accounts of databases with few days have fewer trades than are asked for.
    fn short(&self, size: Size) -> CheckResult {
        let short = self.counted(Counter::Error221) + self.counted(Counter::Error911);
        let seen = format!("{short} found fewer");
        let verdict = match (short, has_enough_trades(size)) {
            (0, _) => Verdict::Holds { seen: None },
            (_, true) => Verdict::Violated { seen },
            (_, false) => Verdict::Undecided { why: format!("{seen}, because so few days of trading were loaded") },
        };
        finding(
            "enough-trades",
            "Trade-status finds 50 trades of an account, and its history ten states or more.",
            verdict,
        )
    }
}

/// Whether the account that trades least has the trades that are asked for.
fn has_enough_trades(size: Size) -> bool {
    size.trades() as f64 / f64::from(size.accounts()) * LEAST_ACTIVE_SHARE >= TRADES_OF_LEAST_ACTIVE
}

fn finding(name: &str, rule: &str, verdict: Verdict) -> CheckResult {
    checks::finding(name, rule, Moment::AfterTrial, verdict)
}

#[cfg(test)]
mod tests;
