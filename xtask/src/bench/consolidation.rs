//! Eight machines side by side against one: what it takes to prepare them, to start them at the same moment, and to drive them.
//!
//! Everything comes from runs of studies, as users run them: from their records, and from the process that conducts them.

use super::Ground;
use super::bar::{Asked, Bar, median, spread, verdict};
use super::sharing::Sharing;
use super::study::{self, Ended};
use anyhow::{Context, ensure};
use serde_json::Value;
use std::fs;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const MANY: u32 = 8;

const MOST_SKEW_MS: f64 = 5.0;
const MOST_PREPARING: f64 = 1.5;
const MOST_DRIVER_CPU: f64 = 1.1;
const MOST_CONDUCTOR: f64 = 0.01;

/// How long the conductor is observed, within a slightly longer window.
const WATCHED: Duration = Duration::from_secs(8);

const STUDY: &str = r#"
question = "What do several machines cost that one does not?"
seed     = 1
blocks   = BLOCKS

[machine]
count         = COUNT
vcpus         = 1
memory        = "384MiB"
disk          = { size = "1GiB" }
oversubscribe = true

[engine]
kind = "ENGINE"

[workload]
kind       = "sysbench-oltp"
test       = "point_select"
table_size = 10_000

[load]
placement = "PLACEMENT"
clients   = 2
warmup    = "1s"
measure   = "MEASURE"

[[contender]]
name     = "machines"
baseline = true
platform = PLATFORM
"#;

const NATIVE: &str = r#"{ kind = "native" }"#;
const GUEST: &str = r#"{ kind = "qemu", accelerator = "auto" }"#;

pub fn race(ground: &Ground, trials: u32, rounds: u32) -> anyhow::Result<()> {
    ensure!(trials > 0 && rounds > 0, "a race has at least one round");
    let mut bars = vec![
        skew(ground, "native machines", NATIVE, trials)?,
        skew(ground, "guests", GUEST, trials)?,
        preparing(ground, rounds, "on this file system")?,
        driver_cpu(ground, rounds)?,
        conductor(ground)?,
    ];
    match Sharing::new(ground) {
        Ok(sharing) => bars.push(preparing(&sharing.ground, rounds, "where files share blocks")?),
        Err(why) => println!("preparing machines where files share blocks: unavailable, because {why:#}"),
    }
    verdict(&bars)
}

fn study_of(count: u32, engine: &str, placement: &str, platform: &str, measure: &str, blocks: u32) -> String {
    let text = STUDY.replace("BLOCKS", &blocks.to_string()).replace("COUNT", &count.to_string());
    let text = text.replace("ENGINE", engine).replace("PLACEMENT", placement);
    text.replace("PLATFORM", platform).replace("MEASURE", measure)
}

/// Figures of one machine and of many in each round. They take turns at going first.
fn in_turns<T>(rounds: u32, of: impl Fn(u32) -> anyhow::Result<T>) -> anyhow::Result<(Vec<T>, Vec<T>)> {
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        if round % 2 == 0 {
            one.push(of(1)?);
            many.push(of(MANY)?);
        } else {
            many.push(of(MANY)?);
            one.push(of(1)?);
        }
    }
    Ok((one, many))
}

fn ratios(many: &[f64], one: &[f64]) -> Vec<f64> {
    many.iter().zip(one).map(|(many, one)| many / one).collect()
}

