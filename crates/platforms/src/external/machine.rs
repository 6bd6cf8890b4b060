//! A machine that is a thread of this process and needs only a pair of sockets from the host.

use crate::order::Launched;
use machines::link::AgentLink;
use machines::machine::{Decisions, LaunchFacts, Machine, MachineError};
use machines::transport::Transport;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

const GREETING_LIMIT: Duration = Duration::from_secs(30);
/// How long a thread may take to notice that its connection is closed.
const CUT_LIMIT: Duration = Duration::from_secs(10);

struct ThreadMachine {
    link: AgentLink,
    /// Our end of the agent's stream, kept to close the connection.
    agent: UnixStream,
    /// Disconnects when the thread ends.
    thread: Receiver<()>,
    facts: LaunchFacts,
}

/// Starts a thread that answers like an agent, over the stream that it gets.
pub fn start(
    serve: impl FnOnce(UnixStream) -> io::Result<()> + Send + 'static,
    decided: Decisions,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    let failing = |source| MachineError::Io { doing: "starting an agent in this process".to_owned(), source };
    let (agent, inside) = UnixStream::pair().map_err(failing)?;
    let share = || agent.try_clone().map_err(failing);
    let (reader, writer) = (share()?, share()?);
    let (ended, thread) = channel();
    let work = move || {
        let _until_the_end = ended;
        // If the stream breaks, the conductor notices by itself.
        let _ = serve(inside);
    };
    thread::Builder::new().name("agent".to_owned()).spawn(work).map_err(failing)?;
    launched();
    let link = Transport::pipe(reader, writer).connect(GREETING_LIMIT)?;
    let facts = LaunchFacts { command_line: Vec::new(), decided, listens_on: Ipv4Addr::LOCALHOST.into() };
    Ok(Box::new(ThreadMachine { link, agent, thread, facts }))
}

impl Machine for ThreadMachine {
    fn link(&mut self) -> &mut AgentLink {
        &mut self.link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, _: u16) -> Option<SocketAddr> {
        None
    }

    fn console(&self) -> String {
        String::new()
    }

    fn stop(self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        // The agent may be gone already.
        let _ = self.agent.shutdown(Shutdown::Both);
        match self.thread.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => {
                let (what, limit_s) = ("the agent in this process".to_owned(), limit.as_secs());
                Err(MachineError::Silent { what, limit_s, console: String::new() })
            }
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    fn cut(self: Box<Self>) -> Result<(), MachineError> {
        self.stop(CUT_LIMIT)
    }
}

impl Drop for ThreadMachine {
    fn drop(&mut self) {
        let _ = self.agent.shutdown(Shutdown::Both);
        // The thread closes its open files when it ends.
        let _ = self.thread.recv_timeout(CUT_LIMIT);
    }
}
