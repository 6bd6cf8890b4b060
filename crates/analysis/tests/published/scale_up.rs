//! Order entry and a store's orders on machines with more and more vCPUs.

use crate::records::{Figure, run};
use crate::{close, ratio};
use analysis::measures::work::STATEMENTS;
use analysis::missing::Missing;
use analysis::scaling::law::LawPeak;
use analysis::scaling::{Crossing, Remark, Scaling};
use analysis::summary::analyse;
use analysis::topology::VcpuPlace;
use record::facts::Fact;
use record::run::Run;
use record::settings::key;

const VCPUS: &str = "machine.vcpus";

/// *Virtualizing Performance-Critical Database Applications in VMware vSphere*, 2009, table 1: thousands of business
/// transactions a minute on eight processors, and disk operations a second, both native and in a guest.
mod order_entry_2009 {
    pub const PER_MINUTE: (u64, u64) = (293_000, 250_000);
    pub const DISK_OPERATIONS: (u64, u64) = (71_000, 60_000);
    /// Table 8: from 2 to 4 and from 4 to 8 vCPUs.
    pub const DOUBLINGS: (f64, f64) = (1.90, 1.87);
    /// Figure 3 and the text: thousandths of the old version's throughput with 2 vCPUs.
    pub const OLD_VERSION: [(u64, u64); 2] = [(2, 1_000), (4, 1_850)];
    pub const NEW_VERSION: [(u64, u64); 3] = [(2, 1_240), (4, 2_370), (8, 4_430)];
    /// The factor by which the new version is faster with 2 and with 4 vCPUs.
    pub const GAINS: [f64; 2] = [1.24, 1.28];
}

/// *VMware vSphere 6 and Oracle Database Scalability Study*, 2015, table 1: orders a minute.
mod store_2015 {
    pub const PER_MINUTE: [(u64, u64); 5] =
        [(15, 102_108), (30, 205_642), (45, 299_933), (60, 378_269), (120, 468_348)];
    /// Multiples of the smallest, as printed.
    pub const GROWTH: [f64; 5] = [1.0, 2.0, 2.9, 3.7, 4.6];
    /// 60 vCPUs on both threads of 30 cores, and the printed multiple of the smallest.
    pub const ON_30_CORES: (u64, f64) = (231_917, 2.3);
    pub const SOCKETS: usize = 4;
    pub const CORES: usize = 60;
    pub const GAIN_OF_SECOND_THREADS: f64 = 1.24;
}

#[test]
fn a_guest_does_0_853_of_native_order_entry() {
    let (native, guest) = order_entry_2009::PER_MINUTE;
    let run = run(&[Figure::of("native", native).baseline(), Figure::of("guest", guest)]);
    let analysis = analyse(&run);
    ratio(analysis.comparisons[0].throughput(), 0.853, 0.0005);
}

/// 14.54 and 14.40 disk operations per transaction: the machines did the same work. Here they count as statements,
/// whose number is compared.
#[test]
fn native_and_guest_did_the_same_work_for_each_transaction() {
    let ((native, guest), (operations, in_guest)) = (order_entry_2009::PER_MINUTE, order_entry_2009::DISK_OPERATIONS);
    let mut run = run(&[Figure::of("native", native).baseline(), Figure::of("guest", guest)]);
    for (trial, (transactions, per_second)) in run.trials.iter_mut().zip([(native, operations), (guest, in_guest)]) {
        let work = &mut trial.record.driver.as_mut().unwrap().work;
        (work.transactions, work.statements) = (transactions, per_second * 60);
        (work.rows_returned, work.rows_changed) = (0, 0);
    }
    let analysis = analyse(&run);
    for (cell, published) in analysis.cells.iter().zip([14.54, 14.40]) {
        close(cell.level(STATEMENTS).unwrap().point, published, 0.005);
    }
    assert_eq!(analysis.consistency.unequal_work, []);
}