/// How far apart, on the host's clock, the measured windows of machines with load inside are.
fn skew(ground: &Ground, what: &str, platform: &str, trials: u32) -> anyhow::Result<Bar> {
    let run = study::run(ground, "skew", &study_of(MANY, "sqlite", "inside", platform, "1s", trials))?;
    let analysis = run.json("analysis.json")?;
    let skews = analysis["consolidation"][0]["skew"].as_array().cloned().unwrap_or_default();
    let of = |name: &str| -> Vec<f64> { skews.iter().filter_map(|skew| skew[name].as_f64()).collect() };
    let (starts, ends, uncertain) = (of("start_ms"), of("end_ms"), of("uncertain_ms"));
    ensure!(!starts.is_empty(), "no trial of {what} says how far its windows lie apart; the run said:\n{}", run.said);
    let worst: Vec<f64> = starts.iter().zip(ends).map(|(start, end)| start.max(end)).collect();
    let most_uncertain = uncertain.into_iter().fold(0.0, f64::max);
    println!(
        "windows of {MANY} {what}: apart by {} ms at the median, least and most; known to {most_uncertain:.2} ms; {} of {trials} trials",
        spread(worst.clone()),
        worst.len(),
    );
    Ok(Bar {
        what: format!("{MANY} {what}: how far windows lie apart, 99th percentile of {} trials, ms", worst.len()),
        found: percentile_99(worst),
        asked: Asked::AtMost(MOST_SKEW_MS),
    })
}

/// The value that 99 of 100 do not exceed; for fewer than a hundred values, the largest.
fn percentile_99(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * 99).div_ceil(100);
    rank.checked_sub(1).map_or(f64::NAN, |index| values[index])
}

/// From the start of `bakeoff run` until all machines have their disks, with data loaded before.
fn preparing(ground: &Ground, rounds: u32, place: &str) -> anyhow::Result<Bar> {
    let of = |count: u32| -> anyhow::Result<[f64; 2]> {
        let begun = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs_f64() * 1e3;
        let text = study_of(count, "postgres", "outside", NATIVE, "1s", 1);
        let run = study::run(ground, "preparing", &text)?;
        let clones = clones_ms(&run, count)?;
        Ok([first_clone_at_ms(&run)? - begun + clones, clones])
    };
    // This run loads the data.
    of(1)?;
    let (one, many) = in_turns(rounds, of)?;
    let figure = |rounds: &[[f64; 2]], which: usize| -> Vec<f64> { rounds.iter().map(|round| round[which]).collect() };
    let told = |what: &str, which: usize| {
        let (one, many) = (figure(&one, which), figure(&many, which));
        let ratios = ratios(&many, &one);
        println!(
            "{what}: {} ms of {MANY} machines, {} ms of one; of one: {}",
            spread(many),
            spread(one),
            spread(ratios.clone())
        );
        ratios
    };
    let whole = told(&format!("{place}: from the start of the run until machines could boot"), 0);
    told("of that the cloning of disks", 1);
    Ok(Bar {
        what: format!("preparing {MANY} machines from loaded data, of preparing one, {place}"),
        found: median(whole),
        asked: Asked::AtMost(MOST_PREPARING),
    })
}

fn first_clone_at_ms(run: &Ended) -> anyhow::Result<f64> {
    let events = run.text("events.jsonl")?;
    let mut events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let clone = events.find(|event| event["event"] == "phase-started" && event["phase"] == "clone");
    clone.and_then(|event| event["at_ms"].as_f64()).with_context(|| format!("nothing was cloned:\n{}", run.said))
}

/// The longest cloning among all machines of the first trial.
fn clones_ms(run: &Ended, count: u32) -> anyhow::Result<f64> {
    let clone_ms = |record: Value| -> Option<f64> {
        let phases = record["phases"].as_array()?;
        phases.iter().find(|phase| phase["phase"] == "clone")?["length_ms"].as_f64()
    };
    let each = records(run, count)?.into_iter().map(clone_ms);
    let each = each.collect::<Option<Vec<f64>>>().with_context(|| format!("nothing was cloned:\n{}", run.said))?;
    Ok(each.into_iter().fold(0.0, f64::max))
}

/// The records of all machines of the first trial.
fn records(run: &Ended, count: u32) -> anyhow::Result<Vec<Value>> {
    let folder = "trials/0001";
    if count == 1 {
        return Ok(vec![run.json(&format!("{folder}/trial.json"))?]);
    }
    (1..=count).map(|machine| run.json(&format!("{folder}/machines/{machine}/trial.json"))).collect()
}

