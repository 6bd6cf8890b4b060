//! What each code means and what to do about it, for `bakeoff explain`.

use analysis::findings::{CODES, Code};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    pub code: &'static str,
    /// The part of a report with the figures behind it; empty for two runs.
    pub evidence: &'static str,
    pub meaning: &'static str,
    pub remedy: &'static str,
}

const fn explained(
    code: &'static str,
    evidence: &'static str,
    meaning: &'static str,
    remedy: &'static str,
) -> Explained {
    Explained { code, evidence, meaning, remedy }
}

/// In the order of [`CODES`].
const ALL: &[Explained] = &[
    explained(
        "rehearsed",
        "Every trial",
        "The study was played with --rehearse. No machine was started and no database was driven.",
        "Run the study without --rehearse to get figures.",
    ),
    explained(
        "trial-not-completed",
        "Every trial",
        "A trial failed, was skipped, was interrupted, or is invalid. Its figures are in no result.",
        "Read the reason, and the logs in the trial's folder. Then run the study again, or go on with `bakeoff run --resume`.",
    ),
    explained(
        "trials-missing",
        "Every trial",
        "The run ended, or was stopped, before all planned trials were completed.",
        "Run what is missing with `bakeoff run --resume`; measure again with `bakeoff drive`.",
    ),
    explained(
        "check-violated",
        "Data checks and audits",
        "A check found wrong data after a trial. A database that loses or garbles data gets no verdict, however fast it is.",
        "Look at what was seen in the trial's findings.json. If it is the platform's storage, test it; if it is bakeoff's check, report it.",
    ),
    explained(
        "record-disagrees",
        "Every trial",
        "The files of a trial do not add up, or some are missing. The trial is in no result.",
        "Restore the run folder from a copy, or run the trial again.",
    ),
    explained(
        "vm-emulated",
        "Machines",
        "The guest's processor was emulated in software (QEMU's TCG) and not virtualized. It is about ten times slower than a real guest.",
        "Use a host on which /dev/kvm works: `bakeoff doctor` says why it does not. If emulation is what you want to measure, accept \
         the code.",
    ),
    explained(
        "settings-differ",
        "Database settings",
        "The servers of the contenders ran with different settings, as read back from them.",
        "Set the keys named under [engine] for all contenders. If the settings are what you compare, accept the code.",
    ),
    explained(
        "servers-differ",
        "Database settings",
        "The contenders ran different database servers or versions.",
        "Install the same version everywhere. If versions are what you compare, accept the code.",
    ),
    explained(
        "loaded-data-differ",
        "Consistency of the comparison",
        "The checksums of the loaded tables are not the same on all contenders.",
        "Delete the cached data of the study and run it again, so that all contenders get copies of the same data.",
    ),
    explained(
        "work-unequal",
        "Work per transaction",
        "A transaction did not cost the same number of statements or rows on both sides. Then a ratio of throughputs does not compare \
         the same work.",
        "Compare the mixes of transactions and the failures. A longer window makes the mixes more alike.",
    ),
    explained(
        "disk-work-unequal",
        "Work per transaction",
        "A transaction read or wrote a different amount on both sides. Usually one side's cache was still cold, or one side has an \
         additional cache.",
        "Warm up longer, and give both sides the same memory. A part of the difference may be caching and not the platform.",
    ),
    explained(
        "storage-differs",
        "Machines",
        "The contenders kept their data on different kinds of storage, or behind a different number of caches.",
        "Give all contenders the same machine.disk. If storage is what you compare, accept the code.",
    ),
    explained(
        "not-durable",
        "Durability",
        "The durability audit found that this contender acknowledges transactions which a fault can take, and no setting of the engine \
         in force says so. What answers before the data are safe looks faster than it is.",
        "Look for what drops flushes between the database and the disk: QEMU's cache mode, mount options, the disk itself. If you \
         compare exactly that, accept the code.",
    ),
    explained(
        "durability-differs",
        "Durability",
        "Durability audits came to different verdicts on contenders that are compared, so a commit is not the same work on them.",
        "Give all contenders settings with the same verdict. If what safety costs is what you compare, accept the code.",
    ),
    explained(
        "clock-wrong",
        "Machines",
        "A guest's clock ran faster or slower than the host's. Times taken inside are wrong by as much.",
        "Check the guest's clock source, and whether the host is overloaded. Driving from outside (load.placement) uses the host's clock.",
    ),
    explained(
        "noted-by-trial",
        "Every trial",
        "Something happened during a trial that may have changed its figures.",
        "Read the note. Run the trial again if the note names a disturbance.",
    ),
    explained(
        "no-baseline",
        "What ran",
        "No contender is marked as the baseline, so there is nothing to compare with.",
        "Add `baseline = true` to one contender of the study.",
    ),
    explained(
        "host-changed",
        "Machines",
        "A setting of the host's processors was changed while the study ran.",
        "Fix the governor and turbo before the run, and run the study again.",
    ),
    explained(
        "machine-changed",
        "Machines",
        "A contender ran on another processor or kernel in some of its trials.",
        "Run the study again, on one host with one kernel.",
    ),
    explained(
        "host-busy-beside-one",
        "Consistency of the comparison",
        "Other processes used the host while one contender was measured, and much less while another was.",
        "Stop the other processes and run the study again. `load.max_other_cpu` repeats disturbed trials by itself.",
    ),
    explained(
        "host-disk-busy-beside-one",
        "Consistency of the comparison",
        "Other processes used the host's disks while one contender was measured, and much less while another was. Which disk is not known.",
        "Stop the other processes, or move them to another disk. Run the study again.",
    ),
    explained(
        "machines-unlike",
        "Machines",
        "Machines side by side were to be equal, and are not.",
        "Look at the properties named. Start the trial again if one machine was set up differently.",
    ),
    explained(
        "trials-left-out",
        "Consolidation",
        "Some valid trials could not be used for the scores of machines side by side.",
        "Read the reasons. Run the study again if too few trials are left.",
    ),
    explained(
        "hosts-differ",
        "",
        "The two runs were made on hosts that differ, or on one whose hardware or software changed.",
        "Expected if hosts are what you compare. Else repeat both runs on one host.",
    ),
    explained(
        "seeds-differ",
        "",
        "The two runs used different seeds, so clients sent different inputs.",
        "Use the same seed in both studies.",
    ),
    explained(
        "runs-differ",
        "",
        "Settings, machines, servers or load were not the same in both runs.",
        "Expected if that is what you changed. Else set it back and run again.",
    ),
    explained(
        "work-changed",
        "",
        "A transaction costs a different amount of work in the new run.",
        "Look for a change of the schema, the query plans, or the cache.",
    ),
    explained(
        "data-unchecked",
        "Data checks",
        "The workload has no check of its data, so lost or wrong data would not be noticed.",
        "Name a file of checks: `checks` in a study, `--check-file` of `bakeoff drive`.",
    ),
    explained(
        "host-busy",
        "Consistency of the comparison",
        "Other processes used the host's CPUs while a trial was measured, or while an audit measured what a commit costs.",
        "Measure on a quiet host. `load.max_other_cpu` repeats disturbed trials by itself.",
    ),
    explained(
        "host-cpu-stolen",
        "Consistency of the comparison",
        "This host is a virtual machine, and its hypervisor gave CPU time to others.",
        "Measure on bare metal, or on an instance with dedicated CPUs.",
    ),
    explained(
        "host-memory-short",
        "Consistency of the comparison",
        "Processes of the host waited for memory while a trial was measured.",
        "Give machines less memory than the host has free, or stop other processes.",
    ),
    explained(
        "host-swapping",
        "Consistency of the comparison",
        "The host moved memory to or from swap while a trial was measured.",
        "Give machines less memory, or switch swap off.",
    ),
    explained(
        "host-frequency",
        "Machines",
        "The host's CPUs ran at different frequencies in different trials.",
        "Fix the frequency: governor `performance`, turbo off. Watch the temperature.",
    ),
    explained(
        "littles-law",
        "Consistency of the comparison",
        "Response times and pauses do not add up to the number of clients. Something was not timed, or was timed wrongly.",
        "Look at the trial named. Do not trust its latencies.",
    ),
    explained(
        "host-is-guest",
        "Machines",
        "This host is itself a virtual machine. “Native” is then not bare metal, and guests are nested.",
        "Measure on bare metal to learn the price of virtualization.",
    ),
    explained(
        "hosts-apart",
        "Hosts",
        "The contenders ran on different hosts, so no block is within one host. All blocks on one pair of hosts count once.",
        "If the hosts are what you compare, accept it. Else give both contenders the same `platform.hosts`.",
    ),
    explained(
        "hosts-disagree",
        "Hosts",
        "A contender's change against the baseline is not the same on all hosts: an analysis of variance shows it.",
        "Look at what differs between the hosts. The interval over hosts is the one for more hosts like these.",
    ),
    explained(
        "systems-differ",
        "Machines",
        "Operating systems of the contenders differ in things that no platform has to change, such as the kernel's version.",
        "Usual between a host and a guest or gVisor: the effect is part of the result. To exclude it with a guest, boot the same kernel and settings on both.",
    ),
    explained(
        "sending-differs",
        "Machines",
        "The load engine used io_uring on some contenders only. With epoll it needs more CPU time for each message.",
        "Allow io_uring everywhere, or drive with `load.placement = \"outside\"`.",
    ),
    explained(
        "engine-waited",
        "Every trial",
        "Threads of the load engine were ready to run and had no CPU. Response times contain that wait. Where the database has the same \
         CPUs, it is a part of the load.",
        "Compare the shares of the contenders. Give the machine more vCPUs, or drive from another host.",
    ),
    explained(
        "not-honoured",
        "Every trial",
        "A platform could not do what the study asked of it.",
        "Read the reason. `bakeoff doctor` names missing rights and tools.",
    ),
    explained(
        "trials-apart",
        "Every trial",
        "Trials of one contender differ much more than usual. Something disturbed the host, or the database was not steady.",
        "Measure on a quiet host, warm up longer, and add blocks.",
    ),
    explained(
        "not-steady",
        "Steady state",
        "Throughput rose or fell during the measured window.",
        "Warm up longer or measure longer.",
    ),
    explained(
        "not-settled",
        "Steady state",
        "In most trials warming up has no clear end.",
        "Warm up longer or measure longer.",
    ),
    explained(
        "halves-unlike",
        "Steady state",
        "The two halves of a short window have different throughputs.",
        "Measure longer. Look for a checkpoint or other load in one half.",
    ),
    explained(
        "warm-up-too-short",
        "Steady state",
        "The measured window begins before throughput has settled.",
        "Make load.warmup longer.",
    ),
    explained(
        "window-too-short",
        "Steady state",
        "The window covers no whole cycle of checkpoints, so it contains too much or too little of their cost.",
        "Make load.measure longer than two checkpoint intervals, or make checkpoints more frequent.",
    ),
    explained(
        "transactions-failed",
        "Every trial",
        "Some transactions failed and were not repeated. They count in no throughput.",
        "Look at the errors by code in the trial's record.",
    ),
    explained(
        "too-few-blocks",
        "Every trial",
        "An interval needs three blocks. Without one there is no verdict.",
        "Set blocks = 5 or more.",
    ),
    explained(
        "windows-apart",
        "Consolidation",
        "Machines side by side did not measure the same seconds.",
        "Run again on a less loaded host. Large distances favour the machines that were alone for longer.",
    ),
    explained(
        "host-restarted",
        "",
        "The host was restarted between the two runs.",
        "Usually harmless. Repeat the old run if a small difference matters.",
    ),
    explained(
        "builds-differ",
        "",
        "The two runs were measured by different builds of bakeoff.",
        "Repeat the old run with the new build if a small difference matters.",
    ),
];

pub fn of(code: &str) -> Option<(&'static Explained, &'static Code)> {
    let own = ALL.iter().find(|explained| explained.code == code)?;
    Some((own, CODES.iter().find(|known| known.name == code)?))
}

pub fn all() -> impl Iterator<Item = (&'static Explained, &'static Code)> {
    CODES.iter().filter_map(|code| of(code.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_once() {
        let explained: Vec<&str> = ALL.iter().map(|one| one.code).collect();
        let codes: Vec<&str> = CODES.iter().map(|code| code.name).collect();
        assert_eq!(explained, codes);
    }
}
