//! `intervals.hlog`: the measured series as an `HdrHistogram` log.
//!
//! The file is the public text format (version 1.3 of the log, compressed V2 histograms), so that `HistogramLogProcessor`,
//! `HistogramLogAnalyzer` and every port of the library read it: one line for each second, kind and span, tagged
//! `new-order.response` or `new-order.service`, values in microseconds. What that format has no place for (seconds in
//! which nothing finished, whether a second counts, the order of the kinds) stands in comment lines, which other
//! tools pass over.

use crate::intervals::{Interval, KindInterval, LATENCY_MAX_US, Measured, SIGNIFICANT_DIGITS, Span};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use std::time::Duration;

const VERSION: &str = "[Histogram log format version 1.3]";
const KINDS: &str = "[Kinds: ";
const SECOND: &str = "[Second: ";

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("`{tag}` cannot be a tag of an HdrHistogram log: it has a comma, a blank or a line break")]
    Tag { tag: String },
    #[error("{value_us} µs cannot be recorded: it is above {LATENCY_MAX_US} µs")]
    TooLong { value_us: u64 },
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    #[error("writing a histogram: {0}")]
    Write(String),
}

/// The series as the text of a log file.
pub fn write(measured: &Measured) -> Result<Vec<u8>, LogError> {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let failed = |error: &dyn std::fmt::Display| LogError::Write(error.to_string());
    let mut header = IntervalLogWriterBuilder::new();
    header.add_comment(VERSION).add_comment(&format!("{KINDS}{}]", measured.kinds.join(",")));
    header.add_comment("Values are microseconds; timestamps are seconds since the driver started.");
    let mut writer = header.begin_log_with(&mut log, &mut serializer).map_err(|error| failed(&error))?;
    for interval in &measured.intervals {
        let window = if interval.measured { "measured" } else { "warm-up" };
        let second = format!("{SECOND}{} {} {window}]", interval.start_ms, interval.length_ms);
        writer.write_comment(&second).map_err(|error| failed(&error))?;
        let (start, length) = (Duration::from_millis(interval.start_ms), Duration::from_millis(interval.length_ms));
        for part in &interval.kinds {
            let text = tag_of(measured, part)?;
            let tag = Tag::new(&text).ok_or_else(|| LogError::Tag { tag: text.clone() })?;
            let histogram = dense(&part.counts)?;
            writer.write_histogram(&histogram, start, length, Some(tag)).map_err(|error| failed(&error))?;
        }
    }
    Ok(log)
}

/// The series from the text of a log file that [`write`] made.
pub fn read(log: &[u8]) -> Result<Measured, LogError> {
    let text = std::str::from_utf8(log)
        .map_err(|error| LogError::Line { line: 0, why: format!("not UTF-8 text: {error}") })?;
    let mut measured = Measured::default();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        read_line(line, &mut measured).map_err(|why| LogError::Line { line: index + 1, why })?;
    }
    Ok(measured)
}

fn read_line(line: &str, measured: &mut Measured) -> Result<(), String> {
    if let Some(comment) = line.strip_prefix('#') {
        let comment = comment.trim_end();
        if let Some(kinds) = between(comment, KINDS) {
            measured.kinds = kinds.split(',').filter(|kind| !kind.is_empty()).map(str::to_owned).collect();
        } else if let Some(second) = between(comment, SECOND) {
            measured.intervals.push(read_second(second)?);
        }
        return Ok(());
    }
    if !line.ends_with('\n') {
        return Err("the file was cut short".to_owned());
    }
    for entry in IntervalLogIterator::new(line.as_bytes()) {
        match entry {
            Ok(LogEntry::Interval(entry)) => {
                let part = read_histogram(&entry, &measured.kinds)?;
                measured.intervals.last_mut().ok_or("a histogram before its second")?.kinds.push(part);
            }
            Ok(_) => {}
            Err(_) => return Err("not a line of an HdrHistogram log".to_owned()),
        }
    }
    Ok(())
}

fn between<'a>(comment: &'a str, opening: &str) -> Option<&'a str> {
    comment.strip_prefix(opening)?.strip_suffix(']')
}

fn read_second(second: &str) -> Result<Interval, String> {
    let words: Vec<&str> = second.split(' ').collect();
    let [start, length, window] = words[..] else {
        return Err(format!("`{second}` is not a start, a length and a window"));
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| format!("`{word}` is not a number of milliseconds"));
    let measured = match window {
        "measured" => true,
        "warm-up" => false,
        other => return Err(format!("`{other}` is neither measured nor warm-up")),
    };
    Ok(Interval { start_ms: number(start)?, length_ms: number(length)?, measured, kinds: Vec::new() })
}

fn read_histogram(entry: &IntervalLogHistogram<'_>, kinds: &[String]) -> Result<KindInterval, String> {
    let tag = entry.tag().map_or("", |tag| tag.as_str());
    let (kind, span) = tag.rsplit_once('.').ok_or_else(|| format!("the tag `{tag}` names no kind and span"))?;
    let span = match span {
        "response" => Span::Response,
        "service" => Span::Service,
        other => return Err(format!("the tag `{tag}` names an unknown span `{other}`")),
    };
    let kind = kinds.iter().position(|known| known == kind).ok_or_else(|| format!("unknown kind `{kind}`"))?;
    let kind = u16::try_from(kind).map_err(|_| "too many kinds".to_owned())?;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(entry.encoded_histogram())
        .map_err(|error| format!("histogram of `{tag}`: {error}"))?;
    let histogram: Histogram<u64> =
        Deserializer::new().deserialize(&mut &bytes[..]).map_err(|error| format!("histogram of `{tag}`: {error}"))?;
    Ok(KindInterval { kind, span, counts: sparse(&histogram)? })
}

