//! `bakeoff export`: what host and machine counted in every trial of a run, as one long CSV table.
//!
//! The tables in the trials' folders have a column for each counter, and each trial has its own. Here each line is one
//! value, so that trials whose contenders count different things fit into one table. Where several machines ran side by
//! side, each machine's folder is a part of its trial. Parts are read and written one after another.

use crate::arguments::ExportOptions;
use crate::display::say;
use crate::exit::{EndedWith, Exit};
use crate::run_name;
use analysis::counted::window;
use anyhow::{Context, Result};
use record::folder::{RunFolder, TrialFolder};
use record::plan::{Cell, Plan, PlannedTrial};
use record::telemetry::{Behaviour, Column, Series, Side};
use record::telemetry_files;
use record::text::visible;
use record::trial::TrialRecord;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;

const HEADING: &str = "trial,block,contender,cell,machine,side,at_s,column,unit,behaviour,value";
const STANDARD_OUTPUT: &str = "-";
const NS_PER_US: i128 = 1_000;
const US_PER_S: u128 = 1_000_000;

pub fn export(options: &ExportOptions) -> Result<Exit> {
    let run = run_name::resolve(&options.run)?;
    let run = run.as_path();
    let folder = RunFolder::open(run).map_err(|error| EndedWith::bad_input(format!("{error}; name a run folder")))?;
    let plan = folder.plan().context("reading the plan of the run")?;
    let trials = complete_trials(&folder, &plan);
    let file = options.csv.as_path();
    let exported = if file == Path::new(STANDARD_OUTPUT) {
        write_all(io::stdout().lock(), &trials)
    } else {
        let create = || EndedWith::bad_input(format!("--csv: {} cannot be written; name another file", file.display()));
        write_all(File::create(file).with_context(create)?, &trials)
    };
    match exported {
        Ok(exported) => exported.tell(run, trials.len()),
        // A reader that closed its end (`| head`) has what it wanted.
        Err(error) if is_broken_pipe(&error) => {}
        Err(error) => return Err(error.context(format!("the table in {} is cut short", file.display()))),
    }
    Ok(Exit::Done)
}

/// A complete trial with the folders of its machines, in their order.
struct Trial {
    id: u32,
    machines: Vec<TrialFolder>,
}

/// Sorted by number.
fn complete_trials(folder: &RunFolder, plan: &Plan) -> Vec<Trial> {
    let mut planned: Vec<&PlannedTrial> = plan.trials.iter().collect();
    planned.sort_by_key(|trial| trial.id);
    let of_planned = |trial: &PlannedTrial| {
        let own = folder.trial(trial.id);
        let count = plan.cells.iter().find(|cell| cell.id == trial.cell).map_or(1, Cell::machines);
        own.is_complete().then(|| Trial { id: trial.id, machines: own.machines(count) })
    };
    planned.into_iter().filter_map(of_planned).collect()
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}

/// How much was written, and what is missing.
#[derive(Default)]
struct Exported {
    values: u64,
    without_telemetry: Vec<u32>,
    /// Each is a sentence.
    gaps: Vec<String>,
}

impl Exported {
    fn tell(&self, run: &Path, complete: usize) {
        let run = run.display();
        for sentence in &self.gaps {
            say(sentence);
        }
        let why = "it was off, or an older version ran them";
        match self.without_telemetry.as_slice() {
            _ if complete == 0 => say(&format!("no trial of {run} is complete; the table has its heading only")),
            [] => {}
            all if all.len() == complete => say(&format!("no trial of {run} has telemetry: {why}")),
            some => {
                let ids: Vec<String> = some.iter().map(ToString::to_string).collect();
                say(&format!("without telemetry: trials {}; {why}", ids.join(", ")));
            }
        }
        let with = complete - self.without_telemetry.len();
        say(&format!("values: {}; trials with telemetry: {with} of {complete}", self.values));
    }

    fn write_trial(&mut self, out: &mut impl Write, trial: &Trial) -> Result<()> {
        let mut without = Vec::new();
        for (machine, folder) in (1..).zip(&trial.machines) {
            let record = folder.record().context("reading a trial")?;
            let series = telemetry_files::read(folder.path()).context("reading telemetry")?;
            if series.is_empty() {
                without.push(machine);
            }
            let source = LineSource { record: &record, machine, is_alone: trial.machines.len() == 1 };
            for one in &series {
                self.write_series(out, &source, one)?;
            }
        }
        if without.len() == trial.machines.len() {
            self.without_telemetry.push(trial.id);
        } else {
            let gap = |machine| format!("trial {}: nothing was sampled of machine {machine}", trial.id);
            self.gaps.extend(without.into_iter().map(gap));
        }
        Ok(())
    }

    fn write_series(&mut self, out: &mut impl Write, source: &LineSource<'_>, series: &Series) -> io::Result<()> {
        let start_ns = window::of_side(source.record, series.side).map(|window| window.start_ns);
        if let Err(why) = &start_ns {
            let (source, side) = (source.told(), side_name(series.side));
            self.gaps.push(format!("{source}, {side}: at_s is left empty, because {}", report::missing::why(why)));
        }
        self.values += write_series(out, source, series, start_ns.ok())?;
        Ok(())
    }
}

