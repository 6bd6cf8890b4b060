//! Whether the transactions of the measured window follow the rules for mix, inputs and response times.
//!
//! The definition allows a little more or less than each rule says, for runs of hours. Chance is allowed for in addition, see
//! [`crate::share`].

use super::exchange::MARKETS;
use super::size::BrokerageSize;
use super::tally::BrokerageCounter;
use super::work::{BrokerageWork, LIMITED};
use crate::execution::Execution;
use crate::judgement::{Judgement, holds_if, judgement};
use crate::share::{AllowedShare, mean};
use record::check::Verdict;
use record::trial::KindTotals;

/// Of all transactions of the ten kinds, so many in a thousand, and by which share of that the definition allows more or less.
const MIX: [(BrokerageWork, f64); 10] = [
    (BrokerageWork::TradeStatus, 0.19),
    (BrokerageWork::MarketWatch, 0.18),
    (BrokerageWork::SecurityDetail, 0.14),
    (BrokerageWork::CustomerPosition, 0.13),
    (BrokerageWork::TradeOrder, 0.101),
    (BrokerageWork::TradeLookup, 0.08),
    (BrokerageWork::BrokerVolume, 0.049),
    (BrokerageWork::TradeUpdate, 0.02),
    (BrokerageWork::TradeResult, 0.1),
    (BrokerageWork::MarketFeed, 0.01),
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

/// Of a kind of transaction, names of rules for shares, what counts, the target with what is allowed in percent, and how the rule
/// goes on after "50 % of the trade-orders".
type RulesOfKind = (BrokerageWork, &'static str, &'static [(&'static str, BrokerageCounter, [f64; 3], &'static str)]);

const RULES: &[RulesOfKind] = &[
    (
        BrokerageWork::CustomerPosition,
        "customer-positions",
        &[
            (
                "position-by-tax-id",
                BrokerageCounter::PositionsByTaxId,
                [50.0, 48.0, 52.0],
                "find their customer by tax id",
            ),
            (
                "position-history",
                BrokerageCounter::PositionsWithHistory,
                [50.0, 48.0, 52.0],
                "ask for the history of an account",
            ),
        ],
    ),
    (
        BrokerageWork::MarketWatch,
        "market-watches",
        &[
            ("watch-list", BrokerageCounter::WatchesOfList, [60.0, 57.0, 63.0], "are of a watch list"),
            ("watch-account", BrokerageCounter::WatchesOfAccount, [35.0, 33.0, 37.0], "are of an account"),
            ("watch-industry", BrokerageCounter::WatchesOfIndustry, [5.0, 4.5, 5.5], "are of an industry"),
        ],
    ),
    (
        BrokerageWork::SecurityDetail,
        "security-details",
        &[("detail-item", BrokerageCounter::DetailsWithItem, [1.0, 0.9, 1.1], "ask for whole items of news")],
    ),
    (
        BrokerageWork::TradeLookup,
        "trade-lookups",
        &[
            ("lookup-trades", BrokerageCounter::LookupsOfTrades, [30.0, 28.5, 31.5], "are of trades"),
            ("lookup-account", BrokerageCounter::LookupsOfAccount, [30.0, 28.5, 31.5], "are of an account"),
            ("lookup-security", BrokerageCounter::LookupsOfSecurity, [30.0, 28.5, 31.5], "are of a security"),
            (
                "lookup-holdings",
                BrokerageCounter::LookupsOfHoldings,
                [10.0, 9.5, 10.5],
                "are of the holdings that a trade changed",
            ),
        ],
    ),
    (
        BrokerageWork::TradeUpdate,
        "trade-updates",
        &[
            ("update-trades", BrokerageCounter::UpdatesOfTrades, [33.0, 31.0, 35.0], "are of trades"),
            ("update-account", BrokerageCounter::UpdatesOfAccount, [33.0, 31.0, 35.0], "are of an account"),
            ("update-security", BrokerageCounter::UpdatesOfSecurity, [34.0, 32.0, 36.0], "are of a security"),
        ],
    ),
    (
        BrokerageWork::TradeOrder,
        "trade-orders",
        &[
            (
                "order-by-other",
                BrokerageCounter::OrdersByOthers,
                [10.0, 9.5, 10.5],
                "are by somebody else than the owner",
            ),
            (
                "order-by-company",
                BrokerageCounter::OrdersByCompany,
                [40.0, 38.0, 42.0],
                "name the company and the issue instead of the symbol",
            ),
            ("order-margin", BrokerageCounter::OrdersOnMargin, [8.0, 7.5, 8.5], "are on margin"),
            (
                "order-newest-first",
                BrokerageCounter::OrdersNewestFirst,
                [35.0, 33.0, 37.0],
                "close the newest lots first",
            ),
            ("order-100", BrokerageCounter::Orders100, [25.0, 24.0, 26.0], "are of 100 shares"),
            ("order-200", BrokerageCounter::Orders200, [25.0, 24.0, 26.0], "are of 200 shares"),
            ("order-400", BrokerageCounter::Orders400, [25.0, 24.0, 26.0], "are of 400 shares"),
            ("order-800", BrokerageCounter::Orders800, [25.0, 24.0, 26.0], "are of 800 shares"),
            ("order-market-buy", BrokerageCounter::MarketBuys, [30.0, 29.7, 30.3], "buy at the market price"),
            ("order-market-sell", BrokerageCounter::MarketSells, [30.0, 29.7, 30.3], "sell at the market price"),
            (
                "order-stop-loss",
                BrokerageCounter::StopLosses,
                [10.0, 9.9, 10.1],
                "sell once the price has fallen to a limit",
            ),
            ("order-limit-sell", BrokerageCounter::LimitSells, [10.0, 9.9, 10.1], "sell at a limit"),
            ("order-limit-buy", BrokerageCounter::LimitBuys, [20.0, 19.8, 20.2], "buy at a limit"),
        ],
    ),
    (
        BrokerageWork::TradeResult,
        "trade-results",
        &[("result-cash", BrokerageCounter::CashTransactions, [92.0, 91.5, 92.5], "are paid in cash")],
    ),
];

/// A rule for a share: its name, the rule, what counts, of which kind of transaction, and the target with what is allowed.
struct ShareRule {
    name: &'static str,
    rule: String,
    counter: BrokerageCounter,
    of: BrokerageWork,
    percents: [f64; 3],
}

fn rules() -> impl Iterator<Item = ShareRule> {
    RULES.iter().flat_map(|(of, kind, rules)| {
        rules.iter().map(move |&(name, counter, percents, goes_on)| {
            let rule = format!("{} % of the {kind} {goes_on}.", percents[0]);
            ShareRule { name, rule, counter, of: *of, percents }
        })
    })
}

/// Of the market, so many transactions were due and not yet executed as waited.
pub fn judge_window(size: BrokerageSize, execution: Execution<'_>) -> Vec<Judgement> {
    let window = BrokerageWindow(execution);
    let mut judged: Vec<Judgement> = MIX.iter().map(|(work, target)| window.mix(*work, *target)).collect();
    judged.push(window.feeds());
    for ShareRule { name, rule, counter, of, percents } in rules() {
        let share = AllowedShare::of(percents.map(|percent| percent / 100.0));
        judged.push(judgement(name, rule, share.judge(window.counted(counter), window.done(of))));
    }
    let rolled_back = AllowedShare { target: 1.0 / 101.0, low: 0.0094, high: 0.0104 };
    let of_orders = rolled_back
        .judge(execution.rolled_back(BrokerageWork::TradeOrder.name()), window.done(BrokerageWork::TradeOrder));
    judged.push(judgement("order-rolled-back", "1 of 101 trade-orders is rolled back.", of_orders));
    judged.extend(
        LIMITED
            .into_iter()
            .zip(BrokerageCounter::LateTradeResults as usize..)
            .map(|(work, place)| window.late(work, place)),
    );
    judged.push(window.lag());
    judged.push(window.load_units(size));
    judged.push(window.statuses("error", "No transaction finds less or more than it must.", is_error));
    judged.push(window.statuses("warning", "Transactions that find nothing are reported.", |_| false));
    judged.push(window.short(size));
    judged
}

/// Errors of small databases and of trades that are not complete are judged by themselves.
fn is_error(name: &str) -> bool {
    ![BrokerageCounter::Error221, BrokerageCounter::Error642, BrokerageCounter::Error911]
        .map(BrokerageCounter::name)
        .contains(&name)
}

/// What was executed in the measured window.
struct BrokerageWindow<'a>(Execution<'a>);

