//! The host beside what each machine reports about itself, what platforms decided, and the exact command lines.

use super::headed;
use super::side_by_side::ColumnsSideBySide;
use crate::document::Block;
use crate::format::{self, distinct};
use record::facts::Facts;
use record::run::Run;
use record::trial::{MachineFacts, TrialRecord};
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;

pub fn blocks(run: &Run) -> Vec<Block> {
    let machines = first_of_each_contender(run);
    let titles: Vec<String> = machines.iter().map(|(trial, _)| trial.contender.clone()).collect();
    let mut found = Vec::new();
    if machines.is_empty() {
        found.push(Block::Paragraph("No machine was started.".to_owned()));
    }
    let decided: Vec<_> = machines.iter().map(|(_, machine)| readable(&machine.decided)).collect();
    if decided.iter().any(|facts| !facts.is_empty()) {
        found.push(Block::lower("What the platforms decided"));
        found.extend(ColumnsSideBySide::of(titles.clone(), &decided).blocks("decided", "decisions"));
    }
    found.push(Block::lower("The host, and what machines see of themselves"));
    let inside = titles.iter().map(|name| format!("inside {name}"));
    let facts = std::iter::once(&run.host).chain(machines.iter().map(|(_, machine)| &machine.inside));
    let facts: Vec<_> = facts.map(readable).collect();
    let seen = ColumnsSideBySide::of(std::iter::once("host".to_owned()).chain(inside).collect(), &facts);
    found.extend(seen.blocks("facts", "facts"));
    for (trial, machine) in &machines {
        let (contender, platform) = (&trial.contender, &machine.platform);
        let title = format!("image {}, trial {}", machine.image, trial.id);
        let code = Block::Code { title, text: command_line(&machine.command_line) };
        found.extend(Block::fold(format!("The command line of {contender} ({platform})"), [code]));
    }
    let note = "Facts and command lines are of each contender's first trial and its machine 1. Those of all trials are in \
            trial.json.";
    headed("Machines", found, note)
}

fn first_of_each_contender(run: &Run) -> Vec<(&TrialRecord, &MachineFacts)> {
    let names = distinct(run.plan.cells.iter().map(|cell| cell.contender.as_str()));
    let first = |name: &str| {
        let own = run.trials.iter().map(|trial| &trial.record).filter(|record| record.contender == name);
        // A trial that looked inside the machine says more than one that did not get that far.
        let mut machines: Vec<_> = own.filter_map(|record| Some((record, record.machine.as_ref()?))).collect();
        machines.sort_by_key(|(_, machine)| machine.inside.is_empty());
        machines.first().copied()
    };
    names.into_iter().filter_map(first).collect()
}

/// Large sizes in bytes with a larger unit; everything else as it was read.
pub fn readable(facts: &Facts) -> BTreeMap<String, String> {
    let value = |name: &str, value: String| match value.parse::<u64>() {
        Ok(bytes) if name.ends_with("_bytes") && bytes >= MIB => format::bytes(bytes),
        _ => value,
    };
    facts.iter().map(|(name, fact)| (name.clone(), value(name, fact.to_string()))).collect()
}

/// Words quoted for a shell, each option on a line of its own.
pub fn command_line(words: &[String]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        let separator = match index {
            0 => "",
            _ if word.starts_with('-') => " \\\n  ",
            _ => " ",
        };
        text.push_str(separator);
        text.push_str(&quoted(word));
    }
    text
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted_into_a_shell() {
        let words = ["qemu", "-append", "console=ttyS0 quiet", "-name", "it's"].map(str::to_owned);
        assert_eq!(command_line(&words), "qemu \\\n  -append 'console=ttyS0 quiet' \\\n  -name 'it'\\''s'");
    }
}
