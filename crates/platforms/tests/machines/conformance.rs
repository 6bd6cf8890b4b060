//! The rules that every platform must keep, and the platforms that are tested against them.

use crate::bare::BARE;
use crate::daemons::Daemons;
use crate::host_here::sshd;
use crate::oci::{RUNTIMES, has_runtime};
use crate::place::{
    ANSWER_LIMIT, DATABASE, LOADED, Place, as_table, ask, assert_nothing_is_left, example, guest_image, image,
    in_folder, open, shut_down, started,
};
use crate::vcsim::Vcsim;
use agent::protocol::{Chosen, Reply, Request};
use images::{Flavour, Image};
use machines::link::LinkError;
use machines::machine::{Machine, MachineError};
use platforms::capabilities::ImageUse;
use platforms::entry::PlatformEntry;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A platform with its settings for the tests.
struct Subject {
    platform: &'static PlatformEntry,
    table: Value,
    image: Option<Image>,
}

impl Subject {
    fn place(&self) -> Place {
        Place::on(self.platform, &self.table, self.image.clone())
    }

    /// Whether its machines are processes of this host, and its data are files.
    fn is_made_here(&self) -> bool {
        self.platform.kind != "vsphere"
    }

    fn start(&self, place: &Place) -> Box<dyn Machine> {
        place.start_on(self.platform, &self.table)
    }
}

type Rule = fn(&Subject);

const RULES: &[(&str, Rule)] = &[
    ("a machine has a clock that goes on, and describes itself", clock_and_description),
    ("data that were written are there when another machine is started on the same lease", data_outlive_a_machine),
    ("what a client was told is committed is there after a cut", commits_outlive_a_cut),
    ("two leases of the same data are apart, and the loaded data stay as they are", leases_are_apart),
    ("nothing runs any more after a machine was stopped, cut or dropped", nothing_is_left),
    ("an agent of another version is refused with both versions, and ended", another_version_is_refused),
];

fn hold_to_the_rules(subject: &Subject) {
    for (rule, check) in RULES {
        println!("{} {}: {rule}", subject.platform.kind, subject.table);
        check(subject);
    }
}

#[test]
fn bare_processes_keep_the_rules() {
    hold_to_the_rules(&Subject { platform: &BARE, table: json!({}), image: None });
}

#[test]
fn native_machines_keep_the_rules() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let platform = platforms::catalog::entry("native").unwrap();
    hold_to_the_rules(&Subject { platform, table: json!({}), image: Some(micro) });
}

#[test]
fn guests_keep_the_rules() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let platform = platforms::catalog::entry("qemu").unwrap();
    hold_to_the_rules(&Subject { platform, table: json!({ "accelerator": "tcg" }), image: Some(micro) });
}

#[test]
fn machines_of_another_host_with_the_image_keep_the_rules() {
    let (Some(micro), Some(sshd)) = (image("micro", Flavour::Cloud), sshd()) else { return };
    let platform = platforms::catalog::entry("host").unwrap();
    hold_to_the_rules(&Subject { platform, table: sshd.table(Path::new("/"), "image"), image: Some(micro) });
}

#[test]
fn machines_of_another_host_with_its_own_files_keep_the_rules() {
    let Some(sshd) = sshd() else { return };
    let platform = platforms::catalog::entry("host").unwrap();
    hold_to_the_rules(&Subject { platform, table: sshd.table(Path::new("/"), "installed"), image: None });
}

#[test]
fn containers_keep_the_rules() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let platform = platforms::catalog::entry("oci").unwrap();
    for runtime in RUNTIMES.into_iter().filter(|runtime| has_runtime(runtime)) {
        hold_to_the_rules(&Subject { platform, table: json!({ "runtime": runtime }), image: Some(micro.clone()) });
    }
}

#[test]
fn domains_of_libvirt_keep_the_rules() {
    let Some(micro) = guest_image("micro", Flavour::Cloud) else { return };
    let _turn = crate::libvirt::in_turn();
    let Some(daemons) = Daemons::shared() else { return };
    let platform = platforms::catalog::entry("libvirt").unwrap();
    let table = json!({ "uri": daemons.uri(), "accelerator": "tcg" });
    hold_to_the_rules(&Subject { platform, table, image: Some(micro) });
}

#[test]
fn machines_of_vsphere_keep_the_rules() {
    let Some(vcsim) = Vcsim::start() else { return };
    let platform = platforms::catalog::entry("vsphere").unwrap();
    hold_to_the_rules(&Subject { platform, table: vcsim.table("agent"), image: None });
    assert_eq!(vcsim.machines(), Vec::<PathBuf>::new());
}

