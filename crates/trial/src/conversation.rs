//! Asks an agent and waits for the answer, with a limit on silence and checks for the user's wish to stop.

use crate::halt::Halt;
use crate::limits::Limits;
use agent::protocol::{Failure, Reply, Request};
use machines::clock::monotonic_ns;
use machines::link::{AgentLink, LinkError};
use record::clock::ClockReading;
use std::time::{Duration, Instant};

/// How often to check for interrupts while waiting.
const LOOK_UP: Duration = Duration::from_millis(100);
/// Bytes of a reply that an error shows.
const REPLY_SHOWN: usize = 200;
/// The best reading is the one with the shortest round trip of this many.
const CLOCK_READINGS: usize = 5;

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The agent tried and failed, but still answers.
    #[error("{}", .0.why)]
    Refused(Failure),
    #[error("stopped by the user")]
    Interrupted,
    /// This machine itself is fine.
    #[error("given up, because another machine of the trial failed")]
    OthersFailed,
    #[error("the agent answered a {request} with something else: {reply}")]
    Mismatch { request: &'static str, reply: String },
}

impl AskError {
    /// For work that was given up.
    pub fn halted(by: Halt<'_>) -> Self {
        if by.is_for_others() { Self::OthersFailed } else { Self::Interrupted }
    }
}

pub struct Conversation<'a> {
    pub link: &'a mut AgentLink,
    pub halt: Halt<'a>,
    pub limits: &'a Limits,
    /// The database that requests are about, where they concern only one of the machine's databases.
    pub instance: u16,
}

