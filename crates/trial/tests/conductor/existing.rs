//! Trials on a server that is already running: here an SQLite file, which this process opens itself.

use crate::ground::decided;
use agent::looks::Edge;
use agent::protocol::{Reply, Request};
use agent::service::{Folders, serve};
use driver::plan::{DrivePlan, LoadPhase, Pacing, PhaseLimit, Together, UserStream};
use engines::server::Endpoint;
use engines::sqlite::settings::DatabaseFile;
use machines::clock::monotonic_ns;
use machines::interrupts::Interrupts;
use machines::link::AgentLink;
use machines::transport::Transport;
use record::folder::TrialFolder;
use record::looks::{Look, StoredCounters};
use record::script::PhaseEnd;
use record::trial::{Outcome, TrialRecord};
use serde_json::json;
use settings::Chosen;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use study::ChosenWorkload;
use trial::conversation::AskError;
use trial::error::AttemptError;
use trial::events::Heard;
use trial::existing::ExistingOrder;
use trial::task::Task::{self, Check, Clean, Drive, Load};
use trial::unfit::Unfit;

const SECOND_NS: u64 = 1_000_000_000;

fn file(folder: &Path) -> Endpoint {
    Endpoint::Sqlite(DatabaseFile {
        file: folder.join("shop.db"),
        journal_mode: "wal".to_owned(),
        synchronous: "full".to_owned(),
        cache_bytes: 1 << 20,
        busy_timeout_ms: 1_000,
        wal_autocheckpoint_pages: 1_000,
    })
}

fn workload(rows: u64) -> ChosenWorkload {
    let kind = "sysbench-oltp";
    let keys = workloads::catalog::entry(kind).unwrap().keys;
    let mut settings = decided(kind, keys, &json!({ "tables": 1, "table_size": rows }));
    settings.remove("kind");
    ChosenWorkload::new(Chosen { kind: kind.to_owned(), settings }).unwrap()
}

/// What was reported, and how the trial ended.
fn carried_out(
    endpoint: Endpoint,
    rows: u64,
    tasks: &[Task],
    folder: Option<PathBuf>,
) -> (Vec<String>, Result<(), AttemptError>) {
    let load = json!({ "placement": "outside", "clients": 2, "warmup": "0s", "measure": "1s", "telemetry": false });
    let load = settings::check_written(load.as_object().unwrap(), study::LOAD).unwrap();
    let order = ExistingOrder::new(endpoint, workload(rows), load).unwrap();
    assert!(order.plan(1, 7).cells[0].settings.is_of_existing_server());
    let (trial, folder) = (order.plan(1, 7).trials.remove(0), folder.map(TrialFolder::alone));
    let mut told = Vec::new();
    let ended = order.carry_out(&trial, tasks, folder, &Interrupts::default(), &mut |heard| match heard {
        Heard::Event(_) => {}
        Heard::Server(report) => assert!(report.version.starts_with("3."), "{report:?}"),
        Heard::Cleaned(tables) => told.push(format!("cleaned {}", tables.join(" "))),
        Heard::Loaded(rows, _) => told.push(format!("loaded {rows:?}")),
        Heard::Second(second) => assert!(!second.totals.is_empty()),
        Heard::Driven { driven, .. } => {
            assert!(driven.facts.work.statements > 0 && driven.facts.placement == "inside");
            told.push("driven".to_owned());
        }
        Heard::Checked(findings) => {
            assert!(
                !findings.is_empty() && !findings.iter().any(record::check::CheckResult::is_violated),
                "{findings:?}"
            );
            told.push(format!("checked {:?}", findings[0].moment));
        }
    });
    (told, ended)
}

