//! Contenders that ran on several hosts: what each host did, and whether hosts agree.
//!
//! Where both sides of a comparison ran on the same hosts, each block is within one host, and what is special about a host cancels
//! out. Where they did not, what differs between hosts is part of the difference, and all blocks on one pair of hosts count once.

pub mod blocks;

use self::blocks::of_blocks;
use crate::compare::Comparison;
use crate::contrast::{holm, is_significant};
use crate::distributions::f_above;
use crate::estimate::Estimate;
use crate::findings::{Finding, HostRatio, What};
use crate::gathered::by_key;
use crate::measures::throughput::THROUGHPUT;
use crate::observations::{MeasuredValues, Observations};
use crate::student::{self, geometric_mean};
use record::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The hosts of a study, where contenders have several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Hosts {
    /// What each host did, in the order of the plan's cells.
    pub cells: Vec<CellHosts>,
    /// Where both contenders ran on the same hosts.
    pub ratios: Vec<OfComparison>,
}

/// A cell's throughput on each of its hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellHosts {
    pub cell: u32,
    pub hosts: Vec<OnHost>,
}

/// A throughput, or a ratio of two, on one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnHost {
    pub host: String,
    pub blocks: usize,
    pub estimate: Estimate,
}

/// A ratio of throughputs on each host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfComparison {
    pub contender_cell: u32,
    pub hosts: Vec<OnHost>,
    /// The ratio on hosts of this kind: each host counts once. Absent for fewer than two hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_hosts: Option<Estimate>,
    /// How often chance alone would make hosts differ this much, given how many comparisons there are. Absent if no host has
    /// several blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_alike: Option<f64>,
}

pub fn of_run(run: &Run, observations: &Observations, comparisons: &[Comparison]) -> Option<Hosts> {
    let measured = observations.measure(THROUGHPUT)?;
    let cells: Vec<CellHosts> = run.plan.cells.iter().filter_map(|cell| of_cell(run, measured, cell.id)).collect();
    if cells.is_empty() {
        return None;
    }
    let mut ratios: Vec<OfComparison> = comparisons.iter().filter_map(|one| of_comparison(run, one)).collect();
    let p_values = holm(&ratios.iter().map(|one| one.p_alike).collect::<Vec<_>>());
    for (ratio, p_alike) in ratios.iter_mut().zip(p_values) {
        ratio.p_alike = p_alike;
    }
    Some(Hosts { cells, ratios })
}

fn of_cell(run: &Run, measured: &MeasuredValues, cell: u32) -> Option<CellHosts> {
    let (hosts, values) = (of_blocks(&run.plan, cell), measured.by_block(cell)?);
    let values = values.into_iter().filter_map(|(block, value)| Some((*hosts.get(&block)?, value)));
    let hosts = by_host(values);
    (!hosts.is_empty()).then_some(CellHosts { cell, hosts })
}

fn of_comparison(run: &Run, comparison: &Comparison) -> Option<OfComparison> {
    let own = of_blocks(&run.plan, comparison.contender_cell);
    if own.is_empty() || comparison.over_hosts {
        return None;
    }
    let ratios: Vec<(&str, f64)> =
        comparison.throughput()?.blocks.iter().filter_map(|one| Some((*own.get(&one.block)?, one.value))).collect();
    let hosts = by_host(ratios.iter().copied());
    let means: Vec<f64> = hosts.iter().map(|host| host.estimate.point).collect();
    let over_hosts = if means.len() > 1 { geometric_mean(&means) } else { None };
    let contender_cell = comparison.contender_cell;
    Some(OfComparison { contender_cell, hosts, over_hosts, p_alike: p_alike(&ratios) })
}

/// The geometric mean for each host.
fn by_host<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Vec<OnHost> {
    let on_host = |(host, values): (&str, Vec<f64>)| {
        let (host, blocks) = (host.to_owned(), values.len());
        Some(OnHost { host, blocks, estimate: geometric_mean(&values)? })
    };
    by_key(values).into_iter().filter_map(on_host).collect()
}

/// The p value of the F test of one-way analysis of variance, on logarithms.
fn p_alike(ratios: &[(&str, f64)]) -> Option<f64> {
    let logs = student::logarithms(&ratios.iter().map(|(_, ratio)| *ratio).collect::<Vec<_>>())?;
    let hosts: BTreeMap<&str, Vec<f64>> = by_key(ratios.iter().zip(&logs).map(|((host, _), log)| (*host, *log)));
    let (count, groups) = (logs.len() as f64, hosts.len() as f64);
    if groups < 2.0 || count <= groups {
        return None;
    }
    let mean = student::mean_of(&logs);
    let (mut between, mut within) = (0.0, 0.0);
    for own in hosts.into_values() {
        let own_mean = student::mean_of(&own);
        between += own.len() as f64 * (own_mean - mean).powi(2);
        within += own.iter().map(|log| (log - own_mean).powi(2)).sum::<f64>();
    }
    let (between, within) = (between / (groups - 1.0), within / (count - groups));
    // Blocks that are equal to the last bit have no spread; any difference is then certain.
    let f = between / within.max(f64::MIN_POSITIVE);
    Some(f_above(f, groups - 1.0, count - groups))
}

