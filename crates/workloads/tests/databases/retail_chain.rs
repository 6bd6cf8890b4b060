//! Decision support of a retail chain from an empty database to checked answers, maintenance, and conditions that can fail.

use crate::database::Database;
use crate::decision_support::{all_hold, violated};
use crate::loaded;
use crate::running;
use engines::admin::Admin;
use engines::statement::Dialect;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use workloads::checksum;
use workloads::dataset::{Checksum, DataTable, Dataset, TablePart};
use workloads::decision_support_ds::{DataScale, DecisionSupportDs, DecisionSupportDsSettings};

const STREAMS: u32 = 2;
/// More than any stream does.
const ALL: u32 = 200;
/// The actors.
const POWER: u16 = 0;
const MAINTENANCE: u16 = 2;

static WORKLOAD: LazyLock<DecisionSupportDs> = LazyLock::new(|| {
    let settings = DecisionSupportDsSettings {
        streams: STREAMS,
        ..DecisionSupportDsSettings::plain(DataScale::of(0.01).unwrap())
    };
    DecisionSupportDs::new(settings).unwrap()
});

const LARGEST: &str = "customer_demographics";

/// All but the largest, of which every third row would take as long as all others.
fn compared() -> impl Iterator<Item = &'static DataTable> {
    WORKLOAD.tables().iter().filter(|table| table.name != LARGEST)
}

pub fn everything_holds(database: &Database) {
    load(database);
    let check = |moment| WORKLOAD.check(database.admin().as_mut(), database.dialect(), moment).unwrap();
    all_hold(&check(Moment::AfterLoad));
    let power = running::run_actor(database, &*WORKLOAD, POWER, 0..1, ALL);
    let answers = power.1.values().fold(0, |sum: u64, value| sum.rotate_left(7) ^ value);
    assert_eq!(answers, ANSWERS, "the answers of the power phase");
    let before = WORKLOAD.state(database.admin().as_mut()).unwrap();
    let maintenance: Vec<_> =
        (0..2).flat_map(|_| running::run_actor(database, &*WORKLOAD, MAINTENANCE, 0..1, ALL).0).collect();
    let after = WORKLOAD.state(database.admin().as_mut()).unwrap();
    assert_eq!(facts(database), FACTS);
    all_hold(&check(Moment::AfterTrial));
    let streams = power.0.iter().cycle().take(power.0.len() * (1 + 2 * STREAMS as usize));
    let totals = KindTotals::summed(streams.chain(&maintenance));
    all_hold(&WORKLOAD.reconcile(&before, &after, &totals));
    all_hold(&WORKLOAD.audit(&totals, &BTreeMap::new(), 0));
    what_is_missing_is_found(&before, &after, &totals);
    each_condition_finds_its_violation(database);
}

/// What is loaded on every engine.
const LOADED: &str = "5c19f90ac0d8ab18";

fn load(database: &Database) {
    let mut admin = database.admin();
    admin.script(&WORKLOAD.schema(database.dialect())).unwrap();
    if database.dialect() == Dialect::Postgres {
        loaded::in_parts(database, &*WORKLOAD, WORKLOAD.tables());
    } else {
        loaded::in_parts(database, &*WORKLOAD, compared());
        load_demographics(database, admin.as_mut());
    }
    WORKLOAD.finish_over(admin.as_mut(), database.dialect()).unwrap();
    admin.settle().unwrap();
    loaded::are_as_made(database, &*WORKLOAD, compared(), LOADED);
}

/// The largest table is as large at every scale, and making it takes longer than making all others. So all but one make it from
/// its first rows: it has all combinations, of which the number of dependents in college changes last, and before it that of
/// dependents with work. The answers show whether this is what the generator makes.
fn load_demographics(database: &Database, admin: &mut dyn Admin) {
    const WITHOUT_WORK: u32 = 39_200;
    const OUT_OF_COLLEGE: u32 = 7 * WITHOUT_WORK;
    let table = WORKLOAD.tables().iter().find(|table| table.name == LARGEST).unwrap();
    database.load(&*WORKLOAD, table, TablePart { index: 0, count: 48 });
    admin.script(&format!("DELETE FROM {LARGEST} WHERE cd_demo_sk > {WITHOUT_WORK}")).unwrap();
    for (first, counts) in [(WITHOUT_WORK, "{more}, 0"), (OUT_OF_COLLEGE, "cd_dep_employed_count, {more}")] {
        for more in 1..7 {
            let counts = counts.replace("{more}", &more.to_string());
            let rest = "cd_gender, cd_marital_status, cd_education_status, cd_purchase_estimate, cd_credit_rating, cd_dep_count";
            let insert = format!(
                "INSERT INTO {LARGEST} SELECT cd_demo_sk + {more} * {first}, {rest}, {counts} FROM {LARGEST} \
                 WHERE cd_demo_sk <= {first}"
            );
            admin.script(&insert).unwrap();
        }
    }
}

/// The counters of the power phase, which are the same on every engine.
const ANSWERS: u64 = 0xed91_71b1_5928_13e6;

/// Rows and checksums of the tables that refresh runs change, after two runs, which are the same on every engine.
const FACTS: [(&str, u64, u64); 7] = [
    ("store_sales", 120_416, 0xab55_7875_4656_3d7c),
    ("store_returns", 11_925, 0x7caa_da34_bab7_1665),
    ("catalog_sales", 89_782, 0x7934_ee0b_4b92_47f3),
    ("catalog_returns", 8930, 0x04ac_62fd_3c54_d610),
    ("web_sales", 11_830, 0xa7e1_3ec6_834d_d2ad),
    ("web_returns", 1148, 0xcdb2_6e86_13f9_5c55),
    ("inventory", 261_249, 0x4f3c_de8c_a845_34c0),
];

