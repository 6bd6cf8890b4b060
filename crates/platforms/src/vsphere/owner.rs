//! Whose a folder of machines is: its name says which process of which host made it. Pure, but for reading who we are.

use machines::identity::{Identity, boot_id};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// Begins the names of our folders.
const PREFIX: &str = "bakeoff-run";
/// Names in the inventory have at most 80 letters. These leave room for the numbers.
const HOST_LETTERS: usize = 16;
const HASH_BYTES: usize = 4;

/// A process that may have machines on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The host's name, for people.
    host: String,
    /// Distinguishes hosts of one name, and containers of one host.
    place: String,
    boot: String,
    process: Identity,
    since_s: u64,
}

/// What is known of an owner from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnerState {
    Alive,
    Dead,
    /// It is or was on another host, and cannot be looked for.
    Elsewhere,
}

impl Owner {
    pub fn of_us() -> io::Result<Self> {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        // Numbers of processes mean something only in their namespace.
        let namespace = std::fs::read_link("/proc/self/ns/pid")?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        Ok(Self {
            host: plain(&name),
            place: short_hash(&format!("{name} {id} {}", namespace.display())),
            boot: short_hash(&boot_id()?),
            process: Identity::of(std::process::id())?,
            since_s: since.as_secs(),
        })
    }

    /// The name of its folder with this number.
    pub fn folder_name(&self, number: u32) -> String {
        let Self { host, place, boot, process: Identity { pid, start_ticks }, since_s } = self;
        format!("{PREFIX}.{host}.{place}.{boot}.{pid}.{start_ticks}.{since_s}.{number}")
    }

    /// The owner of a folder; `None` if it is none of ours.
    pub fn of_folder(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split('.').collect();
        let [PREFIX, host, place, boot, pid, ticks, since, number] = parts[..] else { return None };
        number.parse::<u32>().ok()?;
        Some(Self {
            host: host.to_owned(),
            place: place.to_owned(),
            boot: boot.to_owned(),
            process: Identity { pid: pid.parse().ok()?, start_ticks: ticks.parse().ok()? },
            since_s: since.parse().ok()?,
        })
    }

    /// Whether it still runs, as seen by `us`.
    pub fn state(&self, us: &Self) -> OwnerState {
        if self.place != us.place {
            OwnerState::Elsewhere
        } else if self.boot == us.boot && self.process.is_alive() {
            OwnerState::Alive
        } else {
            OwnerState::Dead
        }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// How long before `us` it began.
    pub fn age_s(&self, us: &Self) -> u64 {
        us.since_s.saturating_sub(self.since_s)
    }

    /// A short text that no other process's machines have in their names.
    pub fn mark(&self) -> String {
        format!("{}-{}-{}", self.place, self.process.pid, self.since_s)
    }
}

fn plain(name: &str) -> String {
    let first = name.split('.').next().unwrap_or_default();
    let letters = first.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    letters.take(HOST_LETTERS).collect()
}

fn short_hash(text: &str) -> String {
    Sha256::digest(text).iter().take(HASH_BYTES).fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_its_owner_and_whether_it_lives() {
        let us = Owner::of_us().unwrap();
        let name = us.folder_name(3);
        assert!(name.len() <= 80, "{name}");
        assert_eq!(Owner::of_folder(&name), Some(us.clone()));
        assert_eq!(us.state(&us), OwnerState::Alive);
        let ended = Owner { process: Identity { start_ticks: 1, ..us.process }, ..us.clone() };
        assert_eq!(ended.state(&us), OwnerState::Dead);
        assert_eq!(Owner { boot: "0".to_owned(), ..us.clone() }.state(&us), OwnerState::Dead);
        assert_eq!(Owner { place: "0".to_owned(), ..ended }.state(&us), OwnerState::Elsewhere);
    }

    #[test]
    fn the_longest_name_has_room() {
        let process = Identity { pid: 4_194_304, start_ticks: 9_999_999_999 };
        let (host, hash) = ("h".repeat(HOST_LETTERS), "0".repeat(2 * HASH_BYTES));
        let owner = Owner { host, place: hash.clone(), boot: hash, process, since_s: 9_999_999_999 };
        let name = owner.folder_name(99);
        assert!(name.len() <= 80, "{} {name}", name.len());
    }

    #[test]
    fn other_folders_are_left_alone() {
        for name in [
            "bakeoff-run",
            "bakeoff-run.a.b.c.1.2.3",
            "bakeoff-run.a.b.c.x.2.3.4",
            "vm",
            "bakeoff-run.a.b.c.1.2.3.4.5",
            "",
        ] {
            assert_eq!(Owner::of_folder(name), None, "{name}");
        }
    }
}
