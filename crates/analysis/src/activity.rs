//! What a reader must know about the figures of the database and the device ([`crate::measures::activity`]). It says
//! what a read is to the engine, which device it was, why figures are missing, and whether the data fit.

use crate::gathered::distinct;
use crate::missing::Missing;
use crate::validity;
use record::looks::{Look, Looks};
use record::plan::Cell;
use record::run::{Run, StoredTrial};
use serde::{Deserialize, Serialize};

/// The activity of one cell, over its valid trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    pub cell: u32,
    pub contender: String,
    pub coordinates: String,
    /// What one read and one write are to the engine.
    pub meaning: Option<String>,
    pub device: Option<String>,
    /// The reasons why figures are missing, each once.
    pub missing: Vec<Missing>,
    pub sizes: Sizes,
}

/// Sizes that show whether the data fit: point values of the first trial that has them (of its first machine).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sizes {
    /// At the beginning of the window.
    pub data_bytes: Option<u64>,
    /// The database's cache, per session if sessions do not share one.
    pub cache_bytes: Option<u64>,
    /// The machine's memory.
    pub memory_bytes: Option<u64>,
}

pub fn all(run: &Run) -> Vec<Activity> {
    run.plan.cells.iter().map(|cell| of_cell(run, cell)).collect()
}

fn of_cell(run: &Run, cell: &Cell) -> Activity {
    let trials: Vec<&StoredTrial> = validity::valid_trials(run, cell.id).collect();
    let looks: Vec<&Looks> = trials.iter().filter_map(|trial| trial.looks.as_ref()).collect();
    let database = looks.iter().find_map(|looks| looks.start.database.known());
    let device = looks.iter().find_map(|looks| looks.start.device.known());
    // Whether the data fit is a question about one machine.
    let one =
        trials.iter().find_map(|trial| trial.measured_machines().next()?.1.looks.as_ref()?.start.database.known());
    Activity {
        cell: cell.id,
        contender: cell.contender.clone(),
        coordinates: cell.coordinates(),
        meaning: database.map(|counts| counts.meaning.clone()).filter(|meaning| !meaning.is_empty()),
        device: device.map(|counts| counts.device.clone()),
        missing: missing(&trials),
        sizes: Sizes {
            data_bytes: one.and_then(|counts| counts.data_bytes),
            cache_bytes: one.and_then(|counts| counts.cache_bytes),
            memory_bytes: cell.settings.machine().memory_bytes,
        },
    }
}

fn missing(trials: &[&StoredTrial]) -> Vec<Missing> {
    let of_look = |look: &Look| {
        let database = look.database.why_not().map(|why| Missing::DatabaseNotAsked { why: why.to_owned() });
        [database, look.device.why_not().map(|why| Missing::DeviceUnknown { why: why.to_owned() })]
    };
    let of_trial = |trial: &&StoredTrial| match &trial.looks {
        Some(looks) => [&looks.start, &looks.end].into_iter().flat_map(of_look).flatten().collect(),
        None => vec![Missing::NotLookedAt { several_machines: !trial.machines.is_empty() }],
    };
    distinct(trials.iter().flat_map(of_trial))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::looks;
    use record::synthetic;

    #[test]
    fn what_is_missing_is_told_once() {
        let mut run = synthetic::run(2);
        for trial in &mut run.trials {
            let looks = trial.looks.as_mut().unwrap();
            looks.end.device = looks::Reading::Unavailable("it is a tmpfs".to_owned());
        }
        assert_eq!(all(&run)[0].missing, [Missing::DeviceUnknown { why: "it is a tmpfs".to_owned() }]);
        run.trials.iter_mut().for_each(|trial| trial.looks = None);
        assert_eq!(all(&run)[1].missing, [Missing::NotLookedAt { several_machines: false }]);
    }
}
