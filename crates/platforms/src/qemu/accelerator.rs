//! Which accelerator a guest gets, decided by booting a guest.
//!
//! `/dev/kvm` can exist and not work: on some nested hosts a guest hangs at boot, on others QEMU aborts. So a tiny
//! guest is booted with a deadline, and the result is remembered until the host reboots, or QEMU or the kernel changes.

use super::boot::{guest_kernel, initramfs};
use super::command::{Accelerator, GuestOrder, drivers};
use super::guest::Guest;
use super::isolation::Isolation;
use super::patience::probe_limit;
use super::settings::{GuestNetwork, KvmWish, PROGRAM, QemuSettings, WantedAccelerator};
use crate::order::Reached;
use machines::identity::boot_id;
use machines::machine::MachineError;
use machines::process::{Launch, ProcessError};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// QEMU prints its version and ends within this.
const VERSION_LIMIT: Duration = Duration::from_secs(30);
const PROBE_MEMORY_BYTES: u64 = 256 << 20;
const DEVICE: &str = "/dev/kvm";

/// The inputs of a test whether KVM works.
#[derive(Debug, Clone)]
pub struct KvmProbe {
    pub image: images::Image,
    /// Our own static binary.
    pub agent: PathBuf,
    /// Folder of remembered answers.
    pub cache: PathBuf,
    /// Folder for the guest's files.
    pub scratch: PathBuf,
    pub wish: KvmWish,
    /// Host CPUs to boot on.
    pub cpus: Vec<usize>,
}

/// Stands before the last line that QEMU printed.
const LAST_WORDS: &str = "; it printed: ";

/// The result of the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResult {
    pub works: bool,
    /// For people, such as "a guest booted with KVM in 0.9 s".
    pub sentence: String,
}

/// An accelerator and why it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub accelerator: Accelerator,
    /// A phrase that follows a comma: "because /dev/kvm cannot be opened".
    pub why: String,
}

/// A result and the conditions under which it holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    boot: String,
    qemu: String,
    kernel: String,
    cpu: String,
    finding: ProbeResult,
}

/// Chooses the accelerator; boots a guest only if the choice depends on KVM and no result is remembered.
pub fn choose(wanted: WantedAccelerator, probe: &KvmProbe) -> Result<Choice, MachineError> {
    if wanted == WantedAccelerator::Tcg {
        return Ok(Choice { accelerator: Accelerator::Tcg, why: "as asked".to_owned() });
    }
    let ProbeResult { works, sentence } = kvm(probe)?;
    match (wanted, works) {
        (_, true) => Ok(Choice { accelerator: Accelerator::Kvm, why: sentence }),
        (WantedAccelerator::Kvm, false) => Err(MachineError::Unavailable { why: sentence }),
        _ => Ok(Choice { accelerator: Accelerator::Tcg, why: format!("because {sentence}") }),
    }
}

/// Whether KVM works here, from memory or by a test. If several machines start together, one tests and the others use
/// its result.
pub fn kvm(probe: &KvmProbe) -> Result<ProbeResult, MachineError> {
    static TRYING: Mutex<()> = Mutex::new(());
    // A thread that panicked during its test left nothing half done that matters here.
    let _one_at_a_time = TRYING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(closed) = closed() {
        return Ok(closed);
    }
    let cpu = model(&probe.wish.cpu);
    let kernel = guest_kernel(&probe.image)?.release.clone();
    let now = Remembered { kernel, ..Remembered::nothing(cpu, &probe.wish.binary)? };
    let file = file_of(&probe.cache, cpu, &probe.wish.binary);
    if let Some(finding) = recall(&file).filter(|remembered| remembered.holds_for(&now)).map(|it| it.finding) {
        return Ok(finding);
    }
    let finding = try_kvm(probe, cpu)?;
    remember(&file, &Remembered { finding: finding.clone(), ..now })
        .map_err(|source| MachineError::Io { doing: format!("remembering in {}", file.display()), source })?;
    Ok(finding)
}

/// What will happen to a contender that may use KVM, if KVM is known not to work.
pub fn foreseen(wish: &KvmWish, cache: &Path) -> Option<String> {
    let sentence = cause(&without_kvm(wish, cache)?).to_owned();
    Some(match wish.accelerator {
        WantedAccelerator::Kvm => format!("trials will be skipped: {sentence}"),
        _ => format!("emulated in software, so the result is not what a VM costs: {sentence}"),
    })
}

/// The cause in a sentence about KVM, without the last words of a QEMU that ended.
pub fn cause(sentence: &str) -> &str {
    sentence.split_once(LAST_WORDS).map_or(sentence, |(cause, _)| cause)
}

