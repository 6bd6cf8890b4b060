//! Questions about customers and the orders they placed.

use super::sums::dearest_first;
use super::{Answer, Cell, Rows, day, has, is_within, money, revenue, text, whole};
use std::collections::{BTreeMap, BTreeSet};

pub fn h03(rows: &Rows) -> Answer {
    let middle = day("1995-03-15");
    let mut waiting: BTreeMap<i64, i128> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| line.l_shipdate.to_unix_epoch() > middle) {
        let order = rows.order(line.l_orderkey);
        if order.o_orderdate.to_unix_epoch() < middle && rows.customer(order.o_custkey).c_mktsegment == "BUILDING" {
            *waiting.entry(line.l_orderkey).or_default() += revenue(line);
        }
    }
    let row = |(key, revenue): (i64, i128)| {
        let ordered = rows.order(key).o_orderdate.to_unix_epoch();
        (revenue, ordered, vec![whole(key), Cell::Exact(revenue, 4), Cell::Date(ordered), whole(0)])
    };
    dearest_first(waiting.into_iter().map(row).collect(), 10)
}

pub fn h10(rows: &Rows) -> Answer {
    let mut lost: BTreeMap<i64, i128> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| line.l_returnflag == "R") {
        let order = rows.order(line.l_orderkey);
        if is_within(order.o_orderdate, "1993-10-01", "1994-01-01") {
            *lost.entry(order.o_custkey).or_default() += revenue(line);
        }
    }
    let row = |(key, revenue): (i64, i128)| {
        let customer = rows.customer(key);
        let row = vec![
            whole(key),
            text(&customer.c_name),
            Cell::Exact(revenue, 4),
            money(customer.c_acctbal.0),
            text(rows.nation(customer.c_nationkey)),
            text(&customer.c_address),
            text(&customer.c_phone),
            text(customer.c_comment),
        ];
        (revenue, key, row)
    };
    dearest_first(lost.into_iter().map(row).collect(), 20)
}

pub fn h13(rows: &Rows) -> Answer {
    let mut placed = vec![0_i64; rows.customers.len()];
    for order in rows.orders.iter().filter(|order| !has(order.o_comment, "special", "requests")) {
        placed[usize::try_from(order.o_custkey - 1).unwrap()] += 1;
    }
    let mut customers: BTreeMap<i64, i128> = BTreeMap::new();
    for count in placed {
        *customers.entry(count).or_default() += 1;
    }
    // Of equal numbers of customers, the higher number of orders comes first.
    let row = |(placed, customers): (i64, i128)| (customers, -placed, vec![whole(placed), whole(customers)]);
    dearest_first(customers.into_iter().map(row).collect(), usize::MAX)
}

pub fn h18(rows: &Rows) -> Answer {
    let mut pieces: BTreeMap<i64, i64> = BTreeMap::new();
    for line in &rows.lines {
        *pieces.entry(line.l_orderkey).or_default() += line.l_quantity;
    }
    let row = |(key, pieces): (i64, i64)| {
        let order = rows.order(key);
        let (customer, ordered) = (rows.customer(order.o_custkey), order.o_orderdate.to_unix_epoch());
        let row = vec![
            text(&customer.c_name),
            whole(customer.c_custkey),
            whole(key),
            Cell::Date(ordered),
            money(order.o_totalprice.0),
            whole(pieces),
        ];
        (order.o_totalprice.0.into(), ordered, row)
    };
    dearest_first(pieces.into_iter().filter(|(_, pieces)| *pieces > 300).map(row).collect(), 100)
}

pub fn h22(rows: &Rows) -> Answer {
    let codes: BTreeSet<&str> = ["13", "31", "23", "29", "30", "18", "17"].into();
    let who_ordered: BTreeSet<i64> = rows.orders.iter().map(|order| order.o_custkey).collect();
    let (mut sum, mut count) = (0, 0);
    let of_codes: Vec<_> = rows
        .customers
        .iter()
        .map(|customer| (customer.c_phone.to_string()[..2].to_owned(), customer))
        .filter(|(code, _)| codes.contains(code.as_str()))
        .collect();
    for (_, customer) in of_codes.iter().filter(|(_, customer)| customer.c_acctbal.0 > 0) {
        (sum, count) = (sum + customer.c_acctbal.0, count + 1);
    }
    let mut idle: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (code, customer) in of_codes {
        if customer.c_acctbal.0 * count > sum && !who_ordered.contains(&customer.c_custkey) {
            let (customers, cents) = idle.entry(code).or_default();
            (*customers, *cents) = (*customers + 1, *cents + customer.c_acctbal.0);
        }
    }
    idle.into_iter().map(|(code, (customers, cents))| vec![text(&code), whole(customers), money(cents)]).collect()
}
