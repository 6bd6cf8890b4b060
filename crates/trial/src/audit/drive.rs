//! Drives a workload on a disk that can lose power, and keeps the answers its users got.

use super::moments::DrawnReceipt;
use super::recovery::Recovered;
use super::{AuditError, Auditing};
use crate::conversation::{Conversation, mismatch};
use crate::halt::Halt;
use crate::script;
use agent::protocol::{Reply, Request};
use disk::{DiskControl, FaultSettings, RunningDisk};
use driver::plan::{DrivePlan, Driven, LoadPhase, Pacing, Receipt, Receipts};
use engines::server::{ServerReport, ServerShape};
use images::data::DataDisk;
use machines::machine::Machine;
use machines::scratch::{self, Kept};
use platforms::order::{MachineOrder, Mounting, Reached};
use platforms::placement::Place;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use record::durability::{CommitRate, DurabilityPlan, Fault, KilledServer};
use record::facts::{EMULATED, Fact, PROCESSOR};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A disk starts, answers and ends within this.
pub(super) const DISK_LIMIT: Duration = Duration::from_secs(20);
/// Time between two holds, on average; in it the database goes on.
const GAP: Duration = Duration::from_millis(250);
/// The ledger's name for a mounted disk.
pub const DISK: &str = "disk";
/// Users whose thinking would leave the disk idle work back to back.
const CLIENTS_MAX: u32 = 64;

/// What was driven on a disk.
pub struct OnDisk {
    pub log: PathBuf,
    pub server: ServerReport,
    /// Why the machine's CPU was emulated, if it was.
    pub emulated: Option<String>,
    pub acknowledged: Vec<DrawnReceipt>,
    pub killed: Option<KilledServer>,
    pub price: Price,
}

/// What a commit costs.
#[derive(Debug, Default)]
pub struct Price {
    pub slope: Option<f64>,
    pub rates: Vec<CommitRate>,
    /// What others took of the host's CPU time meanwhile.
    pub other_cpu: Option<f64>,
}

/// How a disk behaves, and how long it is driven on.
#[derive(Debug, Clone, Copy)]
pub struct DiskBehaviour {
    pub lies: bool,
    pub drive_ms: u64,
    pub holds: u32,
}

/// A machine whose database is on a disk that can lose power.
pub(super) struct Conversing<'a> {
    pub disk: &'a RunningDisk,
    auditing: &'a Auditing<'a>,
    conversation: Conversation<'a>,
}

impl Conversing<'_> {
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, AuditError> {
        Ok(self.conversation.ask(request, limit, &mut |_| ())?)
    }

    fn done(&mut self, request: &Request, what: &'static str) -> Result<(), AuditError> {
        match self.ask(request, self.auditing.site.limits.check)? {
            Reply::Done => Ok(()),
            other => Err(mismatch(what, &other).into()),
        }
    }

    /// Drives by this plan; `told` gets the receipts of acknowledged transactions.
    pub fn drive(&mut self, plan: DrivePlan, told: &mut dyn FnMut(Vec<Receipt>)) -> Result<Driven, AuditError> {
        let limits = &self.auditing.site.limits;
        let silence = limits.driving + Duration::from_millis(self.auditing.plan.hold_ms);
        let workload = self.auditing.prepared.data_of(1).workload.chosen.clone();
        let request = Request::Drive { workload, plans: vec![plan] };
        let reply = self.conversation.ask_and_answer(&request, limits.opening, silence, &mut |_, aside, _| {
            if let Reply::Told(receipts) = aside {
                told(receipts);
            }
            Ok(())
        })?;
        match reply {
            Reply::Driven(driven) if driven.len() == 1 => {
                Ok(driven.into_iter().next().unwrap_or_else(|| unreachable!()))
            }
            other => Err(mismatch("drive", &other).into()),
        }
    }
}

