//! The host beside what each machine sees of itself, what platforms decided, and the exact command lines.

use super::heading;
use super::side_by_side::SideBySide;
use crate::document::Block;
use crate::format;
use record::facts::Facts;
use record::run::Run;
use record::trial::{MachineFacts, TrialRecord};

const GIB: u64 = 1 << 30;

pub fn blocks(run: &Run) -> Vec<Block> {
    let machines = first_of_each_contender(run);
    let mut found = vec![heading("Machines")];
    let titles: Vec<String> = machines.iter().map(|(trial, _)| trial.contender.clone()).collect();
    let mut inside_titles = vec!["host".to_owned()];
    inside_titles.extend(titles.iter().map(|name| format!("inside {name}")));
    let mut inside = vec![&run.host];
    inside.extend(machines.iter().map(|(_, machine)| &machine.inside));
    found.extend(beside(inside_titles, &inside).blocks("facts"));
    if machines.is_empty() {
        found.push(Block::Paragraph("No machine was started.".to_owned()));
        return found;
    }
    let decided: Vec<&Facts> = machines.iter().map(|(_, machine)| &machine.decided).collect();
    if decided.iter().any(|facts| !facts.is_empty()) {
        found.push(Block::Heading { level: 3, text: "What the platforms decided".to_owned() });
        found.extend(beside(titles, &decided).blocks("decisions"));
    }
    found.push(Block::Heading { level: 3, text: "Command lines".to_owned() });
    for (trial, machine) in &machines {
        let title = format!("{}: {}, image {} (trial {})", trial.contender, machine.platform, machine.image, trial.id);
        found.push(Block::Code { title, text: command_line(&machine.command_line) });
    }
    let note =
        "Facts and command lines are those of each contender's first trial; every trial's are in its trial.json.";
    found.push(Block::Note(note.to_owned()));
    found
}

fn first_of_each_contender(run: &Run) -> Vec<(&TrialRecord, &MachineFacts)> {
    let mut names: Vec<&str> = Vec::new();
    for cell in &run.plan.cells {
        if !names.contains(&cell.contender.as_str()) {
            names.push(&cell.contender);
        }
    }
    let first = |name: &str| {
        let own = run.trials.iter().map(|trial| &trial.record).filter(|record| record.contender == name);
        // A trial that got as far as looking inside says more than one that did not.
        let mut machines: Vec<_> = own.filter_map(|record| Some((record, record.machine.as_ref()?))).collect();
        machines.sort_by_key(|(_, machine)| machine.inside.is_empty());
        machines.first().copied()
    };
    names.into_iter().filter_map(first).collect()
}

fn beside(titles: Vec<String>, columns: &[&Facts]) -> SideBySide {
    let mut names: Vec<&String> = columns.iter().flat_map(|facts| facts.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let row = |name: &String| {
        let values = columns.iter().map(|facts| facts.get(name).map(|fact| readable(name, &fact.to_string())));
        (name.clone(), values.collect())
    };
    SideBySide { titles, rows: names.into_iter().map(row).collect() }
}

/// Bytes also in GiB; everything else as it was read.
fn readable(name: &str, value: &str) -> String {
    match value.parse::<u64>() {
        Ok(bytes) if name.ends_with("_bytes") && bytes >= GIB => {
            format!("{bytes} ({} GiB)", format::decimal(bytes as f64 / GIB as f64, 2))
        }
        _ => value.to_owned(),
    }
}

/// Words as a shell would take them, each option on a line of its own.
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
