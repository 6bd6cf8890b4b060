//! What a trade does to the lots that its account holds of a security.

/// Shares that were bought together, or are owed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot {
    /// Below zero if they are owed.
    pub quantity: i64,
    pub price_cents: i64,
}

/// What a trade that closes lots bought for and sold for, and what is left of it for a new lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Closed {
    pub buy_value_cents: i64,
    pub sell_value_cents: i64,
    /// The quantity of the new lot: below zero after a sale, 0 if there is none.
    pub new_lot: i64,
}

impl Closed {
    /// 0 for a loss.
    pub fn gain_cents(self) -> i64 {
        (self.sell_value_cents - self.buy_value_cents).max(0)
    }
}

/// The trade that walks over lots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walk {
    pub is_sell: bool,
    pub quantity: i64,
    pub price_cents: i64,
}

impl Walk {
    /// Takes from the lots in their order until the trade's quantity is reached. A sale takes shares that were bought, a
    /// purchase takes those that are owed. All lots have the same sign. `changed` gets the number of each lot that changes,
    /// its quantity before, and after. A lot that has nothing left is closed.
    pub fn over(self, lots: impl IntoIterator<Item = Lot>, mut changed: impl FnMut(usize, i64, i64)) -> Closed {
        // Of the lots that it closes.
        let sign = if self.is_sell { 1 } else { -1 };
        let mut closed = Closed::default();
        let mut needed = self.quantity;
        for (number, lot) in lots.into_iter().enumerate() {
            let has = lot.quantity * sign;
            if needed == 0 || has <= 0 {
                break;
            }
            let taken = has.min(needed);
            changed(number, lot.quantity, lot.quantity - sign * taken);
            let (of_lot, of_trade) = (taken * lot.price_cents, taken * self.price_cents);
            let (bought, sold) = if self.is_sell { (of_lot, of_trade) } else { (of_trade, of_lot) };
            closed.buy_value_cents += bought;
            closed.sell_value_cents += sold;
            needed -= taken;
        }
        closed.new_lot = -sign * needed;
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(is_sell: bool, quantity: i64, lots: &[(i64, i64)]) -> (Vec<(usize, i64, i64)>, Closed) {
        let mut changes = Vec::new();
        let lots = lots.iter().map(|&(quantity, price_cents)| Lot { quantity, price_cents });
        let closed = Walk { is_sell, quantity, price_cents: 2_500 }
            .over(lots, |number, before, after| changes.push((number, before, after)));
        (changes, closed)
    }

    #[test]
    fn a_sale_takes_lots_and_owes_what_is_missing() {
        let lots = [(100, 2_000), (400, 2_600)];
        let part = Closed { buy_value_cents: 460_000, sell_value_cents: 500_000, new_lot: 0 };
        assert_eq!(walked(true, 200, &lots), (vec![(0, 100, 0), (1, 400, 300)], part));
        assert_eq!(part.gain_cents(), 40_000);
        let all = Closed { buy_value_cents: 1_240_000, sell_value_cents: 1_250_000, new_lot: -300 };
        assert_eq!(walked(true, 800, &lots), (vec![(0, 100, 0), (1, 400, 0)], all));
        assert_eq!(walked(true, 200, &[]).1.new_lot, -200);
        assert_eq!(walked(true, 200, &[(-100, 2_000)]), (vec![], Closed { new_lot: -200, ..Closed::default() }));
    }

    #[test]
    fn a_purchase_pays_back_and_keeps_the_rest() {
        let closed = Closed { buy_value_cents: 500_000, sell_value_cents: 550_000, new_lot: 0 };
        let lots = [(-100, 2_900), (-400, 2_600)];
        assert_eq!(walked(false, 200, &lots), (vec![(0, -100, 0), (1, -400, -300)], closed));
        assert_eq!(walked(false, 800, &lots[..1]).1.new_lot, 700);
        assert_eq!(walked(false, 200, &[(100, 2_000)]).1.new_lot, 200);
    }
}
