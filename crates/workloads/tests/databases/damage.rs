//! Conditions on data that can fail: each is violated, and its finding names what violates it.

use engines::admin::Admin;
use record::check::{CheckResult, Verdict};
use std::collections::BTreeSet;

/// A condition, how to violate it, and how to undo that.
pub struct Damage {
    condition: &'static str,
    /// What the finding must name.
    key: &'static str,
    harm: &'static str,
    repair: &'static str,
}

pub const fn damage(condition: &'static str, key: &'static str, harm: &'static str, repair: &'static str) -> Damage {
    Damage { condition, key, harm, repair }
}

/// Damages of one round are done together, so all are found by one check. None of them touches the condition of another, but
/// for rows that have other keys.
pub type Round = &'static [Damage];

/// Returns the names of the conditions that were never violated.
pub fn each_is_found(
    rounds: &[Round],
    admin: &mut dyn Admin,
    check: &dyn Fn(&mut dyn Admin) -> Vec<CheckResult>,
) -> BTreeSet<String> {
    let sound = check(admin);
    let mut never: BTreeSet<String> = sound.iter().map(|finding| short(finding).to_owned()).collect();
    for round in rounds {
        for damage in *round {
            admin.script(damage.harm).unwrap_or_else(|error| panic!("{}: {error}", damage.harm));
        }
        let findings = check(admin);
        for Damage { condition, key, harm, .. } in *round {
            let finding = findings.iter().find(|finding| short(finding) == *condition);
            match finding.map(|finding| &finding.verdict) {
                Some(Verdict::Violated { seen }) => assert!(seen.contains(key), "{condition} after {harm}: {seen}"),
                other => panic!("{condition} after {harm}: {other:?}"),
            }
            never.remove(*condition);
        }
        for damage in round.iter().rev() {
            admin.script(damage.repair).unwrap_or_else(|error| panic!("{}: {error}", damage.repair));
        }
    }
    assert_eq!(check(admin), sound, "all is repaired");
    never
}

/// Without the workload.
fn short(finding: &CheckResult) -> &str {
    finding.name.split_once('/').unwrap().1
}
