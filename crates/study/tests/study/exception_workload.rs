//! The exception's own workload is decided like `[workload]`, wherever it is written, and refused for the same reasons.

use crate::fixture::{self, STUDY, host, typed, with};
use insta::assert_snapshot;
use record::plan::{Plan, WorkloadNote};
use serde_json::{Map, Value, json};
use settings::{Holds, Key, Problem};
use study::{Against, Catalogs, Kind};

const LOOKUPS: &[Key] = &[
    Key { name: "rows", holds: Holds::Integer { min: 1, max: 900 }, default: None, meaning: "" },
    Key { name: "think", holds: Holds::Span { min_ms: 0, max_ms: 9000 }, default: Some("2s"), meaning: "" },
];

/// The invented lookups cannot have 899 rows.
fn check_workload(kind: &str, table: &Map<String, Value>, engine: Option<&str>) -> Result<WorkloadNote, Vec<Problem>> {
    if kind == "orders" {
        return (fixture::catalogs().check_workload)(kind, table, engine);
    }
    if table["rows"] == 899 {
        let (path, found) = ("rows".to_owned(), "found 899".to_owned());
        return Err(vec![Problem { path, found, expected: "an even number".to_owned(), nearest: None }]);
    }
    Ok(WorkloadNote { kind: kind.to_owned(), notice: "Of rows.".to_owned(), deviations: Vec::new() })
}

/// The fixture's catalogs with one more workload.
fn catalogs() -> Catalogs {
    let mut catalogs = fixture::catalogs();
    catalogs.workloads.push(Kind { kind: "lookups", meaning: "", keys: LOOKUPS, remote: false, own_phases: false });
    Catalogs { check_workload, ..catalogs }
}

fn planned(text: &str) -> Result<Plan, String> {
    let planned = study::plan("x", text, Against::Baseline, &catalogs(), &host());
    planned.map_err(|problems| study::render(&problems, "x.toml"))
}

fn plan(text: &str) -> Plan {
    planned(text).unwrap_or_else(|told| panic!("{told}"))
}

/// The problems of the study with this as `machine.exception`, in line 8.
fn exception(exception: &str) -> String {
    planned(&two_machines(&format!("exception = {exception}"))).map_or_else(|told| told, |_| "no problem".to_owned())
}

fn two_machines(lines: &str) -> String {
    with("vcpus = 2", &format!("vcpus = 1\ncount = 2\n{lines}"))
}

fn own_workload(plan: &Plan, cell: usize) -> Value {
    plan.cells[cell].settings.tables()["machine"]["exception"]["workload"].clone()
}

#[test]
fn it_is_decided_with_defaults_and_units_and_read_as_the_others_is() {
    let plan = plan(&two_machines("exception = { number = 2, workload = { kind = \"lookups\", rows = 7 } }"));
    let cell = &plan.cells[0];
    assert_eq!(own_workload(&plan, 0), json!({ "kind": "lookups", "rows": 7, "think": 2000 }));
    let exception = cell.exception().unwrap();
    assert_eq!((exception.workload_kind(), cell.settings.workload()), (Some("lookups"), Some("orders")));
    assert_eq!(cell.bystander(), Some(2));
    let notices: Vec<&str> = plan.workloads.iter().map(|note| note.notice.as_str()).collect();
    assert_eq!(notices, ["Invented.", "Of rows."], "whoever reads its numbers must know where it comes from, too");
}

/// The load says when its clients come, not what they do.
#[test]
fn it_goes_with_every_load_but_idle() {
    for load in ["same", "stops", "starts", "burst"] {
        let text =
            format!("exception = {{ number = 1, load = \"{load}\", workload = {{ kind = \"lookups\", rows = 7 }} }}");
        // The measured window must be long enough for a burst.
        let text = two_machines(&text).replace("measure = \"10s\"", "measure = \"12s\"");
        assert_eq!(plan(&text).cells[0].bystander(), Some(1), "{load}");
    }
}

#[test]
fn without_it_nothing_of_it_is_in_the_plan() {
    let plan = plan(&two_machines("exception = { number = 2, clients = 9 }"));
    assert_eq!(plan.cells[0].settings.tables()["machine"]["exception"].get("workload"), None);
    assert_eq!((plan.cells[0].bystander(), plan.workloads.len()), (None, 1));
}

