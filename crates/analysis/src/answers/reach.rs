//! How far a doubt could move an answer, from what was measured beside it.
//!
//! Each model is an upper bound of the work that a side lost, as a factor. If all of the CPU time that other processes had, or that a
//! hypervisor stole, had been the database's, it would have done as much more as it had more CPU time. Bytes that others read from disks
//! and wrote to them are taken in the same way. Resources that both sides lost alike moved no ratio, so the factor of an answer is the
//! quotient of its sides. A side's own drift, failures and waits for memory say nothing about the other side's, so these do not cancel
//! out.

use crate::cells::CellResult;
use crate::consistency::host::HostDuringTrial;
use crate::findings::What;
use crate::student::mean_of;
use crate::summary::Analysis;
use record::facts::MEMORY_LIMIT;
use serde::Serialize;

/// The true answer over the measured one lies between these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reach {
    pub low: f64,
    pub high: f64,
}

impl Reach {
    pub const NONE: Self = Self { low: 1.0, high: 1.0 };

    /// Up to this factor, which may be below 1.
    fn to(factor: f64) -> Option<Self> {
        let is_known = factor.is_finite() && factor > 0.0;
        is_known.then(|| Self { low: factor.min(1.0), high: factor.max(1.0) })
    }

    /// Of two that may come together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { low: self.low * other.low, high: self.high * other.high }
    }
}

/// The cells behind an answer.
pub struct Sides<'a> {
    pub analysis: &'a Analysis,
    /// Empty if the answer is compared with nothing.
    pub base: Vec<&'a CellResult>,
    pub own: Vec<&'a CellResult>,
}

impl<'a> Sides<'a> {
    pub fn cells(&self) -> impl Iterator<Item = &'a CellResult> {
        self.base.iter().chain(&self.own).copied()
    }

    /// The quotient of what both sides would have done over what they did.
    fn quotient(&self, of: impl Fn(&[&CellResult]) -> Option<f64>) -> Option<Reach> {
        let base = if self.base.is_empty() { 1.0 } else { of(&self.base)? };
        Reach::to(of(&self.own)? / base)
    }

    /// The share of the host's CPU time that other processes and a hypervisor below had beside all of these cells; the mean over
    /// their trials.
    pub fn others(&self) -> Option<f64> {
        let lost = |trial: &HostDuringTrial| Some(trial.others? + trial.stolen.unwrap_or_default());
        self.mean(&self.cells().collect::<Vec<_>>(), lost)
    }

    /// The same of a reading of the host, as the mean over a side's trials.
    fn of_host(&self, of: impl Fn(&HostDuringTrial) -> Option<f64>) -> Option<Reach> {
        self.quotient(|cells| self.mean(cells, &of))
    }

    fn mean(&self, cells: &[&CellResult], of: impl Fn(&HostDuringTrial) -> Option<f64>) -> Option<f64> {
        let counts = |reading: &&HostDuringTrial| {
            cells.iter().flat_map(|cell| &cell.trials).any(|trial| trial.valid && trial.trial == reading.trial)
        };
        let values: Option<Vec<f64>> = self.analysis.consistency.host.trials.iter().filter(counts).map(of).collect();
        values.filter(|values| !values.is_empty()).map(|values| mean_of(&values))
    }

    /// The work that each side lost, as a factor, where one side's factor says nothing about the other's.
    fn apart(&self, of: impl Fn(&[&CellResult]) -> Option<f64>) -> Option<Reach> {
        let base = if self.base.is_empty() { 1.0 } else { of(&self.base)? };
        Some(Reach::to(of(&self.own)?)?.and(Reach::to(1.0 / base)?))
    }

    /// The same of a cell; the mean of several.
    fn of_cells(&self, of: impl Fn(&CellResult) -> Option<f64>) -> Option<Reach> {
        self.apart(|cells| cells.iter().map(|cell| of(cell)).collect::<Option<Vec<f64>>>().map(|all| mean_of(&all)))
    }

    /// The cells whose platforms could do what those of others could not; `None` if none could, or if there is nothing to compare.
    pub fn honoured(&self, wish: &str) -> Option<Vec<u32>> {
        let lacks = |cell: &&CellResult| {
            self.analysis.findings.iter().any(|finding| {
                let is_it = matches!(&finding.what, What::NotHonoured { wish: own, .. } if own == wish);
                is_it && finding.subject.contender.as_ref() == Some(&cell.contender)
            })
        };
        let (lacking, others): (Vec<&CellResult>, Vec<&CellResult>) = self.cells().partition(lacks);
        let is_unequal = !self.base.is_empty() && !lacking.is_empty() && !others.is_empty();
        is_unequal.then(|| others.iter().map(|cell| cell.cell).collect())
    }

    /// Whether there are two sides, and no checkpoint began in any window of theirs.
    pub fn are_without_checkpoints(&self) -> bool {
        let is_without = |cell: &CellResult| cell.steadiness.checkpoints_begun.is_some_and(|(_, most)| most == 0);
        !self.base.is_empty() && self.cells().all(is_without)
    }

    /// The share of their time for which the transactions of a cell waited for reads of their device: reads that were going on at a
    /// time, over transactions that were.
    fn waited_for_reads(&self, cell: &CellResult) -> Option<f64> {
        let own = |trial: u32| cell.trials.iter().any(|one| one.trial == trial && one.valid);
        let accounted = self.analysis.consistency.littles_law.iter().filter(|one| own(one.trial));
        let under_way: Vec<f64> = accounted.map(|one| one.under_way).collect();
        let reads = cell.level("device.reads")?.point;
        let each_ms = if reads > 0.0 { cell.level("device.read_time")?.point } else { 0.0 };
        Some(reads * each_ms / 1e3 / mean_of(&under_way)).filter(|share| *share < 1.0)
    }
}

