//! `intervals.hlog`: the measured series as an `HdrHistogram` log.
//!
//! The file is the public text format (version 1.3 of the log, compressed V2 histograms), so that
//! `HistogramLogProcessor`, `HistogramLogAnalyzer` and every port of the library can read it. It has one line for
//! each second, kind and span, tagged `new-order.response`, `new-order.service` or `new-order.unended`, with values
//! in microseconds. That format has no place for seconds in which nothing finished, whether a second counts, and the
//! order of the kinds. They are in comment lines, which other tools ignore.

use crate::bounds::{self, Lines};
use crate::compressed::{Compressing, Decompressing};
use crate::intervals::{Interval, KindInterval, LATENCY_MAX_US, Measured, SIGNIFICANT_DIGITS, Span};
use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::iterators::IterationValue;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, IntervalLogWriterError, LogEntry, Tag,
};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::sync::LazyLock;
use std::time::Duration;

/// The library demands a maximum of at least twice the minimum, which is 1.
const SHORTEST_RANGE_US: u64 = 2;
const VERSION: &str = "[Histogram log format version 1.3]";
const KINDS: &str = "[Kinds: ";
const SECOND: &str = "[Second: ";
/// No second of a trial may begin later, and none may be longer.
const LATEST_MS: u64 = bounds::SECONDS as u64 * 1000;
const LONGEST_MS: u64 = 60_000;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("`{tag}` cannot be a tag of an HdrHistogram log: it has a comma, a blank or a line break")]
    Tag { tag: String },
    #[error("{value_us} µs cannot be recorded: it is above {LATENCY_MAX_US} µs")]
    TooLong { value_us: u64 },
    #[error("{0}")]
    Text(String),
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    #[error("writing a histogram: {0}")]
    Write(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A log that is written during the measurement, so that it never holds more than a second.
pub struct LogWriter<W> {
    out: W,
    kinds: Vec<String>,
    /// Start and length of the second that was written last.
    last: (Duration, Duration),
    serializer: Compressing,
}

impl<W: Write> LogWriter<W> {
    pub fn begin(mut out: W, kinds: Vec<String>) -> Result<Self, LogError> {
        let mut serializer = Compressing::new();
        let mut header = IntervalLogWriterBuilder::new();
        header.add_comment(VERSION).add_comment(&format!("{KINDS}{}]", kinds.join(",")));
        header.add_comment("Values are microseconds; timestamps are seconds since the driver started.");
        header.begin_log_with(&mut out, &mut serializer)?;
        Ok(Self { out, kinds, last: Default::default(), serializer })
    }

    pub fn second(&mut self, interval: &Interval) -> Result<(), LogError> {
        let window = if interval.measured { "measured" } else { "warm-up" };
        let second = format!("{SECOND}{} {} {window}]", interval.start_ms, interval.length_ms);
        let mut lines = IntervalLogWriterBuilder::new();
        lines.add_comment(&second).begin_log_with(&mut self.out, &mut self.serializer)?;
        self.last = (Duration::from_millis(interval.start_ms), Duration::from_millis(interval.length_ms));
        interval.kinds.iter().try_for_each(|part| self.part(part))
    }

    /// Adds a histogram to the second that was written last.
    pub fn part(&mut self, part: &KindInterval) -> Result<(), LogError> {
        let text = tag_of(&self.kinds, part)?;
        let tag = Tag::new(&text).ok_or_else(|| LogError::Tag { tag: text.clone() })?;
        let histogram = dense(&part.counts)?;
        let mut lines = IntervalLogWriterBuilder::new().begin_log_with(&mut self.out, &mut self.serializer)?;
        let (start, length) = self.last;
        lines.write_histogram(&histogram, start, length, Some(tag)).map_err(|error| match error {
            IntervalLogWriterError::IoError(source) => LogError::Io(source),
            other @ IntervalLogWriterError::SerializeError(_) => LogError::Write(other.to_string()),
        })
    }

    pub fn into_inner(self) -> W {
        self.out
    }
}

/// The text of a log file with this series.
pub fn write(measured: &Measured) -> Result<Vec<u8>, LogError> {
    let mut log = LogWriter::begin(Vec::new(), measured.kinds.clone())?;
    measured.intervals.iter().try_for_each(|interval| log.second(interval))?;
    Ok(log.into_inner())
}

/// Reads the series from the text of a log file that [`write`] made.
pub fn read(mut log: impl BufRead) -> Result<Measured, LogError> {
    read_lines(&mut log)
}

/// Compiled here, not in every crate that reads a log.
fn read_lines(log: &mut dyn BufRead) -> Result<Measured, LogError> {
    let (mut lines, mut measured, mut numbers) = (Lines::of(log), Measured::default(), 0);
    let mut histograms = Decompressing::new();
    while let Some(line) = lines.next_line().map_err(LogError::Text)? {
        let read = read_line(line, &mut measured, &mut histograms).and_then(|more| {
            numbers += more;
            if numbers > bounds::SERIES_NUMBERS {
                Err("more counts than a day of seconds has".to_owned())
            } else {
                Ok(())
            }
        });
        read.map_err(|why| LogError::Line { line: lines.number, why })?;
    }
    Ok(measured)
}

/// Returns how many counts the line adds.
fn read_line(line: &str, measured: &mut Measured, histograms: &mut Decompressing) -> Result<usize, String> {
    if let Some(comment) = line.strip_prefix('#') {
        let comment = comment.trim_end();
        if let Some(kinds) = between(comment, KINDS) {
            measured.kinds = read_kinds(kinds)?;
        } else if let Some(second) = between(comment, SECOND) {
            let second = read_second(second, measured.intervals.last())?;
            measured.intervals.push(second);
            if measured.intervals.len() > bounds::SECONDS {
                return Err(format!("more than {} seconds; a trial may take two days", bounds::SECONDS));
            }
        }
        return Ok(0);
    }
    if !line.ends_with('\n') {
        return Err("the file was cut short".to_owned());
    }
    let mut numbers = 0;
    for entry in IntervalLogIterator::new(line.as_bytes()) {
        match entry {
            Ok(LogEntry::Interval(entry)) => {
                let part = read_histogram(&entry, &measured.kinds, histograms)?;
                numbers += part.counts.len();
                let second = measured.intervals.last_mut().ok_or("a histogram before its second")?;
                if second.kinds.iter().any(|known| (known.kind, known.span) == (part.kind, part.span)) {
                    return Err("a second histogram of the same kind and span in one second".to_owned());
                }
                second.kinds.push(part);
            }
            Ok(_) => {}
            Err(_) => return Err("not a line of an HdrHistogram log".to_owned()),
        }
    }
    Ok(numbers)
}

fn read_kinds(list: &str) -> Result<Vec<String>, String> {
    let kinds: Vec<String> = list.split(',').filter(|kind| !kind.is_empty()).map(str::to_owned).collect();
    if kinds.len() > bounds::KINDS {
        return Err(bounds::too_many("the list of kinds", kinds.len(), bounds::KINDS));
    }
    match kinds.iter().enumerate().find(|(place, kind)| kinds[..*place].contains(kind)) {
        Some((_, twice)) => Err(format!("the kind `{twice}` is there twice")),
        None => Ok(kinds),
    }
}

fn between<'a>(comment: &'a str, opening: &str) -> Option<&'a str> {
    comment.strip_prefix(opening)?.strip_suffix(']')
}

