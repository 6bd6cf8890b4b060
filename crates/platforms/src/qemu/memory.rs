//! The guest's memory on the command line, and the memory nodes that the guest sees. Pure.
//!
//! Memory bound to one node of the host is one node for the guest. A machine that spans nodes gets one for each, with
//! the vCPUs that run there. So its kernel can keep data near the threads that use them.

use crate::placement::{NodeShare, divided};

/// The words for this amount of memory.
pub fn words(bytes: u64, huge_pages: bool, bound_to: &[NodeShare]) -> Vec<String> {
    let mut words = vec!["-m".to_owned(), format!("size={bytes}B")];
    let mut add = |more: [String; 4]| words.extend(more);
    let object = |backend: String| ["-object".to_owned(), backend];
    let whole = |backend: String| {
        let [switch, backend] = object(backend);
        [switch, backend, "-machine".to_owned(), "memory-backend=memory".to_owned()]
    };
    match bound_to {
        [] if !huge_pages => {}
        [] => add(whole(backend("memory", bytes, huge_pages))),
        [only] => add(whole(bound(&backend("memory", bytes, huge_pages), only))),
        several => {
            for (number, (share, part)) in several.iter().zip(divided(bytes, several)).enumerate() {
                let name = format!("memory{number}");
                let [switch, object] = object(bound(&backend(&name, part, huge_pages), share));
                let cpus = share.vcpus.iter().map(|vcpu| format!(",cpus={vcpu}")).collect::<Vec<_>>().concat();
                add([switch, object, "-numa".to_owned(), format!("node,nodeid={number}{cpus},memdev={name}")]);
            }
        }
    }
    words
}

/// How many sockets the guest sees. CPUs of one socket must not belong to two nodes, or the guest's kernel rejects the
/// whole topology.
pub fn sockets(vcpus: u32, bound_to: &[NodeShare]) -> u32 {
    let nodes = bound_to.len().max(1);
    let each = vcpus as usize / nodes;
    let in_order = bound_to.iter().flat_map(|share| &share.vcpus).copied().eq(0..vcpus as usize);
    let is_even = bound_to.iter().all(|share| share.vcpus.len() == each);
    match u32::try_from(nodes) {
        Ok(nodes) if nodes == 1 || (in_order && is_even) => nodes,
        // Each vCPU gets its own socket.
        _ => vcpus,
    }
}

fn backend(name: &str, bytes: u64, huge_pages: bool) -> String {
    if huge_pages {
        format!("memory-backend-memfd,id={name},size={bytes}B,hugetlb=on,hugetlbsize=2M,prealloc=on")
    } else {
        format!("memory-backend-ram,id={name},size={bytes}B")
    }
}

fn bound(backend: &str, share: &NodeShare) -> String {
    format!("{backend},host-nodes={},policy=bind", share.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(vcpus: &[&[usize]]) -> Vec<NodeShare> {
        (0..).zip(vcpus).map(|(node, vcpus)| NodeShare { node, vcpus: vcpus.to_vec() }).collect()
    }

    #[test]
    fn no_socket_has_cpus_of_two_nodes() {
        assert_eq!(sockets(4, &[]), 1);
        assert_eq!(sockets(4, &shares(&[&[0, 1, 2, 3]])), 1);
        assert_eq!(sockets(4, &shares(&[&[0, 1], &[2, 3]])), 2);
        assert_eq!(sockets(3, &shares(&[&[0, 1], &[2]])), 3);
        assert_eq!(sockets(4, &shares(&[&[0, 2], &[1, 3]])), 4);
    }
}
