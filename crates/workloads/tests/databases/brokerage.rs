//! The data of the brokerage workload: loading, equal rows on every engine, and every condition violated once.

use crate::database::Database;
use crate::loaded;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment, Verdict};
use serde_json::json;
use std::collections::BTreeSet;
use workloads::brokerage::Brokerage;
use workloads::checksum;
use workloads::dataset::{Dataset, TablePart};

/// Every how many of the parts of a table of prices are loaded. All of them would take most of the test's time.
const PARTS_OF_PRICES: u32 = 50;
const PRICES: &str = "daily_market";

fn workload() -> Brokerage {
    let table = json!({ "initial_trade_days": 5, "scale_factor": 20_000, "news_bytes": 300 });
    Brokerage::from_table(table.as_object().unwrap()).unwrap()
}

/// What is loaded on every engine, without daily prices and with all of them.
const LOADED: [&str; 2] = ["d4df87ce4d4281c8", "7cd3ce7172ec452d"];

/// Loads all, but for daily prices, of which this part is loaded.
pub fn load(database: &Database, workload: &Brokerage, admin: &mut dyn Admin, parts_of_prices: u32) {
    admin.script(&workload.schema(database.dialect())).unwrap();
    let has_all = parts_of_prices == 1;
    let whole = || workload.tables().iter().filter(|table| has_all || table.name != PRICES);
    loaded::in_parts(database, workload, whole());
    if !has_all {
        let prices = workload.tables().iter().find(|table| table.name == PRICES).unwrap();
        let part = TablePart { index: 0, count: parts_of_prices };
        database.load(workload, prices, part);
        let made = checksum::of_source(&mut *workload.rows(PRICES, part));
        assert_eq!(checksum::stored(admin, prices).unwrap(), made);
    }
    loaded::are_as_made(database, workload, whole(), LOADED[usize::from(has_all)]);
    workload.finish_over(admin, database.dialect()).unwrap();
    admin.settle().unwrap();
    highest_keys_are_those_of_the_size(workload, admin);
}

fn highest_keys_are_those_of_the_size(workload: &Brokerage, admin: &mut dyn Admin) {
    for table in workload.tables() {
        let Some(allowed) = workload.highest_keys(table) else { continue };
        let highest = || format!("SELECT max({}) FROM {}", table.key[0], table.name);
        let query = workload.highest_key_query(table).map_or_else(highest, str::to_owned);
        let mut found = 0;
        admin.scan(&query, &mut |set, row| found = set.integer(row, 0).unwrap().unsigned_abs()).unwrap();
        assert!(allowed.contains(&found), "{}: {found}", table.name);
    }
}

/// A condition, how to violate it, and how to undo that.
struct Damage {
    condition: &'static str,
    /// What the finding must name.
    key: &'static str,
    harm: &'static str,
    repair: &'static str,
}

const fn damage(condition: &'static str, key: &'static str, harm: &'static str, repair: &'static str) -> Damage {
    Damage { condition, key, harm, repair }
}

/// Damages that follow each other are done in different rounds, since they may be of the same rows. Those of one round are
/// done together, because all conditions are checked at once.
const ROUNDS: usize = 2;