fn write_all(out: impl Write, trials: &[Trial]) -> Result<Exported> {
    let mut out = BufWriter::new(out);
    let mut exported = Exported::default();
    writeln!(out, "{HEADING}")?;
    for trial in trials {
        exported.write_trial(&mut out, trial)?;
    }
    out.flush()?;
    Ok(exported)
}

/// The trial and machine of a line.
struct LineSource<'a> {
    record: &'a TrialRecord,
    /// Counted from 1.
    machine: u32,
    is_alone: bool,
}

impl LineSource<'_> {
    /// "trial 3, machine 2".
    fn told(&self) -> String {
        let trial = format!("trial {}", self.record.id);
        if self.is_alone { trial } else { format!("{trial}, machine {}", self.machine) }
    }
}

/// Returns the number of values. What could not be read at a moment has no line.
fn write_series(
    out: &mut impl Write,
    source: &LineSource<'_>,
    series: &Series,
    start_ns: Option<u64>,
) -> io::Result<u64> {
    let LineSource { record: TrialRecord { id, block, cell, contender, .. }, machine, .. } = source;
    let before = format!("{id},{block},{},{cell},{machine},{}", quoted(contender), side_name(series.side));
    let columns: Vec<String> = series.columns.iter().map(described).collect();
    let mut values = 0;
    for sample in &series.samples {
        let at_s = start_ns.map(|start_ns| since(start_ns, sample.at_ns)).unwrap_or_default();
        for (column, value) in columns.iter().zip(&sample.values) {
            let Some(value) = value else { continue };
            writeln!(out, "{before},{at_s},{column},{value}")?;
            values += 1;
        }
    }
    Ok(values)
}

fn described(column: &Column) -> String {
    let behaviour = match column.behaviour {
        Behaviour::Counts => "counts",
        Behaviour::Stands => "stands",
    };
    format!("{},{},{behaviour}", quoted(&column.name), quoted(&column.unit))
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Host => "host",
        Side::Machine => "machine",
    }
}

/// In seconds, to the microsecond; negative before the window.
fn since(start_ns: u64, at_ns: u64) -> String {
    let us = (i128::from(at_ns) - i128::from(start_ns)) / NS_PER_US;
    let sign = if us < 0 { "-" } else { "" };
    let us = us.unsigned_abs();
    format!("{sign}{}.{:06}", us / US_PER_S, us % US_PER_S)
}

/// Puts a field in quotes if it contains separators, and doubles quotes in it. Names come from the record, which anybody may
/// have written, and the table may go to a terminal or to a spreadsheet.
fn quoted(text: &str) -> String {
    let text = visible(text);
    let text = report::csv::harmless(&text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::telemetry::Sample;

    fn record() -> TrialRecord {
        serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 3, "block": 2, "cell": 1, "contender": "a, \"b\"", "seed": 1,
            "outcome": { "outcome": "completed" }, "started": "2026-01-01T00:00:00Z", "phases": []
        }))
        .unwrap()
    }

    fn series() -> Series {
        let column =
            |name: &str, unit: &str, behaviour| Column { name: name.to_owned(), unit: unit.to_owned(), behaviour };
        Series {
            side: Side::Machine,
            probes: Vec::new(),
            columns: vec![
                column("cpu.user", "ticks", Behaviour::Counts),
                column("memory.free", "bytes", Behaviour::Stands),
            ],
            cost_ns: None,
            samples: vec![
                Sample { at_ns: 1_499_999_999, took_ns: 1, values: vec![Some(5), None] },
                Sample { at_ns: 12_500_000_000, took_ns: 1, values: vec![Some(u64::MAX), Some(7)] },
            ],
        }
    }

    fn written(start_ns: Option<u64>) -> String {
        let mut out = Vec::new();
        let source = LineSource { record: &record(), machine: 2, is_alone: false };
        let values = write_series(&mut out, &source, &series(), start_ns).unwrap();
        assert_eq!(values, 3);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_value_that_was_read_has_a_line() {
        insta::assert_snapshot!(written(Some(2_000_000_000)), @r#"
        3,2,"a, ""b""",1,2,machine,-0.500000,cpu.user,ticks,counts,5
        3,2,"a, ""b""",1,2,machine,10.500000,cpu.user,ticks,counts,18446744073709551615
        3,2,"a, ""b""",1,2,machine,10.500000,memory.free,bytes,stands,7
        "#);
    }

    #[test]
    fn what_has_no_window_has_no_moments() {
        assert!(written(None).starts_with("3,2,\"a, \"\"b\"\"\",1,2,machine,,cpu.user,ticks,counts,5\n"));
    }

    #[test]
    fn moments_are_told_to_the_microsecond() {
        for (at_ns, expected) in
            [(5_000, "0.000000"), (4_500, "0.000000"), (3_000, "-0.000002"), (1_000_006_999, "1.000001")]
        {
            assert_eq!(since(5_000, at_ns), expected, "{at_ns}");
        }
        assert_eq!(since(u64::MAX, 0), "-18446744073.709551");
    }
}
