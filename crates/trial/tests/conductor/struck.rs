//! What befalls a run from outside, in each phase of a trial, as one table. An agent is killed or stopped, the user asks to end, or
//! the conductor is killed. Phases that are over before a signal arrives are left to agents that fail by themselves.
//!
//! Each row strikes once, and the run goes on. In the end it is complete, and nothing of it is left.

use crate::ground::{Ground, RUN, go_on_in, short};
use crate::starved::counts_or_was_starved;
use Victim::{Agents, Conductor, User};
use record::event::Event;
use record::folder::{RunFolder, TrialFolder};
use record::trial::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use trial::limits::Limits;
use trial::order::Tallied;

/// Who gets the signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// Those of these machines.
    Agents(&'static [u32]),
    /// The conductor, from its user: [`Signal::INT`] asks to end after this trial, [`Signal::TERM`] asks to end now.
    User,
    /// The conductor's process.
    Conductor,
}

/// The phase that is announced when it strikes, the victim, the signal, and what is expected: words of the failure, or what was kept.
type Blow = (&'static str, Victim, Signal, &'static str);

const KILLED: &str = "signal: 9 (SIGKILL)";
const FINISHED: &str = "trial.json";
const GIVEN_UP: &str = "interrupted.json";
const NOTHING: &str = "";

const TABLE: [Blow; 19] = [
    ("clone", Agents(&[2]), Signal::KILL, KILLED),
    ("start", Agents(&[2]), Signal::KILL, KILLED),
    ("warm up", Agents(&[1]), Signal::KILL, KILLED),
    ("measure", Agents(&[1, 2]), Signal::KILL, KILLED),
    ("warm up", Agents(&[2]), Signal::STOP, "3s"),
    ("measure", Agents(&[1]), Signal::STOP, "3s"),
    ("boot", User, Signal::INT, FINISHED),
    ("start", User, Signal::INT, FINISHED),
    ("measure", User, Signal::INT, FINISHED),
    ("clone", User, Signal::TERM, GIVEN_UP),
    ("boot", User, Signal::TERM, GIVEN_UP),
    ("start", User, Signal::TERM, GIVEN_UP),
    ("warm up", User, Signal::TERM, GIVEN_UP),
    ("measure", User, Signal::TERM, GIVEN_UP),
    ("clone", Conductor, Signal::KILL, NOTHING),
    ("boot", Conductor, Signal::KILL, NOTHING),
    ("start", Conductor, Signal::KILL, NOTHING),
    ("warm up", Conductor, Signal::KILL, NOTHING),
    ("measure", Conductor, Signal::KILL, NOTHING),
];

/// What is started or killed is there or gone within this time.
const LONG: Duration = Duration::from_mins(1);

fn rows(is_meant: impl Fn(Victim, Signal) -> bool) -> Vec<Blow> {
    TABLE.into_iter().filter(|(_, victim, signal, _)| is_meant(*victim, *signal)).collect()
}

/// The agents of a run, by what their command lines have beside its folder.
fn agents(folder: &Path, words: &str) -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_meant = |process: &i32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let program = line.split('\0').next().unwrap_or_default();
        program.ends_with("/bakeoff") && line.contains(&*folder.to_string_lossy()) && line.contains(words)
    };
    numbers.filter(is_meant).filter_map(Pid::from_raw).collect()
}

/// Looks until it finds what it waits for; there is no event for what happens to other processes.
fn until<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let (deadline, (_nobody_speaks, silence)) = (Instant::now() + LONG, channel::<()>());
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "{what}");
        let _ = silence.recv_timeout(Duration::from_millis(5));
    }
}

fn none_alive(folder: &Path, words: &str) {
    until("agents are left", || agents(folder, words).is_empty().then_some(()));
}

/// The records of complete trials, as they are on disk.
fn complete(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let trials = std::fs::read_dir(folder.join(RUN).join("trials")).unwrap().flatten();
    let files = trials.map(|trial| trial.path().join(FINISHED));
    files.filter_map(|file| Some((file.clone(), std::fs::read(&file).ok()?))).collect()
}

fn trial(folder: &Path, id: u32) -> TrialFolder {
    RunFolder::open(&folder.join(RUN)).unwrap().trial(id)
}

/// One trial for each row, and one that nothing befalls.
fn each_strikes_an_agent(blows: &[Blow], limits: Limits) -> Ground {
    let ground = Ground::sound(blows.len() + 1, 2, limits);
    let tallied = ground.go_on(false, &mut |event, _| {
        let Event::PhaseStarted { trial, phase, .. } = event else { return };
        if *trial > 1 && phase == "clone" {
            none_alive(ground.folder(), &format!("\0trial-{:04}", trial - 1));
        }
        let Some((_, Agents(machines), signal, _)) = blows.get(*trial as usize - 1).filter(|blow| blow.0 == phase)
        else {
            return;
        };
        for machine in *machines {
            let name = format!("\0trial-{trial:04}-{machine}\0");
            let agent = until("no agent to strike", || agents(ground.folder(), &name).pop());
            kill_process(agent, *signal).unwrap();
        }
    });
    assert_eq!(tallied.failed as usize, blows.len());
    counts(&ground.run.trial(tallied.failed + 1));
    for (id, blow) in (1..).zip(blows) {
        fails_by_name(&ground.run.trial(id), blow);
    }
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
    ground
}

