//! Sentences as a reader sees them.

use super::*;
use analysis::estimate::Bounds;
use analysis::explanation::rules::{HeldBackDisk, ShareOf};

fn around(point: f64, low: f64, high: f64) -> Estimate {
    Estimate {
        point,
        bounds: Bounds::Known { low, high },
        method: analysis::estimate::EstimateMethod::GeometricMeanOverBlocks,
    }
}

#[test]
fn a_held_back_disk_is_told_with_both_devices() {
    let reason = Reason::HeldBackDisk(HeldBackDisk {
        who: "kvm".to_owned(),
        busy: around(0.99, 0.988, 0.992),
        per_second: around(100.0, 99.9, 100.1),
        varies: around(0.0, 0.0, 0.001),
        guest: around(8.0, 8.0, 8.0),
        host: around(0.2, 0.19, 0.21),
        busy_below: Some(around(0.025, 0.02, 0.03)),
    });
    assert_eq!(
        sentence(&reason),
        "kvm's disk looks limited: the guest's device was busy for 99.0 % (98.8 to 99.2) of the window at a steady 100 (99.9 to \
         100) operations a second (varying by 0.0 % (0.0 to 0.1)), 8.00 ms (8.00 to 8.00) each. The host's device below took \
         0.200 ms (0.190 to 0.210) and was busy for 2.5 % (2.0 to 3.0)."
    );
}

#[test]
fn a_shared_cpu_is_told_of_one_vcpu_or_of_all() {
    let shared = |all| {
        sentence(&Reason::SharedCpu(SharedCpu {
            who: "kvm".to_owned(),
            all,
            vcpu: "1".to_owned(),
            of_wanted: around(0.49, 0.48, 0.51),
            of_window: around(0.38, 0.37, 0.4),
            other: Some(ShareOf { who: "native".to_owned(), share: around(0.01, 0.005, 0.015) }),
        }))
    };
    assert_eq!(
        shared(false),
        "kvm's vCPU 1 waited 38.0 % (37.0 to 40.0) of the window for a CPU of the host (native: 1.0 % (0.5 to 1.5)). That is \
         49.0 % (48.0 to 51.0) of the time it was runnable."
    );
    assert!(shared(true).starts_with("kvm's vCPUs waited 38.0 % (37.0 to 40.0) of the window"), "{}", shared(true));
}

#[test]
fn machines_are_told_with_what_the_study_did_to_them() {
    let told = |cause| of_machine(&reasons::MachineReason { machine: 2, cause });
    let quota = Cause::CpuQuota {
        found: OwnAndOthers { own: around(0.48, 0.47, 0.49), others: around(0.0, 0.0, 0.0), times: None },
        several_cpus: true,
        quota_of_study: Some(0.5),
    };
    assert_eq!(
        told(quota),
        "Machine 2 was throttled by its CPU quota for 48.0 % (47.0 to 49.0) of the window; the others: 0.0 % (0.0 to 0.0). The study \
         holds it to 50 % of the time of its vCPUs (machine.exception)."
    );
    let alike = vec![Suspect::CpuQuota, Suspect::WaitingForCpu];
    let not_counted = vec![Suspect::StolenTime, Suspect::DiskTime, Suspect::Interrupts];
    assert_eq!(
        told(Cause::NotKnown { alike, not_counted: not_counted.clone() }),
        "Why machine 2 gets less than the others is not known: it is not surely set apart by a CPU quota and waiting for a CPU of \
         the host. Not counted of all machines: stolen time, the time of its disk's operations and interrupts."
    );
    assert!(
        told(Cause::NotKnown { alike: vec![], not_counted })
            .ends_with("nothing was counted of all machines of a trial.")
    );
}
