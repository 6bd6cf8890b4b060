//! The processor: model, shape, frequency policy, known weaknesses.

use crate::Readings;
use crate::tree::{Tree, TreeReading};
use std::collections::{BTreeMap, BTreeSet};

const CPUINFO: &str = "/proc/cpuinfo";
pub const CPUS: &str = "/sys/devices/system/cpu";
/// More than any kernel is built for; a list with a higher number does not list CPUs or nodes.
const MOST_CPUS: u32 = 1 << 16;

/// Flags that change what a database or a hypervisor can do; the others only lengthen a report.
const FLAGS_OF_INTEREST: &[&str] = &[
    "hypervisor",
    "vmx",
    "svm",
    "ept",
    "npt",
    "constant_tsc",
    "nonstop_tsc",
    "tsc_deadline_timer",
    "rdtscp",
    "x2apic",
    "pcid",
    "invpcid",
    "pdpe1gb",
    "la57",
    "aes",
    "sha_ni",
    "avx2",
    "avx512f",
    "ibrs",
    "ibpb",
    "stibp",
    "ibrs_enhanced",
];

pub fn facts(tree: &Tree) -> Readings {
    let cpuinfo = tree.text(CPUINFO).map(|text| parse_cpuinfo(&text));
    let first = |field: &str| match &cpuinfo {
        Ok(processors) => field_of_first(processors, field),
        Err(why) => Err(why.clone()),
    };
    let counted = |count: fn(&[Processor]) -> Option<usize>| match &cpuinfo {
        Ok(processors) => count(processors).map(|number| number.to_string()).ok_or_else(no_topology),
        Err(why) => Err(why.clone()),
    };
    let listed = match &cpuinfo {
        Ok(processors) => cpus_of_cores(processors).ok_or_else(no_topology),
        Err(why) => Err(why.clone()),
    };
    let online = tree.value(&format!("{CPUS}/online"));
    let weaknesses = Weaknesses::read(tree);
    vec![
        ("cpu.model", first("model name")),
        ("cpu.vendor", first("vendor_id")),
        ("cpu.family", first("cpu family")),
        ("cpu.model_number", first("model")),
        ("cpu.stepping", first("stepping")),
        ("cpu.microcode", first("microcode")),
        ("cpu.flags_of_interest", first("flags").map(|flags| flags_of_interest(&flags))),
        ("cpu.threads", counted(|processors| Some(processors.len()))),
        ("cpu.cores", counted(cores)),
        ("cpu.sockets", counted(sockets)),
        ("cpu.core_cpus", listed),
        ("cpu.last_cache", last_cache(tree)),
        ("cpu.online", online.clone().and_then(|list| count_list(&list).map(|count| count.to_string()))),
        ("cpu.online_list", online),
        ("cpu.allowed_list", allowed(tree)),
        ("cpu.governor", governors(tree)),
        ("cpu.turbo", turbo(tree)),
        ("cpu.smt", tree.value(&format!("{CPUS}/smt/control"))),
        ("cpu.idle_driver", tree.value(&format!("{CPUS}/cpuidle/current_driver"))),
        ("cpu.vulnerable", weaknesses.with_how(|how| !is_mitigated(how) && !is_absent(how))),
        ("cpu.mitigated", weaknesses.with_how(is_mitigated)),
        ("cpu.not_affected", weaknesses.names(is_absent)),
    ]
}

/// The fields of one processor in `/proc/cpuinfo`.
type Processor = BTreeMap<String, String>;

fn parse_cpuinfo(text: &str) -> Vec<Processor> {
    let processors = text.split("\n\n").map(|block| {
        let fields = block.lines().filter_map(|line| line.split_once(':'));
        fields.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect::<Processor>()
    });
    processors.filter(|processor| processor.contains_key("processor")).collect()
}

fn field_of_first(processors: &[Processor], field: &str) -> TreeReading {
    let value = processors.first().and_then(|processor| processor.get(field));
    value.cloned().ok_or_else(|| format!("{CPUINFO} has no field {field:?}"))
}

fn no_topology() -> String {
    format!("{CPUINFO} does not say which socket and core a processor belongs to")
}

fn sockets(processors: &[Processor]) -> Option<usize> {
    let sockets: Option<BTreeSet<_>> = processors.iter().map(|processor| processor.get("physical id")).collect();
    sockets.map(|sockets| sockets.len())
}

fn cores(processors: &[Processor]) -> Option<usize> {
    let place =
        |processor: &Processor| Some((processor.get("physical id")?.clone(), processor.get("core id")?.clone()));
    let cores: Option<BTreeSet<_>> = processors.iter().map(place).collect();
    cores.map(|cores| cores.len())
}

