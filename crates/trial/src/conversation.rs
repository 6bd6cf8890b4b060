//! Asking an agent and waiting for the answer, with a limit on silence and an ear for the user.

use crate::interrupts::Halt;
use agent::protocol::{Failure, Reply, Request};
use machines::clock::monotonic_ns;
use machines::link::{AgentLink, LinkError};
use record::trial::ClockReading;
use std::time::{Duration, Instant};

/// How often the user's wishes are looked at while waiting.
const LOOK_UP: Duration = Duration::from_millis(100);
/// An agent that works at something gives a sign of life every ten seconds, even on an emulated CPU that has many others beside it.
const LIFELESS: Duration = Duration::from_mins(1);
/// An agent that has nothing to compute answers within this, even on an emulated CPU.
const PROMPT_LIMIT: Duration = Duration::from_secs(30);
/// The reading with the shortest round trip of so many is the best one.
const CLOCK_READINGS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The agent tried and failed; it is still there.
    #[error("{}", .0.why)]
    Refused(Failure),
    #[error("stopped by the user")]
    Interrupted,
    /// Nothing is wrong with this one.
    #[error("given up, because another machine of the trial failed")]
    OthersFailed,
    #[error("the agent answered a {request} with something else: {reply}")]
    Mismatch { request: &'static str, reply: String },
}

pub struct Conversation<'a> {
    pub link: &'a mut AgentLink,
    pub halt: Halt<'a>,
}

impl Conversation<'_> {
    /// Sends a request and waits for its final reply. `aside` gets what comes before it; `silence` limits the time
    /// between two messages.
    pub fn ask(
        &mut self,
        request: &Request,
        silence: Duration,
        aside: &mut dyn FnMut(Reply),
    ) -> Result<Reply, AskError> {
        self.ask_and_answer(request, silence, &mut |reply, _| {
            aside(reply);
            Ok(())
        })
    }

    /// The same where what comes before the final reply is answered. However long that takes, it is no silence.
    pub fn ask_and_answer(
        &mut self,
        request: &Request,
        silence: Duration,
        aside: &mut dyn FnMut(Reply, &mut AgentLink) -> Result<(), AskError>,
    ) -> Result<Reply, AskError> {
        self.link.send(request)?;
        let (mut heard, mut alive) = (Instant::now(), Instant::now());
        loop {
            match self.link.receive(LOOK_UP) {
                Ok(Reply::Alive) => alive = Instant::now(),
                Ok(
                    reply @ (Reply::Ready
                    | Reply::Tick(_)
                    | Reply::Progress { .. }
                    | Reply::Interval(_)
                    | Reply::Looks(_)
                    | Reply::Samples(_)),
                ) => {
                    aside(reply, self.link)?;
                    heard = Instant::now();
                    alive = heard;
                }
                Ok(Reply::Failed(failure)) => return Err(AskError::Refused(failure)),
                Ok(reply) => return Ok(reply),
                Err(LinkError::TooSlow(_)) if self.halt.now() => {
                    // Whoever asked gives the machine up next; the driver need not find that out by itself.
                    let _ = self.link.send(&Request::StopDriving);
                    return Err(self.halt.reason());
                }
                Err(LinkError::TooSlow(_)) if heard.elapsed() >= silence => {
                    return Err(LinkError::TooSlow(silence).into());
                }
                Err(LinkError::TooSlow(_)) if alive.elapsed() >= LIFELESS => {
                    return Err(LinkError::Lifeless(LIFELESS).into());
                }
                Err(LinkError::TooSlow(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A request that is answered at once.
    pub fn ask_promptly(&mut self, request: &Request) -> Result<Reply, AskError> {
        self.ask(request, PROMPT_LIMIT, &mut |_| {})
    }

    /// The offset of the machine's clock to ours, from the quickest of a few round trips.
    pub fn read_clock(&mut self, at: &str) -> Result<ClockReading, AskError> {
        let mut best: Option<ClockReading> = None;
        for _ in 0..CLOCK_READINGS {
            let before = monotonic_ns();
            let reply = self.ask_promptly(&Request::Clock)?;
            let after = monotonic_ns();
            let Reply::Clock { monotonic_ns: theirs } = reply else { return Err(mismatch("clock", &reply)) };
            let round_trip_ns = after - before;
            let offset_ns = theirs.cast_signed() - (before + round_trip_ns / 2).cast_signed();
            if best.as_ref().is_none_or(|best| round_trip_ns < best.round_trip_ns) {
                best = Some(ClockReading { at: at.to_owned(), offset_ns, round_trip_ns });
            }
        }
        best.ok_or(AskError::Interrupted)
    }
}

pub fn mismatch(request: &'static str, reply: &Reply) -> AskError {
    let mut reply = format!("{reply:?}");
    reply.truncate(200);
    AskError::Mismatch { request, reply }
}
