//! Everything that a run's record shows, in one value (`analysis.json`).

use crate::ablation::{self, AblationResult};
use crate::activity::{self, Activity};
use crate::agreement::{self, Agreement};
use crate::beside::PublishedFigures;
use crate::cells::{self, CellResult};
use crate::checks::{self, CheckCounts, CheckSummary};
use crate::compare::{self, Comparison};
use crate::consistency::{self, Consistency};
use crate::consolidation::{self, Consolidation};
use crate::databases::{self, DatabaseOfMany};
use crate::durability::{self, Audited};
use crate::estimate::CONFIDENCE;
use crate::explanation::{self, Explanation};
use crate::findings::{Finding, What, accept, of_run};
use crate::hosts::{self, Hosts};
use crate::measures::{CATALOG, MeasureEntry};
use crate::observations::Observations;
use crate::scaling::threads::{self, ThreadGain};
use crate::scaling::{self, Scaling};
use crate::settings::{self, SettingsComparison};
use crate::steadiness::cautions;
use crate::stopping::{self, Attained};
use crate::student;
use crate::waits::{self, WaitsOfContenders};
use crate::{alike, equal, machines};
use record::run::Run;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    pub format: u32,
    pub study: String,
    pub question: String,
    /// True if each contender is compared with itself, so that there is no difference to find.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aa: bool,
    pub method: IntervalMethod,
    /// As in the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The worst first.
    pub findings: Vec<Finding>,
    /// Every value of every measure.
    pub observations: Observations,
    pub comparisons: Vec<Comparison>,
    /// What single changes do; only where the study asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ablation: Option<AblationResult>,
    /// Only where contenders have several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Published figures beside those of this run; only in a report that asks for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<PublishedFigures>,
    /// Only where the study wishes for a precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Attained>,
    pub cells: Vec<CellResult>,
    pub activity: Vec<Activity>,
    /// What sessions waited for, if that was sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<WaitsOfContenders>,
    pub check_counts: CheckCounts,
    pub checks: Vec<CheckSummary>,
    pub settings: Vec<SettingsComparison>,
    pub agreement: Vec<Agreement>,
    pub consistency: Consistency,
    /// Only where a study varies a number, such as a machine's vCPUs or the clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scaling: Vec<Scaling>,
    /// Only where a machine has several databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<DatabaseOfMany>,
    /// Only where a contender ran on the same number of cores with one vCPU for each, and with two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread_gains: Vec<ThreadGain>,
    /// Only where several machines run side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consolidation: Vec<Consolidation>,
    /// Whether acknowledged transactions survive; only where that was audited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durability: Vec<Audited>,
    /// Why contenders differ, as far as telemetry shows; empty without telemetry.
    pub explanations: Vec<Explanation>,
}

/// What all intervals have in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IntervalMethod {
    pub confidence: f64,
    pub fewest_blocks: usize,
}

/// The same record always gives the same analysis.
pub fn analyse(run: &Run) -> Analysis {
    analyse_with(run, CATALOG)
}

/// The same with other measures than the catalog's.
pub fn analyse_with(run: &Run, catalog: &[MeasureEntry]) -> Analysis {
    let plan = &run.plan;
    let observations = Observations::of_run(run, catalog);
    let comparisons = compare::all(run, &observations);
    let checks = checks::all(run);
    let mut analysis = Analysis {
        format: record::FORMAT,
        study: plan.study.clone(),
        question: plan.question.clone(),
        aa: plan.aa,
        method: IntervalMethod { confidence: CONFIDENCE, fewest_blocks: student::FEWEST_BLOCKS },
        margin: plan.margin,
        findings: Vec::new(),
        ablation: ablation::of_run(run, &comparisons),
        hosts: hosts::of_run(run, &observations, &comparisons),
        beside: None,
        precision: stopping::attained(plan, &comparisons),
        cells: plan.cells.iter().map(|cell| cells::of_cell(run, &observations, cell)).collect(),
        activity: activity::all(run),
        waits: waits::all(run),
        check_counts: checks::counts(run.trials.iter()),
        settings: settings::all(run),
        agreement: agreement::all(run),
        consistency: consistency::of_run(run, &observations),
        scaling: scaling::all(run, &observations),
        databases: databases::all(run),
        thread_gains: threads::gains(run, &observations),
        consolidation: consolidation::all(run, &observations),
        durability: durability::all(run),
        explanations: explanation::all(run, &observations),
        observations,
        comparisons,
        checks,
    };
    analysis.findings = findings(run, &analysis);
    analysis
}

