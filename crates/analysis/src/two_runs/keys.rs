//! Keys of two tables that do not have the same value.

use crate::findings::Change;
use serde_json::{Map, Value};

/// What differs between two tables, by dotted keys below `path`.
pub fn differing(path: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<Change> {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let of_name = |name: &String| {
        let key = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (old.get(name), new.get(name)) {
            (Some(Value::Object(old)), Some(Value::Object(new))) => differing(&key, old, new),
            (old, new) if old == new => Vec::new(),
            (old, new) => {
                let [old, new] = [old, new].map(|value| value.map(Value::to_string));
                vec![Change { name: key, old, new }]
            }
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
        let change = |name: &str, old: Option<&str>, new: Option<&str>| {
            let [old, new] = [old, new].map(|value| value.map(str::to_owned));
            Change { name: name.to_owned(), old, new }
        };
        let expected = [
            change("workload.gone", Some("true"), None),
            change("workload.new", None, Some("\"x\"")),
            change("workload.scale", Some("1"), Some("2")),
        ];
        assert_eq!(found, expected);
        assert_eq!(found.iter().filter(|key| key.is_in_both()).count(), 1);
    }
}