/// In braces: a trade for cash at the market price, a limit order to buy, a stop-loss, a limit order to sell, a lot with its account, symbol and quantity.
const DAMAGES: &[Damage] = &[
    damage(
        "broker-trades",
        "broker 4300000001",
        "UPDATE broker SET b_num_trades = b_num_trades + 1 WHERE b_id = 4300000001",
        "UPDATE broker SET b_num_trades = b_num_trades - 1 WHERE b_id = 4300000001",
    ),
    damage(
        "broker-commissions",
        "broker 4300000002",
        "UPDATE broker SET b_comm_total = b_comm_total + 1 WHERE b_id = 4300000002",
        "UPDATE broker SET b_comm_total = b_comm_total - 1 WHERE b_id = 4300000002",
    ),
    damage(
        "holding-summaries",
        "account {account}",
        "UPDATE holding_summary SET hs_qty = hs_qty + 100 WHERE hs_ca_id = {account} AND hs_s_symb = '{symbol}'",
        "UPDATE holding_summary SET hs_qty = hs_qty - 100 WHERE hs_ca_id = {account} AND hs_s_symb = '{symbol}'",
    ),
    damage(
        "holding-summaries",
        "account {account}",
        "DELETE FROM holding_summary WHERE hs_ca_id = {account} AND hs_s_symb = '{symbol}'",
        "INSERT INTO holding_summary SELECT h_ca_id, h_s_symb, SUM(h_qty) FROM holding \
         WHERE h_ca_id = {account} AND h_s_symb = '{symbol}' GROUP BY h_ca_id, h_s_symb",
    ),
    damage(
        "holding-signs",
        "account {account}",
        "UPDATE holding SET h_qty = 0 WHERE h_t_id = {lot}",
        "UPDATE holding SET h_qty = {quantity} WHERE h_t_id = {lot}",
    ),
    damage(
        "holding-trades",
        "lot {lot}",
        "UPDATE holding SET h_price = h_price + 1 WHERE h_t_id = {lot}",
        "UPDATE holding SET h_price = h_price - 1 WHERE h_t_id = {lot}",
    ),
    damage(
        "holding-histories",
        "lot {lot}",
        "UPDATE holding_history SET hh_after_qty = hh_after_qty + 1 WHERE hh_h_t_id = {lot} AND hh_t_id = {lot}",
        "UPDATE holding_history SET hh_after_qty = hh_after_qty - 1 WHERE hh_h_t_id = {lot} AND hh_t_id = {lot}",
    ),
    damage(
        "traded-quantities",
        "trade {lot}",
        "UPDATE holding_history SET hh_before_qty = hh_before_qty + 1 WHERE hh_h_t_id = {lot} AND hh_t_id = {lot}",
        "UPDATE holding_history SET hh_before_qty = hh_before_qty - 1 WHERE hh_h_t_id = {lot} AND hh_t_id = {lot}",
    ),
    damage(
        "settlements",
        "trade {limit}",
        "UPDATE settlement SET se_t_id = 7 WHERE se_t_id = {limit}",
        "UPDATE settlement SET se_t_id = {limit} WHERE se_t_id = 7",
    ),
    damage(
        "settlement-amounts",
        "trade {trade}",
        "UPDATE settlement SET se_amt = se_amt + 1 WHERE se_t_id = {trade}",
        "UPDATE settlement SET se_amt = se_amt - 1 WHERE se_t_id = {trade}",
    ),
    damage(
        "settlement-dates",
        "trade {trade}",
        "UPDATE settlement SET se_cash_due_date = '2005-01-04' WHERE se_t_id = {trade}",
        "UPDATE settlement SET se_cash_due_date = '2005-01-05' WHERE se_t_id = {trade}",
    ),
    damage(
        "cash-transactions",
        "trade {trade}",
        "UPDATE cash_transaction SET ct_amt = ct_amt + 2 WHERE ct_t_id = {trade}",
        "UPDATE cash_transaction SET ct_amt = ct_amt - 2 WHERE ct_t_id = {trade}",
    ),
    damage(
        "trade-histories",
        "trade {trade}",
        "INSERT INTO trade_history VALUES ({trade}, 0, 'CNCL')",
        "DELETE FROM trade_history WHERE th_st_id = 'CNCL'",
    ),
    damage(
        "trade-states",
        "trade {trade}",
        "UPDATE trade_history SET th_dts = th_dts - 1 WHERE th_t_id = {trade} AND th_st_id = 'CMPT'",
        "UPDATE trade_history SET th_dts = th_dts + 1 WHERE th_t_id = {trade} AND th_st_id = 'CMPT'",
    ),
    damage(
        "trade-states",
        "trade {trade}",
        "UPDATE trade_history SET th_dts = th_dts + 60000000 WHERE th_t_id = {trade} AND th_st_id = 'SBMT'",
        "UPDATE trade_history SET th_dts = th_dts - 60000000 WHERE th_t_id = {trade} AND th_st_id = 'SBMT'",
    ),
    damage(
        "trade-requests",
        "trade {trade}",
        "INSERT INTO trade_request VALUES ({trade}, 'TLB', '{symbol}', 100, 1234, 4300000001)",
        "DELETE FROM trade_request",
    ),
    damage(
        "request-terms",
        "trade {trade}",
        "INSERT INTO trade_request VALUES ({trade}, 'TLB', '{symbol}', 100, 1234, 4300000001)",
        "DELETE FROM trade_request",
    ),
    damage(
        "trade-prices",
        "trade {limit}",
        "UPDATE trade SET t_bid_price = t_bid_price - 1500 WHERE t_id = {limit}",
        "UPDATE trade SET t_bid_price = t_bid_price + 1500 WHERE t_id = {limit}",
    ),
    damage(
        "trade-costs",
        "trade {trade}",
        "UPDATE trade SET t_comm = t_comm + 1 WHERE t_id = {trade}",
        "UPDATE trade SET t_comm = t_comm - 1 WHERE t_id = {trade}",
    ),
    damage(
        "last-trades",
        "security ",
        "UPDATE last_trade SET lt_price = lt_price + 5000 WHERE lt_s_symb = '{symbol}'",
        "UPDATE last_trade SET lt_price = lt_price - 5000 WHERE lt_s_symb = '{symbol}'",
    ),
    damage(
        "trade-references",
        "id 7",
        "UPDATE cash_transaction SET ct_t_id = 7 WHERE ct_t_id = {trade}",
        "UPDATE cash_transaction SET ct_t_id = {trade} WHERE ct_t_id = 7",
    ),
    damage(
        "customer-references",
        "id 4300000001",
        "UPDATE customer SET c_ad_id = c_ad_id - 4000000000 WHERE c_id = 4300000001",
        "UPDATE customer SET c_ad_id = c_ad_id + 4000000000 WHERE c_id = 4300000001",
    ),
    damage(
        "market-references",
        "id 4300000001",
        "UPDATE news_xref SET nx_co_id = 7 WHERE nx_ni_id = 4300000001",
        "UPDATE news_xref SET nx_co_id = 4300000001 WHERE nx_ni_id = 4300000001",
    ),
    damage(
        "owners",
        "account 43000000001",
        "UPDATE account_permission SET ap_tax_id = CONCAT('x', ap_tax_id) WHERE ap_ca_id = 43000000001",
        "UPDATE account_permission SET ap_tax_id = SUBSTR(ap_tax_id, 2) WHERE ap_ca_id = 43000000001",
    ),
    damage(
        "cardinalities",
        "watch_list has 1001 rows instead of 1000",
        "INSERT INTO watch_list VALUES (7, 4300000001)",
        "DELETE FROM watch_list WHERE wl_id = 7",
    ),
    damage(
        "status_type",
        "instead of",
        "UPDATE status_type SET st_name = 'active' WHERE st_id = 'ACTV'",
        "UPDATE status_type SET st_name = 'Active' WHERE st_id = 'ACTV'",
    ),
    damage(
        "zip_code",
        "instead of",
        "UPDATE zip_code SET zc_div = 'XY' WHERE zc_code = '01001'",
        "UPDATE zip_code SET zc_div = 'AK' WHERE zc_code = '01001'",
    ),
    damage(
        "sector",
        "instead of",
        "UPDATE sector SET sc_name = 'energy' WHERE sc_id = 'EN'",
        "UPDATE sector SET sc_name = 'Energy' WHERE sc_id = 'EN'",
    ),
    damage(
        "industry",
        "instead of",
        "UPDATE industry SET in_sc_id = 'EN' WHERE in_name = 'Toys'",
        "UPDATE industry SET in_sc_id = 'CC' WHERE in_name = 'Toys'",
    ),
    damage(
        "charge",
        "instead of",
        "UPDATE charge SET ch_chrg = ch_chrg + 1",
        "UPDATE charge SET ch_chrg = ch_chrg - 1",
    ),
    damage(
        "trade_type",
        "instead of",
        "UPDATE trade_type SET tt_name = 'limit-buy' WHERE tt_id = 'TLB'",
        "UPDATE trade_type SET tt_name = 'Limit-Buy' WHERE tt_id = 'TLB'",
    ),
    damage(
        "commission_rate",
        "instead of",
        "UPDATE commission_rate SET cr_rate = cr_rate + 1 WHERE cr_from_qty = 2001",
        "UPDATE commission_rate SET cr_rate = cr_rate - 1 WHERE cr_from_qty = 2001",
    ),
    damage(
        "answers",
        "trade {stop}",
        "UPDATE trade SET t_st_id = 'SBMT' WHERE t_id = {stop}",
        "UPDATE trade SET t_st_id = 'CMPT' WHERE t_id = {stop}",
    ),
    damage(
        "answers",
        "trade {limit_sell}",
        "UPDATE trade SET t_st_id = 'PNDG' WHERE t_id = {limit_sell}",
        "UPDATE trade SET t_st_id = 'CMPT' WHERE t_id = {limit_sell}",
    ),
];

