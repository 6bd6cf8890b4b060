//! Machines of a vCenter server: from the template to the end, and what bad input gets. The server is vcsim.

use crate::place::{Place, example, open, shut_down, write_data};
use crate::vcsim::{PASSWORD, USER, Vcsim};
use machines::clock::monotonic_ns;
use machines::machine::{Machine, MachineError};
use machines::scratch::{Scratch, sweep};
use platforms::entry::PlatformEntry;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::Instant;

fn vsphere() -> &'static PlatformEntry {
    platforms::catalog::entry("vsphere").unwrap()
}

fn with(table: &Value, more: &Value) -> Value {
    let mut table = table.clone();
    for (key, value) in more.as_object().unwrap() {
        table[key] = value.clone();
    }
    table
}

fn without(table: &Value, key: &str) -> Value {
    let mut table = table.clone();
    table.as_object_mut().unwrap().remove(key);
    table
}

/// Why it cannot be opened with these settings.
fn refused(table: &Value) -> String {
    let scratch = tempfile::tempdir().unwrap();
    match open(vsphere(), table, None, &example("test_agent"), scratch.path()) {
        Ok(_) => panic!("{table}: opened"),
        Err(error) => error.to_string(),
    }
}

fn decided(machine: &dyn Machine, name: &str) -> String {
    machine.facts().decided[name].clone().unwrap()
}

#[test]
fn a_server_that_cannot_be_used_says_why() {
    let Some(vcsim) = Vcsim::start() else { return };
    let table = vcsim.table("agent");
    let server = &vcsim.address;
    let host = server.split(':').next().unwrap();
    let told = refused(&with(&table, &json!({ "url": "https://127.0.0.1:1" })));
    assert!(told.contains("127.0.0.1:1: ") && told.contains("refused"), "{told}");
    let told = refused(&with(&table, &json!({ "url": "https://nowhere.invalid" })));
    assert_eq!(told, "unavailable, because nowhere.invalid: its name is not known here");
    let told = refused(&with(&table, &json!({ "fingerprint": "00".repeat(32) })));
    assert!(
        told.contains(&format!("{server}: the certificate of {host} is not the expected one: its fingerprint is ")),
        "{told}"
    );
    let hex = told.split(" is ").last().unwrap().replace(':', "").to_lowercase();
    assert_eq!(hex, vcsim.fingerprint);
    let told = refused(&without(&table, "fingerprint"));
    assert!(told.contains("comes from no trusted authority"), "{told}");
    assert!(told.ends_with("platform.fingerprint accepts this one by its SHA-256"), "{told}");
    let mut names = Vec::new();
    for (key, name) in [
        ("template", "DC0_H0_VM7"),
        ("template", "nothing like it"),
        ("snapshot", "base"),
        ("datacenter", "DC1"),
        ("host", "DC0_C0_H00"),
        ("resource_pool", "elsewhere"),
        ("datastore", "LocalDS_1"),
        ("network", "VM Networks"),
        ("folder", "benchmarks"),
    ] {
        names.push(refused(&with(&table, &json!({ key: name }))).replace(server, "SERVER"));
    }
    insta::assert_snapshot!(names.join("\n"), @r#"
    unavailable, because SERVER: there is no template or machine "DC0_H0_VM7" (platform.template); did you mean "DC0_H0_VM0"?
    unavailable, because SERVER: there is no template or machine "nothing like it" (platform.template); there are DC0_H0_VM0, DC0_H0_VM1, DC0_C0_RP0_VM0, DC0_C0_RP0_VM1
    unavailable, because SERVER: the template "DC0_H0_VM0" has no snapshot "base" (platform.snapshot); it has none
    unavailable, because SERVER: there is no datacenter "DC1" (platform.datacenter); did you mean "DC0"?
    unavailable, because SERVER: there is no host "DC0_C0_H00" (platform.host); did you mean "DC0_C0_H0"?
    unavailable, because SERVER: there is no resource pool or cluster "elsewhere" (platform.resource_pool); there are Resources, Resources, DC0_H0, DC0_C0
    unavailable, because SERVER: there is no datastore "LocalDS_1" (platform.datastore); did you mean "LocalDS_0"?
    unavailable, because SERVER: there is no network "VM Networks" (platform.network); did you mean "VM Network"?
    unavailable, because SERVER: there is no folder "benchmarks" (platform.folder); the user sees none
    "#);
}

#[test]
fn a_wrong_password_is_told_and_not_shown() {
    let Some(vcsim) = Vcsim::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let write = |password: &str| {
        let options = std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&file);
        std::io::Write::write_all(&mut options.unwrap(), password.as_bytes()).unwrap();
    };
    let table = with(&vcsim.table("agent"), &json!({ "user": USER, "password_file": file }));
    write("not the password");
    let told = refused(&table);
    assert!(told.contains("Login: the user or the password is wrong (InvalidLogin"), "{told}");
    assert!(!told.contains("not the password"), "{told}");
    write(PASSWORD);
    let scratch = tempfile::tempdir().unwrap();
    assert!(open(vsphere(), &table, None, &example("test_agent"), scratch.path()).is_ok());
    let ledger = std::fs::read_to_string(scratch.path().join("ledger.jsonl")).unwrap();
    assert!(ledger.contains(&vcsim.address) && !ledger.contains(PASSWORD) && !ledger.contains(USER), "{ledger}");
}