/// The trial counts, however busy this host was.
fn counts(trial: &TrialFolder) {
    let record = trial.record().unwrap();
    assert!(counts_or_was_starved(&record), "{:?}", record.outcome);
}

/// The reason names a machine that was struck, and the others ended in order.
fn fails_by_name(trial: &TrialFolder, blow: &Blow) {
    let (_, Agents(struck), _, words) = blow else { panic!("{blow:?}") };
    let Outcome::Failed { why, .. } = trial.record().unwrap().outcome else { panic!("{blow:?}") };
    let is_named = struck.iter().any(|machine| why.starts_with(&format!("machine {machine}: ")));
    assert!(is_named && why.contains(words), "{blow:?}: {why}");
    for number in (1..=2).filter(|number| !struck.contains(number)) {
        let machine = trial.machine(number).record().unwrap();
        let in_order = match &machine.outcome {
            Outcome::Completed => true,
            Outcome::Failed { why, .. } => why.starts_with("given up, because another"),
            _ => false,
        };
        assert!(in_order, "{blow:?}, machine {number}: {:?}", machine.outcome);
    }
}

#[test]
fn an_agent_that_is_killed_in_any_phase_fails_its_trial_by_name() {
    each_strikes_an_agent(
        &rows(|victim, signal| matches!(victim, Agents(_)) && signal == Signal::KILL),
        Limits::default(),
    );
}

#[test]
fn an_agent_that_is_stopped_in_any_phase_fails_its_trial_by_name() {
    let blows = rows(|victim, signal| matches!(victim, Agents(_)) && signal == Signal::STOP);
    let ground = each_strikes_an_agent(&blows, short());
    // A failure is an answer, until it is asked for again.
    assert_eq!(ground.go_on(false, &mut |_, _| ()), Tallied::default());
    assert_eq!(ground.go_on(true, &mut |_, _| ()).failed, 0);
    (1..).zip(&blows).for_each(|(id, _)| counts(&ground.run.trial(id)));
    let again = ground.run.trial(1).record().unwrap();
    assert!(again.warnings[0].contains("it was run again"), "{:?}", again.warnings);
    assert_eq!(ground.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_user_who_asks_to_end_gets_it_after_the_trial_or_now_and_the_run_goes_on() {
    let blows = rows(|victim, _| victim == User);
    let finishing = blows.iter().filter(|blow| blow.3 == FINISHED).count();
    let ground = Ground::sound(finishing + 1, 2, Limits::default());
    let mut before = BTreeMap::new();
    for (at, blow) in blows.iter().enumerate() {
        let (phase, _, signal, kept) = *blow;
        let mut last = 0;
        let tallied = ground.go_on(false, &mut |event, interrupts| {
            let Event::PhaseStarted { trial, phase: begun, .. } = event else { return };
            last = *trial;
            if begun == phase {
                interrupts.raise();
                (signal == Signal::TERM).then(|| interrupts.raise());
            }
        });
        let id = u32::try_from(at.min(finishing)).unwrap() + 1;
        assert_eq!((last, tallied.interrupted), (id, true), "{blow:?}");
        assert_eq!(tallied.completed + tallied.invalid, u32::from(kept == FINISHED), "{blow:?}");
        assert!(ground.run.trial(id).path().join(kept).exists(), "{blow:?}");
        assert_eq!(complete(ground.folder()).len(), (at + 1).min(finishing), "{blow:?}");
        assert!(before.iter().all(|(file, bytes)| std::fs::read(file).unwrap() == *bytes), "{blow:?}");
        before = complete(ground.folder());
        assert_eq!(ground.left(), Vec::<PathBuf>::new(), "{blow:?}");
    }
    ground.go_on(false, &mut |_, _| ());
    (1..).take(finishing + 1).for_each(|id| counts(&ground.run.trial(id)));
}

/// This crate's example, which is built with its tests.
fn bare_conductor(folder: &Path) -> Command {
    let tests = std::env::current_exe().unwrap();
    let mut command = Command::new(tests.parent().unwrap().with_file_name("examples").join("bare_conductor"));
    command.arg(folder);
    command
}

#[test]
fn a_conductor_that_is_killed_in_any_phase_leaves_no_machine_and_another_goes_on() {
    let folder = Ground::sound(2, 2, Limits::default()).leave();
    let folder = folder.path();
    for (phase, ..) in rows(|victim, _| victim == Conductor) {
        // The first trial was completed by the first row's conductor.
        let until_here = format!("2 {phase}");
        let mut conductor = bare_conductor(folder).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(conductor.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(said.any(|line| line == until_here), "it never came to {until_here}");
        conductor.kill().unwrap();
        conductor.wait().unwrap();
        none_alive(folder, "");
        assert!(trial(folder, 1).is_complete() && !trial(folder, 2).is_complete(), "{phase}");
    }
    let before = complete(folder);
    go_on_in(folder, &mut |_, _| ());
    counts(&trial(folder, 2));
    assert!(before.iter().all(|(file, bytes)| std::fs::read(file).unwrap() == *bytes), "a trial was repeated");
    assert_eq!(std::fs::read_dir(folder.join("cache/scratch")).unwrap().count(), 0);
}
