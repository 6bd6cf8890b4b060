//! Pins a guest's vCPUs, and reads back where its threads and its memory are.

use super::command::CommandOrder;
use super::isolation;
use super::qmp::{Qmp, QmpError};
use crate::affinity;
use crate::order::UNBOUND_MEMORY;
use crate::placement::{NodeShare, Place};
use machines::machine::Decided;
use serde_json::{Value, json};

/// The CPUs of all threads that are not pinned: `others`, or all of the machine's CPUs if vCPUs are not pinned either.
pub fn unpinned_cpus(place: &Place, pins: bool) -> &[usize] {
    if pins && place.is_pinned { &place.others } else { place.vcpu_cpus() }
}

/// Pins the vCPUs if requested, and adds to `decided` where the QEMU with id `process` really runs.
pub fn settle(
    process: u32,
    qmp: &mut Qmp,
    place: &Place,
    order: &CommandOrder,
    decided: &mut Decided,
) -> Result<(), QmpError> {
    let threads: Vec<u32> = {
        let mut threads = qmp.vcpu_threads()?;
        threads.sort_by_key(|thread| thread.vcpu);
        let outside = isolation::threads(process)?;
        // Pinning a thread that does not exist fails, and the error says so.
        threads.into_iter().map(|thread| outside.get(&thread.thread).copied().unwrap_or(thread.thread)).collect()
    };
    let pins = order.settings.pin && place.is_pinned;
    let pinning = if pins { pin(&threads, &place.cpus) } else { Ok("none, as asked".to_owned()) };
    let shown =
        |cpus: std::io::Result<Vec<usize>>| cpus.map(|cpus| affinity::list(&cpus)).map_err(|error| error.to_string());
    let of_vcpus: std::io::Result<Vec<Vec<usize>>> =
        threads.iter().map(|thread| affinity::of_thread(*thread)).collect();
    let mut say = |what: &str, answer| decided.insert(what.to_owned(), answer);
    say("place", Ok(place.number.to_string()));
    say("vcpu pinning", pinning);
    say("host CPUs", shown(of_vcpus.map(|cpus| cpus.concat())));
    say("emulator CPUs", shown(affinity::of_thread(process)));
    say("memory node", memory_node(qmp, &order.bound_to)?);
    Ok(())
}

/// Pins each vCPU's thread to the host CPU at the same index.
fn pin(threads: &[u32], cpus: &[usize]) -> Result<String, String> {
    let mut pinned = Vec::new();
    for (vcpu, thread) in threads.iter().enumerate() {
        let cpu = *cpus.get(vcpu).ok_or_else(|| format!("there is no host CPU for vCPU {vcpu}"))?;
        match affinity::pin(*thread, cpu) {
            Ok(now) if now == [cpu] => pinned.push(format!("vCPU {vcpu} on CPU {cpu}")),
            Ok(now) => return Err(format!("vCPU {vcpu} is on CPUs {} instead of {cpu}", affinity::list(&now))),
            Err(error) => return Err(format!("vCPU {vcpu} on CPU {cpu}: {error}")),
        }
    }
    Ok(pinned.join(", "))
}

/// The nodes to which QEMU bound the memory; an error if they are not the requested ones.
fn memory_node(qmp: &mut Qmp, bound_to: &[NodeShare]) -> Result<Result<String, String>, QmpError> {
    if bound_to.is_empty() {
        return Ok(Ok(UNBOUND_MEMORY.to_owned()));
    }
    let answer = qmp.execute("query-memdev", json!({}))?;
    Ok(bound_as_asked(&answer, bound_to))
}

fn bound_as_asked(answer: &Value, bound_to: &[NodeShare]) -> Result<String, String> {
    let backends = answer.as_array().map(Vec::as_slice).unwrap_or_default();
    let nodes = |backend: &Value| {
        let nodes = backend["host-nodes"].as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>()?;
        Some(nodes).filter(|_| backend["policy"] == "bind")
    };
    let mut found: Vec<u64> = backends.iter().filter_map(nodes).flatten().collect();
    found.sort_unstable();
    let asked = bound_to.iter().map(|share| u64::from(share.node)).collect::<Vec<_>>();
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
        let two = json!([backend(1, "bind"), backend(0, "bind")]);
        assert_eq!(bound_as_asked(&two, &[share(0), share(1)]), Ok("0,1".to_owned()));
        assert!(bound_as_asked(&json!([backend(1, "preferred")]), &[share(1)]).unwrap_err().contains("preferred"));
        assert!(bound_as_asked(&json!([backend(1, "bind")]), &[share(0)]).is_err());
        assert!(bound_as_asked(&json!([]), &[share(0)]).is_err());
    }

    #[test]
    fn threads_that_are_not_pinned_are_beside_the_vcpus_or_where_these_are() {
        let place = Place { cpus: vec![2], others: vec![3], is_pinned: true, ..Place::anywhere_on(&[]) };
        assert_eq!(unpinned_cpus(&place, true), [3]);
        assert_eq!(unpinned_cpus(&place, false), [2]);
        assert_eq!(unpinned_cpus(&Place { is_pinned: false, ..place }, true), [3]);
    }
}
