//! Rules on the disk of the data: how long an operation takes at each layer, and whether something limits it.

use super::{HeldBackDisk, Operation, Reason, RuleOutcome, Unknown};
use crate::counted::places::{DiskWork, KERNELS, QEMU};
use crate::counted::shares::FEWEST_OPERATIONS;
use crate::counted::{CountedRate, CountedTrial, SideCounts};
use crate::explanation::evidence::{BOTH, Evidence, Who, is_apart, nearest_end};
use crate::student;
use record::telemetry::Side;

/// The smallest cost of a guest's path that is worth mentioning.
const SMALLEST_DIFFERENCE_MS: f64 = 0.01;
const BUSY: f64 = 0.8;
const STEADY: f64 = 0.1;
/// An operation takes at least this many times as long in the guest as on the host's device below.
const LONGER: f64 = 2.0;
/// The number of seconds from which a variation can be computed.
const FEWEST_RATES: usize = 5;
/// By how much the shares of the window differ in which tasks waited for storage.
const APART: f64 = 0.05;

type Mean = fn(&DiskWork) -> Option<f64>;

/// Reads and writes: their name, and the mean time of one if there are enough.
const OPERATIONS: [(Operation, Mean); 2] = [
    (Operation::Read, |disk| disk.ms_of_a_read().filter(|_| disk.reads >= FEWEST_OPERATIONS)),
    (Operation::Write, |disk| disk.ms_of_a_write().filter(|_| disk.writes >= FEWEST_OPERATIONS)),
];

fn inside(trial: &CountedTrial) -> Option<DiskWork> {
    trial.side(Side::Machine)?.disk()
}

/// The host's device below a guest's disk; `None` for a machine that is no guest, since it has no layer in between.
fn below(trial: &CountedTrial) -> Option<DiskWork> {
    let host = trial.side(Side::Host)?;
    let is_guest = host.disk_at(QEMU).is_some() || !host.vcpus().is_empty();
    host.disk().filter(|_| is_guest)
}

pub fn between_layers(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let mut said = Vec::new();
    for who in BOTH {
        for (operation, mean) in OPERATIONS {
            let of_guest = |trial: &CountedTrial| mean(&inside(trial)?);
            let of_host = |trial: &CountedTrial| mean(&below(trial)?);
            let longer = evidence.signed_value(who, &|trial| Some(of_guest(trial)? - of_host(trial)?));
            let means = evidence.value(who, &of_guest).zip(evidence.value(who, &of_host));
            let Some((longer, (guest, host))) = longer.zip(means) else { continue };
            if nearest_end(&longer, 0.0).is_none_or(|end| end.abs() <= SMALLEST_DIFFERENCE_MS) {
                continue;
            }
            let who = evidence.name(who);
            said.push(Ok(Reason::DiskTimeBetweenLayers { who, operation, longer, guest, host }));
        }
    }
    said
}

pub fn of_contenders(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let of_operation = |(operation, mean): (Operation, Mean)| {
        let pair = evidence.pair(&|trial| mean(&inside(trial)?))?;
        let ratio = pair.ratio.filter(is_apart)?;
        let pair = evidence.both(pair.baseline, pair.contender);
        Some(Ok(Reason::DiskTimeOfContenders { operation, pair, ratio }))
    };
    if evidence.pair(&|trial| Some(inside(trial)?.operations())).is_none() {
        return vec![Err(Unknown::DisksNotCounted)];
    }
    OPERATIONS.into_iter().filter_map(of_operation).collect()
}