#[test]
fn all_that_is_asked_for_is_done_in_that_order_and_recorded_as_a_trial() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let tasks = [Load, Check, Drive, Check, Clean];
    let (told, ended) = carried_out(file(folder.path()), 100, &tasks, Some(kept.clone()));
    ended.unwrap();
    let expected =
        [r#"loaded {"sbtest1": 100}"#, "checked AfterLoad", "driven", "checked AfterTrial", "cleaned sbtest1"];
    assert_eq!(told, expected);

    let record = TrialFolder::alone(kept.clone()).record().unwrap();
    assert!(matches!(record.outcome, Outcome::Completed | Outcome::Invalid { .. }), "{:?}", record.outcome);
    assert_eq!(phases(&record), "clone boot start load check warm up measure check load shut down stop");
    assert!(record.server.as_ref().unwrap().version.starts_with("3."), "{:?}", record.server);
    let machine = record.machine.as_ref().unwrap();
    assert!(machine.inside.is_empty() && machine.decided.is_empty());
    assert!(kept.join("intervals.hlog").exists() && !kept.join("logs/server.txt").exists());
    let counters: StoredCounters = serde_json::from_slice(&std::fs::read(kept.join("counters.json")).unwrap()).unwrap();
    assert!(counters.before.is_empty() && counters.after.is_empty());
}

fn phases(record: &TrialRecord) -> String {
    record.phases.iter().map(|span| span.phase.as_str()).collect::<Vec<_>>().join(" ")
}

/// SQLite's log disappears with the last connection, so it shows whether every connection was closed.
#[test]
fn whichever_step_fails_the_caller_learns_why_and_the_server_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let on_file = |rows, tasks: &[Task]| {
        let kept = folder.path().join("kept");
        let (told, ended) = carried_out(file(folder.path()), rows, tasks, Some(kept.clone()));
        assert!(!folder.path().join("shop.db-wal").exists(), "{tasks:?}");
        let Outcome::Failed { phase, why } = TrialFolder::alone(kept).record().unwrap().outcome else {
            panic!("{tasks:?} did not fail: {ended:?}");
        };
        let error = ended.unwrap_err();
        assert_eq!(why, error.to_string());
        (told.len(), phase, error)
    };
    let names = || vec!["sbtest1".to_owned()];
    let unfit = |error| if let AttemptError::Unfit(unfit) = error { unfit } else { panic!("{error}") };
    for task in [Drive, Check] {
        let (_, phase, error) = on_file(100, &[task]);
        assert_eq!(unfit(error), Unfit::Missing { tables: names(), task });
        assert_eq!(phase, "start");
    }
    let (told, phase, error) = on_file(100, &[Load, Load]);
    assert_eq!((told, phase.as_str(), unfit(error)), (1, "load", Unfit::Exist(names())));
    let (_, _, error) = on_file(99, &[Drive]);
    assert!(matches!(unfit(error), Unfit::OfOtherSize(_)));
    let (told, phase, error) = on_file(100, &[Drive, Clean, Check]);
    assert_eq!((told, phase.as_str()), (2, "load"));
    assert_eq!(unfit(error), Unfit::Missing { tables: names(), task: Check });
}

#[test]
fn a_server_that_is_not_there_fails_where_it_would_be_used() {
    let (told, ended) = carried_out(file(Path::new("/nonexistent")), 100, &[Load, Drive], None);
    let Err(AttemptError::Ask(AskError::Refused(failure))) = ended else { panic!("{ended:?}") };
    assert!(told.is_empty() && failure.why.contains("unable to open"), "{}", failure.why);
}

/// An agent in this process.
fn agent(folder: &Path) -> AgentLink {
    let (agent, inside) = UnixStream::pair().unwrap();
    let place = Folders { data: folder.to_owned(), logs: folder.join("logs") };
    std::thread::spawn(move || serve(inside.try_clone().unwrap(), inside, place));
    Transport::pipe(agent.try_clone().unwrap(), agent).connect(Duration::from_mins(1)).unwrap()
}

/// Passes on what comes before the answer to a request; returns the answer.
fn answered(link: &mut AgentLink, request: &Request, mut hear: impl FnMut(Reply, &mut AgentLink)) -> Reply {
    link.ask(0, request).unwrap();
    loop {
        match link.receive::<Reply>(Duration::from_mins(1)).unwrap().unwrap().1 {
            aside @ (Reply::Ready | Reply::Tick(_) | Reply::Interval(_) | Reply::Progress { .. } | Reply::Alive) => {
                hear(aside, link);
            }
            answer => return answer,
        }
    }
}