/// Why a contender that may use KVM cannot, if that is known.
pub fn without_kvm(wish: &KvmWish, cache: &Path) -> Option<String> {
    let finding = known_of_kvm(cache, wish).filter(|_| wish.accelerator != WantedAccelerator::Tcg)?;
    (!finding.works).then_some(finding.sentence)
}

/// True if only a test can show whether KVM works for a contender.
pub fn is_to_be_tried(wish: &KvmWish, cache: &Path) -> bool {
    wish.accelerator != WantedAccelerator::Tcg && known_of_kvm(cache, wish).is_none()
}

/// What is known of KVM without booting a guest. Either the device cannot be opened, or there is a result since the
/// host's last boot, with any guest kernel. `None` if only a test can show it.
fn known_of_kvm(cache: &Path, wish: &KvmWish) -> Option<ProbeResult> {
    if let Some(closed) = closed() {
        return Some(closed);
    }
    let (cpu, binary) = (model(&wish.cpu), &wish.binary);
    let remembered = recall(&file_of(cache, cpu, binary))?;
    let now = Remembered { kernel: remembered.kernel.clone(), ..Remembered::nothing(cpu, binary).ok()? };
    remembered.holds_for(&now).then_some(remembered.finding)
}

/// The result if the device cannot be opened. This is cheap to check and may change, so it is not remembered.
fn closed() -> Option<ProbeResult> {
    let error = File::options().read(true).write(true).open(DEVICE).err()?;
    Some(ProbeResult { works: false, sentence: format!("{DEVICE} cannot be opened ({error})") })
}

fn model(cpu: &str) -> &str {
    if cpu == "auto" { Accelerator::Kvm.fullest_cpu() } else { cpu }
}

/// The file that remembers the result for a CPU model and a QEMU.
fn file_of(cache: &Path, cpu: &str, binary: &str) -> PathBuf {
    let of_binary = if binary == PROGRAM { String::new() } else { format!("-{}", file_name(binary)) };
    cache.join("kvm").join(format!("{}{of_binary}.json", file_name(cpu)))
}

/// QEMU's version, as it prints it; an error if it is not installed.
pub fn qemu_version() -> Result<String, MachineError> {
    version_of(PROGRAM)
}

pub(super) fn version_of(binary: &str) -> Result<String, MachineError> {
    let ended = Launch::new(&[binary, "--version"]).run_to_any_end(VERSION_LIMIT, &mut |_| ());
    let ended = ended.map_err(|error| match error {
        ProcessError::Missing { .. } => MachineError::MissingTool { program: PROGRAM, package: "qemu-system-x86" },
        error => {
            MachineError::Io { doing: format!("asking {binary} for its version"), source: io::Error::other(error) }
        }
    })?;
    Ok(ended.stdout.lines().next().unwrap_or_default().to_owned())
}

fn try_kvm(probe: &KvmProbe, cpu: &str) -> Result<ProbeResult, MachineError> {
    let binary = probe.wish.binary.clone();
    let settings = QemuSettings { network: GuestNetwork::None, binary, ..QemuSettings::default() };
    let initramfs = initramfs(&probe.image, &probe.agent, &drivers(false, &settings))?;
    let order = GuestOrder {
        name: "kvm-probe".to_owned(),
        accelerator: Accelerator::Kvm,
        cpu: cpu.to_owned(),
        vcpus: 1,
        memory_bytes: PROBE_MEMORY_BYTES,
        cpus: probe.cpus.clone(),
        bound_to: Vec::new(),
        cgroups: Vec::new(),
        kernel: guest_kernel(&probe.image)?.file.clone(),
        initramfs,
        console: probe.scratch.join("kvm-probe.console"),
        root: None,
        data: None,
        tuning: machines::boot::DataTuning::default(),
        open_files: None,
        reached: Reached::default(),
        isolation: Isolation::here().clone(),
        // A guest that boots slowly is known by the steps that its kernel prints.
        is_quiet: false,
        settings,
    };
    let begun = Instant::now();
    match Guest::boot(&order, &probe.scratch, probe_limit(probe.wish.limit_ms)) {
        Ok(_) => {
            let sentence = format!("a guest with CPU {cpu} booted in {:.1} s", begun.elapsed().as_secs_f64());
            Ok(ProbeResult { works: true, sentence })
        }
        Err(MachineError::Silent { limit_s, console, .. }) => {
            let state = match console.lines().rfind(|line| !line.trim().is_empty()) {
                Some(step) => format!("and was at `{}`: platform.start_limit gives it more time", step.trim()),
                None => "and had printed nothing: it hangs".to_owned(),
            };
            let sentence =
                format!("{DEVICE} is there, but a guest with CPU {cpu} had not booted after {limit_s} s, {state}");
            Ok(ProbeResult { works: false, sentence })
        }
        Err(MachineError::Ended { status, console, .. }) => {
            let last = console.lines().last().unwrap_or("it printed nothing").to_owned();
            let sentence = format!(
                "{DEVICE} is there, but QEMU ended when it started a guest with KVM and CPU {cpu} ({status}){LAST_WORDS}{last}"
            );
            Ok(ProbeResult { works: false, sentence })
        }
        // Missing tools and full disks say nothing about KVM.
        Err(other) => Err(other),
    }
}

