//! A trial of several machines. Each is carried out on its own thread, as a single machine would be. They wait for each
//! other where that matters: before driving, at its common start, and after it.
//!
//! Each machine has a folder in the trial's folder, with everything that a trial's folder has. The trial's own record
//! covers all of them together, and is written last.

use crate::again::Earlier;
use crate::attempt::{self, Attempt};
use crate::context::TrialContext;
use crate::error::AttemptError;
use crate::events::Heard;
use crate::exception;
use crate::halt::Halt;
use crate::other_load;
use crate::outcome::severity;
use crate::rendezvous::Rendezvous;
use crate::start_order::StartOrder;
use driver::instances::MergedTicks;
use driver::plan::Tick;
use record::event::Event;
use record::folder::TrialFolder;
use record::trial::{Outcome, TrialRecord};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ScopedJoinHandle};

type Carried = Result<TrialRecord, AttemptError>;

/// Runs the trial on all of its machines and writes its folder.
pub fn on_all_machines(whole: Attempt<'_>, started: &str) -> Carried {
    let Attempt { context, folder, earlier, hear } = whole;
    folder.as_ref().map_or(Ok(()), TrialFolder::begin)?;
    let count = context.cell.machine.count;
    let (rendezvous, order) = (Rendezvous::of(count), StartOrder::default());
    let leader = exception::leader(context.cell);
    let mut merged = MergedEvents::of(count, leader, context.cell.written.bystander());
    let (send, events) = channel();
    let each: Vec<Carried> = thread::scope(|scope| {
        let begin = |number| {
            let own = TrialContext {
                number,
                halt: Halt { others: Some(&rendezvous), ..context.halt },
                turn: Some(order.turn(number, context.planned.block, count)),
                // The host is sampled once, and its last sample shown once.
                latest: context.latest.filter(|_| number == leader),
                in_use: None,
                ..context
            };
            let (folder, send) = (folder.as_ref().map(|folder| folder.machine(number)), send.clone());
            scope.spawn(move || carry_out(own, folder, &send, started))
        };
        let threads: Vec<ScopedJoinHandle<'_, Carried>> = (1..=count).map(begin).collect();
        drop(send);
        for (number, event) in events {
            merged.hear(number, event).into_iter().for_each(|event| hear(Heard::Event(event)));
        }
        threads.into_iter().map(join).collect()
    });
    let each = each.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut record = of_all(&each, leader);
    record.warnings.splice(0..0, earlier.warnings);
    other_load::judge(&mut record, other_load::limit(context.cell), earlier.disturbed);
    match (&folder, &record.outcome) {
        (Some(folder), Outcome::Interrupted { .. }) => folder.keep_partial(&record)?,
        (Some(folder), _) => folder.complete(&record)?,
        (None, _) => {}
    }
    Ok(record)
}

/// However this ends, the other machines never wait for one that does not come.
fn carry_out(
    context: TrialContext<'_>,
    folder: Option<TrialFolder>,
    send: &Sender<(u32, Event)>,
    started: &str,
) -> Carried {
    let _others = GiveUpOnPanic(context.halt);
    let carried = carry_out_machine(context, folder, send, started);
    if let (Err(_), Some(others)) = (&carried, context.halt.others) {
        others.give_up();
    }
    carried
}

fn carry_out_machine(
    context: TrialContext<'_>,
    folder: Option<TrialFolder>,
    send: &Sender<(u32, Event)>,
    started: &str,
) -> Carried {
    let scratch = context.scratch.join(format!("machine-{}", context.number));
    std::fs::create_dir_all(&scratch).map_err(AttemptError::Scratch)?;
    let attempt = Attempt {
        context: TrialContext { scratch: &scratch, ..context },
        folder,
        // The trial's own record has the earlier attempts.
        earlier: Earlier::default(),
        hear: &mut |heard| {
            if let Heard::Event(event) = heard {
                // Sending fails only if the trial is over.
                let _ = send.send((context.number, event));
            }
        },
    };
    attempt::on_one_machine(attempt, started.to_owned())
}

struct GiveUpOnPanic<'a>(Halt<'a>);

impl Drop for GiveUpOnPanic<'_> {
    fn drop(&mut self) {
        if let (true, Some(others)) = (thread::panicking(), self.0.others) {
            others.give_up();
        }
    }
}

