//! Whether the answer of a run may be used, decided by rule from its findings and verdicts.

use crate::cells::CellResult;
use crate::compare::{Comparison, Verdict};
use crate::consolidation::Consolidation;
use crate::findings::{Finding, Stamp};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usability {
    pub stamp: Stamp,
    /// Codes of the findings that decided, the worst first, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// Findings that the study accepts do not count.
pub fn of_run(
    findings: &[Finding],
    cells: &[CellResult],
    comparisons: &[Comparison],
    consolidation: &[Consolidation],
) -> Usability {
    let weights = findings.iter().filter(|one| one.accepted.is_none()).map(|one| (one.what.stamp(), one.what.code()));
    let worst = weights.clone().map(|(stamp, _)| stamp).max().unwrap_or_default();
    let stamp = if says_nothing(cells, comparisons, consolidation) { Stamp::NotUsable } else { worst };
    let mut because: Vec<String> = Vec::new();
    for (_, code) in weights.filter(|(own, _)| *own == worst && worst > Stamp::Usable) {
        if !because.iter().any(|known| known == code) {
            because.push(code.to_owned());
        }
    }
    Usability { stamp, because }
}

/// True if there is no estimate with an interval at all.
fn says_nothing(cells: &[CellResult], comparisons: &[Comparison], consolidation: &[Consolidation]) -> bool {
    // A single contender is not compared.
    if comparisons.is_empty() && consolidation.is_empty() {
        let has_interval = |cell: &CellResult| cell.throughput().is_some_and(|level| level.bounds.known().is_some());
        return !cells.iter().any(has_interval);
    }
    let has_none = |one: &Comparison| {
        matches!(one.verdict, Verdict::TooFewTrials | Verdict::NothingToCompare | Verdict::WrongData)
    };
    consolidation.is_empty() && comparisons.iter().all(has_none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::What;
    use crate::summary::analyse;
    use record::facts::{Fact, PROCESSOR};
    use record::synthetic;

    fn of(findings: &[Finding]) -> Usability {
        of_run(findings, &[], &analyse(&synthetic::run(5)).comparisons, &[])
    }

    #[test]
    fn the_worst_finding_decides_and_what_is_accepted_does_not() {
        let busy = Finding::new(What::HostBusy { share: 0.2 });
        let emulated = Finding::new(What::VmEmulated { how: "emulated".to_owned() });
        let accepted = Finding { accepted: Some("it is what we ask".to_owned()), ..emulated.clone() };
        let systems = Finding::new(What::SystemsDiffer { facts: Vec::new() });
        let told = |findings: &[Finding]| (of(findings).stamp, of(findings).because);
        assert_eq!(told(&[]), (Stamp::Usable, vec![]));
        assert_eq!(told(&[systems]), (Stamp::Usable, vec![]));
        assert_eq!(
            told(&[emulated.clone(), busy.clone(), emulated]),
            (Stamp::NotUsable, vec!["vm-emulated".to_owned()])
        );
        assert_eq!(told(&[busy, accepted]), (Stamp::WithCare, vec!["host-busy".to_owned()]));
    }

    /// A terminal shows the first few only.
    #[test]
    fn what_makes_a_run_unusable_is_listed_before_all_else() {
        let seeds = Finding::new(What::SeedsDiffer { old: 1, new: 2 });
        let unclear = Finding::new(What::TooFewBlocks { blocks: 2, needed: 3 });
        let mut findings = [seeds, unclear];
        crate::findings::accept(&mut findings, &synthetic::run(1).plan);
        assert_eq!(findings[0].what.code(), "too-few-blocks");
    }

    #[test]
    fn a_run_without_an_interval_is_not_usable() {
        let sound = analyse(&synthetic::run(5)).usability;
        assert_eq!((sound.stamp, sound.because), (Stamp::WithCare, vec!["not-honoured".to_owned()]));
        assert_eq!(analyse(&synthetic::run(2)).usability.stamp, Stamp::NotUsable);
        let mut emulated = synthetic::run(3);
        for trial in emulated.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
            let machine = trial.record.machine.as_mut().unwrap();
            machine.decided.insert(PROCESSOR.to_owned(), Fact::known("emulated, because /dev/kvm is not there"));
        }
        let usability = analyse(&emulated).usability;
        assert_eq!((usability.stamp, usability.because[0].as_str()), (Stamp::NotUsable, "vm-emulated"));
    }
}
