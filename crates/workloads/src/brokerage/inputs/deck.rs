//! The deck from which a user's transactions are dealt, without replacement.
//!
//! Only the numbers of cards left are kept. Drawing one of them by chance is the same as dealing from a shuffled deck.

use super::super::work::BrokerageWork;
use crate::random::RandomStream;

/// Cards of each kind. Of a thousand transactions, the other 110 come from the market.
pub const CARDS: [(BrokerageWork, u16); 8] = [
    (BrokerageWork::TradeStatus, 190),
    (BrokerageWork::MarketWatch, 180),
    (BrokerageWork::SecurityDetail, 140),
    (BrokerageWork::CustomerPosition, 130),
    (BrokerageWork::TradeOrder, 101),
    (BrokerageWork::TradeLookup, 80),
    (BrokerageWork::BrokerVolume, 49),
    (BrokerageWork::TradeUpdate, 20),
];
pub const DECK_SIZE: u16 = 890;

#[derive(Debug, Clone)]
pub struct Deck {
    left: [u16; CARDS.len()],
    count: u16,
}

impl Default for Deck {
    fn default() -> Self {
        Self { left: CARDS.map(|(_, count)| count), count: DECK_SIZE }
    }
}

impl Deck {
    pub fn deal(&mut self, stream: &mut RandomStream) -> BrokerageWork {
        if self.count == 0 {
            *self = Self::default();
        }
        let mut drawn = stream.below(self.count.into());
        self.count -= 1;
        for (left, (work, _)) in self.left.iter_mut().zip(CARDS) {
            let Some(further) = drawn.checked_sub((*left).into()) else {
                *left -= 1;
                return work;
            };
            drawn = further;
        }
        // There are as many cards as the count says.
        BrokerageWork::TradeStatus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deck_is_dealt_completely() {
        let (mut deck, mut stream) = (Deck::default(), RandomStream::new(7, "test", [0, 0]));
        let mut dealt = Vec::new();
        for _ in 0..3 {
            let cards: Vec<BrokerageWork> = (0..DECK_SIZE).map(|_| deck.deal(&mut stream)).collect();
            for (work, count) in CARDS {
                assert_eq!(cards.iter().filter(|card| **card == work).count(), usize::from(count), "{work:?}");
            }
            dealt.push(cards);
        }
        assert_ne!(dealt[0], dealt[1]);
        assert_eq!(CARDS.iter().map(|(_, count)| count).sum::<u16>(), DECK_SIZE);
    }
}