impl BrokerageWindow<'_> {
    fn totals(&self, work: BrokerageWork) -> Option<&KindTotals> {
        self.0.totals(work.name())
    }

    fn done(&self, work: BrokerageWork) -> u64 {
        self.0.done(work.name())
    }

    fn counted(&self, counter: BrokerageCounter) -> u64 {
        self.0.counted(counter.name())
    }

    /// Kinds that customers send are judged among each other, so that a market that lags behind does not change them.
    fn mix(&self, work: BrokerageWork, target: f64) -> Judgement {
        let is_of_market = matches!(work, BrokerageWork::TradeResult | BrokerageWork::MarketFeed);
        let among = |(other, _): &&(BrokerageWork, f64)| {
            is_of_market || !matches!(other, BrokerageWork::TradeResult | BrokerageWork::MarketFeed)
        };
        let all = MIX.iter().filter(among).map(|(other, _)| self.done(*other)).sum();
        let share = if is_of_market { target } else { target / CUSTOMERS_SHARE };
        let allowed =
            AllowedShare { target: share, low: share * (1.0 - MIX_TOLERANCE), high: share * (1.0 + MIX_TOLERANCE) };
        let of = if is_of_market { "all transactions" } else { "what customers send" };
        let rule = format!("{:.1} % of {of} are {}.", share * 100.0, work.name());
        let ordered = self.totals(BrokerageWork::TradeOrder).map_or(0, |totals| totals.committed);
        let owed = ordered.cast_signed() - self.done(BrokerageWork::TradeResult).cast_signed();
        let verdict = match allowed.judge(self.done(work), all) {
            // Results follow orders by up to a quarter of an hour, so their number depends on how fast things went before.
            Verdict::Violated { seen } if is_of_market => {
                Verdict::Undecided { why: format!("{seen}; there are {owed} fewer trade-results than new orders") }
            }
            verdict => verdict,
        };
        judgement(format!("mix-{}", work.name()), rule, verdict)
    }

    /// Each market keeps back a ticker that is not full, at the beginning of the window and at its end.
    fn feeds(&self) -> Judgement {
        let (feeds, results) = (self.done(BrokerageWork::MarketFeed), self.done(BrokerageWork::TradeResult));
        let failed = self.totals(BrokerageWork::MarketFeed).map_or(0, |totals| totals.failed);
        let off = (feeds * RESULTS_OF_FEED).abs_diff(results);
        let seen = format!("{feeds} market-feeds and {results} trade-results");
        let is_allowed = off <= RESULTS_OF_FEED * (2 * u64::from(MARKETS) + self.0.waiting + failed);
        let rule = "There is a market-feed for each ten trade-results of a market.";
        judgement("feeds", rule, holds_if(is_allowed, seen))
    }

    fn late(&self, work: BrokerageWork, place: usize) -> Judgement {
        let late = BrokerageCounter::NAMES.get(place).map_or(0, |name| self.0.counted(name));
        let (rule, allowed) = if work == BrokerageWork::DataMaintenance {
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
        judgement(format!("response-{}", work.name()), rule, verdict)
    }

    /// How long customers wait for results. The market itself takes a second of it.
    fn lag(&self) -> Judgement {
        let results = self.done(BrokerageWork::TradeResult);
        let verdict = match self.counted(BrokerageCounter::ResultLagMs).checked_div(results) {
            Some(lag_ms) => {
                let sent = self.counted(BrokerageCounter::SentToMarket);
                let seen =
                    format!("{lag_ms} ms on average; {sent} orders were sent to the market, {results} have results");
                Verdict::Holds { seen: Some(seen) }
            }
            None => Verdict::Undecided { why: "there are no results".to_owned() },
        };
        judgement("result-lag", "How long the market and the database take for a result is reported.", verdict)
    }

    fn load_units(&self, size: BrokerageSize) -> Judgement {
        let units = f64::from(size.load_units());
        let verdict = if size.load_units() == 1 {
            Verdict::Undecided { why: "there is only one load unit".to_owned() }
        } else {
            let middle = f64::midpoint(units, 1.0);
            let deviation = ((units * units - 1.0) / 12.0).sqrt();
            mean(
                self.counted(BrokerageCounter::LoadUnits),
                self.done(BrokerageWork::TradeResult),
                (middle, middle),
                deviation,
            )
        };
        judgement("load-units", "Each load unit has as many trade-results as any other.", verdict)
    }

    /// Transactions with a status of this kind, by the number of the status.
    fn statuses(&self, what: &str, rule: &str, is_wrong: fn(&str) -> bool) -> Judgement {
        let prefix = format!("audit.{what}_");
        let all = self.0.tally.iter().filter(|(name, count)| **count > 0 && name.starts_with(&prefix));
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
        judgement(format!("{what}s"), rule, verdict)
    }

    /// Accounts of databases with few days have fewer trades than are asked for.
    fn short(&self, size: BrokerageSize) -> Judgement {
        let short = self.counted(BrokerageCounter::Error221) + self.counted(BrokerageCounter::Error911);
        let seen = format!("{short} found fewer");
        let verdict = match (short, has_enough_trades(size)) {
            (0, _) => Verdict::Holds { seen: None },
            (_, true) => Verdict::Violated { seen },
            (_, false) => Verdict::Undecided { why: format!("{seen}, because so few days of trading were loaded") },
        };
        judgement(
            "enough-trades",
            "Trade-status finds 50 trades of an account, and its history ten states or more.",
            verdict,
        )
    }
}

/// Whether the account that trades least has the trades that are asked for.
fn has_enough_trades(size: BrokerageSize) -> bool {
    size.trades() as f64 / f64::from(size.accounts()) * LEAST_ACTIVE_SHARE >= TRADES_OF_LEAST_ACTIVE
}

#[cfg(test)]
mod tests;