pub fn held_back(evidence: &Evidence<'_>, who: Who) -> Option<RuleOutcome> {
    let each =
        |disk: fn(&CountedTrial) -> Option<DiskWork>| move |trial: &CountedTrial| disk(trial)?.ms_of_an_operation();
    let (each_inside, each_below) = (each(inside), each(below));
    let busy_inside = |trial: &CountedTrial| trial.side(Side::Machine)?.share_of_window(inside(trial)?.busy_ms?);
    let busy = evidence.value(who, &busy_inside).filter(|busy| busy.point >= BUSY)?;
    // A busy and steady disk may simply be at the device's limit, unless the device below it is known to have time left.
    let guest = evidence.value(who, &each_inside)?;
    let Some(host) = evidence.value(who, &each_below) else {
        let vcpus = evidence.value(who, &|trial| trial.side(Side::Host).map(|host| host.vcpus().len() as f64));
        let is_guest = vcpus.is_some_and(|many| many.point > 0.0);
        return is_guest.then(|| Err(Unknown::DiskBelowNotCounted { who: evidence.name(who), busy }));
    };
    let longer = evidence.signed_value(who, &|trial| Some(each_inside(trial)? - each_below(trial)?))?;
    let varies = evidence.value(who, &|trial| variation(trial.side(Side::Machine)?))?;
    let is_so = nearest_end(&longer, 0.0).is_some_and(|end| end > 0.0)
        && guest.point > LONGER * host.point
        && varies.point <= STEADY;
    let per_second =
        evidence.value(who, &|trial| Some(inside(trial)?.operations() / trial.side(Side::Machine)?.seconds))?;
    let busy_below = evidence.value(who, &|trial| trial.side(Side::Host)?.share_of_window(below(trial)?.busy_ms?));
    let who = evidence.name(who);
    let found = HeldBackDisk { who, busy, per_second, varies, guest, host, busy_below };
    is_so.then_some(Ok(Reason::HeldBackDisk(found)))
}

pub fn pressure(evidence: &Evidence<'_>) -> Vec<RuleOutcome> {
    let waited = evidence.pair(&|trial| trial.side(Side::Machine)?.share("pressure.io.some"));
    let is_so = |end: f64| end.abs() > APART;
    let apart = waited.filter(|pair| nearest_end(&pair.difference.estimate, 0.0).is_some_and(is_so));
    apart.map(|pair| Ok(Reason::StoragePressure(evidence.both(pair.baseline, pair.contender)))).into_iter().collect()
}

/// Standard deviation over mean of the disk's seconds: of its operations or its bytes, whichever is steadier.
fn variation(machine: &SideCounts) -> Option<f64> {
    let prefix = machine.disk_prefix(KERNELS)?;
    let of = |fields: [&str; 2]| {
        let rates = fields.map(|field| machine.columns.get(&format!("{prefix}.{field}")).map(|column| &column.rates));
        let [Some(one), Some(other)] = rates else { return None };
        coefficient(one, other)
    };
    let found = [of(["reads", "writes"]), of(["read_bytes", "write_bytes"])];
    found.into_iter().flatten().min_by(f64::total_cmp)
}

/// The coefficient of variation of the sums of two series from the same samples.
fn coefficient(one: &[CountedRate], other: &[CountedRate]) -> Option<f64> {
    if one.len() != other.len() || one.len() < FEWEST_RATES {
        return None;
    }
    let sums: Vec<f64> = one.iter().zip(other).map(|(one, other)| one.per_second + other.per_second).collect();
    student::variation(&sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x = [100, 102, 98, 101, 99]`, `numpy.std(x, ddof=1) / numpy.mean(x)` is 0.0158114.
    #[test]
    fn variation_is_over_the_sums() {
        let rates = |values: &[f64]| -> Vec<CountedRate> {
            values.iter().map(|&per_second| CountedRate { at_s: 0.0, per_second }).collect()
        };
        let (one, other) = (rates(&[60.0, 70.0, 50.0, 1.0, 90.0]), rates(&[40.0, 32.0, 48.0, 100.0, 9.0]));
        assert!((coefficient(&one, &other).unwrap() - 0.015_811_388).abs() < 1e-8);
        assert_eq!(coefficient(&one[1..], &other[1..]), None);
        assert_eq!(coefficient(&one, &other[1..]), None);
    }
}
