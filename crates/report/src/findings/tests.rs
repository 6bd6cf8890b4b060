//! Which warnings a reader sees, and which not.

use super::*;
use analysis::estimate::{Bounds, Estimate};
use analysis::findings::Severity;
use analysis::summary::analyse;
use record::facts::{DATA_CACHED_TWICE, Fact, PROCESSOR};
use record::run::Run;
use record::synthetic;
use serde_json::json;

fn texts(run: &Run, severity: Severity) -> Vec<String> {
    let findings = analyse(run).findings.into_iter();
    findings.filter(|finding| finding.severity == severity).map(|finding| sentence(&finding)).collect()
}

#[test]
fn a_sound_run_has_only_what_its_platform_could_not_honour() {
    let run = synthetic::run(5);
    assert_eq!(texts(&run, Severity::Serious), Vec::<String>::new());
    let cautions = texts(&run, Severity::Caution);
    let expected = [
        "native: memory limit is unavailable, because no cgroup could be made: permission denied (trials 2, 3, 6, 7, 10)",
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
        "1 of 10 planned trials were not completed (trial 10)",
        "data check order-entry/consistency-01 failed on kvm (trial ",
        "26.00 statements per transaction on native, 28.60 on kvm (tolerated: ",
        "1 database setting differs between contenders: synchronous",
        "kvm's clock was up to 2.69 % faster or slower than the host's (trials ",
    ] {
        assert!(serious.iter().any(|text| text.contains(expected)), "{expected} is not among {serious:#?}");
    }
}

#[test]
fn findings_about_audits_name_contenders_and_no_trials() {
    let how = "emulated, because /dev/kvm is not there".to_owned();
    let told = [What::VmEmulated { how }, What::HostBusy { share: 0.4 }]
        .map(|what| sentence(&analysis::findings::Finding::new(what).of("none, unsafe")));
    let expected = [
        "none, unsafe's CPU was emulated in software, because /dev/kvm is not there. Emulation is many times slower than a real VM",
        "other processes took up to 40.0 % of the host's CPU time while the cost of a commit was measured (none, unsafe)",
    ];
    assert_eq!(told, expected);
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
    let expected = "“data cached twice” differs between contenders: no on kvm; yes on native. “Yes” means additional \
                    memory for reads";
    assert_eq!(texts(&run, Severity::Serious), [expected]);
}

#[test]
fn a_contender_that_is_fast_and_slow_in_turns_is_told() {
    let mut run = synthetic::run(3);
    let trial = run.trials.iter_mut().find(|trial| trial.record.cell == 0).unwrap();
    let totals = &mut trial.record.driver.as_mut().unwrap().kinds[0];
    totals.committed *= 2;
    let cautions = texts(&run, Severity::Caution);
    let expected = "native's fastest trial was 2.0 times as fast as its slowest, with a standard deviation of 40 %";
    let told = |text: &&String| *text == expected;
    assert_eq!(cautions.iter().filter(told).count(), 1, "{cautions:?}");
    assert!(!cautions.iter().any(|text| text.starts_with("kvm's fastest")), "{cautions:?}");
}

#[test]
fn an_emulated_contender_is_serious_and_comes_with_the_reason() {
    let mut run = synthetic::run(3);
    for trial in run.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let machine = trial.record.machine.as_mut().unwrap();
        machine.decided.insert(PROCESSOR.to_owned(), Fact::known("emulated, because /dev/kvm is not there"));
    }
    let expected = "kvm's CPU was emulated in software, because /dev/kvm is not there (trials 1, 4, 5). Emulation is many times slower than a \
                    real VM";
    assert_eq!(texts(&run, Severity::Serious), [expected]);
    let analysis = analyse(&run);
    assert_eq!(analysis.comparisons[0].emulated, ["kvm"]);
    assert_eq!(analysis.cells[1].processor.as_deref(), Some("emulated"));
}

#[test]
fn too_few_blocks_and_a_missing_baseline_are_told() {
    let mut run = synthetic::run(2);
    assert!(texts(&run, Severity::Caution).iter().any(|text| text.contains("2 blocks are too few")));
    run.plan.cells[0].baseline = false;
    let serious = texts(&run, Severity::Serious);
    assert_eq!(serious, ["no contender is the baseline, so nothing is compared"]);
}

