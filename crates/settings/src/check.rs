//! Checks a table against its keys.

use crate::units::{Bytes, Rate, Share, TimeSpan, parse_rate, parse_share, parse_size, parse_span};
use crate::{Holds, Key, Problem, files};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Where a table comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Checked before: spans are whole numbers of milliseconds, rates are numbers per second, shares are parts of one.
    Normalised,
    /// Written by a person: a span, rate or share without a unit would be ambiguous.
    Written,
}

/// Checks `table`, fills in defaults and normalises units. All problems are reported, not only the first.
///
/// The result holds the keys in the order of `keys`; checking it again changes nothing.
pub fn check(table: &Map<String, Value>, keys: &[Key]) -> Result<Map<String, Value>, Vec<Problem>> {
    check_from(Origin::Normalised, table, keys)
}

/// [`check`] for a table that a person wrote: a span, rate or share needs its unit there.
pub fn check_written(table: &Map<String, Value>, keys: &[Key]) -> Result<Map<String, Value>, Vec<Problem>> {
    check_from(Origin::Written, table, keys)
}

/// Checks like [`check`] and converts the result into the entry's own type.
pub fn read<T: DeserializeOwned>(table: &Map<String, Value>, keys: &[Key]) -> Result<T, Vec<Problem>> {
    let checked = check(table, keys)?;
    serde_json::from_value(Value::Object(checked)).map_err(|error| vec![Problem::new("", error.to_string(), "")])
}

/// The entry with each key at its default. So every key of such an entry must have a default that its type takes.
pub fn defaults<T: DeserializeOwned>(keys: &[Key]) -> T {
    match read(&Map::new(), keys) {
        Ok(entry) => entry,
        Err(problems) => unreachable!("defaults of keys do not make their entry: {problems:?}"),
    }
}

/// The known word that `word` most probably means, if one is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// One letter in three may be wrong; with more mistakes it is another word.
    const LETTERS_PER_MISTAKE: usize = 3;
    let allowed = (word.chars().count() / LETTERS_PER_MISTAKE).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn check_from(origin: Origin, table: &Map<String, Value>, keys: &[Key]) -> Result<Map<String, Value>, Vec<Problem>> {
    let mut checking = Checking { origin, problems: Vec::new() };
    let checked = checking.table("", table, keys);
    if checking.problems.is_empty() { Ok(checked) } else { Err(checking.problems) }
}

struct Checking {
    origin: Origin,
    problems: Vec<Problem>,
}

impl Checking {
    fn table(&mut self, path: &str, table: &Map<String, Value>, keys: &[Key]) -> Map<String, Value> {
        let mut misspelt = Vec::new();
        for name in table.keys().filter(|name| keys.iter().all(|key| key.name != **name)) {
            misspelt.extend(self.unknown(&below(path, name), name, keys));
        }
        let mut checked = Map::new();
        for key in keys {
            let path = below(path, key.name);
            let value = match (table.get(key.name), key.default) {
                (Some(value), _) => self.value(&path, value, key.holds),
                (None, Some("")) => None,
                (None, Some(text)) => self.value(&path, &default_value(text, key.holds), key.holds),
                // The misspelt key is already reported.
                (None, None) if misspelt.contains(&key.name) => None,
                (None, None) => self.refuse(&path, "missing".to_owned(), key.holds),
            };
            checked.extend(value.map(|value| (key.name.to_owned(), value)));
        }
        checked
    }

    fn value(&mut self, path: &str, value: &Value, holds: Holds) -> Option<Value> {
        if let (Holds::Table(keys), Value::Object(table)) = (holds, value) {
            return Some(Value::Object(self.table(path, table, keys)));
        }
        match normalised(value, holds, self.origin) {
            Some(value) => Some(value),
            None => self.refuse(path, format!("found {}", shown(value)), holds),
        }
    }