pub fn load_and_find_each_violation(database: &Database) {
    let workload = workload();
    let mut admin = database.admin();
    load(database, &workload, admin.as_mut(), PARTS_OF_PRICES);
    let before = workload.state(admin.as_mut()).unwrap();
    assert_eq!((before["trades"], before["completed"], before["brokered"]), (7_200, 7_200, 7_200));
    wrong_rows_are_refused(admin.as_mut());
    admin.script(without_references(database.dialect())).unwrap();
    let check = |admin: &mut dyn Admin| workload.check(admin, database.dialect(), Moment::AfterTrial).unwrap();
    let sound = check(admin.as_mut());
    let violated: Vec<_> = sound.iter().filter(|finding| finding.is_violated()).collect();
    assert_eq!(violated.len(), 1, "{violated:#?}");
    assert_eq!(seen_by(&sound, "brokerage/cardinalities"), "daily_market has 16965 rows instead of 893925");

    let values = values(admin.as_mut());
    let filled = |text: &str| values.iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, value));
    for round in 0..ROUNDS {
        let damages = || DAMAGES.iter().skip(round).step_by(ROUNDS);
        damages().for_each(|damage| admin.script(&filled(damage.harm)).unwrap());
        let findings = check(admin.as_mut());
        for damage in damages() {
            let seen = seen_by(&findings, &format!("brokerage/{}", damage.condition));
            assert!(seen.contains(&filled(damage.key)), "{} after {}: {seen}", damage.condition, filled(damage.harm));
        }
        damages().for_each(|damage| admin.script(&filled(damage.repair)).unwrap());
    }
    assert_eq!(check(admin.as_mut()), sound);
    assert_eq!(workload.state(admin.as_mut()).unwrap(), before);
    let damaged: BTreeSet<String> = DAMAGES.iter().map(|damage| format!("brokerage/{}", damage.condition)).collect();
    assert_eq!(damaged, sound.iter().map(|finding| finding.name.clone()).collect(), "conditions that were violated");
}