impl Conversation<'_> {
    /// Sends a request and waits for its final reply. `aside` gets the replies before it. `silence` limits the time
    /// between two messages. Signs of life do not count as messages: they only show that work goes on. The time in which
    /// a relay keeps messages back does not count, and a way that may be gone for a while lengthens every limit.
    pub fn ask(
        &mut self,
        request: &Request,
        silence: Duration,
        aside: &mut dyn FnMut(Reply),
    ) -> Result<Reply, AskError> {
        self.ask_and_answer(request, silence, silence, &mut |_, reply, _| {
            aside(reply);
            Ok(())
        })
    }

    /// The same, but `aside` can answer the replies before the final one, and gets the instance that each is about. The
    /// time it takes is no silence. The first message has its own limit.
    pub fn ask_and_answer(
        &mut self,
        request: &Request,
        first: Duration,
        silence: Duration,
        aside: &mut dyn FnMut(u16, Reply, &mut AgentLink) -> Result<(), AskError>,
    ) -> Result<Reply, AskError> {
        self.link.ask(self.instance, request)?;
        let (mut heard, mut alive) = (Instant::now(), Instant::now());
        let mut limit = first;
        let away = self.link.may_be_away();
        loop {
            match self.link.receive(LOOK_UP) {
                Ok(None | Some((_, Reply::Alive))) => alive = Instant::now(),
                Ok(Some((
                    instance,
                    reply @ (Reply::Ready
                    | Reply::Tick(_)
                    | Reply::Progress { .. }
                    | Reply::Interval(_)
                    | Reply::Looks(_)
                    | Reply::Samples(_)
                    | Reply::Told(_)),
                ))) => {
                    aside(instance, reply, self.link)?;
                    heard = Instant::now();
                    alive = heard;
                    limit = silence;
                }
                Ok(Some((_, Reply::Failed(failure)))) => return Err(AskError::Refused(failure)),
                Ok(Some((_, reply))) => return Ok(reply),
                Err(LinkError::TooSlow(_)) if self.halt.now() => {
                    // The caller gives up this machine next; this spares the driver from having to notice that.
                    let _ = self.link.add(&Request::StopDriving);
                    return Err(AskError::halted(self.halt));
                }
                Err(LinkError::TooSlow(_)) if self.link.silent_since(heard) >= limit + away => {
                    return Err(LinkError::TooSlow(limit + away).into());
                }
                Err(LinkError::TooSlow(_)) if self.link.silent_since(alive) >= self.limits.lifeless + away => {
                    return Err(LinkError::Lifeless(self.limits.lifeless + away).into());
                }
                Err(LinkError::TooSlow(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Sends a request that is answered at once.
    pub fn ask_promptly(&mut self, request: &Request) -> Result<Reply, AskError> {
        self.ask(request, self.limits.prompt, &mut |_| {})
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
    reply.truncate(reply.floor_char_boundary(REPLY_SHOWN));
    AskError::Mismatch { request, reply }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::frame::{Message, read_frame, write_frame};
    use machines::interrupts::Interrupts;
    use std::os::unix::net::UnixStream;
    use std::thread::scope;

    const LONG: Duration = Duration::from_hours(1);

    /// An agent's end of a conversation, scripted by the test.
    struct Agent(UnixStream);

    impl Agent {
        fn hear(&mut self) -> u64 {
            read_frame::<Message<Request>>(&mut self.0).unwrap().unwrap().number
        }

        fn say(&mut self, number: u64, body: &Reply) {
            write_frame(&mut self.0, &Message { number, instance: 0, body }).unwrap();
        }
    }

    fn connected() -> (AgentLink, Agent) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (AgentLink::new(ours.try_clone().unwrap(), ours), Agent(theirs))
    }

    #[test]
    fn a_reply_that_comes_too_late_is_not_taken_for_the_next_one() {
        let (mut link, mut agent) = connected();
        let interrupts = Interrupts::default();
        let (halt, limits) = (Halt::by_user(&interrupts), &Limits::default());
        let mut conversation = Conversation { link: &mut link, halt, limits, instance: 0 };
        let given_up = conversation.ask(&Request::Counters, Duration::ZERO, &mut |_| {});
        assert!(matches!(given_up, Err(AskError::Link(LinkError::TooSlow(_)))), "{given_up:?}");
        scope(|scope| {
            scope.spawn(|| {
                let (first, second) = (agent.hear(), agent.hear());
                for late in [Reply::Ready, Reply::Alive, Reply::Counters([].into())] {
                    agent.say(first, &late);
                }
                agent.say(second, &Reply::ServerLog("in time".to_owned()));
            });
            let mut asides = 0;
            let reply = conversation.ask(&Request::ServerLog, LONG, &mut |_| asides += 1);
            assert_eq!(reply.unwrap(), Reply::ServerLog("in time".to_owned()));
            assert_eq!(asides, 0);
        });
    }

    #[test]
    fn the_first_message_has_a_limit_of_its_own() {
        let (mut link, mut agent) = connected();
        let interrupts = Interrupts::default();
        let (halt, limits) = (Halt::by_user(&interrupts), &Limits::default());
        let mut conversation = Conversation { link: &mut link, halt, limits, instance: 0 };
        let (long, none) = (LONG, Duration::ZERO);
        let too_slow = |reply: Result<Reply, AskError>, limit| match reply {
            Err(AskError::Link(LinkError::TooSlow(waited))) => assert_eq!(waited, limit),
            other => panic!("{other:?}"),
        };
        too_slow(conversation.ask_and_answer(&Request::Clock, none, long, &mut |_, _, _| Ok(())), none);
        scope(|scope| {
            scope.spawn(|| {
                agent.hear();
                let number = agent.hear();
                agent.say(number, &Reply::Alive);
                agent.say(number, &Reply::Ready);
            });
            let mut ready = false;
            let reply = conversation.ask_and_answer(&Request::Clock, long, none, &mut |_, reply, _| {
                ready = reply == Reply::Ready;
                Ok(())
            });
            too_slow(reply, none);
            assert!(ready);
        });
    }

    /// Nothing is heard for longer than any limit: while a relay keeps messages back, or while the way is gone.
    #[test]
    fn silence_that_was_to_be_expected_is_not_counted() {
        let (none, short) = (Duration::ZERO, Duration::from_millis(1));
        for (held, may_be_away) in [(LONG, none), (none, LONG)] {
            let (link, mut agent) = connected();
            let mut link = link.relayed(may_be_away);
            assert!(link.hold(none, held).unwrap());
            read_frame::<serde_json::Value>(&mut agent.0).unwrap().unwrap();
            let interrupts = Interrupts::default();
            let limits = Limits { lifeless: short, ..Limits::default() };
            let mut conversation =
                Conversation { link: &mut link, halt: Halt::by_user(&interrupts), limits: &limits, instance: 0 };
            scope(|scope| {
                scope.spawn(|| {
                    let number = agent.hear();
                    // Nothing comes on this channel.
                    let (_held, never) = std::sync::mpsc::channel::<()>();
                    let _ = never.recv_timeout(LOOK_UP * 3);
                    agent.say(number, &Reply::ServerLog("late".to_owned()));
                });
                let reply = conversation.ask(&Request::ServerLog, short, &mut |_| {}).unwrap();
                assert_eq!(reply, Reply::ServerLog("late".to_owned()));
            });
        }
    }

    #[test]
    fn no_text_is_cut_inside_a_letter() {
        for padding in 0..8 {
            let log = "a".repeat(padding) + &"µ…🦀".repeat(100);
            let AskError::Mismatch { reply, .. } = mismatch("clock", &Reply::ServerLog(log)) else { panic!() };
            assert!(reply.len() <= REPLY_SHOWN && reply.len() > REPLY_SHOWN - 4, "{reply}");
        }
    }
}
