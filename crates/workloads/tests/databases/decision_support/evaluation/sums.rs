//! Questions about lines and their orders alone, and about parts of lines.

use super::{Answer, Cell, Rows, day, is_within, revenue, text, whole};
use std::collections::{BTreeMap, BTreeSet};

pub fn h01(rows: &Rows) -> Answer {
    let last = day("1998-12-01") - 90;
    let mut groups: BTreeMap<_, [i128; 6]> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| line.l_shipdate.to_unix_epoch() <= last) {
        let sums = groups.entry((line.l_returnflag, line.l_linestatus)).or_default();
        let taxed = revenue(line) * i128::from(100 + line.l_tax.0);
        let values =
            [line.l_quantity.into(), line.l_extendedprice.0.into(), revenue(line), taxed, line.l_discount.0.into(), 1];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    let row = |((flag, status), [pieces, price, charged, taxed, discount, count]): ((&str, &str), [i128; 6])| {
        vec![
            text(flag),
            text(status),
            whole(pieces),
            Cell::Exact(price, 2),
            Cell::Exact(charged, 4),
            Cell::Exact(taxed, 6),
            Cell::Ratio(pieces, count),
            Cell::Ratio(price, 100 * count),
            Cell::Ratio(discount, 100 * count),
            whole(count),
        ]
    };
    groups.into_iter().map(row).collect()
}

pub fn h04(rows: &Rows) -> Answer {
    let late = rows.lines.iter().filter(|line| line.l_commitdate < line.l_receiptdate);
    let late: BTreeSet<i64> = late.map(|line| line.l_orderkey).collect();
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for order in &rows.orders {
        if is_within(order.o_orderdate, "1993-07-01", "1993-10-01") && late.contains(&order.o_orderkey) {
            *counts.entry(order.o_orderpriority).or_default() += 1;
        }
    }
    counts.into_iter().map(|(priority, count)| vec![text(priority), whole(count)]).collect()
}

pub fn h06(rows: &Rows) -> Answer {
    let counts = rows.lines.iter().filter(|line| {
        is_within(line.l_shipdate, "1994-01-01", "1995-01-01")
            && (5..=7).contains(&line.l_discount.0)
            && line.l_quantity < 24
    });
    let sum = counts.map(|line| i128::from(line.l_extendedprice.0) * i128::from(line.l_discount.0)).sum();
    vec![vec![Cell::Exact(sum, 4)]]
}

pub fn h12(rows: &Rows) -> Answer {
    let mut counts: BTreeMap<&str, [i64; 2]> = BTreeMap::new();
    for line in &rows.lines {
        if ["MAIL", "SHIP"].contains(&line.l_shipmode)
            && line.l_shipdate < line.l_commitdate
            && line.l_commitdate < line.l_receiptdate
            && is_within(line.l_receiptdate, "1994-01-01", "1995-01-01")
        {
            let priority = rows.order(line.l_orderkey).o_orderpriority;
            let is_urgent = priority.starts_with('1') || priority.starts_with('2');
            counts.entry(line.l_shipmode).or_default()[usize::from(!is_urgent)] += 1;
        }
    }
    counts.into_iter().map(|(mode, [high, low])| vec![text(mode), whole(high), whole(low)]).collect()
}

pub fn h14(rows: &Rows) -> Answer {
    let (mut promoted, mut all) = (0, 0);
    for line in rows.lines.iter().filter(|line| is_within(line.l_shipdate, "1995-09-01", "1995-10-01")) {
        all += revenue(line);
        if rows.part(line.l_partkey).p_type.starts_with("PROMO") {
            promoted += revenue(line);
        }
    }
    vec![vec![Cell::Ratio(100 * promoted, all)]]
}

pub fn h15(rows: &Rows) -> Answer {
    let mut sold: BTreeMap<i64, i128> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| is_within(line.l_shipdate, "1996-01-01", "1996-04-01")) {
        *sold.entry(line.l_suppkey).or_default() += revenue(line);
    }
    let most = sold.values().copied().max().unwrap();
    let best = sold.into_iter().filter(|(_, revenue)| *revenue == most);
    let row = |(key, revenue): (i64, i128)| {
        let supplier = rows.supplier(key);
        vec![
            whole(key),
            text(&supplier.s_name),
            text(&supplier.s_address),
            text(&supplier.s_phone),
            Cell::Exact(revenue, 4),
        ]
    };
    best.map(row).collect()
}

/// Sorted by money, the most first, and then by what follows.
pub fn dearest_first<K: Ord>(mut rows: Vec<(i128, K, Vec<Cell>)>, limit: usize) -> Answer {
    rows.sort_by(|(money, key, _), (other, other_key, _)| other.cmp(money).then_with(|| key.cmp(other_key)));
    rows.into_iter().take(limit).map(|(_, _, row)| row).collect()
}
