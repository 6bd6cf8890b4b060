//! Several machines: how scenarios describe them, and every refusal with its line.

use crate::fixture::{STUDY, catalogs, host, plan, plus, problems, typed, with};
use insta::assert_snapshot;
use platforms::placement::UsableCpus;
use record::settings::{ExceptionLoad, MachineException};
use study::{Against, Host, Pinning};

/// The study with these lines added to `[machine]`; the first is line 6.
fn machine(lines: &str) -> String {
    with("vcpus = 2", lines)
}

#[test]
fn scenarios_couple_count_vcpus_and_memory_and_are_named_after_them() {
    let scenarios = "[[scenario]]\nset = { \"machine.count\" = 1, \"machine.vcpus\" = 3, \"machine.memory\" = \"6GiB\" }\n\
                     [[scenario]]\nset = { \"machine.count\" = 2, \"machine.vcpus\" = 2, \"machine.memory\" = \"3GiB\" }\n\
                     [[scenario]]\nname = \"4x1\"\nmachine = { count = 4, vcpus = 1, memory = \"1.5GiB\" }\n";
    let plan = typed(&plan(&plus(scenarios)));
    let native = plan.typed().iter().filter(|cell| cell.written.contender == "native");
    let told = native.map(|cell| {
        let room = study::room(cell, &host()).unwrap();
        assert_eq!((room.memory_bytes(), cell.machine.pinning), (6 << 30, Pinning::Auto));
        format!("{}: {room}", cell.written.coordinates())
    });
    assert_snapshot!(told.collect::<Vec<_>>().join("\n"), @r"
    1x3: 1 machine of 3 vCPUs and 6 GiB: 3 vCPUs on 4 CPUs; 6 GiB of 8.0 GiB, which leaves 2.0 GiB to the host
    2x2: 2 machines of 2 vCPUs and 3 GiB: 4 vCPUs on 4 CPUs; 6 GiB of 8.0 GiB, which leaves 2.0 GiB to the host
    4x1: 4 machines of 1 vCPU and 1536 MiB: 4 vCPUs on 4 CPUs; 6 GiB of 8.0 GiB, which leaves 2.0 GiB to the host
    ");
    let only = study::only(&plan, &["2x2".to_owned()]).unwrap();
    assert_eq!(only.trials.len(), 4);
}

#[test]
fn the_same_shape_twice_has_one_name() {
    let scenario = "[[scenario]]\nset = { \"machine.count\" = 2, \"machine.vcpus\" = 2 }\n";
    assert_snapshot!(problems(&plus(&scenario.repeat(2))), @r#"x.toml:30: scenario.name: found "2x2"; expected a name of its own; the scenario in line 28 has this one"#);
    assert_snapshot!(problems(&plus("[[scenario]]\nset = { \"machine.count\" = 2 }\n")), @"x.toml:28: scenario.name: missing; expected a name of at most 40 letters, digits, spaces and the signs - _ . +");
}

#[test]
fn all_machines_together_fit_the_host() {
    assert_eq!(problems(&machine("vcpus = 2\ncount = 2")), "no problem");
    assert_snapshot!(problems(&machine("vcpus = 2\ncount = 3")), @"x.toml:7: machine.count: found 3 machines of 2 vCPUs each; expected at most 2, because this host has 4 CPUs, or machine.oversubscribe = true");
    assert_eq!(problems(&machine("vcpus = 2\ncount = 3\noversubscribe = true")), "no problem");
    let large = machine("vcpus = 1\ncount = 3").replace("\"1GiB\"", "\"3GiB\"");
    assert_snapshot!(problems(&large), @"x.toml:7: machine.count: found 3 machines of 3 GiB each; expected at most 2, because this host has 8.0 GiB");
    assert_snapshot!(problems(&machine("vcpus = 2\ncount = 65")), @"x.toml:7: machine.count: found 65; expected a whole number from 1 to 64");
    assert_snapshot!(problems(&machine("vcpus = 2\ncount = 0")), @"x.toml:7: machine.count: found 0; expected a whole number from 1 to 64");
}

#[test]
fn what_several_machines_cannot_have() {
    let two = machine("vcpus = 2\ncount = 2");
    assert_snapshot!(problems(&two.replace("clients = 4", "clients = \"peak\"")), @r#"x.toml:18: load.clients: found "peak" for 2 machines; expected a number of clients for each machine; a peak is looked for with one machine only"#);
    let device = machine("vcpus = 2\ncount = 2\ndisk = { storage = \"device\", device = \"/dev/sdb\" }");
    assert_snapshot!(problems(&device), @r#"x.toml:8: machine.disk.storage: found "device" for 2 machines; expected "file", of which each machine gets a copy of its own"#);
    assert_eq!(problems(&device.replace("count = 2", "count = 1")), "no problem");
}

#[test]
fn cpus_that_machines_cannot_be_placed_on() {
    let pinned = |lines: &str| problems(&machine(&format!("vcpus = 2\n{lines}")));
    assert_snapshot!(pinned("pinning = \"core\""), @r#"x.toml:7: machine.pinning: found "core"; expected "auto", "none", "cores", "threads", "node" or "explicit"; did you mean "cores"?"#);
    assert_eq!(pinned("count = 2\npinning = \"cores\""), "no problem");
    assert_snapshot!(pinned("count = 3\noversubscribe = true\npinning = \"cores\""), @r#"x.toml:9: machine.pinning: 6 vCPUs need a core each, and there are 4 cores; expected fewer vCPUs, or "threads", which uses every thread of a core"#);
    assert_eq!(pinned("count = 3\noversubscribe = true\npinning = \"node\""), "no problem");
    assert_snapshot!(pinned("pinning = \"explicit\""), @r#"x.toml:6: machine.cpus: missing; expected a list of CPUs for each machine, such as "0-3;4-7", because of pinning = "explicit""#);
    assert_snapshot!(pinned("cpus = \"0-1\""), @r#"x.toml:7: machine.cpus: given; expected this key only beside machine.pinning = "explicit""#);
    assert_snapshot!(pinned("pinning = \"explicit\"\ncpus = \"0 to 1\""), @r#"x.toml:8: machine.cpus: found "0 to 1"; expected a list of CPUs for each machine, such as "0-3;4-7""#);
    assert_snapshot!(pinned("count = 2\npinning = \"explicit\"\ncpus = \"0-1\""), @"x.toml:9: machine.cpus: found 1 list of CPUs for 2 machines; expected one list for each machine, set apart by semicolons");
    assert_snapshot!(pinned("pinning = \"explicit\"\ncpus = \"0-2\""), @"x.toml:8: machine.cpus: found CPUs 0-2 for 2 vCPUs; expected one CPU for each vCPU");
    assert_snapshot!(pinned("pinning = \"explicit\"\ncpus = \"3-4\""), @"x.toml:8: machine.cpus: CPU 4 is not there, is offline, or may not be used; expected CPUs of 0-3");
    assert_snapshot!(pinned("count = 2\npinning = \"explicit\"\ncpus = \"0-1;1-2\""), @"x.toml:9: machine.cpus: found CPU 1 twice; expected each CPU for one vCPU only, or machine.oversubscribe = true");
    assert_eq!(pinned("count = 2\noversubscribe = true\npinning = \"explicit\"\ncpus = \"0-1;1-2\""), "no problem");
}

/// Two nodes of two CPUs, each with half of the host's memory.
#[test]
fn memory_is_bound_to_nodes_that_have_it() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let file = root.path().join("sys/devices/system").join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("cpu/online", "0-3");
    for (node, cpus) in [(0, "0-1"), (1, "2-3")] {
        write(&format!("node/node{node}/cpulist"), cpus);
        write(&format!("node/node{node}/meminfo"), &format!("Node {node} MemTotal: 4194304 kB\n"));
    }
    let host = Host { topology: UsableCpus::read(root.path()).unwrap(), ..host() };
    let told = |lines: &str| {
        let text = machine(lines).replace("\"1GiB\"", "\"3GiB\"");
        let planned = study::plan("x", &text, Against::Baseline, &catalogs(), &host);
        planned.map_or_else(|problems| study::render(&problems, "x.toml"), |_| "no problem".to_owned())
    };
    assert_eq!(told("vcpus = 2\ncount = 2\npinning = \"node\""), "no problem");
    assert_eq!(told("vcpus = 1\ncount = 2\npinning = \"cores\""), "no problem");
    assert_snapshot!(told("vcpus = 1\ncount = 2\npinning = \"explicit\"\ncpus = \"0;1\""), @r#"x.toml:9: machine.cpus: 6 GiB would be bound to memory node 0, which has 4.0 GiB; expected less memory, fewer machines, or pinning = "auto", which binds memory where it fits"#);
    assert_snapshot!(told("vcpus = 3\npinning = \"node\""), @r#"x.toml:7: machine.pinning: 1 × 3 vCPUs do not fit on memory nodes of 2, 2 CPUs without a machine that spans two; expected fewer vCPUs, or "threads", where a machine may span nodes"#);
}

#[test]
fn an_exception_that_is_none() {
    let exception = |count: u32, exception: &str| {
        problems(&machine(&format!("vcpus = 1\ncount = {count}\nexception = {exception}")))
    };
    assert_snapshot!(exception(1, "{ number = 1, load = \"idle\" }"), @"x.toml:8: machine.exception: given; expected this table only beside a machine.count of at least 2");
    assert_snapshot!(exception(2, "{ number = 3, load = \"idle\" }"), @"x.toml:8: machine.exception.number: found 3; expected at most 2, the number of machines");
    assert_snapshot!(exception(2, "{ number = 0, load = \"idle\" }"), @"x.toml:8: machine.exception.number: found 0; expected a whole number from 1 to 64");
    assert_snapshot!(exception(2, "{ load = \"idle\" }"), @"x.toml:8: machine.exception.number: missing; expected a whole number from 1 to 64");
    assert_snapshot!(exception(2, "{ number = 2 }"), @"x.toml:8: machine.exception: found nothing that differs; expected one of cpu_quota, load, clients and workload");
    assert_snapshot!(exception(2, "{ number = 2, load = \"idel\" }"), @r#"x.toml:8: machine.exception.load: found "idel"; expected "same", "idle", "stops", "starts" or "burst"; did you mean "idle"?"#);
    assert_snapshot!(exception(2, "{ number = 2, load = \"idle\", clients = 3 }"), @r#"x.toml:8: machine.exception.clients: given; expected no clients, because of load = "idle""#);
    assert_snapshot!(exception(2, "{ number = 2, cpu_quota = 0.5 }"), @r#"x.toml:8: machine.exception.cpu_quota: found 0.5; expected a share such as "5%", from 1 % to 100 %"#);
    assert_snapshot!(exception(2, "{ number = 2, cpu_quota = \"150%\" }"), @r#"x.toml:8: machine.exception.cpu_quota: found "150%"; expected a share such as "5%", from 1 % to 100 %"#);
    assert_snapshot!(exception(2, "{ number = 2, client = 3 }"), @r#"x.toml:8: machine.exception.client: unknown key; expected one of number, cpu_quota, load, clients, workload; did you mean "clients"?"#);
    let clients = machine("vcpus = 1\ncount = 2\nexception = { number = 2, clients = 8 }");
    assert_eq!(problems(&clients), "no problem");
    assert_snapshot!(problems(&clients.replace("\nclients = 4", "\narrivals = \"5/s\"")), @"x.toml:8: machine.exception.clients: given; expected this key only beside a number of load.clients");
}

/// A third of the measured window must be long enough to show anything.
#[test]
fn a_burst_needs_a_window_that_has_thirds() {
    let burst = machine("vcpus = 1\ncount = 2\nexception = { number = 2, load = \"burst\" }");
    let measured = |span: &str| problems(&burst.replace("measure = \"10s\"", &format!("measure = \"{span}\"")));
    assert_eq!((measured("2m"), measured("12s")), ("no problem".to_owned(), "no problem".to_owned()));
    assert_snapshot!(measured("11s"), @r#"x.toml:21: load.measure: found 11 s; expected at least 12 s, because of machine.exception.load = "burst""#);
}

#[test]
fn an_exception_is_read_as_it_is_written() {
    let text = machine(
        "vcpus = 1\ncount = 3\npinning = \"none\"\nexception = { number = 2, cpu_quota = \"50%\", load = \"stops\" }",
    );
    let plan = typed(&plan(&text));
    let machine = &plan.typed()[0].machine;
    let cpu_quota = Some(0.5);
    assert_eq!(
        machine.exception,
        Some(MachineException { number: 2, cpu_quota, load: ExceptionLoad::Stops, clients: None, workload: None })
    );
    assert_eq!((machine.count, machine.policy()), (3, Ok(platforms::placement::Policy::None)));
}

/// A plan from before there were several machines has none of their keys.
#[test]
fn an_old_plan_is_one_machine_in_order() {
    let mut plan = plan(STUDY);
    let cell = &mut plan.cells[0];
    let mut tables = cell.settings.tables().clone();
    tables["machine"]
        .as_object_mut()
        .unwrap()
        .retain(|key, _| !["pinning", "cpus", "exception"].contains(&key.as_str()));
    cell.settings = tables.try_into().unwrap();
    let typed = typed(&plan);
    let machine = &typed.typed()[0].machine;
    assert_eq!((machine.count, machine.pinning, &machine.exception), (1, Pinning::Auto, &None));
}

#[test]
fn databases_of_a_machine_share_its_memory_and_its_load_evenly() {
    let three = with("kind = \"server\"", "kind = \"server\"\ninstances = 3");
    assert_eq!(problems(&three.replace("clients = 4", "clients = 6")), "no problem");
    assert_snapshot!(problems(&three), @"x.toml:18: load.clients: found 4; expected 3 or 6, as many for each of engine.instances = 3");
    assert_snapshot!(problems(&three.replace("clients = 4", "clients = 2")), @"x.toml:18: load.clients: found 2; expected 3, as many for each of engine.instances = 3");
    assert_snapshot!(problems(&three.replace("clients = 4", "terminals = 100\nsessions = 8")), @"
    x.toml:18: load.terminals: found 100; expected 99 or 102, as many for each of engine.instances = 3
    x.toml:19: load.sessions: found 8; expected 6 or 9, as many for each of engine.instances = 3
    ");
    assert_snapshot!(problems(&three.replace("clients = 4", "clients = \"peak\"\npeak = { max_clients = 5 }")), @"x.toml:19: load.peak.max_clients: found 5; expected at least 6, two for each of engine.instances = 3");
    let small = three.replace("clients = 4", "clients = 6").replace("\"1GiB\"", "\"128MiB\"");
    assert_snapshot!(problems(&small), @"x.toml:7: machine.memory: found 128 MiB for 3 databases; expected at least 192 MiB, 64 MiB for each");
    assert_snapshot!(problems(&three.replace("instances = 3", "instances = 65")), @"x.toml:11: engine.instances: found 65; expected a whole number from 1 to 64");
    assert_snapshot!(problems(&three.replace("instances", "instance")), @r#"x.toml:11: engine.instance: unknown key; expected one of profile, instances, shared_server, version; did you mean "instances"?"#);
    assert_eq!(plan(&three.replace("clients = 4", "clients = 6")).cells[0].instances(), 3);
}

#[test]
fn databases_of_one_server_share_all_of_the_memory() {
    let three = with("kind = \"server\"", "kind = \"server\"\ninstances = 3\nshared_server = true");
    let small = three.replace("clients = 4", "clients = 6").replace("\"1GiB\"", "\"128MiB\"");
    assert_eq!(problems(&small), "no problem");
    assert!(plan(&small).cells[0].shares_server());
    let embedded = small.replace("kind = \"server\"", "kind = \"sqlite\"");
    assert_snapshot!(problems(&embedded), @"x.toml:12: engine.shared_server: found true; expected false, because sqlite has no server that could have several databases");
}
