//! Counters of what was really executed. The audit compares them with the rules for the inputs.

use super::inputs::{BrokerageInput, TradeOrder, TradeSelection, WatchTarget};
use super::trading::QUANTITIES;
use super::work::{BrokerageWork, LIMITED};
use crate::effects::{Effects, Tally};

settings::names! {
    /// What is counted. Names with "error" and "warning" are those of a transaction's status.
    pub enum BrokerageCounter {
        /// Transactions that took longer than their limit, in the order of [`LIMITED`].
        LateTradeResults => "audit.late_trade_results",
        LateBrokerVolumes => "audit.late_broker_volumes",
        LateCustomerPositions => "audit.late_customer_positions",
        LateMarketFeeds => "audit.late_market_feeds",
        LateMarketWatches => "audit.late_market_watches",
        LateSecurityDetails => "audit.late_security_details",
        LateTradeLookups => "audit.late_trade_lookups",
        LateTradeOrders => "audit.late_trade_orders",
        LateTradeStatuses => "audit.late_trade_statuses",
        LateTradeUpdates => "audit.late_trade_updates",
        LateDataMaintenances => "audit.late_data_maintenances",
        PositionsByTaxId => "audit.positions_by_tax_id",
        PositionsWithHistory => "audit.positions_with_history",
        WatchesOfList => "audit.watches_of_list",
        WatchesOfAccount => "audit.watches_of_account",
        WatchesOfIndustry => "audit.watches_of_industry",
        DetailsWithItem => "audit.details_with_item",
        LookupsOfTrades => "audit.lookups_of_trades",
        LookupsOfAccount => "audit.lookups_of_account",
        LookupsOfSecurity => "audit.lookups_of_security",
        LookupsOfHoldings => "audit.lookups_of_holdings",
        UpdatesOfTrades => "audit.updates_of_trades",
        UpdatesOfAccount => "audit.updates_of_account",
        UpdatesOfSecurity => "audit.updates_of_security",
        OrdersByOthers => "audit.orders_by_others",
        OrdersByCompany => "audit.orders_by_company",
        OrdersOnMargin => "audit.orders_on_margin",
        OrdersNewestFirst => "audit.orders_newest_first",
        Orders100 => "audit.orders_100",
        Orders200 => "audit.orders_200",
        Orders400 => "audit.orders_400",
        Orders800 => "audit.orders_800",
        /// In the order of the types of trades.
        MarketBuys => "audit.market_buys",
        MarketSells => "audit.market_sells",
        StopLosses => "audit.stop_losses",
        LimitSells => "audit.limit_sells",
        LimitBuys => "audit.limit_buys",
        /// Orders that were executed at once or triggered, so that the market owes a result.
        SentToMarket => "sent_to_market",
        LimitOrders => "limit_orders",
        TriggeredOrders => "triggered_orders",
        CashTransactions => "cash_transactions",
        HoldingHistories => "holding_histories",
        PricesSet => "prices_set",
        /// Milliseconds from when the market heard of them until the results were there.
        ResultLagMs => "audit.result_lag_ms",
        /// The sum of the results' load units, which count from 1.
        LoadUnits => "audit.load_units",
        TradesCanceled => "trades_canceled",
        Error111 => "audit.error_111",
        Error211 => "audit.error_211",
        Error221 => "audit.error_221",
        Error311 => "audit.error_311",
        Error511 => "audit.error_511",
        Error512 => "audit.error_512",
        Error513 => "audit.error_513",
        Error611 => "audit.error_611",
        Error621 => "audit.error_621",
        Error631 => "audit.error_631",
        Error641 => "audit.error_641",
        Error642 => "audit.error_642",
        Error721 => "audit.error_721",
        Error731 => "audit.error_731",
        Error732 => "audit.error_732",
        Error733 => "audit.error_733",
        Error831 => "audit.error_831",
        Error841 => "audit.error_841",
        Error911 => "audit.error_911",
        Error1011 => "audit.error_1011",
        Error1012 => "audit.error_1012",
        Error1021 => "audit.error_1021",
        Error1022 => "audit.error_1022",
        Error1031 => "audit.error_1031",
        Error1032 => "audit.error_1032",
        Warning621 => "audit.warning_621",
        Warning631 => "audit.warning_631",
        Warning641 => "audit.warning_641",
        Warning1021 => "audit.warning_1021",
        Warning1031 => "audit.warning_1031",
    }
}