/// Every engine enforces keys, references and conditions on columns.
fn wrong_rows_are_refused(admin: &mut dyn Admin) {
    for wrong in [
        "INSERT INTO sector VALUES ('EN', 'Energy')",
        "INSERT INTO watch_list VALUES (7, 7)",
        "UPDATE trade SET t_s_symb = 'none' WHERE t_id = 200000000000001",
        "DELETE FROM holding_summary WHERE hs_ca_id = (SELECT MIN(h_ca_id) FROM holding)",
        "UPDATE trade SET t_qty = 0 WHERE t_id = 200000000000001",
        "UPDATE customer SET c_tier = 4 WHERE c_id = 4300000001",
    ] {
        assert!(admin.script(wrong).is_err(), "{wrong}");
    }
}

/// References are enforced, so they cannot be damaged otherwise.
fn without_references(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "PRAGMA foreign_keys = OFF",
        Dialect::Postgres => "SET session_replication_role = replica",
        Dialect::Mysql => "SET foreign_key_checks = 0",
    }
}

/// What stands for the words in braces.
fn values(admin: &mut dyn Admin) -> Vec<(&'static str, String)> {
    let mut asked = |query: &str, mark| {
        let mut found = String::new();
        admin
            .scan(query, &mut |set, row| {
                found = set.integer(row, 0).map_or_else(|_| set.text(row, 0).unwrap().to_owned(), |id| id.to_string());
            })
            .unwrap();
        (mark, found)
    };
    let lot = "FROM holding ORDER BY h_t_id LIMIT 1";
    vec![
        asked("SELECT MIN(t_id) FROM trade WHERE t_tt_id = 'TMB' AND t_is_cash = 1", "{trade}"),
        asked("SELECT MIN(t_id) FROM trade WHERE t_tt_id = 'TLB'", "{limit}"),
        asked("SELECT MIN(t_id) FROM trade WHERE t_tt_id = 'TSL'", "{stop}"),
        asked("SELECT MIN(t_id) FROM trade WHERE t_tt_id = 'TLS'", "{limit_sell}"),
        asked(&format!("SELECT h_t_id {lot}"), "{lot}"),
        asked(&format!("SELECT h_ca_id {lot}"), "{account}"),
        asked(&format!("SELECT h_s_symb {lot}"), "{symbol}"),
        asked(&format!("SELECT h_qty {lot}"), "{quantity}"),
    ]
}

fn seen_by(findings: &[CheckResult], name: &str) -> String {
    let finding = findings.iter().find(|finding| finding.name == name).unwrap();
    match &finding.verdict {
        Verdict::Violated { seen } => seen.clone(),
        other => panic!("{name}: {other:?}"),
    }
}
