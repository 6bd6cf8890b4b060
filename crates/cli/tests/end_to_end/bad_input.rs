//! Bad input: a clear message, the right exit code, nothing started.

use crate::setting::{Place, text};

const GOOD: &str = r#"
question = "Does it work?"
blocks = 1
[machine]
vcpus = 1
memory = "512MiB"
[engine]
kind = "sqlite"
[workload]
kind = "order-entry"
warehouses = 1
[load]
clients = 1
warmup = "1s"
measure = "1s"
[[contender]]
name = "native"
platform = { kind = "native" }
"#;

fn refused(study: &str, expected: &[&str]) {
    let place = Place::new(study);
    for command in ["plan", "run"] {
        let output = place.bakeoff(&[command, "study.toml"]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        for part in expected {
            assert!(told.contains(part), "{part:?} is not in:\n{told}");
        }
        assert!(!place.folder.path().join("runs").exists(), "something was begun");
    }
}

#[test]
fn a_good_study_is_planned_without_starting_anything() {
    let place = Place::new(GOOD);
    let output = place.bakeoff(&["plan", "study.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("native (baseline)"));
    assert!(!place.folder.path().join("runs").exists());
}

#[test]
fn a_plan_tells_what_several_machines_take_and_where_they_run() {
    let place = Place::new(&GOOD.replace("vcpus = 1", "vcpus = 1\ncount = 2\noversubscribe = true"));
    let output = place.bakeoff(&["plan", "study.toml"]);
    let told = text(&output.stdout);
    for part in ["2 machines of 1 vCPU and 512 MiB: 2 vCPUs on", "1 GiB of", "place 2: CPUs ", "native, 2 machines\n"] {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn every_problem_is_told_at_once_with_its_line_and_the_nearest_word() {
    let study = GOOD.replace("warehouses = 1", "warehouse = 1").replace("\"512MiB\"", "\"512 apples\"");
    refused(&study, &["study.toml:11", "did you mean \"warehouses\"", "study.toml:6", "512 apples"]);
}

#[test]
fn zero_vcpus_and_more_memory_than_the_host_has_are_refused() {
    refused(&GOOD.replace("vcpus = 1", "vcpus = 0"), &["study.toml:5", "vcpus"]);
    refused(&GOOD.replace("512MiB", "15TiB"), &["study.toml:6", "memory"]);
}

#[test]
fn what_a_virtual_machine_cannot_have_is_refused_in_its_line() {
    let vm = |settings: &str| {
        let platform = format!("platform = {{ kind = \"qemu\", {settings} }}");
        format!("{GOOD}[[contender]]\nname = \"vm\"\n{platform}\n")
    };
    let ahci = vm("disk = { adapter = \"ahci\" }");
    refused(&ahci, &["study.toml:21: platform.disk.adapter: found \"ahci\"", "kernel = \"generic\"", "contender vm"]);
    let generic = Place::new(&ahci.replace("vcpus = 1", "vcpus = 1\nkernel = \"generic\""));
    assert_eq!(generic.bakeoff(&["plan", "study.toml"]).status.code(), Some(0));
    refused(
        &vm("disk = { adapter = \"nvme\", iothread = true }"),
        &["study.toml:21: platform.disk.iothread", "virtio"],
    );
    refused(&vm("cpu = \"auto\"").replace("512MiB", "100MiB"), &["study.toml:21: platform: ", "100 MiB", "128 MiB"]);
    refused(&GOOD.replace("vcpus = 1", "vcpus = 1\nimage = \"micra\""), &["study.toml:6: machine.image", "\"micro\"?"]);
}

#[test]
fn a_precision_that_is_none_is_refused_in_its_line() {
    let wishing = |wish: &str| GOOD.replace("blocks = 1", &format!("precision = {wish}"));
    for wish in ["\"0%\"", "\"1\"", "1", "\"200%\"", "\"-1%\""] {
        refused(&wishing(wish), &["study.toml:3: precision: found", "a share such as \"5%\", from 0.1 % to 50 %"]);
    }
    let other = "[[contender]]\nname = \"other\"\nplatform = { kind = \"native\" }\n";
    let few = GOOD.replace("blocks = 1", "blocks = 5\nprecision = \"1%\"") + other;
    refused(&few, &["study.toml:3: blocks: found 5; expected at least 10 beside precision"]);
    let stray = GOOD.replace("blocks = 1", "blocks = 5\ntime_limit = \"2h\"");
    refused(&stray, &["study.toml:4: time_limit: given; expected this key only beside precision"]);
}

#[test]
fn a_load_from_outside_needs_an_engine_with_a_network() {
    refused(&GOOD.replace("clients = 1", "clients = 1\nplacement = \"outside\""), &["placement", "sqlite"]);
}

#[test]
fn a_study_that_is_not_there_is_named() {
    let output = Place::new(GOOD).bakeoff(&["run", "absent.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("absent.toml"));
}

#[test]
fn only_a_known_contender_can_be_chosen() {
    let output = Place::new(GOOD).bakeoff(&["plan", "study.toml", "--only", "nativ"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean \"native\""), "{}", text(&output.stderr));
}

#[test]
fn rows_are_printed_without_a_database_and_parts_make_the_whole() {
    let place = Place::new(GOOD);
    let rows = |part: &[&str]| {
        let arguments = [&["rows", "order-entry", "district", "--set", "warehouses=2"], part].concat();
        let output = place.bakeoff(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let whole = rows(&[]);
    assert_eq!(whole.lines().count(), 20);
    assert_eq!(rows(&["--part", "1/3"]) + &rows(&["--part", "2/3"]) + &rows(&["--part", "3/3"]), whole);
    let wrong = place.bakeoff(&["rows", "order-entry", "districts"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("district"));
}