/// `None` if the size of such a doubt is not known. docs/findings.md says of which it is.
pub fn of(what: &What, sides: &Sides<'_>) -> Option<Reach> {
    let more_cpu = |trial: &HostDuringTrial, lost: Option<f64>| {
        let used = trial.busy? - trial.others.unwrap_or_default();
        Some(1.0 + lost? / used).filter(|_| used > 0.0)
    };
    let host = &sides.analysis.consistency.host;
    match what {
        What::HostBusy { .. } | What::HostBusyBesideOne { .. } => sides.of_host(|trial| more_cpu(trial, trial.others)),
        What::HostCpuStolen { .. } => sides.of_host(|trial| more_cpu(trial, trial.stolen)),
        What::HostDiskBusyBesideOne { .. } => sides.quotient(|cells| {
            let more =
                |cell: &&CellResult| Some(1.0 + sides.mean(&[*cell], |trial| trial.others_disk)? / of_device(cell)?);
            cells.iter().map(more).collect::<Option<Vec<f64>>>().map(|each| mean_of(&each))
        }),
        What::HostMemoryShort { .. } => {
            let short =
                |trial: &HostDuringTrial| Some(if host.has_enough(trial) { 0.0 } else { trial.memory_stalled? });
            sides.apart(|cells| sides.mean(cells, |trial| Some(1.0 / (1.0 - short(trial)?))))
        }
        What::HostFrequency { .. } => {
            sides.of_host(|trial| Some(1.0 / trial.frequency_mhz?)).filter(|_| !sides.base.is_empty())
        }
        What::ClockWrong { share } => Some(Reach { low: 1.0 - share, high: 1.0 + share }),
        What::TransactionsFailed { .. } => sides.of_cells(|cell| Some(with_failed(cell))),
        // With more memory, they would have waited for no read.
        What::NotHonoured { wish, .. } if wish == MEMORY_LIMIT => {
            let limited = sides.honoured(wish)?;
            sides.of_cells(|cell| {
                let waited = if limited.contains(&cell.cell) { sides.waited_for_reads(cell)? } else { 0.0 };
                Some(1.0 / (1.0 - waited))
            })
        }
        // The end of a window, over its mean.
        What::NotSteady { .. } => {
            sides.of_cells(|cell| Some(1.0 + cell.steadiness.drift.as_ref().map_or(0.0, |drift| drift.point / 2.0)))
        }
        What::HalvesUnlike { .. } => {
            sides.of_cells(|cell| Some(cell.steadiness.second_half.map_or(1.0, |second| 2.0 * second / (1.0 + second))))
        }
        What::WarmUpTooShort { .. } => sides.of_cells(|cell| Some(1.0 + cell.steadiness.change.unwrap_or_default())),
        What::WindowTooShort => sides.are_without_checkpoints().then_some(Reach::NONE),
        _ => None,
    }
}

/// Bytes that a cell's trials read from their device and wrote to it in a second; `None` if that is not known, or nothing.
fn of_device(cell: &CellResult) -> Option<f64> {
    let rate = |name: &str| cell.level(name).map(|level| level.point);
    Some(rate("device.read")? + rate("device.written")?).filter(|rate| *rate > 0.0)
}

/// As if every transaction that failed had been done.
fn with_failed(cell: &CellResult) -> f64 {
    let failed: u64 = cell.totals.iter().map(|totals| totals.failed).sum();
    let finished: u64 = cell.totals.iter().map(record::trial::KindTotals::finished).sum();
    1.0 + failed as f64 / finished.max(1) as f64
}
