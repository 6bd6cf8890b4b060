//! Where native machines really run and what limits them, on this host's own CPUs. Guests: `qemu.rs`.

use crate::place::{Place, here, image, placed, shut_down, started};
use images::KernelChoice;
use machines::machine::Machine;
use platforms::placement::{NodeShare, Policy};
use serde_json::json;

pub fn words(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Checks the decided quota, and that the machine's process is in a group of ours. Does nothing if no quota is possible here.
pub fn assert_held(ordered: &Place, machine: &dyn Machine, quota: &str) {
    match &machine.facts().decided["CPU quota"] {
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
fn a_native_machine_gets_half_of_its_cpus_time() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut ordered = Place::new(micro).with_two_vcpus();
    ordered.order.cpu_quota = Some(0.5);
    let machine = ordered.start("native", &json!({}));
    assert_held(&ordered, machine.as_ref(), "100000 µs in every 100000 µs");
    shut_down(machine);
}

/// The machine may run anywhere, but gets no more time than a guest of its shape.
#[test]
fn a_native_machine_that_is_not_pinned_has_the_time_of_its_shape() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut ordered = Place::new(micro);
    ordered.order.place = placed(1, &Policy::None);
    let machine = ordered.start("native", &json!({}));
    if here().cpus().len() > 1 {
        assert_held(&ordered, machine.as_ref(), "100000 µs in every 100000 µs");
        let is_held = machine.facts().decided["CPU quota"].is_ok();
        let stays_on = if is_held { here().numbers() } else { ordered.order.place.cpus.clone() };
        assert_eq!(machine.facts().decided["host CPUs"], Ok(words(&stays_on)));
    }
    shut_down(machine);
}

#[test]
fn memory_of_a_native_machine_comes_from_its_node() {
    let Some(micro) = image("micro", &KernelChoice::DEBIAN_12) else { return };
    let mut ordered = Place::new(micro).with_two_vcpus();
    ordered.order.place.bound_to = vec![NodeShare { node: 0, vcpus: vec![0, 1] }];
    let machine = ordered.start("native", &json!({}));
    match &machine.facts().decided["memory node"] {
        Ok(node) => assert_eq!(node, "0"),
        Err(why) => println!("SKIPPED: memory cannot be bound here: {why}"),
    }
    assert_eq!(machine.facts().decided["host CPUs"], Ok(words(&ordered.order.place.cpus)));
    shut_down(machine);
}
