//! A conversation with an agent: a plain process of ours, or one behind a socket.

use super::RaceGround;
use crate::process::descendants;
use anyhow::{Context, bail};
use machines::link::AgentLink;
use machines::transport::Transport;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Nothing in a race is silent for longer, even on an emulated CPU.
const SILENCE_LIMIT: Duration = Duration::from_mins(10);

pub struct TimedConversation {
    link: AgentLink,
    /// The agent's own process, if we started it.
    process: Option<Child>,
}

impl TimedConversation {
    /// Starts an agent on this host with its data in `folder`.
    pub fn start(ground: &RaceGround, folder: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(&ground.bakeoff)
            .arg("agent")
            .args([Path::new("--data"), &folder.join("data"), Path::new("--logs"), &folder.join("logs")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("starting an agent")?;
        let (read, write) = process.stdout.take().zip(process.stdin.take()).context("an agent has two streams")?;
        let mut conversation = Self::over(Transport::pipe(read, write))?;
        conversation.process = Some(process);
        Ok(conversation)
    }

    /// Waits for the greeting of an agent that somebody else started.
    pub fn over(transport: Transport) -> anyhow::Result<Self> {
        Ok(Self { link: transport.connect(SILENCE_LIMIT)?, process: None })
    }

    /// The agent's process, if we started it.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// A text or number of the endpoint in an agent's reply. The agent names a socket through a folder that it has open; other
    /// processes find that folder under the agent's number.
    pub fn of_endpoint(&self, reply: &Value, key: &str) -> String {
        let found = match &reply["with"]["endpoint"][key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        match self.process_id() {
            Some(agent) => found.replace("/proc/self/", &format!("/proc/{agent}/")),
            None => found,
        }
    }

    /// The final reply to a request.
    pub fn ask(&mut self, request: &Value) -> anyhow::Result<Value> {
        self.ask_until(request, |_| false)
    }

    /// The first reply that satisfies `enough`, or the final one.
    pub fn ask_until(&mut self, request: &Value, enough: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        self.link.ask(0, request)?;
        loop {
            let Some((_, reply)) = self.link.receive::<Value>(SILENCE_LIMIT)? else { continue };
            match reply["reply"].as_str() {
                Some("failed") => bail!("{request}: {}", reply["with"]),
                _ if enough(&reply) => return Ok(reply),
                Some("alive" | "ready" | "tick" | "progress" | "interval" | "looks" | "samples") => {}
                _ => return Ok(reply),
            }
        }
    }

    /// Ends the server and the agent, and waits for the agent's process.
    pub fn end(mut self) -> anyhow::Result<()> {
        self.ask(&json!({ "request": "shutdown" }))?;
        if let Some(mut process) = self.process.take() {
            process.wait().context("waiting for the agent")?;
        }
        Ok(())
    }
}

impl Drop for TimedConversation {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It has already ended unless something failed. Its server would outlive it. When the server notices that
            // its files are gone, it would take away the next server's socket.
            let servers = descendants(process.id()).unwrap_or_default();
            let _ = process.kill();
            if !servers.is_empty() {
                let _ = Command::new("kill").arg("-KILL").args(servers.iter().map(u32::to_string)).status();
            }
            let _ = process.wait();
        }
    }
}