#[test]
fn order_entry_grows_by_1_90_and_1_87_for_each_doubling() {
    let (first, second) = order_entry_2009::DOUBLINGS;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let counted = [1.0, first, first * second].map(|times| (times * 100_000.0_f64).round() as u64);
    let figures = [2, 4, 8].into_iter().zip(counted);
    let figures: Vec<Figure> =
        figures.map(|(vcpus, counted)| Figure::of("guest", counted).with(VCPUS, vcpus)).collect();
    let curve = only_curve(&run(&figures));
    ratio(curve.steps[0].per_doubling.as_ref(), first, 0.0005);
    ratio(curve.steps[1].per_doubling.as_ref(), second, 0.0005);
    ratio(curve.points[2].growth.as_ref(), 3.553, 0.0005);
    ratio(curve.points[2].efficiency.as_ref(), 0.888, 0.0005);
    // `scipy.optimize.least_squares` of logarithms, scipy 1.17.1: σ = 0.021053, κ = 0; three sizes show no bend.
    let law = curve.universal.unwrap();
    close(law.contention.point, 0.021_053_4, 1e-6);
    close(law.coherency.point, 0.0, 1e-9);
    let LawPeak::NotDetermined { extrapolated: None, why } = law.peak else { panic!("three sizes cannot tell a peak") };
    assert!(why.iter().any(|why| matches!(why, Missing::TooFewSizes { needed: 6, .. })), "{why:?}");
    close(curve.amdahl.unwrap().contention.point, 0.021_053_4, 1e-6);
}

#[test]
fn two_versions_are_compared_at_each_size() {
    let old =
        order_entry_2009::OLD_VERSION.map(|(vcpus, counted)| Figure::of("old", counted).baseline().with(VCPUS, vcpus));
    let new = order_entry_2009::NEW_VERSION.map(|(vcpus, counted)| Figure::of("new", counted).with(VCPUS, vcpus));
    let analysis = analyse(&run(&old.into_iter().chain(new).collect::<Vec<_>>()));
    for (comparison, gain) in analysis.comparisons.iter().zip(order_entry_2009::GAINS) {
        ratio(comparison.throughput(), gain, 0.005);
    }
    assert_eq!(analysis.comparisons.len(), 2, "the old version had no 8 vCPUs");
    let new = analysis.scaling.iter().find(|curve| curve.contender == "new").unwrap();
    ratio(new.steps[0].growth.as_ref(), order_entry_2009::DOUBLINGS.0, 0.015);
    ratio(new.steps[1].growth.as_ref(), order_entry_2009::DOUBLINGS.1, 0.005);
}

fn only_curve(run: &Run) -> Scaling {
    let mut curves = analyse(run).scaling;
    assert_eq!(curves.len(), 1);
    assert_eq!(curves[0].axis, key::VCPUS);
    curves.remove(0)
}

/// The first threads of the first cores, then their second threads, as the study's hypervisor placed them.
fn on_first_threads(vcpus: u64) -> String {
    format!("0-{}", vcpus - 1)
}

/// The study's host: four sockets of 15 cores with two threads each.
fn store(figures: &[Figure]) -> Run {
    use store_2015::{CORES, SOCKETS};
    let mut run = run(figures);
    let cores: Vec<String> = (0..CORES).map(|core| format!("{core},{}", core + CORES)).collect();
    let of_socket = CORES / SOCKETS;
    let node = |node: usize| {
        let first = node * of_socket;
        let last = first + of_socket - 1;
        format!("{first}-{last},{}-{}", first + CORES, last + CORES)
    };
    let nodes: Vec<String> = (0..SOCKETS).map(node).collect();
    for (name, fact) in [
        ("cpu.cores", CORES.to_string()),
        ("cpu.threads", (2 * CORES).to_string()),
        ("cpu.core_cpus", cores.join("; ")),
        ("memory.numa_nodes", SOCKETS.to_string()),
        ("memory.node_cpus", nodes.join("; ")),
    ] {
        run.host.insert(name.to_owned(), Fact::known(fact));
    }
    run
}

fn store_sizes() -> Vec<Figure> {
    let sized = |(vcpus, counted)| Figure::of("guest", counted).with(VCPUS, vcpus).on_cpus(on_first_threads(vcpus));
    store_2015::PER_MINUTE.map(sized).into_iter().collect()
}

