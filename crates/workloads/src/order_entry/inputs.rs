//! The inputs of the transactions, drawn completely before they run.
//!
//! Client `i` has its home in warehouse `i mod W + 1`, so clients spread over the warehouses first. Its stock-level
//! district is `(i / W) mod 10 + 1`, so the first ten clients of a warehouse have its ten districts. Both never
//! change. The next transaction is dealt from the client's own deck of 23 cards, without replacement.

use super::OrderEntry;
use super::definition::{
    CARRIERS, CENTS, CUSTOMER_SKEW, DISTRICTS, ITEM_SKEW, ITEMS, LAST_NAME_SKEW, LINES_MAX, LINES_MIN,
};
use super::rows::Home;
use crate::random::{RandomStream, Skew};

settings::names! {
    /// Index into the kinds of transaction, as the driver counts them. The first is what the throughput figure counts.
    #[repr(u8)]
    pub enum Card {
        NewOrder => "new-order",
        Payment => "payment",
        OrderStatus => "order-status",
        Delivery => "delivery",
        StockLevel => "stock-level",
    }
}

/// Cards of each kind in a deck: 43.5 % new orders and payments, 4.35 % of each of the others.
const DECK: [(Card, usize); 5] =
    [(Card::NewOrder, 10), (Card::Payment, 10), (Card::OrderStatus, 1), (Card::Delivery, 1), (Card::StockLevel, 1)];
pub const DECK_SIZE: usize = 23;

/// One order in a hundred ends with an item that does not exist, and is rolled back.
const ONE_IN_ROLLED_BACK: u64 = 100;
/// One line in a hundred is supplied by another warehouse.
const ONE_IN_REMOTE: u64 = 100;
/// An item that no catalogue has, whatever the number of warehouses.
pub const UNUSED_ITEM: u32 = ITEMS + 1;
const QUANTITY_MAX: i64 = 10;
const PAYMENT_MIN_CENTS: i64 = CENTS;
const PAYMENT_MAX_CENTS: i64 = 5_000 * CENTS;
const REMOTE_PAYMENTS_PERCENT: u64 = 15;
const BY_LAST_NAME_PERCENT: u64 = 60;
const THRESHOLD_MIN: i64 = 10;
const THRESHOLD_MAX: i64 = 20;

/// The inputs of one transaction. They own no heap, so drawing them allocates nothing.
#[expect(clippy::large_enum_variant, reason = "the largest is also one of the two most frequent")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderEntryInput {
    NewOrder(NewOrderInput),
    Payment(PaymentInput),
    OrderStatus(OrderStatusInput),
    Delivery(DeliveryInput),
    StockLevel(StockLevelInput),
}

impl OrderEntryInput {
    pub fn card(&self) -> Card {
        match self {
            Self::NewOrder(_) => Card::NewOrder,
            Self::Payment(_) => Card::Payment,
            Self::OrderStatus(_) => Card::OrderStatus,
            Self::Delivery(_) => Card::Delivery,
            Self::StockLevel(_) => Card::StockLevel,
        }
    }
}

/// A customer orders some items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOrderInput {
    pub warehouse: u32,
    pub district: u32,
    pub customer: u32,
    lines: [OrderedLine; LINES_MAX as usize],
    count: usize,
}

impl NewOrderInput {
    /// The lines in the order of execution: by supplying warehouse and item, so that two orders lock their stock in
    /// the same order. A line that causes a rollback comes last, after all work on the others.
    pub fn lines(&self) -> &[OrderedLine] {
        &self.lines[..self.count]
    }

    pub fn is_all_local(&self) -> bool {
        self.lines().iter().all(|line| line.supply_warehouse == self.warehouse)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderedLine {
    /// Position in the order as the customer gave it, from 1.
    pub number: u32,
    pub item: u32,
    pub supply_warehouse: u32,
    pub quantity: u32,
}

/// How a customer is identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerKey {
    Id(u32),
    /// Number of a last name, which several customers of the district may have.
    LastName(u32),
}

/// A customer pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentInput {
    /// The place of the payment.
    pub warehouse: u32,
    pub district: u32,
    /// The customer's home.
    pub customer_warehouse: u32,
    pub customer_district: u32,
    pub who: CustomerKey,
    pub amount_cents: i64,
}

/// A customer asks for the last order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatusInput {
    pub warehouse: u32,
    pub district: u32,
    pub who: CustomerKey,
}

/// A carrier takes the oldest order of each district.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryInput {
    pub warehouse: u32,
    pub carrier: u32,
}

/// The number of items of the last orders that run low.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockLevelInput {
    pub warehouse: u32,
    pub district: u32,
    pub threshold: i64,
}

/// One emulated client.
#[derive(Debug, Clone)]
pub struct OrderEntryClient {
    stream: RandomStream,
    /// The stream that think times are drawn from.
    pub(super) pauses: RandomStream,
    home: Home,
    deck: [Card; DECK_SIZE],
    /// Cards left in the deck.
    left: usize,
}

