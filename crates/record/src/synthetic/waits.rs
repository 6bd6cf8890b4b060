//! The same run with what its sessions waited for, for tests that need it.

use crate::looks::Reading;
use crate::run::Run;
use crate::waits::{CPU, Waits};

/// The baseline's sixteen sessions mostly wait for the log. The other contender's do so half as often; some wait for locks.
pub fn sampled(mut run: Run) -> Run {
    for trial in &mut run.trials {
        let is_baseline = trial.record.cell == 0;
        let mut waits = Waits { source: "pg_stat_activity".to_owned(), samples: 100, missed: 1, ..Waits::default() };
        waits.took_ns = 60_000_000;
        waits.add("IO", "WALSync", if is_baseline { 1_200 } else { 600 });
        waits.add(CPU, "", 140);
        if !is_baseline {
            waits.add("Lock", "transactionid", 350);
        }
        if let Some(looks) = &mut trial.looks {
            looks.end.waits = Some(Reading::Known(waits));
        }
    }
    run
}