/// No workload of the catalog has its own phases yet, so the test plays the conductor's part.
#[test]
fn each_phase_of_a_script_waits_to_be_told_its_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut link = agent(folder.path());
    let workload = workload(1_000).chosen;
    let used = answered(&mut link, &Request::UseServer { endpoint: file(folder.path()) }, |_, _| ());
    assert!(matches!(used, Reply::Started(_)), "{used:?}");
    let loaded = answered(&mut link, &Request::Load { workload: workload.clone(), writers: 1, stay: None }, |_, _| ());
    assert!(matches!(loaded, Reply::Loaded { .. }), "{loaded:?}");

    let load = LoadPhase::timed(Pacing::Clients { clients: 2 }, 0, 1_000);
    let counted = |name: &str, transactions| {
        let stream = UserStream { transactions: Some(transactions), ..load.streams[0] };
        let until = PhaseLimit::StreamsEnd { limit_ms: 60_000 };
        LoadPhase { name: name.to_owned(), warmup_ms: 0, until, streams: vec![stream] }
    };
    let plan = DrivePlan::of(vec![counted("fill", 10), load.clone(), counted("settle", 6)], 1);
    let plan = DrivePlan { together: Some(Together { tail_s: 0 }), ..plan };
    let (mut told, mut seconds) = (Vec::new(), Vec::new());
    let driven = answered(&mut link, &Request::Drive { workload, plans: vec![plan] }, |aside, link| match aside {
        Reply::Ready => {
            // Later phases begin whole seconds after the first.
            let soonest_ns = monotonic_ns() + 100_000_000;
            let at_ns =
                told.first().map_or(soonest_ns, |first| first + (soonest_ns - first).next_multiple_of(SECOND_NS));
            told.push(at_ns);
            link.add(&Request::StartDriving { at_ns }).unwrap();
        }
        Reply::Interval(interval) => seconds.push(interval),
        _ => {}
    });
    let Reply::Driven(driven) = driven else { panic!("{driven:?}") };
    let facts = &driven[0].facts;
    assert_eq!(facts.window_start_ns, Some(told[0]));
    let starts: Vec<u64> = facts.phases.iter().map(|phase| told[0] + phase.start_ms * 1_000_000).collect();
    assert_eq!(starts, told, "each began when it was told to");
    let done: Vec<_> = facts.phases.iter().map(|phase| (phase.ended, phase.kinds[0].committed)).collect();
    assert_eq!((done[0], done[1].0, done[2]), ((PhaseEnd::Streams, 10), PhaseEnd::Time, (PhaseEnd::Streams, 6)));
    let measured_ms: u64 = seconds.iter().filter(|second| second.measured).map(|second| second.length_ms).sum();
    assert_eq!(measured_ms, facts.measured_ms);
}

#[test]
fn what_a_server_that_is_there_cannot_give_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let mut link = agent(folder.path());
    let mut ask = |request: Request| answered(&mut link, &request, |aside, _| panic!("{aside:?}"));
    let why = |reply| if let Reply::Failed(failure) = reply { failure.why } else { panic!("{reply:?}") };
    let used = ask(Request::UseServer { endpoint: file(folder.path()) });
    assert!(matches!(used, Reply::Started(_)), "{used:?}");
    assert_eq!(ask(Request::Counters), Reply::Counters([].into()));
    let Reply::Look(look) = ask(Request::Look { edge: Edge::Start }) else { panic!("no look") };
    let Look { database, device, cpu, counters, .. } = *look;
    assert!(database.known().unwrap().data_bytes.is_some() && counters.contains_key("page_count"), "{database:?}");
    for why_not in [device.why_not(), cpu.why_not()] {
        assert!(why_not.unwrap().contains("was not started by bakeoff"), "{why_not:?}");
    }
    // What the agent's own machine does can be sampled, wherever the server is.
    assert_eq!(ask(Request::StartSampling { origin_ns: 0 }), Reply::Done);
    assert_eq!(ask(Request::ServerLog), Reply::ServerLog(String::new()));
    assert_eq!(ask(Request::StopServer), Reply::Done);
    assert!(folder.path().join("shop.db").exists(), "it is left as it is");
    assert!(why(ask(Request::Counters)).contains("no server was started"));
}
