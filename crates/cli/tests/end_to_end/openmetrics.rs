//! A strict reader of OpenMetrics text, written from the specification and not from what our code writes.
//!
//! It supports only the parts that a run uses; histograms, summaries, exemplars and timestamps are errors.

use std::collections::{BTreeMap, BTreeSet};

/// Name and sorted labels.
pub type Series = (String, BTreeMap<String, String>);

#[derive(Debug, Default)]
pub struct Exposition {
    pub kinds: BTreeMap<String, String>,
    pub values: BTreeMap<Series, f64>,
}

impl Exposition {
    /// Every sample of this name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a BTreeMap<String, String>, f64)> {
        self.values.iter().filter(move |((own, _), _)| own == name).map(|((_, labels), value)| (labels, *value))
    }

    pub fn counters(&self) -> impl Iterator<Item = (&Series, f64)> {
        let is_counter = |name: &str| {
            let family = name.strip_suffix("_total");
            family.is_some_and(|family| self.kinds.get(family).is_some_and(|kind| kind == "counter"))
        };
        self.values.iter().filter(move |((name, _), _)| is_counter(name)).map(|(series, value)| (series, *value))
    }
}

/// Reads a complete text, or says which line is wrong.
pub fn read(text: &str) -> Result<Exposition, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("it does not end in # EOF")?;
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(body.split_inclusive('\n')) {
        let taken = line.strip_suffix('\n').ok_or("no end of line".to_owned()).and_then(|line| reader.take(line));
        taken.map_err(|why| format!("line {number}, {line:?}: {why}"))?;
    }
    Ok(reader.read)
}

#[derive(Default)]
struct Reader {
    read: Exposition,
    family: String,
    families: BTreeSet<String>,
    described: BTreeSet<String>,
    has_samples: bool,
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<(), String> {
        match line.strip_prefix("# ") {
            Some(rest) => {
                let mut words = rest.splitn(3, ' ');
                let (Some(what), Some(family), Some(value)) = (words.next(), words.next(), words.next()) else {
                    return Err("a description has three parts".to_owned());
                };
                self.describe(what, family, value)
            }
            None => self.sample(line),
        }
    }

    fn describe(&mut self, what: &str, family: &str, value: &str) -> Result<(), String> {
        if family != self.family {
            is_name(family)?;
            expect(self.families.insert(family.to_owned()), "a family stands twice")?;
            (self.family, self.has_samples) = (family.to_owned(), false);
            self.described.clear();
        }
        expect(!self.has_samples, "a description after samples of its family")?;
        expect(self.described.insert(what.to_owned()), "it is described twice")?;
        match what {
            "TYPE" => {
                expect(["counter", "gauge", "info"].contains(&value), "an unknown type")?;
                self.read.kinds.insert(family.to_owned(), value.to_owned());
                Ok(())
            }
            "HELP" => unescaped(value).map(drop),
            "UNIT" => expect(family.ends_with(&format!("_{value}")), "the name does not end in the unit"),
            _ => Err("an unknown description".to_owned()),
        }
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let end = line.find(['{', ' ']).ok_or("no value")?;
        let (name, rest) = line.split_at(end);
        let (labels, rest) = rest.strip_prefix('{').map_or(Ok((BTreeMap::new(), rest)), labels)?;
        let number = rest.strip_prefix(' ').ok_or("no blank before the value")?;
        let value: f64 = number.parse().map_err(|_| "the value is no number")?;
        self.fits(name, value)?;
        self.has_samples = true;
        expect(self.read.values.insert((name.to_owned(), labels), value).is_none(), "a sample stands twice")
    }

    fn fits(&self, name: &str, value: f64) -> Result<(), String> {
        let suffix = name.strip_prefix(self.family.as_str()).ok_or("it is of another family than the one here")?;
        match (self.read.kinds.get(&self.family).map_or("", String::as_str), suffix) {
            ("counter", "_total") => expect(value.is_finite() && value >= 0.0, "a counter is a number from 0 on"),
            ("gauge", "") => Ok(()),
            ("info", "_info") => expect((value - 1.0).abs() < f64::EPSILON, "an info is 1"),
            (kind, suffix) => Err(format!("a {kind} has no samples with the suffix {suffix:?}")),
        }
    }
}

/// Parses labels after the opening bracket; returns them and what follows the closing bracket.
fn labels(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without value")?;
        is_name(name)?;
        expect(!name.contains(':'), "a label's name has no colon")?;
        let end = end_of_text(after).ok_or("a label's value does not end")?;
        let value = unescaped(&after[..end])?;
        expect(labels.insert(name.to_owned(), value).is_none(), "a label stands twice")?;
        rest = &after[end + 1..];
        if let Some(behind) = rest.strip_prefix('}') {
            return Ok((labels, behind));
        }
        rest = rest.strip_prefix(',').ok_or("no comma between labels")?;
    }
}

/// The first quote that is not escaped.
fn end_of_text(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(place, letter)| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(place)
    })
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let meant = match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some(letter @ ('\\' | '"')) => letter,
                other => return Err(format!("{other:?} is no escape")),
            },
            '"' => return Err("a quote that is not escaped".to_owned()),
            letter => letter,
        };
        plain.push(meant);
    }
    Ok(plain)
}

fn is_name(name: &str) -> Result<(), String> {
    let is_letter = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == ':';
    let first = name.starts_with(is_letter);
    let rest = name.chars().all(|letter| is_letter(letter) || letter.is_ascii_digit());
    expect(first && rest, "that is no name")
}

fn expect(is_so: bool, otherwise: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise.to_owned()) }
}

#[test]
fn the_reader_takes_what_is_right_and_nothing_else() {
    let right =
        "# TYPE a_s counter\n# UNIT a_s s\n# HELP a_s \\\"x\\\"\na_s_total{x=\"a\\\\\",y=\"\\n\\\"}\"} 1.5\n# EOF\n";
    let read_back = read(right).unwrap();
    assert_eq!(read_back.counters().count(), 1);
    assert_eq!(read_back.named("a_s_total").next().unwrap().0["y"], "\n\"}");
    for (from, to, why) in [
        ("# EOF\n", "", "# EOF"),
        ("_total{", "{", "suffix"),
        ("1.5\n", "1.5\na_s_total{y=\"\\n\\\"}\",x=\"a\\\\\"} 2\n", "twice"),
        ("UNIT a_s s", "UNIT a_s t", "unit"),
        ("1.5", "-1", "from 0 on"),
        ("1.5", "one", "no number"),
        ("1.5", "1.5 ", "no number"),
        ("x=\"a\\\\\",", "x=\"a\\\\\" ", "no comma"),
        ("y=\"", "x=\"", "twice"),
        ("a_s_total", "b_total", "another family"),
        ("\\n", "\\t", "no escape"),
        ("# HELP", "# HELLO", "unknown description"),
        ("1.5\n", "1.5\n# TYPE a_s gauge\n", "after samples"),
        ("1.5\n", "1.5\n# TYPE b gauge\nb 1\n# HELP a_s x\n", "twice"),
        ("1.5\n", "1.5\n\n", "no value"),
    ] {
        let wrong = right.replacen(from, to, 1);
        let told = read(&wrong).unwrap_err();
        assert!(told.contains(why), "{wrong}: {told}");
    }
}
