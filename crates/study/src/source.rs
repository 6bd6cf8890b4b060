//! Turns TOML text into values with their lines. This file knows no keys.

use crate::lines::LineStarts;
use crate::problems::{Flaw, below};
use crate::syntax;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// A value (or an empty table) and its line. Tables are taken apart: paths are dotted.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf {
    pub path: String,
    pub value: Value,
    pub line: usize,
}

/// A table of `[[contender]]` or `[[scenario]]`, taken apart; paths start inside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    pub line: usize,
    pub leaves: Vec<Leaf>,
}

/// The contents of a study file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// Everything except the fields below, in the order of the file.
    pub base: Vec<Leaf>,
    pub contenders: Vec<Section>,
    pub scenarios: Vec<Section>,
    /// Swept paths with their lists of values as written.
    pub sweep: Vec<Leaf>,
    pub ablation: Option<WrittenAblation>,
}

/// `[ablation]`, with its `[[ablation.change]]` tables apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrittenAblation {
    pub line: usize,
    pub leaves: Vec<Leaf>,
    pub changes: Vec<Section>,
}

/// Reads a study file as TOML. Mistakes in the TOML itself are reported alone, because any others follow from them.
pub fn read(text: &str) -> (Source, Vec<Flaw>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = LineStarts::of(text);
    if !errors.is_empty() {
        return (Source::default(), syntax::problems(text, &lines, &errors));
    }
    let mut reading = SourceReading { lines, problems: Vec::new() };
    let source = reading.source(table.get_ref());
    (source, reading.problems)
}

struct SourceReading {
    lines: LineStarts,
    problems: Vec<Flaw>,
}

impl SourceReading {
    fn source(&mut self, table: &DeTable<'_>) -> Source {
        let mut source = Source::default();
        for (key, value) in in_file_order(table) {
            let line = self.lines.at(key.span().start);
            match key.get_ref().as_ref() {
                "contender" => source.contenders = self.sections("contender", line, value.get_ref()),
                "scenario" => source.scenarios = self.sections("scenario", line, value.get_ref()),
                "ablation" => source.ablation = self.ablation(line, value.get_ref()),
                "sweep" => source.sweep = self.sweep(line, value.get_ref()),
                name => self.leaves(name.to_owned(), line, value.get_ref(), &mut source.base),
            }
        }
        self.once_each(&mut source.base);
        source
    }

    fn sections(&mut self, name: &str, line: usize, value: &DeValue<'_>) -> Vec<Section> {
        let mut sections = Vec::new();
        let DeValue::Array(elements) = value else {
            self.refuse(line, name, value, format!("tables that start with [[{name}]]"));
            return sections;
        };
        for element in elements {
            let line = self.lines.at(element.span().start);
            match element.get_ref() {
                DeValue::Table(table) => sections.push(Section { line, leaves: self.table(table) }),
                other => self.refuse(line, name, other, format!("tables that start with [[{name}]]")),
            }
        }
        sections
    }

    fn ablation(&mut self, line: usize, value: &DeValue<'_>) -> Option<WrittenAblation> {
        let DeValue::Table(table) = value else {
            self.refuse(line, "ablation", value, "a table with [[ablation.change]] tables");
            return None;
        };
        let mut written = WrittenAblation { line, ..WrittenAblation::default() };
        for (key, value) in in_file_order(table) {
            let line = self.lines.at(key.span().start);
            match key.get_ref().as_ref() {
                "change" => written.changes = self.sections("ablation.change", line, value.get_ref()),
                name => self.leaves(name.to_owned(), line, value.get_ref(), &mut written.leaves),
            }
        }
        self.once_each(&mut written.leaves);
        Some(written)
    }