#[test]
fn a_machine_is_set_as_asked_and_nothing_is_left() {
    let Some(vcsim) = Vcsim::start() else { return };
    let more = json!({
        "latency_sensitivity": "high", "cpu_reservation": "all", "memory_reservation": "all", "cores_per_socket": 2,
        "affinity": "0-1", "adapter": "nvme", "nic": "vmxnet3", "network": "VM Network", "disk_mode": "independent_persistent",
        "datastore": "LocalDS_0",
    });
    let table = with(&vcsim.table("agent"), &more);
    let place = Place::on(vsphere(), &table, None).with_two_vcpus();
    let mut machine = place.start_on(vsphere(), &table);
    let names = ["vCPUs", "memory", "memory reservation", "latency sensitivity", "CPU affinity", "network card"];
    let told: Vec<String> = names.iter().map(|name| format!("{name}: {}", decided(machine.as_ref(), name))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    vCPUs: 2, 2 to a socket
    memory: 512 MiB
    memory reservation: all, 512 MiB
    latency sensitivity: high
    CPU affinity: 0-1
    network card: VirtualVmxnet3 on VM Network
    "#);
    assert!(decided(machine.as_ref(), "data disk").starts_with("nvme, independent_persistent, "));
    assert!(decided(machine.as_ref(), "CPU reservation").starts_with("all, "));
    assert!(!format!("{:?} {:?}", machine.facts().decided, machine.facts().command_line).contains(PASSWORD));
    assert_is_counted(machine.as_mut());
    assert_eq!(vcsim.machines().len(), 2, "the machine with the data, and a copy");
    shut_down(machine);
    drop(place);
    assert_eq!(vcsim.machines().len(), 0);
    assert_eq!(folders_of_runs(&vcsim), 0);
}

/// vcsim has values of any past second.
fn assert_is_counted(machine: &mut dyn Machine) {
    let now_ns = monotonic_ns();
    let series = machine.counted(now_ns.saturating_sub(60_000_000_000), now_ns).unwrap();
    assert_eq!(series.probes[0].columns.why_not(), None);
    let names: Vec<&str> = series.columns.iter().map(|column| column.name.as_str()).collect();
    for name in ["vsphere.cpu.ready", "vsphere.cpu.costop", "vsphere.cpu.usage"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!((2..=4).contains(&series.samples.len()), "{:?}", series.samples);
    assert!(series.samples.is_sorted_by_key(|sample| sample.at_ns));
}

#[test]
fn linked_clones_hang_on_one_snapshot_of_the_loaded_machine() {
    let Some(vcsim) = Vcsim::start() else { return };
    let table = with(&vcsim.table("agent"), &json!({ "clone": "linked" }));
    let place = Place::on(vsphere(), &table, None);
    let beside = place.beside();
    for place in [&place, &beside] {
        let mut machine = place.start_on(vsphere(), &table);
        assert!(decided(machine.as_ref(), "origin").starts_with("a linked clone of the machine"));
        write_data(machine.as_mut());
        shut_down(machine);
    }
}

/// vcsim does not copy a disk in another way than its original's, so this is what a server that ignores a setting looks like.
#[test]
fn a_setting_that_the_server_ignores_is_no_setting() {
    let Some(vcsim) = Vcsim::start() else { return };
    let table = with(&vcsim.table("agent"), &json!({ "provisioning": "eager_zeroed" }));
    let place = Place::on(vsphere(), &table, None);
    let Err(MachineError::Unavailable { why }) = place.try_start_on(vsphere(), &table) else { panic!("it started") };
    assert!(why.ends_with("provisioning is thin and not eager_zeroed"), "{why}");
}

/// Why its machine does not start, with what is done inside.
fn fails(vcsim: &Vcsim, inside: &str, more: &Value) -> String {
    let table = with(&vcsim.table(inside), more);
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(parent.path(), "run").unwrap();
    let platform = open(vsphere(), &table, None, &example("test_agent"), scratch.path()).unwrap();
    let data = images::data::DataDisk::Folder("data/loaded".into());
    let order = crate::place::order("loading", None, data, scratch.path(), scratch.path());
    let begun = Instant::now();
    let Err(error) = platform.start(&order, &|| ()) else { panic!("it started") };
    println!("{inside}: {error} after {:.1} s", begun.elapsed().as_secs_f64());
    drop(platform);
    assert_eq!(vcsim.machines().len(), 0, "{error}");
    assert_eq!(folders_of_runs(vcsim), 0, "{error}");
    error.to_string()
}

#[test]
fn a_machine_that_does_not_come_up_says_why_and_is_destroyed() {
    let Some(vcsim) = Vcsim::start() else { return };
    let soon = json!({ "start_limit": 1_500 });
    let told = fails(&vcsim, "foreign", &json!({}));
    assert_eq!(told, "the agent refuses us: it has another token");
    let told = fails(&vcsim, "silent", &soon);
    assert!(told.contains("did not answer within 1 s") && told.contains("it never had an IP address"), "{told}");
    let told = fails(&vcsim, "mute", &soon);
    assert!(told.contains("did not answer within 1 s") && told.contains("no agent is reached at 127."), "{told}");
    let told = fails(&vcsim, "broken", &json!({}));
    assert!(
        told.starts_with("starting the machine: ") && told.contains("powering the machine on: it refuses"),
        "{told}"
    );
    let told = fails(&vcsim, "slow", &soon);
    assert!(told.contains("powering the machine on did not end within 1 s"), "{told}");
}

#[test]
fn a_session_that_has_ended_is_begun_again() {
    let Some(vcsim) = Vcsim::start() else { return };
    let table = vcsim.table("agent");
    let place = Place::on(vsphere(), &table, None);
    vcsim.forget_sessions();
    let machine = place.start_on(vsphere(), &table);
    vcsim.forget_sessions();
    shut_down(machine);
    vcsim.forget_sessions();
    drop(place);
    assert_eq!((vcsim.machines().len(), folders_of_runs(&vcsim)), (0, 0));
}

#[test]
fn a_server_that_goes_away_is_told_and_nobody_waits() {
    let Some(mut vcsim) = Vcsim::start() else { return };
    let table = vcsim.table("agent");
    let place = Place::on(vsphere(), &table, None);
    let machine = place.start_on(vsphere(), &table);
    vcsim.kill();
    let told = machine.cut().unwrap_err().to_string();
    assert!(told.starts_with("powering the machine off: ") && told.contains(&vcsim.address), "{told}");
    let told = place.try_start_on(vsphere(), &table).err().unwrap().to_string();
    assert!(told.contains(&vcsim.address), "{told}");
}

#[test]
fn the_next_run_destroys_what_a_killed_one_left() {
    let Some(vcsim) = Vcsim::start() else { return };
    let table = vcsim.table("agent");
    let folder = tempfile::tempdir().unwrap();
    let parent = folder.path().join("theirs");
    let mut owner = Command::new(example("owner"))
        .args(["vsphere", &table.to_string(), "null"])
        .args([&example("test_agent"), &folder.path().join("none"), &parent])
        .env("VSPHERE_USER", USER)
        .env("VSPHERE_PASSWORD", PASSWORD)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.starts_with("greeted"), "{said}");
    let opened = || {
        let scratch = tempfile::tempdir().unwrap();
        open(vsphere(), &table, None, &example("test_agent"), scratch.path()).unwrap()
    };
    assert_eq!(opened().notes(), Vec::<String>::new(), "a living owner's machines were taken for left over");
    assert_eq!(vcsim.machines().len(), 1);
    owner.kill().unwrap();
    owner.wait().unwrap();
    let told = sweep(&parent, &platforms::leftovers::undo).unwrap().join("; ");
    let expected = format!("{} may still have bakeoff-run.", vcsim.address);
    assert!(told.contains(&expected), "{told}");
    let notes = opened().notes().join("; ");
    assert!(
        notes.starts_with("removed bakeoff-run.") && notes.ends_with("left over from a run that was killed"),
        "{notes}"
    );
    assert_eq!(vcsim.machines().len(), 0);
    assert_eq!(folders_of_runs(&vcsim), 0);
}

/// How many folders of runs are in the server's inventory. The platform's own sweep would tell of them.
fn folders_of_runs(vcsim: &Vcsim) -> usize {
    vcsim.folders().into_iter().filter(|name| name.starts_with("bakeoff-run.")).count()
}
