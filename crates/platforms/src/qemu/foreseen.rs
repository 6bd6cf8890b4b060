//! The facts about a guest that are known before QEMU starts.

use super::accelerator;
use super::settings::{KvmWish, QemuSettings};
use crate::ahead::Ahead;
use crate::rights;
use machines::machine::Decisions;

/// Of a guest of QEMU, whoever starts it.
pub(crate) fn of(settings: &QemuSettings, kvm: &KvmWish, ahead: &Ahead<'_>) -> Decisions {
    let mut facts = ahead.placed();
    let mut say = |name: &str, value: Result<String, String>| facts.insert(name.to_owned(), value);
    if let Some(why) = accelerator::foreseen(kvm, ahead.cache) {
        say("processor", Err(why));
    }
    if let Some(kernel) = settings.kernel.clone().or_else(|| ahead.release()) {
        say("kernel.release", Ok(kernel));
    }
    say("limits.open_files", Ok(rights::open_files().to_string()));
    let pages = if settings.huge_pages { "2 MiB pages" } else { "ordinary pages" };
    say("memory", Ok(format!("{} bytes in {pages}", ahead.memory_bytes)));
    say("data", Ok(ahead.disk()));
    let (cache, twice) = (settings.disk.cache.name(), if settings.disk.cache.is_direct() { "no" } else { "yes" });
    say("data cached twice", Ok(format!("{twice}, as QEMU's cache {cache} has it")));
    facts
}
