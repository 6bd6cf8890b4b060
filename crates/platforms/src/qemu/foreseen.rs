//! The facts about a guest that are known before QEMU starts.

use super::accelerator;
use super::settings::{KEYS, KvmWish, QemuSettings, kvm_wish};
use crate::ahead::Ahead;
use crate::rights;
use machines::machine::Decided;
use serde_json::{Map, Value};

/// Of a table whose keys are each valid.
pub(crate) fn of_table(table: &Map<String, Value>, ahead: &Ahead<'_>) -> Decided {
    let settings = settings::read::<QemuSettings>(table, KEYS).ok();
    settings.zip(kvm_wish(table)).map_or_else(Decided::new, |(settings, wish)| of(&settings, &wish, ahead))
}

/// Of a guest of QEMU, whoever starts it.
pub(crate) fn of(settings: &QemuSettings, kvm: &KvmWish, ahead: &Ahead<'_>) -> Decided {
    let mut facts = ahead.placed();
    let mut say = |name: &str, value: Result<String, String>| facts.insert(name.to_owned(), value);
    if let Some(why) = accelerator::foreseen(kvm, ahead.cache) {
        say("processor", Err(why));
    }
    let kernel = settings.kernel.clone().unwrap_or_else(|| format!("Debian's {} kernel", ahead.kernel));
    say("kernel.release", Ok(kernel));
    say("limits.open_files", Ok(rights::open_files().to_string()));
    let pages = if settings.huge_pages { "2 MiB pages" } else { "ordinary pages" };
    say("memory", Ok(format!("{} bytes in {pages}", ahead.memory_bytes)));
    say("data", Ok(ahead.disk()));
    let (cache, twice) = (settings.disk.cache.name(), if settings.disk.cache.is_direct() { "no" } else { "yes" });
    say("data cached twice", Ok(format!("{twice}, as QEMU's cache {cache} has it")));
    facts
}