pub fn count(tally: &mut Tally, counter: BrokerageCounter, amount: u64) {
    tally.add(counter as usize, amount);
}

/// Counts a status that a transaction would return.
pub fn count_if(tally: &mut Tally, status: BrokerageCounter, condition: bool) {
    tally.add(status as usize, condition.into());
}

/// Counts the transaction, which has just ended, if it took too long. Its response begins when it is due.
pub fn count_if_late<I>(effects: &mut Effects<'_, I>, work: BrokerageWork) {
    const NANOS_PER_SECOND: u64 = 1_000_000_000;
    let Some(place) = LIMITED.iter().position(|limited| *limited == work) else { return };
    let late = effects.now_ns().saturating_sub(effects.due_ns()) > work.limit_s() * NANOS_PER_SECOND;
    effects.tally.add(BrokerageCounter::LateTradeResults as usize + place, late.into());
}

/// Counts what the inputs of a transaction decide alone.
pub fn count_inputs(tally: &mut Tally, input: &BrokerageInput) {
    let counter = match input {
        BrokerageInput::CustomerPosition(position) => {
            count_if(tally, BrokerageCounter::PositionsByTaxId, position.by_tax_id);
            return count_if(tally, BrokerageCounter::PositionsWithHistory, position.history_of.is_some());
        }
        BrokerageInput::MarketWatch(watch) => match watch.of {
            WatchTarget::ListOf(_) => BrokerageCounter::WatchesOfList,
            WatchTarget::Account(_) => BrokerageCounter::WatchesOfAccount,
            WatchTarget::Industry { .. } => BrokerageCounter::WatchesOfIndustry,
        },
        BrokerageInput::SecurityDetail(detail) => {
            return count_if(tally, BrokerageCounter::DetailsWithItem, detail.with_item);
        }
        BrokerageInput::TradeLookup(lookup) => match lookup {
            TradeSelection::Trades(_) => BrokerageCounter::LookupsOfTrades,
            TradeSelection::OfAccount { .. } => BrokerageCounter::LookupsOfAccount,
            TradeSelection::OfSecurity { .. } => BrokerageCounter::LookupsOfSecurity,
            TradeSelection::Holdings { .. } => BrokerageCounter::LookupsOfHoldings,
        },
        BrokerageInput::TradeUpdate(lookup) => match lookup {
            TradeSelection::Trades(_) => BrokerageCounter::UpdatesOfTrades,
            TradeSelection::OfAccount { .. } | TradeSelection::Holdings { .. } => BrokerageCounter::UpdatesOfAccount,
            TradeSelection::OfSecurity { .. } => BrokerageCounter::UpdatesOfSecurity,
        },
        BrokerageInput::TradeOrder(order) => return count_order(tally, order),
        _ => return,
    };
    count(tally, counter, 1);
}

fn count_order(tally: &mut Tally, order: &TradeOrder) {
    count_if(tally, BrokerageCounter::OrdersByOthers, order.is_by_other());
    count_if(tally, BrokerageCounter::OrdersByCompany, order.by_company);
    count_if(tally, BrokerageCounter::OrdersOnMargin, order.on_margin);
    count_if(tally, BrokerageCounter::OrdersNewestFirst, order.newest_first);
    if let Some(place) = QUANTITIES.iter().position(|quantity| *quantity == order.quantity) {
        tally.add(BrokerageCounter::Orders100 as usize + place, 1);
    }
    tally.add(BrokerageCounter::MarketBuys as usize + order.kind as usize, 1);
}
