//! Whether all sides did the same on a host that stayed the same: data, Little's law, storage work, and the host by trial.
//!
//! What does not hold is a warning above the answer; the readings behind it are here.

use super::heading;
use crate::document::Block;
use crate::format::{Digits, Style, counted};
use crate::missing;
use crate::table::{Cell, Table, TableOf};
use analysis::consistency::host::{HostDuringRun, HostDuringTrial, UnavailableFact};
use analysis::consistency::loaded_data::LoadedData;
use analysis::consistency::{Consistency, littles_law::Accounted};
use analysis::summary::Analysis;
use std::collections::BTreeSet;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let Consistency { littles_law, loaded_data, host, .. } = &analysis.consistency;
    let mut blocks = vec![heading("Consistency of the comparison")];
    blocks.push(Block::List(vec![data_in_words(loaded_data), law_in_words(littles_law)]));
    blocks.extend(host_blocks(host));
    blocks
}

fn data_in_words(loaded: &[LoadedData]) -> String {
    let tables = loaded.iter().map(|data| data.tables).max().unwrap_or(0);
    match (tables, loaded.iter().all(|data| data.differing.is_empty())) {
        (0, _) => {
            "The record has no checksums of the loaded data, so it cannot be told whether all began with the same."
                .to_owned()
        }
        (_, true) => format!(
            "All contenders began with the same data: the checksums of {} are equal.",
            counted(tables.into(), "table")
        ),
        (_, false) => "The contenders did not begin with the same data; see loaded-data-differ.".to_owned(),
    }
}

fn law_in_words(accounted: &[Accounted]) -> String {
    // Machines side by side are checked one by one.
    let trials = |holds: &[bool]| {
        let own = accounted.iter().filter(|one| holds.contains(&one.holds)).map(|one| one.trial);
        own.collect::<BTreeSet<u32>>().len()
    };
    let (all, broken) = (trials(&[true, false]), trials(&[false]));
    match (all, broken) {
        (0, _) => "There is no valid trial to test Little's law on.".to_owned(),
        (_, 0) => format!(
            "Response times and pauses add up to the number of clients in all {all} valid trials (Little's law)."
        ),
        _ => format!(
            "Response times and pauses do not add up to the number of clients in {broken} of {all} valid trials \
            (Little's law)."
        ),
    }
}

fn host_blocks(host: &HostDuringRun) -> Vec<Block> {
    if host.trials.is_empty() {
        let unknown = "The record does not say what the host did during the trials.";
        return vec![Block::Paragraph(unknown.to_owned())];
    }
    let mut blocks = vec![Block::Table(host_table(&host.trials))];
    let mut note =
        "Point values, from readings at both ends of each measured window. Busy, stolen (by a hypervisor below) \
            and others (processes of others) are shares of the time of all CPUs."
            .to_owned();
    note.extend(host.unavailable.iter().map(|UnavailableFact { fact, why }| {
        format!(" Of the host, {} is unavailable, because {why}.", missing::host_fact(*fact))
    }));
    blocks.push(Block::Note(note));
    vec![Block::Fold { title: "The host during each trial".to_owned(), blocks }]
}

fn host_table(trials: &[HostDuringTrial]) -> Table {
    let number = |value: Option<f64>, style| Cell::number_or(value, style, "the host does not tell");
    let percent = |share| number(share, Style::PERCENT);
    let bytes = |bytes| number(bytes, Style::new("bytes", Digits::Bytes));
    TableOf::new(trials)
        .number("trial", |one| Cell::name(one.trial))
        .text("contender", |one| Cell::text(&one.contender))
        .number("MHz", |one| number(one.frequency_mhz, Style { unit: "MHz", ..Style::COUNT }))
        .number("busy, %", |one| percent(one.busy))
        .number("stolen, %", |one| percent(one.stolen))
        .number("others, %", |one| percent(one.others))
        .number("others' disk use / s", |one| bytes(one.others_disk))
        .number("waiting for memory, %", |one| percent(one.memory_stalled))
        .number("pages swapped", |one| number(one.swapped_pages.map(|pages| pages as f64), Style::COUNT))
        .number("memory available", |one| bytes(one.available_bytes.map(|bytes| bytes as f64)))
        .table("host", "")
}
