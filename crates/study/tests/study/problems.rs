//! Every kind of problem with its exact message.

use crate::fixture::{STUDY, plus, problems, with};
use insta::assert_snapshot;

#[test]
fn the_fixture_has_none() {
    assert_eq!(problems(STUDY), "no problem");
}

#[test]
fn unknown_keys_name_the_nearest_word() {
    assert_snapshot!(problems(&with("warehouses = 2", "warehouse = 2")), @"");
    assert_snapshot!(problems(&with("seed = 7", "sead = 7")), @"");
    assert_snapshot!(problems(&plus("[machina]\nvcpus = 2\n")), @"");
    assert_snapshot!(problems(&with("cache = ", "cash = ")), @"");
    assert_snapshot!(problems(&plus("plattform = { kind = \"vm\" }\n")), @"");
}

#[test]
fn missing_keys_point_at_their_table() {
    assert_snapshot!(problems(&with("warehouses = 2", "")), @"");
    assert_snapshot!(problems(&with("question = \"What does a vm cost?\"", "")), @"");
    assert_snapshot!(problems(""), @"");
}

#[test]
fn values_of_the_wrong_type_unit_or_range() {
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 0")), @"");
    assert_snapshot!(problems(&with("\"1GiB\"", "\"1 gigabyte\"")), @"");
    assert_snapshot!(problems(&with("\"3s\"", "3")), @"");
    assert_snapshot!(problems(&with("\"10s\"", "\"10 GiB\"")), @"");
    assert_snapshot!(problems(&with("blocks = 2", "blocks = 0")), @"");
    assert_snapshot!(problems(&with("blocks = 2", "blocks = 2.5")), @"");
    assert_snapshot!(problems(&with("[load]\nclients = 4", "[load]\nclients = 10001")), @"");
    assert_snapshot!(problems(&with("seed = 7", "seed = -7")), @"");
    assert_snapshot!(problems("machine = 3\nengine = \"server\"\n"), @"");
}

#[test]
fn values_that_toml_has_and_studies_do_not() {
    assert_snapshot!(problems(&with("seed = 7", "seed = 99999999999999999999")), @"");
    assert_snapshot!(problems(&with("seed = 7", "seed = inf")), @"");
    assert_snapshot!(problems(&with("seed = 7", "seed = 1979-05-27")), @"");
}

#[test]
fn mistakes_in_the_toml_are_told_with_their_lines_and_alone() {
    assert_snapshot!(problems("question = \"?\"\nseed = \nblocks 3\n[machine\nvcpus = 2\n"), @"");
    assert_snapshot!(problems(&plus("[machine]\nvcpus = 2\n")), @"");
    assert_snapshot!(problems(&with("seed = 7", "seed = 7\nseed = 8")), @"");
}

#[test]
fn kinds_that_no_catalog_has() {
    assert_snapshot!(problems(&with("\"orders\"", "\"order\"")), @"");
    assert_snapshot!(problems(&with("kind = \"vm\"", "kind = \"qemu\"")), @"");
    assert_snapshot!(problems(&with("kind = \"server\"", "kind = 5")), @"");
}

#[test]
fn shapes_the_host_does_not_have() {
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 5")), @"");
    assert_snapshot!(problems(&with("\"1GiB\"", "\"64GiB\"")), @"");
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 2\ncount = 2")), @"");
}

#[test]
fn disks_that_contradict_themselves() {
    let disk = |disk: &str| problems(&with("vcpus = 2", &format!("vcpus = 2\ndisk = {disk}")));
    assert_snapshot!(disk("{ storage = \"device\" }"), @"");
    assert_snapshot!(disk("{ device = \"/dev/sdb\" }"), @"");
    assert_snapshot!(disk("{ storage = \"device\", device = \"sdb\" }"), @"");
}

#[test]
fn combinations_a_platform_cannot_honour() {
    assert_snapshot!(problems(&with("cache = ", "adapter = \"nvme\", cache = ")), @"");
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 4")), @"");
}

