//! Rehearsing a study: its plan is played through from the first trial to the report, and nothing is measured.
//!
//! Every contender becomes a machine that is a thread of ours. It holds no data and runs no server. Load is driven on a
//! virtual clock, and transactions take a known time. So seconds show whether a study of ten hours can be carried out
//! as planned, in which order, and what its report will look like.

use agent::protocol::{Reply, Request};
use agent::tables::LoadedTables;
use driver::ServiceTimes;
use driver::plan::{Control, DrivePlan, LoadPhase, Pacing, SeenProgress};
use engines::server::{Endpoint, FurtherDatabase, ServerReport};
use machines::frame::{Greeting, Message, read_frame, write_frame};
use machines::machine::{Machine, MachineError};
use platforms::capabilities::{Capabilities, DataHome, ImageUse, ServerUse};
use platforms::entry::PlatformSettings;
use platforms::external;
use platforms::lease::Lease;
use platforms::order::Launched;
use platforms::platform::{OpenOrder, Platform, plain};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use workloads::catalog::AnyWorkload;

/// Settings of any platform, whose machines are threads of ours that answer as machines would.
#[derive(Debug)]
pub struct RehearsedPlatform(pub Arc<dyn PlatformSettings>);

impl PlatformSettings for RehearsedPlatform {
    fn can(&self) -> Capabilities {
        Capabilities { image: ImageUse::None, data: DataHome::Folder, executes: false, server: ServerUse::Started }
    }

    fn host(&self) -> Option<&str> {
        self.0.host()
    }

    fn hosts(&self) -> &[String] {
        self.0.hosts()
    }

    fn on_host(&self, host: &str) -> Option<Arc<dyn PlatformSettings>> {
        Some(Arc::new(Self(self.0.on_host(host)?)))
    }

    fn open(&self, _order: &OpenOrder<'_>) -> Result<Box<dyn Platform>, MachineError> {
        Ok(plain(|order| Ok(Lease::of_nothing(order)), |_, launched| start(launched)))
    }
}

/// About how many transactions of a machine are played in a trial if clients work back to back. That is enough for
/// every figure to have a value, and few enough to play hours in a moment.
const TRANSACTIONS: u32 = 10_000;
const SHORTEST: Duration = Duration::from_millis(1);
/// A transaction still under way after a second counts as unended, so transactions take less than that.
const LONGEST: Duration = Duration::from_millis(400);
const SPREAD: f64 = 0.5;

fn start(launched: Launched<'_>) -> Result<Box<dyn Machine>, MachineError> {
    let said = |name: &str, words: &str| (name.to_owned(), Ok(words.to_owned()));
    let decided = [said("processor", "rehearsed"), said("data cached twice", "no")].into();
    external::machine::start(serve, decided, launched)
}

/// Answers as an agent would until the other end hangs up.
fn serve(mut stream: UnixStream) -> io::Result<()> {
    write_frame(&mut stream, &Greeting::ours())?;
    let mut writer = stream.try_clone()?;
    while let Some(Message { number, instance, body }) = read_frame::<Message<Request>>(&mut stream)? {
        let mut say = |instance, body: Reply| write_frame(&mut writer, &Message { number, instance, body });
        if let Some(reply) = answer(body, &mut say)? {
            say(instance, reply)?;
        }
    }
    Ok(())
}

