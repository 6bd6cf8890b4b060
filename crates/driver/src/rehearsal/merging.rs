//! Splits equal the whole: the merged result does not depend on which shard did what.

use super::workload::{COUNTERS, KINDS};
use super::{Merged, START, ShardRun, plan, window};
use crate::clock::Nanos;
use crate::counts::total;
use crate::deferral::ResultLines;
use crate::errors::ErrorBook;
use crate::pacing::QueueCounts;
use crate::recorder::{Executed, Meters, Recorder, Second};
use crate::report::{GivenUp, ShardReport};
use crate::window::Window;
use engines::session::SessionWork;
use proptest::prelude::*;
use record::intervals::Span;
use record::script::PhaseEnd;
use record::trial::{Deferred, Losses, Stalls};
use workloads::effects::Effects;
use workloads::workload::Ending;

const WARMUP_S: u64 = 1;
const MEASURE_S: u64 = 4;

/// Transactions done at some time in the run, each with the shard that executed it.
fn lives() -> impl Strategy<Value = Vec<(Executed, usize)>> {
    let ending = prop_oneof![Just(Some(Ending::Committed)), Just(Some(Ending::RolledBack)), Just(None)];
    let life = (0..2_u16, 0..6_000_000_u64, 1..900_000_u64, 0..900_000_u64, 0..3_u32, ending, 0..40_u64);
    let life = life.prop_map(|(kind, sent_us, service_us, queued_us, retries, ending, rows)| {
        let sent = START + Nanos::from_micros(sent_us);
        let due = sent.since(Nanos::from_micros(queued_us));
        let work = SessionWork {
            statements: 1 + u64::from(retries),
            rows_returned: rows,
            rows_changed: rows / 2,
            ..SessionWork::default()
        };
        Executed {
            kind,
            due,
            free: due,
            sent,
            done: sent + Nanos::from_micros(service_us),
            retries,
            ending,
            work,
            deferred: false,
        }
    });
    prop::collection::vec((life, 0..3_usize), 0..120)
}

/// A shard that drove until `closed_at` and executed these transactions.
fn shard(window: Window, mut lives: Vec<Executed>, closed_at: Nanos) -> ShardRun {
    lives.sort_by_key(|life| life.done);
    let mut recorder = Recorder::new(window, KINDS.len(), COUNTERS.len(), false, Meters::default());
    let mut seconds = Vec::new();
    let mut close_until = |recorder: &mut Recorder, now: Nanos| {
        while now >= recorder.second_end() {
            let end = recorder.second_end();
            let closed = recorder.close_second(end, Meters::default());
            seconds.extend(closed.map(|second| Second { whole: closed_at >= end, ..second }));
        }
    };
    for life in &lives {
        close_until(&mut recorder, life.done);
        let mut effects = Effects::<()>::new(COUNTERS.len(), &|| 0, &|_| ());
        effects.tally.add(0, life.work.rows_returned);
        recorder.book(life, &effects);
    }
    close_until(&mut recorder, closed_at);
    let (last, unended) = recorder.finish(Meters::default());
    seconds.push(Second { whole: false, ..last });
    let report = ShardReport {
        errors: ErrorBook::default(),
        lines: ResultLines::new(0),
        deferred: Deferred::default(),
        sessions: 1,
        losses: Losses::default(),
        unended,
        given_up: GivenUp::default(),
        stalls: Stalls::default(),
        on_one_cpu: false,
        through_io_uring: false,
        in_process: false,
        queue: QueueCounts::default(),
        ended: if closed_at >= window.end() { PhaseEnd::Time } else { PhaseEnd::Stopped },
        failure: None,
    };
    ShardRun { report, seconds }
}

fn merged(shards: Vec<Vec<Executed>>) -> Merged {
    let plan = plan(3, WARMUP_S, MEASURE_S);
    let window = window(&plan);
    super::merged(&plan, shards.into_iter().map(|lives| shard(window, lives, window.end())).collect())
}

proptest! {
    // Each case makes dozens of full-size histograms.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn shards_add_up_to_the_whole(lives in lives()) {
        let whole = merged(vec![lives.iter().map(|(life, _)| *life).collect()]);
        let of_shard = |wanted| lives.iter().filter(|(_, shard)| *shard == wanted).map(|(life, _)| *life).collect();
        let split = merged((0..3).map(of_shard).collect());
        prop_assert_eq!(&split.measured, &whole.measured);
        prop_assert_eq!(&split.facts.kinds, &whole.facts.kinds);
        prop_assert_eq!(&split.facts.whole_run, &whole.facts.whole_run);
        prop_assert_eq!(&split.facts.tally, &whole.facts.tally);
        prop_assert_eq!(split.facts.work, whole.facts.work);
        prop_assert_eq!(split.facts.testimony.lateness_p99_us, whole.facts.testimony.lateness_p99_us);
    }

    #[test]
    fn intervals_and_totals_agree(lives in lives()) {
        let driven = merged(vec![lives.iter().map(|(life, _)| *life).collect()]);
        for (index, totals) in driven.facts.kinds.iter().enumerate() {
            for span in [Span::Response, Span::Service] {
                let measured = driven.measured.intervals.iter().filter(|interval| interval.measured);
                let counts = measured.flat_map(|interval| &interval.kinds);
                let counts = counts.filter(|kind| usize::from(kind.kind) == index && kind.span == span);
                prop_assert_eq!(counts.map(|kind| total(&kind.counts)).sum::<u64>(), totals.finished());
            }
        }
        let all = &driven.facts.whole_run;
        let ended: u64 = all.iter().map(|totals| totals.finished() + totals.failed).sum();
        prop_assert_eq!(ended, lives.len() as u64);
    }
}

#[test]
fn a_second_counts_only_if_every_shard_drove_through_it() {
    let plan = plan(2, 1, 10);
    let window = window(&plan);
    let stopped = |millis| shard(window, Vec::new(), START + Nanos::from_millis(millis));
    let driven = super::merged(&plan, vec![stopped(4_010), stopped(3_990)]);
    assert_eq!((driven.facts.measured_ms, driven.measured.intervals.len(), driven.stopped), (2_000, 3, true));
    let early = super::merged(&plan, vec![stopped(400)]);
    assert_eq!((early.facts.measured_ms, early.measured.intervals.len()), (0, 0));
}
