//! Files that a table names. Their texts replace their paths, so a decided table no longer depends on any file.

use crate::{Holds, Key, Problem};
use serde_json::{Map, Value, json};

const MOST_WEIGHT: u64 = 1_000_000;

/// Returns the table with the texts of all files that it names. `read` returns the text of a path, or why it cannot be read.
pub fn with_texts(
    table: &Map<String, Value>,
    keys: &[Key],
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Map<String, Value>, Vec<Problem>> {
    let (mut table, mut problems) = (table.clone(), Vec::new());
    for key in keys {
        let (Holds::Files { weighted }, Some(value)) = (key.holds, table.get_mut(key.name)) else { continue };
        let written = match &mut *value {
            Value::Array(files) => std::mem::take(files),
            one => vec![one.take()],
        };
        let files = written.into_iter().map(|file| match file {
            Value::String(path) => taken_in(&path, weighted, read).unwrap_or_else(|(found, expected)| {
                problems.push(Problem::new(key.name, found, expected));
                Value::Null
            }),
            other => other,
        });
        *value = files.collect();
    }
    if problems.is_empty() { Ok(table) } else { Err(problems) }
}

fn taken_in(
    written: &str,
    weighted: bool,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Value, (String, String)> {
    let found = || format!("found {written:?}");
    let (path, weight) = match written.rsplit_once('@').filter(|_| weighted) {
        Some((path, weight)) => {
            let weight = weight.parse().ok().filter(|weight| (1..=MOST_WEIGHT).contains(weight));
            (path, weight.ok_or_else(|| (found(), format!("a weight from 1 to {MOST_WEIGHT} after @")))?)
        }
        None => (written, 1),
    };
    let text = read(path).map_err(|why| (found(), format!("a file that can be read ({path}: {why})")))?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Ok(if weighted {
        json!({ "name": name, "weight": weight, "text": text })
    } else {
        json!({ "name": name, "text": text })
    })
}

/// Checks and normalises a list of files that were read; `None` if it is not one.
pub(crate) fn normalised(value: &Value, weighted: bool) -> Option<Value> {
    let files = value.as_array().filter(|files| !files.is_empty())?;
    files.iter().map(|file| one(file.as_object()?, weighted)).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn one(file: &Map<String, Value>, weighted: bool) -> Option<Value> {
    let known = ["name", "text", "weight"];
    let known = if weighted { &known[..] } else { &known[..2] };
    let name = file.get("name")?.as_str().filter(|name| !name.is_empty())?;
    let text = file.get("text")?.as_str()?;
    if file.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let weight = file.get("weight").map_or(Some(1), Value::as_u64);
    let weight = weight.filter(|weight| (1..=MOST_WEIGHT).contains(weight))?;
    Some(if weighted {
        json!({ "name": name, "weight": weight, "text": text })
    } else {
        json!({ "name": name, "text": text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, keys};

    const KEYS: &[Key] = keys! {
        scripts, Holds::Files { weighted: true }, "what is done";
        checks = "", Holds::Files { weighted: false }, "what must hold";
    };

    fn decided(table: &Value) -> Result<Map<String, Value>, String> {
        let read =
            |path: &str| if path.contains("gone") { Err("no such file".to_owned()) } else { Ok(format!("of {path}")) };
        let table = with_texts(table.as_object().unwrap(), KEYS, &read);
        table.and_then(|table| check(&table, KEYS)).map_err(|problems| problems[0].to_string())
    }

    #[test]
    fn paths_become_texts_and_texts_stay() {
        let found = decided(&json!({ "scripts": ["a/x.sql@3", "y.sql"], "checks": "c.sql" })).unwrap();
        let expected = json!({
            "scripts": [
                { "name": "x.sql", "weight": 3, "text": "of a/x.sql" },
                { "name": "y.sql", "weight": 1, "text": "of y.sql" },
            ],
            "checks": [{ "name": "c.sql", "text": "of c.sql" }],
        });
        assert_eq!(Value::Object(found.clone()), expected);
        assert_eq!(decided(&expected), Ok(found));
    }

    #[test]
    fn what_is_no_file_is_told() {
        for (scripts, told) in [
            (
                json!("gone.sql"),
                "scripts: found \"gone.sql\"; expected a file that can be read (gone.sql: no such file)",
            ),
            (json!(["x.sql@0"]), "scripts: found \"x.sql@0\"; expected a weight from 1 to 1000000 after @"),
            (json!([]), "scripts: found a list; expected SQL files with their weights, such as"),
            (json!([{ "name": "x" }]), "scripts: found a list; expected SQL files"),
            (json!(7), "scripts: found a list; expected SQL files"),
        ] {
            let problem = decided(&json!({ "scripts": scripts })).unwrap_err();
            assert!(problem.starts_with(told), "{problem}");
        }
    }
}
