//! The host that a study is planned for.

use crate::problems::quoted;
use images::KernelChoice;
use platforms::huge_pages::HugePages;
use platforms::placement::UsableCpus;
use record::settings::key::KERNEL;
use serde_json::{Map, Value};
use settings::Problem;

/// What the host has, so that problems such as too large a machine are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The CPUs that machines may use.
    pub topology: UsableCpus,
    pub memory_bytes: u64,
    /// Free huge pages, for machines that use them as memory.
    pub huge_pages: HugePages,
    /// The kernel of guests for which a study names none.
    pub kernel: KernelChoice,
}

impl Host {
    pub fn cpus(&self) -> usize {
        self.topology.cpus().len()
    }

    /// The kernel that guests of this machine boot.
    pub fn kernel_of(&self, machine: &Map<String, Value>) -> Result<KernelChoice, Problem> {
        let Some(word) = machine.get("kernel").and_then(Value::as_str) else { return Ok(self.kernel.clone()) };
        word.parse().map_err(|_| {
            let expected = format!("{}, or the path of a vmlinuz", quoted(KernelChoice::words()));
            let nearest = KernelChoice::nearest(word).map(str::to_owned);
            Problem { nearest, ..Problem::new(KERNEL, format!("found \"{word}\""), expected) }
        })
    }
}