fn facts(database: &Database) -> [(&'static str, u64, u64); 7] {
    FACTS.map(|(name, _, _)| {
        let table = WORKLOAD.tables().iter().find(|table| table.name == name).unwrap();
        let Checksum { rows, sum } = checksum::stored(database.admin().as_mut(), table).unwrap();
        (name, rows, sum)
    })
}

fn what_is_missing_is_found(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>, totals: &[KindTotals]) {
    for (kind, found) in [("q14", "answered"), ("insert-web-sales", "maintained"), ("delete-store", "maintained")] {
        let mut totals = totals.to_vec();
        totals.iter_mut().find(|totals| totals.kind == kind).unwrap().committed -= 1;
        let findings = WORKLOAD.audit(&totals, &BTreeMap::new(), 0);
        let told = findings.iter().filter(|finding| !matches!(finding.verdict, Verdict::Holds { .. }));
        let told: Vec<_> = told.map(|finding| (&*finding.name, finding.is_violated())).collect();
        assert_eq!(told, [(&*format!("decision-support-ds/{found}"), found == "maintained")]);
        let moved = match kind {
            "insert-web-sales" => vec!["decision-support-ds/acknowledged-web-sales"],
            "delete-store" => vec!["decision-support-ds/acknowledged-sets"],
            _ => vec![],
        };
        assert_eq!(violated(&WORKLOAD.reconcile(before, after, &totals)), moved);
    }
}

/// A condition, what its finding must name, and how to violate it.
const DAMAGES: &[(&str, &str, &str)] = &[
    ("cardinalities", "promotion has 2 rows instead of 3", "DELETE FROM promotion WHERE p_promo_sk = 3"),
    ("income_band", "20 rows with checksum", "UPDATE income_band SET ib_upper_bound = 7 WHERE ib_income_band_sk = 1"),
    ("ship_mode", "20 rows with checksum", "UPDATE ship_mode SET sm_code = 'RAIL' WHERE sm_ship_mode_sk = 1"),
    ("reason", "75 rows with checksum", "UPDATE reason SET r_reason_desc = 'none' WHERE r_reason_sk = 35"),
    ("store", "2 rows with checksum", "UPDATE store SET s_city = 'Nowhere' WHERE s_store_sk = 1"),
    ("warehouse", "1 row with checksum", "UPDATE warehouse SET w_state = NULL WHERE w_warehouse_sk = 1"),
    ("new-sales", "catalog has", "UPDATE catalog_sales SET cs_order_number = 99999 WHERE cs_order_number = 1"),
    (
        "store-amounts",
        "order 2, item",
        "UPDATE store_sales SET ss_net_paid = ss_net_paid + 1 WHERE ss_ticket_number = 2",
    ),
    (
        "store-items",
        "order 3, item",
        "UPDATE store_sales SET ss_item_sk = ss_item_sk + 9000 WHERE ss_ticket_number = 3",
    ),
    (
        "store-returns",
        "order ",
        "UPDATE store_returns SET sr_return_tax = sr_return_tax + 1 WHERE sr_ticket_number < 20",
    ),
    ("catalog-amounts", "order 4, item", "UPDATE catalog_sales SET cs_coupon_amt = 9 WHERE cs_order_number = 4"),
    (
        "catalog-items",
        "order 5, item",
        "UPDATE catalog_sales SET cs_item_sk = cs_item_sk + 9000 WHERE cs_order_number = 5",
    ),
    ("catalog-returns", "order ", "UPDATE catalog_returns SET cr_return_quantity = 200 WHERE cr_order_number < 20"),
    ("web-amounts", "order 6, item", "UPDATE web_sales SET ws_net_paid_inc_ship = 0 WHERE ws_order_number = 6"),
    ("web-items", "order 7, item", "UPDATE web_sales SET ws_item_sk = ws_item_sk + 9000 WHERE ws_order_number = 7"),
    (
        "web-returns",
        "order 1000",
        "UPDATE web_returns SET wr_order_number = wr_order_number + 100000 WHERE wr_order_number < 20",
    ),
    (
        "inventory-days",
        "day 2450815, item 1, warehouse 1",
        "UPDATE inventory SET inv_quantity_on_hand = 1001 WHERE inv_date_sk = 2450815 AND inv_item_sk = 1",
    ),
    (
        "inventory-items",
        "day 2450822, item 1, warehouse 9",
        "UPDATE inventory SET inv_warehouse_sk = 9 WHERE inv_date_sk = 2450822 AND inv_item_sk = 1",
    ),
    ("item-histories", "item 2", "UPDATE item SET i_rec_end_date = NULL WHERE i_item_sk = 2"),
];

/// Violates all at once, which none of the others hides.
fn each_condition_finds_its_violation(database: &Database) {
    let mut admin = database.admin();
    for (_, _, harm) in DAMAGES {
        admin.script(harm).unwrap_or_else(|error| panic!("{harm}: {error}"));
    }
    let findings = WORKLOAD.check(admin.as_mut(), database.dialect(), Moment::AfterTrial).unwrap();
    assert_eq!(findings.len(), DAMAGES.len());
    for (condition, named, _) in DAMAGES {
        let of = |finding: &&CheckResult| finding.name == format!("decision-support-ds/{condition}");
        let found = findings.iter().find(of).unwrap_or_else(|| panic!("{condition} is not checked"));
        let Verdict::Violated { seen } = &found.verdict else { panic!("{condition} holds") };
        assert!(seen.contains(named), "{condition}: {seen}");
    }
}
