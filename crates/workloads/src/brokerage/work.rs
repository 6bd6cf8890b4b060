//! Kinds of transactions.

use crate::workload::TransactionKind;

settings::names! {
    /// Index into the kinds of transaction, as the driver counts them. The first is what the throughput figure counts.
    #[repr(u16)]
    pub enum BrokerageWork {
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

pub const KINDS: [TransactionKind; BrokerageWork::NAMES.len()] = TransactionKind::all(BrokerageWork::NAMES, 1);

/// Kinds whose response has a limit.
pub const LIMITED: [BrokerageWork; 11] = [
    BrokerageWork::TradeResult,
    BrokerageWork::BrokerVolume,
    BrokerageWork::CustomerPosition,
    BrokerageWork::MarketFeed,
    BrokerageWork::MarketWatch,
    BrokerageWork::SecurityDetail,
    BrokerageWork::TradeLookup,
    BrokerageWork::TradeOrder,
    BrokerageWork::TradeStatus,
    BrokerageWork::TradeUpdate,
    BrokerageWork::DataMaintenance,
];

impl BrokerageWork {
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
