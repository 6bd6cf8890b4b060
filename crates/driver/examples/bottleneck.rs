//! Finds the load at which the driver becomes the bottleneck. One shard drives a database that answers every statement
//! after exactly one millisecond, by a kernel timer. The driver causes whatever a transaction takes beyond that.
//!
//! `cargo run --release -p driver --example bottleneck` prints what docs/findings.md quotes. Run it on a quiet machine,
//! or under `chrt -f 50`.

#![allow(clippy::print_stdout, reason = "this program is its output")]

use driver::drive;
use driver::error::DriveError;
use driver::plan::{ArrivalProcess, Control, DrivePlan, Pacing};
use engines::session::{Access, Connect, Param, ResultSet, Session, SessionError, SessionWork};
use engines::statement::{Dialect, Statement, StatementId};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use workloads::effects::Effects;
use workloads::random::RandomStream;
use workloads::workload::{Ending, Pause, TransactionKind, User, Workload};

const SERVICE_NS: i64 = 1_000_000;
const WARMUP_MS: u64 = 1_000;
const MEASURE_MS: u64 = 4_000;
const RATES: [f64; 9] = [2_000.0, 10_000.0, 30_000.0, 60_000.0, 100_000.0, 140_000.0, 180_000.0, 220_000.0, 300_000.0];
const CLIENTS: [u32; 8] = [8, 32, 64, 128, 192, 256, 384, 512];
/// More sessions than are ever busy at once, so no arrival waits for one.
const SESSIONS: u32 = 2_000;

struct Timers;

struct TimerSession {
    timer: OwnedFd,
    results: ResultSet,
    work: SessionWork,
}

fn lost(error: Errno) -> SessionError {
    SessionError::Lost(error.into())
}

impl Connect for Timers {
    type Session = TimerSession;

    fn connect(&self) -> Result<TimerSession, SessionError> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(lost)?;
        Ok(TimerSession { timer, results: ResultSet::default(), work: SessionWork::default() })
    }
}

impl Session for TimerSession {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.timer.as_fd())
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    async fn begin(&mut self, _: Access) -> Result<(), SessionError> {
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    async fn execute(&mut self, _: StatementId, _: &[Param<'_>]) -> Result<&ResultSet, SessionError> {
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let once = Itimerspec { it_interval: never, it_value: Timespec { tv_sec: 0, tv_nsec: SERVICE_NS } };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once).map_err(lost)?;
        let mut sent = false;
        poll_fn(|_| {
            if !std::mem::replace(&mut sent, true) {
                return Poll::Pending;
            }
            match rustix::io::read(&self.timer, &mut [0_u8; 8]) {
                Ok(_) => Poll::Ready(Ok(())),
                Err(Errno::AGAIN) => Poll::Pending,
                Err(error) => Poll::Ready(Err(lost(error))),
            }
        })
        .await?;
        self.work.statements += 1;
        Ok(&self.results)
    }

    async fn execute_text(&mut self, _: &'static str, _: &str) -> Result<&ResultSet, SessionError> {
        self.execute(StatementId(u16::MAX), &[]).await
    }

    fn work(&self) -> SessionWork {
        self.work
    }
}

/// A transaction is one statement. Terminals think for exponentially distributed times with a mean of 20 seconds.
struct OneStatement;

const THINKING_MEAN_S: f64 = 20.0;
const TERMINALS: u32 = 200_000;
const TERMINAL_SESSIONS: u32 = 256;

impl Workload for OneStatement {
    type Input = ();
    type Client = RandomStream;
    const COUNTERS: &'static [&'static str] = &[];

    fn kinds(&self) -> &'static [TransactionKind] {
        const { &[TransactionKind::transaction("statement", true)] }
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn client(&self, user: User) -> RandomStream {
        RandomStream::new(user.seed, "client", [user.index, 0])
    }

    fn next(&self, _: &mut RandomStream) -> Option<()> {
        Some(())
    }

    fn pause(&self, client: &mut RandomStream, (): &(), terminal: bool) -> Pause {
        let chance = 1.0 - (client.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let thinking = if terminal { -chance.ln() * THINKING_MEAN_S } else { 0.0 };
        Pause { keying: Duration::ZERO, thinking: Duration::from_secs_f64(thinking) }
    }

    fn kind(&self, (): &()) -> u16 {
        0
    }

    async fn run<S: Session>(&self, session: &mut S, (): &(), _: &mut Effects<'_, ()>) -> Result<Ending, SessionError> {
        session.execute(StatementId(0), &[]).await?;
        Ok(Ending::Committed)
    }
}

fn measure(what: &str, pacing: Pacing) -> Result<(), DriveError> {
    let plan = DrivePlan { shards: 1, ..DrivePlan::timed(pacing, WARMUP_MS, MEASURE_MS, 1) };
    let facts = drive(&OneStatement, &Timers, &plan, &Control::default(), &mut |_| ())?.facts;
    let done = facts.kinds[0].committed as f64 * 1_000.0 / facts.measured_ms as f64;
    let testimony = &facts.testimony;
    println!(
        "{what:>16} {done:>9.0} {:>6.1} % {:>7} {:>7} {:>9} {:>9} {:>9} {:>8.2}",
        testimony.busiest_shard * 100.0,
        testimony.lateness_p50_us,
        testimony.lateness_p99_us,
        testimony.response.p50_us,
        testimony.response.p99_us,
        testimony.service.p99_us,
        testimony.cpu_ns_per_statement.unwrap_or(0) as f64 / 1_000.0,
    );
    Ok(())
}

fn main() -> Result<(), DriveError> {
    println!("Service is 1000 µs. Times in µs.\n");
    println!(
        "{:>16} {:>9} {:>8} {:>7} {:>7} {:>9} {:>9} {:>9} {:>8}",
        "asked for", "done/s", "busy", "late50", "late99", "resp50", "resp99", "serv99", "CPU/stmt"
    );
    let pacing = Pacing::Terminals { terminals: TERMINALS, sessions: TERMINAL_SESSIONS };
    measure(&format!("{TERMINALS} term."), pacing)?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("most memory so far: {}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("not known"));
    for per_second in RATES {
        let pacing = Pacing::Arrivals { per_second, process: ArrivalProcess::Poisson, sessions: SESSIONS };
        measure(&format!("{per_second}/s"), pacing)?;
    }
    for clients in CLIENTS {
        measure(&format!("{clients} clients"), Pacing::Clients { clients })?;
    }
    Ok(())
}
