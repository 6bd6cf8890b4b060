//! Types and states of trades, and what a trade costs.

use super::market::DEAR_EXCHANGE;

/// States of a trade.
pub mod status {
    pub const COMPLETED: &str = "CMPT";
    pub const ACTIVE: &str = "ACTV";
    pub const SUBMITTED: &str = "SBMT";
    pub const PENDING: &str = "PNDG";
    pub const CANCELED: &str = "CNCL";

    pub const ALL: [(&str, &str); 5] = [
        (COMPLETED, "Completed"),
        (ACTIVE, "Active"),
        (SUBMITTED, "Submitted"),
        (PENDING, "Pending"),
        (CANCELED, "Canceled"),
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TradeType {
    MarketBuy,
    MarketSell,
    /// Sells once the price has fallen to the limit.
    StopLoss,
    LimitSell,
    LimitBuy,
}

impl TradeType {
    pub const ALL: [Self; 5] = [Self::MarketBuy, Self::MarketSell, Self::StopLoss, Self::LimitSell, Self::LimitBuy];

    pub fn id(self) -> &'static str {
        ["TMB", "TMS", "TSL", "TLS", "TLB"][self as usize]
    }

    pub fn name(self) -> &'static str {
        ["Market-Buy", "Market-Sell", "Stop-Loss", "Limit-Sell", "Limit-Buy"][self as usize]
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|of| of.id() == id)
    }

    pub fn is_sell(self) -> bool {
        !matches!(self, Self::MarketBuy | Self::LimitBuy)
    }

    pub fn is_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }

    /// Whether a limit is reached at a price.
    pub fn is_reached(self, limit_cents: i64, price_cents: i64) -> bool {
        match self {
            Self::MarketBuy | Self::MarketSell => true,
            Self::StopLoss | Self::LimitBuy => price_cents <= limit_cents,
            Self::LimitSell => price_cents >= limit_cents,
        }
    }

    /// The price at which it is executed: a limit to buy or to sell is kept.
    pub fn price(self, limit_cents: i64, price_cents: i64) -> i64 {
        match self {
            Self::MarketBuy | Self::MarketSell | Self::StopLoss => price_cents,
            Self::LimitBuy => price_cents.min(limit_cents),
            Self::LimitSell => price_cents.max(limit_cents),
        }
    }

    /// The charge for a customer of this tier.
    pub fn charge_cents(self, tier: u32) -> i64 {
        let of_tiers = match self {
            Self::MarketBuy | Self::MarketSell => [500, 450, 250],
            Self::StopLoss => [650, 550, 350],
            Self::LimitSell | Self::LimitBuy => [600, 500, 300],
        };
        of_tiers[tier as usize - 1]
    }
}

pub const TIERS: u32 = 3;
pub const QUANTITIES: [i64; 4] = [100, 200, 400, 800];
/// Bands of quantities with a commission rate each.
pub const BANDS: [(i64, i64); 4] = [(1, 200), (201, 500), (501, 2_000), (2_001, 999_999)];
/// Of the first tier on exchanges that are not dear, in hundredths of a percent.
const COMMISSION_RATES: [i64; BANDS.len()] = [40, 36, 32, 20];
const LESS_FOR_A_TIER: i64 = 4;
const MORE_ON_DEAR_EXCHANGE: i64 = 8;

/// In hundredths of a percent. All types of trades have the same.
pub fn commission_rate(tier: u32, exchange: u32, band: usize) -> i64 {
    let more = if exchange == DEAR_EXCHANGE { MORE_ON_DEAR_EXCHANGE } else { 0 };
    COMMISSION_RATES[band] - LESS_FOR_A_TIER * (i64::from(tier) - 1) + more
}

/// The band of a quantity.
pub fn band(quantity: i64) -> usize {
    BANDS.iter().position(|(_, to)| quantity <= *to).unwrap_or(BANDS.len() - 1)
}

/// Rounded to the nearest cent, half a cent up.
pub fn commission_cents(rate: i64, quantity: i64, price_cents: i64) -> i64 {
    const RATES_OF_ONE: i64 = 10_000;
    (rate * quantity * price_cents + RATES_OF_ONE / 2) / RATES_OF_ONE
}

/// The tax on a gain by the sum of the customer's rates, in 1/100,000; rounded like a commission.
pub fn tax_cents(gain_cents: i64, rates: i64) -> i64 {
    const RATES_OF_ONE: i64 = 100_000;
    (gain_cents * rates + RATES_OF_ONE / 2) / RATES_OF_ONE
}

/// What a trade costs, in cents.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    pub charge: i64,
    pub commission: i64,
    /// Tax; 0 if it is not withheld.
    pub withheld: i64,
}

/// The kind of a settlement.
pub fn cash_type(is_cash: bool) -> &'static str {
    if is_cash { "Cash Account" } else { "Margin" }
}

/// The amount of a settlement.
pub fn settlement_cents(of: TradeType, quantity: i64, price_cents: i64, costs: Costs) -> i64 {
    let (worth, cost) = (quantity * price_cents, costs.charge + costs.commission);
    let amount = if of.is_sell() { worth - cost } else { -(worth + cost) };
    amount - costs.withheld
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commissions_fall_with_the_tier_and_the_quantity() {
        let of = |tier, exchange| [0, 1, 2, 3].map(|band| commission_rate(tier, exchange, band));
        assert_eq!([of(1, 0), of(3, 2)], [[40, 36, 32, 20], [32, 28, 24, 12]]);
        assert_eq!([of(1, 3), of(2, 3)], [[48, 44, 40, 28], [44, 40, 36, 24]]);
        assert_eq!(QUANTITIES.map(band), [0, 0, 1, 2]);
        // 0.4 % of 100 · 25.01 is 10.004; 0.32 % of 800 · 20.01 is 51.2256.
        assert_eq!([commission_cents(40, 100, 2_501), commission_cents(32, 800, 2_001)], [1_000, 5_123]);
        assert_eq!(tax_cents(100, 15_500), 16);
    }

    #[test]
    fn limits_are_kept() {
        let limit = |of: TradeType| (of.is_reached(2_500, 2_400), of.price(2_500, 2_400), of.price(2_500, 2_600));
        assert_eq!(limit(TradeType::LimitBuy), (true, 2_400, 2_500));
        assert_eq!(limit(TradeType::LimitSell), (false, 2_500, 2_600));
        assert_eq!(limit(TradeType::StopLoss), (true, 2_400, 2_600));
        assert!(TradeType::ALL.into_iter().all(|of| TradeType::from_id(of.id()) == Some(of)));
    }

    #[test]
    fn a_settlement_pays_the_costs() {
        let costs = Costs { charge: 500, commission: 1_000, withheld: 300 };
        assert_eq!(settlement_cents(TradeType::MarketSell, 100, 2_500, costs), 248_200);
        assert_eq!(settlement_cents(TradeType::LimitBuy, 100, 2_500, costs), -251_800);
    }
}