/// Comparisons of different hosts, and those whose result depends on the host.
pub fn findings(run: &Run, hosts: &Hosts, comparisons: &[Comparison]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comparison in comparisons {
        let Comparison { contender, coordinates, .. } = comparison;
        let about = |what| Finding::new(what).of(contender).at(coordinates);
        let [baseline_hosts, hosts_of_it] = [comparison.baseline_cell, comparison.contender_cell].map(|cell| {
            let names: BTreeSet<String> = of_blocks(&run.plan, cell).into_values().map(str::to_owned).collect();
            names.into_iter().collect::<Vec<String>>()
        });
        if comparison.over_hosts {
            let baseline = comparison.baseline.clone();
            findings.push(about(What::HostsApart { baseline, baseline_hosts, hosts: hosts_of_it }));
        }
        let own = hosts.ratios.iter().find(|one| one.contender_cell == comparison.contender_cell);
        if let Some(own) = own.filter(|own| is_significant(own.p_alike)) {
            let ratios = own.hosts.iter().map(|on| HostRatio { host: on.host.clone(), ratio: on.estimate.clone() });
            findings.push(about(What::HostsDisagree { ratios: ratios.collect() }));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::blocks::units;
    use super::*;
    use crate::summary::analyse;
    use record::synthetic;

    /// Ten blocks, of which each runs both contenders on the next of these hosts.
    fn on_hosts(hosts: [&[&str]; 2]) -> Run {
        let mut run = synthetic::run(10);
        for trial in &mut run.plan.trials {
            let own = hosts[trial.cell as usize];
            trial.host = Some(own[(trial.block as usize - 1) % own.len()].to_owned());
        }
        run
    }

    fn codes(run: &Run) -> Vec<&'static str> {
        let all = analyse(run).findings.into_iter().map(|finding| finding.what.kind().name);
        all.filter(|code| code.starts_with("hosts-")).collect()
    }

    #[test]
    fn a_run_on_one_host_has_no_hosts() {
        let run = synthetic::run(3);
        assert_eq!(analyse(&run).hosts, None);
        assert_eq!(units(&run.plan, [0, 1], 1..=3), BTreeMap::from([(1, 1), (2, 2), (3, 3)]));
        assert_eq!(codes(&run), Vec::<&str>::new());
    }

    #[test]
    fn on_the_same_hosts_blocks_count_for_themselves_and_each_host_has_its_ratio() {
        let run = on_hosts([&["a", "b"], &["a", "b"]]);
        let analysis = analyse(&run);
        let hosts = analysis.hosts.as_ref().expect("two hosts");
        assert_eq!(hosts.cells.len(), 2);
        let ratio = &hosts.ratios[0];
        let names: Vec<(&str, usize)> = ratio.hosts.iter().map(|on| (on.host.as_str(), on.blocks)).collect();
        assert_eq!(names, [("a", 5), ("b", 5)]);
        assert_eq!(analysis.comparisons[0].throughput().expect("a ratio").blocks.len(), 10);
        assert!(ratio.p_alike.expect("blocks vary") > 0.05);
        assert_eq!(codes(&run), Vec::<&str>::new());
    }

    #[test]
    fn blocks_on_the_same_pair_of_hosts_count_once() {
        let run = on_hosts([&["a", "b"], &["c", "d"]]);
        let analysis = analyse(&run);
        assert_eq!(analysis.comparisons[0].throughput().expect("a ratio").blocks.len(), 2, "two pairs of hosts");
        assert!(analysis.hosts.expect("hosts").ratios.is_empty());
        assert_eq!(codes(&run), ["hosts-apart"]);
    }

    const P_OF_SCIPY: f64 = 0.000_198_822_965_391_699_2;

    /// `scipy.stats.f_oneway(*[numpy.log(x) for x in ([0.9, 0.91, 0.92], [0.8, 0.82, 0.81], [0.9, 0.88, 0.92])])`: F and p by
    /// scipy 1.17.1.
    #[test]
    fn hosts_are_held_against_each_other_as_scipy_does() {
        let ratios = [
            ("a", 0.9),
            ("a", 0.91),
            ("a", 0.92),
            ("b", 0.8),
            ("b", 0.82),
            ("b", 0.81),
            ("c", 0.9),
            ("c", 0.88),
            ("c", 0.92),
        ];
        let found = p_alike(&ratios).expect("three of each");
        assert!((found - P_OF_SCIPY).abs() < 1e-9, "{found}");
        assert_eq!(p_alike(&ratios[..3]), None, "one host");
        assert_eq!(p_alike(&[("a", 0.9), ("b", 0.8)]), None, "one block each");
        assert_eq!(p_alike(&[("a", 0.9), ("a", 0.9), ("b", 0.8), ("b", 0.8)]), Some(0.0));
    }
}