impl Auditing<'_> {
    /// Drives on a copy of the loaded data in this folder, which keeps the log.
    pub(super) fn drive_on_disk(&self, folder: &Path, behaviour: DiskBehaviour) -> Result<OnDisk, AuditError> {
        std::fs::create_dir_all(folder).map_err(AuditError::io("making a folder for the disk"))?;
        let loaded = &self.prepared.data_of(1).loaded;
        // Where commits are measured, a flush takes as long as on the host's own disk.
        let settings = FaultSettings {
            flushes_backing: behaviour.lies,
            ..FaultSettings::in_folder(folder, &loaded.display().to_string())
        };
        images::data::copy(loaded, &settings.backing)?;
        std::fs::write(&settings.mount, []).map_err(AuditError::io("making the disk's file"))?;
        // The mount outlives us if we are killed.
        let kept = Kept { platform: DISK.to_owned(), what: json!(settings.mount) };
        scratch::record_kept(self.scratch, kept)?;
        let program = self.site.agent.to_str().ok_or(disk::running::DiskError::Path)?;
        let disk = RunningDisk::start(&[program, "disk"], &settings, DISK_LIMIT)?;
        let driven = self.drive_in_machine(folder, &disk, behaviour);
        let ended = disk.end(DISK_LIMIT);
        let driven = driven?;
        ended?;
        Ok(driven)
    }

    fn drive_in_machine(
        &self,
        folder: &Path,
        disk: &RunningDisk,
        behaviour: DiskBehaviour,
    ) -> Result<OnDisk, AuditError> {
        let order = MachineOrder {
            name: format!("audit-{}", folder.file_name().unwrap_or_default().display()),
            data: DataDisk::Image(disk.settings().mount.clone()),
            mounting: Mounting { must: true, tuning: self.cell.machine.disk.tuning() },
            scratch: folder.join("machine"),
            ..self.order()
        };
        std::fs::create_dir_all(&order.scratch).map_err(AuditError::io("making a folder for the machine"))?;
        let mut machine = self.prepared.platform.start(&order, &|| ())?;
        let driven = self.drive(machine.as_mut(), disk, behaviour);
        // Its server is not stopped: after a power cut nothing is.
        let cut = machine.cut();
        let driven = driven?;
        cut?;
        Ok(driven)
    }

    fn drive(
        &self,
        machine: &mut dyn Machine,
        disk: &RunningDisk,
        behaviour: DiskBehaviour,
    ) -> Result<OnDisk, AuditError> {
        let (limits, halt) = (&self.site.limits, Halt::by_user(self.interrupts));
        let conversation = Conversation { link: machine.link(), halt, limits, instance: 0 };
        let mut on = Conversing { disk, auditing: self, conversation };
        let request =
            Request::StartServer { engine: self.cell.engine.chosen.clone(), shape: self.shape(), listen: None };
        let server = match on.ask(&request, limits.start)? {
            Reply::Started(report) => *report,
            other => return Err(mismatch("start of the server", &other).into()),
        };
        on.done(&Request::MakeReceipts, "making of receipts")?;
        let mut price = Price::default();
        if behaviour.lies {
            price = self.price(&mut on)?;
            disk.control(DISK_LIMIT)?.lie()?;
        }
        let acknowledged = self.drive_and_hold(&mut on, behaviour)?;
        let has_server = self.cell.engine.entry.remote;
        let asks = self.plan.faults.contains(&Fault::ServerKilled);
        let killed = if asks && has_server && !behaviour.lies {
            on.done(&Request::KillServer, "killing of the server")?;
            Some(self.after_kill(machine, &acknowledged)?)
        } else {
            None
        };
        let processor = machine.facts().decided.get(PROCESSOR).and_then(|processor| processor.as_ref().ok());
        let emulated = processor.filter(|processor| Fact::known(*processor).kind() == EMULATED).cloned();
        Ok(OnDisk { log: disk.settings().log.clone(), server, emulated, acknowledged, killed, price })
    }

    /// What the server has of the acknowledged transactions when it is started again.
    fn after_kill(&self, machine: &mut dyn Machine, all: &[DrawnReceipt]) -> Result<KilledServer, AuditError> {
        let Recovered { receipts, broken } = self.look(machine)?;
        let missing = all.iter().filter(|own| !receipts.contains(&own.number)).count() as u64;
        let lost = if broken.is_some() { 0 } else { missing };
        Ok(KilledServer { acknowledged: all.len() as u64, lost, broken })
    }

    /// Drives with receipts, and holds flushes meanwhile. Returns what was acknowledged.
    fn drive_and_hold(
        &self,
        on: &mut Conversing<'_>,
        behaviour: DiskBehaviour,
    ) -> Result<Vec<DrawnReceipt>, AuditError> {
        let before = on.conversation.read_clock("before driving")?;
        let mut told = Vec::new();
        let pacing = self.cell.load.offered.pacing().unwrap_or(Pacing::Clients { clients: CLIENTS_MAX });
        let plan = self.drive_plan(pacing, behaviour.drive_ms, Receipts::Written { first: 1 });
        let (control, holds, audit) = (&on.disk.settings().control, behaviour.holds, self.plan);
        thread::scope(|scope| {
            let (over, is_over) = channel::<()>();
            let holding = scope.spawn(move || hold(control, holds, audit, &is_over));
            let driven = on.drive(plan, &mut |receipts| told.extend(receipts));
            drop(over);
            let held = holding.join().unwrap_or(Err(disk::ControlError::OutOfStep));
            driven?;
            Ok::<_, AuditError>(held?)
        })?;
        // Readings before and after bound the clocks' difference, also if they run at different rates.
        let after = on.conversation.read_clock("after driving")?;
        let (low, high) = [&before, &after].iter().fold((i64::MAX, i64::MIN), |(low, high), reading| {
            let error = (reading.round_trip_ns / 2).cast_signed();
            (low.min(reading.offset_ns - error), high.max(reading.offset_ns + error))
        });
        Ok(told.iter().flat_map(|receipt| acknowledged(receipt, low, high)).collect())
    }

    pub(super) fn shape(&self) -> ServerShape {
        ServerShape { vcpus: self.cell.machine.vcpus, memory_bytes: self.cell.machine.memory_bytes.0 }
    }

    /// An order for a machine of the contender, without data.
    pub(super) fn order(&self) -> MachineOrder {
        MachineOrder {
            name: String::new(),
            vcpus: self.cell.machine.vcpus,
            memory_bytes: self.cell.machine.memory_bytes.0,
            place: Place::anywhere_on(&self.site.cpus),
            cpu_quota: None,
            image: self.prepared.image.clone(),
            agent: self.site.agent.clone(),
            data: DataDisk::Image(PathBuf::new()),
            scratch: PathBuf::new(),
            cache: self.site.cache.clone(),
            mounting: Mounting { must: true, ..Mounting::default() },
            reached: Reached::default(),
        }
    }

    /// The workload with this pacing, without a warm-up.
    pub(super) fn drive_plan(&self, pacing: Pacing, drive_ms: u64, receipts: Receipts) -> DrivePlan {
        let load = LoadPhase::timed(pacing, 0, drive_ms);
        let workload = &self.prepared.data_of(1).workload.made;
        let plan = DrivePlan::of(workload.script(load), self.plan.seed);
        DrivePlan {
            shards: self.cell.load.shards,
            retries: self.cell.load.retries,
            away_limit_ms: script::away_limit_ms(&self.site.limits),
            receipts,
            ..plan
        }
    }
}

