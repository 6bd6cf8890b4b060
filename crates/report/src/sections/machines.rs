//! The host beside what each machine reports about itself, what platforms decided, and the exact command lines.

use super::side_by_side::SideBySide;
use super::{heading, machines_apart};
use crate::document::Block;
use crate::format::{self, distinct};
use record::facts::Facts;
use record::run::Run;
use record::trial::{MachineFacts, TrialRecord};

const MIB: u64 = 1 << 20;

/// Facts that most often explain a difference; all others are folded.
const TELLING: [&str; 16] = [
    "cpu.model",
    "cpu.threads",
    "cpu.vulnerable",
    "kernel.clocksource",
    "kernel.release",
    "memory.total_bytes",
    "memory.transparent_huge_pages",
    "storage.device",
    "storage.file_system",
    "storage.mount_options",
    "storage.queue_requests",
    "storage.read_ahead_kib",
    "storage.scheduler",
    "storage.write_cache",
    "virtualization.nested",
    "virtualization.vendor",
];

pub fn blocks(run: &Run) -> Vec<Block> {
    let machines = first_of_each_contender(run);
    let titles: Vec<String> = machines.iter().map(|(trial, _)| trial.contender.clone()).collect();
    let mut found = vec![heading("Machines")];
    if machines.is_empty() {
        found.push(Block::Paragraph("No machine was started.".to_owned()));
    }
    let decided: Vec<&Facts> = machines.iter().map(|(_, machine)| &machine.decided).collect();
    if decided.iter().any(|facts| !facts.is_empty()) {
        found.push(Block::Heading { level: 3, text: "What the platforms decided".to_owned() });
        found.extend(SideBySide::of_facts(titles.clone(), &decided, readable).blocks("decided", "decisions"));
    }
    found.push(Block::Heading { level: 3, text: "The host, and what machines see of themselves".to_owned() });
    found.extend(seen(run, &machines, &titles));
    for (trial, machine) in &machines {
        let (contender, platform) = (&trial.contender, &machine.platform);
        let title = format!("image {}, trial {}", machine.image, trial.id);
        let code = Block::Code { title, text: command_line(&machine.command_line) };
        found.push(Block::Fold { title: format!("The command line of {contender} ({platform})"), blocks: vec![code] });
    }
    found.extend(machines_apart::blocks(run));
    let note = "Facts and command lines are of each contender's first trial and its machine 1. Those of all trials are in \
            trial.json.";
    found.push(Block::Note(note.to_owned()));
    found
}

fn seen(run: &Run, machines: &[(&TrialRecord, &MachineFacts)], contenders: &[String]) -> Vec<Block> {
    let mut titles = vec!["host".to_owned()];
    titles.extend(contenders.iter().map(|name| format!("inside {name}")));
    let mut facts = vec![&run.host];
    facts.extend(machines.iter().map(|(_, machine)| &machine.inside));
    let SideBySide { titles, rows } = SideBySide::of_facts(titles, &facts, readable);
    let (telling, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(name, _)| TELLING.contains(&name.as_str()));
    let count = others.len();
    let mut blocks = Vec::new();
    if !telling.is_empty() {
        blocks.extend(SideBySide { titles: titles.clone(), rows: telling }.blocks("facts", "facts"));
    }
    if count > 0 {
        let blocks_of_others = SideBySide { titles, rows: others }.blocks("further-facts", "facts");
        blocks.push(Block::Fold { title: format!("{count} further facts"), blocks: blocks_of_others });
    }
    blocks
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
fn readable(name: &str, value: String) -> String {
    match value.parse::<u64>() {
        Ok(bytes) if name.ends_with("_bytes") && bytes >= MIB => format::bytes(bytes),
        _ => value,
    }
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
