//! Verdicts of durability audits. Pure.

use crate::consistency::host::OTHERS_MAX;
use crate::findings::{Finding, SharedValue, What};
use crate::gathered::by_key;
use crate::groups;
use record::durability::{Cost, Durability, Fault, RebuiltCut, Scan};
use record::run::Run;
use serde::{Deserialize, Serialize};

/// With fewer acknowledged transactions than this there is too little to lose.
const ACKNOWLEDGED_MIN: u64 = 100;
/// With fewer cuts than this nothing is said of those that were not made.
const CUTS_MIN: usize = 25;
/// No loss in n cuts leaves, with 95 % confidence, at most this over n as the chance of a loss in one.
const BOUND: f64 = 3.0;

/// The audit of one cell, and what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    pub cell: u32,
    pub contender: String,
    pub baseline: bool,
    /// Scenario and swept values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub coordinates: String,
    #[serde(flatten)]
    pub verdict: DurabilityVerdict,
    /// Settings in force by which acknowledged transactions may be lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
    pub acknowledged: u64,
    /// Times in which flushes were held, and transactions that began and were acknowledged within them.
    pub holds: usize,
    pub acknowledged_in_holds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// Only what was tried.
    pub faults: Vec<OfFault>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Audited {
    /// At the same point of the study.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        (&self.coordinates, &self.verdict, &self.declared) == (&other.coordinates, &other.verdict, &other.declared)
    }
}

/// What one kind of fault did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfFault {
    pub fault: Fault,
    /// How often it was tried.
    pub times: usize,
    /// How often something acknowledged was lost, and how much at most.
    pub losing: usize,
    pub most: u64,
    /// How often the database was not whole, and why the first time.
    pub breaking: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The verdict on a contender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum DurabilityVerdict {
    /// Nothing acknowledged was lost.
    Kept {
        cuts: usize,
        /// The chance of a loss in a cut drawn like these is below this, with 95 % confidence.
        bound: f64,
    },
    /// Acknowledged transactions were lost, by this fault and those beyond it.
    Loses {
        by: OfFault,
        is_declared: bool,
    },
    /// The database did not start, or its data were not whole.
    Breaks {
        by: OfFault,
        is_declared: bool,
    },
    /// Transactions were acknowledged before they were safe, and no cut happened to lose one.
    AcknowledgesEarly {
        transactions: u64,
        is_declared: bool,
    },
    Undecided {
        doubt: Doubt,
    },
    NotAudited {
        why: String,
    },
}

/// Why nothing can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The same audit found nothing on a disk that lies.
    LiarPasses,
    FewAcknowledged(u64),
    FewCuts(usize),
    /// So many cuts lost something once, and not when they were made again.
    Unconfirmed(usize),
}

impl DurabilityVerdict {
    /// A loss that no setting of the engine declares.
    pub fn is_a_lie(&self) -> bool {
        match self {
            Self::Loses { is_declared, .. }
            | Self::Breaks { is_declared, .. }
            | Self::AcknowledgesEarly { is_declared, .. } => !is_declared,
            Self::Kept { .. } | Self::Undecided { .. } | Self::NotAudited { .. } => false,
        }
    }

    /// False if the audit could not find out.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Undecided { .. } | Self::NotAudited { .. })
    }

    /// In a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Kept { .. } => "kept",
            Self::Loses { is_declared: false, .. } => "loses",
            Self::Loses { is_declared: true, .. } => "loses, as declared",
            Self::Breaks { is_declared: false, .. } => "breaks",
            Self::Breaks { is_declared: true, .. } => "breaks, as declared",
            Self::AcknowledgesEarly { is_declared: false, .. } => "acknowledges early",
            Self::AcknowledgesEarly { is_declared: true, .. } => "acknowledges early, as declared",
            Self::Undecided { .. } => "undecided",
            Self::NotAudited { .. } => "not audited",
        }
    }
}

/// All audits of a run, in the order of the plan's cells.
pub fn all(run: &Run) -> Vec<Audited> {
    let audited = |found: &Durability| {
        let cell = run.plan.cells.iter().find(|cell| cell.id == found.cell)?;
        Some(Audited {
            cell: cell.id,
            contender: cell.contender.clone(),
            baseline: cell.baseline,
            coordinates: cell.coordinates(),
            verdict: verdict(found),
            declared: found.declared.clone(),
            acknowledged: found.acknowledged,
            holds: found.holds.len(),
            acknowledged_in_holds: found.holds.iter().map(|hold| hold.acknowledged).sum(),
            scan: found.scan,
            faults: faults(found),
            cost: found.cost.clone(),
        })
    };
    run.durability.iter().filter_map(audited).collect()
}

