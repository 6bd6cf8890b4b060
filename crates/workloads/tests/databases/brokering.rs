//! The transactions of the brokerage workload with a market that answers: what they leave, alone and at the same time, and
//! faults that the checks find.

use crate::brokerage::load;
use crate::database::Database;
use crate::playing::{Score, play};
use crate::running::Told;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment, Verdict};
use serde_json::json;
use std::time::Duration;
use workloads::brokerage::Brokerage;
use workloads::checksum;
use workloads::dataset::{DataTable, Dataset};
use workloads::receipts::{self, WithReceipts};

const BY_ONE: Score = Score { player: 40, transactions: 600, every: Duration::from_secs(1), to_the_end: true };
/// What both ways leave of one player each, on every engine.
const LEFT_BY_ONE: &str = "c4c28917b6635629";
/// Two play the same, so that they meet at the same accounts and securities.
const PLAYERS: [u32; 4] = [1, 1, 2, 3];
const AT_THE_SAME_TIME: Score =
    Score { player: 0, transactions: 600, every: Duration::from_secs(2), to_the_end: false };
/// So few transactions of some kinds cannot be judged. Five days of trading are too few for trade-status.
const UNDECIDED: [&str; 6] = [
    "detail-item",
    "order-rolled-back",
    "response-market-feed",
    "response-trade-update",
    "load-units",
    "enough-trades",
];

fn workload(statements: &str) -> Brokerage {
    let table = json!({
        "initial_trade_days": 5, "scale_factor": 20_000, "news_bytes": 300, "statements": statements
    });
    Brokerage::from_table(table.as_object().unwrap()).unwrap()
}

pub fn play_and_check(database: &Database) {
    let (plain, pipelined) = (workload("plain"), workload("pipelined"));
    let mut admin = database.admin();
    load(database, &plain, admin.as_mut(), 1);
    all_hold(&plain.check(admin.as_mut(), database.dialect(), Moment::AfterLoad).unwrap());
    for (way, player) in [(&plain, BY_ONE.player), (&pipelined, BY_ONE.player + 1)] {
        played(database, way, admin.as_mut(), &[Score { player, ..BY_ONE }]);
    }
    assert_eq!(left(admin.as_mut()), LEFT_BY_ONE);
    attempts_do_nothing_twice(database, &plain, admin.as_mut());
    // Shares are of what clients ask for, which no engine changes.
    let (of_both, judged) = if database.dialect() == Dialect::Sqlite { (600, Some(UNDECIDED)) } else { (100, None) };
    for (way, transactions, undecided) in [(&plain, 100, None), (&pipelined, of_both, judged)] {
        let waiting = count(admin.as_mut(), "SELECT COUNT(*) FROM trade WHERE t_st_id IN ('PNDG', 'SBMT')");
        let scores = PLAYERS.map(|player| Score { player, transactions, ..AT_THE_SAME_TIME });
        let (totals, tally) = played(database, way, admin.as_mut(), &scores);
        assert_eq!(tally["trades_canceled"], waiting.unsigned_abs(), "nobody executes what was left over");
        all_hold(&way.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap());
        // Each player has markets of its own, which keep back tickers that are not full.
        let audit = way.audit(&totals, &tally, 4 * PLAYERS.len() as u64);
        all_hold(&audit);
        let Some(expected) = undecided else { continue };
        let undecided: Vec<_> = audit
            .iter()
            .filter(|finding| matches!(finding.verdict, Verdict::Undecided { .. }))
            .map(|finding| finding.name.trim_start_matches("brokerage/"))
            .collect();
        assert_eq!(undecided, expected);
    }
    faults_are_told(&plain, database, admin.as_mut());
}

/// Plays and compares what was acknowledged with what there is.
fn played(database: &Database, workload: &Brokerage, admin: &mut dyn Admin, scores: &[Score]) -> Told {
    let before = workload.state(admin).unwrap();
    let told = play(database, workload, scores);
    all_hold(&workload.reconcile(&before, &workload.state(admin).unwrap(), &told.0));
    told
}

/// If the database gives a result up, it is tried again, and only what is committed leaves a receipt. SQLite has no error that a
/// trigger could raise for it.
fn attempts_do_nothing_twice(database: &Database, workload: &Brokerage, admin: &mut dyn Admin) {
    let giving_up = match database.dialect() {
        Dialect::Sqlite => None,
        Dialect::Postgres => Some((
            "CREATE FUNCTION give_up() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN \
             IF random() < 0.3 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; RETURN NEW; END$$; \
             CREATE TRIGGER give_up BEFORE INSERT ON settlement FOR EACH ROW EXECUTE FUNCTION give_up()",
            "DROP TRIGGER give_up ON settlement; DROP FUNCTION give_up",
        )),
        Dialect::Mysql => Some((
            "CREATE TRIGGER give_up BEFORE INSERT ON settlement FOR EACH ROW BEGIN IF RAND() < 0.3 THEN \
             SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213; END IF; END",
            "DROP TRIGGER give_up",
        )),
    };
    admin.script(receipts::SCHEMA).unwrap();
    if let Some((begin, _)) = giving_up {
        admin.script(begin).unwrap();
    }
    let before = workload.state(admin).unwrap();
    let with_receipts = WithReceipts::new(workload, database.dialect(), Some(1));
    let (totals, _) = play(database, &with_receipts, &[BY_ONE]);
    if let Some((_, end)) = giving_up {
        admin.script(end).unwrap();
    }
    all_hold(&workload.reconcile(&before, &workload.state(admin).unwrap(), &totals));
    all_hold(&workload.check(admin, database.dialect(), Moment::AfterTrial).unwrap());
    let of = |kind: &str| totals.iter().find(|totals| totals.kind == kind).unwrap().committed;
    assert!(of("trade-result") > 0 && of("market-feed") > 0 && of("data-maintenance") > 0, "{totals:?}");
    let committed: u64 = totals.iter().map(|totals| totals.committed).sum();
    assert_eq!(count(admin, "SELECT COUNT(DISTINCT number) FROM bakeoff_receipts").unsigned_abs(), committed);
    assert_eq!(count(admin, "SELECT COUNT(*) FROM bakeoff_receipts").unsigned_abs(), committed);
}

