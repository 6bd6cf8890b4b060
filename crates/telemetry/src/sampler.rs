//! All probes of one side: opened once, then read as one sample, column by column.
//!
//! Columns are what the probes find when they are opened. An interface or device that appears later has no columns, and
//! one that disappears leaves its columns empty; neither is an error. Only the duration of a reading is timed here.

use crate::counter::Counter;
use crate::files::Files;
use crate::probes::{self, Opening, Read};
use crate::targets::Targets;
use crate::tree::Tree;
use record::looks::Reading;
use record::telemetry::{Column, Probe, Sample, Series, Side};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// A probe that asks a program, such as QEMU or a database, instead of reading files.
pub struct QueryProbe {
    /// The first part of its columns' names.
    pub name: String,
    /// What it asks, for readers of the record.
    pub source: String,
    /// Reads all its counters anew. It must return within a fraction of a second.
    pub ask: Box<dyn FnMut() -> Result<Vec<Counter>, String> + Send>,
}

/// Open probes.
pub struct Sampler {
    side: Side,
    files: Files,
    probes: Vec<Probe>,
    columns: Vec<Column>,
    readers: Vec<SampleReader>,
}

struct SampleReader {
    read: Read,
    is_costly: bool,
    /// Names of its columns, in their order.
    names: Vec<String>,
}

impl Sampler {
    /// Opens all probes of the system whose root folder is `root`, those of the targets, and those that ask programs.
    pub fn open(side: Side, root: &Path, targets: &Targets, queries: Vec<QueryProbe>) -> Self {
        let mut openings = probes::openings(&Tree::new(root), targets);
        openings.extend(queries.into_iter().map(from_query));
        let files = Files::new(root);
        let mut sampler = Self { side, files, probes: Vec::new(), columns: Vec::new(), readers: Vec::new() };
        for opening in openings {
            sampler.add(opening);
        }
        sampler
    }

    fn add(&mut self, opening: Opening) {
        let Opening { name, source, mut read, remedy, is_costly } = opening;
        let found = read(&mut self.files).and_then(|counters| self.new_columns(&counters));
        let columns = match found {
            Ok(columns) => {
                let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
                self.columns.extend(columns);
                self.readers.push(SampleReader { read, is_costly, names: names.clone() });
                Reading::Known(names)
            }
            Err(why) if remedy.is_empty() => Reading::Unavailable(why),
            Err(why) => Reading::Unavailable(format!("{why}; {remedy}")),
        };
        self.probes.push(Probe { name, source, columns });
    }

    /// A name may have one column only, so a probe that repeats a name is refused.
    fn new_columns(&self, counters: &[Counter]) -> Result<Vec<Column>, String> {
        if counters.is_empty() {
            return Err("nothing of it is counted here".to_owned());
        }
        let mut taken: BTreeSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        if let Some(twice) = counters.iter().find(|counter| !taken.insert(&counter.name)) {
            return Err(format!("there would be two columns named {}", twice.name));
        }
        Ok(counters.iter().map(Counter::column).collect())
    }

    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Reads everything except costly probes. `now_ns` is the side's monotonic clock at this moment.
    pub fn sample(&mut self, now_ns: u64) -> Sample {
        self.read(now_ns, false)
    }

    /// Reads everything, for the beginning and the end of sampling.
    pub fn sample_all(&mut self, now_ns: u64) -> Sample {
        self.read(now_ns, true)
    }

    fn read(&mut self, now_ns: u64, with_costly: bool) -> Sample {
        let begun = Instant::now();
        let mut values = Vec::with_capacity(self.columns.len());
        for reader in &mut self.readers {
            let is_read = with_costly || !reader.is_costly;
            let counters = if is_read { (reader.read)(&mut self.files).unwrap_or_default() } else { Vec::new() };
            line_up(&reader.names, &counters, &mut values);
        }
        let took_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Sample { at_ns: now_ns.saturating_add(took_ns / 2), took_ns, values }
    }

    /// The open probes and their columns, with these samples.
    pub fn series(&self, samples: Vec<Sample>) -> Series {
        let (probes, columns) = (self.probes.clone(), self.columns.clone());
        Series { side: self.side, probes, columns, cost_ns: None, samples }
    }
}

fn from_query(query: QueryProbe) -> Opening {
    let QueryProbe { name, source, mut ask } = query;
    Opening { name, source, read: Box::new(move |_| ask()), remedy: "", is_costly: false }
}

/// Adds one value for each name. Usually a probe finds the same names again, in the same order.
fn line_up(names: &[String], counters: &[Counter], values: &mut Vec<Option<u64>>) {
    for (place, name) in names.iter().enumerate() {
        let here = counters.get(place).filter(|counter| counter.name == *name);
        let found = here.or_else(|| counters.iter().find(|counter| counter.name == *name));
        values.push(found.map(|counter| counter.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(name: &str, counters: impl FnMut() -> Result<Vec<Counter>, String> + Send + 'static) -> QueryProbe {
        QueryProbe { name: name.to_owned(), source: "a test".to_owned(), ask: Box::new(counters) }
    }

    fn open(queries: Vec<QueryProbe>) -> Sampler {
        Sampler::open(Side::Host, Path::new("/nonexistent"), &Targets::default(), queries)
    }

    #[test]
    fn what_goes_away_leaves_its_column_empty() {
        let mut round = 0;
        let mut sampler = open(vec![counting("a", move || {
            round += 1;
            match round {
                1 => Ok(vec![Counter::counts("a.x", "", 1), Counter::stands("a.y", "", 2)]),
                2 => Ok(vec![Counter::stands("a.y", "", 5), Counter::stands("a.new", "", 6)]),
                _ => Err("gone".to_owned()),
            }
        })]);
        assert_eq!(sampler.columns().len(), 2);
        assert_eq!(sampler.sample(100).values, [None, Some(5)]);
        assert_eq!(sampler.sample(200).values, [None, None]);
    }

    #[test]
    fn probes_that_find_nothing_say_why_and_what_would_help() {
        let sampler = open(vec![counting("empty", || Ok(Vec::new()))]);
        assert!(sampler.columns().is_empty());
        let why = |name: &str| sampler.probes().iter().find(|probe| probe.name == name).unwrap().columns.why_not();
        assert_eq!(why("empty"), Some("nothing of it is counted here"));
        assert_eq!(
            why("run_queue"),
            Some(
                "/proc/schedstat does not exist; a kernel built with CONFIG_SCHEDSTATS has it; \
                 single threads are asked without it"
            )
        );
        assert!(sampler.probes().iter().all(|probe| probe.columns.known().is_none()));
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let one = || counting("a", || Ok(vec![Counter::counts("a.x", "", 1)]));
        let sampler = open(vec![one(), one()]);
        assert_eq!(sampler.columns().len(), 1);
        assert_eq!(sampler.probes().last().unwrap().columns.why_not(), Some("there would be two columns named a.x"));
    }

    #[test]
    fn a_sample_lies_half_way_through_its_reading() {
        let sample = open(Vec::new()).sample(1_000_000);
        assert_eq!(sample.at_ns, 1_000_000 + sample.took_ns / 2);
    }
}
