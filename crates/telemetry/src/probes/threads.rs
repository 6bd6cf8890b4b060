//! One thread: time it ran, time it waited to run, migrations between CPUs, switches (`/proc/PID/task/TID/…`).
//!
//! The wait of a vCPU's thread is what its guest sees as stolen time, counted where it happens. The kernel books a
//! wait when it ends, and the time run at each tick of its clock.

use super::fields::{self, Field};
use super::{Opening, ProbeReading};
use crate::counter::Counter;
use crate::targets::ThreadTarget;

/// Fields of `sched`, which kernels built with `CONFIG_SCHED_DEBUG` have.
const SCHED: &[Field] = &[
    Field::counts("se.nr_migrations", "migrations", ""),
    Field::counts("nr_voluntary_switches", "voluntary", ""),
    Field::counts("nr_involuntary_switches", "involuntary", ""),
];

/// Fields of `status`, which all kernels have.
const STATUS: &[Field] = &[
    Field::counts("voluntary_ctxt_switches", "voluntary", ""),
    Field::counts("nonvoluntary_ctxt_switches", "involuntary", ""),
];

/// Indexes of the fields after the name in `stat`, and their columns: times in user and kernel mode, and time running
/// a guest, which user mode includes.
const TIMES: [(usize, &str); 3] = [(11, "user"), (12, "system"), (40, "guest")];

pub fn opening(target: &ThreadTarget) -> Opening {
    let folder = format!("/proc/{}/task/{}", target.process, target.thread);
    let label = target.label.clone();
    let remedy = "the thread must run and be visible; kernels built with CONFIG_SCHED_INFO count its waits";
    Opening::new(target.label.clone(), folder.clone(), remedy, move |files| {
        let mut counters = times_of_turns(&files.text(&format!("{folder}/schedstat"))?, &label)?;
        counters.extend(times(&files.text(&format!("{folder}/stat"))?, &label));
        let moves = match files.text(&format!("{folder}/sched")) {
            Ok(text) => fields::counters(&text, &label, SCHED),
            Err(_) => fields::counters(&files.text(&format!("{folder}/status"))?, &label, STATUS),
        };
        counters.extend(moves);
        Ok(counters)
    })
}

/// Parses "run wait turns"; run and wait are in nanoseconds.
pub fn parse_schedstat(text: &str) -> Option<[u64; 3]> {
    let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

/// Migrations, voluntary and involuntary switches, from the text of `sched`.
pub fn parse_sched(text: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = SCHED.iter().map(|field| fields::number(text, field.key)).collect();
    numbers?.try_into().ok()
}

fn times_of_turns(text: &str, label: &str) -> ProbeReading {
    let [run, wait, turns] =
        parse_schedstat(text).ok_or_else(|| format!("the kernel's times of {label} are {text:?}"))?;
    Ok(vec![
        Counter::counts(format!("{label}.run"), "ns", run),
        Counter::counts(format!("{label}.wait"), "ns", wait),
        Counter::counts(format!("{label}.turns"), "", turns),
    ])
}

/// The name may contain spaces and brackets, so the fields begin after the last bracket.
fn times(stat: &str, label: &str) -> Vec<Counter> {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let counter = |(place, name): (usize, &str)| {
        let ticks = words.get(place)?.parse().ok()?;
        Some(Counter::counts(format!("{label}.{name}"), "ticks", ticks))
    };
    TIMES.into_iter().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As recorded on Linux 6.18, with some lines left out.
    const SCHED_6_18: &str = "\
CPU 0/KVM (15853, #threads: 5)
-------------------------------------------------------------------
se.exec_start                                :      27295540.588603
se.sum_exec_runtime                          :          1733.004711
se.nr_migrations                             :                   31
nr_switches                                  :                 4021
nr_voluntary_switches                        :                 4010
nr_involuntary_switches                      :                   11
se.load.weight                               :              1048576
";
    /// In the form of Linux 4.19, with fewer spaces and some other lines.
    const SCHED_4_19: &str = "\
bash (77, #threads: 1)
-------------------------------------------------------------------
se.nr_migrations                             :                    4
nr_switches                                  :                   90
nr_voluntary_switches                        :                   80
nr_involuntary_switches                      :                   10
";

    #[test]
    fn turns_have_times() {
        let found = times_of_turns("5017436 103174 12\n", "vcpu.0").unwrap();
        assert_eq!(found[0], Counter::counts("vcpu.0.run", "ns", 5_017_436));
        assert_eq!(found[1], Counter::counts("vcpu.0.wait", "ns", 103_174));
        assert_eq!(found[2], Counter::counts("vcpu.0.turns", "", 12));
        assert!(times_of_turns("5 6\n", "vcpu.0").is_err());
    }

    #[test]
    fn moves_and_switches_of_two_kernels() {
        assert_eq!(parse_sched(SCHED_6_18), Some([31, 4_010, 11]));
        assert_eq!(parse_sched(SCHED_4_19), Some([4, 80, 10]));
        assert_eq!(parse_sched("bash (77, #threads: 1)\n"), None);
        let status = "Name:\tcat\nThreads:\t1\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        let found = fields::counters(status, "io", STATUS);
        assert_eq!(found, [Counter::counts("io.voluntary", "", 150), Counter::counts("io.involuntary", "", 545)]);
    }

    #[test]
    fn the_43rd_field_is_time_in_the_guest() {
        let stat = "15853 (CPU 0/KVM (x)) S 1 1 1 0 -1 4194368 9 0 0 0 173 12 0 0 20 0 5 0 2512429 5259264 928 \
                    18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 -1 1 0 0 0 160 0 0 0 0 0 0 0 0 0";
        let expected = [
            Counter::counts("vcpu.0.user", "ticks", 173),
            Counter::counts("vcpu.0.system", "ticks", 12),
            Counter::counts("vcpu.0.guest", "ticks", 160),
        ];
        assert_eq!(times(stat, "vcpu.0"), expected);
        assert!(times("7 (cut off", "vcpu.0").is_empty());
    }
}