/// An order that the market never answers, and a payment that nobody acknowledged.
fn faults_are_told(workload: &Brokerage, database: &Database, admin: &mut dyn Admin) {
    let hurried = Score { transactions: 150, every: Duration::from_millis(5), to_the_end: false, ..BY_ONE };
    played(database, workload, admin, &[hurried]);
    all_hold(&workload.check(admin, database.dialect(), Moment::AfterTrial).unwrap());
    let before = workload.state(admin).unwrap();
    admin
        .script(
            "UPDATE trade_history SET th_dts = th_dts - 3600000000 \
             WHERE th_t_id IN (SELECT t_id FROM trade WHERE t_st_id = 'SBMT'); \
             UPDATE trade SET t_dts = t_dts - 3600000000 WHERE t_st_id = 'SBMT'",
        )
        .unwrap();
    let findings = workload.check(admin, database.dialect(), Moment::AfterTrial).unwrap();
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert_eq!(violated.len(), 1, "{violated:#?}");
    assert_eq!(violated[0].name, "brokerage/answers");
    admin.script("UPDATE broker SET b_num_trades = b_num_trades + 1 WHERE b_id = 4300000001").unwrap();
    admin.script("UPDATE customer_account SET ca_bal = ca_bal + 1 WHERE ca_id = 43000000001").unwrap();
    let findings = workload.reconcile(&before, &workload.state(admin).unwrap(), &[]);
    let violated: Vec<_> =
        findings.iter().filter(|finding| finding.is_violated()).map(|finding| &finding.name).collect();
    assert_eq!(violated, ["brokerage/brokered-results", "brokerage/balances-follow"]);
}

fn all_hold(findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}

/// All that transactions change, but for ids of trades, which have gaps on some engines, and times.
fn left(admin: &mut dyn Admin) -> String {
    const COLUMNS: [(&str, &[&str]); 24] = [
        (
            "trade",
            &[
                "t_st_id",
                "t_tt_id",
                "t_is_cash",
                "t_s_symb",
                "t_qty",
                "t_bid_price",
                "t_ca_id",
                "t_exec_name",
                "t_trade_price",
                "t_chrg",
                "t_comm",
                "t_tax",
                "t_lifo",
            ],
        ),
        ("trade_history", &["th_st_id"]),
        ("trade_request", &["tr_tt_id", "tr_s_symb", "tr_qty", "tr_bid_price", "tr_b_id"]),
        ("settlement", &["se_cash_type", "se_amt"]),
        ("cash_transaction", &["ct_amt", "ct_name"]),
        ("holding_summary", &["hs_ca_id", "hs_s_symb", "hs_qty"]),
        ("holding", &["h_ca_id", "h_s_symb", "h_price", "h_qty"]),
        ("holding_history", &["hh_before_qty", "hh_after_qty"]),
        ("customer_account", &["ca_id", "ca_bal"]),
        ("broker", &["b_id", "b_num_trades", "b_comm_total"]),
        ("last_trade", &["lt_s_symb", "lt_price", "lt_vol"]),
        ("account_permission", &["ap_ca_id", "ap_acl", "ap_tax_id"]),
        ("address", &["ad_id", "ad_line2"]),
        ("company", &["co_id", "co_sp_rate"]),
        ("customer", &["c_id", "c_email_2"]),
        ("customer_taxrate", &["cx_c_id", "cx_tx_id"]),
        ("(SELECT dm_s_symb, SUM(dm_vol) AS volume FROM daily_market GROUP BY dm_s_symb) d", &["dm_s_symb", "volume"]),
        ("exchange", &["ex_id", "ex_num_symb"]),
        ("financial", &["fi_co_id", "fi_qtr_start_date"]),
        ("news_item", &["ni_id", "ni_dts"]),
        ("security", &["s_symb", "s_exch_date"]),
        ("taxrate", &["tx_id", "tx_name"]),
        ("watch_item", &["wi_wl_id", "wi_s_symb"]),
        ("watch_list", &["wl_id", "wl_c_id"]),
    ];
    let sum = COLUMNS.iter().fold(0, |sum: u64, (name, columns)| {
        let table = DataTable { name: (*name).into(), columns, key: &[] };
        sum.rotate_left(7) ^ checksum::stored(admin, &table).unwrap().sum
    });
    format!("{sum:016x}")
}

fn count(admin: &mut dyn Admin, query: &str) -> i64 {
    let mut found = None;
    admin.scan(query, &mut |set, row| found = Some(set.integer(row, 0).unwrap())).unwrap();
    found.unwrap()
}