/// The CPUs of each core, cores in the order of their first CPU: "0,2; 1,3".
fn cpus_of_cores(processors: &[Processor]) -> Option<String> {
    let mut cores: Vec<((&str, &str), Vec<&str>)> = Vec::new();
    for processor in processors {
        let place = (processor.get("physical id")?.as_str(), processor.get("core id")?.as_str());
        let cpu = processor.get("processor")?.as_str();
        match cores.iter_mut().find(|(known, _)| *known == place) {
            Some((_, cpus)) => cpus.push(cpu),
            None => cores.push((place, vec![cpu])),
        }
    }
    let cores: Vec<String> = cores.into_iter().map(|(_, cpus)| cpus.join(",")).collect();
    (!cores.is_empty()).then(|| cores.join("; "))
}

fn flags_of_interest(flags: &str) -> String {
    let present: BTreeSet<&str> = flags.split_whitespace().collect();
    let chosen: Vec<&str> = FLAGS_OF_INTEREST.iter().copied().filter(|flag| present.contains(flag)).collect();
    if chosen.is_empty() { "none".to_owned() } else { chosen.join(" ") }
}

/// How many numbers are in a list of the kernel's form ("0-3,8").
pub fn count_list(list: &str) -> Result<usize, String> {
    listed(list).map(|numbers| numbers.len())
}

/// The numbers in a list of that form.
pub fn listed(list: &str) -> Result<BTreeSet<u32>, String> {
    let unreadable = || format!("the list {list:?} is not of the form \"0-3,8\"");
    let mut numbers = BTreeSet::new();
    for part in list.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: u32 = from.trim().parse().map_err(|_| unreadable())?;
        let to: u32 = to.trim().parse().map_err(|_| unreadable())?;
        if from > to || to >= MOST_CPUS {
            return Err(unreadable());
        }
        numbers.extend(from..=to);
    }
    Ok(numbers)
}

