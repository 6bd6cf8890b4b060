//! Several machines side by side on one host.

use crate::close;
use crate::records::{Figure, run};
use analysis::consolidation;
use analysis::summary::analyse;

/// *Virtualization Performance Insights from TPC-VMS*, 2013, figure 2: throughput of each machine relative to the
/// native system, with one machine of 16 vCPUs and with three of 6.
mod prototype_2013 {
    pub const ONE_MACHINE: f64 = 0.84;
    pub const THREE_MACHINES: [f64; 3] = [0.23, 0.36, 0.24];
}

#[test]
fn three_machines_have_a_minimum_of_0_23_and_a_sum_of_0_83() {
    let shares = consolidation::of(&prototype_2013::THREE_MACHINES).unwrap();
    close(shares.minimum, 0.23, 1e-12);
    close(shares.sum, 0.83, 1e-12);
    close(shares.minimum_of_all, 0.69, 1e-12);
    close(shares.largest_over_smallest, 0.36 / 0.23, 1e-12);
    // Together they do nearly as much as one large machine; judged by the slowest, a sixth less.
    close(shares.sum / prototype_2013::ONE_MACHINE, 0.988, 0.0005);
    close(shares.minimum_of_all / prototype_2013::ONE_MACHINE, 0.821, 0.0005);
}

#[test]
fn one_machine_does_0_84_of_native() {
    let run = run(&[Figure::of("native", 100_000).baseline(), Figure::of("guest", 84_000)]);
    crate::ratio(analyse(&run).comparisons[0].throughput(), prototype_2013::ONE_MACHINE, 1e-9);
}

/// *Our First Virtualization Benchmark: OLTP Linux on ESX 3.5 Update 2*, 2008. It describes the setup but gives no
/// throughput in words: 8 to 32 threads in steps of 8, with 50,000 transactions each, on two to six machines of four vCPUs.
mod sysbench_2008 {
    pub const THREADS: [u64; 4] = [8, 16, 24, 32];
    pub const TRANSACTIONS: u64 = 50_000;
}

/// More data are not more resources: there is growth, but neither an efficiency nor a law.
#[test]
fn any_number_that_is_swept_makes_a_curve() {
    let step = |(warehouses, counted)| Figure::of("guest", counted).with("workload.warehouses", warehouses);
    let curves = analyse(&run(&[(10, 4_000), (100, 2_000), (1_000, 1_000), (10_000, 500)].map(step))).scaling;
    let [curve] = &curves[..] else { panic!("one curve") };
    let sizes: Vec<f64> = curve.points.iter().map(|point| point.size).collect();
    assert_eq!((curve.axis.as_str(), sizes), ("workload.warehouses", vec![10.0, 100.0, 1_000.0, 10_000.0]));
    crate::ratio(curve.points[3].growth.as_ref(), 0.125, 1e-12);
    assert!(curve.points.iter().all(|point| point.efficiency.is_none()), "{:?}", curve.points);
    assert_eq!((&curve.universal, &curve.amdahl), (&None, &None));
}

/// So the only question is whether steps of threads are recognised as one curve over clients. It has as many sizes as a
/// law needs and, with equal counts, no growth at all.
#[test]
fn steps_of_threads_are_a_curve_over_clients() {
    let step = |threads| Figure::of("guest", sysbench_2008::TRANSACTIONS).with("load.clients", threads);
    let curves = analyse(&run(&sysbench_2008::THREADS.map(step))).scaling;
    let [curve] = &curves[..] else { panic!("one curve") };
    assert_eq!((curve.axis.as_str(), curve.points.len(), curve.remarks.len()), ("load.clients", 4, 0));
    crate::ratio(curve.points[3].growth.as_ref(), 1.0, 1e-12);
    crate::ratio(curve.points[3].efficiency.as_ref(), 0.25, 1e-12);
}
