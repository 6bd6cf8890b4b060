//! What may be said of two contenders in a sentence, and under which condition: a table of rules.
//!
//! A rule looks at the evidence and says something, says that it cannot know, or is silent because its condition does not
//! hold. Figures in sentences carry their interval.

mod cpu;
mod disk;
mod memory;
mod work;

use super::evidence::{BOTH, Evidence};
use crate::counted::name_of;
use crate::student::FEWEST_BLOCKS;
use record::telemetry::Side;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A ratio whose interval comes nearer to 1 than this is no explanation.
const SMALLEST_RATIO: f64 = 1.05;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// The name of the rule that says it.
    pub rule: String,
    pub text: String,
}

/// What a rule makes of the evidence; nothing if its condition does not hold.
enum Said {
    Sentence(String),
    /// What was missing to say it, as it follows "not known: ".
    NotKnown(String),
}

pub struct Rule {
    pub name: &'static str,
    /// When it speaks. Every interval is a 95 % interval over blocks.
    pub condition: &'static str,
    of: Subject,
    says: fn(&Evidence<'_>) -> Vec<Said>,
}

/// Of what a rule speaks where several machines run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Of each machine by itself: shares of a window, and limits that one machine meets, cannot be added up.
    EachMachine,
    /// Of all of them together: what was done for each transaction, times over operations, and the host.
    All,
}

/// All rules, in the order in which they are said.
pub const RULES: [Rule; 15] = [
    Rule {
        name: "held-back disk",
        condition: "the guest's device is busy for at least 80 % of the window, what it does each second varies by at most 10 %, and an \
                    operation takes it more than twice as long as the host's device below, the interval of that difference without 0",
        of: Subject::EachMachine,
        says: disk::held_back,
    },
    Rule {
        name: "shared CPU",
        condition: "the whole interval of the share that a vCPU's thread waited, of the time in which it wanted to run, is above 5 %, and it \
                    waited for more than 2 % of the window",
        of: Subject::EachMachine,
        says: cpu::shared,
    },
    Rule {
        name: "stolen time",
        condition: "the whole interval of the share of its CPU time that a machine counts as stolen is above 2 %",
        of: Subject::EachMachine,
        says: cpu::stolen,
    },
    Rule {
        name: "disagreement on stolen time",
        condition: "the machine's stolen time and the host's wait of its vCPUs are more than 5 % of the window apart, by the whole interval",
        of: Subject::EachMachine,
        says: cpu::disagreement,
    },
    Rule {
        name: "CPU quota",
        condition: "the whole interval of the share of the window in which a control group was held back is above 1 %",
        of: Subject::EachMachine,
        says: cpu::quota,
    },
    Rule {
        name: "migrating vCPUs",
        condition: "vCPUs change their CPU more than ten times a second, by the whole interval",
        of: Subject::EachMachine,
        says: cpu::migrating,
    },
    Rule {
        name: "CPU frequency",
        condition: "the whole interval of the ratio of the host's mean frequencies is more than 5 % from 1",
        of: Subject::All,
        says: cpu::frequency,
    },
    Rule {
        name: "disk time between guest and host",
        condition: "at least ten operations in every window, and the interval of the difference leaves out 0 by more than 0.01 ms",
        of: Subject::All,
        says: disk::between_layers,
    },
    Rule {
        name: "disk time of contenders",
        condition: "at least ten operations in every window, and the whole interval of the ratio is more than 5 % from 1",
        of: Subject::All,
        says: disk::of_contenders,
    },
    Rule {
        name: "work per transaction",
        condition: "of one of the two at least one in ten transactions, and the whole interval of the ratio is more than 5 % from 1",
        of: Subject::All,
        says: work::each,
    },
    Rule {
        name: "exits per transaction",
        condition: "the hypervisor counts them, and the interval is known",
        of: Subject::All,
        says: work::exits,
    },
    Rule {
        name: "locks",
        condition: "the database counts its waits for locks, and the whole interval of their share of the response is above 1 %",
        of: Subject::All,
        says: work::locks,
    },
    Rule {
        name: "memory pressure",
        condition: "the whole interval of the share of the window in which a task waited for memory is above 1 %",
        of: Subject::EachMachine,
        says: memory::pressure,
    },
    Rule {
        name: "swapping",
        condition: "more than one page a second is swapped, by the whole interval",
        of: Subject::EachMachine,
        says: memory::swapping,
    },
    Rule {
        name: "storage pressure",
        condition: "the shares of the window in which a task waited for storage differ by more than 5 % of it, by the whole interval",
        of: Subject::EachMachine,
        says: memory::storage_pressure,
    },
];