#[test]
fn what_it_cannot_be_is_told_as_of_any_workload() {
    assert_eq!(exception("{ number = 2, workload = { kind = \"lookups\", rows = 7 } }"), "no problem");
    assert_eq!(exception("{ number = 2, workload = { kind = \"orders\", warehouses = 2 } }"), "no problem");
    assert_snapshot!(exception("{ number = 2, workload = \"lookups\" }"), @r#"x.toml:8: machine.exception.workload: found "lookups"; expected a table with a kind"#);
    assert_snapshot!(exception("{ number = 2, workload = {} }"), @r#"x.toml:8: machine.exception.workload.kind: missing; expected "orders" or "lookups""#);
    assert_snapshot!(exception("{ number = 2, workload = { rows = 7 } }"), @r#"x.toml:8: machine.exception.workload.kind: missing; expected "orders" or "lookups""#);
    assert_snapshot!(exception("{ number = 2, workload = { kind = \"lookup\" } }"), @r#"x.toml:8: machine.exception.workload.kind: found "lookup"; expected "orders" or "lookups"; did you mean "lookups"?"#);
    assert_snapshot!(exception("{ number = 2, workload = { kind = 3 } }"), @r#"x.toml:8: machine.exception.workload.kind: found 3; expected "orders" or "lookups""#);
    assert_snapshot!(exception("{ number = 2, workload = { kind = \"lookups\", row = 7 } }"), @r#"x.toml:8: machine.exception.workload.row: unknown key; expected one of rows, think; did you mean "rows"?"#);
    assert_snapshot!(exception("{ number = 2, workload = { kind = \"lookups\", rows = 7, think = 2 } }"), @r#"x.toml:8: machine.exception.workload.think: found 2; expected a span of time such as "30s", from 0 s to 9 s"#);
    assert_snapshot!(exception("{ number = 2, workload = { kind = \"lookups\", rows = 899 } }"), @"x.toml:8: machine.exception.workload.rows: found 899; expected an even number");
    assert_snapshot!(exception("{ number = 2, workload = { kind = \"lookups\", warehouses = 2 } }"), @r"
    x.toml:8: machine.exception.workload.warehouses: unknown key; expected one of rows, think
    x.toml:8: machine.exception.workload.rows: missing; expected a whole number from 1 to 900
    ");
    assert_snapshot!(exception("{ number = 2, load = \"idle\", workload = { kind = \"lookups\", rows = 7 } }"), @r#"x.toml:8: machine.exception.workload: given; expected no workload of its own, because of load = "idle""#);
    assert_snapshot!(exception("{ number = 2, worklod = { kind = \"lookups\", rows = 7 } }"), @r#"x.toml:8: machine.exception.worklod: unknown key; expected one of number, cpu_quota, load, clients, workload; did you mean "workload"?"#);
}

/// Its problems are reported even if the machine's shape has problems, too.
#[test]
fn it_is_checked_whatever_else_is_wrong() {
    let text = two_machines(
        "memry = 1\n[machine.exception]\nnumber = 2\n[machine.exception.workload]\nkind = \"lookups\"\nrwos = 3\n",
    );
    assert_snapshot!(planned(&text.replace("memory = \"1GiB\"\n", "")).unwrap_err(), @r#"
    x.toml:8: machine.memry: unknown key; expected one of count, vcpus, memory, kernel, image, disk, oversubscribe, pinning, cpus, exception; did you mean "memory"?
    x.toml:13: machine.exception.workload.rwos: unknown key; expected one of rows, think; did you mean "rows"?
    "#);
}

#[test]
fn its_keys_are_overridden_and_another_kind_starts_anew() {
    let base = two_machines("exception = { number = 2, workload = { kind = \"lookups\", rows = 7, think = \"3s\" } }");
    let scenarios = "[[scenario]]\nname = \"many\"\nset = { \"machine.exception.workload.rows\" = 800 }\n\
                     [[scenario]]\nname = \"orders\"\n[scenario.machine.exception.workload]\nwarehouses = 3\nkind = \"orders\"\n";
    let plan = plan(&format!("{base}{scenarios}"));
    let of = |scenario: &str| {
        let cell = plan.cells.iter().position(|cell| cell.scenario.as_deref() == Some(scenario)).unwrap();
        own_workload(&plan, cell)
    };
    assert_eq!(of("many"), json!({ "kind": "lookups", "rows": 800, "think": 3000 }));
    assert_eq!(of("orders"), json!({ "kind": "orders", "warehouses": 3 }));
    let swept = format!("{base}[sweep]\n\"machine.exception.workload.rows\" = [1, 901]\n");
    assert_snapshot!(planned(&swept).unwrap_err(), @"x.toml:31: machine.exception.workload.rows: found 901; expected a whole number from 1 to 900");
}

#[test]
fn its_data_are_made_too_unless_they_are_those_of_another_machine() {
    let preparing_ms = |text: &str| study::estimate(&typed(&plan(text))).preparing_ms;
    let one = preparing_ms(STUDY);
    let own =
        |workload: &str| preparing_ms(&two_machines(&format!("exception = {{ number = 1, workload = {workload} }}")));
    assert_eq!(own("{ kind = \"lookups\", rows = 7 }"), 2 * one);
    assert_eq!(own("{ kind = \"orders\", warehouses = 3 }"), 2 * one);
    assert_eq!(own("{ kind = \"orders\", warehouses = 2 }"), one);
}
