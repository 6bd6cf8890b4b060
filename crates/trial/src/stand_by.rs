//! A machine without load waits while the others are driven.

use crate::context::TrialContext;
use crate::conversation::AskError;
use crate::live::JointStart;
use driver::plan::Pacing;
use machines::clock::monotonic_ns;
use std::time::Duration;

const NANOS_PER_MILLI: u64 = 1_000_000;
/// How often to check whether the trial is given up.
const LOOK_UP: Duration = Duration::from_millis(100);

pub(crate) fn stand_by(context: &TrialContext<'_>) -> Result<(), AskError> {
    let start_ns = JointStart::default().meet(context, 0)?;
    let window_ms = context.drive_plan(Pacing::Clients { clients: 1 }, 0).window_ms();
    let end_ns = start_ns + window_ms.end * NANOS_PER_MILLI;
    while monotonic_ns() < end_ns {
        if context.halt.now() {
            return Err(AskError::halted(context.halt));
        }
        std::thread::sleep(LOOK_UP);
    }
    Ok(())
}
