//! `telemetry.json` and the tables of samples beside it: the writer and the reader.
//!
//! The tables are plain CSV, so that any tool can read them: a line of names, then one sample a line, with an empty
//! field where a value could not be read. They are written first; a trial without `telemetry.json` was not finished.

use crate::bounds::{self, Lines};
use crate::error::{RecordError, content, failing};
use crate::folder::{TrialFolder, read_json_in_range};
use crate::telemetry::{Sample, Series, Side};
use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;

const INDEX: &str = "telemetry.json";
/// The sides are host and machine.
const SIDES: usize = 2;
/// Names of the first two columns, which every table has.
const MOMENT: [&str; 2] = ["at_ns", "took_ns"];

fn table_name(side: Side) -> &'static str {
    match side {
        Side::Host => "telemetry-host.csv",
        Side::Machine => "telemetry-machine.csv",
    }
}

/// Writes the samples, one series for each side.
pub fn write(trial: &TrialFolder, series: &[Series]) -> Result<(), RecordError> {
    for (place, one) in series.iter().enumerate() {
        let name = table_name(one.side);
        let refused = |why| RecordError::Content { path: trial.path().join(name), why };
        if series[..place].iter().any(|earlier| earlier.side == one.side) {
            return Err(refused("there are two series from this side".to_owned()));
        }
        trial.write(name, table(one).map_err(refused)?.as_bytes())?;
    }
    let index: Vec<Series> = series.iter().map(without_samples).collect();
    trial.write_json(INDEX, &index)
}

/// Reads the samples of the trial in this folder; empty if there are none.
pub fn read(trial: &Path) -> Result<Vec<Series>, RecordError> {
    let index = trial.join(INDEX);
    if !index.exists() {
        return Ok(Vec::new());
    }
    let mut series: Vec<Series> = read_json_in_range(&index)?;
    if series.len() > SIDES {
        return Err(content(&index, bounds::too_many("the list of sides", series.len(), SIDES)));
    }
    for one in &mut series {
        let path = trial.join(table_name(one.side));
        let text = bounds::open(&path, bounds::SERIES_BYTES).map_err(failing("reading", &path))?;
        one.samples = samples(one, text).map_err(|why| content(&path, why))?;
    }
    Ok(series)
}

fn without_samples(series: &Series) -> Series {
    let Series { side, probes, columns, cost_ns, samples: _ } = series;
    Series { side: *side, probes: probes.clone(), columns: columns.clone(), cost_ns: *cost_ns, samples: Vec::new() }
}

fn heading(series: &Series) -> String {
    let names = series.columns.iter().map(|column| column.name.as_str());
    MOMENT.into_iter().chain(names).collect::<Vec<_>>().join(",")
}

