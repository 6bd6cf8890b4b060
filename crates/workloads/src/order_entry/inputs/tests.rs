//! Compares inputs with their rules, over many draws from fixed seeds.

use super::*;
use crate::order_entry::{DeliveryMode as Mode, OrderEntrySettings};
use crate::workload::{User, Workload};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn workload(warehouses: u32) -> OrderEntry {
    OrderEntry::new(OrderEntrySettings::plain(warehouses, 42)).unwrap()
}

fn draws(warehouses: u32, seed: u64, index: u32, count: usize) -> Vec<OrderEntryInput> {
    let workload = workload(warehouses);
    let mut client = workload.client(User::first(seed, index));
    (0..count).map(|_| workload.next(&mut client).unwrap()).collect()
}

fn new_orders(inputs: &[OrderEntryInput]) -> Vec<&NewOrderInput> {
    inputs
        .iter()
        .filter_map(|input| if let OrderEntryInput::NewOrder(order) = input { Some(order) } else { None })
        .collect()
}

fn payments(inputs: &[OrderEntryInput]) -> Vec<&PaymentInput> {
    inputs
        .iter()
        .filter_map(|input| if let OrderEntryInput::Payment(payment) = input { Some(payment) } else { None })
        .collect()
}

/// Whether a share is as close to its target as chance brings it, except once in a million times.
fn is_about(found: usize, of: usize, share: f64) -> bool {
    let deviation = (of as f64 * share * (1.0 - share)).sqrt();
    (found as f64 - of as f64 * share).abs() < 5.0 * deviation
}

#[test]
fn golden_inputs() {
    let shown: Vec<String> = draws(3, 42, 0, 6).iter().map(|input| format!("{input:?}")).collect();
    assert_eq!(shown.join("\n"), include_str!("golden.txt").trim_end());
}

#[test]
fn every_deck_has_its_cards() {
    let inputs = draws(3, 1, 0, DECK_SIZE * 50);
    for deck in inputs.chunks(DECK_SIZE) {
        let count = |card| deck.iter().filter(|input| input.card() == card).count();
        assert!(DECK.iter().all(|&(card, cards)| count(card) == cards), "{deck:?}");
    }
    let orders: BTreeSet<Vec<u16>> =
        inputs.chunks(DECK_SIZE).map(|deck| deck.iter().map(|input| input.card() as u16).collect()).collect();
    assert_eq!(orders.len(), 50, "each deck is shuffled anew");
}

#[test]
fn clients_spread_over_warehouses_first_and_ten_fill_one() {
    let homes: Vec<Home> = (0..30).map(|index| OrderEntryClient::new(1, index, 3).home).collect();
    assert_eq!(homes[..4].iter().map(|home| home.warehouse).collect::<Vec<_>>(), [1, 2, 3, 1]);
    let distinct: BTreeSet<(u32, u32)> = homes.iter().map(|home| (home.warehouse, home.district)).collect();
    assert_eq!(distinct.len(), 30);
    assert_eq!(OrderEntryClient::new(1, 30, 3).home, homes[0]);
}

#[test]
fn shares_are_those_of_the_rules() {
    let inputs: Vec<OrderEntryInput> = (0..10).flat_map(|index| draws(5, 9, index, 4_600)).collect();
    let orders = new_orders(&inputs);
    let lines: Vec<(u32, OrderedLine)> =
        orders.iter().flat_map(|order| order.lines().iter().map(|line| (order.warehouse, *line))).collect();
    let rolled_back = orders.iter().filter(|order| order.lines().iter().any(|line| line.item == UNUSED_ITEM)).count();
    assert!(is_about(rolled_back, orders.len(), 0.01), "{rolled_back} of {}", orders.len());
    let remote = lines.iter().filter(|(home, line)| line.supply_warehouse != *home).count();
    assert!(is_about(remote, lines.len(), 0.01), "{remote} of {}", lines.len());
    let mean = lines.len() as f64 / orders.len() as f64;
    assert!((mean - 10.0).abs() < 0.12, "{mean}");

    let payments = payments(&inputs);
    let remote = payments.iter().filter(|payment| payment.customer_warehouse != payment.warehouse).count();
    assert!(is_about(remote, payments.len(), 0.15), "{remote} of {}", payments.len());
    let by_name = payments.iter().filter(|payment| matches!(payment.who, CustomerKey::LastName(_))).count();
    assert!(is_about(by_name, payments.len(), 0.60), "{by_name} of {}", payments.len());
}