impl Remembered {
    /// The current conditions, without a guest kernel and a result.
    fn nothing(cpu: &str, binary: &str) -> Result<Self, MachineError> {
        Ok(Self {
            boot: boot_id()
                .map_err(|source| MachineError::Io { doing: "reading the kernel's boot id".to_owned(), source })?,
            qemu: version_of(binary)?,
            kernel: String::new(),
            cpu: cpu.to_owned(),
            finding: ProbeResult { works: false, sentence: String::new() },
        })
    }

    fn holds_for(&self, now: &Self) -> bool {
        (&self.boot, &self.qemu, &self.kernel, &self.cpu) == (&now.boot, &now.qemu, &now.kernel, &now.cpu)
    }
}

fn recall(file: &Path) -> Option<Remembered> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn remember(file: &Path, remembered: &Remembered) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&unfinished, serde_json::to_vec_pretty(remembered)?)?;
    fs::rename(&unfinished, file)
}

/// A CPU model as a file name: models may carry flags ("qemu64,+avx").
fn file_name(cpu: &str) -> String {
    cpu.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::{QemuSettings, WantedAccelerator};
    use super::{PROGRAM, ProbeResult, Remembered, closed, file_of, foreseen, model, recall, remember};

    fn remembered(boot: &str) -> Remembered {
        Remembered {
            boot: boot.to_owned(),
            qemu: "QEMU emulator version 7.2.22".to_owned(),
            kernel: "6.1.0-cloud".to_owned(),
            cpu: "host".to_owned(),
            finding: ProbeResult { works: true, sentence: "it booted".to_owned() },
        }
    }

    #[test]
    fn what_becomes_of_a_contender_is_foreseen_once_it_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let cpu = model("auto");
        // Without QEMU there is nothing to remember, and a run is refused because it is missing.
        let Ok(now) = Remembered::nothing(cpu, PROGRAM) else { return };
        let told = |accelerator: WantedAccelerator, works: bool| {
            let finding = ProbeResult { works, sentence: "it ended (signal: 6); it printed: Assertion".to_owned() };
            let remembered = Remembered { finding, ..Remembered::nothing(cpu, PROGRAM).unwrap() };
            remember(&file_of(folder.path(), cpu, PROGRAM), &remembered).unwrap();
            foreseen(&QemuSettings { accelerator, ..QemuSettings::default() }.wish(), folder.path())
        };
        assert!(told(WantedAccelerator::Kvm, false).unwrap().starts_with("trials will be skipped: "));
        assert!(told(WantedAccelerator::Auto, false).unwrap().starts_with("emulated in software, "));
        assert!(told(WantedAccelerator::Auto, false).unwrap().ends_with("a VM costs: it ended (signal: 6)"));
        assert_eq!(told(WantedAccelerator::Tcg, false), None);
        assert_eq!(told(WantedAccelerator::Auto, true).is_none(), closed().is_none());
        let before = Remembered { boot: "another".to_owned(), ..now };
        remember(&file_of(folder.path(), cpu, PROGRAM), &before).unwrap();
        let wish = QemuSettings { accelerator: WantedAccelerator::Kvm, ..QemuSettings::default() }.wish();
        assert_eq!(foreseen(&wish, folder.path()).is_none(), closed().is_none());
    }

    #[test]
    fn an_answer_holds_until_the_next_boot() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kvm/host.json");
        assert_eq!(recall(&file), None);
        remember(&file, &remembered("first")).unwrap();
        let recalled = recall(&file).unwrap();
        assert_eq!(recalled, remembered("first"));
        assert!(recalled.holds_for(&remembered("first")) && !recalled.holds_for(&remembered("second")));
        std::fs::write(&file, "half an ans").unwrap();
        assert_eq!(recall(&file), None);
    }
}