/// All findings, the worst first and those that the study accepts last.
fn findings(run: &Run, found: &Analysis) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(run.plan.rehearsed.then(|| Finding::new(What::Rehearsed)));
    findings.extend(of_run::outcomes(run));
    findings.extend(of_run::violated(&found.checks));
    findings.extend(of_run::unchecked(&found.checks));
    findings.extend(of_run::emulated(run));
    findings.extend(of_run::unequal_settings(run, &found.settings));
    findings.extend(consistency::findings(&found.consistency));
    findings.extend(consolidation::findings(&found.consolidation));
    findings.extend(machines::changes(run));
    findings.extend(equal::findings(run));
    findings.extend(durability::findings(run, &found.durability));
    findings.extend(of_run::disagreements(&found.agreement));
    findings.extend(of_run::clocks(run));
    findings.extend(of_run::not_honoured(run));
    findings.extend(alike::nested(run));
    findings.extend(found.hosts.iter().flat_map(|hosts| hosts::findings(run, hosts, &found.comparisons)));
    findings.extend(alike::differences(run));
    findings.extend(of_run::sending(run));
    findings.extend(of_run::engine_waits(run, &found.cells));
    findings.extend(of_run::noted_by_trials(run));
    findings.extend(of_run::unsteady(run));
    // Where a neighbour comes or goes, throughput changes by design.
    let is_disturbed = |cell: &&CellResult| found.consolidation.iter().any(|one| one.is_disturbed(cell.cell));
    findings.extend(cautions::all(found.cells.iter().filter(|cell| !is_disturbed(cell))));
    findings.extend(of_run::failed(run));
    findings.extend(of_run::design(run));
    accept(&mut findings, &run.plan);
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn no_statistic_depends_on_the_order_in_which_trials_are_listed() {
        let run = synthetic::run(5);
        let mut shuffled = run.clone();
        shuffled.trials.reverse();
        shuffled.trials.rotate_left(3);
        let (one, other) = (analyse(&run), analyse(&shuffled));
        assert!(one == analyse(&run));
        assert!(one.comparisons == other.comparisons);
        assert!(one.observations == other.observations);
        for (cell, same) in one.cells.iter().zip(&other.cells) {
            assert!(cell.levels == same.levels && cell.latency == same.latency && cell.totals == same.totals);
        }
    }

    /// Compared in parts, since a decimal number that is read again may differ in its last bit.
    #[test]
    fn its_file_can_be_read_again() {
        let analysis = analyse(&synthetic::run(3));
        let text = serde_json::to_string(&analysis).unwrap();
        let again: Analysis = serde_json::from_str(&text).unwrap();
        assert_eq!(again.findings, analysis.findings);
        assert_eq!(again.checks, analysis.checks);
        let low =
            |analysis: &Analysis| analysis.comparisons[0].throughput().unwrap().estimate.bounds.known().unwrap().0;
        assert!((low(&again) - low(&analysis)).abs() < 1e-12);
    }

    #[test]
    fn the_file_of_a_run_with_several_machines_can_be_read_again() {
        for run in [synthetic::consolidated::run(3, None), synthetic::neighbour::run(3, &["burst"])] {
            let analysis = analyse(&run);
            let again: Analysis = serde_json::from_str(&serde_json::to_string(&analysis).unwrap()).unwrap();
            assert_eq!(again.findings.len(), analysis.findings.len());
        }
    }

    #[test]
    fn a_run_without_any_trial_has_nothing_but_findings() {
        let mut run = synthetic::run(3);
        run.trials.clear();
        let analysis = analyse(&run);
        assert!(analysis.comparisons.iter().all(|comparison| comparison.throughput().is_none()));
        assert!(analysis.cells.iter().all(|cell| cell.levels.is_empty() && cell.outcomes.not_reached == 3));
        assert!(!analysis.findings.is_empty());
    }
}
