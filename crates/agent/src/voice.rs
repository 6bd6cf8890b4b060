//! The agent's replies, and the signs of life that it sends while it works at a request and has no other reply.
//!
//! A machine may hang in ways that it cannot report: stopped, starved, or with a dead kernel. Then only its silence
//! shows that, so a working agent must never be silent. Between requests nobody waits for anything, and nothing is sent.

use crate::protocol::Reply;
use machines::frame::{Message, write_frame};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Sends replies to the conductor, from any thread.
pub struct ReplyWriter<W>(Mutex<VoiceState<W>>);

struct VoiceState<W> {
    write: W,
    /// The number of the current or last request, and the instance it is about.
    number: u64,
    instance: u16,
    /// When the last message was sent; `None` between requests.
    said: Option<Instant>,
}

impl<W: Write> VoiceState<W> {
    fn write(&mut self, instance: u16, body: &Reply) -> io::Result<()> {
        write_frame(&mut self.write, &Message { number: self.number, instance, body })
    }
}

impl<W: Write + Send> ReplyWriter<W> {
    pub fn of(write: W) -> Self {
        Self(Mutex::new(VoiceState { write, number: 0, instance: 0, said: None }))
    }

    /// Begins a request: replies are about it from now on.
    pub fn begin<T>(&self, request: &Message<T>) {
        let mut state = self.state();
        (state.number, state.instance) = (request.number, request.instance);
        state.said = Some(Instant::now());
    }

    /// Sends a reply about one of the instances that the request is about.
    pub fn say(&self, instance: u16, reply: &Reply) -> io::Result<()> {
        let mut state = self.state();
        state.write(instance, reply)?;
        state.said = Some(Instant::now());
        Ok(())
    }

    /// Sends the final reply to a request.
    pub fn conclude(&self, reply: &Reply) -> io::Result<()> {
        let mut state = self.state();
        state.said = None;
        let instance = state.instance;
        state.write(instance, reply)
    }

    /// Does the work. While it goes on, no silence within a request is much longer than `pulse`.
    pub fn with_pulse<T>(&self, pulse: Duration, work: impl FnOnce() -> T) -> T {
        let (over, is_over) = channel();
        thread::scope(|scope| {
            scope.spawn(move || self.beat(pulse, &is_over));
            let done = work();
            drop(over);
            done
        })
    }

    fn beat(&self, pulse: Duration, is_over: &Receiver<()>) {
        while is_over.recv_timeout(pulse) == Err(RecvTimeoutError::Timeout) {
            let mut state = self.state();
            if is_due(state.said, Instant::now(), pulse) {
                // If nobody listens any more, the thread that works notices that, too.
                let instance = state.instance;
                let _ = state.write(instance, &Reply::Alive);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, VoiceState<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_due(said: Option<Instant>, now: Instant, pulse: Duration) -> bool {
    said.is_some_and(|said| now.saturating_duration_since(said) >= pulse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::frame::read_frame;
    use std::io::pipe;

    const SHORT: Duration = Duration::from_millis(1);

    #[test]
    fn signs_of_life_are_given_while_a_request_is_worked_at() {
        let (mut read, write) = pipe().unwrap();
        let voice = ReplyWriter::of(write);
        let mut hear = || read_frame::<Message<Reply>>(&mut read).unwrap().unwrap();
        let said = |instance, body| Message { number: 7, instance, body };
        voice.with_pulse(SHORT, || {
            voice.begin(&said(1, Reply::Done));
            assert_eq!([hear(), hear()], [said(1, Reply::Alive), said(1, Reply::Alive)]);
            voice.say(2, &Reply::Ready).unwrap();
            // Signs of life from before have to be read first.
            while hear() != said(2, Reply::Ready) {}
            assert_eq!(hear(), said(1, Reply::Alive));
        });
    }

    #[test]
    fn nothing_is_said_between_requests_or_while_there_is_something_to_say() {
        let voice = ReplyWriter::of(Vec::new());
        voice.begin(&Message { number: 1, instance: 0, body: () });
        let begun = voice.state().said.unwrap();
        assert!(is_due(Some(begun), begun + SHORT, SHORT));
        assert!(!is_due(Some(begun), begun + SHORT / 2, SHORT));
        voice.conclude(&Reply::Done).unwrap();
        let concluded = voice.state().said;
        assert!(!is_due(concluded, begun + 1_000 * SHORT, SHORT));
    }
}
