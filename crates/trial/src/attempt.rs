//! One trial on one machine, with a record whatever happens.

use crate::again::Earlier;
use crate::context::TrialContext;
use crate::conversation::AskError;
use crate::course;
use crate::error::AttemptError;
use crate::events::Heard;
use crate::log::TrialLog;
use crate::other_load;
use crate::outcome;
use crate::task::Task;
use machines::machine::MachineError;
use record::error::RecordError;
use record::folder::TrialFolder;
use record::trial::TrialRecord;

/// A guest whose clock runs at a wrong rate is booted again, up to this many boots in all.
const BOOTS_MAX: u32 = 4;

/// A trial on one of its machines, and the place for its record.
pub struct Attempt<'a> {
    pub context: TrialContext<'a>,
    /// `None` if its files are not kept.
    pub folder: Option<TrialFolder>,
    /// What the record says about earlier attempts. With several machines, the trial's own record says it.
    pub earlier: Earlier,
    pub hear: &'a mut dyn FnMut(Heard<'_>),
}

/// Runs the trial and writes its folder. An error means that the record or scratch cannot be written, or that the host
/// lacks room, a tool or a higher limit. The trial can then be run again. Everything else is an outcome.
pub fn on_one_machine(attempt: Attempt<'_>, started: String) -> Result<TrialRecord, AttemptError> {
    let Attempt { context, folder, earlier, hear } = attempt;
    let mut log = TrialLog::begin(&context, started, folder, hear)?;
    log.record.warnings = earlier.warnings;
    let result = carry_out(&context, &mut log, Task::of_a_trial(context.can().server));
    log.leave();
    if let Err(error) = result {
        let error = error.unless_of_the_run(context.scratch, context.can())?;
        keep_logs(&log, &error)?;
        log.record.outcome = outcome::of_error(&error, log.phase(), log.databases.len());
    }
    // Several machines are judged together.
    if context.is_alone() {
        other_load::judge(&mut log.record, other_load::limit(context.cell), earlier.disturbed);
    }
    log.keep_record()?;
    Ok(log.record)
}

/// Does these tasks of a trial on a server that is already running. Errors that would end a run are recorded as outcomes here, since
/// there is no run. Also, a full disk of this host need not be the server's.
pub fn on_existing_server(attempt: Attempt<'_>, started: String, tasks: &[Task]) -> Result<(), AttemptError> {
    let Attempt { context, folder, hear, .. } = attempt;
    let mut log = TrialLog::begin(&context, started, folder, hear)?;
    let result = carry_out(&context, &mut log, tasks);
    log.leave();
    if let Err(error) = &result {
        log.record.outcome = outcome::of_error(error, log.phase(), log.databases.len());
    }
    let kept = log.keep_record();
    result.and(kept.map_err(AttemptError::from))
}

fn carry_out<'a>(context: &TrialContext<'a>, log: &mut TrialLog<'a>, tasks: &[Task]) -> Result<(), AttemptError> {
    let result = with_a_right_clock(context, log, tasks);
    // Otherwise the other machines would wait for this one for ever.
    if let (Err(_), Some(others)) = (&result, context.halt.others) {
        others.give_up();
    }
    result
}

fn with_a_right_clock<'a>(
    context: &TrialContext<'a>,
    log: &mut TrialLog<'a>,
    tasks: &[Task],
) -> Result<(), AttemptError> {
    for _ in 1..BOOTS_MAX {
        match course::carry_out(context, log, tasks) {
            Err(AttemptError::WrongClock(why)) => log.warn(format!("booted again: {why}")),
            other => return other,
        }
    }
    course::carry_out(context, log, tasks)
}

/// Keeps the logs of the server or the machine that came with a failure.
fn keep_logs(log: &TrialLog<'_>, error: &AttemptError) -> Result<(), RecordError> {
    match error {
        AttemptError::Ask(AskError::Refused(failure)) => {
            let own = log.databases.get(usize::from(failure.instance.unwrap_or_default()));
            let own = own.unwrap_or(&log.databases[0]);
            own.file(|folder| folder.write("logs/server.txt", failure.log.as_bytes()))
        }
        AttemptError::Machine(MachineError::Silent { console, .. } | MachineError::Ended { console, .. }) => {
            log.file(|folder| folder.write("logs/console.txt", console.as_bytes()))
        }
        _ => Ok(()),
    }
}
