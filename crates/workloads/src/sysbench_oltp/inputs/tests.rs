//! Compares inputs with their rules, over many draws from fixed seeds.

use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn ids(table: &Value) -> Ids {
    let keys = crate::sysbench_oltp::settings::KEYS;
    Ids::new(&settings::read(table.as_object().unwrap(), keys).unwrap())
}

/// Takes something from each of a client's transactions.
fn all<'a, T>(
    ids: &'a Ids,
    client: u32,
    transactions: usize,
    mut take: impl FnMut(&mut SysbenchDraws<'a>) -> T,
) -> Vec<T> {
    let mut client = SysbenchClient::new(5, client);
    (0..transactions).map(|_| take(&mut SysbenchDraws::new(ids, &client.draw()))).collect()
}

#[test]
fn golden_inputs() {
    let ids = ids(&json!({ "tables": 4 }));
    let shown = all(&ids, 3, 3, |draws| {
        let range = draws.range();
        format!(
            "{} {} {}-{} {} {}",
            draws.table(),
            draws.id(),
            range.low,
            range.high,
            draws.c().as_str(),
            draws.in_segment()
        )
    });
    assert_eq!(shown.join("\n"), include_str!("golden.txt").trim_end());
}

#[test]
fn an_input_is_repeated_by_taking_its_values_again() {
    let ids = ids(&json!({}));
    let mut client = SysbenchClient::new(5, 0);
    let (first, second) = (client.draw(), client.draw());
    let take = |input: &SysbenchInput| {
        let mut draws = SysbenchDraws::new(&ids, input);
        (0..20).map(|_| (draws.id(), draws.pad().as_str().to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(take(&first), take(&first));
    assert_ne!(take(&first), take(&second));
    assert_ne!(take(&first), take(&SysbenchClient::new(5, 1).draw()));
    assert_ne!(take(&first), take(&SysbenchClient::new(6, 0).draw()));
}

#[test]
fn tables_are_equally_frequent_whatever_is_hot() {
    let ids = ids(&json!({ "tables": 5, "rand_type": "pareto" }));
    let mut counts = [0_u64; 5];
    for table in all(&ids, 0, 10_000, SysbenchDraws::table) {
        counts[table as usize] += 1;
    }
    // The standard deviation is 40.
    assert!(counts.iter().all(|&count| count.abs_diff(2_000) < 200), "{counts:?}");
}

#[test]
fn ranges_have_their_size_and_know_how_many_rows_they_hit() {
    let of_10 = ids(&json!({ "rand_type": "uniform", "table_size": 300 }));
    let ranges = all(&of_10, 0, 2_000, SysbenchDraws::range);
    assert!(ranges.iter().all(|range| range.high - range.low == 99));
    let clipped = |range: &IdRange| range.high > 300 && range.rows == usize::try_from(301 - range.low).unwrap();
    assert!(ranges.iter().all(|range| range.rows == 100 || clipped(range)));
    let share = ranges.iter().filter(|range| range.rows < 100).count();
    assert!((560..760).contains(&share), "99 of 300 starts are too late, and {share} of 2000 are");

    let of_048 = ids(&json!({ "rand_type": "uniform", "table_size": 300, "mode": "0.4.8" }));
    let (plain, distinct) =
        (all(&of_048, 0, 2_000, SysbenchDraws::range), all(&of_048, 0, 2_000, SysbenchDraws::distinct_range));
    assert!(plain.iter().all(|range| range.rows == 100 && range.low >= 1 && range.high <= 299));
    assert!(distinct.iter().all(|range| range.rows == 101 && range.low >= 1 && range.high <= 300));
}

#[test]
fn segments_part_the_values_among_the_clients() {
    let ids = ids(&json!({ "table_size": 1_000, "segments": 4, "rand_type": "uniform" }));
    for client in 0..8 {
        let low = i64::from(client % 4) * 250;
        let values = all(&ids, client, 3_000, SysbenchDraws::in_segment);
        let distinct: BTreeSet<i64> = values.into_iter().collect();
        assert_eq!(distinct, (low + 1..=low + 250).collect());
    }
}

#[test]
fn unique_ids_are_unique_and_scattered() {
    let ids = ids(&json!({}));
    let mut seen = BTreeSet::new();
    for client in [0, 1, 2, 9_999, 10_000_000] {
        let of_client = all(&ids, client, 1_000, |draws| draws.unique_id());
        assert!(!of_client.is_sorted());
        seen.extend(of_client);
    }
    assert_eq!(seen.len(), 5_000);
    assert!(seen.iter().all(|&id| id >= 0));
    let mut of_another_run = SysbenchClient::new(6, 0);
    let others = (0..1_000).map(|_| SysbenchDraws::new(&ids, &of_another_run.draw()).unique_id());
    assert!(others.into_iter().all(|id| !seen.contains(&id)));
}

#[test]
fn bulk_ids_follow_each_other_and_clients_of_one_table_do_not_meet() {
    let ids = ids(&json!({ "tables": 2 }));
    let of_client = |client| all(&ids, client, 3, |draws| draws.bulk(250));
    assert_eq!(of_client(0), [(0, 1), (0, 251), (0, 501)]);
    assert_eq!(of_client(1), [(1, 1), (1, 251), (1, 501)]);
    assert_eq!(of_client(2)[0], (0, IDS_OF_BULK_CLIENT + 1));
}

#[test]
fn thinking_has_its_mean_and_the_spread_of_an_exponential() {
    let mut client = SysbenchClient::new(5, 1);
    let mean = Duration::from_secs(20);
    let thoughts: Vec<f64> = (0..20_000).map(|_| client.draw().thinking(mean).as_secs_f64()).collect();
    let average = thoughts.iter().sum::<f64>() / 20_000.0;
    assert!((average - 20.0).abs() < 0.5, "{average}");
    let longer = thoughts.iter().filter(|&&thought| thought > 20.0).count() as f64 / 20_000.0;
    assert!((longer - (-1.0_f64).exp()).abs() < 0.015, "{longer}");
    assert_eq!(client.draw().thinking(Duration::ZERO), Duration::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_stay_among_the_rows(
        table_size in 1_i64..100_000,
        range_size in 1_i64..1_000,
        client in 0_u32..500,
        mode in prop_oneof![Just("1.0"), Just("0.4.8")],
        rand_type in prop_oneof![Just("uniform"), Just("special"), Just("pareto"), Just("zipfian"), Just("gaussian")],
    ) {
        let ids = ids(&json!({
            "table_size": table_size, "range_size": range_size, "mode": mode, "rand_type": rand_type,
        }));
        let rows = 1..=table_size;
        let drawn = all(&ids, client, 50, |draws| (draws.id(), draws.range(), draws.distinct_range(), draws.in_segment()));
        for (id, range, distinct, in_segment) in drawn {
            prop_assert!(rows.contains(&id) && rows.contains(&range.low) && rows.contains(&in_segment));
            prop_assert!((1..=range_size).contains(&i64::try_from(range.rows).unwrap()));
            prop_assert!(rows.contains(&distinct.low) && distinct.rows >= 1);
        }
    }
}
