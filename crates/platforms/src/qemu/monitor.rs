//! A way to ask QEMU: its own connection, or that of a program that has started it.

use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// QEMU answers even while it emulates a busy guest; if it takes longer, it hangs.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug, thiserror::Error)]
pub enum QmpError {
    #[error("QEMU did not answer {asked} within {limit:?}")]
    TooSlow { asked: String, limit: Duration },
    #[error("QEMU closed its control connection")]
    Closed,
    #[error("the control connection to QEMU broke: {0}")]
    Broken(#[from] io::Error),
    #[error("QEMU said something unexpected: {0}")]
    Unexpected(String),
    #[error("QEMU refused {asked}: {why}")]
    Refused { asked: String, why: String },
}

/// The thread that runs a vCPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VcpuThread {
    pub vcpu: usize,
    pub thread: u32,
}

pub trait Monitor: Send {
    /// Sends a command and waits for its answer. The next command can be sent whether or not this one was answered.
    fn execute_within(&mut self, limit: Duration, command: &str, arguments: Value) -> Result<Value, QmpError>;

    fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, QmpError> {
        self.execute_within(ANSWER_LIMIT, command, arguments)
    }

    fn vcpu_threads(&mut self) -> Result<Vec<VcpuThread>, QmpError> {
        let answer = self.execute("query-cpus-fast", json!({}))?;
        let read = |cpu: &Value| {
            let vcpu = usize::try_from(cpu["cpu-index"].as_u64()?).ok()?;
            Some(VcpuThread { vcpu, thread: u32::try_from(cpu["thread-id"].as_u64()?).ok()? })
        };
        let threads = answer.as_array().and_then(|cpus| cpus.iter().map(read).collect::<Option<Vec<_>>>());
        threads.ok_or_else(|| QmpError::Unexpected(answer.to_string()))
    }

    /// The host's port that is forwarded to the guest's `port`.
    fn forwarded_port(&mut self, port: u16) -> Result<u16, QmpError> {
        let arguments = json!({ "command-line": "info usernet" });
        let answer = self.execute("human-monitor-command", arguments)?;
        let table = answer.as_str().unwrap_or_default();
        forwarded_port(table, port).ok_or_else(|| QmpError::Unexpected(format!("no forward to {port} in: {table}")))
    }
}

/// Reads `info usernet`: a table of connections, where forwards are listed as `TCP[HOST_FORWARD]  13  127.0.0.1 40001
/// 10.0.2.15  5432  0  0`.
fn forwarded_port(table: &str, guest_port: u16) -> Option<u16> {
    table.lines().find_map(|line| {
        let fields: Vec<_> = line.split_ascii_whitespace().collect();
        let [protocol, _, _, host_port, _, inside, ..] = fields[..] else { return None };
        let is_it = protocol == "TCP[HOST_FORWARD]" && inside.parse() == Ok(guest_port);
        is_it.then(|| host_port.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::forwarded_port;

    #[test]
    fn a_forward_is_found_in_the_table() {
        let table = "Hub -1 (network):\n  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\n  \
                     TCP[HOST_FORWARD]  13       127.0.0.1 40001       10.0.2.15  5432     0     0\n  \
                     TCP[ESTABLISHED]   14       127.0.0.1 40001       10.0.2.15    77     0     0\n";
        assert_eq!(forwarded_port(table, 5432), Some(40001));
        assert_eq!(forwarded_port(table, 77), None);
    }
}
