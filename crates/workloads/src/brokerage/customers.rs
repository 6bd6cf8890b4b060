//! What follows from a customer's place: tier, number of accounts, and how often the customer trades.
//!
//! Within a load unit, customers are permuted. The place before the permutation, the rank, decides all three. A higher
//! rank trades more often, and has more accounts.

use super::size::LOAD_UNIT;
use super::words::below;
use crate::random::RandomStream;

const FACTOR: u32 = 677;
const INVERSE: u32 = 613;
const OFFSET: u32 = 33;
/// The first ranks of the second and the third tier.
const SECOND_TIER: u32 = 200;
const THIRD_TIER: u32 = 800;
/// Weights of all ranks together.
const WEIGHTS: f64 = 2_000.0;
const FIRST_TIER_WEIGHTS: f64 = 200.0;
const SECOND_TIER_WEIGHTS: f64 = 1_400.0;

/// The customer at a rank of a load unit.
pub fn at_rank(unit: u32, rank: u32) -> u32 {
    LOAD_UNIT * unit + (FACTOR * rank + OFFSET * (unit + 1)) % LOAD_UNIT
}

/// The rank of a customer in its load unit.
pub fn rank(customer: u32) -> u32 {
    let (unit, place) = (customer / LOAD_UNIT, customer % LOAD_UNIT);
    let offset = OFFSET * (unit + 1) % LOAD_UNIT;
    INVERSE * (place + LOAD_UNIT - offset) % LOAD_UNIT
}

/// 1, 2 or 3.
pub fn tier(customer: u32) -> u32 {
    match rank(customer) {
        0..SECOND_TIER => 1,
        SECOND_TIER..THIRD_TIER => 2,
        _ => 3,
    }
}

/// How many accounts a customer has: 1 to 10.
pub fn accounts(customer: u32) -> u32 {
    match rank(customer) {
        rank @ 0..SECOND_TIER => 1 + rank % 4,
        rank @ SECOND_TIER..THIRD_TIER => 2 + (rank - (SECOND_TIER - 1)) % 7,
        rank => 5 + (rank - (THIRD_TIER - 2)) % 6,
    }
}

/// The place of a customer's watch list.
pub fn watch_list_of(customer: u32) -> u32 {
    const FACTOR: u32 = 631;
    const OFFSET: u32 = 97;
    let (unit, place) = (customer / LOAD_UNIT, customer % LOAD_UNIT);
    LOAD_UNIT * unit + (FACTOR * place + OFFSET) % LOAD_UNIT
}

/// A rank, drawn so that its chance grows with it: from 0.6 to 3.4 times that of a rank of weight 1.
pub fn draw_rank(stream: &mut RandomStream) -> u32 {
    // Above 0, up to the sum of the weights.
    let weight = WEIGHTS * (1.0 - stream.fraction());
    let root = if weight <= FIRST_TIER_WEIGHTS {
        (22_500.0 + 500.0 * weight).sqrt() - 151.0
    } else if weight <= SECOND_TIER_WEIGHTS {
        (290_000.0 + 1_000.0 * weight).sqrt() - 501.0
    } else {
        (500.0 * weight - 277_500.0).sqrt() + 149.0
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 999")]
    let rank = root.ceil().max(0.0) as u32;
    rank.min(LOAD_UNIT - 1)
}

/// The customer of a trade: any load unit, and in it by weight.
pub fn draw(load_units: u32, stream: &mut RandomStream) -> u32 {
    let unit = below(stream, load_units);
    at_rank(unit, draw_rank(stream))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokerage::size::ACCOUNTS_OF_UNIT;

    #[test]
    fn every_load_unit_has_5000_accounts_and_permuted_customers() {
        for unit in [0, 1, 7, 999] {
            let customers = LOAD_UNIT * unit..LOAD_UNIT * (unit + 1);
            let of_tier = |tier_wanted| customers.clone().filter(move |customer| tier(*customer) == tier_wanted);
            let accounts_of = |tier| of_tier(tier).map(accounts).sum::<u32>();
            assert_eq!([1, 2, 3].map(|tier| of_tier(tier).count()), [200, 600, 200]);
            assert_eq!([1, 2, 3].map(accounts_of), [500, 3_000, 1_500]);
            assert_eq!(customers.clone().map(accounts).sum::<u32>(), ACCOUNTS_OF_UNIT);
            assert!(customers.clone().all(|customer| at_rank(unit, rank(customer)) == customer));
            assert!((0..LOAD_UNIT).all(|rank_wanted| rank(at_rank(unit, rank_wanted)) == rank_wanted));
        }
    }

    #[test]
    fn activity_of_tiers_is_10_60_and_30_percent() {
        const DRAWS: usize = 1_000_000;
        let mut stream = RandomStream::new(42, "test", [0, 0]);
        let (mut tiers, mut ranks) = ([0_u32; 3], vec![0_u32; LOAD_UNIT as usize]);
        for _ in 0..DRAWS {
            let customer = draw(2, &mut stream);
            tiers[tier(customer) as usize - 1] += 1;
            ranks[rank(customer) as usize] += 1;
        }
        for (found, expected) in tiers.into_iter().zip([0.1, 0.6, 0.3]) {
            let share = f64::from(found) / DRAWS as f64;
            assert!((share - expected).abs() < 0.002, "{share} instead of {expected}");
        }
        // A hundredth of all ranks at a time, whose weights rise from 0.6 to 3.4.
        let weight = |ranks: &[u32]| f64::from(ranks.iter().sum::<u32>()) * WEIGHTS / DRAWS as f64 / ranks.len() as f64;
        for (found, expected) in
            [(weight(&ranks[..10]), 0.62), (weight(&ranks[495..505]), 2.0), (weight(&ranks[990..]), 3.38)]
        {
            assert!((found - expected).abs() < 0.1, "{found} instead of {expected}");
        }
        assert!(ranks.iter().all(|count| *count > 0));
    }
}
