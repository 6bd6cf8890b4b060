//! Whether KVM works here. The tests pass on hosts where it works and where it does not.

use crate::place::{Place, guest_image, started};
use images::KernelChoice;
use machines::machine::MachineError;
use platforms::qemu::accelerator::{KvmProbe, choose, kvm};
use platforms::qemu::command::Accelerator;
use platforms::qemu::settings::{KvmWish, QemuSettings, WantedAccelerator};
use serde_json::json;

/// A named model may hang where "host" makes QEMU abort; both must end with a result.
const MODELS: [&str; 2] = ["auto", "qemu64"];

fn probe(place: &Place, cpu: &str) -> KvmProbe {
    KvmProbe {
        image: place.image().clone(),
        agent: place.order.agent.clone(),
        cache: place.order.cache.clone(),
        scratch: place.order.scratch.clone(),
        wish: KvmWish { cpu: cpu.to_owned(), ..QemuSettings::default().wish() },
        cpus: place.order.place.cpus.clone(),
    }
}

/// One test, because a guest that hangs is given up only after a while.
#[test]
fn a_probe_ends_in_an_answer_leaves_nothing_and_is_remembered() {
    let Some(micro) = guest_image("micro", &KernelChoice::DEBIAN_12) else { return };
    let place = Place::new(micro);
    of_probes_that_start_together_one_tries(&probe(&place, MODELS[0]));
    for model in MODELS {
        let probe = probe(&place, model);
        let found = kvm(&probe).unwrap();
        println!("{model}: {found:?}");
        let after_first = started(&probe.scratch);
        assert!(after_first.iter().all(|process| !process.is_alive()));
        assert_eq!(kvm(&probe).unwrap(), found);
        assert_eq!(started(&probe.scratch), after_first, "the second answer is a remembered one");

        let auto = choose(WantedAccelerator::Auto, &probe).unwrap();
        assert_eq!(auto.accelerator, if found.works { Accelerator::Kvm } else { Accelerator::Tcg });
        assert!(auto.why.contains(&found.sentence));
        match choose(WantedAccelerator::Kvm, &probe) {
            Ok(choice) => assert!(found.works && choice.accelerator == Accelerator::Kvm),
            Err(MachineError::Unavailable { why }) => assert!(!found.works && why == found.sentence),
            Err(other) => panic!("{other}"),
        }
    }
    match place.try_start("qemu", &json!({ "accelerator": "kvm" })) {
        Ok(machine) => assert_eq!(machine.facts().decided["accelerator"].as_deref(), Ok("kvm")),
        Err(MachineError::Unavailable { why }) => assert!(why.contains("/dev/kvm"), "{why}"),
        Err(other) => panic!("{other}"),
    }
}

fn of_probes_that_start_together_one_tries(probe: &KvmProbe) {
    let found = std::thread::scope(|scope| {
        let tries = [(); 3].map(|()| scope.spawn(|| kvm(probe).unwrap()));
        tries.map(|one| one.join().unwrap())
    });
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    assert!(started(&probe.scratch).len() <= 1, "none is tried where the device cannot be opened");
}
