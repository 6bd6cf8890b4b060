//! Where machines really run and what limits them, on this host's own CPUs.

use crate::place::{Place, facts, guest_image, here, image, known, shut_down, started};
use images::Flavour;
use machines::machine::Machine;
use platforms::placement::{self, NodeShare, Policy};
use serde_json::json;

fn placed(vcpus: u32, policy: &Policy) -> placement::Place {
    placement::place(&here(), policy, 1, vcpus, 0).unwrap().remove(0)
}

/// A guest in this place that has greeted.
fn guest(vcpus: u32, place: placement::Place, cpu_quota: Option<f64>) -> Option<(Place, Box<dyn Machine>)> {
    let mut ordered = Place::new(guest_image("micro", Flavour::Cloud)?);
    ordered.order.vcpus = vcpus;
    ordered.order.place = place;
    ordered.order.cpu_quota = cpu_quota;
    let machine = ordered.start("qemu", &json!({ "accelerator": "tcg" }));
    Some((ordered, machine))
}

fn words(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn a_vcpu_has_a_core_and_the_emulator_others() {
    let place = placed(1, &Policy::Cores);
    let Some((_ordered, machine)) = guest(1, place.clone(), None) else { return };
    let decided = machine.decided().clone();
    assert_eq!(decided["vcpu pinning"], Ok(format!("vCPU 0 on CPU {}", place.cpus[0])));
    assert_eq!(decided["host CPUs"], Ok(words(&place.cpus)));
    assert_eq!(decided["emulator CPUs"], Ok(words(&place.others)));
    assert!(place.others != place.cpus || here().cpus().len() == 1, "{place:?}");
    shut_down(machine);
}

#[test]
fn a_guest_that_is_not_pinned_may_run_on_all_cpus() {
    let Some((_ordered, machine)) = guest(1, placed(1, &Policy::None), None) else { return };
    let decided = machine.decided().clone();
    assert_eq!(decided["vcpu pinning"].as_deref(), Ok("none, as asked"));
    assert_eq!(decided["host CPUs"], Ok(words(&here().numbers())));
    assert_eq!(decided["emulator CPUs"], decided["host CPUs"]);
    shut_down(machine);
}

/// Both nodes of the guest are on the node that every host has, so that this works on any host.
#[test]
fn memory_is_bound_and_a_machine_that_spans_nodes_sees_them() {
    let share = |vcpus: &[usize]| NodeShare { node: 0, vcpus: vcpus.to_vec() };
    for (bound_to, bound, nodes) in [(vec![share(&[0, 1])], "0", "1"), (vec![share(&[0]), share(&[1])], "0,0", "2")] {
        let place = placement::Place { bound_to, ..placed(2, &Policy::InOrder) };
        let Some((_ordered, mut machine)) = guest(2, place, None) else { return };
        assert_eq!(machine.decided()["memory node"].as_deref(), Ok(bound));
        let inside = facts(machine.as_mut());
        assert_eq!(known(&inside, "memory.numa_nodes"), nodes);
        shut_down(machine);
    }
}

/// Checks the decided quota, and that the machine's process is in a group of ours. Does nothing if no quota is possible here.
fn assert_held(ordered: &Place, machine: &dyn Machine, quota: &str) {
    match &machine.decided()["CPU quota"] {
        Err(why) => println!("SKIPPED: no CPU quota can be had here: {why}"),
        Ok(held) => {
            assert_eq!(held, quota);
            let process = started(&ordered.order.scratch).pop().unwrap().pid;
            let groups = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap();
            assert!(groups.contains(&format!("/bakeoff-{}-{}", std::process::id(), ordered.order.name)), "{groups}");
        }
    }
}

#[test]
fn a_guest_gets_half_of_its_vcpus_time() {
    let Some((ordered, machine)) = guest(2, placed(2, &Policy::InOrder), Some(0.5)) else { return };
    assert_held(&ordered, machine.as_ref(), "100000 µs in every 100000 µs");
    shut_down(machine);
}

#[test]
fn a_native_machine_gets_half_of_its_cpus_time() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let mut ordered = Place::new(micro);
    ordered.order.cpu_quota = Some(0.5);
    let machine = ordered.start("native", &json!({}));
    assert_held(&ordered, machine.as_ref(), "100000 µs in every 100000 µs");
    shut_down(machine);
}

/// The machine may run anywhere, but gets no more time than a guest of its shape.
#[test]
fn a_native_machine_that_is_not_pinned_has_the_time_of_its_shape() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let mut ordered = Place::new(micro);
    ordered.order.vcpus = 1;
    ordered.order.place = placed(1, &Policy::None);
    let machine = ordered.start("native", &json!({}));
    if here().cpus().len() > 1 {
        assert_held(&ordered, machine.as_ref(), "100000 µs in every 100000 µs");
        let is_held = machine.decided()["CPU quota"].is_ok();
        let stays_on = if is_held { here().numbers() } else { ordered.order.place.cpus.clone() };
        assert_eq!(machine.decided()["host CPUs"], Ok(words(&stays_on)));
    }
    shut_down(machine);
}

#[test]
fn memory_of_a_native_machine_comes_from_its_node() {
    let Some(micro) = image("micro", Flavour::Cloud) else { return };
    let mut ordered = Place::new(micro);
    ordered.order.place.bound_to = vec![NodeShare { node: 0, vcpus: vec![0, 1] }];
    let machine = ordered.start("native", &json!({}));
    match &machine.decided()["memory node"] {
        Ok(node) => assert_eq!(node, "0"),
        Err(why) => println!("SKIPPED: memory cannot be bound here: {why}"),
    }
    assert_eq!(machine.decided()["host CPUs"], Ok(words(&ordered.order.place.cpus)));
    shut_down(machine);
}
