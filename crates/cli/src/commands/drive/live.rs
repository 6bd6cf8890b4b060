//! One line per interval while the load runs.

use analysis::latency::Counts;
use driver::plan::SecondSeen;
use record::intervals::Span;
use record::trial::KindTotals;
use report::format::{count, decimal, milliseconds};
use serde_json::{Value, json};
use workloads::workload::TransactionKind;

/// Seconds that are shown as one line.
pub struct ShownInterval {
    kinds: Vec<TransactionKind>,
    length_s: u64,
    seconds: Vec<SecondSeen>,
}

/// A finished interval.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveLine {
    pub end_s: u64,
    pub length_s: u64,
    pub measured: bool,
    /// The number of transactions of each counted kind.
    pub counted: Vec<(String, u64)>,
    pub finished: u64,
    pub failed: u64,
    pub retries: u64,
    pub response: Counts,
}

impl ShownInterval {
    pub fn new(kinds: &[TransactionKind], length_s: u64) -> Self {
        Self { kinds: kinds.to_vec(), length_s, seconds: Vec::new() }
    }

    /// Takes the next second; returns a line whenever an interval is full, or the warm-up ends.
    pub fn take(&mut self, second: SecondSeen) -> Option<LiveLine> {
        let cut = self.seconds.first().is_some_and(|first| first.interval.measured != second.interval.measured);
        let early = if cut { self.line() } else { None };
        self.seconds.push(second);
        let is_full = self.seconds.len() as u64 >= self.length_s;
        early.or_else(|| if is_full { self.line() } else { None })
    }

    /// The line for what has gathered since the last one.
    pub fn line(&mut self) -> Option<LiveLine> {
        let seconds = std::mem::take(&mut self.seconds);
        let (first, last) = (seconds.first()?, seconds.last()?);
        let totals = seconds.iter().flat_map(|second| &second.totals);
        let total = |field: fn(&KindTotals) -> u64| totals.clone().filter(|kind| !kind.step).map(field).sum();
        let is_step = |kind: u16| self.kinds.get(usize::from(kind)).is_some_and(|kind| kind.step);
        let of_kind = |index: usize| -> u64 {
            seconds.iter().filter_map(|second| second.totals.get(index)).map(KindTotals::finished).sum()
        };
        let counted = self.kinds.iter().enumerate().filter(|(_, kind)| kind.counted);
        let parts = seconds.iter().flat_map(|second| &second.interval.kinds);
        let parts = parts.filter(|part| part.span == Span::Response && !is_step(part.kind));
        Some(LiveLine {
            // The last second of a phase may be shorter.
            end_s: (last.interval.start_ms + last.interval.length_ms).div_ceil(1000),
            length_s: seconds.len() as u64,
            measured: first.interval.measured,
            counted: counted.map(|(index, kind)| (kind.name.to_owned(), of_kind(index))).collect(),
            finished: total(KindTotals::finished),
            failed: total(|kind| kind.failed),
            retries: total(|kind| kind.retries),
            response: Counts::of(parts.flat_map(|part| part.counts.iter().map(|&(value, many)| (value, many.into())))),
        })
    }
}

/// As many counted kinds have columns of their own at most.
const COLUMNS: usize = 4;
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

impl LiveLine {
    /// The heading above the lines. Each counted kind has a column, unless all kinds are counted or too many.
    pub fn heading(kinds: &[TransactionKind]) -> String {
        let counted: Vec<String> = shown(kinds).map(|name| format!("{name}/s")).collect();
        let rest = ["all/s", "p50 ms", "p95 ms", "p99 ms", "errors", "retries"].map(str::to_owned);
        aligned(kinds, "time", counted.into_iter().chain(rest))
    }

    pub fn text(&self, kinds: &[TransactionKind]) -> String {
        let rate = |many: u64| decimal(many as f64 / self.length_s as f64, 0);
        let many_of =
            |name: &str| self.counted.iter().find(|(counted, _)| counted == name).map_or(0, |(_, many)| *many);
        let counted: Vec<String> = shown(kinds).map(|name| rate(many_of(name))).collect();
        let [p50, p95, p99] = QUANTILES.map(|quantile| self.milliseconds(quantile));
        let rest = [rate(self.finished), p50, p95, p99, count(self.failed), count(self.retries)];
        let line = aligned(kinds, &format!("{} s", self.end_s), counted.into_iter().chain(rest));
        if self.measured { line } else { format!("{line}  warming up") }
    }

    fn milliseconds(&self, quantile: f64) -> String {
        self.response.quantile(quantile).map_or_else(|| "–".to_owned(), |value_us| milliseconds(value_us as f64))
    }