fn join(thread: ScopedJoinHandle<'_, Carried>) -> Carried {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The record of the whole trial. Its reason for failure names the machine where the failure began.
fn of_all(each: &[TrialRecord], leader: u32) -> TrialRecord {
    let speaks = &each[leader as usize - 1];
    let numbered = || (1..).zip(each);
    let (number, decisive) = numbered()
        .max_by_key(|(number, part)| (severity(&part.outcome), std::cmp::Reverse(*number)))
        .unwrap_or_else(|| unreachable!("a trial has at least one machine"));
    let of_machine = |why: &str| format!("machine {number}: {why}");
    let outcome = match decisive.outcome.clone() {
        Outcome::Failed { phase, why } => Outcome::Failed { phase, why: of_machine(&why) },
        Outcome::Invalid { why } => Outcome::Invalid { why: of_machine(&why) },
        Outcome::Skipped { why } => Outcome::Skipped { why: of_machine(&why) },
        other => other,
    };
    let warnings = numbered()
        .flat_map(|(number, part)| part.warnings.iter().map(move |warning| format!("machine {number}: {warning}")));
    TrialRecord {
        outcome,
        warnings: warnings.collect(),
        machine: None,
        server: None,
        driver: None,
        load_hosts: Vec::new(),
        ..speaks.clone()
    }
}

/// Merges the events of many machines. Phases are those of the leader; a second of driving is reported once all
/// measured machines have had it. The bystander is in no total, and its work may be counted in another unit.
struct MergedEvents {
    leader: u32,
    bystander: Option<u32>,
    ticks: MergedTicks,
}

impl MergedEvents {
    fn of(machines: u32, leader: u32, bystander: Option<u32>) -> Self {
        let measured = machines - u32::from(bystander.is_some());
        Self { leader, bystander, ticks: MergedTicks::of(measured as usize) }
    }

    /// The events to report now, in order.
    fn hear(&mut self, number: u32, event: Event) -> Vec<Event> {
        let Event::Throughput { trial, measured, elapsed_ms, counted, committed, errors } = event else {
            return if number == self.leader { vec![event] } else { Vec::new() };
        };
        if self.bystander == Some(number) {
            return Vec::new();
        }
        let whole = self.ticks.hear(Tick { elapsed_ms, measured, counted, committed, errors });
        let event = |Tick { elapsed_ms, measured, counted, committed, errors }| Event::Throughput {
            trial,
            measured,
            elapsed_ms,
            counted,
            committed,
            errors,
        };
        whole.into_iter().map(event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(elapsed_ms: u64, counted: u64) -> Event {
        Event::Throughput { trial: 1, measured: true, elapsed_ms, counted, committed: counted, errors: 1 }
    }

    #[test]
    fn a_second_is_told_once_with_what_all_did() {
        let mut chorus = MergedEvents::of(3, 1, None);
        let phase = Event::PhaseStarted { trial: 1, phase: "boot".to_owned(), expected_ms: 1 };
        assert_eq!(chorus.hear(2, phase.clone()), []);
        assert_eq!(chorus.hear(1, phase.clone()), [phase]);
        assert_eq!(chorus.hear(1, second(1_000, 5)), []);
        assert_eq!(chorus.hear(1, second(2_000, 7)), []);
        assert_eq!(chorus.hear(3, second(1_000, 6)), []);
        let all =
            Event::Throughput { trial: 1, measured: true, elapsed_ms: 1_000, counted: 12, committed: 12, errors: 3 };
        assert_eq!(chorus.hear(2, second(1_000, 1)), [all]);
        let without_others = second(2_000, 7);
        assert_eq!(chorus.hear(3, second(5_000, 1)), [without_others]);
    }

    #[test]
    fn a_machine_that_is_not_measured_is_not_waited_for_and_not_counted() {
        let mut chorus = MergedEvents::of(3, 2, Some(1));
        assert_eq!(chorus.hear(1, second(1_000, 900)), []);
        assert_eq!(chorus.hear(2, second(1_000, 5)), []);
        let both =
            Event::Throughput { trial: 1, measured: true, elapsed_ms: 1_000, counted: 11, committed: 11, errors: 2 };
        assert_eq!(chorus.hear(3, second(1_000, 6)), [both]);
        assert_eq!(chorus.hear(1, second(9_000, 900)), [], "nor does its second end those of the others");
    }

    fn part(outcome: &Outcome) -> TrialRecord {
        serde_json::from_value(serde_json::json!({
            "format": record::FORMAT, "id": 7, "block": 1, "cell": 0, "contender": "vm", "seed": 1, "outcome": outcome,
            "started": "2026-01-01T00:00:00Z", "phases": [], "warnings": ["slow"]
        }))
        .unwrap()
    }

    #[test]
    fn the_machine_where_it_began_says_why() {
        let failed = |why: &str| part(&Outcome::Failed { phase: "measure".to_owned(), why: why.to_owned() });
        let others = crate::conversation::AskError::OthersFailed.to_string();
        let whole =
            of_all(&[failed(&others), part(&Outcome::Completed), failed("its kernel panicked"), failed(&others)], 1);
        let expected =
            Outcome::Failed { phase: "measure".to_owned(), why: "machine 3: its kernel panicked".to_owned() };
        assert_eq!(whole.outcome, expected);
        assert_eq!(whole.warnings.len(), 4);
        let whole = of_all(&[part(&Outcome::Completed), part(&Outcome::Invalid { why: "late".to_owned() })], 1);
        assert_eq!(whole.outcome, Outcome::Invalid { why: "machine 2: late".to_owned() });
        assert_eq!(of_all(&[part(&Outcome::Completed), part(&Outcome::Completed)], 1).outcome, Outcome::Completed);
    }
}
