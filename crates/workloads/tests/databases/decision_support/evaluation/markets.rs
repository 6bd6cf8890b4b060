//! Questions about nations and their suppliers.

use super::sums::dearest_first;
use super::{Answer, Cell, Rows, is_within, revenue, text, whole, year};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub fn h05(rows: &Rows) -> Answer {
    let mut sold: BTreeMap<&str, i128> = BTreeMap::new();
    for line in &rows.lines {
        let order = rows.order(line.l_orderkey);
        let (seller, buyer) = (rows.supplier(line.l_suppkey).s_nationkey, rows.customer(order.o_custkey).c_nationkey);
        if seller == buyer
            && rows.region_of(buyer) == "ASIA"
            && is_within(order.o_orderdate, "1994-01-01", "1995-01-01")
        {
            *sold.entry(rows.nation(buyer)).or_default() += revenue(line);
        }
    }
    let row = |(nation, sold)| (sold, nation, vec![text(nation), Cell::Exact(sold, 4)]);
    dearest_first(sold.into_iter().map(row).collect(), usize::MAX)
}

pub fn h07(rows: &Rows) -> Answer {
    let mut sold: BTreeMap<_, i128> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| is_within(line.l_shipdate, "1995-01-01", "1997-01-01")) {
        let seller = rows.nation(rows.supplier(line.l_suppkey).s_nationkey);
        let buyer = rows.nation(rows.customer(rows.order(line.l_orderkey).o_custkey).c_nationkey);
        if (seller, buyer) == ("FRANCE", "GERMANY") || (seller, buyer) == ("GERMANY", "FRANCE") {
            *sold.entry((seller, buyer, year(line.l_shipdate))).or_default() += revenue(line);
        }
    }
    sold.into_iter()
        .map(|((seller, buyer, year), sold)| vec![text(seller), text(buyer), whole(year), Cell::Exact(sold, 4)])
        .collect()
}

pub fn h08(rows: &Rows) -> Answer {
    let mut market: BTreeMap<i128, (i128, i128)> = BTreeMap::new();
    for line in &rows.lines {
        let order = rows.order(line.l_orderkey);
        if rows.part(line.l_partkey).p_type == "ECONOMY ANODIZED STEEL"
            && rows.region_of(rows.customer(order.o_custkey).c_nationkey) == "AMERICA"
            && is_within(order.o_orderdate, "1995-01-01", "1997-01-01")
        {
            let (of_nation, all) = market.entry(year(order.o_orderdate)).or_default();
            *all += revenue(line);
            if rows.nation(rows.supplier(line.l_suppkey).s_nationkey) == "BRAZIL" {
                *of_nation += revenue(line);
            }
        }
    }
    market.into_iter().map(|(year, (of_nation, all))| vec![whole(year), Cell::Ratio(of_nation, all)]).collect()
}

pub fn h09(rows: &Rows) -> Answer {
    let mut profit: BTreeMap<_, i128> = BTreeMap::new();
    for line in &rows.lines {
        if rows.part(line.l_partkey).p_name.to_string().contains("green") {
            let cost = rows.offer(line.l_partkey, line.l_suppkey).ps_supplycost.0;
            let nation = rows.nation(rows.supplier(line.l_suppkey).s_nationkey);
            let year = year(rows.order(line.l_orderkey).o_orderdate);
            // A cost of cents for each of whole pieces has two digits after the point.
            let amount = revenue(line) - 100 * i128::from(cost) * i128::from(line.l_quantity);
            *profit.entry((nation, Reverse(year))).or_default() += amount;
        }
    }
    profit
        .into_iter()
        .map(|((nation, Reverse(year)), amount)| vec![text(nation), whole(year), Cell::Exact(amount, 4)])
        .collect()
}

pub fn h21(rows: &Rows) -> Answer {
    let mut waited: BTreeMap<String, i128> = BTreeMap::new();
    for lines in rows.lines.chunk_by(|line, next| line.l_orderkey == next.l_orderkey) {
        if rows.order(lines[0].l_orderkey).o_orderstatus.as_str() != "F" {
            continue;
        }
        for line in lines.iter().filter(|line| line.l_receiptdate > line.l_commitdate) {
            let supplier = rows.supplier(line.l_suppkey);
            let mut others = lines.iter().filter(|other| other.l_suppkey != line.l_suppkey).peekable();
            if rows.nation(supplier.s_nationkey) == "SAUDI ARABIA"
                && others.peek().is_some()
                && others.all(|other| other.l_receiptdate <= other.l_commitdate)
            {
                *waited.entry(supplier.s_name.to_string()).or_default() += 1;
            }
        }
    }
    let row = |(name, count): (String, i128)| (count, name.clone(), vec![text(&name), whole(count)]);
    dearest_first(waited.into_iter().map(row).collect(), 100)
}
