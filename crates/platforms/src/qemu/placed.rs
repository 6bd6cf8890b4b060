//! Pins a guest's vCPUs, and reads back where its threads and its memory are.

use super::isolation;
use super::monitor::Monitor;
use super::monitor::QmpError;
use crate::affinity;
use crate::order::UNBOUND_MEMORY;
use crate::placement::{NodeShare, Place};
use machines::machine::Decisions;
use serde_json::{Value, json};

/// The CPUs of all threads that are not pinned: `others`, or all of the machine's CPUs if vCPUs are not pinned either.
pub fn unpinned_cpus(place: &Place, pins: bool) -> &[usize] {
    if pins && place.is_pinned { &place.others } else { place.vcpu_cpus() }
}

/// Who keeps each vCPU on its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VcpuPinning {
    None,
    /// We pin the threads now.
    Ours,
    /// Whoever started QEMU has pinned them.
    Theirs,
}

/// How memory was asked to be bound.
#[derive(Debug, Clone, Copy)]
pub struct MemoryBinding<'a> {
    pub to: &'a [NodeShare],
    /// As QEMU names it.
    pub policy: &'static str,
}

/// Pins the vCPUs if that is ours to do, and adds to `decided` where the QEMU with id `process` really runs.
pub fn settle(
    process: u32,
    qmp: &mut dyn Monitor,
    place: &Place,
    pinning: VcpuPinning,
    binding: MemoryBinding<'_>,
    decided: &mut Decisions,
) -> Result<(), QmpError> {
    let threads: Vec<u32> = {
        let mut threads = qmp.vcpu_threads()?;
        threads.sort_by_key(|thread| thread.vcpu);
        let outside = isolation::threads(process)?;
        // Pinning a thread that does not exist fails, and the error says so.
        threads.into_iter().map(|thread| outside.get(&thread.thread).copied().unwrap_or(thread.thread)).collect()
    };
    let pinning = match pinning {
        VcpuPinning::None => Ok("none, as asked".to_owned()),
        VcpuPinning::Ours => pinned(&threads, &place.cpus, &affinity::pin),
        VcpuPinning::Theirs => pinned(&threads, &place.cpus, &|thread, _| affinity::of_thread(thread)),
    };
    let shown =
        |cpus: std::io::Result<Vec<usize>>| cpus.map(|cpus| affinity::list(&cpus)).map_err(|error| error.to_string());
    let of_vcpus: std::io::Result<Vec<Vec<usize>>> =
        threads.iter().map(|thread| affinity::of_thread(*thread)).collect();
    let mut say = |what: &str, answer| decided.insert(what.to_owned(), answer);
    say("place", Ok(place.number.to_string()));
    say("vcpu pinning", pinning);
    say("host CPUs", shown(of_vcpus.map(|cpus| cpus.concat())));
    say("emulator CPUs", shown(affinity::of_thread(process)));
    say("memory node", memory_node(qmp, binding)?);
    Ok(())
}

/// Whether each vCPU's thread is on the host CPU at the same index. `on` puts it there, or looks where it is.
fn pinned(
    threads: &[u32],
    cpus: &[usize],
    on: &dyn Fn(u32, usize) -> std::io::Result<Vec<usize>>,
) -> Result<String, String> {
    let mut pinned = Vec::new();
    for (vcpu, thread) in threads.iter().enumerate() {
        let cpu = *cpus.get(vcpu).ok_or_else(|| format!("there is no host CPU for vCPU {vcpu}"))?;
        match on(*thread, cpu) {
            Ok(now) if now == [cpu] => pinned.push(format!("vCPU {vcpu} on CPU {cpu}")),
            Ok(now) => return Err(format!("vCPU {vcpu} is on CPUs {} instead of {cpu}", affinity::list(&now))),
            Err(error) => return Err(format!("vCPU {vcpu} on CPU {cpu}: {error}")),
        }
    }
    Ok(pinned.join(", "))
}

/// The nodes to which QEMU bound the memory; an error if they are not the requested ones.
fn memory_node(qmp: &mut dyn Monitor, binding: MemoryBinding<'_>) -> Result<Result<String, String>, QmpError> {
    if binding.to.is_empty() {
        return Ok(Ok(UNBOUND_MEMORY.to_owned()));
    }
    let answer = qmp.execute("query-memdev", json!({}))?;
    Ok(bound_as_asked(&answer, binding))
}

fn bound_as_asked(answer: &Value, MemoryBinding { to, policy }: MemoryBinding<'_>) -> Result<String, String> {
    let backends = answer.as_array().map(Vec::as_slice).unwrap_or_default();
    let nodes = |backend: &Value| {
        let nodes = backend["host-nodes"].as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>()?;
        Some(nodes).filter(|_| backend["policy"] == policy)
    };
    let mut found: Vec<u64> = backends.iter().filter_map(nodes).flatten().collect();
    found.sort_unstable();
    let asked = to.iter().map(|share| u64::from(share.node)).collect::<Vec<_>>();
    let words = found.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    if found == asked { Ok(words) } else { Err(format!("{asked:?} was asked for, QEMU has {answer}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bound_where_qemu_says_so() {
        let share = |node| NodeShare { node, vcpus: vec![0] };
        let backend = |node: u32, policy: &str| json!({ "id": "m", "host-nodes": [node], "policy": policy, "size": 1 });
        let bound = |answer: Value, to: &[NodeShare]| bound_as_asked(&answer, MemoryBinding { to, policy: "bind" });
        let two = json!([backend(1, "bind"), backend(0, "bind")]);
        assert_eq!(bound(two, &[share(0), share(1)]), Ok("0,1".to_owned()));
        assert!(bound(json!([backend(1, "preferred")]), &[share(1)]).unwrap_err().contains("preferred"));
        assert!(bound(json!([backend(1, "bind")]), &[share(0)]).is_err());
        assert!(bound(json!([]), &[share(0)]).is_err());
    }

    #[test]
    fn threads_that_are_not_pinned_are_beside_the_vcpus_or_where_these_are() {
        let place = Place { cpus: vec![2], others: vec![3], is_pinned: true, ..Place::anywhere_on(&[]) };
        assert_eq!(unpinned_cpus(&place, true), [3]);
        assert_eq!(unpinned_cpus(&place, false), [2]);
        assert_eq!(unpinned_cpus(&Place { is_pinned: false, ..place }, true), [3]);
    }
}