#[test]
fn remote_warehouses_are_all_the_others_alike() {
    let inputs: Vec<OrderEntryInput> = draws(5, 9, 1, 46_000);
    let mut counts = BTreeMap::new();
    let remote = payments(&inputs).into_iter().filter(|payment| payment.customer_warehouse != payment.warehouse);
    let mut all = 0;
    for payment in remote {
        *counts.entry(payment.customer_warehouse).or_insert(0) += 1;
        all += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1, 3, 4, 5], "the home is 2");
    assert!(counts.values().all(|&count| is_about(count, all, 0.25)), "{counts:?}");
}

#[test]
fn one_warehouse_has_nothing_remote() {
    let inputs = draws(1, 3, 4, 2_300);
    assert!(new_orders(&inputs).iter().all(|order| order.is_all_local()));
    assert!(payments(&inputs).iter().all(|payment| (payment.customer_warehouse, payment.warehouse) == (1, 1)));
}

#[test]
fn only_deliveries_are_deferred_and_only_if_asked() {
    let inputs = draws(1, 3, 0, DECK_SIZE);
    let inline =
        OrderEntry::new(OrderEntrySettings { delivery: Mode::Inline, ..OrderEntrySettings::plain(1, 42) }).unwrap();
    for input in &inputs {
        assert_eq!(workload(1).performer(input), u16::from(input.card() == Card::Delivery));
        assert_eq!(inline.performer(input), 0);
        let name = inline.kinds()[usize::from(inline.kind(input))].name.replace('-', "");
        assert!(format!("{input:?}").to_lowercase().starts_with(&name), "{name}: {input:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inputs_stay_in_their_ranges(warehouses in 1_u32..50, seed: u64, index in 0_u32..500) {
        let home = index % warehouses + 1;
        for input in draws(warehouses, seed, index, 2 * DECK_SIZE) {
            match input {
                OrderEntryInput::NewOrder(order) => {
                    prop_assert_eq!(order.warehouse, home);
                    prop_assert!((1..=10).contains(&order.district) && (1..=3_000).contains(&order.customer));
                    prop_assert!((5..=15).contains(&order.lines().len()));
                    let numbers: BTreeSet<u32> = order.lines().iter().map(|line| line.number).collect();
                    prop_assert_eq!(numbers, (1..=u32::try_from(order.lines().len()).unwrap()).collect());
                    let valid: Vec<_> = order.lines().iter().filter(|line| line.item != UNUSED_ITEM).collect();
                    prop_assert!(valid.is_sorted_by_key(|line| (line.supply_warehouse, line.item)));
                    prop_assert!(order.lines().len() - valid.len() <= 1);
                    if let Some(last) = order.lines().last().filter(|line| line.item == UNUSED_ITEM) {
                        prop_assert_eq!(last.number as usize, order.lines().len(), "the customer's last line");
                    }
                    for line in valid {
                        prop_assert!((1..=100_000).contains(&line.item) && (1..=10).contains(&line.quantity));
                        prop_assert!((1..=warehouses).contains(&line.supply_warehouse));
                    }
                }
                OrderEntryInput::Payment(payment) => {
                    prop_assert_eq!(payment.warehouse, home);
                    prop_assert!((1..=10).contains(&payment.district) && (1..=10).contains(&payment.customer_district));
                    prop_assert!((1..=warehouses).contains(&payment.customer_warehouse));
                    prop_assert!((100..=500_000).contains(&payment.amount_cents));
                    if payment.customer_warehouse == home {
                        prop_assert_eq!(payment.customer_district, payment.district);
                    }
                }
                OrderEntryInput::OrderStatus(status) => {
                    prop_assert_eq!(status.warehouse, home);
                    match status.who {
                        CustomerKey::Id(id) => prop_assert!((1..=3_000).contains(&id)),
                        CustomerKey::LastName(number) => prop_assert!(number < 1_000),
                    }
                }
                OrderEntryInput::Delivery(delivery) => {
                    prop_assert_eq!(delivery.warehouse, home);
                    prop_assert!((1..=10).contains(&delivery.carrier));
                }
                OrderEntryInput::StockLevel(level) => {
                    prop_assert_eq!((level.warehouse, level.district), (home, index / warehouses % 10 + 1));
                    prop_assert!((10..=20).contains(&level.threshold));
                }
            }
        }
    }

    #[test]
    fn a_client_is_its_seed_and_index(seed: u64, index in 0_u32..100) {
        prop_assert_eq!(draws(4, seed, index, 50), draws(4, seed, index, 50));
        prop_assert_ne!(draws(4, seed, index, 50), draws(4, seed, index + 4, 50));
        prop_assert_ne!(draws(4, seed, index, 50), draws(4, seed.wrapping_add(1), index, 50));
    }
}
