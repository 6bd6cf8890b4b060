//! The price of a security at a time: it rises from 20.00 to 30.00 and falls back within 15 minutes, then again.

use super::trading::TradeType;

pub const LOWEST_CENTS: i64 = 2_000;
pub const HIGHEST_CENTS: i64 = 3_000;
const RISE_MS: i64 = 450_000;
const PERIOD_MS: i64 = 2 * RISE_MS;
/// Securities are at different places of their waves.
const BETWEEN_SECURITIES_MS: i64 = 556_237;
const FIRST_MS: i64 = 253_791;
const MS_FOR_A_CENT: i64 = RISE_MS / (HIGHEST_CENTS - LOWEST_CENTS);

/// How far a security is in its wave.
fn phase(security: u32, ms: i64) -> i64 {
    (ms + i64::from(security) * BETWEEN_SECURITIES_MS + FIRST_MS).rem_euclid(PERIOD_MS)
}

/// The price in cents after so many milliseconds of trading.
pub fn at(security: u32, ms: i64) -> i64 {
    let phase = phase(security, ms);
    let above = if phase < RISE_MS { phase } else { PERIOD_MS - phase };
    LOWEST_CENTS + (above + MS_FOR_A_CENT / 2) / MS_FOR_A_CENT
}

/// How long it takes from a time until a limit is reached, if it is not reached yet.
pub fn wait_ms(security: u32, ms: i64, of: TradeType, limit_cents: i64) -> Option<i64> {
    if of.is_reached(limit_cents, at(security, ms)) {
        return None;
    }
    let rise = (limit_cents - LOWEST_CENTS) * MS_FOR_A_CENT;
    // A sale waits for a higher price, everything else for a lower one.
    let reached_at = if of == TradeType::LimitSell { rise } else { PERIOD_MS - rise };
    Some((reached_at - phase(security, ms)).rem_euclid(PERIOD_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_rises_and_falls() {
        let start = PERIOD_MS - FIRST_MS;
        let prices = [0, 225_000, 450_000, 675_000, 900_000].map(|ms| at(0, start + ms));
        assert_eq!(prices, [2_000, 2_500, 3_000, 2_500, 2_000]);
        assert_eq!(at(0, 0), 2_564);
        assert_ne!(at(1, 0), at(0, 0));
    }

    #[test]
    fn a_limit_is_reached_when_the_wait_is_over_and_not_before() {
        for security in 0..50 {
            for (of, limit) in
                [(TradeType::LimitBuy, 2_100), (TradeType::StopLoss, 2_001), (TradeType::LimitSell, 2_950)]
            {
                let Some(wait) = wait_ms(security, 12_345, of, limit) else { continue };
                assert!((1..PERIOD_MS).contains(&wait));
                assert!(of.is_reached(limit, at(security, 12_345 + wait)));
                assert!(!of.is_reached(limit, at(security, 12_345 + wait - MS_FOR_A_CENT)));
            }
        }
    }
}