fn clock_and_description(subject: &Subject) {
    let place = subject.place();
    let mut machine = subject.start(&place);
    assert!(!machine.command_line().is_empty());
    let mut clock = || match ask(machine.as_mut(), &Request::Clock) {
        Reply::Clock { monotonic_ns } => monotonic_ns,
        other => panic!("{other:?}"),
    };
    assert!(clock() < clock());
    assert!(matches!(ask(machine.as_mut(), &Request::Describe), Reply::Description(_)));
    shut_down(machine);
}

/// A table small enough for an emulated CPU.
fn workload() -> Chosen {
    let table = json!({ "tables": 1, "table_size": 50 });
    let keys = workloads::catalog::entry("sysbench-oltp").unwrap().keys;
    Chosen { kind: "sysbench-oltp".to_owned(), settings: settings::check(table.as_object().unwrap(), keys).unwrap() }
}

fn start_server(machine: &mut dyn Machine) {
    crate::place::start_server(machine, "sqlite", None);
}

fn load(machine: &mut dyn Machine) {
    let reply = ask_at_length(machine, &Request::Load { workload: workload(), writers: 1, stay: None });
    assert!(matches!(&reply, Reply::Loaded { rows } if rows.values().sum::<u64>() == 50), "{reply:?}");
}

fn assert_is_loaded(machine: &mut dyn Machine) {
    let reply = ask_at_length(machine, &Request::Verify { workload: workload(), threads: 1 });
    let Reply::Verified(sums) = reply else { panic!("{reply:?}") };
    let differing: BTreeMap<_, _> = sums.iter().filter(|(_, sum)| sum.expected != sum.stored).collect();
    assert!(!sums.is_empty() && differing.is_empty(), "{differing:?}");
}

/// The final reply, without the messages before it.
fn ask_at_length(machine: &mut dyn Machine, request: &Request) -> Reply {
    machine.link().ask(0, request).unwrap();
    loop {
        match machine.link().receive(ANSWER_LIMIT).unwrap() {
            None | Some((_, Reply::Alive | Reply::Progress { .. })) => {}
            Some((_, reply)) => return reply,
        }
    }
}

fn data_outlive_a_machine(subject: &Subject) {
    let place = subject.place();
    let mut machine = subject.start(&place);
    start_server(machine.as_mut());
    load(machine.as_mut());
    shut_down(machine);
    let mut again = subject.start(&place);
    start_server(again.as_mut());
    assert_is_loaded(again.as_mut());
    shut_down(again);
}

fn commits_outlive_a_cut(subject: &Subject) {
    let place = subject.place();
    let mut machine = subject.start(&place);
    start_server(machine.as_mut());
    load(machine.as_mut());
    machine.cut().unwrap();
    let mut again = subject.start(&place);
    start_server(again.as_mut());
    assert_is_loaded(again.as_mut());
    again.cut().unwrap();
}

fn leases_are_apart(subject: &Subject) {
    let place = subject.place();
    let mut machine = subject.start(&place);
    start_server(machine.as_mut());
    load(machine.as_mut());
    shut_down(machine);
    let other = place.beside();
    let mut machine = subject.start(&other);
    start_server(machine.as_mut());
    load(machine.as_mut());
    shut_down(machine);
    if !subject.is_made_here() {
        // Its loaded data are in a machine that is off.
        return;
    }
    assert!(place.loaded_file(LOADED.0).is_some_and(|file| file == LOADED.1.as_bytes()));
    assert_eq!(place.loaded_file(DATABASE), None);
}

fn nothing_is_left(subject: &Subject) {
    let place = subject.place();
    shut_down(subject.start(&place));
    subject.start(&place).cut().unwrap();
    drop(subject.start(&place));
    if !subject.is_made_here() {
        return;
    }
    let made = started(&place.order.scratch);
    assert!(made.len() >= 3 && made.iter().all(|process| !process.is_alive()), "{made:?}");
    assert_nothing_is_left(&place);
}

fn another_version_is_refused(subject: &Subject) {
    let table = as_table(&subject.table);
    if !subject.is_made_here() {
        // The template brings its own agent.
        return;
    }
    if (subject.platform.can)(&table).image == ImageUse::TreeAndKernel {
        // There the agent is the init process, and this example would not find the stream to us.
        return;
    }
    let mut place = subject.place();
    place.order.agent = example("foreign_agent");
    let (order, scratch) = (&place.order, &place.order.scratch);
    // A platform that takes the agent elsewhere refuses it there.
    let table = in_folder(&subject.table, place.folder.path());
    let opened = open(subject.platform, &table, subject.image.as_ref(), &order.agent, scratch);
    let Err(error) = opened.and_then(|platform| platform.start(order, &|| {})) else { panic!("it started") };
    assert!(matches!(error, MachineError::Link(LinkError::OtherVersion { .. })), "{error}");
    let told = error.to_string();
    assert!(told.contains("bakeoff 99.0.0") && told.contains(env!("CARGO_PKG_VERSION")), "{told}");
    let left = started(&place.order.scratch);
    assert!(!left.is_empty() && left.iter().all(|process| !process.is_alive()));
}
