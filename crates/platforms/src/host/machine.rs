//! A machine on the other host, from this side.

use super::command;
use super::connection::{Connection, HostWay, failing};
use super::lines::Far;
use super::there::{Begun, HostReady, ThereOrder};
use crate::order::Launched;
use machines::link::AgentLink;
use machines::machine::{LaunchFacts, Machine, MachineError};
use machines::printed::Printed;
use machines::transport::Transport;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// A machine there greets at once. The way to it may be long.
const GREETING_LIMIT: Duration = Duration::from_mins(1);
/// A machine that is cut has ended within this, and its data are released.
const CUT_LIMIT: Duration = Duration::from_mins(2);

struct RemoteMachine {
    link: Option<AgentLink>,
    far: Box<dyn Far>,
    facts: LaunchFacts,
    stderr: Printed,
    /// Where it is reached from here.
    address: Option<IpAddr>,
    name: String,
    may_be_away: Duration,
}

/// `scratch` is this machine's folder on this host.
pub fn start(
    way: &HostWay,
    host: &HostReady,
    order: &ThereOrder,
    scratch: &Path,
    launched: Launched<'_>,
) -> Result<Box<dyn Machine>, MachineError> {
    let way = HostWay { scratch: scratch.to_owned(), ..way.clone() };
    let mut connection = way.connect(&command::run(&host.folder), None, launched, GREETING_LIMIT)?;
    let begun = connection.write(order).and_then(|()| connection.read::<Begun>(GREETING_LIMIT));
    let begun = begun.map_err(|error| connection.explained(&way.settings, &error, GREETING_LIMIT))?;
    let (decided, there) = match begun {
        Begun::Started { decided, command_line } => (decided, command_line),
        Begun::Unavailable { why } => return Err(MachineError::Unavailable { why }),
        Begun::Failed { why } => return Err(failing("starting the machine on the other host")(io::Error::other(why))),
    };
    let Connection { far, stdin, stdout, stderr, mut command_line, may_be_away, .. } = connection;
    command_line.extend(there);
    let stdin = stdin.ok_or_else(|| failing("talking to the other host")(io::ErrorKind::NotConnected.into()))?;
    let link = Transport::pipe(stdout, stdin).connect(GREETING_LIMIT + may_be_away)?.relayed(may_be_away);
    let address = way.settings.address.as_deref().and_then(|address| address.parse().ok()).or(host.address);
    let listens_on = host.address.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
    Ok(Box::new(RemoteMachine {
        link: Some(link),
        far,
        facts: LaunchFacts { command_line, decided, listens_on },
        stderr,
        address,
        name: order.name.clone(),
        may_be_away,
    }))
}

impl RemoteMachine {
    fn what(&self) -> String {
        format!("the machine {} on the other host", self.name)
    }

    /// Closes the connection. The other end then ends the machine, if it has not ended, and after that itself.
    fn hang_up(&mut self, limit: Duration) -> Result<(), MachineError> {
        self.link = None;
        let limit = limit + self.may_be_away;
        let status = self.far.wait(limit);
        let console = self.stderr.to_the_end();
        match status.map_err(failing("waiting for the end of a machine"))? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(MachineError::Ended { what: self.what(), status: status.to_string(), console }),
            None => {
                let what = format!("{}, asked to end,", self.what());
                Err(MachineError::Silent { what, limit_s: limit.as_secs(), console })
            }
        }
    }
}

impl Machine for RemoteMachine {
    fn link(&mut self) -> &mut AgentLink {
        // `link` is taken only by what consumes the machine.
        let Some(link) = &mut self.link else { unreachable!("a stopped machine is not there to be asked") };
        link
    }

    fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    fn reached_at(&self, port: u16) -> Option<SocketAddr> {
        self.address.map(|address| (address, port).into())
    }

    fn console(&self) -> String {
        self.stderr.text()
    }

    fn stop(mut self: Box<Self>, limit: Duration) -> Result<(), MachineError> {
        self.hang_up(limit)
    }

    fn cut(mut self: Box<Self>) -> Result<(), MachineError> {
        self.hang_up(CUT_LIMIT)
    }
}

impl Drop for RemoteMachine {
    fn drop(&mut self) {
        if self.link.is_some() {
            // Nobody is left to hear why it could not be ended.
            let _ = self.hang_up(CUT_LIMIT);
        }
    }
}