/// A second must not begin before the previous one ends, and must have a plausible length.
fn read_second(second: &str, before: Option<&Interval>) -> Result<Interval, String> {
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
    let (start_ms, length_ms) = (number(start)?, number(length)?);
    let earliest_ms = before.map_or(0, |before| before.start_ms + before.length_ms);
    if !(earliest_ms..=LATEST_MS).contains(&start_ms) {
        return Err(format!("`{start_ms}` is not a start between {earliest_ms} and {LATEST_MS} ms"));
    }
    if !(1..=LONGEST_MS).contains(&length_ms) {
        return Err(format!("`{length_ms}` is not a length between 1 and {LONGEST_MS} ms"));
    }
    Ok(Interval { start_ms, length_ms, measured, kinds: Vec::new() })
}

fn read_histogram(
    entry: &IntervalLogHistogram<'_>,
    kinds: &[String],
    histograms: &mut Decompressing,
) -> Result<KindInterval, String> {
    let tag = entry.tag().map_or("", |tag| tag.as_str());
    let (kind, span) = tag.rsplit_once('.').ok_or_else(|| format!("the tag `{tag}` names no kind and span"))?;
    let span = match span {
        "response" => Span::Response,
        "service" => Span::Service,
        "unended" => Span::Unended,
        other => return Err(format!("the tag `{tag}` names an unknown span `{other}`")),
    };
    let kind = kinds.iter().position(|known| known == kind).ok_or_else(|| format!("unknown kind `{kind}`"))?;
    let kind = u16::try_from(kind).map_err(|_| "too many kinds".to_owned())?;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(entry.encoded_histogram())
        .map_err(|error| format!("histogram of `{tag}`: {error}"))?;
    let histogram = histograms.histogram(&bytes).map_err(|why| format!("histogram of `{tag}`: {why}"))?;
    let counts = sparse(&histogram);
    match counts.last() {
        // The highest recorded value is given as the end of its bucket.
        Some((value_us, _)) if *value_us > LATENCY_MAX_US + LATENCY_MAX_US / 100 => {
            Err(format!("histogram of `{tag}`: {value_us} µs is more than {LATENCY_MAX_US} µs"))
        }
        _ => Ok(KindInterval { kind, span, counts }),
    }
}

fn tag_of(kinds: &[String], part: &KindInterval) -> Result<String, LogError> {
    let span = match part.span {
        Span::Response => "response",
        Span::Service => "service",
        Span::Unended => "unended",
    };
    let kind = kinds.get(usize::from(part.kind));
    let kind = kind.ok_or_else(|| LogError::Tag { tag: format!("kind number {}", part.kind) })?;
    Ok(format!("{kind}.{span}"))
}