#[test]
fn a_store_grows_to_4_6_times_and_by_24_percent_from_second_threads() {
    let run = store(&store_sizes());
    let gains = analyse(&run).thread_gains;
    assert_eq!(gains.iter().map(|gain| gain.cores).collect::<Vec<_>>(), [60]);
    ratio(gains[0].gain.as_ref(), store_2015::GAIN_OF_SECOND_THREADS, 0.005);
    let curve = only_curve(&run);
    for (point, published) in curve.points.iter().zip(store_2015::GROWTH) {
        ratio(point.growth.as_ref(), published, 0.05);
    }
    for (point, efficiency) in curve.points.iter().zip([1.0, 1.007, 0.979, 0.926]) {
        ratio(point.efficiency.as_ref(), efficiency, 0.0005);
    }
    let last = curve.steps.last().unwrap();
    ratio(last.growth.as_ref(), store_2015::GAIN_OF_SECOND_THREADS, 0.005);
    assert_eq!(last.crosses, [Crossing::SharedCores { vcpus: 120.0, cores: 60 }]);
    assert_eq!(curve.steps[0].crosses, [Crossing::MemoryNodes { from: 1, to: 2 }]);
    assert_eq!(curve.points.iter().map(|point| point.place.nodes).collect::<Vec<_>>(), [1, 2, 3, 4, 4].map(Some));
}

/// The record has the cores of the host of the run, which are not those of machines elsewhere.
#[test]
fn nothing_is_known_of_the_cores_of_another_host() {
    let mut run = store(&store_sizes());
    for cell in &mut run.plan.cells {
        cell.settings.set("platform.kind", serde_json::json!("host")).unwrap();
    }
    let curve = only_curve(&run);
    assert!(curve.points.iter().all(|point| point.place == VcpuPlace::default()), "{:?}", curve.points);
    assert_eq!(curve.remarks, [Remark::CoresUnknown, Remark::NodesUnknown]);
    assert_eq!(analyse(&run).thread_gains, []);
}

/// With four sizes of one trial each, the law's peak is beyond everything measured: an extrapolation, not a finding.
#[test]
fn the_peak_of_the_store_is_an_extrapolation() {
    let curve = only_curve(&store(&store_sizes()));
    let law = curve.universal.as_ref().unwrap();
    assert_eq!(law.sizes, [15.0, 30.0, 45.0, 60.0], "the size on second threads is not part of the law");
    assert!(curve.remarks.contains(&Remark::CoresSharedAtSomeSizes), "{:?}", curve.remarks);
    // `least_squares` of logarithms, bounds (0, inf), scipy 1.17.1: 6933.6884, 0 and 2.5746273e-5; √((1 − σ)/κ) = 197.08.
    close(law.rate_of_one.point * per_minute(), 6_933.688, 0.1);
    close(law.contention.point, 0.0, 1e-9);
    close(law.coherency.point, 2.574_627e-5, 1e-10);
    let LawPeak::NotDetermined { extrapolated, why } = &law.peak else { panic!("{law:?}") };
    close(extrapolated.unwrap(), 197.08, 0.01);
    assert!(why.contains(&Missing::PeakBeyond { times: 2.0, largest: 60.0 }), "{why:?}");
    assert!(why.iter().any(|why| matches!(why, Missing::NoInterval { .. })), "{why:?}");
}

/// The windows of made-up trials are 24 seconds long and their metric is per minute.
fn per_minute() -> f64 {
    24.0 / 60.0
}

/// 60 vCPUs mean two different machines: on 60 cores, and on both threads of 30.
#[test]
fn sixty_vcpus_on_thirty_cores_are_another_machine() {
    let (counted, published) = store_2015::ON_30_CORES;
    let pinned = Figure::of("pinned", counted).with(VCPUS, 60).on_cpus("0-29,60-89".to_owned());
    let largest = Figure::of("pinned", store_2015::PER_MINUTE[4].1).with(VCPUS, 120).on_cpus(on_first_threads(120));
    let run = store(&store_sizes().into_iter().chain([pinned, largest]).collect::<Vec<_>>());
    let curves = analyse(&run).scaling;
    let pinned = curves.iter().find(|curve| curve.contender == "pinned").unwrap();
    assert_eq!((pinned.points[0].place.cores, pinned.points[0].place.nodes), (Some(30), Some(2)));
    assert_eq!(pinned.remarks[1], Remark::CoresSharedAtEverySize);
    ratio(pinned.steps[0].growth.as_ref(), 4.6 / published, 0.03);
    ratio(pinned.steps[0].growth.as_ref(), 2.019, 0.0005);
}