/// What a machine replies that has no server and drives on a virtual clock.
pub fn answer(request: Request, say: &mut dyn FnMut(u16, Reply) -> io::Result<()>) -> io::Result<Option<Reply>> {
    Ok(Some(match request {
        Request::Clock => Reply::Clock { monotonic_ns: machines::clock::monotonic_ns() },
        Request::Describe => Reply::Description(record::facts::Facts::default()),
        Request::StartServer { .. } | Request::UseServer { .. } => Reply::Started(Box::new(rehearsed())),
        Request::OpenDatabase => Reply::Opened(Box::new(FurtherDatabase { report: rehearsed(), is_empty: false })),
        Request::Tables { .. } => Reply::Tables(LoadedTables::default()),
        Request::DropListed | Request::Clean { .. } => Reply::Cleaned(Vec::new()),
        Request::Load { .. } => Reply::Loaded { rows: BTreeMap::new() },
        Request::Verify { .. } => Reply::Verified(BTreeMap::new()),
        Request::Check { .. } => Reply::Findings(Vec::new()),
        Request::State { .. } => Reply::State(BTreeMap::new()),
        Request::Receipts => Reply::Receipts(Vec::new()),
        Request::Counters => Reply::Counters(BTreeMap::new()),
        Request::Settings => Reply::Settings(BTreeMap::new()),
        Request::Drive { workload, plans } => return drive(&workload, &plans, say).map(Some),
        Request::ServerLog => Reply::ServerLog(String::new()),
        Request::StopServer | Request::KillServer | Request::MakeReceipts | Request::Shutdown => Reply::Done,
        Request::Look { .. } | Request::StartSampling { .. } | Request::StopSampling => {
            failed("there is nothing to look at in a rehearsal".to_owned())
        }
        // A rehearsed drive is over before any such message could arrive.
        Request::StartDriving { .. } | Request::StopDriving => return Ok(None),
    }))
}

fn rehearsed() -> ServerReport {
    ServerReport { version: "rehearsed".to_owned(), effective: BTreeMap::new(), endpoint: Endpoint::nowhere() }
}

fn failed(why: String) -> Reply {
    Reply::Failed(agent::protocol::Failure { why, instance: None, log: String::new() })
}

fn drive(
    workload: &settings::Chosen,
    plans: &[DrivePlan],
    say: &mut dyn FnMut(u16, Reply) -> io::Result<()>,
) -> io::Result<Reply> {
    let workload = match AnyWorkload::from_table(&workload.kind, &workload.settings) {
        Ok(workload) => workload,
        Err(problems) => return Ok(failed(format!("workload {}: {problems:?}", workload.kind))),
    };
    let (mut broken, mut all) = (None, Vec::with_capacity(plans.len()));
    // On a virtual clock, one after another is as good as all at once. Only the first reports ticks, so none comes twice.
    for (instance, plan) in (0..).zip(plans) {
        let mut tell = |reply| {
            if broken.is_none() {
                broken = say(instance, reply).err();
            }
        };
        let service = ServiceTimes::of_all(service_time(plan)).varied(SPREAD);
        let driven = driver::rehearse(&workload, plan, &service, &Control::default(), &mut |seen| match seen {
            SeenProgress::Ready | SeenProgress::Tick(_) if instance > 0 => {}
            SeenProgress::Ready => tell(Reply::Ready),
            SeenProgress::Tick(tick) => tell(Reply::Tick(tick)),
            SeenProgress::Second(second) => tell(Reply::Interval(second.interval)),
            SeenProgress::Receipts(_) => {}
        });
        match driven {
            Ok(driven) => all.push(driven),
            Err(error) => return Ok(failed(error.to_string())),
        }
    }
    broken.map_or(Ok(Reply::Driven(all)), Err)
}

/// The time of one transaction, chosen so that not many more than [`TRANSACTIONS`] are played.
fn service_time(plan: &DrivePlan) -> Duration {
    let pacing = plan.phases.first().and_then(LoadPhase::pacing);
    let Some(Pacing::Clients { clients }) = pacing else { return SHORTEST };
    let driven = Duration::from_millis(plan.window_ms().end);
    (driven * clients / TRANSACTIONS).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_as_long_as_keeps_them_few_and_ended() {
        let time = |clients, measure_ms| {
            let pacing = Pacing::Clients { clients };
            service_time(&DrivePlan::timed(pacing, 0, measure_ms, 1))
        };
        assert_eq!(time(1, 1_000), SHORTEST);
        assert_eq!(time(10, 60_000), Duration::from_millis(60));
        assert_eq!(time(200, 3_600_000), LONGEST);
    }
}
