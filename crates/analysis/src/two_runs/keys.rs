//! Keys of two tables that do not have the same value.

use serde_json::{Map, Value};

/// A key that has another value, with both; `None` where it is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    pub key: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

impl Differing {
    pub fn is_in_both(&self) -> bool {
        self.old.is_some() && self.new.is_some()
    }

    /// "workload.warehouses was 1 and is 2".
    pub fn in_words(&self) -> String {
        let Self { key, old, new } = self;
        match (old, new) {
            (Some(old), Some(new)) => format!("{key} was {old} and is {new}"),
            (Some(old), None) => format!("{key} was {old} and is not there"),
            (None, Some(new)) => format!("{key} was not there and is {new}"),
            (None, None) => key.clone(),
        }
    }
}

/// What differs between two tables, by dotted keys below `path`.
pub fn differing(path: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Differing> {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let of_name = |name: &String| {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (old.get(name), new.get(name)) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => differing(&key, old, new),
            (old, new) if old == new => Vec::new(),
            (old, new) => vec![Differing { key, old: old.cloned(), new: new.cloned() }],
        }
    };
    names.into_iter().flat_map(of_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_told_by_its_dotted_key() {
        let old = json!({ "workload": { "kind": "a", "scale": 1, "gone": true }, "load": { "clients": 2 } });
        let new = json!({ "workload": { "kind": "a", "scale": 2, "new": "x" }, "load": { "clients": 2 } });
        let found = differing("", old.as_object().unwrap(), new.as_object().unwrap());
        let words: Vec<String> = found.iter().map(Differing::in_words).collect();
        let expected = [
            "workload.gone was true and is not there",
            "workload.new was not there and is \"x\"",
            "workload.scale was 1 and is 2",
        ];
        assert_eq!(words, expected);
        assert_eq!(found.iter().filter(|key| key.is_in_both()).count(), 1);
    }
}
