//! A workload with phases of its own: its load says neither who works nor for how long.

use crate::fixture::{STUDY, host};
use insta::assert_snapshot;
use record::plan::Plan;
use study::{Against, Catalogs, OfferedWork, TypedPlan};

fn planned(load: &str, more: &str) -> Result<Plan, String> {
    let text = STUDY
        .replace("kind = \"server\"", "kind = \"postgres\"")
        .replace("kind = \"orders\"\nwarehouses = 2", "kind = \"decision-support-h\"\nscale = 0.01")
        .replace("clients = 4\nwarmup = \"3s\"\nmeasure = \"10s\"", load)
        .replace("kind = \"vm\", disk = { cache = \"writeback\" }", "kind = \"qemu\"");
    let planned = study::plan("x", &(text + more), Against::Baseline, &Catalogs::standard(), &host());
    planned.map_err(|problems| study::render(&problems, "x.toml"))
}

fn refused(load: &str, more: &str) -> String {
    planned(load, more).expect_err("a problem")
}

#[test]
fn its_load_has_a_place_and_no_clients() {
    let plan = planned("placement = \"outside\"\nmax_other_cpu = \"5%\"", "").unwrap();
    let typed = TypedPlan::read(plan.clone(), platforms::catalog::settings).unwrap();
    let load = &typed.typed()[0].load;
    assert_eq!((load.offered, load.warmup_ms.0, load.measure_ms.0), (OfferedWork::OwnPhases, 0, 0));
    assert_eq!(load.other_load.map(|limit| limit.max_repeats), Some(3));
    let written = plan.cells[0].settings.tables()["load"].as_object().unwrap();
    let names: Vec<&str> = written.keys().map(String::as_str).collect();
    assert_eq!(names, ["placement", "shards", "retries", "telemetry", "max_other_cpu", "max_repeats"]);
}

#[test]
fn keys_that_would_say_who_works_are_refused() {
    assert_snapshot!(refused("clients = 4\nmeasure = \"10s\"", ""), @r"
    x.toml:17: load.clients: given; expected no such key, because decision-support-h has phases of its own
    x.toml:18: load.measure: given; expected no such key, because decision-support-h has phases of its own
    ");
    let sweep = "[sweep]\n\"load.clients\" = [1, 2]\n";
    assert_snapshot!(refused("placement = \"inside\"", sweep), @"x.toml:27: load.clients: given; expected no such key, because decision-support-h has phases of its own");
    assert_snapshot!(refused("max_repeats = 2", ""), @"x.toml:17: load.max_repeats: given; expected this key only beside max_other_cpu");
}

#[test]
fn no_exception_has_it() {
    let exception = STUDY
        .replace(
            "vcpus = 2",
            "vcpus = 1\ncount = 2\nexception = { number = 2, workload = { kind = \"decision-support-h\" } }",
        )
        .replace("kind = \"server\"", "kind = \"postgres\"")
        .replace("kind = \"orders\"", "kind = \"order-entry\"")
        .replace("kind = \"vm\", disk = { cache = \"writeback\" }", "kind = \"qemu\"");
    let refused = study::plan("x", &exception, Against::Baseline, &Catalogs::standard(), &host()).unwrap_err();
    assert_snapshot!(study::render(&refused, "x.toml"), @r#"x.toml:8: machine.exception.workload.kind: found "decision-support-h"; expected a workload without phases of its own"#);
}
