//! The one mechanism by which a cell differs from the base: paths that get another value.
//!
//! A contender's keys, a scenario's `set` and swept values are all overrides. Tables merge; any other value is replaced.

use crate::keys::PACINGS;
use crate::problems::below;
use crate::source::Leaf;
use record::settings::at;
use record::settings::key::KIND;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The table whose keys make work due.
const LOAD: &str = "load";

/// The tables of one cell as written, and the line where each path was last written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tables {
    values: Map<String, Value>,
    lines: BTreeMap<String, usize>,
}

impl Tables {
    pub fn new(leaves: &[Leaf]) -> Self {
        let mut tables = Self::default();
        tables.lay_over(leaves);
        tables
    }

    /// Lays one set of overrides over the current tables. Kinds come first, wherever they are written in the set. A
    /// table of another kind starts empty, because the old kind's keys mean nothing to it.
    pub fn lay_over(&mut self, overrides: &[Leaf]) {
        let is_kind = |leaf: &&Leaf| leaf.path.strip_suffix(KIND).is_some_and(|rest| rest.ends_with('.'));
        for leaf in overrides.iter().filter(is_kind) {
            self.forget_other_kind(leaf);
        }
        let sets_pacing = |leaf: &&Leaf| PACINGS.iter().any(|name| leaf.path == below(LOAD, name));
        if let Some(leaf) = overrides.iter().find(sets_pacing) {
            self.forget_other_pacing(&leaf.path);
        }
        for leaf in overrides {
            self.lines.insert(leaf.path.clone(), leaf.line);
            set(&mut self.values, &leaf.path, &leaf.value);
        }
    }

    pub fn get(&self, path: &str) -> Option<&Value> {
        at(&self.values, path)
    }

    /// The line of `path`, or of the nearest written table around it.
    pub fn line(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            if let Some(line) = self.first_line_inside(path) {
                return Some(line);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    fn first_line_inside(&self, path: &str) -> Option<usize> {
        let inside = below(path, "");
        self.lines.iter().filter(|(other, _)| is_inside(other, &inside)).map(|(_, line)| *line).min()
    }

    /// Work is made due in one way only. So an override with another way replaces the old way and its companion keys.
    fn forget_other_pacing(&mut self, path: &str) {
        if self.get(path).is_some() {
            return;
        }
        let Some(Value::Object(load)) = self.values.get_mut(LOAD) else { return };
        for name in PACINGS.into_iter().chain(["process", "sessions", "peak"]) {
            load.remove(name);
            let gone = below(LOAD, name);
            self.lines.retain(|path, _| *path != gone && !is_inside(path, &gone));
        }
    }

    fn forget_other_kind(&mut self, leaf: &Leaf) {
        let Some(table) = leaf.path.strip_suffix(KIND).and_then(|rest| rest.strip_suffix('.')) else { return };
        if self.get(&leaf.path).is_none_or(|kind| *kind == leaf.value) {
            return;
        }
        set(&mut self.values, table, &Value::Null);
        set(&mut self.values, table, &Value::Object(Map::new()));
        self.lines.retain(|path, _| !is_inside(path, table));
    }
}

/// True if `path` is below `table`.
pub fn is_inside(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

/// True if setting one of two paths would change the value of the other.
pub fn overlap(one: &str, other: &str) -> bool {
    one == other || is_inside(one, other) || is_inside(other, one)
}

/// Sets a dotted path. Nothing is set below a value that is no table; the check of that value reports it.
fn set(values: &mut Map<String, Value>, path: &str, value: &Value) {
    let Some((first, rest)) = path.split_once('.') else {
        merge(values, path, value);
        return;
    };
    let table = values.entry(first).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(table) = table {
        set(table, rest, value);
    }
}

fn merge(values: &mut Map<String, Value>, name: &str, value: &Value) {
    match (values.get_mut(name), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (name, value) in new {
                merge(old, name, value);
            }
        }
        _ => {
            values.insert(name.to_owned(), value.clone());
        }
    }
}