#[test]
fn what_else_differs_is_told_loudly() {
    let old = synthetic::run(3);
    let mut new = old.clone();
    new.plan.seed = 9;
    new.host.insert("kernel.release".to_owned(), Fact::known("6.12.1"));
    new.host.insert("system.uptime_s".to_owned(), Fact::known("77"));
    // As written by a later version of bakeoff that reads more facts.
    new.host.insert("kvm.parameters".to_owned(), Fact::known("halt_poll_ns=0"));
    for cell in &mut new.plan.cells {
        cell.settings.set("engine.profile", json!("durable")).unwrap();
        cell.settings.set("load.pace", json!("new key")).unwrap();
    }
    for trial in new.trials.iter_mut().filter(|trial| trial.record.cell == 1) {
        let server = trial.record.server.as_mut().unwrap();
        "3.99".clone_into(&mut server.version);
        trial.record.driver.as_mut().unwrap().work.statements *= 2;
        trial.record.machine.as_mut().unwrap().inside.insert("kernel.release".to_owned(), Fact::known("6.1.9-cloud"));
    }
    let two = analysis::two_runs::compare(&old, &new, None).unwrap();
    let texts: Vec<String> = two.findings.iter().map(sentence).collect();
    let expected = [
        "the hosts differ: kernel.release was 6.1.0-25-amd64 and is 6.12.1",
        "the seeds differ: it was 20261121 and is 9, so clients sent other inputs",
        "the study's settings of native, kvm differ: engine.profile was \"sized\" and is \"durable\"; load.pace was not there \
         and is \"new key\"",
        "the machines of kvm differ: kernel.release inside was 6.1.0-25-cloud-amd64 and is 6.1.9-cloud",
        "the database servers of kvm differ: version was 3.51.1 and is 3.99",
        "the work of a transaction of kvm differs: statements per transaction were 26.00 and are 52.00",
    ];
    assert_eq!(texts, expected);
    assert!(two.findings.iter().all(|finding| finding.severity == Severity::Serious));
}

#[test]
fn a_drift_is_told_with_its_direction() {
    let bounds = Bounds::Known { low: -0.112, high: -0.05 };
    let drift = Estimate { point: -0.081, bounds, method: analysis::estimate::EstimateMethod::GeometricMeanOverBlocks };
    let finding = Finding::new(What::NotSteady { drift, drifting: 2, of: 3 }).of("kvm");
    let expected = "kvm's throughput changed by −8.1 % (−11.2 to −5.0) while it was measured (2 of 3 trials show it by themselves)";
    assert_eq!(sentence(&finding), expected);
}

#[test]
fn what_the_study_accepts_comes_last_with_its_reason_and_wrong_data_are_never_accepted() {
    let mut run = synthetic::troubled();
    for code in ["check-violated", "work-unequal"] {
        run.plan.accept.insert(code.to_owned(), "it is known".to_owned());
    }
    let warnings = lines(&analyse(&run).findings);
    let accepted: Vec<&str> =
        warnings.iter().filter(|warning| warning.accepted.is_some()).map(|warning| warning.kind).collect();
    assert_eq!(accepted, ["work-unequal"]);
    assert_eq!(warnings.last().unwrap().kind, "work-unequal");
    assert!(warnings.iter().any(|warning| warning.code == "check-violated"));
}

#[test]
fn a_code_has_one_line_with_all_that_it_is_about() {
    let apart = |contender: &str, coordinates: &str| {
        Finding::new(What::TrialsApart { times: 3.9, spread: 0.4 }).of(contender).at(coordinates)
    };
    let short = Finding::new(What::WindowTooShort).of("kvm").at("4x1");
    let missing = Finding::new(What::TrialsMissing { planned: 6 }).in_trials([5, 6]);
    let found = [apart("kvm", "4x1"), missing, apart("native", ""), short.clone(), short, apart("kvm", "4x1")];
    let lines: Vec<(&str, String)> = lines(&found).into_iter().map(|line| (line.code, line.text)).collect();
    let expected = [
        (
            "unsteady",
            "kvm's fastest trial was 3.9 times as fast as its slowest at 4x1, with a standard deviation of 40 %. Also native and kvm at 4x1; \
             window-too-short of kvm at 4x1",
        ),
        ("trials-missing", "2 of 6 planned trials were not completed (trials 5, 6)"),
    ];
    assert_eq!(lines, expected.map(|(code, text)| (code, text.to_owned())));
    let mut accepted = found.to_vec();
    accepted[2].accepted = Some("known".to_owned());
    assert_eq!(super::lines(&accepted).len(), 3, "what is accepted has a line of its own");
}