/// The receipts of a transaction, by the host's clock. `low` and `high` bound how far the machine's clock is ahead of it.
fn acknowledged(receipt: &Receipt, low: i64, high: i64) -> impl Iterator<Item = DrawnReceipt> + '_ {
    let (sent_ns, done_ns) =
        (receipt.sent_ns.saturating_add_signed(-high), receipt.done_ns.saturating_add_signed(-low));
    receipt.written.iter().map(move |number| DrawnReceipt { number: *number, sent_ns, done_ns })
}

/// Holds flushes at random moments until driving is over.
fn hold(control: &Path, holds: u32, plan: &DurabilityPlan, is_over: &Receiver<()>) -> Result<(), disk::ControlError> {
    let mut control = DiskControl::connect(control, DISK_LIMIT)?;
    let mut chance = Pcg64Mcg::seed_from_u64(plan.seed);
    for _ in 0..holds {
        let gap = GAP.mul_f64(0.5 + (chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64);
        if is_over.recv_timeout(gap) != Err(RecvTimeoutError::Timeout) {
            return Ok(());
        }
        control.stall()?;
        let ended = is_over.recv_timeout(Duration::from_millis(plan.hold_ms));
        control.go()?;
        if ended != Err(RecvTimeoutError::Timeout) {
            return Ok(());
        }
    }
    Ok(())
}
