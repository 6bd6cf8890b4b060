//! *The Great Hypervisor Bake-off: VMware ESX vs Oracle VM*, 2014: random reads and updates for eight hours, native and
//! under two hypervisors.

use crate::close;
use crate::records::{Figure, run};
use analysis::latency::{self, Counts};
use analysis::measures;
use analysis::summary::analyse;
use record::intervals::{Interval, KindInterval, Span};
use record::run::Run;

struct Published {
    contender: &'static str,
    /// Requests per second, and the reads among them.
    requests: f64,
    reads: f64,
    /// Mean time of a random read.
    read_us: u64,
    /// Thousandths of reads below 1, 2, 4 and 8 ms, each without the ones before.
    below_ms: [u32; 4],
}

const NATIVE: Published =
    Published { contender: "native", requests: 232_431.0, reads: 194_452.3, read_us: 438, below_ms: [987, 13, 0, 0] };
const FIRST: Published =
    Published { contender: "first", requests: 173_141.7, reads: 145_066.8, read_us: 596, below_ms: [922, 67, 11, 0] };
const SECOND: Published =
    Published { contender: "second", requests: 160_563.8, reads: 134_592.9, read_us: 607, below_ms: [956, 41, 1, 1] };
const ALL: [&Published; 3] = [&NATIVE, &FIRST, &SECOND];

/// Times of a thousand reads that lie in the published buckets and have the published mean.
fn times(published: &Published) -> Vec<(u64, u32)> {
    // Reads beyond the first bucket are placed in the middle of theirs; the first bucket takes the rest of the mean.
    let middles_us = [1_500, 3_000, 6_000];
    let [first, later @ ..] = published.below_ms;
    let all: u32 = published.below_ms.iter().sum();
    let beyond: u64 = later.iter().zip(middles_us).map(|(count, middle)| u64::from(*count) * middle).sum();
    let left = published.read_us * u64::from(all) - beyond;
    let (whole, rest) =
        (left / u64::from(first), u32::try_from(left % u64::from(first)).expect("less than a thousand"));
    let firsts = [(whole, first - rest), (whole + 1, rest)];
    let later = middles_us.into_iter().zip(later);
    firsts.into_iter().chain(later).filter(|(_, count)| *count > 0).collect()
}

/// Windows are whole milliseconds, and a thousand reads take five of them, so they are stretched to keep their digits.
const STRETCHED: f64 = 1e6;

/// Each window has a thousand reads and is as long as they take at the published rate.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bake_off() -> Run {
    let mut figures = ALL.map(|published| Figure::of(published.contender, published.requests.round() as u64));
    figures[0].baseline = true;
    let mut run = run(&figures);
    for (trial, published) in run.trials.iter_mut().zip(ALL) {
        let of = |span| KindInterval { kind: 0, span, counts: times(published) };
        let kinds = vec![of(Span::Response), of(Span::Service)];
        trial.measured.as_mut().expect("made-up trials are measured").intervals =
            vec![Interval { start_ms: 0, length_ms: 1000, measured: true, kinds }];
        let seconds = f64::from(published.below_ms.iter().sum::<u32>()) / published.reads;
        trial.record.driver.as_mut().expect("made-up trials have driven").measured_ms =
            (seconds * STRETCHED * 1_000.0).round() as u64;
    }
    run
}

/// The same with windows of equal length in which all requests were counted.
fn requests() -> Run {
    let mut run = bake_off();
    for trial in &mut run.trials {
        trial.record.driver.as_mut().expect("made-up trials have driven").measured_ms = 1_000;
    }
    run
}

#[test]
fn two_hypervisors_do_0_745_and_0_691_of_the_requests() {
    let comparisons = analyse(&requests()).comparisons;
    crate::ratio(comparisons[0].throughput(), 0.745, 0.0005);
    crate::ratio(comparisons[1].throughput(), 0.691, 0.0005);
}

#[test]
fn reads_take_36_and_39_percent_longer() {
    let analysis = analyse(&bake_off());
    let kind = &analysis.cells[0].latency[0].kind;
    let mean = |cell: usize| analysis.cells[cell].level(&measures::latency::mean(Span::Response, kind)).unwrap().point;
    for (cell, published) in ALL.iter().enumerate() {
        close(mean(cell), published.read_us as f64, 1e-9);
    }
    close(mean(1) / mean(0), 1.36, 0.005);
    close(mean(2) / mean(0), 1.39, 0.005);
}

#[test]
fn reads_fall_into_the_published_buckets() {
    for published in ALL {
        let counts = Counts::of(times(published).into_iter().map(|(value, count)| (value, u64::from(count))));
        let latency = latency::of_trials("read", Span::Service, &[counts]).unwrap();
        let expected: Vec<u64> = published.below_ms.iter().map(|count| u64::from(*count)).collect();
        assert_eq!(latency.buckets[..4], expected);
    }
}

/// Little's law: 85, 86 and 82 reads were under way at a time, so a fixed number of readers waited.
#[test]
fn as_many_reads_were_under_way_natively_and_in_guests() {
    let analysis = analyse(&bake_off());
    for (cell, expected) in analysis.cells.iter().zip([85.0, 86.0, 82.0]) {
        let under_way = cell.driver.as_ref().unwrap().under_way.unwrap() * STRETCHED;
        close(under_way, expected, 0.6);
    }
}