fn tag_of(measured: &Measured, part: &KindInterval) -> Result<String, LogError> {
    let span = match part.span {
        Span::Response => "response",
        Span::Service => "service",
    };
    let kind = measured.kinds.get(usize::from(part.kind));
    let kind = kind.ok_or_else(|| LogError::Tag { tag: format!("kind number {}", part.kind) })?;
    Ok(format!("{kind}.{span}"))
}

/// The histogram whose counts these are, on the grid of every histogram of ours.
fn dense(counts: &[(u64, u32)]) -> Result<Histogram<u64>, LogError> {
    let mut histogram = Histogram::new_with_bounds(1, LATENCY_MAX_US, SIGNIFICANT_DIGITS)
        .map_err(|error| LogError::Write(error.to_string()))?;
    for &(value_us, count) in counts {
        histogram.record_n(value_us, u64::from(count)).map_err(|_| LogError::TooLong { value_us })?;
    }
    Ok(histogram)
}

/// Pairs (highest equivalent value in µs, count) of a histogram, only non-zero counts, ascending.
pub fn sparse(histogram: &Histogram<u64>) -> Result<Vec<(u64, u32)>, String> {
    histogram
        .iter_recorded()
        .map(|step| {
            let value = histogram.highest_equivalent(step.value_iterated_to());
            let count = u32::try_from(step.count_at_value());
            count.map(|count| (value, count)).map_err(|_| format!("more than {} of {value} µs in a second", u32::MAX))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    fn kinds() -> Vec<String> {
        ["new-order", "payment"].map(str::to_owned).to_vec()
    }

    fn on_grid(counts: &std::collections::BTreeMap<u64, u32>) -> Vec<(u64, u32)> {
        sparse(&dense(&counts.iter().map(|(&value, &count)| (value, count)).collect::<Vec<_>>()).unwrap()).unwrap()
    }

    fn series() -> impl Strategy<Value = Measured> {
        let counts = btree_map(1..LATENCY_MAX_US, 1..9_u32, 1..40);
        let part = (0..2_u16, prop_oneof![Just(Span::Response), Just(Span::Service)], counts)
            .prop_map(|(kind, span, counts)| KindInterval { kind, span, counts: on_grid(&counts) });
        let second = (any::<bool>(), vec(part, 0..4));
        vec(second, 0..6).prop_map(|seconds| {
            let seconds = (0_u64..).zip(seconds);
            let intervals = seconds.map(|(index, (measured, kinds))| Interval {
                start_ms: index * 1000,
                length_ms: 1000,
                measured,
                kinds,
            });
            Measured { kinds: kinds(), intervals: intervals.collect() }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn what_is_written_is_read_back(measured in series()) {
            let log = write(&measured).unwrap();
            prop_assert_eq!(read(&log).unwrap(), measured);
        }

        #[test]
        fn a_file_cut_anywhere_is_never_read_as_something_else(measured in series(), share in 0.0..1.0_f64) {
            let log = write(&measured).unwrap();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let cut = (log.len() as f64 * share) as usize;
            // Cut between lines it is a shorter series; cut inside a line it is refused or the torn comment is ignored.
            if let Ok(shorter) = read(&log[..cut]) {
                prop_assert!(shorter.intervals.len() <= measured.intervals.len());
                for (mine, whole) in shorter.intervals.iter().zip(&measured.intervals) {
                    prop_assert_eq!(mine.start_ms, whole.start_ms);
                    prop_assert!(whole.kinds.starts_with(&mine.kinds));
                }
            }
        }
    }

    /// Written by `write` and read by another implementation of the format, Python's `hdrhistogram` 0.10.8:
    /// `HistogramLogReader(path, HdrHistogram(1, 3_600_000_000, 3)).get_next_interval_histogram()` gave tag
    /// `new-order.response`, 12 values, maximum 2,001,919 and a median of 1000 for this file.
    #[test]
    fn the_text_is_the_public_format() {
        let counts = vec![(1000, 10), (2_001_919, 2)];
        let part = KindInterval { kind: 0, span: Span::Response, counts };
        let second = Interval { start_ms: 3000, length_ms: 1000, measured: true, kinds: vec![part] };
        let measured = Measured { kinds: kinds(), intervals: vec![second] };
        let log = String::from_utf8(write(&measured).unwrap()).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines[0], "#[Histogram log format version 1.3]");
        assert_eq!(lines[1], "#[Kinds: new-order,payment]");
        assert_eq!(lines[3], "#[Second: 3000 1000 measured]");
        let head = "Tag=new-order.response,3.000,1.000,2001919.000,HISTFAAAA";
        assert!(lines[4].starts_with(head), "{}", lines[4]);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn errors_name_the_line() {
        let log = b"#[Kinds: a]\n#[Second: 0 1000 measured]\nTag=b.response,0.0,1.0,1.0,AAAA\n";
        assert_eq!(read(log).unwrap_err().to_string(), "line 3: unknown kind `b`");
        let log = b"#[Second: 0 soon measured]\n";
        assert_eq!(read(log).unwrap_err().to_string(), "line 1: `soon` is not a number of milliseconds");
        let part = KindInterval { kind: 0, span: Span::Service, counts: vec![(LATENCY_MAX_US * 4, 1)] };
        let second = Interval { start_ms: 0, length_ms: 1000, measured: true, kinds: vec![part] };
        let measured = Measured { kinds: kinds(), intervals: vec![second] };
        assert!(matches!(write(&measured), Err(LogError::TooLong { .. })));
    }
}
