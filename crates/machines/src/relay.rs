//! Passes on messages between an agent and a conductor that is far away.
//!
//! The conductor may ask it to keep back what the agent says for a while. The agent speaks once a second while load is driven, and a
//! relay on its own host can keep that off the network until the measured window is over. If the conductor speaks before, such as to
//! stop, it wants an answer, and nothing is kept back any more.

use crate::frame::{read_body, write_body};
use crate::link::{AgentLink, RelayHold};
use std::io::{Read, Write};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Messages that may wait to be passed on.
const QUEUED: usize = 64;
/// What is kept back takes at most this much memory; then it is passed on early.
const KEPT_BYTES: usize = 256 << 20;
/// Nothing is due.
const LONG: Duration = Duration::from_hours(1);

enum RelayHeard {
    FromAgent(Vec<u8>),
    Hold(RelayHold),
    /// The conductor has said something to the agent.
    Spoken,
    AgentEnded,
    ConductorEnded,
}

/// Until the agent or the conductor ends; returns whether that was the agent.
pub fn relay(agent: AgentLink, mut read: impl Read + Send + 'static, mut write: impl Write) -> bool {
    let (mut to_agent, frames) = agent.into_ends();
    let (send, heard) = sync_channel(QUEUED);
    let from_agent = send.clone();
    thread::spawn(move || {
        // However it ends, there is nothing more to pass on.
        while let Ok(Some(body)) = read_body(&mut read) {
            let is_passed_on = match serde_json::from_slice(&body) {
                Ok(hold) => send.send(RelayHeard::Hold(hold)).is_ok(),
                Err(_) => send.send(RelayHeard::Spoken).is_ok() && write_body(&mut to_agent, &body).is_ok(),
            };
            if !is_passed_on {
                break;
            }
        }
        let _ = send.send(RelayHeard::ConductorEnded);
    });
    thread::spawn(move || {
        for body in frames.into_iter().map_while(Result::ok) {
            if from_agent.send(RelayHeard::FromAgent(body)).is_err() {
                return;
            }
        }
        let _ = from_agent.send(RelayHeard::AgentEnded);
    });
    let mut kept = KeptBack::default();
    loop {
        let heard = heard.recv_timeout(kept.due_in().unwrap_or(LONG));
        let passed_on = match heard {
            Ok(RelayHeard::FromAgent(body)) => kept.pass_on(body, &mut write),
            Ok(RelayHeard::Hold(hold)) => {
                kept.hold(&hold);
                Ok(())
            }
            Ok(RelayHeard::Spoken) => kept.end(&mut write),
            Ok(RelayHeard::ConductorEnded) => return false,
            Ok(RelayHeard::AgentEnded) | Err(RecvTimeoutError::Disconnected) => {
                return kept.release(&mut write).is_ok();
            }
            Err(RecvTimeoutError::Timeout) => kept.release(&mut write),
        };
        if passed_on.is_err() {
            return false;
        }
    }
}

/// What is kept back, and when.
#[derive(Default)]
struct KeptBack {
    from: Option<Instant>,
    until: Option<Instant>,
    bodies: Vec<Vec<u8>>,
    bytes: usize,
}

impl KeptBack {
    fn hold(&mut self, hold: &RelayHold) {
        let from = Instant::now().checked_add(Duration::from_millis(hold.hold_after_ms));
        let until = from.and_then(|from| from.checked_add(Duration::from_millis(hold.hold_for_ms)));
        (self.from, self.until) = (from, until);
    }