    /// Reports an unknown key; returns the key that was probably meant.
    fn unknown(&mut self, path: &str, name: &str, keys: &[Key]) -> Option<&'static str> {
        let known = keys.iter().map(|key| key.name);
        let expected = match keys {
            [] => "no keys here".to_owned(),
            [only] => only.name.to_owned(),
            _ => format!("one of {}", known.clone().collect::<Vec<_>>().join(", ")),
        };
        let meant = nearest(name, known);
        let nearest = meant.map(str::to_owned);
        self.problems.push(Problem { path: path.to_owned(), found: "unknown key".to_owned(), expected, nearest });
        meant
    }

    fn refuse(&mut self, path: &str, found: String, holds: Holds) -> Option<Value> {
        let word = found.strip_prefix("found \"").and_then(|rest| rest.strip_suffix('"'));
        let words: &[&str] = match holds {
            Holds::Choice(words) | Holds::IntegerOr { words, .. } => words,
            _ => &[],
        };
        let nearest = word.and_then(|word| nearest(word, words.iter().copied())).map(str::to_owned);
        self.problems.push(Problem { path: path.to_owned(), found, expected: holds.to_string(), nearest });
        None
    }
}

/// `value` in its normal form; `None` if the key cannot hold it.
fn normalised(value: &Value, holds: Holds, origin: Origin) -> Option<Value> {
    match holds {
        Holds::Boolean => value.as_bool().map(Value::from),
        Holds::Integer { min, max } => integer_within(value, min, max),
        Holds::Number { min, max } => value.as_f64().filter(|number| (min..=max).contains(number)).map(Value::from),
        Holds::Text => value.as_str().map(Value::from),
        Holds::Words => value.as_array().filter(|words| words.iter().all(Value::is_string)).map(|_| value.clone()),
        Holds::Choice(words) => one_of(value, words),
        Holds::Size { min, max } => {
            let Bytes(bytes) = value.as_u64().map(Bytes).or_else(|| parse_size(value.as_str()?))?;
            (min..=max).contains(&bytes).then(|| Value::from(bytes))
        }
        Holds::Span { min_ms, max_ms } => {
            let plain = value.as_u64().filter(|_| origin == Origin::Normalised).map(TimeSpan);
            let TimeSpan(milliseconds) = plain.or_else(|| parse_span(value.as_str()?))?;
            (min_ms..=max_ms).contains(&milliseconds).then(|| Value::from(milliseconds))
        }
        Holds::Count { min, max, each_bytes } => {
            let count = value.as_u64().or_else(|| as_many_as_fit(value.as_str()?, each_bytes))?;
            (min..=max).contains(&count).then(|| Value::from(count))
        }
        Holds::Rate { min_per_s, max_per_s } => {
            let plain = value.as_f64().filter(|_| origin == Origin::Normalised).map(Rate);
            let Rate(per_s) = plain.or_else(|| parse_rate(value.as_str()?))?;
            (min_per_s..=max_per_s).contains(&per_s).then(|| Value::from(per_s))
        }
        Holds::Share { min, max } => {
            let plain = value.as_f64().filter(|_| origin == Origin::Normalised).map(Share);
            let Share(share) = plain.or_else(|| parse_share(value.as_str()?))?;
            (min..=max).contains(&share).then(|| Value::from(share))
        }
        Holds::Table(_) => None,
        Holds::Entry => value.is_object().then(|| value.clone()),
        Holds::Files { weighted } => files::normalised(value, weighted),
        Holds::IntegerOr { min, max, words } => integer_within(value, min, max).or_else(|| one_of(value, words)),
    }
}

/// How many fit the given size. A number without a unit is the count itself.
fn as_many_as_fit(size: &str, each_bytes: u64) -> Option<u64> {
    size.parse().ok().or_else(|| parse_size(size).map(|Bytes(bytes)| bytes / each_bytes))
}

fn integer_within(value: &Value, min: i64, max: i64) -> Option<Value> {
    value.as_i64().filter(|number| (min..=max).contains(number)).map(Value::from)
}

fn one_of(value: &Value, words: &[&str]) -> Option<Value> {
    value.as_str().filter(|word| words.contains(word)).map(Value::from)
}

/// A default, written as in a study file. Quotes around text may be left out.
fn default_value(text: &str, holds: Holds) -> Value {
    let plain = || Value::from(text.trim_matches('"'));
    match holds {
        Holds::Text | Holds::Choice(_) | Holds::Span { .. } | Holds::Rate { .. } | Holds::Share { .. } => plain(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| plain()),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// The value that was found, short enough for a line.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 60;
    match value {
        Value::Object(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Null => "nothing".to_owned(),
        Value::String(text) if text.chars().count() > LONGEST => {
            format!("\"{}…\"", text.chars().take(LONGEST).collect::<String>().escape_debug())
        }
        Value::String(text) => format!("\"{}\"", text.escape_debug()),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests;
