//! Terms of use of the numbers: where workloads come from, how they deviate, how the numbers were made, versions.

use super::heading;
use crate::document::Block;
use crate::format::{self, grouped_by, joined, within};
use crate::table::{Table, TableCell, TableOf};
use analysis::summary::Analysis;
use record::run::Run;

pub fn blocks(run: &Run, analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for note in &run.plan.workloads {
        found.push(heading(format!("The workload {}", note.kind)));
        found.push(Block::Paragraph(note.notice.clone()));
        if !note.deviations.is_empty() {
            found.push(Block::lower("Deviations"));
            found.push(Block::List(note.deviations.clone()));
        }
    }
    found.push(heading("How the numbers were made"));
    found.push(Block::List(method(analysis)));
    found.push(Block::Note(format!(
        "{}Made by bakeoff {} from the files beside this report (format {}): plan.json, host.json and, for each trial, \
         trial.json, findings.json, counters.json and intervals.hlog. The same files always give the same report.",
        measured_by(run),
        env!("CARGO_PKG_VERSION"),
        run.plan.format
    )));
    found.push(heading("Words in this report"));
    found.extend(table(analysis).map(Block::Table));
    found
}

/// The builds that ran the trials, each with its trials if there are several; empty for old records.
fn measured_by(run: &Run) -> String {
    let trials = run.trials.iter().filter_map(|trial| Some((trial.record.made_by.as_deref()?, trial.record.id)));
    let builds = grouped_by(trials, |(build, _)| *build);
    let said = |group: &Vec<(&str, u32)>| {
        let trials: Vec<u32> = group.iter().map(|(_, trial)| *trial).collect();
        format!("{} ({})", group[0].0, format::trials(&trials))
    };
    let said = if let [only] = &builds[..] { only[0].0.to_owned() } else { joined(builds.iter().map(said), " and ") };
    within("Measured by ", &said, ". ")
}

/// Words that a reader meets before any explanation. Their meanings come from the glossary, so that there is only one.
const WORDS: [&str; 27] = [
    "contender",
    "baseline",
    "block",
    "trial",
    "cell",
    "processor",
    "cached twice",
    "NOPM",
    "TPS",
    "query",
    "kind",
    "percentile",
    "response",
    "service",
    "confidence interval",
    "steady state",
    "drift",
    "MSER-5",
    "batch means",
    "Student's t",
    "point value",
    "valid",
    "finding",
    "lateness",
    "phase",
    "effective",
    "least difference",
];

/// Further words, for reports on several machines side by side.
const WORDS_OF_SEVERAL: [&str; 7] =
    ["minimum of N", "slot", "fairness", "consolidation efficiency", "straggler", "noisy neighbour", "skew"];

const GLOSSARY: &str = include_str!("../../../../GLOSSARY.md");

/// Words that a reader may not know, with their meanings.
pub fn words(analysis: &Analysis) -> Vec<(&'static str, String)> {
    let of_several: &[&str] = if analysis.consolidation.is_empty() { &[] } else { &WORDS_OF_SEVERAL };
    WORDS.iter().chain(of_several).filter_map(|word| Some((*word, meaning(word)?))).collect()
}

fn table(analysis: &Analysis) -> Option<Table> {
    TableOf::new(&words(analysis))
        .text("word", |(word, _)| TableCell::text(*word))
        .text("meaning", |(_, meaning)| TableCell::text(meaning))
        .table("words", "")
}

/// The second column of the glossary's row for a word.
fn meaning(word: &str) -> Option<String> {
    let row = GLOSSARY.lines().find_map(|line| line.strip_prefix(&format!("| {word} | ")))?;
    Some(row.trim_end_matches(" |").replace('`', ""))
}

fn method(analysis: &Analysis) -> Vec<String> {
    let method = analysis.method;
    let percent = method.confidence * 100.0;
    vec![
        format!(
            "Ratios are paired by block: both contenders of a block got the same inputs on the same host at nearly the \
            same time. Intervals are {percent:.0} % confidence intervals over blocks, by Student's t on the \
            logarithms of the blocks' values."
        ),
        format!("Fewer than {} blocks give no interval.", method.fewest_blocks),
        "Percentiles come from histograms with three digits, which are added up for drawing only.".to_owned(),
        "An interval covers what varied between blocks of this run. It says nothing about other hosts, days or \
            data."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_in_the_glossary() {
        let missing: Vec<&str> =
            WORDS.into_iter().chain(WORDS_OF_SEVERAL).filter(|word| meaning(word).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
        assert_eq!(meaning("baseline").as_deref(), Some("the contender that the others are compared with"));
    }
}
