//! Decision support from an empty database to checked answers, both phases, and conditions that can fail.

mod damages;
mod evaluation;

use crate::database::Database;
use crate::loaded;
use crate::running::{self, Told};
use damages::each_condition_finds_its_violation;
use engines::limit::ReplyLimit;
use engines::rows::RowSink;
use engines::session::{Date, Decimal};
use evaluation::{Rows, figures, is_equal};
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;
use tpchgen::generators::{Order, OrderGenerator};
use workloads::checksum::{self, ChecksumRows};
use workloads::dataset::Dataset;
use workloads::decision_support::answers::QuestionAnswer;
use workloads::decision_support_h::{DataScale, DecisionSupportH, DecisionSupportHSettings};

const SCALE: f64 = 0.01;
const STREAMS: u32 = 2;
/// More than any stream does.
const ALL: u32 = 100;
/// The actors.
const POWER: u16 = 0;
const QUERIES: u16 = 1;
const REFRESH: u16 = 2;

pub fn everything_holds(database: &Database) {
    let workload = DecisionSupportH::new(DecisionSupportHSettings::plain(DataScale::of(SCALE).unwrap())).unwrap();
    load(database, &workload);
    answers_are_right(database, &workload);
    let check = |moment| workload.check(database.admin().as_mut(), database.dialect(), moment).unwrap();
    all_hold(&check(Moment::AfterLoad));
    let before = workload.state(database.admin().as_mut()).unwrap();
    let power = running::run_actor(database, &workload, POWER, 0..1, ALL);
    assert_eq!(of_answers(&power), ANSWERS, "the answers of the power phase");
    a_set_has_come_and_one_has_gone(database, &workload);
    let queries = running::run_actor(database, &workload, QUERIES, 0..STREAMS, ALL);
    let refresh = running::run_actor(database, &workload, REFRESH, 0..1, ALL);
    let after = workload.state(database.admin().as_mut()).unwrap();
    let totals = KindTotals::summed(power.0.iter().chain(&queries.0).chain(&refresh.0));
    all_hold(&workload.reconcile(&before, &after, &totals));
    all_hold(&workload.audit(&totals, &power.1, 0));
    all_hold(&check(Moment::AfterTrial));
    what_is_missing_is_found(&workload, &before, &after, totals);
    each_condition_finds_its_violation(database, &workload);
}

/// What is loaded on every engine.
const LOADED: &str = "420d49bae809e4ba";

/// Tables are loaded before those that they refer to, as parallel loading may.
fn load(database: &Database, workload: &DecisionSupportH) {
    let mut admin = database.admin();
    admin.script(&workload.schema(database.dialect())).unwrap();
    loaded::in_parts(database, workload, workload.tables().iter().rev());
    workload.finish_over(admin.as_mut(), database.dialect()).unwrap();
    admin.settle().unwrap();
    loaded::are_as_made(database, workload, workload.tables(), LOADED);
}

/// Every engine gives the answers that plain loops over the rows give, cell by cell and in this order.
fn answers_are_right(database: &Database, workload: &DecisionSupportH) {
    let (rows, mut admin) = (Rows::at(SCALE, 1), database.admin());
    for question in 1..=22 {
        let expected = rows.answer(question);
        let asked = workload.validation(question, database.dialect()).unwrap().remove(0);
        let (name, mut answer, mut place) = (asked.name, QuestionAnswer::to(&asked), 0);
        admin
            .ask(&asked.text, ReplyLimit::WORK, &mut |set, row| {
                let cells = &expected[place];
                assert_eq!(set.columns(), cells.len(), "{name}");
                for (column, cell) in cells.iter().enumerate() {
                    let found = set.value(row, column);
                    assert!(is_equal(cell, set, row, column), "{name}, row {place}: {found:?} is not {cell:?}");
                }
                answer.add(set, row).unwrap();
                place += 1;
            })
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = answer.figures().unwrap();
        assert_eq!((found.rows, found.sum), figures(&expected), "{name}");
    }
}

/// The counters of the power phase, which are the same on every engine.
const ANSWERS: &str = "d1195fb38b8e719e";

fn of_answers((_, tally): &Told) -> String {
    assert_eq!(tally.len(), 23, "the rows of all answers, and a checksum for each question");
    format!("{:016x}", tally.values().fold(0, |sum: u64, value| sum.rotate_left(7) ^ value))
}

/// The keys of the first refresh set at this scale: of old orders and of new ones.
fn is_old(key: i64) -> bool {
    (1..=7).contains(&key) || (32..=39).contains(&key)
}

const NEW: [i64; 15] = [9, 10, 11, 12, 13, 14, 15, 40, 41, 42, 43, 44, 45, 46, 47];

fn a_set_has_come_and_one_has_gone(database: &Database, workload: &DecisionSupportH) {
    let mut expected = ChecksumRows::default();
    let mut put = |order: &Order<'_>, key: i64| {
        expected.integer(key);
        expected.integer(order.o_custkey);
        expected.text(order.o_orderstatus.as_str());
        expected.decimal(Decimal::new(order.o_totalprice.0.into(), 2));
        expected.date(Date::from_days(order.o_orderdate.to_unix_epoch()).unwrap());
        expected.text(order.o_orderpriority);
        expected.text(&order.o_clerk.to_string());
        expected.integer(order.o_shippriority.into());
        expected.text(order.o_comment);
        expected.end_row();
    };
    for order in OrderGenerator::new(SCALE, 1, 1).iter().filter(|order| !is_old(order.o_orderkey)) {
        put(&order, order.o_orderkey);
    }
    for (order, key) in OrderGenerator::new(SCALE, 1_001, 1_000).iter().zip(NEW) {
        put(&order, key);
    }
    let orders = workload.tables().iter().find(|table| table.name == "orders").unwrap();
    assert_eq!(checksum::stored(database.admin().as_mut(), orders).unwrap(), expected.checksum());
}

fn what_is_missing_is_found(
    workload: &DecisionSupportH,
    before: &BTreeMap<String, i64>,
    after: &BTreeMap<String, i64>,
    mut totals: Vec<KindTotals>,
) {
    for (kind, found) in [("h05", "answered"), ("new-sales", "refreshed")] {
        let of_kind = totals.iter_mut().find(|totals| totals.kind == kind).unwrap();
        of_kind.committed -= 1;
        let findings = workload.audit(&totals, &BTreeMap::new(), 0);
        let told = findings.iter().rfind(|finding| !matches!(finding.verdict, Verdict::Holds { .. })).unwrap();
        let expected = (&*format!("decision-support-h/{found}"), found == "refreshed");
        assert_eq!((&*told.name, told.is_violated()), expected);
    }
    let findings = workload.reconcile(before, after, &totals);
    let names = ["acknowledged-orders", "acknowledged-new-sales"].map(|name| format!("decision-support-h/{name}"));
    assert_eq!(violated(&findings), names);
}

pub fn violated(findings: &[CheckResult]) -> Vec<String> {
    findings.iter().filter(|finding| finding.is_violated()).map(|finding| finding.name.clone()).collect()
}

pub fn all_hold(findings: &[CheckResult]) {
    let violated: Vec<_> = findings.iter().filter(|finding| finding.is_violated()).collect();
    assert!(violated.is_empty(), "{violated:#?}");
}
