//! Questions about parts, who offers them, and what is in stock.

use super::sums::dearest_first;
use super::{Answer, Cell, Rows, has, is_within, money, revenue, text, whole};
use std::collections::{BTreeMap, BTreeSet};

pub fn h02(rows: &Rows) -> Answer {
    let mut found = Vec::new();
    for part in rows.parts.iter().filter(|part| part.p_size == 15 && part.p_type.ends_with("BRASS")) {
        let offers = rows.offers.iter().filter(|offer| offer.ps_partkey == part.p_partkey);
        let in_europe: Vec<_> =
            offers.filter(|offer| rows.region_of(rows.supplier(offer.ps_suppkey).s_nationkey) == "EUROPE").collect();
        let Some(least) = in_europe.iter().map(|offer| offer.ps_supplycost).min() else { continue };
        for offer in in_europe.into_iter().filter(|offer| offer.ps_supplycost == least) {
            let supplier = rows.supplier(offer.ps_suppkey);
            let (nation, name) = (rows.nation(supplier.s_nationkey), supplier.s_name.to_string());
            let row = vec![
                money(supplier.s_acctbal.0),
                text(&name),
                text(nation),
                whole(part.p_partkey),
                text(&part.p_mfgr),
                text(&supplier.s_address),
                text(&supplier.s_phone),
                text(&supplier.s_comment),
            ];
            found.push((supplier.s_acctbal.0.into(), (nation, name, part.p_partkey), row));
        }
    }
    dearest_first(found, 100)
}

pub fn h11(rows: &Rows) -> Answer {
    let mut stock: BTreeMap<i64, i128> = BTreeMap::new();
    for offer in &rows.offers {
        if rows.nation(rows.supplier(offer.ps_suppkey).s_nationkey) == "GERMANY" {
            let worth = i128::from(offer.ps_supplycost.0) * i128::from(offer.ps_availqty);
            *stock.entry(offer.ps_partkey).or_default() += worth;
        }
    }
    let all: i128 = stock.values().sum();
    // More than a ten-thousandth of all, divided by the scale.
    let much = stock.into_iter().filter(|(_, worth)| worth * 10_000 * rows.hundredths > all * 100);
    dearest_first(
        much.map(|(part, worth)| (worth, part, vec![whole(part), Cell::Exact(worth, 2)])).collect(),
        usize::MAX,
    )
}

pub fn h16(rows: &Rows) -> Answer {
    let mut kinds: BTreeMap<(String, &str, i32), BTreeSet<i64>> = BTreeMap::new();
    for offer in &rows.offers {
        let part = rows.part(offer.ps_partkey);
        let brand = part.p_brand.to_string();
        if brand != "Brand#45"
            && !part.p_type.starts_with("MEDIUM POLISHED")
            && [49, 14, 23, 45, 19, 3, 36, 9].contains(&part.p_size)
            && !has(&rows.supplier(offer.ps_suppkey).s_comment, "Customer", "Complaints")
        {
            kinds.entry((brand, part.p_type, part.p_size)).or_default().insert(offer.ps_suppkey);
        }
    }
    let row = |(kind, suppliers): ((String, &'static str, i32), BTreeSet<i64>)| {
        let (brand, of_type, size) = &kind;
        let count = suppliers.len() as i128;
        let row = vec![text(brand), text(of_type), whole(*size), whole(count)];
        (count, kind, row)
    };
    dearest_first(kinds.into_iter().map(row).collect(), usize::MAX)
}

pub fn h17(rows: &Rows) -> Answer {
    let is_meant = |key: i64| {
        let part = rows.part(key);
        part.p_brand.to_string() == "Brand#23" && part.p_container == "MED BOX"
    };
    let lines: Vec<_> = rows.lines.iter().filter(|line| is_meant(line.l_partkey)).collect();
    let mut usual: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for line in &lines {
        let (pieces, count) = usual.entry(line.l_partkey).or_default();
        (*pieces, *count) = (*pieces + line.l_quantity, *count + 1);
    }
    let small: Vec<i128> = lines
        .into_iter()
        .filter(|line| {
            let (pieces, count) = usual[&line.l_partkey];
            line.l_quantity * count * 5 < pieces
        })
        .map(|line| line.l_extendedprice.0.into())
        .collect();
    let sum = if small.is_empty() { Cell::Null } else { Cell::Ratio(small.iter().sum(), 700) };
    vec![vec![sum]]
}

pub fn h19(rows: &Rows) -> Answer {
    let branches: [(&str, [&str; 4], i64, i32); 3] = [
        ("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5),
        ("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10),
        ("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15),
    ];
    let mut sum = None;
    for line in &rows.lines {
        let part = rows.part(line.l_partkey);
        let brand = part.p_brand.to_string();
        let fits = branches.iter().any(|(of_brand, containers, least, largest)| {
            brand == *of_brand
                && containers.contains(&part.p_container)
                && (*least..=least + 10).contains(&line.l_quantity)
                && (1..=*largest).contains(&part.p_size)
        });
        if fits && ["AIR", "AIR REG"].contains(&line.l_shipmode) && line.l_shipinstruct == "DELIVER IN PERSON" {
            sum = Some(sum.unwrap_or(0) + revenue(line));
        }
    }
    vec![vec![sum.map_or(Cell::Null, |sum| Cell::Exact(sum, 4))]]
}

pub fn h20(rows: &Rows) -> Answer {
    let mut sold: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for line in rows.lines.iter().filter(|line| is_within(line.l_shipdate, "1994-01-01", "1995-01-01")) {
        *sold.entry((line.l_partkey, line.l_suppkey)).or_default() += line.l_quantity;
    }
    let mut found = BTreeMap::new();
    for ((part, supplier), pieces) in sold {
        let (offer, supplier) = (rows.offer(part, supplier), rows.supplier(supplier));
        if rows.part(part).p_name.to_string().starts_with("forest")
            && rows.nation(supplier.s_nationkey) == "CANADA"
            && i64::from(offer.ps_availqty) * 2 > pieces
        {
            found.insert(supplier.s_name.to_string(), supplier.s_address.to_string());
        }
    }
    found.into_iter().map(|(name, address)| vec![text(&name), text(&address)]).collect()
}
