//! Kinds of transactions.

use crate::workload::Kind;

settings::names! {
    /// Index into the kinds of transaction, as the driver counts them. The first is what the throughput figure counts.
    #[repr(u16)]
    pub enum Work {
        TradeResult => "trade-result",
        BrokerVolume => "broker-volume",
        CustomerPosition => "customer-position",
        MarketFeed => "market-feed",
        MarketWatch => "market-watch",
        SecurityDetail => "security-detail",
        TradeLookup => "trade-lookup",
        TradeOrder => "trade-order",
        TradeStatus => "trade-status",
        TradeUpdate => "trade-update",
        DataMaintenance => "data-maintenance",
        TradeCleanup => "trade-cleanup",
    }
}

pub const KINDS: [Kind; Work::NAMES.len()] = Kind::all(Work::NAMES, 1);

/// Kinds whose response has a limit.
pub const LIMITED: [Work; 11] = [
    Work::TradeResult,
    Work::BrokerVolume,
    Work::CustomerPosition,
    Work::MarketFeed,
    Work::MarketWatch,
    Work::SecurityDetail,
    Work::TradeLookup,
    Work::TradeOrder,
    Work::TradeStatus,
    Work::TradeUpdate,
    Work::DataMaintenance,
];

impl Work {
    /// At least 90 % must end within this many seconds; data maintenance always.
    pub const fn limit_s(self) -> u64 {
        match self {
            Self::TradeStatus => 1,
            Self::TradeResult | Self::MarketFeed | Self::TradeOrder => 2,
            Self::DataMaintenance => 55,
            _ => 3,
        }
    }
}