    pub fn json(&self) -> Value {
        let [p50_us, p95_us, p99_us] = QUANTILES.map(|quantile| self.response.quantile(quantile));
        let counted: serde_json::Map<_, _> =
            self.counted.iter().map(|(name, many)| (name.clone(), json!(many))).collect();
        json!({
            "event": "interval", "end_s": self.end_s, "length_s": self.length_s, "measured": self.measured,
            "counted": counted, "finished": self.finished, "failed": self.failed, "retries": self.retries,
            "response": { "p50_us": p50_us, "p95_us": p95_us, "p99_us": p99_us, "max_us": self.response.longest() },
        })
    }
}

/// Names of counted kinds, if they say more than the sum over all kinds and fit into a line.
fn shown(kinds: &[TransactionKind]) -> impl Iterator<Item = &'static str> + '_ {
    let some_are_not = kinds.iter().any(|kind| !kind.counted && !kind.step);
    let are_few = kinds.iter().filter(|kind| kind.counted).count() <= COLUMNS;
    kinds.iter().filter(move |kind| kind.counted && some_are_not && are_few).map(|kind| kind.name)
}

/// Right-aligned columns with a blank between them: the time, those of counted kinds as wide as their names, and the others.
fn aligned(kinds: &[TransactionKind], time: &str, columns: impl Iterator<Item = String>) -> String {
    const WIDTH: usize = 9;
    /// A blank before the name and "/s" after it.
    const AROUND_NAME: usize = 3;
    let named = shown(kinds).map(|name| (name.len() + AROUND_NAME).max(WIDTH));
    let widths = named.chain(std::iter::repeat(WIDTH));
    columns.zip(widths).fold(format!("{time:>8}"), |line, (column, width)| format!("{line} {column:>width$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::intervals::{Interval as Second, KindInterval};

    const KINDS: [TransactionKind; 2] =
        [TransactionKind::transaction("new-order", true), TransactionKind::transaction("payment", false)];

    /// One second with this many of each kind, the slowest of which took `slowest_us`.
    fn second(index: u64, measured: bool, finished: [u64; 2], slowest_us: u64) -> SecondSeen {
        let counts = vec![(1_000, 98), (slowest_us, 2)];
        let kinds = vec![KindInterval { kind: 0, span: Span::Response, counts }];
        let totals = finished.map(|committed| KindTotals { committed, retries: 1, ..KindTotals::default() });
        let interval = Second { start_ms: index * 1_000, length_ms: 1_000, measured, kinds };
        SecondSeen { interval, totals: totals.to_vec() }
    }

    #[test]
    fn seconds_are_shown_together_and_percentiles_are_of_the_sum() {
        let mut interval = ShownInterval::new(&KINDS, 2);
        assert_eq!(interval.take(second(0, true, [10, 30], 5_000)), None);
        let line = interval.take(second(1, true, [20, 50], 9_000)).unwrap();
        assert_eq!((line.end_s, line.length_s, line.finished, line.retries), (2, 2, 110, 4));
        assert_eq!(line.counted, [("new-order".to_owned(), 30)]);
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|quantile| line.response.quantile(quantile));
        assert_eq!((p50, p99, max), (Some(1_000), Some(5_000), Some(9_000)));
        insta::assert_snapshot!(format!("{}\n{}", LiveLine::heading(&KINDS), line.text(&KINDS)), @r"
        time  new-order/s     all/s    p50 ms    p95 ms    p99 ms    errors   retries
         2 s           15        55      1.00      1.00      5.00         0         4
        ");
    }

    #[test]
    fn columns_stay_apart_however_wide_their_cells_are() {
        let mut interval = ShownInterval::new(&KINDS, 1);
        let line = interval.take(second(0, true, [12_345_678_901, 12_345_678_901], 98_765_432_000)).unwrap();
        let text = line.text(&KINDS);
        assert_eq!(text.split_whitespace().count(), "0 s".split(' ').count() + 7, "{text}");
    }

    #[test]
    fn warm_up_and_measured_time_share_no_line() {
        let mut interval = ShownInterval::new(&KINDS, 3);
        assert_eq!(interval.take(second(0, false, [1, 1], 2_000)), None);
        let warming = interval.take(second(1, true, [2, 2], 2_000)).unwrap();
        assert_eq!((warming.end_s, warming.length_s, warming.measured), (1, 1, false));
        let rest = interval.line().unwrap();
        assert_eq!((rest.end_s, rest.length_s, rest.measured), (2, 1, true));
        assert_eq!(interval.line(), None);
    }
}