/// The load engine's CPU time per statement when one process drives all machines, each with as many clients as the one.
fn driver_cpu(ground: &Ground, rounds: u32) -> anyhow::Result<Bar> {
    let of = |count: u32| -> anyhow::Result<f64> {
        let run = study::run(ground, "driver", &study_of(count, "postgres", "outside", NATIVE, "4s", 1))?;
        let cpu_us = cpu_us_of_a_statement(&records(&run, count)?);
        cpu_us.with_context(|| format!("nothing was driven:\n{}", run.said))
    };
    let (one, many) = in_turns(rounds, of)?;
    let ratios = ratios(&many, &one);
    println!(
        "CPU of the load engine for a statement: {} µs with {MANY} machines, {} µs with one; of one: {}",
        spread(many),
        spread(one),
        spread(ratios.clone())
    );
    Ok(Bar {
        what: format!("CPU of the load engine for a statement with {MANY} machines, of that with one"),
        found: median(ratios),
        asked: Asked::AtMost(MOST_DRIVER_CPU),
    })
}

fn cpu_us_of_a_statement(machines: &[Value]) -> Option<f64> {
    let sum = |of: fn(&Value) -> Option<f64>| machines.iter().map(of).sum::<Option<f64>>();
    let cpu_ns = sum(|machine| machine["driver"]["testimony"]["cpu_ns"].as_f64())?;
    let statements = sum(|machine| machine["driver"]["work"]["statements"].as_f64())?;
    (statements > 0.0).then(|| cpu_ns / 1e3 / statements)
}

/// CPU time of the whole conducting process, including the host's sampling, while agents in eight machines drive.
fn conductor(ground: &Ground) -> anyhow::Result<Bar> {
    let mut share = None;
    let measure = format!("{}s", WATCHED.as_secs() + 2);
    let text = study_of(MANY, "sqlite", "inside", NATIVE, &measure, 1);
    let run = study::watched(ground, "conductor", &text, &[], &mut |pid, line| {
        if line.ends_with(": measure") {
            let (before, begin) = (cpu_ns(pid)?, Instant::now());
            thread::sleep(WATCHED);
            let spent_ns = cpu_ns(pid)?.saturating_sub(before);
            share = Some(spent_ns as f64 / begin.elapsed().as_nanos() as f64);
        }
        Ok(())
    })?;
    let share = share.with_context(|| format!("nothing was measured:\n{}", run.said))?;
    println!(
        "CPU of the conductor while {MANY} machines are measured, sampling included: {:.2} % of one",
        100.0 * share
    );
    Ok(Bar {
        what: format!("CPU of the conductor while {MANY} machines are measured, share of one"),
        found: share,
        asked: Asked::AtMost(MOST_CONDUCTOR),
    })
}

/// The CPU time of all threads of a process.
fn cpu_ns(pid: u32) -> anyhow::Result<u64> {
    let tasks = format!("/proc/{pid}/task");
    let threads = fs::read_dir(&tasks).with_context(|| format!("looking into {tasks}"))?;
    // A thread that has just ended no longer exists.
    let each = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    Ok(each.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_largest_of_few_is_what_99_of_100_do_not_exceed() {
        assert!((percentile_99((1..=20).map(f64::from).collect()) - 20.0).abs() < 1e-12);
        assert!((percentile_99((1..=200).map(f64::from).collect()) - 198.0).abs() < 1e-12);
        assert!(percentile_99(Vec::new()).is_nan());
    }

    #[test]
    fn statements_and_cpu_of_all_machines_are_added() {
        let machine = |cpu_ns: u64, statements: u64| json!({ "driver": { "testimony": { "cpu_ns": cpu_ns }, "work": { "statements": statements } } });
        let both = cpu_us_of_a_statement(&[machine(9_000, 1), machine(3_000, 5)]).unwrap();
        assert!((both - 2.0).abs() < 1e-12, "{both}");
        assert_eq!(cpu_us_of_a_statement(&[machine(9_000, 1), json!({ "driver": null })]), None);
    }
}
