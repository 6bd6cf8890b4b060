//! Whether the operations of the measured window follow the settings.

use super::finding;
use super::inputs::Operation;
use super::settings::Settings;
use super::tally::Counter;
use crate::share::AllowedShare;
use record::check::{CheckResult, Moment, Verdict};
use record::trial::KindTotals;
use std::collections::BTreeMap;

const PERCENT: f64 = 100.0;

/// What was executed: operations by kind, and the counters.
struct Executed<'a> {
    kinds: &'a [KindTotals],
    tally: &'a BTreeMap<String, u64>,
}

impl Executed<'_> {
    fn operations(&self, operation: Operation) -> u64 {
        self.kinds.iter().filter(|totals| totals.kind == operation.name()).map(|totals| totals.committed).sum()
    }

    fn counted(&self, counter: Counter) -> u64 {
        self.tally.get(counter.name()).copied().unwrap_or(0)
    }
}

pub fn audit(settings: &Settings, kinds: &[KindTotals], tally: &BTreeMap<String, u64>) -> Vec<CheckResult> {
    let executed = Executed { kinds, tally };
    let mut findings = widths(settings, &executed);
    findings.extend(quotas(settings, &executed));
    findings.extend(shares(settings, &executed));
    if settings.do_hotspot {
        findings.push(hot_spot_inside(&executed));
    }
    findings
}

/// Every operation went through exactly its number of rows.
fn widths(settings: &Settings, executed: &Executed<'_>) -> Vec<CheckResult> {
    let range = u64::from(settings.rows_per_range());
    let scan = u64::from(settings.scan_table_sz);
    [
        ("rows-per-read", "Every read finds work_unit - 1 rows.", (Operation::Read, Counter::BlocksRead, range)),
        (
            "rows-per-update",
            "Every update changes work_unit - 1 rows.",
            (Operation::Update, Counter::BlocksUpdated, range),
        ),
        ("rows-per-scan", "Every scan finds all rows of its table.", (Operation::Scan, Counter::BlocksScanned, scan)),
    ]
    .into_iter()
    .map(|(name, rule, (operation, counter, each))| {
        let (operations, rows) = (executed.operations(operation), executed.counted(counter));
        let seen = format!("{rows} rows in {operations} operations of {each}");
        audited(name, rule, exact(rows, operations * each, operations, seen))
    })
    .collect()
}

/// Every hundred that a client completed had exactly its share.
fn quotas(settings: &Settings, executed: &Executed<'_>) -> Vec<CheckResult> {
    [
        (
            "update-quota",
            "Of every hundred operations of a client, update_pct are updates.",
            (Counter::UpdatesInHundreds, Counter::Hundreds, settings.update_pct),
        ),
        (
            "scan-quota",
            "Of every hundred selects of a client, scan_pct are scans.",
            (Counter::ScansInHundreds, Counter::HundredsOfSelects, settings.scan_pct),
        ),
    ]
    .into_iter()
    .map(|(name, rule, (counter, hundreds, quota))| {
        let (found, hundreds) = (executed.counted(counter), executed.counted(hundreds));
        let seen = format!("{found} in {hundreds} hundreds, {quota} in each");
        audited(name, rule, exact(found, hundreds * u64::from(quota), hundreds, seen))
    })
    .collect()
}

fn exact(found: u64, expected: u64, of: u64, seen: String) -> Verdict {
    match of {
        0 => Verdict::Undecided { why: "there were none".to_owned() },
        _ if found == expected => Verdict::Holds { seen: Some(seen) },
        _ => Verdict::Violated { seen: format!("{seen}: {expected} expected") },
    }
}

/// Shares of everything executed. The window cuts hundreds and rhythms at its ends, so chance is allowed for.
fn shares(settings: &Settings, executed: &Executed<'_>) -> Vec<CheckResult> {
    let [reads, updates, scans] =
        [Operation::Read, Operation::Update, Operation::Scan].map(|operation| executed.operations(operation));
    let all = reads + updates + scans;
    let update_share = AllowedShare::exactly(f64::from(settings.update_pct) / PERCENT);
    let rule = "update_pct per cent of the operations are updates.";
    let mut findings = vec![audited("update-share", rule, update_share.judge(updates, all))];
    let scan_share = AllowedShare::exactly(f64::from(settings.scan_pct) / PERCENT);
    let rule = "scan_pct per cent of the selects are scans.";
    findings.push(audited("scan-share", rule, scan_share.judge(scans, reads + scans)));
    if settings.do_hotspot {
        let hot = AllowedShare::exactly(1.0 / settings.hotspot_frequency as f64);
        let rule = "One read or update in hotspot_frequency goes to the hot spot.";
        let verdict = hot.judge(executed.counted(Counter::HotSpotOperations), reads + updates);
        findings.push(audited("hot-spot-share", rule, verdict));
    }
    if settings.hot_schema_frequency > 0 {
        let hot = AllowedShare::exactly(1.0 / settings.hot_schema_frequency as f64);
        let rule = "One operation in hot_schema_frequency goes to the first schema.";
        let verdict = hot.judge(executed.counted(Counter::HotSchemaOperations), all);
        findings.push(audited("hot-schema-share", rule, verdict));
    }
    if settings.think_tm_frequency > 0 {
        let thoughtful = AllowedShare::exactly(1.0 / settings.think_tm_frequency as f64);
        let rule = "One operation in think_tm_frequency is followed by a pause.";
        findings.push(audited("think-share", rule, thoughtful.judge(executed.counted(Counter::Thoughts), all)));
    }
    findings
}

