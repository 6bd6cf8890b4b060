//! What host and guest agree on: words on the kernel command line, names, and how the data is mounted.
//!
//! A platform writes these words on the host, and our first process in the guest reads them. The native platform gives
//! its processes the same places and options, so every machine looks alike from inside. Nothing here has effects.

/// Name of the virtio-serial port that the agent answers on.
pub const AGENT_PORT: &str = "bakeoff.agent";
/// The ext4 label of the database's file system.
pub const DATA_LABEL: &str = "bakeoff-data";
/// The ext4 label of the file system with the image's tree.
pub const ROOT_LABEL: &str = "root";
/// Where the data disk is mounted inside every machine.
pub const DATA_FOLDER: &str = "/data";
/// Our own binary inside a machine that has a tree of its own.
pub const AGENT_FILE: &str = "/run/bakeoff/agent";
/// Where the agent keeps the logs of servers.
pub const LOG_FOLDER: &str = "/run/bakeoff/logs";
/// Folders of the tree that are writable and start empty. The rest of the tree is read-only.
pub const WRITABLE_FOLDERS: &[&str] = &["/run", "/tmp", "/var/tmp"];
/// The whole environment of programs inside a machine.
pub const ENVIRONMENT: &[(&str, &str)] =
    &[("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("HOME", "/root"), ("LANG", "C.UTF-8")];
/// ext4's own options for the data disk. Without them the kernel still zeroes a new file system in the background while
/// a trial measures.
pub const DATA_OPTIONS: &str = "noinit_itable";
/// Options for `mount -o` of the data disk: reading must not write access times.
pub const DATA_MOUNT_WORDS: &str = "noatime,noinit_itable";

const DATA_WORD: &str = "bakeoff.data=";
const ROOT_WORD: &str = "bakeoff.root=";
const MOUNT_WORD: &str = "bakeoff.mount=";
const SCHEDULER_WORD: &str = "bakeoff.scheduler=";
const READ_AHEAD_WORD: &str = "bakeoff.read_ahead_kib=";
const NETWORK_WORD: &str = "bakeoff.net=";
const FILES_WORD: &str = "bakeoff.files=";

/// What a study says of the data disk inside the machine; empty where it says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataTuning {
    /// More of ext4's options, separated by commas.
    pub mount_options: String,
    /// The kernel's I/O scheduler for it.
    pub scheduler: String,
    /// How much the kernel reads ahead.
    pub read_ahead_kib: Option<u64>,
}

impl DataTuning {
    /// Scheduler and read-ahead as words for a file of the kernel, empty where there is none.
    pub fn of_queue(&self) -> [String; 2] {
        [self.scheduler.clone(), self.read_ahead_kib.map(|kib| kib.to_string()).unwrap_or_default()]
    }
}

/// Files of a block device's queue, in the order of [`DataTuning::of_queue`].
pub const QUEUE_FILES: [&str; 2] = ["scheduler", "read_ahead_kb"];

/// What the kernel command line says to a guest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BootWords {
    /// Label of the file system that becomes `/`; `None` keeps the initramfs.
    pub root: Option<String>,
    /// Label of the file system for [`DATA_FOLDER`]; with `None`, that is a plain folder.
    pub data: Option<String>,
    pub tuning: DataTuning,
    /// Address and prefix length of the first network interface.
    pub network: Option<GuestAddress>,
    /// The limit of open files, if it is not that of every machine.
    pub open_files: Option<u64>,
}

/// An IPv4 address and the length of its network's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestAddress {
    pub address: std::net::Ipv4Addr,
    pub prefix: u8,
}

impl std::str::FromStr for GuestAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not an address with a prefix length like 192.168.77.2/24");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let address = address.parse().map_err(|_| wrong())?;
        let prefix = prefix.parse().ok().filter(|prefix| (1..=30).contains(prefix)).ok_or_else(wrong)?;
        Ok(Self { address, prefix })
    }
}

impl std::fmt::Display for GuestAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

impl BootWords {
    pub fn to_words(&self) -> Vec<String> {
        let root = self.root.as_ref().map(|label| format!("{ROOT_WORD}{label}"));
        let data = self.data.as_ref().map(|label| format!("{DATA_WORD}{label}"));
        let [scheduler, read_ahead] = self.tuning.of_queue();
        let tuning =
            [(MOUNT_WORD, &self.tuning.mount_options), (SCHEDULER_WORD, &scheduler), (READ_AHEAD_WORD, &read_ahead)];
        let tuning = tuning.into_iter().filter(|(_, own)| !own.is_empty()).map(|(word, own)| format!("{word}{own}"));
        let network = self.network.map(|address| format!("{NETWORK_WORD}{address}"));
        let files = self.open_files.map(|files| format!("{FILES_WORD}{files}"));
        [root, data].into_iter().flatten().chain(tuning).chain(network).chain(files).collect()
    }

    /// Reads a kernel command line and ignores the words that are not ours.
    pub fn parse(command_line: &str) -> Result<Self, String> {
        let mut words = Self::default();
        for word in command_line.split_ascii_whitespace() {
            if let Some(label) = word.strip_prefix(ROOT_WORD) {
                words.root = Some(label.to_owned());
            } else if let Some(label) = word.strip_prefix(DATA_WORD) {
                words.data = Some(label.to_owned());
            } else if let Some(options) = word.strip_prefix(MOUNT_WORD) {
                options.clone_into(&mut words.tuning.mount_options);
            } else if let Some(scheduler) = word.strip_prefix(SCHEDULER_WORD) {
                scheduler.clone_into(&mut words.tuning.scheduler);
            } else if let Some(kib) = word.strip_prefix(READ_AHEAD_WORD) {
                let wrong = |_| format!("\"{kib}\" is not a number of KiB");
                words.tuning.read_ahead_kib = Some(kib.parse().map_err(wrong)?);
            } else if let Some(address) = word.strip_prefix(NETWORK_WORD) {
                words.network = Some(address.parse()?);
            } else if let Some(files) = word.strip_prefix(FILES_WORD) {
                words.open_files = Some(files.parse().map_err(|_| format!("\"{files}\" is not a number of files"))?);
            }
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::{BootWords, DataTuning, GuestAddress};

    #[test]
    fn a_guest_reads_what_the_host_wrote() {
        let network = Some(GuestAddress { address: [10, 0, 2, 15].into(), prefix: 24 });
        let full =
            BootWords { root: Some("a-root".into()), data: Some("some-data".into()), network, ..BootWords::default() };
        let tuning = DataTuning {
            mount_options: "nobarrier,data=journal".into(),
            scheduler: "mq-deadline".into(),
            read_ahead_kib: Some(0),
        };
        let mounted = BootWords { tuning, ..full.clone() };
        let limited = BootWords { open_files: Some(20_000), ..full.clone() };
        for words in [full, mounted, limited, BootWords::default()] {
            let line = format!("console=ttyS0 quiet {} panic=-1\n", words.to_words().join(" "));
            assert_eq!(BootWords::parse(&line), Ok(words));
        }
    }

    #[test]
    fn an_address_needs_a_prefix_that_leaves_room_for_two() {
        for text in ["10.0.2.15", "10.0.2.15/0", "10.0.2.15/31", "10.0.2/24", "/24", "10.0.2.15/x"] {
            assert!(text.parse::<GuestAddress>().is_err(), "{text}");
        }
        assert!(BootWords::parse("bakeoff.net=nonsense").is_err());
        assert!(BootWords::parse("bakeoff.read_ahead_kib=much").is_err());
        assert!(BootWords::parse("bakeoff.files=many").is_err());
    }
}
