//! QEMU's own protocol (QMP): one JSON object per line, over an open socket. Only the part that is used here.

use super::monitor::{ANSWER_LIMIT, Monitor, QmpError};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Only the last events are kept; a guest that loops produces any number of them.
const KEPT_EVENTS: usize = 64;
/// No answer to the commands used here comes near this size.
const LONGEST_LINE: usize = 4 << 20;

pub struct Qmp {
    stream: UnixStream,
    unread: Vec<u8>,
    /// How many commands were sent. Each command and its answer carry this number, so a late answer is not mistaken for
    /// that of the next command.
    sent: u64,
    events: VecDeque<Value>,
    version: String,
}

impl Qmp {
    /// Waits for QEMU's greeting and ends the capability negotiation; no capability is needed.
    pub fn negotiate(stream: UnixStream) -> Result<Self, QmpError> {
        let mut qmp = Self { stream, unread: Vec::new(), sent: 0, events: VecDeque::new(), version: String::new() };
        let greeting = qmp.message("a greeting", &Deadline::after(ANSWER_LIMIT))?;
        let version = &greeting["QMP"]["version"]["qemu"];
        let [major, minor, micro] = ["major", "minor", "micro"].map(|part| version[part].as_u64());
        let (Some(major), Some(minor), Some(micro)) = (major, minor, micro) else {
            return Err(QmpError::Unexpected(greeting.to_string()));
        };
        qmp.version = format!("{major}.{minor}.{micro}");
        qmp.execute("qmp_capabilities", json!({}))?;
        Ok(qmp)
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    /// The last events, oldest first.
    pub fn events(&self) -> impl Iterator<Item = &Value> {
        self.events.iter()
    }

    /// The next whole line.
    fn message(&mut self, asked: &str, deadline: &Deadline) -> Result<Value, QmpError> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return serde_json::from_slice(&line)
                    .map_err(|_| QmpError::Unexpected(String::from_utf8_lossy(&line).into_owned()));
            }
            if self.unread.len() > LONGEST_LINE {
                return Err(QmpError::Unexpected(format!("{} bytes without an end of line", self.unread.len())));
            }
            self.read_more(asked, deadline)?;
        }
    }

    fn read_more(&mut self, asked: &str, deadline: &Deadline) -> Result<(), QmpError> {
        let too_slow = || QmpError::TooSlow { asked: asked.to_owned(), limit: deadline.limit };
        let left = deadline.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(too_slow());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 4096];
        match self.stream.read(&mut piece) {
            Ok(0) => Err(QmpError::Closed),
            Ok(count) => {
                self.unread.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(too_slow()),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(QmpError::Closed),
            Err(error) => Err(error.into()),
        }
    }
}

impl Monitor for Qmp {
    /// Events that arrive meanwhile are kept.
    fn execute_within(&mut self, limit: Duration, command: &str, arguments: Value) -> Result<Value, QmpError> {
        self.sent += 1;
        let number = Value::from(self.sent);
        let mut request =
            Map::from_iter([("execute".to_owned(), Value::from(command)), ("id".to_owned(), number.clone())]);
        if arguments.as_object().is_some_and(|table| !table.is_empty()) {
            request.insert("arguments".to_owned(), arguments);
        }
        let deadline = Deadline::after(limit);
        // A command is far smaller than a socket's buffer, so writing does not wait for QEMU to read.
        self.stream.set_write_timeout(Some(ANSWER_LIMIT))?;
        self.stream.write_all(format!("{}\n", Value::Object(request)).as_bytes())?;
        loop {
            let mut message = self.message(command, &deadline)?;
            if message.get("event").is_some() {
                self.events.push_back(message);
                if self.events.len() > KEPT_EVENTS {
                    self.events.pop_front();
                }
                continue;
            }
            if message["id"] != number && message["id"].as_u64().is_some() {
                continue;
            }
            if let Some(answer) = message.get_mut("return") {
                return Ok(answer.take());
            }
            let Some(error) = message.get("error") else { return Err(QmpError::Unexpected(message.to_string())) };
            let why = error["desc"].as_str().unwrap_or("no reason given").to_owned();
            return Err(QmpError::Refused { asked: command.to_owned(), why });
        }
    }
}

/// When to stop waiting for an answer, and the whole limit.
struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    fn after(limit: Duration) -> Self {
        Self { at: Instant::now() + limit, limit }
    }
}

#[cfg(test)]
mod tests {
    use super::{Monitor as _, Qmp, QmpError};
    use serde_json::json;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    const GREETING: &str =
        r#"{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": []}}"#;

    #[test]
    fn answers_in_pieces_and_among_events_are_put_together() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let said = format!(
            "{GREETING}\n{}\n{}\n{}\n{}\n",
            json!({ "return": {} }),
            json!({ "event": "RESUME" }),
            json!({ "return": { "status": "running" } }),
            json!({ "error": { "class": "GenericError", "desc": "not now" } }),
        );
        let writer = std::thread::spawn(move || {
            for piece in said.as_bytes().chunks(7) {
                theirs.write_all(piece).unwrap();
            }
            theirs
        });
        let mut qmp = Qmp::negotiate(ours).unwrap();
        assert_eq!(qmp.version(), "7.2.22");
        assert_eq!(qmp.execute("query-status", json!({})).unwrap(), json!({ "status": "running" }));
        assert_eq!(qmp.events().count(), 1);
        let refused = qmp.execute("stop", json!({})).unwrap_err();
        assert_eq!(refused.to_string(), "QEMU refused stop: not now");
        drop(writer.join().unwrap());
        assert!(matches!(qmp.execute("stop", json!({})), Err(QmpError::Closed | QmpError::Broken(_))));
    }

    /// The late answer to an abandoned command comes before the answer to the current one.
    #[test]
    fn an_answer_that_comes_too_late_is_passed_over() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(format!("{GREETING}\n{}\n", json!({ "return": {}, "id": 1 })).as_bytes()).unwrap();
        let mut qmp = Qmp::negotiate(ours).unwrap();
        let slow = qmp.execute_within(Duration::from_millis(10), "query-blockstats", json!({})).unwrap_err();
        assert_eq!(slow.to_string(), "QEMU did not answer query-blockstats within 10ms");
        let late = json!({ "return": "late", "id": 2 });
        let own = json!({ "return": "own", "id": 3 });
        theirs.write_all(format!("{late}\n{}\n{own}\n", json!({ "event": "RESUME" })).as_bytes()).unwrap();
        assert_eq!(qmp.execute("query-status", json!({})).unwrap(), "own");
    }
}
