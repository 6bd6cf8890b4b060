//! What an audit of durability found for one contender: what was acknowledged, what power cuts left of it, and what an honest commit
//! cost there.

use serde::{Deserialize, Serialize};

/// How contenders are audited; part of `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurabilityPlan {
    pub faults: Vec<Fault>,
    /// How long each contender is driven.
    pub drive_ms: u64,
    /// How often all flushes are held meanwhile, and for how long.
    pub holds: u32,
    pub hold_ms: u64,
    /// Moments of a power cut, besides the end of each hold.
    pub acknowledged: u32,
    pub unflushed: u32,
    pub growing: u32,
    /// The pieces in which a write that no flush covers is kept or lost.
    pub grain_bytes: u32,
    /// How long a flush takes while it is measured what a commit costs; 0 means that it is not measured.
    pub flush_delay_ms: u64,
    pub seed: u64,
}

/// What is lost, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The processes of the database server. What they had written stays.
    ServerKilled,
    /// A guest, by a panic of its kernel or the end of its hypervisor's process. What the hypervisor had written stays.
    GuestLost,
    /// The host, by a power cut. What was flushed stays.
    HostLost,
}

impl Fault {
    pub const ALL: [Self; 3] = [Self::ServerKilled, Self::GuestLost, Self::HostLost];

    /// The word in a study.
    pub fn word(self) -> &'static str {
        match self {
            Self::ServerKilled => "server-killed",
            Self::GuestLost => "guest-lost",
            Self::HostLost => "host-lost",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Durability {
    pub format: u32,
    /// The plan's cell.
    pub cell: u32,
    pub contender: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Why there is no audit; everything below is empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_audited: Option<String>,
    /// Whether it was begun and failed; else what is not audited cannot be audited here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Why software emulated the machine's CPU, if it did: its figures are no platform's then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated: Option<String>,
    /// Settings of the engine in force by which acknowledged transactions may be lost, as `name=value`.
    pub declared: Vec<String>,
    /// Transactions whose commit was acknowledged.
    pub acknowledged: u64,
    pub holds: Vec<Hold>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scan>,
    /// What was there after the server had been killed; `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<KilledServer>,
    pub cuts: Vec<RebuiltCut>,
    /// Cuts of the same contender on a disk that lies about flushes, which must lose something.
    pub planted: Vec<RebuiltCut>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Durability {
    /// Where it contradicts itself or the cell that it is of, with the key's name.
    pub(crate) fn contradiction(&self, cell: u32) -> Option<String> {
        if self.cell != cell {
            return Some(format!("cell is {}, and the file is that of cell {cell}", self.cell));
        }
        let of_cuts = [("cuts", &self.cuts), ("planted", &self.planted)].into_iter();
        let numbers = of_cuts.flat_map(|(name, cuts)| cuts.iter().map(move |cut| (name, cut.lost, cut.acknowledged)));
        let killed = self.killed.iter().map(|killed| ("killed", killed.lost, killed.acknowledged));
        numbers.chain(killed).find(|(_, lost, acknowledged)| lost > acknowledged).map(|(name, lost, acknowledged)| {
            format!("in {name}, {lost} of {acknowledged} acknowledged transactions are lost; more than there were")
        })
    }
}

/// A time in which the disk ended no flush.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// The number of log entries, which stood still meanwhile.
    pub position: u64,
    pub length_ms: u64,
    /// Transactions that began and were acknowledged within it.
    pub acknowledged: u64,
}

/// Where the receipt of each acknowledged transaction was when it was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Below a flush that had ended.
    pub flushed: u64,
    /// Written to the disk, and not flushed.
    pub unflushed: u64,
    /// Not written to the disk.
    pub unwritten: u64,
}

/// How the moment of a cut was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutMoment {
    /// While the disk held its flushes.
    Held,
    /// Just after an acknowledgement.
    Acknowledged,
    /// Just after an acknowledgement that came before a flush, as the scan found.
    Suspect,
    /// Just before a flush ended, where most is unflushed.
    Unflushed,
    /// Early, while files still grew.
    Growing,
}

/// What survives of the writes that no flush covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Survives {
    Nothing,
    /// A random half.
    Half,
    /// All of it, as if only a guest had been lost.
    All,
}

/// What a database had after its server was killed at the end of the load, and started again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KilledServer {
    pub acknowledged: u64,
    pub lost: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// A power cut that was rebuilt, and what the engine made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RebuiltCut {
    pub moment: CutMoment,
    pub position: u64,
    pub survives: Survives,
    pub seed: u64,
    pub grain_bytes: u32,
    /// Transactions that had been acknowledged by then.
    pub acknowledged: u64,
    /// How many of them were not there.
    pub lost: u64,
    /// Why the database was not whole: it did not start, or a check failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// Whether a second rebuild showed the same; `None` if nothing was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<bool>,
    pub took_ms: u64,
}

impl RebuiltCut {
    pub fn fault(&self) -> Fault {
        match self.survives {
            Survives::Nothing | Survives::Half => Fault::HostLost,
            Survives::All => Fault::GuestLost,
        }
    }

    pub fn is_clean(&self) -> bool {
        self.lost == 0 && self.broken.is_none()
    }

    /// Something was wrong, and twice.
    pub fn is_proof(&self) -> bool {
        !self.is_clean() && self.confirmed == Some(true)
    }
}

/// What an honest commit costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Flushes at the disk for each acknowledged transaction, and bytes.
    pub flushes: f64,
    pub bytes: f64,
    /// Milliseconds by which a commit of one client takes longer for each millisecond that a flush does: the flushes that it waits
    /// for, one after the other. Zero means that no commit waits for one. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// Commits at several numbers of clients.
    pub rates: Vec<CommitRate>,
    /// The share of the host's CPU time that others took while slope and rates were measured, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu: Option<f64>,
}

/// Commits with so many clients, while each flush takes as long as the plan says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CommitRate {
    pub clients: u32,
    pub per_second: f64,
}