    /// Time until what is kept back is due.
    fn due_in(&self) -> Option<Duration> {
        let until = self.until.filter(|_| !self.bodies.is_empty())?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    fn pass_on(&mut self, body: Vec<u8>, write: &mut impl Write) -> std::io::Result<()> {
        let now = Instant::now();
        let is_held = self.from.is_some_and(|from| now >= from) && self.until.is_some_and(|until| now < until);
        if is_held && self.bytes + body.len() <= KEPT_BYTES {
            self.bytes += body.len();
            self.bodies.push(body);
            return Ok(());
        }
        self.release(write)?;
        write_body(write, &body)
    }

    /// Keeps back nothing more.
    fn end(&mut self, write: &mut impl Write) -> std::io::Result<()> {
        (self.from, self.until) = (None, None);
        self.release(write)
    }

    fn release(&mut self, write: &mut impl Write) -> std::io::Result<()> {
        self.bytes = 0;
        self.bodies.drain(..).try_for_each(|body| write_body(write, &body))
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptBack, relay};
    use crate::frame::{Message, read_frame, write_frame};
    use crate::link::{AgentLink, RelayHold};
    use std::io::pipe;
    use std::thread::{JoinHandle, spawn};
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    struct Line {
        conductor: AgentLink,
        relay: JoinHandle<bool>,
        agent: JoinHandle<()>,
    }

    /// A conductor, a relay and an agent that echoes each request, and ends when it is told to.
    fn line() -> Line {
        let (from_conductor, to_relay) = pipe().unwrap();
        let (from_relay, to_conductor) = pipe().unwrap();
        let (mut requests, to_agent) = pipe().unwrap();
        let (from_agent, mut replies) = pipe().unwrap();
        let conductor = AgentLink::new(from_relay, to_relay).relayed(Duration::ZERO);
        let relay = spawn(move || relay(AgentLink::new(from_agent, to_agent), from_conductor, to_conductor));
        let agent = spawn(move || {
            while let Ok(Some(message)) = read_frame::<Message<String>>(&mut requests) {
                write_frame(&mut replies, &message).unwrap();
                if message.body == "end" {
                    return;
                }
            }
        });
        Line { conductor, relay, agent }
    }

    fn asked(link: &mut AgentLink, text: &str) -> String {
        link.ask(0, &text).unwrap();
        link.receive::<String>(LONG).unwrap().unwrap().1
    }

    #[test]
    fn what_is_said_meanwhile_comes_afterwards_and_in_order() {
        let (mut kept, mut line) = (KeptBack::default(), Vec::new());
        let mut say = |kept: &mut KeptBack, text: &str| {
            kept.pass_on(text.as_bytes().to_vec(), &mut line).unwrap();
            line.iter().filter(|byte| byte.is_ascii_lowercase()).count()
        };
        assert_eq!(say(&mut kept, "a"), 1);
        kept.hold(&RelayHold::new(Duration::ZERO, LONG));
        assert_eq!((say(&mut kept, "b"), say(&mut kept, "c")), (1, 1));
        assert!(kept.due_in().is_some());
        kept.hold(&RelayHold::new(Duration::ZERO, Duration::ZERO));
        assert_eq!(say(&mut kept, "d"), 4);
        kept.hold(&RelayHold::new(LONG, LONG));
        assert_eq!((say(&mut kept, "e"), kept.due_in()), (5, None));
        let said: String = line.iter().filter(|byte| byte.is_ascii_lowercase()).map(|byte| char::from(*byte)).collect();
        assert_eq!(said, "abcde");
    }

    #[test]
    fn a_conductor_that_speaks_is_answered_at_once() {
        let Line { mut conductor, relay, agent } = line();
        assert_eq!(asked(&mut conductor, "before"), "before");
        assert!(conductor.hold(Duration::ZERO, LONG * 60).unwrap());
        assert_eq!(asked(&mut conductor, "stop"), "stop");
        assert_eq!(asked(&mut conductor, "end"), "end");
        assert!(relay.join().unwrap(), "the agent ended first");
        agent.join().unwrap();
    }

    #[test]
    fn a_conductor_that_hangs_up_ends_it() {
        let Line { conductor, relay, agent } = line();
        drop(conductor);
        assert!(!relay.join().unwrap());
        agent.join().unwrap();
    }
}
