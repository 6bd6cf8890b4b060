//! Every kind of problem with its exact message.

use crate::fixture::{STUDY, plus, problems, with};
use insta::assert_snapshot;

#[test]
fn the_fixture_has_none() {
    assert_eq!(problems(STUDY), "no problem");
}

#[test]
fn unknown_keys_name_the_nearest_word() {
    assert_snapshot!(problems(&with("warehouses = 2", "warehouse = 2")), @r#"x.toml:14: workload.warehouse: unknown key; expected warehouses; did you mean "warehouses"?"#);
    assert_snapshot!(problems(&with("seed = 7", "sead = 7")), @r#"x.toml:2: sead: unknown key; expected one of question, seed, blocks, margin, precision, max_blocks, time_limit, recipes, machine, platform, engine, workload, load, accept, audit, contender, scenario, sweep, ablation; did you mean "seed"?"#);
    assert_snapshot!(problems(&plus("[machina]\nvcpus = 2\n")), @r#"x.toml:29: machina: unknown key; expected one of question, seed, blocks, margin, precision, max_blocks, time_limit, recipes, machine, platform, engine, workload, load, accept, audit, contender, scenario, sweep, ablation; did you mean "machine"?"#);
    assert_snapshot!(problems(&with("cache = ", "cash = ")), @"x.toml:27: platform.disk.cash: unknown key; expected one of adapter, cache (contender vm)");
    assert_snapshot!(problems(&plus("plattform = { kind = \"vm\" }\n")), @r#"x.toml:28: contender.plattform.kind: unknown key; expected one of name, baseline, set, machine, platform, engine, workload, load; did you mean "platform"?"#);
}

#[test]
fn missing_keys_point_at_their_table() {
    assert_snapshot!(problems(&with("warehouses = 2", "")), @"x.toml:13: workload.warehouses: missing; expected a whole number from 1 to 5000");
    assert_snapshot!(problems(&with("question = \"What does a vm cost?\"", "")), @"x.toml: question: missing; expected text in quotes");
    assert_snapshot!(problems(""), @r#"
    x.toml: question: missing; expected text in quotes
    x.toml: contender: missing; expected at least one [[contender]] table
    x.toml: engine.kind: missing; expected "server" or "sqlite"
    x.toml: platform.kind: missing; expected "native" or "vm"
    x.toml: machine.vcpus: missing; expected a whole number from 1 to 1024
    x.toml: machine.memory: missing; expected a size such as "2GiB", from 64 MiB to 16 TiB
    x.toml: workload.kind: missing; expected "orders"
    x.toml: load.warmup: missing; expected a span of time such as "30s", from 0 s to 24 h
    x.toml: load.measure: missing; expected a span of time such as "30s", from 1 s to 24 h
    "#);
}

#[test]
fn values_of_the_wrong_type_unit_or_range() {
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 0")), @"x.toml:6: machine.vcpus: found 0; expected a whole number from 1 to 1024");
    assert_snapshot!(problems(&with("\"1GiB\"", "\"1 gigabyte\"")), @r#"x.toml:7: machine.memory: found "1 gigabyte"; expected a size such as "2GiB", from 64 MiB to 16 TiB"#);
    assert_snapshot!(problems(&with("\"3s\"", "3")), @r#"x.toml:18: load.warmup: found 3; expected a span of time such as "30s", from 0 s to 24 h"#);
    assert_snapshot!(problems(&with("\"10s\"", "\"10 GiB\"")), @r#"x.toml:19: load.measure: found "10 GiB"; expected a span of time such as "30s", from 1 s to 24 h"#);
    assert_snapshot!(problems(&with("blocks = 2", "blocks = 0")), @"x.toml:3: blocks: found 0; expected a whole number from 1 to 1000");
    assert_snapshot!(problems(&with("blocks = 2", "blocks = 2.5")), @"x.toml:3: blocks: found 2.5; expected a whole number from 1 to 1000");
    assert_snapshot!(problems(&with("[load]\nclients = 4", "[load]\nclients = 10001")), @r#"x.toml:17: load.clients: found 10001; expected a whole number from 1 to 10000, or "peak""#);
    assert_snapshot!(problems(&with("seed = 7", "seed = -7")), @"x.toml:2: seed: found -7; expected a whole number of at least 0");
    assert_snapshot!(problems("machine = 3\nengine = \"server\"\n"), @r#"
    x.toml:1: machine: found 3; expected a table
    x.toml:2: engine: found "server"; expected a table with a kind: "server" or "sqlite"
    x.toml: question: missing; expected text in quotes
    x.toml: contender: missing; expected at least one [[contender]] table
    x.toml: platform.kind: missing; expected "native" or "vm"
    x.toml: workload.kind: missing; expected "orders"
    x.toml: load.warmup: missing; expected a span of time such as "30s", from 0 s to 24 h
    x.toml: load.measure: missing; expected a span of time such as "30s", from 1 s to 24 h
    "#);
}

#[test]
fn all_clients_have_begun_when_the_window_begins() {
    let ramp =
        |rate: &str| problems(&with("[load]\nclients = 4", &format!("[load]\nramp_rate = \"{rate}\"\nclients = 4")));
    assert_snapshot!(ramp("1/s"), @"no problem");
    assert_snapshot!(ramp("0.9/s"), @"x.toml:17: load.ramp_rate: found 0.9/s, so that the last of 4 clients begins after 3.3 s; expected a rate at which all begin within load.warmup, 3 s");
    assert_snapshot!(problems(&with("[load]\nclients = 4", "[load]\nramp_rate = \"1/s\"\narrivals = \"9/s\"")), @"x.toml:17: load.ramp_rate: given; expected this key only beside load.clients");
}

#[test]
fn values_that_toml_has_and_studies_do_not() {
    assert_snapshot!(problems(&with("seed = 7", "seed = 99999999999999999999")), @"x.toml:2: seed: found 99999999999999999999, which does not fit 64 bits; expected text, a finite number, true or false, a list or a table");
    assert_snapshot!(problems(&with("seed = 7", "seed = inf")), @"x.toml:2: seed: found inf; expected text, a finite number, true or false, a list or a table");
    assert_snapshot!(problems(&with("seed = 7", "seed = 1979-05-27")), @"x.toml:2: seed: found the date 1979-05-27; expected text, a finite number, true or false, a list or a table");
}

#[test]
fn mistakes_in_the_toml_are_told_with_their_places_and_alone() {
    assert_snapshot!(problems("question = \"?\"\nseed = \nblocks 3\n[machine\nvcpus = 2\n"), @r#"
    x.toml:2:8: not valid TOML: no value in `seed =`; expected text in quotes, a number, true or false
    x.toml:3:8: not valid TOML: key with no value in `blocks 3`; expected `=`
    x.toml:4:9: not valid TOML: unclosed table in `[machine`; expected `]`
    "#);
    assert_snapshot!(problems(&plus("[machine]\nvcpus = 2\n")), @r#"
    x.toml:28:2: not valid TOML: duplicate key in `[machine]`
    x.toml:29:1: not valid TOML: duplicate key in `vcpus = 2`
    "#);
    assert_snapshot!(problems(&with("seed = 7", "seed = 7\nseed = 8")), @"x.toml:3:1: not valid TOML: duplicate key in `seed = 8`");
    assert_snapshot!(problems("seed = = 3\n"), @"x.toml:1:8: not valid TOML: extra `=` in `seed = = 3`");
    assert_snapshot!(problems("question = \"ü?\" x\n"), @r#"x.toml:1:17: not valid TOML: unexpected key or value in `question = "ü?" x`; expected newline or `#`"#);
    assert_snapshot!(problems("question = \"?\n"), @r#"x.toml:1:14: not valid TOML: invalid basic string in `question = "?`; expected `"`"#);
    assert_snapshot!(problems("seed = seven\n"), @"x.toml:1:8: not valid TOML: a bare word in `seed = seven`; expected text in quotes, a number, true or false");
    assert_snapshot!(problems("seed = 1e\n"), @"x.toml:1:10: not valid TOML: invalid exponent in `seed = 1e`; expected digits");
    assert_snapshot!(problems("a = [1, 2\nb = 3"), @"x.toml:2:1: not valid TOML: missing comma between array elements in `b = 3`; expected `,`");
    assert_snapshot!(problems("just words\n"), @"x.toml:1:6: not valid TOML: key with no value in `just words`; expected `=`");
}

#[test]
fn kinds_that_no_catalog_has() {
    assert_snapshot!(problems(&with("\"orders\"", "\"order\"")), @r#"x.toml:13: workload.kind: found "order"; expected "orders"; did you mean "orders"?"#);
    assert_snapshot!(problems(&with("kind = \"vm\"", "kind = \"qemu\"")), @r#"x.toml:27: platform.kind: found "qemu"; expected "native" or "vm" (contender vm)"#);
    assert_snapshot!(problems(&with("kind = \"server\"", "kind = 5")), @r#"x.toml:10: engine.kind: found 5; expected "server" or "sqlite""#);
}

#[test]
fn shapes_the_host_does_not_have() {
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 5")), @r"
    x.toml:6: machine.vcpus: found 5; expected at most 4, the CPUs of this host, or machine.oversubscribe = true
    x.toml:27: platform: found 5 vCPUs; expected at most 3 in a vm (contender vm)
    ");
    assert_snapshot!(problems(&with("\"1GiB\"", "\"64GiB\"")), @"x.toml:7: machine.memory: found 64 GiB; expected at most 8.0 GiB, the memory of this host");
}

#[test]
fn disks_that_contradict_themselves() {
    let disk = |disk: &str| problems(&with("vcpus = 2", &format!("vcpus = 2\ndisk = {disk}")));
    assert_snapshot!(disk("{ storage = \"device\" }"), @r#"x.toml:7: machine.disk.device: missing; expected the path of a block device, because of storage = "device""#);
    assert_snapshot!(disk("{ device = \"/dev/sdb\" }"), @r#"x.toml:7: machine.disk.storage: found "file"; expected "device", because machine.disk.device is given"#);
    assert_snapshot!(disk("{ storage = \"device\", device = \"sdb\" }"), @r#"x.toml:7: machine.disk.device: found "sdb"; expected the path of a block device below /dev"#);
    assert_snapshot!(disk("{ mount_options = \"nobarrier commit=5\" }"), @r#"x.toml:7: machine.disk.mount_options: found "nobarrier commit=5"; expected options of ext4, separated by commas, such as "data=journal,commit=30""#);
}

#[test]
fn combinations_a_platform_cannot_honour() {
    assert_snapshot!(problems(&with("cache = ", "adapter = \"nvme\", cache = ")), @r#"x.toml:27: platform.disk.cache: found "writeback"; expected "none" with the adapter nvme (contender vm)"#);
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 4")), @"x.toml:27: platform: found 4 vCPUs; expected at most 3 in a vm (contender vm)");
    let nvme = with("cache = \"writeback\"", "adapter = \"nvme\"");
    assert_eq!(problems(&nvme), "no problem");
    assert_snapshot!(problems(&nvme.replace("vcpus = 2", "vcpus = 2\nkernel = \"debian-12-generic\"")), @r#"x.toml:28: platform.disk.adapter: found "nvme"; expected kernel = "debian-12" (contender vm)"#);
    let outside = with("[load]", "[load]\nplacement = \"outside\"");
    assert_snapshot!(problems(&outside.replace("disk =", "accelerator = \"tcg\", disk =")), @r#"x.toml:28: platform.accelerator: found "tcg"; expected load from inside (contender vm)"#);
}

#[test]
fn images_that_there_are_not() {
    assert_eq!(problems(&with("vcpus = 2", "vcpus = 2\nimage = \"micro\"")), "no problem");
    assert_snapshot!(problems(&with("vcpus = 2", "vcpus = 2\nimage = \"mcro\"")), @r#"x.toml:7: machine.image: found "mcro"; expected "server", "server-9" or "micro"; did you mean "micro"?"#);
}

/// The study with this in its table of the engine.
fn with_version(version: &str) -> String {
    with("kind = \"server\"", &format!("kind = \"server\"\nversion = {version}"))
}

#[test]
fn versions_that_no_image_has() {
    for version in ["9", "9.2", "9.2.1"] {
        assert_eq!(problems(&with_version(&format!("\"{version}\""))), "no problem");
    }
    let image = |name: &str| with_version("\"9\"").replace("vcpus = 2", &format!("vcpus = 2\nimage = \"{name}\""));
    assert_eq!(problems(&image("server-9")), "no problem");
    // This recipe does not say what it holds; that is found out when the server starts.
    assert_eq!(problems(&image("server")), "no problem");
    let other = image("server-9").replace("version = \"9\"", "version = \"9.3\"");
    let embedded = with_version("\"3\"").replace("kind = \"server\"", "kind = \"sqlite\"");
    let told = [with_version("\"10\""), with_version("\"9beta\""), with_version("9"), other, embedded];
    assert_snapshot!(told.map(|text| problems(&text)).join("\n"), @r#"
    x.toml:11: engine.version: found "10"; expected "9.2", or a recipe of your own with version = "10" (key recipes)
    x.toml:11: engine.version: found "9beta"; expected a version such as "17" or "11.8"
    x.toml:11: engine.version: found 9; expected text in quotes
    x.toml:12: engine.version: found "9.3"; expected "9.2", the version in machine.image = "server-9", or no machine.image
    x.toml:11: engine.version: found "3"; expected no such key, because sqlite is part of bakeoff, in one version
    "#);
}

#[test]
fn folders_of_recipes_that_cannot_be_read() {
    assert_snapshot!(problems(&with("seed = 7", "recipes = \"mine\"")), @r#"x.toml:2: recipes: found "mine"; expected a folder whose recipes can be read (no file can be read here)"#);
}

#[test]
fn what_a_workload_cannot_be() {
    assert_snapshot!(problems(&with("warehouses = 2", "warehouses = 4999")), @"x.toml:14: workload.warehouses: found 4999; expected another number");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [12, 4999]\n")), @"x.toml:29: workload.warehouses: found 4999; expected another number");
}

#[test]
fn load_from_outside_on_an_embedded_engine() {
    let outside = with("[load]", "[load]\nplacement = \"outside\"");
    assert_eq!(problems(&outside), "no problem");
    assert_snapshot!(problems(&outside.replace("\"server\"", "\"sqlite\"")), @r#"x.toml:17: load.placement: found "outside"; expected "inside"; sessions of sqlite cannot come from outside the machine"#);
    assert_snapshot!(problems(&format!("{outside}engine = {{ kind = \"sqlite\" }}\n")), @r#"x.toml:17: load.placement: found "outside"; expected "inside"; sessions of sqlite cannot come from outside the machine (contender vm)"#);
}

#[test]
fn contenders_need_names_of_their_own() {
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"native\"")), @r#"x.toml:26: contender.name: found "native"; expected a name of its own; the contender in line 21 has this one"#);
    assert_snapshot!(problems(&with("name = \"vm\"", "")), @"x.toml:25: contender.name: missing; expected a name of at most 40 letters, digits, spaces and the signs - _ . +");
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"block=2\"")), @r#"x.toml:26: contender.name: found "block=2"; expected a name of at most 40 letters, digits, spaces and the signs - _ . +"#);
    assert_snapshot!(problems(&with("name = \"vm\"", "name = \"\"")), @r#"x.toml:26: contender.name: found ""; expected a name of at most 40 letters, digits, spaces and the signs - _ . +"#);
    assert_snapshot!(problems(STUDY.split("[[contender]]").next().unwrap()), @r#"
    x.toml: contender: missing; expected at least one [[contender]] table
    x.toml: platform.kind: missing; expected "native" or "vm"
    "#);
    let base = STUDY.split("[[contender]]").next().unwrap();
    assert_snapshot!(problems(&format!("{base}[contender]\nname = \"vm\"\n")), @r#"
    x.toml:21: contender: found a table; expected tables that start with [[contender]]
    x.toml: contender: missing; expected at least one [[contender]] table
    x.toml: platform.kind: missing; expected "native" or "vm"
    "#);
    assert_snapshot!(problems(&format!("contender = [3]\n{base}")), @r#"
    x.toml:1: contender: found 3; expected tables that start with [[contender]]
    x.toml: contender: missing; expected at least one [[contender]] table
    x.toml: platform.kind: missing; expected "native" or "vm"
    "#);
}

#[test]
fn there_is_one_baseline() {
    let two = STUDY.replace("[[contender]]", "[[contender]]\nbaseline = true");
    assert_snapshot!(problems(&two), @r#"x.toml:26: contender.baseline: found true for "vm" too; expected one baseline; "native" is it already"#);
    assert_snapshot!(problems(&plus("baseline = \"yes\"\n")), @r#"x.toml:28: contender.baseline: found "yes"; expected true or false"#);
}

#[test]
fn a_contender_overrides_parts_of_a_cell_only() {
    assert_snapshot!(problems(&plus("blocks = 3\n")), @"x.toml:28: contender.blocks: unknown key; expected one of name, baseline, set, machine, platform, engine, workload, load");
    assert_snapshot!(problems(&plus("set = { \"load.client\" = 3 }\n")), @r#"x.toml:28: load.client: unknown key; expected one of placement, from, ssh_options, address, clients, terminals, arrivals, ramp_rate, process, sessions, transactions, warmup, measure, shards, retries, telemetry, max_other_cpu, max_repeats, peak; did you mean "clients"? (contender vm)"#);
    assert_snapshot!(problems(&plus("set = 5\n")), @"x.toml:28: contender.set: found 5; expected a table of dotted keys with values");
    assert_snapshot!(problems(&plus("set = { \"load.clients\" = 3 }\nload = { clients = 5 }\n")), @"x.toml:29: contender.load.clients: set twice; expected each key once; it is set in line 28 already");
}

#[test]
fn sweeps_that_sweep_nothing() {
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouse\" = [1, 2]\n")), @r#"x.toml:29: workload.warehouse: unknown key; expected warehouses; did you mean "warehouses"?"#);
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = []\n")), @"x.toml:29: sweep.workload.warehouses: found an empty list; expected at least one value");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = 3\n")), @"x.toml:29: sweep.workload.warehouses: found 3; expected a list of values");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [1, 2, 1]\n")), @"x.toml:29: sweep.workload.warehouses: found 1 twice; expected each value once");
    assert_snapshot!(problems(&plus("[sweep]\n\"workload.warehouses\" = [1, \"two\"]\n")), @r#"x.toml:29: workload.warehouses: found "two"; expected a whole number from 1 to 5000"#);
    assert_snapshot!(problems(&plus("[sweep]\nblocks = [1, 2]\n")), @"x.toml:29: sweep.blocks: unknown key; expected one of machine, platform, engine, workload, load");
    assert_snapshot!(problems(&with("seed = 7", "sweep = 7")), @"x.toml:2: sweep: found 7; expected a table of dotted keys with lists of values");
}

#[test]
fn overrides_that_undo_each_other() {
    assert_snapshot!(problems(&plus("[sweep]\n\"platform.disk.cache\" = [\"none\", \"writeback\"]\n")), @r#"
    x.toml:29: sweep.platform.disk.cache: swept and overridden; expected a key that no contender sets; "vm" sets platform.disk.cache in line 27
    x.toml:29: platform.disk: unknown key; expected no keys here (contender native)
    "#);
    assert_snapshot!(problems(&plus("[[scenario]]\nname = \"s\"\nset = { \"platform.kind\" = \"vm\" }\n")), @r#"x.toml:30: scenario.platform.kind: overridden twice in scenario "s"; expected a key that no contender sets; "native" sets platform.kind in line 23"#);
    let scenario = "[[scenario]]\nname = \"s\"\nset = { \"machine.vcpus\" = 1 }\n[sweep]\n\"machine.vcpus\" = [1, 2]\n";
    assert_snapshot!(problems(&plus(scenario)), @r#"x.toml:32: sweep.machine.vcpus: swept and overridden; expected a key that no scenario sets; "s" sets machine.vcpus in line 30"#);
    assert_snapshot!(problems(&plus("[sweep]\n\"machine.disk\" = [{}]\n\"machine.disk.size\" = [\"1GiB\"]\n")), @"x.toml:30: sweep.machine.disk.size: swept twice; expected paths apart from each other; machine.disk is swept in line 29");
}

#[test]
fn scenarios_need_names_of_their_own() {
    let scenario = "[[scenario]]\nname = \"s\"\nset = { \"machine.vcpus\" = 1 }\n";
    assert_snapshot!(problems(&plus(&format!("{scenario}{scenario}"))), @r#"x.toml:32: scenario.name: found "s"; expected a name of its own; the scenario in line 28 has this one"#);
    assert_snapshot!(problems(&plus("[[scenario]]\nbaseline = true\nset = { \"machine.vcpus\" = 1 }\n")), @r"
    x.toml:28: scenario.name: missing; expected a name of at most 40 letters, digits, spaces and the signs - _ . +
    x.toml:29: scenario.baseline: unknown key; expected one of name, set, machine, platform, engine, workload, load
    ");
}

#[test]
fn studies_that_would_never_end() {
    let values = (1..=200).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = format!("[sweep]\n\"workload.warehouses\" = [{values}]\n\"load.clients\" = [{values}]\n");
    assert_snapshot!(problems(&plus(&sweep)), @"x.toml:29: 160000 trials; expected at most 10000 (blocks × contenders × scenarios × swept values)");
}

#[test]
fn all_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = STUDY
        .replace("vcpus = 2", "vpcus = 2")
        .replace("\"10s\"", "10")
        .replace("warehouses = 2", "warehouses = \"two\"");
    assert_snapshot!(problems(&text), @r#"
    x.toml:6: machine.vpcus: unknown key; expected one of count, vcpus, memory, kernel, image, disk, oversubscribe, pinning, cpus, exception; did you mean "vcpus"?
    x.toml:14: workload.warehouses: found "two"; expected a whole number from 1 to 5000
    x.toml:19: load.measure: found 10; expected a span of time such as "30s", from 1 s to 24 h
    "#);
}

#[test]
fn what_makes_work_due_is_said_once_and_within_reason() {
    let load = |written: &str| problems(&with("clients = 4", written));
    assert_snapshot!(load("clients = 0"), @r#"x.toml:17: load.clients: found 0; expected a whole number from 1 to 10000, or "peak""#);
    assert_snapshot!(load("clients = 10000000"), @r#"x.toml:17: load.clients: found 10000000; expected a whole number from 1 to 10000, or "peak""#);
    assert_snapshot!(load("clients = \"peek\""), @r#"x.toml:17: load.clients: found "peek"; expected a whole number from 1 to 10000, or "peak"; did you mean "peak"?"#);
    assert_snapshot!(load("terminals = 0"), @"x.toml:17: load.terminals: found 0; expected a whole number from 1 to 1000000");
    assert_snapshot!(load("terminals = 10000000"), @"x.toml:17: load.terminals: found 10000000; expected a whole number from 1 to 1000000");
    assert_snapshot!(load("terminals = 10\nsessions = 20"), @"x.toml:18: load.sessions: found 20; expected at most 10, the number of terminals");
    assert_snapshot!(load("arrivals = 500"), @r#"x.toml:17: load.arrivals: found 500; expected a rate such as "500/s" or "30000/min", from 0.01/s to 1000000/s"#);
    assert_snapshot!(load("arrivals = \"500\""), @r#"x.toml:17: load.arrivals: found "500"; expected a rate such as "500/s" or "30000/min", from 0.01/s to 1000000/s"#);
    assert_snapshot!(load("arrivals = \"0/s\""), @r#"x.toml:17: load.arrivals: found "0/s"; expected a rate such as "500/s" or "30000/min", from 0.01/s to 1000000/s"#);
    assert_snapshot!(load("arrivals = \"5/s\"\nprocess = \"poison\""), @r#"x.toml:18: load.process: found "poison"; expected "poisson" or "uniform"; did you mean "poisson"?"#);
    assert_snapshot!(load("clients = 4\nterminals = 10\narrivals = \"5/s\""), @r"
    x.toml:18: load.terminals: given too; expected only one of clients, terminals, arrivals; clients is given in line 17
    x.toml:19: load.arrivals: given too; expected only one of clients, terminals, arrivals; clients is given in line 17
    ");
    assert_snapshot!(load("clients = 4\nsessions = 4\nprocess = \"uniform\"\npeak = { max_clients = 9 }"), @r#"
    x.toml:18: load.sessions: given; expected this key only beside terminals or arrivals
    x.toml:19: load.process: given; expected this key only beside arrivals
    x.toml:20: load.peak: given; expected this key only beside clients = "peak"
    "#);
    assert_snapshot!(load("clients = \"peak\"\npeak = { max_client = 9, error_limit = 2 }"), @r#"
    x.toml:18: load.peak.max_client: unknown key; expected one of max_clients, error_limit, p99_limit; did you mean "max_clients"?
    x.toml:18: load.peak.error_limit: found 2; expected a number from 0 to 1
    "#);
    assert_snapshot!(load("client = 4"), @r#"x.toml:17: load.client: unknown key; expected one of placement, from, ssh_options, address, clients, terminals, arrivals, ramp_rate, process, sessions, transactions, warmup, measure, shards, retries, telemetry, max_other_cpu, max_repeats, peak; did you mean "clients"?"#);
}

#[test]
fn what_others_may_use_is_a_share_and_repeats_belong_to_it() {
    let load = |written: &str| problems(&with("clients = 4", &format!("clients = 4\n{written}")));
    for (written, found) in [
        ("0.05", "0.05"),
        ("\"0%\"", "\"0%\""),
        ("\"101%\"", "\"101%\""),
        ("\"little\"", "\"little\""),
        ("\"-5%\"", "\"-5%\""),
    ] {
        let expected = "expected a share such as \"5%\", from 0.1 % to 100 %";
        let told = format!("x.toml:18: load.max_other_cpu: found {found}; {expected}");
        assert_eq!(load(&format!("max_other_cpu = {written}")), told);
    }
    assert_eq!(load("max_other_cpu = \"100%\"\nmax_repeats = 20"), "no problem");
    for found in ["0", "21", "\"often\""] {
        let told = format!("x.toml:19: load.max_repeats: found {found}; expected a whole number from 1 to 20");
        assert_eq!(load(&format!("max_other_cpu = \"5%\"\nmax_repeats = {found}")), told);
    }
    assert_snapshot!(load("max_repeats = 2"), @"x.toml:18: load.max_repeats: given; expected this key only beside max_other_cpu");
    assert_snapshot!(load("max_others_cpu = \"5%\""), @r#"x.toml:18: load.max_others_cpu: unknown key; expected one of placement, from, ssh_options, address, clients, terminals, arrivals, ramp_rate, process, sessions, transactions, warmup, measure, shards, retries, telemetry, max_other_cpu, max_repeats, peak; did you mean "max_other_cpu"?"#);
}

#[test]
fn a_precision_is_a_share_with_enough_blocks_and_limits_that_belong_to_it() {
    let top = |written: &str| problems(&with("blocks = 2", written));
    for (written, found) in [("\"0%\"", "\"0%\""), ("1", "1"), ("\"1\"", "\"1\""), ("\"200%\"", "\"200%\"")] {
        let expected = "expected a share such as \"5%\", from 0.1 % to 50 %";
        let told = format!("x.toml:3: precision: found {found}; {expected}");
        assert_eq!(top(&format!("precision = {written}")), told);
    }
    assert_snapshot!(top("blocks = 2\nprecision = \"1%\""), @"x.toml:3: blocks: found 2; expected at least 10 beside precision: with fewer, a run stops when chance makes its intervals narrow");
    assert_snapshot!(top("blocks = 20\nprecision = \"1%\"\nmax_blocks = 19"), @"x.toml:5: max_blocks: found 19; expected at least 20, the number of blocks");
    assert_snapshot!(top("max_blocks = 20\ntime_limit = \"2h\""), @r"
    x.toml:3: max_blocks: given; expected this key only beside precision
    x.toml:4: time_limit: given; expected this key only beside precision
    ");
    assert_snapshot!(top("precision = \"1%\"\ntime_limit = 7200"), @r#"x.toml:4: time_limit: found 7200; expected a span of time such as "30s", from 1 s to 2400 h"#);
    let alone = with("blocks = 2", "precision = \"1%\"");
    assert_snapshot!(problems(&alone[..alone.rfind("[[contender]]").unwrap()]), @"x.toml:3: precision: found 1 contender; expected two contenders, whose ratio can be precise; or --aa, which compares a contender with itself");
}

#[test]
fn the_blocks_that_a_precision_may_add_count_too() {
    let values = (1..=60).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = format!("[sweep]\n\"workload.warehouses\" = [{values}]\n");
    assert_snapshot!(problems(&plus(&sweep).replace("blocks = 2", "precision = \"1%\"")), @"x.toml:29: 12000 trials; expected at most 10000 (blocks × contenders × scenarios × swept values)");
    assert_eq!(problems(&plus(&sweep).replace("blocks = 2", "precision = \"1%\"\nmax_blocks = 50")), "no problem");
}

#[test]
fn data_that_do_not_fit_are_told_with_the_size_that_would_do() {
    let large = with("warehouses = 2", "warehouses = 4000");
    let small_disk = large.replacen("[engine]", "[machine.disk]\nsize = \"2GiB\"\n\n[engine]", 1);
    let told = problems(&small_disk);
    assert_eq!(
        told,
        "x.toml:10: machine.disk.size: found 2 GiB; expected at least 7 GiB: the loaded data of workload on server take about 3.9 GiB"
    );
    assert_eq!(problems(&small_disk.replace("\"2GiB\"", "\"7GiB\"")), "no problem");
}

#[test]
fn findings_are_accepted_by_their_code_and_with_a_reason() {
    let accepting = |line: &str| plus(&format!("[accept]\n{line}\n"));
    let plan = crate::fixture::plan(&accepting("host-busy = \"another team builds here\""));
    assert_eq!(plan.accept["host-busy"], "another team builds here");
    assert_snapshot!(problems(&accepting("host-bussy = \"x\"")), @r#"x.toml:29: accept.host-bussy: unknown code; expected the code of a finding (bakeoff explain lists them); did you mean "host-busy"?"#);
    assert_snapshot!(problems(&accepting("check-violated = \"x\"")), @r#"x.toml:29: accept.check-violated: found "check-violated"; expected a code that a study may accept; this one makes figures wrong whatever the reason"#);
    assert_snapshot!(problems(&accepting("host-busy = true")), @"x.toml:29: accept.host-busy: found true; expected the reason, as text in quotes");
    assert_snapshot!(problems(&accepting("host-busy = \" \"")), @r#"x.toml:29: accept.host-busy: found " "; expected the reason, as text in quotes"#);
}