/// The CPUs that this process may use, which can be fewer than are online.
pub fn allowed(tree: &Tree) -> TreeReading {
    let status = tree.text("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|list| list.trim().to_owned()).ok_or_else(|| "/proc/self/status has no Cpus_allowed_list".to_owned())
}

/// The distinct governors of all CPUs: one word, if the system is set up for measuring.
pub fn governors(tree: &Tree) -> TreeReading {
    let governors = distinct(tree, "cpufreq/scaling_governor");
    if governors.is_empty() {
        return Err("the kernel offers no frequency scaling here".to_owned());
    }
    Ok(governors.join(" and "))
}

/// The content of a file in the folder of each CPU, each distinct text once.
pub fn distinct(tree: &Tree, file: &str) -> Vec<String> {
    let cpus = tree.names(CPUS).into_iter().filter(|name| is_cpu(name));
    let values: BTreeSet<String> = cpus.filter_map(|cpu| tree.value(&format!("{CPUS}/{cpu}/{file}")).ok()).collect();
    values.into_iter().collect()
}

/// The largest cache of the first CPU and the CPUs that share it: "32768K, shared by CPUs 0-15".
fn last_cache(tree: &Tree) -> TreeReading {
    let folder = format!("{CPUS}/cpu0/cache");
    let last = tree.names(&folder).into_iter().rfind(|name| name.starts_with("index"));
    let cache = last.map(|name| format!("{folder}/{name}")).ok_or_else(|| format!("{folder} shows none"))?;
    let (size, sharing) = (tree.value(&format!("{cache}/size"))?, tree.value(&format!("{cache}/shared_cpu_list"))?);
    Ok(format!("{size}, shared by CPUs {sharing}"))
}

fn is_cpu(name: &str) -> bool {
    name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
}

pub fn turbo(tree: &Tree) -> TreeReading {
    let boost = tree.value(&format!("{CPUS}/cpufreq/boost"));
    let no_turbo = tree.value(&format!("{CPUS}/intel_pstate/no_turbo"));
    match (boost.as_deref(), no_turbo.as_deref()) {
        (Ok("1"), _) | (_, Ok("0")) => Ok("on".to_owned()),
        (Ok("0"), _) | (_, Ok("1")) => Ok("off".to_owned()),
        _ => Err("the kernel offers no switch for it here".to_owned()),
    }
}

/// The processor's weaknesses and their mitigations in one text, so that hosts that differ in them have different texts.
pub fn mitigations(tree: &Tree) -> TreeReading {
    let weaknesses = Weaknesses::read(tree);
    let vulnerable = weaknesses.with_how(|how| !is_mitigated(how) && !is_absent(how))?;
    let mitigated = weaknesses.with_how(is_mitigated)?;
    Ok(format!("vulnerable: {vulnerable}; mitigated: {mitigated}"))
}

/// Mean frequency over all CPUs at this moment: as the kernel sets it, or else as the kernel has measured it.
pub fn frequency_khz(tree: &Tree) -> Result<u64, String> {
    let cpus = tree.names(CPUS).into_iter().filter(|name| is_cpu(name));
    let set = cpus.filter_map(|cpu| tree.value(&format!("{CPUS}/{cpu}/cpufreq/scaling_cur_freq")).ok()?.parse().ok());
    let set: Vec<u64> = set.collect();
    if let Some(mean) = mean(&set) {
        return Ok(mean);
    }
    let measured = measured_khz(&tree.text(CPUINFO)?);
    mean(&measured).ok_or_else(|| format!("neither {CPUS} nor {CPUINFO} says it"))
}

/// The frequency of each processor in `/proc/cpuinfo`, without parsing the thirty other fields of each.
fn measured_khz(cpuinfo: &str) -> Vec<u64> {
    let fields = cpuinfo.lines().filter_map(|line| line.strip_prefix("cpu MHz")?.split_once(':'));
    fields.filter_map(|(_, mhz)| khz_of_mhz(mhz.trim())).collect()
}

fn mean(values: &[u64]) -> Option<u64> {
    values.iter().sum::<u64>().checked_div(values.len() as u64)
}

/// "2596.122" becomes 2,596,122.
fn khz_of_mhz(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let thousandths = format!("{fraction:0<3}");
    Some(whole.parse::<u64>().ok()? * 1_000 + thousandths.get(..3)?.parse::<u64>().ok()?)
}

fn is_absent(how: &str) -> bool {
    how == "Not affected"
}

fn is_mitigated(how: &str) -> bool {
    how.strip_prefix("KVM: ").unwrap_or(how).starts_with("Mitigation")
}

/// What the kernel says about each known weakness of processors.
struct Weaknesses(Vec<(String, String)>);

impl Weaknesses {
    fn read(tree: &Tree) -> Self {
        let folder = format!("{CPUS}/vulnerabilities");
        let known = tree.names(&folder).into_iter();
        Self(known.filter_map(|name| tree.value(&format!("{folder}/{name}")).ok().map(|how| (name, how))).collect())
    }

    fn list(&self, chosen: fn(&str) -> bool, show: fn(&(String, String)) -> String) -> TreeReading {
        if self.0.is_empty() {
            return Err(format!("{CPUS}/vulnerabilities does not exist"));
        }
        let shown: Vec<String> = self.0.iter().filter(|(_, how)| chosen(how)).map(show).collect();
        Ok(if shown.is_empty() { "none".to_owned() } else { shown.join("; ") })
    }

    fn with_how(&self, chosen: fn(&str) -> bool) -> TreeReading {
        self.list(chosen, |(name, how)| format!("{name} ({how})"))
    }

    fn names(&self, chosen: fn(&str) -> bool) -> TreeReading {
        self.list(chosen, |(name, _)| name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(count_list("0"), Ok(1));
        assert_eq!(count_list("0-3,8\n"), Ok(5));
        assert!(count_list("3-0").is_err());
        assert!(count_list("").is_err());
        assert_eq!(listed("2,0-1,1"), Ok([0, 1, 2].into()));
        assert!(listed("0-4294967295").is_err());
    }

    #[test]
    fn two_threads_of_one_core_are_one_core() {
        let thread = |number: u32, core: u32| format!("processor : {number}\nphysical id : 0\ncore id : {core}\n");
        let text = [thread(0, 0), thread(1, 0), thread(2, 1), thread(3, 1)].join("\n");
        let processors = parse_cpuinfo(&text);
        assert_eq!((processors.len(), cores(&processors), sockets(&processors)), (4, Some(2), Some(1)));
        assert_eq!(cpus_of_cores(&processors).as_deref(), Some("0,1; 2,3"));
    }

    #[test]
    fn a_processor_without_a_place_has_no_topology() {
        let processors = parse_cpuinfo("processor : 0\nmodel name : some\n");
        assert_eq!((cores(&processors), sockets(&processors), cpus_of_cores(&processors)), (None, None, None));
    }

    #[test]
    fn frequencies_are_told_in_kilohertz() {
        assert_eq!(khz_of_mhz("2596.122"), Some(2_596_122));
        assert_eq!(khz_of_mhz("800.5"), Some(800_500));
        assert_eq!(khz_of_mhz("fast"), None);
        assert_eq!((mean(&[1_000, 3_000]), mean(&[])), (Some(2_000), None));
        let cpuinfo =
            "processor\t: 0\ncpu MHz\t\t: 2596.122\n\nprocessor\t: 1\ncpu MHz\t\t: 800.500\ncache size\t: 1 KB\n";
        assert_eq!(measured_khz(cpuinfo), [2_596_122, 800_500]);
    }

    #[test]
    fn only_flags_of_interest_are_kept_in_their_order() {
        assert_eq!(flags_of_interest("fpu avx2 vme hypervisor"), "hypervisor avx2");
        assert_eq!(flags_of_interest("fpu vme"), "none");
    }
}