fn hot_spot_inside(executed: &Executed<'_>) -> CheckResult {
    let (inside, hot) = (executed.counted(Counter::HotSpotInside), executed.counted(Counter::HotSpotOperations));
    let rule = "Operations for the hot spot stay within it.";
    audited("hot-spot-inside", rule, exact(inside, hot, hot, format!("{inside} of {hot} inside")))
}

fn audited(name: &str, rule: &str, verdict: Verdict) -> CheckResult {
    finding(name, rule, Moment::AfterTrial, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settings() -> Settings {
        let table = json!({
            "update_pct": 20, "scan_pct": 10, "do_hotspot": true, "hotspot_frequency": 4, "hot_schema_frequency": 5,
            "schemas": 2, "think_tm_frequency": 10, "work_unit": 11, "scan_table_sz": 50,
        });
        ::settings::read(table.as_object().unwrap(), super::super::settings::KEYS).unwrap()
    }

    const RIGHT: [u64; 3] = [72_000, 20_000, 8_000];
    const TALLY: [(Counter, u64); 11] = [
        (Counter::BlocksRead, 720_000),
        (Counter::BlocksUpdated, 200_000),
        (Counter::BlocksScanned, 400_000),
        (Counter::Hundreds, 990),
        (Counter::UpdatesInHundreds, 19_800),
        (Counter::HundredsOfSelects, 790),
        (Counter::ScansInHundreds, 7_900),
        (Counter::HotSpotOperations, 23_000),
        (Counter::HotSpotInside, 23_000),
        (Counter::HotSchemaOperations, 20_000),
        (Counter::Thoughts, 10_000),
    ];

    fn audited(counts: [u64; 3], tally: &[(Counter, u64)]) -> Vec<CheckResult> {
        let of =
            |(kind, committed): (&&str, _)| KindTotals { kind: (*kind).to_owned(), committed, ..KindTotals::default() };
        let kinds: Vec<KindTotals> = Operation::NAMES.iter().zip(counts).map(of).collect();
        let tally = tally.iter().map(|(counter, value)| (counter.name().to_owned(), *value)).collect();
        audit(&settings(), &kinds, &tally)
    }

    fn violated(counts: [u64; 3], tally: &[(Counter, u64)]) -> Vec<String> {
        let violated = audited(counts, tally).into_iter().filter(CheckResult::is_violated);
        violated.map(|finding| finding.name.replace("slob/", "")).collect()
    }

    #[test]
    fn what_is_right_passes() {
        let findings = audited(RIGHT, &TALLY);
        assert_eq!(findings.len(), 11);
        assert!(findings.iter().all(|finding| matches!(finding.verdict, Verdict::Holds { .. })), "{findings:#?}");
    }

    #[test]
    fn every_rule_can_be_violated() {
        for (counter, value, name) in [
            (Counter::BlocksRead, 719_999, "rows-per-read"),
            (Counter::BlocksUpdated, 200_001, "rows-per-update"),
            (Counter::BlocksScanned, 399_950, "rows-per-scan"),
            (Counter::UpdatesInHundreds, 19_801, "update-quota"),
            (Counter::ScansInHundreds, 7_899, "scan-quota"),
            (Counter::HotSpotInside, 22_999, "hot-spot-inside"),
            (Counter::HotSchemaOperations, 21_000, "hot-schema-share"),
            (Counter::Thoughts, 9_000, "think-share"),
        ] {
            let mut tally = TALLY;
            tally.iter_mut().find(|(known, _)| *known == counter).unwrap().1 = value;
            assert_eq!(violated(RIGHT, &tally), [name], "{counter:?} {value}");
        }
        let hot = [(Counter::HotSpotOperations, 25_000), (Counter::HotSpotInside, 25_000)];
        let tally: Vec<_> = TALLY.into_iter().filter(|(known, _)| hot.iter().all(|(hot, _)| hot != known)).collect();
        assert_eq!(violated(RIGHT, &[tally.as_slice(), &hot].concat()), ["hot-spot-share"]);
        let mut tally = TALLY;
        (tally[0].1, tally[1].1) = (700_000, 220_000);
        assert_eq!(violated([70_000, 22_000, 8_000], &tally), ["update-share"]);
        let mut tally = TALLY;
        (tally[0].1, tally[2].1) = (710_000, 450_000);
        assert_eq!(violated([71_000, 20_000, 9_000], &tally), ["scan-share"]);
    }

    #[test]
    fn nothing_is_decided_from_nothing() {
        let undecided = |finding: &CheckResult| matches!(finding.verdict, Verdict::Undecided { .. });
        assert!(audited([0; 3], &[]).iter().all(undecided));
    }
}