/// Doubts about throughputs that were measured beside these audits.
pub fn findings(run: &Run, all: &[Audited]) -> Vec<Finding> {
    let busy = busy(all);
    if run.trials.is_empty() {
        return busy.into_iter().collect();
    }
    let lies = all.iter().filter(|audited| audited.verdict.is_a_lie()).map(|audited| {
        let verdict = audited.verdict.word().to_owned();
        Finding::new(What::NotDurable { verdict }).of(&audited.contender).at(&audited.coordinates)
    });
    let apart = groups::findings(&run.plan, |group| {
        let own = all.iter().filter(|audited| group.cells.iter().any(|cell| cell.id == audited.cell));
        let values = SharedValue::by_value(own.map(|audited| (audited.verdict.word(), audited.contender.clone())));
        (values.len() > 1).then_some(What::DurabilityDiffers { values })
    });
    lies.chain(apart).chain(busy).collect()
}

/// Rates of audits that others disturbed.
fn busy(all: &[Audited]) -> Option<Finding> {
    let taken = |audited: &Audited| audited.cost.as_ref()?.other_cpu.filter(|share| *share > OTHERS_MAX);
    let disturbed: Vec<&str> =
        all.iter().filter(|audited| taken(audited).is_some()).map(|audited| audited.contender.as_str()).collect();
    let share = all.iter().filter_map(taken).max_by(f64::total_cmp)?;
    Some(Finding::new(What::HostBusy { share }).of(&disturbed.join(", ")))
}

/// Whether it is a proof, the transactions that it lost, and why the data are broken.
type TriedCut<'a> = (bool, u64, Option<&'a String>);

/// The least fault first.
fn faults(found: &Durability) -> Vec<OfFault> {
    let killed = found.killed.iter().map(|killed| (Fault::ServerKilled, (true, killed.lost, killed.broken.as_ref())));
    let cuts = found.cuts.iter().map(|cut| (cut.fault(), (cut.is_proof(), cut.lost, cut.broken.as_ref())));
    let of_fault = |(fault, tried): (Fault, Vec<TriedCut<'_>>)| {
        let proofs = || tried.iter().filter(|(is_proof, ..)| *is_proof);
        let broken = || proofs().filter_map(|(.., broken)| *broken);
        OfFault {
            fault,
            times: tried.len(),
            losing: proofs().filter(|(_, lost, _)| *lost > 0).count(),
            most: proofs().map(|(_, lost, _)| *lost).max().unwrap_or_default(),
            breaking: broken().count(),
            why: broken().next().cloned(),
        }
    };
    by_key(killed.chain(cuts)).into_iter().map(of_fault).collect()
}

