//! A server that is there already: here an SQLite file, which this process opens itself.

use agent::protocol::{Reply, Request};
use agent::service::{Place, serve};
use engines::server::Endpoint;
use engines::sqlite::settings::DatabaseFile;
use machines::link::AgentLink;
use record::looks::Look;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

fn file(folder: &Path) -> Endpoint {
    Endpoint::Sqlite(DatabaseFile {
        file: folder.join("shop.db"),
        synchronous: "full".to_owned(),
        cache_bytes: 1 << 20,
        busy_timeout_ms: 1_000,
        wal_autocheckpoint_pages: 1_000,
    })
}

#[test]
fn what_a_server_that_is_there_cannot_give_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, inside) = UnixStream::pair().unwrap();
    let place = Place { data: folder.path().to_owned(), logs: folder.path().join("logs") };
    std::thread::spawn(move || serve(inside.try_clone().unwrap(), inside, place));
    let mut link = AgentLink::new(agent.try_clone().unwrap(), agent);
    link.greeting(Duration::from_mins(1)).unwrap();
    let mut ask = |request: Request| {
        link.ask(&request).unwrap();
        link.receive::<Reply>(Duration::from_mins(1)).unwrap().unwrap()
    };
    let why = |reply| if let Reply::Failed(failure) = reply { failure.why } else { panic!("{reply:?}") };
    let used = ask(Request::UseServer { endpoint: file(folder.path()) });
    assert!(matches!(used, Reply::Started(_)), "{used:?}");
    assert_eq!(ask(Request::Counters), Reply::Counters([].into()));
    let Reply::Look(look) = ask(Request::Look) else { panic!("no look") };
    let Look { database, device, cpu, .. } = *look;
    for why_not in [database.why_not(), device.why_not(), cpu.why_not()] {
        assert!(why_not.unwrap().contains("was not started by bakeoff"), "{why_not:?}");
    }
    assert!(why(ask(Request::StartSampling { origin_ns: 0 })).contains("was not started by bakeoff"));
    assert_eq!(ask(Request::ServerLog), Reply::ServerLog(String::new()));
    assert_eq!(ask(Request::StopServer), Reply::Done);
    assert!(folder.path().join("shop.db").exists(), "it is left as it is");
    assert!(why(ask(Request::Counters)).contains("no server was started"));
}