/// The histogram with these counts, on the grid that all our histograms have. It ends with the last count: clearing
/// and writing the rest of the full range would take most of the time.
fn dense(counts: &[(u64, u32)]) -> Result<Histogram<u32>, LogError> {
    let longest = counts.last().map_or(SHORTEST_RANGE_US, |(value_us, _)| (*value_us).max(SHORTEST_RANGE_US));
    if longest > LATENCY_MAX_US + LATENCY_MAX_US / 100 {
        return Err(LogError::TooLong { value_us: longest });
    }
    let mut histogram = Histogram::new_with_bounds(1, longest, SIGNIFICANT_DIGITS)
        .map_err(|error| LogError::Write(error.to_string()))?;
    for &(value_us, count) in counts {
        histogram.record_n(value_us, count).map_err(|_| LogError::TooLong { value_us })?;
    }
    Ok(histogram)
}

/// The counts of a histogram with these values, on the same grid.
pub fn counts_of(values_us: Vec<u64>) -> Vec<(u64, u32)> {
    let mut counts = BTreeMap::new();
    for value_us in values_us {
        *counts.entry(GRID.highest_equivalent(value_us.min(LATENCY_MAX_US))).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

static GRID: LazyLock<Histogram<u32>> =
    LazyLock::new(|| Histogram::new_with_bounds(1, LATENCY_MAX_US, SIGNIFICANT_DIGITS).expect("valid bounds"));

/// Pairs (highest equivalent value in µs, count) of a histogram, only non-zero counts, ascending.
pub fn sparse(histogram: &Histogram<u32>) -> Vec<(u64, u32)> {
    let pair =
        |step: IterationValue<u32>| (histogram.highest_equivalent(step.value_iterated_to()), step.count_at_value());
    histogram.iter_recorded().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    /// A writer with room for a header and no more.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A full disk ends the run, wherever in a log the room runs out.
    #[test]
    fn a_disk_without_room_is_told_as_such() {
        let part = KindInterval { kind: 0, span: Span::Response, counts: vec![(1_000, 3)] };
        let mut log = LogWriter::begin(Full(400), kinds()).unwrap();
        let failed = (0..9).find_map(|_| log.part(&part).err()).expect("no room");
        assert!(matches!(&failed, LogError::Io(error) if error.kind() == std::io::ErrorKind::StorageFull), "{failed}");
    }

    fn kinds() -> Vec<String> {
        ["new-order", "payment"].map(str::to_owned).to_vec()
    }

    fn on_grid(counts: &std::collections::BTreeMap<u64, u32>) -> Vec<(u64, u32)> {
        sparse(&dense(&counts.iter().map(|(&value, &count)| (value, count)).collect::<Vec<_>>()).unwrap())
    }

    fn series() -> impl Strategy<Value = Measured> {
        let counts = btree_map(1..LATENCY_MAX_US, 1..9_u32, 1..40);
        let spans = (0..2_u16, prop_oneof![Just(Span::Response), Just(Span::Service)]);
        let parts = btree_map(spans, counts, 0..4).prop_map(|parts| {
            let part = |((kind, span), counts)| KindInterval { kind, span, counts: on_grid(&counts) };
            parts.into_iter().map(part).collect::<Vec<_>>()
        });
        let second = (any::<bool>(), parts);
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
            prop_assert_eq!(read(&log[..]).unwrap(), measured);
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

    /// Written by `write`, then read by another implementation of the format, Python's `hdrhistogram` 0.10.8:
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
    fn seconds_that_cannot_have_been_are_refused_by_line() {
        let told = |seconds: &str| read(seconds.as_bytes()).unwrap_err().to_string();
        assert!(
            told("#[Second: 18446744073709551615 1 measured]\n").starts_with("line 1: `18446744073709551615` is not")
        );
        assert!(told("#[Second: 0 18446744073709551615 measured]\n").contains("not a length"));
        assert!(
            told("#[Second: 0 1000 measured]\n#[Second: 999 1000 measured]\n")
                .starts_with("line 2: `999` is not a start")
        );
        let millions = "#[Second: ".to_owned() + &"a".repeat(2 << 20);
        assert!(told(&millions).contains("longer than 1024 KiB"), "{}", told(&millions));
        assert!(told("#[Kinds: a,b,a]\n").contains("twice"));
    }

    #[test]
    fn errors_name_the_line() {
        let log = b"#[Kinds: a]\n#[Second: 0 1000 measured]\nTag=b.response,0.0,1.0,1.0,AAAA\n";
        assert_eq!(read(&log[..]).unwrap_err().to_string(), "line 3: unknown kind `b`");
        let log = b"#[Second: 0 soon measured]\n";
        assert_eq!(read(&log[..]).unwrap_err().to_string(), "line 1: `soon` is not a number of milliseconds");
        let part = KindInterval { kind: 0, span: Span::Service, counts: vec![(LATENCY_MAX_US * 4, 1)] };
        let second = Interval { start_ms: 0, length_ms: 1000, measured: true, kinds: vec![part] };
        let measured = Measured { kinds: kinds(), intervals: vec![second] };
        assert!(matches!(write(&measured), Err(LogError::TooLong { .. })));
    }
}
