//! Starts one machine and keeps it until it is killed, for this crate's tests of what a killed owner leaves behind.
//!
//! Arguments: the platform's kind, its settings (JSON), the image (JSON), the agent, the data disk, the parent of scratch
//! folders. Once the machine has greeted, it prints a line and waits for the end of standard input. Else it prints why not.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use images::data::DataDisk;
use machines::interrupts::Interrupts;
use machines::scratch::Scratch;
use platforms::credentials::Credentials;
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::{Policy, UsableCpus, place};
use platforms::platform::OpenOrder;
use std::io::Read;
use std::path::PathBuf;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, table, image, agent, data, parent] = &words[..] else { panic!("six arguments, not {words:?}") };
    let scratch = Scratch::create(&PathBuf::from(parent), "owned").unwrap();
    let order = MachineOrder {
        name: "owned".to_owned(),
        vcpus: 1,
        memory_bytes: 512 << 20,
        place: place(&UsableCpus::flat(&[0]), &Policy::Auto { memory_bytes: 0 }, 1, 1, 0).unwrap().remove(0),
        cpu_quota: None,
        image: serde_json::from_str(image).unwrap(),
        agent: PathBuf::from(agent),
        // On another server the path is only a name.
        data: if kind == "vsphere" {
            DataDisk::Folder("data/loaded".into())
        } else {
            DataDisk::Image(PathBuf::from(data))
        },
        scratch: scratch.path().to_owned(),
        cache: scratch.path().join("cache"),
        mounting: Mounting::default(),
        reached: Reached::default(),
    };
    let table = serde_json::from_str(table).unwrap();
    let open = OpenOrder {
        agent: &order.agent,
        image: order.image.as_ref(),
        scratch: &order.scratch,
        name: "owned",
        credentials: &Credentials::of(|name| std::env::var(name).ok()),
        lines: None,
        interrupts: &Interrupts::default(),
    };
    let platform = (platforms::catalog::entry(kind).unwrap().read)(&table).unwrap().open(&open).unwrap();
    match platform.start(&order, &|| {}) {
        Err(error) => println!("failed: {error}"),
        Ok(machine) => {
            let decided = machine.facts().decided.iter().map(|(what, answer)| format!("{what}: {answer:?}"));
            println!("greeted, {}", decided.collect::<Vec<_>>().join(", "));
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
        }
    }
}