    fn table(&mut self, table: &DeTable<'_>) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        for (key, value) in in_file_order(table) {
            let line = self.lines.at(key.span().start);
            self.leaves(key.get_ref().to_string(), line, value.get_ref(), &mut leaves);
        }
        self.once_each(&mut leaves);
        leaves
    }

    fn sweep(&mut self, line: usize, value: &DeValue<'_>) -> Vec<Leaf> {
        let DeValue::Table(table) = value else {
            self.refuse(line, "sweep", value, "a table of dotted keys with lists of values");
            return Vec::new();
        };
        self.table(table)
    }

    /// Takes `value` apart into `leaves`. An empty table is a leaf, because it is written although it has no keys.
    fn leaves(&mut self, path: String, line: usize, value: &DeValue<'_>, leaves: &mut Vec<Leaf>) {
        match value {
            DeValue::Table(table) if !table.is_empty() => {
                for (key, value) in in_file_order(table) {
                    let line = self.lines.at(key.span().start);
                    self.leaves(below(&path, key.get_ref()), line, value.get_ref(), leaves);
                }
            }
            other => {
                let value = self.value(line, &path, other);
                leaves.extend(value.map(|value| Leaf { path, value, line }));
            }
        }
    }

    fn value(&mut self, line: usize, path: &str, value: &DeValue<'_>) -> Option<Value> {
        let read = match value {
            DeValue::String(text) => Some(Value::from(text.as_ref())),
            DeValue::Boolean(boolean) => Some(Value::from(*boolean)),
            DeValue::Integer(integer) => whole_number(integer),
            DeValue::Float(float) => finite_number(float.as_str()),
            DeValue::Datetime(_) => None,
            DeValue::Array(elements) => {
                let read = |element: &Spanned<DeValue<'_>>| self.value(line, path, element.get_ref());
                return elements.iter().map(read).collect::<Option<Vec<_>>>().map(Value::Array);
            }
            DeValue::Table(table) => {
                let mut read = Map::new();
                for (key, value) in in_file_order(table) {
                    let name = key.get_ref().to_string();
                    let value = self.value(line, &below(path, &name), value.get_ref())?;
                    read.insert(name, value);
                }
                return Some(Value::Object(read));
            }
        };
        if read.is_none() {
            self.refuse(line, path, value, "text, a finite number, true or false, a list or a table");
        }
        read
    }

    fn refuse(&mut self, line: usize, path: &str, value: &DeValue<'_>, expected: impl Into<String>) {
        let found = match value {
            DeValue::Table(_) => "found a table".to_owned(),
            DeValue::Array(_) => "found a list".to_owned(),
            DeValue::Datetime(date) => format!("found the date {date}"),
            DeValue::Integer(number) if whole_number(number).is_none() => {
                format!("found {number}, which does not fit 64 bits")
            }
            DeValue::Integer(number) => format!("found {number}"),
            DeValue::Float(number) => format!("found {number}"),
            DeValue::String(text) => format!("found \"{}\"", text.escape_debug()),
            DeValue::Boolean(boolean) => format!("found {boolean}"),
        };
        self.problems.push(Flaw::new(Some(line), path, found, expected));
    }

    /// Quoted keys can name the same path twice where TOML itself sees two different keys.
    fn once_each(&mut self, leaves: &mut Vec<Leaf>) {
        let mut first = BTreeMap::new();
        leaves.retain(|leaf| match first.insert(leaf.path.clone(), leaf.line) {
            None => true,
            Some(line) => {
                let expected = format!("each key once; it is set in line {line} already");
                self.problems.push(Flaw::new(Some(leaf.line), &leaf.path, "set twice", expected));
                false
            }
        });
    }
}

fn whole_number(integer: &DeInteger<'_>) -> Option<Value> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Value::from)
}

fn finite_number(text: &str) -> Option<Value> {
    text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
}

type TableEntry<'a, 'i> = (&'a Spanned<toml::de::DeString<'i>>, &'a Spanned<DeValue<'i>>);

/// The parser sorts keys by name; a person reads them in the order of the file.
fn in_file_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<TableEntry<'a, 'i>> {
    let mut entries = table.iter().collect::<Vec<_>>();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