fn table(series: &Series) -> Result<String, String> {
    let is_plain = |name: &str| !name.is_empty() && !name.contains([',', '"', '\n', '\r']);
    if let Some(column) = series.columns.iter().find(|column| !is_plain(&column.name)) {
        return Err(format!("{:?} is no name of a column", column.name));
    }
    let mut text = heading(series);
    text.push('\n');
    for sample in &series.samples {
        if sample.values.len() != series.columns.len() {
            return Err(format!("a sample has {} values for {} columns", sample.values.len(), series.columns.len()));
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{}", sample.at_ns, sample.took_ns);
        for value in &sample.values {
            text.push(',');
            if let Some(value) = value {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    Ok(text)
}

fn samples(series: &Series, text: impl BufRead) -> Result<Vec<Sample>, String> {
    let (mut lines, mut samples) = (Lines::of(text), Vec::new());
    if lines.next_line()?.map(str::trim_end) != Some(heading(series).as_str()) {
        return Err(format!("its columns are not those of {INDEX}"));
    }
    while let Some(line) = lines.next_line()? {
        let sample = sample(series, line.trim_end()).ok_or_else(|| format!("line {} is no sample", lines.number))?;
        let earliest_ns = samples.last().map_or(0, |before: &Sample| before.at_ns);
        if !(earliest_ns..=bounds::LARGEST_READING).contains(&sample.at_ns) {
            return Err(format!("line {}: at_ns is {}, after {earliest_ns}", lines.number, sample.at_ns));
        }
        samples.push(sample);
        if samples.len().saturating_mul(series.columns.len()) > bounds::SERIES_NUMBERS {
            return Err(format!("line {}: more than {} values", lines.number, bounds::SERIES_NUMBERS));
        }
    }
    Ok(samples)
}

fn sample(series: &Series, line: &str) -> Option<Sample> {
    let mut fields = line.split(',');
    let at_ns = fields.next()?.parse().ok()?;
    let took_ns = fields.next()?.parse().ok()?;
    let value = |field: &str| if field.is_empty() { Some(None) } else { field.parse().ok().map(Some) };
    let values: Vec<Option<u64>> = fields.map(value).collect::<Option<_>>()?;
    (values.len() == series.columns.len()).then_some(Sample { at_ns, took_ns, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::looks::Reading;
    use crate::telemetry::{Behaviour, Column, Probe};
    use proptest::prelude::*;

    fn series(side: Side, samples: Vec<Sample>) -> Series {
        let column =
            |name: &str, unit: &str, behaviour| Column { name: name.to_owned(), unit: unit.to_owned(), behaviour };
        let probe = |name: &str, columns| Probe { name: name.to_owned(), source: "/proc".to_owned(), columns };
        Series {
            side,
            probes: vec![
                probe("cpu", Reading::Known(vec!["cpu.user".to_owned()])),
                probe("memory", Reading::Known(vec!["memory.free".to_owned()])),
                probe("energy", Reading::Unavailable("there is no such folder".to_owned())),
            ],
            columns: vec![
                column("cpu.user", "ticks", Behaviour::Counts),
                column("memory.free", "bytes", Behaviour::Stands),
            ],
            cost_ns: Some(1_234_567),
            samples,
        }
    }

    fn sample(at_ns: u64, values: [Option<u64>; 2]) -> Sample {
        Sample { at_ns, took_ns: 30, values: values.to_vec() }
    }

    fn folder() -> (tempfile::TempDir, TrialFolder) {
        let parent = tempfile::tempdir().unwrap();
        let plan = serde_json::from_value(serde_json::json!({
            "format": crate::FORMAT, "question": "?", "study": "s", "seed": 1, "blocks": 1, "cells": [], "trials": []
        }));
        let run = crate::folder::RunFolder::create(&parent.path().join("run"), "", &plan.unwrap()).unwrap();
        let trial = run.trial(1);
        trial.begin().unwrap();
        (parent, trial)
    }

    #[test]
    fn both_sides_are_read_back_as_they_were_written() {
        let (_parent, trial) = folder();
        assert_eq!(read(trial.path()).unwrap(), []);
        let host = series(Side::Host, vec![sample(1, [Some(5), Some(6)]), sample(2, [None, Some(u64::MAX)])]);
        let machine = series(Side::Machine, Vec::new());
        write(&trial, &[host.clone(), machine.clone()]).unwrap();
        assert_eq!(read(trial.path()).unwrap(), [host, machine]);
        let text = std::fs::read_to_string(trial.path().join("telemetry-host.csv")).unwrap();
        assert_eq!(text, "at_ns,took_ns,cpu.user,memory.free\n1,30,5,6\n2,30,,18446744073709551615\n");
    }

    #[test]
    fn what_would_not_be_read_back_is_not_written() {
        let (_parent, trial) = folder();
        let one = series(Side::Host, Vec::new());
        assert!(write(&trial, &[one.clone(), one.clone()]).unwrap_err().to_string().contains("two series"));
        let mut odd = one.clone();
        odd.columns[0].name = "a,b".to_owned();
        assert!(write(&trial, &[odd]).unwrap_err().to_string().contains("no name of a column"));
        let mut short = one;
        short.samples = vec![Sample { at_ns: 1, took_ns: 1, values: Vec::new() }];
        assert!(write(&trial, &[short]).unwrap_err().to_string().contains("0 values for 2 columns"));
    }

    #[test]
    fn a_table_that_was_changed_is_told_of() {
        let one = series(Side::Host, Vec::new());
        let read = |text: &str| samples(&one, text.as_bytes());
        assert!(read("at_ns,took_ns,other\n").unwrap_err().contains("columns"));
        let heading = "at_ns,took_ns,cpu.user,memory.free\n";
        assert_eq!(read(&format!("{heading}1,2,3\n")), Err("line 2 is no sample".to_owned()));
        assert_eq!(read(&format!("{heading}1,2,3,4\n1,2,x,4\n")), Err("line 3 is no sample".to_owned()));
        assert_eq!(read(&format!("{heading}5,2,3,4\n4,2,3,4\n")), Err("line 3: at_ns is 4, after 5".to_owned()));
        assert!(read(&format!("{heading}{},2,3,4\n", u64::MAX)).unwrap_err().starts_with("line 2: at_ns is"));
    }

    proptest! {
        #[test]
        fn any_samples_are_read_back(
            values in prop::collection::vec((0..bounds::LARGEST_READING, any::<u64>(), any::<[Option<u64>; 2]>()), 0..40)
        ) {
            let mut samples: Vec<Sample> = values.into_iter()
                .map(|(at_ns, took_ns, values)| Sample { at_ns, took_ns, values: values.to_vec() })
                .collect();
            samples.sort_by_key(|sample| sample.at_ns);
            let one = series(Side::Machine, samples);
            prop_assert_eq!(super::samples(&one, table(&one).unwrap().as_bytes()).unwrap(), one.samples);
        }
    }
}
