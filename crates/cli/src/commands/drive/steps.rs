//! Turns `--steps` into the tasks of each measurement.

use crate::arguments::{DriveOptions, Step};
use crate::exit::EndedWith;
use trial::task::Task;

/// The tasks of each measurement. Steps before the first run are done once, and so are steps after the last one. A
/// recorded run is checked, because its figures count only with correct data.
pub fn of_each(options: &DriveOptions) -> Result<Vec<Vec<Task>>, EndedWith> {
    let steps = &options.steps;
    let runs = steps.iter().filter(|step| **step == Step::Run).count();
    if runs > 1 {
        return Err(EndedWith::bad_input("--steps: run is named twice; --repeat 2 measures twice"));
    }
    let Some(begin) = steps.iter().position(|step| *step == Step::Run) else {
        let measured = [("--record", options.record.is_some()), ("--repeat", options.repeat > 1)];
        return match measured.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                Err(EndedWith::bad_input(format!("{option} goes with the step run, as in --steps load,run")))
            }
            None => Ok(vec![tasks(steps)]),
        };
    };
    if let Some(folder) = options.record.as_ref().filter(|folder| folder.exists()) {
        let why = format!("--record: {} exists already; name a folder that is to be made", folder.display());
        return Err(EndedWith::bad_input(why));
    }
    let checks = steps[begin + 1..].iter().take_while(|step| **step == Step::Check).count();
    let end = begin + 1 + checks;
    let last = options.repeat.max(1);
    let adds_check = checks == 0 && options.record.is_some();
    let of = |repeat: u32| {
        let before = if repeat == 1 { tasks(&steps[..begin]) } else { Vec::new() };
        let check = adds_check.then_some(Task::Check);
        let after = if repeat == last { tasks(&steps[end..]) } else { Vec::new() };
        before.into_iter().chain(tasks(&steps[begin..end])).chain(check).chain(after).collect()
    };
    Ok((1..=last).map(of).collect())
}

fn tasks(steps: &[Step]) -> Vec<Task> {
    let task = |step: &Step| match step {
        Step::Clean => Task::Clean,
        Step::Load => Task::Load,
        Step::Run => Task::Drive,
        Step::Check => Task::Check,
    };
    steps.iter().map(task).collect()
}