pub fn verdict(found: &Durability) -> DurabilityVerdict {
    if let Some(why) = &found.not_audited {
        return DurabilityVerdict::NotAudited { why: why.clone() };
    }
    let (is_declared, faults) = (!found.declared.is_empty(), faults(found));
    if let Some(by) = faults.iter().find(|by| by.breaking > 0) {
        return DurabilityVerdict::Breaks { by: by.clone(), is_declared };
    }
    if let Some(by) = faults.iter().find(|by| by.losing > 0) {
        return DurabilityVerdict::Loses { by: by.clone(), is_declared };
    }
    let held: u64 = found.holds.iter().map(|hold| hold.acknowledged).sum();
    let scanned = found.scan.map_or(0, |scan| scan.unflushed + scan.unwritten);
    if held.max(scanned) > 0 {
        return DurabilityVerdict::AcknowledgesEarly { transactions: held.max(scanned), is_declared };
    }
    let unconfirmed = found.cuts.iter().filter(|cut| !cut.is_clean()).count();
    // The deepest fault says the most.
    let cuts = faults.last().map_or(0, |by| if by.fault == Fault::ServerKilled { 0 } else { by.times });
    let doubt = if found.planted.iter().all(RebuiltCut::is_clean) {
        Doubt::LiarPasses
    } else if unconfirmed > 0 {
        Doubt::Unconfirmed(unconfirmed)
    } else if found.acknowledged < ACKNOWLEDGED_MIN {
        Doubt::FewAcknowledged(found.acknowledged)
    } else if cuts < CUTS_MIN {
        Doubt::FewCuts(cuts)
    } else {
        return DurabilityVerdict::Kept { cuts, bound: BOUND / cuts as f64 };
    };
    DurabilityVerdict::Undecided { doubt }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::durability::{CutMoment, Hold, KilledServer, Survives};

    fn cut(lost: u64, broken: Option<&str>, confirmed: Option<bool>) -> RebuiltCut {
        RebuiltCut {
            moment: CutMoment::Acknowledged,
            position: 7,
            survives: Survives::Nothing,
            seed: 1,
            grain_bytes: 4096,
            acknowledged: 50,
            lost,
            broken: broken.map(str::to_owned),
            confirmed,
            took_ms: 1,
        }
    }

    /// Of an honest contender, with a liar that is found.
    fn honest() -> Durability {
        Durability {
            format: 1,
            cell: 0,
            contender: "native".to_owned(),
            started: String::new(),
            not_audited: None,
            failed: false,
            emulated: None,
            declared: Vec::new(),
            acknowledged: 5_000,
            holds: vec![Hold { position: 9, length_ms: 50, acknowledged: 0 }],
            scan: Some(Scan { flushed: 5_000, ..Scan::default() }),
            killed: None,
            cuts: vec![cut(0, None, None); 60],
            planted: vec![cut(40, None, Some(true))],
            cost: None,
        }
    }

    fn by(fault: Fault, times: usize, losing: usize, most: u64) -> OfFault {
        OfFault { fault, times, losing, most, breaking: 0, why: None }
    }

    #[test]
    fn the_least_fault_that_loses_something_is_named() {
        let mut found = honest();
        found.cuts.push(cut(5, None, Some(true)));
        found.killed = Some(KilledServer { acknowledged: 5_000, lost: 0, broken: None });
        assert!(matches!(verdict(&found), DurabilityVerdict::Loses { by: OfFault { fault: Fault::HostLost, .. }, .. }));
        found.cuts.push(RebuiltCut { survives: Survives::All, ..cut(2, None, Some(true)) });
        assert_eq!(verdict(&found), DurabilityVerdict::Loses { by: by(Fault::GuestLost, 1, 1, 2), is_declared: false });
        found.killed = Some(KilledServer { acknowledged: 5_000, lost: 9, broken: None });
        assert_eq!(
            verdict(&found),
            DurabilityVerdict::Loses { by: by(Fault::ServerKilled, 1, 1, 9), is_declared: false }
        );
    }

    #[test]
    fn others_on_the_host_are_doubts_about_rates() {
        let mut run = record::synthetic::run(3);
        let cells: Vec<u32> = run.plan.cells.iter().map(|cell| cell.id).collect();
        let beside = |cell, share| {
            let cost = Cost { flushes: 1.0, bytes: 1.0, slope: None, rates: Vec::new(), other_cpu: share };
            Durability { cell, cost: Some(cost), ..honest() }
        };
        let told = |run: &Run| findings(run, &all(run)).iter().map(|one| one.what.clone()).collect::<Vec<_>>();
        run.durability = vec![beside(cells[0], Some(0.04)), beside(cells[1], None)];
        assert_eq!(told(&run), []);
        run.durability[0] = beside(cells[0], Some(0.4));
        assert_eq!(told(&run), [What::HostBusy { share: 0.4 }]);
        (run.plan.trials, run.trials) = (Vec::new(), Vec::new());
        assert_eq!(told(&run), [What::HostBusy { share: 0.4 }]);
    }

    #[test]
    fn audits_alone_say_which_contenders_were_emulated() {
        let mut run = record::synthetic::run(3);
        let cells: Vec<u32> = run.plan.cells.iter().map(|cell| cell.id).collect();
        (run.plan.trials, run.trials) = (Vec::new(), Vec::new());
        let emulated = |cell, contender: &str| {
            let how = Some("emulated, because /dev/kvm is not there".to_owned());
            Durability { cell, contender: contender.to_owned(), emulated: how, ..honest() }
        };
        run.durability = vec![emulated(cells[0], "none"), emulated(cells[1], "unsafe")];
        let findings = crate::summary::analyse(&run).findings;
        let told = findings.iter().filter(|finding| finding.what.kind().name == "vm-emulated");
        assert_eq!(told.map(|one| one.subject.contender.as_deref()).collect::<Vec<_>>(), [Some("none, unsafe")]);
    }

    #[test]
    fn unequal_verdicts_are_doubts_about_throughputs() {
        let mut run = record::synthetic::run(3);
        let cells: Vec<u32> = run.plan.cells.iter().map(|cell| cell.id).collect();
        run.durability = vec![Durability { cell: cells[0], ..honest() }, Durability { cell: cells[1], ..honest() }];
        assert!(findings(&run, &all(&run)).is_empty());
        run.durability[1].cuts.push(cut(5, None, Some(true)));
        let codes = |run: &Run| findings(run, &all(run)).iter().map(|one| one.what.kind().name).collect::<Vec<_>>();
        assert_eq!(codes(&run), ["not-durable", "durability-differs"]);
        run.durability[1].declared.push("fsync=off".to_owned());
        assert_eq!(codes(&run), ["durability-differs"]);
        run.trials.clear();
        assert!(codes(&run).is_empty());
    }

    #[test]
    fn nothing_lost_in_many_cuts_is_kept_with_its_bound() {
        assert_eq!(verdict(&honest()), DurabilityVerdict::Kept { cuts: 60, bound: 0.05 });
        assert!(!verdict(&honest()).is_a_lie());
    }

    #[test]
    fn a_loss_counts_if_it_is_seen_twice() {
        let mut found = honest();
        found.cuts.extend([cut(1, None, Some(true)), cut(12, None, Some(true))]);
        let loses = |is_declared| DurabilityVerdict::Loses { by: by(Fault::HostLost, 62, 2, 12), is_declared };
        assert_eq!(verdict(&found), loses(false));
        assert!(verdict(&found).is_a_lie());
        found.declared.push("synchronous_commit=off".to_owned());
        assert_eq!(verdict(&found), loses(true));
        assert!(!verdict(&found).is_a_lie());

        let mut once = honest();
        once.cuts.push(cut(3_562, None, Some(false)));
        assert_eq!(verdict(&once), DurabilityVerdict::Undecided { doubt: Doubt::Unconfirmed(1) });
    }

    #[test]
    fn data_that_are_not_whole_are_worse_than_a_loss() {
        let mut found = honest();
        found.cuts.extend([cut(3, None, Some(true)), cut(0, Some("it does not start"), Some(true))]);
        let why = "it does not start".to_owned();
        let by = OfFault { breaking: 1, why: Some(why), ..by(Fault::HostLost, 62, 1, 3) };
        assert_eq!(verdict(&found), DurabilityVerdict::Breaks { by, is_declared: false });
    }

    #[test]
    fn what_was_acknowledged_early_is_told_though_no_cut_lost_it() {
        let mut held = honest();
        held.holds[0].acknowledged = 184;
        assert_eq!(verdict(&held), DurabilityVerdict::AcknowledgesEarly { transactions: 184, is_declared: false });
        let scanned = Durability { scan: Some(Scan { flushed: 1, unflushed: 2, unwritten: 3 }), ..honest() };
        assert_eq!(verdict(&scanned), DurabilityVerdict::AcknowledgesEarly { transactions: 5, is_declared: false });
    }

    #[test]
    fn an_audit_without_teeth_says_nothing() {
        let doubts = [
            (Durability { planted: vec![cut(0, None, None); 4], ..honest() }, Doubt::LiarPasses),
            (Durability { planted: Vec::new(), ..honest() }, Doubt::LiarPasses),
            (Durability { acknowledged: 99, ..honest() }, Doubt::FewAcknowledged(99)),
            (Durability { cuts: vec![cut(0, None, None); 24], ..honest() }, Doubt::FewCuts(24)),
        ];
        for (found, doubt) in doubts {
            assert_eq!(verdict(&found), DurabilityVerdict::Undecided { doubt });
        }
        let not = Durability { not_audited: Some("there is no /dev/fuse".to_owned()), ..honest() };
        assert_eq!(verdict(&not), DurabilityVerdict::NotAudited { why: "there is no /dev/fuse".to_owned() });
    }
}