impl OrderEntryClient {
    pub fn new(seed: u64, index: u32, warehouses: u32) -> Self {
        let home = Home { warehouse: index % warehouses + 1, district: index / warehouses % DISTRICTS + 1 };
        Self {
            stream: RandomStream::new(seed, "client", [index, 0]),
            pauses: RandomStream::new(seed, "pauses", [index, 0]),
            home,
            deck: sorted_deck(),
            left: 0,
        }
    }

    fn deal(&mut self) -> Card {
        if self.left == 0 {
            self.stream.shuffle(&mut self.deck);
            self.left = DECK_SIZE;
        }
        self.left -= 1;
        self.deck[self.left]
    }

    fn district(&mut self) -> u32 {
        id(self.stream.uniform(1, i64::from(DISTRICTS)))
    }

    /// Uniform over the warehouses except the client's own; that one if there is no other.
    fn other_warehouse(&mut self, warehouses: u32) -> u32 {
        if warehouses == 1 {
            return self.home.warehouse;
        }
        let other = id(self.stream.uniform(1, i64::from(warehouses) - 1));
        other + u32::from(other >= self.home.warehouse)
    }

    fn skewed(&mut self, skew: Skew, constant: i64) -> u32 {
        id(self.stream.skewed(skew, constant))
    }
}

fn sorted_deck() -> [Card; DECK_SIZE] {
    let mut deck = [Card::NewOrder; DECK_SIZE];
    let cards = DECK.iter().flat_map(|&(card, count)| std::iter::repeat_n(card, count));
    for (place, card) in deck.iter_mut().zip(cards) {
        *place = card;
    }
    deck
}

/// All ids are drawn from ranges that fit.
fn id(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

impl OrderEntry {
    /// Draws the client's next transaction.
    pub(super) fn draw(&self, client: &mut OrderEntryClient) -> OrderEntryInput {
        match client.deal() {
            Card::NewOrder => OrderEntryInput::NewOrder(self.draw_new_order(client)),
            Card::Payment => OrderEntryInput::Payment(self.draw_payment(client)),
            Card::OrderStatus => {
                let (warehouse, district) = (client.home.warehouse, client.district());
                OrderEntryInput::OrderStatus(OrderStatusInput { warehouse, district, who: self.draw_who(client) })
            }
            Card::Delivery => {
                let carrier = id(client.stream.uniform(1, i64::from(CARRIERS)));
                OrderEntryInput::Delivery(DeliveryInput { warehouse: client.home.warehouse, carrier })
            }
            Card::StockLevel => OrderEntryInput::StockLevel(StockLevelInput {
                warehouse: client.home.warehouse,
                district: client.home.district,
                threshold: client.stream.uniform(THRESHOLD_MIN, THRESHOLD_MAX),
            }),
        }
    }

    fn draw_new_order(&self, client: &mut OrderEntryClient) -> NewOrderInput {
        let warehouse = client.home.warehouse;
        let district = client.district();
        let customer = client.skewed(CUSTOMER_SKEW, self.constants.customer);
        let mut lines = [OrderedLine::default(); LINES_MAX as usize];
        let count = id(client.stream.uniform(i64::from(LINES_MIN), i64::from(LINES_MAX))) as usize;
        let rolled_back = client.stream.once_in(ONE_IN_ROLLED_BACK);
        for (number, line) in (1..).zip(&mut lines[..count]) {
            let item = client.skewed(ITEM_SKEW, self.constants.item);
            let remote = client.stream.once_in(ONE_IN_REMOTE);
            let supply_warehouse = if remote { client.other_warehouse(self.settings.warehouses) } else { warehouse };
            let quantity = id(client.stream.uniform(1, QUANTITY_MAX));
            *line = OrderedLine { number, item, supply_warehouse, quantity };
        }
        if rolled_back {
            lines[count - 1].item = UNUSED_ITEM;
        }
        lines[..count].sort_by_key(|line| (line.item == UNUSED_ITEM, line.supply_warehouse, line.item, line.number));
        NewOrderInput { warehouse, district, customer, lines, count }
    }

    fn draw_payment(&self, client: &mut OrderEntryClient) -> PaymentInput {
        let warehouse = client.home.warehouse;
        let district = client.district();
        let amount_cents = client.stream.uniform(PAYMENT_MIN_CENTS, PAYMENT_MAX_CENTS);
        let remote = client.stream.below(100) < REMOTE_PAYMENTS_PERCENT && self.settings.warehouses > 1;
        let (customer_warehouse, customer_district) = if remote {
            (client.other_warehouse(self.settings.warehouses), client.district())
        } else {
            (warehouse, district)
        };
        PaymentInput {
            warehouse,
            district,
            customer_warehouse,
            customer_district,
            who: self.draw_who(client),
            amount_cents,
        }
    }

    fn draw_who(&self, client: &mut OrderEntryClient) -> CustomerKey {
        if client.stream.below(100) < BY_LAST_NAME_PERCENT {
            CustomerKey::LastName(client.skewed(LAST_NAME_SKEW, self.constants.last_name_at_run))
        } else {
            CustomerKey::Id(client.skewed(CUSTOMER_SKEW, self.constants.customer))
        }
    }
}

#[cfg(test)]
mod tests;
