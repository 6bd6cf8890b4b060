//! The nodes that memory was allocated from, node by node (`numastat`).
//!
//! This is about pages at the moment of their allocation. It does not show from where they are accessed later, which
//! only the processor's counters can show.

use super::{Opening, ProbeReading};
use crate::counter::Counter;
use crate::tree::Tree;

const NODES: &str = "/sys/devices/system/node";

/// The kernel's names and ours.
const FIELDS: [(&str, &str); 6] = [
    ("numa_hit", "as_wished"),
    ("numa_miss", "wished_elsewhere"),
    ("numa_foreign", "served_elsewhere"),
    ("interleave_hit", "interleaved"),
    ("local_node", "by_own_cpus"),
    ("other_node", "by_other_cpus"),
];

pub fn opening(tree: &Tree) -> Opening {
    let nodes: Vec<String> = tree.names(NODES).into_iter().filter(|name| is_node(name)).collect();
    let remedy = "a kernel built with CONFIG_NUMA has it";
    Opening::new("numa_allocation", format!("{NODES}/node*/numastat"), remedy, move |files| {
        let mut counters = Vec::new();
        for node in &nodes {
            counters.extend(of_node(node, &files.text(&format!("{NODES}/{node}/numastat"))?)?);
        }
        if counters.is_empty() { Err(format!("{NODES} shows no nodes")) } else { Ok(counters) }
    })
}

fn is_node(name: &str) -> bool {
    name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok())
}

fn of_node(node: &str, text: &str) -> ProbeReading {
    let counter = |(key, name): (&str, &str)| {
        let pages = super::fields::number(text, key).ok_or_else(|| format!("numastat of {node} has no {key}"))?;
        Ok(Counter::counts(format!("numa_allocation.{node}.{name}"), "pages", pages))
    };
    FIELDS.into_iter().map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_of_a_node() {
        let text = "numa_hit 662732727\nnuma_miss 3\nnuma_foreign 4\ninterleave_hit 1128\nlocal_node 662732720\nother_node 7\n";
        let found = of_node("node0", text).unwrap();
        assert_eq!(found[0], Counter::counts("numa_allocation.node0.as_wished", "pages", 662_732_727));
        assert_eq!(found[5], Counter::counts("numa_allocation.node0.by_other_cpus", "pages", 7));
        assert!(of_node("node0", "numa_hit 1\n").unwrap_err().contains("numa_miss"));
        assert!(is_node("node12") && !is_node("node") && !is_node("online"));
    }
}
