//! Every number on the page is in report.json, either as it is or before it was rounded and converted to the unit shown.

use serde_json::Value;
use std::collections::BTreeSet;

/// Factors from the record to what is shown: per cent, milliseconds, kB, MB, KiB, MiB, GiB, GHz, seconds, minutes.
const SCALES: [f64; 8] =
    [1.0, 100.0, 1e-3, 1e-6, 1.0 / 1024.0, 1.0 / 1_048_576.0, 1.0 / 1_073_741_824.0, 1.0 / 60_000.0];

#[derive(Default)]
struct Known {
    /// Numbers within texts.
    words: BTreeSet<String>,
    numbers: Vec<f64>,
}

impl Known {
    fn of(json: &Value) -> Self {
        let mut known = Self::default();
        known.add(json);
        // Changes are shown for ratios, and below one half "1/46.3".
        let changes: Vec<f64> = known.numbers.iter().map(|number| number - 1.0).collect();
        let parts = known.numbers.iter().filter(|number| (f64::MIN_POSITIVE..0.5).contains(*number));
        let parts: Vec<f64> = parts.map(|number| 1.0 / number).collect();
        known.numbers.extend(changes.into_iter().chain(parts));
        known.numbers.sort_by(f64::total_cmp);
        known
    }

    fn add(&mut self, json: &Value) {
        match json {
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::String(text) => self.words.extend(numbers(text)),
            Value::Array(list) => {
                self.numbers.push(list.len() as f64);
                for value in list {
                    self.add(value);
                }
            }
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                self.words.extend(numbers(key));
                self.add(value);
            }),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn has(&self, shown: &str) -> bool {
        let plain = shown.replace(',', "");
        let value: f64 = plain.parse().expect("a number");
        let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // Trailing zeros of a whole number may stand for digits that are not shown.
        let idle = if decimals == 0 { plain.len() - plain.trim_end_matches('0').len() } else { 0 };
        let half = 0.5 * 10_f64.powf(idle as f64 - decimals as f64);
        let near = |scale: f64| {
            let (low, high) = ((value - half * 1.000_1) / scale, (value + half * 1.000_1) / scale);
            let from = self.numbers.partition_point(|number| *number < low);
            let below = self.numbers.partition_point(|number| *number < -high);
            self.numbers.get(from).is_some_and(|number| *number <= high)
                || self.numbers.get(below).is_some_and(|number| *number <= -low)
        };
        self.words.contains(shown) || SCALES.into_iter().any(near)
    }
}

/// Numbers in a text, as they are written there.
fn numbers(text: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == ',';
    let parts = text.split(|letter| !is_part(letter)).map(|part| part.trim_matches(['.', ',']));
    parts
        .filter(|part| part.parse::<f64>().is_ok() || part.replace(',', "").parse::<f64>().is_ok())
        .map(str::to_owned)
        .collect()
}

/// What a reader sees on a page: not its style or script, and not the attributes of its elements.
fn texts(html: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = html;
    while let Some((text, tag)) = rest.split_once('<') {
        texts.push(text.replace('\u{a0}', " "));
        let skipped = ["style", "script", "desc"].into_iter().find(|name| tag.starts_with(name));
        rest = match skipped {
            Some(name) => tag.split_once(&format!("</{name}>")).map_or("", |(_, rest)| rest),
            None => tag.split_once('>').map_or("", |(_, rest)| rest),
        };
    }
    texts
}

pub fn every_number_on_the_page_is_in_the_json(name: &str, html: &str, json: &Value) {
    let known = Known::of(json);
    let shown: BTreeSet<String> = texts(html).iter().flat_map(|text| numbers(text)).collect();
    assert!(shown.len() > 100, "{name}: {shown:?}");
    let missing: Vec<&String> = shown.iter().filter(|number| !known.has(number)).collect();
    assert_eq!(missing, Vec::<&String>::new(), "{name}");
    assert!(!known.has("48,151.62342"), "{name}: a number that nobody wrote");
}