/// What the rules say, and what could not be said or was not available.
pub fn apply(evidence: &Evidence<'_>) -> (Vec<Sentence>, Vec<String>) {
    let mut not_available = unavailable(evidence);
    if let Some(why) = too_little(evidence) {
        not_available.insert(0, why);
        return (Vec::new(), not_available);
    }
    let mut sentences = Vec::new();
    let mut not_known = Vec::new();
    for rule in &RULES {
        for said in said_by(rule, evidence) {
            match said {
                Said::Sentence(text) => sentences.push(Sentence { rule: rule.name.to_owned(), text }),
                Said::NotKnown(what) => not_known.push(format!("Not known: {what}.")),
            }
        }
    }
    // The same may be missing of several machines.
    let mut seen = BTreeSet::new();
    not_known.retain(|line: &String| seen.insert(line.clone()));
    not_known.extend(not_available);
    (sentences, not_known)
}

fn said_by(rule: &Rule, evidence: &Evidence<'_>) -> Vec<Said> {
    let machines = evidence.machines();
    if machines.is_empty() || rule.of == Subject::All {
        return (rule.says)(evidence);
    }
    let of_machine = |machine| {
        let names = BOTH.map(|who| evidence.called(who, machine));
        (rule.says)(&evidence.of_machine(machine, &names))
    };
    machines.into_iter().flat_map(of_machine).collect()
}

/// Why no sentence can be said at all.
fn too_little(evidence: &Evidence<'_>) -> Option<String> {
    let blocks = evidence.blocks.len();
    if blocks < FEWEST_BLOCKS {
        return Some(format!(
            "Nothing is said in words: telemetry of both is there of {blocks} blocks, and intervals need {FEWEST_BLOCKS}."
        ));
    }
    let seen = |who| {
        evidence.has_samples(who, |trial| {
            [Side::Host, Side::Machine].into_iter().filter_map(|side| Some(trial.side(side)?.samples)).max()
        })
    };
    let few = BOTH.into_iter().find(|who| !seen(*who))?;
    let name = evidence.name(few);
    Some(format!(
        "Nothing is said in words: a window of {name} holds fewer than {} samples.",
        super::evidence::FEWEST_SAMPLES
    ))
}

/// Sides and probes that saw nothing, each reason once, with the contenders it holds for.
fn unavailable(evidence: &Evidence<'_>) -> Vec<String> {
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for who in BOTH {
        let mut add = |reason: String| {
            let names = reasons.entry(reason).or_default();
            if !names.contains(&evidence.name(who)) {
                names.push(evidence.name(who));
            }
        };
        for trial in evidence.trials(who) {
            for (side, counts) in [(Side::Machine, &trial.machine), (Side::Host, &trial.host)] {
                match counts {
                    Err(why) => add(format!("nothing {}, because {why}", name_of(side))),
                    Ok(counts) => {
                        let probes = counts.unavailable.iter();
                        probes.for_each(|(probe, why)| add(format!("{probe} {}, because {why}", name_of(side))));
                    }
                }
            }
        }
    }
    reasons.into_iter().map(|(reason, names)| format!("Not counted of {}: {reason}.", names.join(" and "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a reader is told of the rules is what they are.
    #[test]
    fn every_rule_is_described_with_its_condition() {
        let description = include_str!("../../../../../docs/method.md");
        let in_one_line = description.split_whitespace().collect::<Vec<_>>().join(" ");
        for rule in &RULES {
            let row = format!("| {} | {} |", rule.name, rule.condition);
            assert!(in_one_line.contains(&row), "docs/method.md does not have: {row}");
        }
    }
}
