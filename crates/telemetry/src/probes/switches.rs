//! Switches between tasks, tasks created, and tasks that are running or blocked now (`/proc/stat`).

use super::fields::Field;

pub const FIELDS: &[Field] = &[
    Field::counts("ctxt", "context", ""),
    Field::counts("processes", "forks", ""),
    Field::stands("procs_running", "running", "tasks"),
    Field::stands("procs_blocked", "blocked", "tasks"),
];

#[cfg(test)]
mod tests {
    use super::super::fields;
    use super::*;
    use crate::counter::Counter;

    #[test]
    fn switches_are_counted_and_tasks_stand() {
        let text = "cpu  1 2\nintr 5 0\nctxt 387479140\nbtime 1795262269\nprocesses 884647\nprocs_running 10\nprocs_blocked 0\n";
        let expected = [
            Counter::counts("switches.context", "", 387_479_140),
            Counter::counts("switches.forks", "", 884_647),
            Counter::stands("switches.running", "tasks", 10),
            Counter::stands("switches.blocked", "tasks", 0),
        ];
        assert_eq!(fields::counters(text, "switches", FIELDS), expected);
    }
}
