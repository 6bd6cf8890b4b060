//! What is warned of, and what is not.

use super::*;
use crate::summary::analyse;
use record::facts::{DATA_CACHED_TWICE, PROCESSOR};
use record::synthetic;

fn texts(run: &Run, severity: Severity) -> Vec<String> {
    let warnings = analyse(run).warnings.into_iter();
    warnings.filter(|warning| warning.severity == severity).map(|warning| warning.text).collect()
}

#[test]
fn a_sound_run_has_only_what_its_platform_could_not_honour_and_its_guest_s_kernel() {
    let run = synthetic::run(5);
    assert_eq!(texts(&run, Severity::Serious), Vec::<String>::new());
    let cautions = texts(&run, Severity::Caution);
    let expected = [
        "native: memory limit is unavailable, because no cgroup could be made: permission denied (trials 2, 3, 6, 7, 10)",
        "inside, contenders differ in what no platform is meant to change, so ratios are of that, too: kernel.release: \
         6.1.0-25-amd64 (native), 6.1.0-25-cloud-amd64 (kvm)",
    ];
    assert_eq!(cautions, expected);
}

#[test]
fn everything_that_went_wrong_is_said() {
    let serious = texts(&synthetic::troubled(), Severity::Serious);
    for expected in [
        "kvm failed in load: the guest ended",
        "kvm was skipped: kvm does not work here (trial ",
        "kvm is invalid: the driver was the bottleneck (trial ",
        "1 of 10 planned trials were not run (trial 10)",
        "data check order-entry/consistency-01 is violated on kvm (trial ",
        "statements per transaction: 26.00 on native, 28.60 on kvm (tolerated: ",
        "effective database settings differ between contenders: synchronous",
        "the clock inside kvm ran up to 2.69 % or more faster or slower than the host's (trials ",
    ] {
        assert!(serious.iter().any(|text| text.contains(expected)), "{expected} is not among {serious:#?}");
    }
}

#[test]
fn data_on_other_storage_is_serious() {
    let mut run = synthetic::run(3);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 0) {
        let machine = trial.record.machine.as_mut().unwrap();
        machine.decided.insert("data".to_owned(), Fact::known("a plain folder of the host"));
    }
    let expected =
        "“data” differs between contenders: a plain folder of the host on native; ext4 in an image file on kvm";
    assert_eq!(texts(&run, Severity::Serious), [expected]);
}

#[test]
fn a_second_cache_on_one_side_is_serious_and_its_details_are_not() {
    let mut run = synthetic::run(3);
    let said = |run: &mut Run, text: &str| {
        for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 0) {
            let machine = trial.record.machine.as_mut().unwrap();
            machine.decided.insert(DATA_CACHED_TWICE.to_owned(), Fact::known(text));
        }
    };
    said(&mut run, "no, the loop device has direct I/O");
    assert_eq!(texts(&run, Severity::Serious), Vec::<String>::new());
    said(&mut run, "yes, the loop device could not have direct I/O");
    let expected = "“data cached twice” differs between contenders: no on kvm; yes on native. Where it is yes, the host's page \
                    cache serves reads too: memory beyond the machine's shape";
    assert_eq!(texts(&run, Severity::Serious), [expected]);
}

#[test]
fn a_contender_that_is_fast_and_slow_in_turns_is_told() {
    let mut run = synthetic::run(3);
    let trial = run.trials.iter_mut().find(|trial| trial.record.cell == 0).unwrap();
    let totals = &mut trial.record.driver.as_mut().unwrap().kinds[0];
    totals.committed *= 2;
    let cautions = texts(&run, Severity::Caution);
    let told =
        |text: &&String| text.starts_with("native was 2.0 times as fast in its fastest trial as in its slowest: ");
    assert_eq!(cautions.iter().filter(told).count(), 1, "{cautions:?}");
    assert!(!cautions.iter().any(|text| text.starts_with("kvm was")), "{cautions:?}");
}

#[test]
fn an_emulated_contender_is_serious_and_comes_with_the_reason() {
    let mut run = synthetic::run(3);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let machine = trial.record.machine.as_mut().unwrap();
        machine.decided.insert(PROCESSOR.to_owned(), Fact::known("emulated, because /dev/kvm is not there"));
    }
    let expected = "kvm ran emulated, because /dev/kvm is not there (trials 1, 4, 5). Its figures are those of an emulator, not of \
                    a hypervisor with hardware virtualization";
    assert_eq!(texts(&run, Severity::Serious), [expected]);
    let analysis = analyse(&run);
    assert_eq!(analysis.comparisons[0].emulated, ["kvm"]);
    assert_eq!(analysis.cells[1].processor.as_deref(), Some("emulated"));
}

#[test]
fn a_clock_is_only_accused_beyond_what_its_readings_are_worth() {
    let reading = |offset_ns, round_trip_ns| ClockReading { at: String::new(), offset_ns, round_trip_ns };
    // 1 ms apart over one second is one in a thousand, if the readings were exact.
    let exact = clock_rate_error(&[reading(0, 0), reading(1_000_000, 0)], 1000).unwrap();
    assert!((exact - 0.001).abs() < 1e-12, "{exact}");
    let vague = clock_rate_error(&[reading(0, 1_000_000), reading(1_000_000, 1_000_000)], 1000);
    assert_eq!(vague, Some(0.0));
    assert_eq!(clock_rate_error(&[], 1000), None);
}

#[test]
fn too_few_blocks_and_a_missing_baseline_are_told() {
    let mut run = synthetic::run(2);
    assert!(texts(&run, Severity::Caution).iter().any(|text| text.contains("2 of the at least 3 blocks")));
    run.plan.cells[0].baseline = false;
    let serious = texts(&run, Severity::Serious);
    assert_eq!(serious, ["no contender is the baseline: nothing is compared"]);
}
