//! How even: how throughput varied from second to second, and how many transactions took very long.

use super::comparison::{estimate, groups};
use super::{heading, place};
use crate::document::{Block, Cell, Column, Table, Tone};
use crate::figures;
use crate::format;
use analysis::estimate::Estimate;
use analysis::raggedness::{Against, CellCycle, Figure, Name, Raggedness};
use analysis::summary::Analysis;

pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut found = Vec::new();
    for cells in groups(analysis) {
        let of_cell = |cell: &u32| analysis.raggedness.iter().find(|ragged| ragged.cell == *cell);
        let ids: Vec<u32> = cells.iter().map(|cell| cell.cell).collect();
        let ragged: Vec<&Raggedness> = ids.iter().filter_map(of_cell).collect();
        if ragged.iter().all(|one| one.trials.is_empty()) {
            continue;
        }
        found.extend(place(&cells[0].coordinates));
        found.extend(figures::bands::figure(&ragged).map(Block::Figure));
        found.push(Block::Table(table(&ragged)));
    }
    if found.is_empty() {
        return found;
    }
    found.push(Block::Note(note()));
    std::iter::once(heading("How even")).chain(found).collect()
}

/// One row for each figure; a column for each contender, then one for each that is held against the baseline.
fn table(ragged: &[&Raggedness]) -> Table {
    let baseline = ragged.iter().find(|one| one.baseline);
    let others: Vec<&Raggedness> = ragged.iter().copied().filter(|one| baseline.is_some() && !one.baseline).collect();
    let mut columns = vec![Column::text("")];
    columns.extend(ragged.iter().map(|one| Column::number(&one.contender)));
    let name = baseline.map_or("", |baseline| baseline.contender.as_str());
    columns.extend(others.iter().map(|one| Column::number(format!("{} against {name}", one.contender))));
    let mut rows = vec![figure_row(Name::Variation, ragged, &others)];
    rows.extend(band_rows(ragged, &others));
    rows.extend(
        [Name::LongestLow, Name::ZeroSeconds, Name::Slow, Name::SlowShare]
            .map(|name| figure_row(name, ragged, &others)),
    );
    rows.push(cycle_row(ragged, &others));
    Table { caption: String::new(), columns, rows }
}

fn figure_row(name: Name, ragged: &[&Raggedness], others: &[&Raggedness]) -> Vec<Cell> {
    let (title, detail, number) = described(name);
    let find = |one: &Raggedness| one.figures.iter().find(|figure| figure.name == name).cloned();
    let value = |one: &&Raggedness| plain(find(one).as_ref().map(|figure| &figure.value), number);
    let mut row = vec![Cell::new(title).detail(detail)];
    row.extend(ragged.iter().map(value));
    row.extend(others.iter().map(|one| against(find(one).as_ref(), number)));
    row
}

fn described(name: Name) -> (&'static str, &'static str, fn(f64) -> String) {
    match name {
        Name::Variation => ("variation, %", "standard deviation of seconds over their mean", percent),
        Name::LongestLow => ("longest below half the median, s", "of each trial", short),
        Name::ZeroSeconds => ("seconds in which nothing was done", "of each trial", short),
        Name::Slow => ("transactions over 1 s", "of each trial, of all kinds", short),
        Name::SlowShare => ("share of them, %", "of all transactions", percent),
    }
}

fn band_rows(ragged: &[&Raggedness], others: &[&Raggedness]) -> Vec<Vec<Cell>> {
    let of_band = |quantile: f64| {
        let find = |one: &Raggedness| one.bands.iter().find(|band| (band.quantile - quantile).abs() < 1e-9).cloned();
        let mut row =
            vec![Cell::new(format!("{} of seconds, %", format::percentile(quantile))).detail("of the median second")];
        row.extend(ragged.iter().map(|one| plain(find(one).as_ref().map(|band| &band.value), percent)));
        row.extend(others.iter().map(|one| {
            let difference = find(one).and_then(|band| band.difference);
            plain(difference.as_ref(), signed(percent))
        }));
        row
    };
    let shown = analysis::raggedness::BANDS.into_iter().filter(|quantile| (quantile - 0.5).abs() > 1e-9);
    let has =
        |quantile: &f64| ragged.iter().any(|one| one.bands.iter().any(|band| (band.quantile - quantile).abs() < 1e-9));
    shown.filter(has).map(of_band).collect()
}

fn cycle_row(ragged: &[&Raggedness], others: &[&Raggedness]) -> Vec<Cell> {
    let mut row = vec![Cell::new("cycle, s").detail("period of what comes and goes")];
    row.extend(ragged.iter().map(|one| cycle(&one.cycle)));
    row.extend(others.iter().map(|one| plain(one.cycle.ratio.as_ref(), times)));
    row
}

fn cycle(cycle: &CellCycle) -> Cell {
    let CellCycle { looked_at, found_in, period_s, .. } = cycle;
    match period_s {
        _ if *looked_at == 0 => Cell::new("too short to tell").tone(Tone::Muted),
        Some(period) => {
            let cell = estimate(Some(period), format::ratio);
            let detail = cell.detail.clone().unwrap_or_default();
            cell.detail(format!("{detail}; in {found_in} of {looked_at} trials"))
        }
        None if *found_in > 0 => {
            Cell::new("none agreed on").detail(format!("found in {found_in} of {looked_at} trials"))
        }
        None => Cell::new("no cycle found").tone(Tone::Muted),
    }
}

fn against(figure: Option<&Figure>, number: fn(f64) -> String) -> Cell {
    match figure.and_then(|figure| figure.against.as_ref()) {
        None => Cell::none(),
        Some(Against::Ratio(ratio)) => plain(Some(ratio), times),
        Some(Against::Difference(difference)) => plain(Some(difference), signed(number)),
    }
}

/// With the reason where there is no interval, since that differs from row to row.
fn plain(found: Option<&Estimate>, number: impl Fn(f64) -> String) -> Cell {
    let Some(found) = found else { return Cell::none() };
    match &found.bounds {
        analysis::estimate::Bounds::Unknown { why } => {
            Cell::new(number(found.point)).detail(format!("plain reading: {why}"))
        }
        analysis::estimate::Bounds::Known { .. } => estimate(Some(found), number),
    }
}

fn percent(value: f64) -> String {
    format::ratio(value * 100.0)
}

fn short(value: f64) -> String {
    format::ratio(value)
}

fn times(value: f64) -> String {
    format!("× {}", format::ratio(value))
}

/// Differences say which way they go.
fn signed(number: impl Fn(f64) -> String) -> impl Fn(f64) -> String {
    move |value| if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

fn note() -> String {
    format!(
        "Of the seconds of the measured window. “×” is a ratio of contender over baseline, a sign a difference, both paired by \
         block. Bands are read from the seconds of each trial, over its own median; shown is their mean over blocks. A cycle is one that \
         noise alone would show in at most {} trial in a hundred, and that more than half of the trials agree on.",
        format::decimal(analysis::cycle::LEVEL * 100.0, 0)
    )
}