#[test]
fn what_a_workload_cannot_be() {
    assert_snapshot!(problems(&with("warehouses = 2", "warehouses = 13")), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [12, 13]\n")), @"");
}

#[test]
fn load_from_outside_on_an_embedded_engine() {
    let outside = with("[load]", "[load]\nplacement = \"outside\"");
    assert_eq!(problems(&outside), "no problem");
    assert_snapshot!(problems(&outside.replace("\"server\"", "\"sqlite\"")), @"");
    assert_snapshot!(problems(&format!("{outside}engine = {{ kind = \"sqlite\" }}\n")), @"");
}

#[test]
fn contenders_need_names_of_their_own() {
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"native\"")), @"");
    assert_snapshot!(problems(&with("name = \"vm\"", "")), @"");
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"block=2\"")), @"");
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"\"")), @"");
    assert_snapshot!(problems(STUDY.split("[[contender]]").next().unwrap()), @"");
    assert_snapshot!(problems(&STUDY.replace("[[contender]]\nname = \"vm\"", "[[scenario]]\nname = \"s\"\n[contender]\nname = \"vm\"")), @"");
}

#[test]
fn there_is_one_baseline() {
    let two = STUDY.replace("[[contender]]", "[[contender]]\nbaseline = true");
    assert_snapshot!(problems(&two), @"");
    assert_snapshot!(problems(&plus("baseline = \"yes\"\n")), @"");
}

#[test]
fn a_contender_overrides_parts_of_a_cell_only() {
    assert_snapshot!(problems(&plus("blocks = 3\n")), @"");
    assert_snapshot!(problems(&plus("set = { \"load.client\" = 3 }\n")), @"");
    assert_snapshot!(problems(&plus("set = 5\n")), @"");
    assert_snapshot!(problems(&plus("set = { \"load.clients\" = 3 }\nload = { clients = 5 }\n")), @"");
}

#[test]
fn sweeps_that_sweep_nothing() {
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouse\" = [1, 2]\n")), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = []\n")), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = 3\n")), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [1, 2, 1]\n")), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [1, \"two\"]\n")), @"");
    assert_snapshot!(problems(&plus("[sweep]\nblocks = [1, 2]\n")), @"");
    assert_snapshot!(problems(&with("seed = 7", "sweep = 7")), @"");
}

#[test]
fn overrides_that_undo_each_other() {
    assert_snapshot!(problems(&plus("[sweep]\n\"platform.disk.cache\" = [\"none\", \"writeback\"]\n")), @"");
    assert_snapshot!(problems(&plus("[[scenario]]\nname = \"s\"\nset = { \"platform.kind\" = \"vm\" }\n")), @"");
    let scenario = "[[scenario]]\nname = \"s\"\nset = { \"machine.vcpus\" = 1 }\n[sweep]\n\"machine.vcpus\" = [1, 2]\n";
    assert_snapshot!(problems(&plus(scenario)), @"");
    assert_snapshot!(problems(&plus("[sweep]\n\"machine.disk\" = [{}]\n\"machine.disk.size\" = [\"1GiB\"]\n")), @"");
}

#[test]
fn scenarios_need_names_of_their_own() {
    let scenario = "[[scenario]]\nname = \"s\"\nset = { \"machine.vcpus\" = 1 }\n";
    assert_snapshot!(problems(&plus(&format!("{scenario}{scenario}"))), @"");
    assert_snapshot!(problems(&plus("[[scenario]]\nbaseline = true\nset = { \"machine.vcpus\" = 1 }\n")), @"");
}

#[test]
fn studies_that_would_never_end() {
    let values = (1..=200).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = format!("[sweep]\n\"workload.warehouses\" = [{values}]\n\"load.clients\" = [{values}]\n");
    assert_snapshot!(problems(&plus(&sweep)), @"");
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = STUDY
        .replace("vcpus = 2", "vpcus = 2")
        .replace("\"10s\"", "10")
        .replace("warehouses = 2", "warehouses = \"two\"");
    assert_snapshot!(problems(&text), @"");
}
