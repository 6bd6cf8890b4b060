//! A server for one text over HTTP: one thread, a few connections, and no waiting for any single one of them.
//!
//! We wrote it ourselves because so little is needed: read-only, one path, no keep-alive, no compression, no TLS. HTTP
//! server crates bring a thread pool or an executor, and limits of their own; here each limit is a constant with its
//! reason. The text is made when somebody asks; otherwise the thread sleeps in the kernel.

use super::address;
use super::connection::{AfterReply, ScrapeConnection};
use super::request::{HostNames, Method};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// With this many, a new connection closes the oldest one, so that a flood cannot block anybody for long.
const MOST_CONNECTIONS: usize = 16;
/// From accepting to the end of the answer: far longer than any scraper waits.
const LONGEST: Duration = Duration::from_secs(10);
/// Without a free file descriptor, connections stay in the kernel's queue for this long.
const REST: Duration = Duration::from_secs(1);

/// Serves until it is dropped.
pub struct MetricsServer {
    /// Closing it wakes the thread and ends it.
    alive: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    /// `answer` makes the complete answer to a request.
    pub fn start(listener: TcpListener, answer: impl Fn(Method) -> Vec<u8> + Send + 'static) -> io::Result<Self> {
        Self::start_with(listener, LONGEST, answer)
    }

    fn start_with(
        listener: TcpListener,
        longest: Duration,
        answer: impl Fn(Method) -> Vec<u8> + Send + 'static,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let names = if address::is_loopback(listener.local_addr()?) { HostNames::Loopback } else { HostNames::Any };
        let (alive, ended) = UnixStream::pair()?;
        let serving = Serving { listener, names, ended, longest, connections: VecDeque::new(), deaf_until: None };
        let body = move || serving.serve(&answer);
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(body)?;
        Ok(Self { alive: Some(alive), thread: Some(thread) })
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, it no longer serves either.
            let _ = thread.join();
        }
    }
}

struct Serving {
    listener: TcpListener,
    names: HostNames,
    ended: UnixStream,
    /// How long a connection may take.
    longest: Duration,
    /// The oldest first.
    connections: VecDeque<ScrapeConnection>,
    /// No connection is accepted before.
    deaf_until: Option<Instant>,
}

/// What is ready; connections by index.
struct ReadyConnections {
    ended: bool,
    knocks: bool,
    connections: Vec<bool>,
}

impl Serving {
    fn serve(mut self, answer: &dyn Fn(Method) -> Vec<u8>) {
        loop {
            let ready = match self.wait() {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                // The kernel lacks memory for a few descriptors. The run matters more than its observers.
                Err(_) => return,
            };
            if ready.ended {
                return;
            }
            let now = Instant::now();
            let mut is_ready = ready.connections.into_iter();
            self.connections.retain_mut(|connection| {
                let then = if is_ready.next() == Some(true) { connection.go_on(answer) } else { AfterReply::Waits };
                then == AfterReply::Waits && connection.deadline > now
            });
            if ready.knocks {
                self.accept(now, answer);
            }
        }
    }

    fn wait(&mut self) -> Result<ReadyConnections, Errno> {
        let now = Instant::now();
        self.deaf_until = self.deaf_until.filter(|until| *until > now);
        let knocks = if self.deaf_until.is_some() { PollFlags::empty() } else { PollFlags::IN };
        let mut waited_for = vec![PollFd::new(&self.ended, PollFlags::IN), PollFd::new(&self.listener, knocks)];
        let each = self.connections.iter();
        waited_for.extend(each.map(|connection| PollFd::new(&connection.stream, connection.interest())));
        let deadlines = self.connections.iter().map(|connection| connection.deadline).chain(self.deaf_until);
        let left = deadlines.min().map(|deadline| rounded_up(deadline.saturating_duration_since(now)));
        poll(&mut waited_for, left.as_ref())?;
        let mut is_ready = waited_for.iter().map(|one| !one.revents().is_empty());
        let ended = is_ready.next() == Some(true);
        let knocks = is_ready.next() == Some(true);
        Ok(ReadyConnections { ended, knocks, connections: is_ready.collect() })
    }

    /// Accepts all waiting connections and starts on each, since most have sent their request by now.
    fn accept(&mut self, now: Instant, answer: &dyn Fn(Method) -> Vec<u8>) {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(_) => {
                    self.deaf_until = Some(now + REST);
                    return;
                }
            };
            let Ok(mut connection) = ScrapeConnection::new(stream, self.names, now + self.longest) else { continue };
            if connection.go_on(answer) == AfterReply::Ends {
                continue;
            }
            if self.connections.len() == MOST_CONNECTIONS {
                self.connections.pop_front();
            }
            self.connections.push_back(connection);
        }
    }
}

/// True if the other side went away before it was accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

/// Rounded up, so that a deadline has passed when the wait for it ends.
fn rounded_up(left: Duration) -> Timespec {
    let left = left + Duration::from_millis(1);
    // At most ten seconds.
    Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
}

#[cfg(test)]
mod tests {
    use super::super::request;
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, SocketAddr, TcpStream};

    const LIMIT: Duration = Duration::from_secs(20);
    const REQUEST: &[u8] = b"GET /metrics HTTP/1.0\r\n\r\n";

    fn serve(text: String) -> (MetricsServer, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (MetricsServer::start(listener, move |method| request::answer(method, "text/plain", &text)).unwrap(), address)
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    fn answer(mut stream: &TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    /// True if the other side closed it, with or without having read what was sent.
    fn is_closed(mut stream: &TcpStream) -> bool {
        match stream.read(&mut [0; 1]) {
            Ok(length) => length == 0,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }

    fn ask(address: SocketAddr, request: &[u8]) -> String {
        let mut stream = connect(address);
        stream.write_all(request).unwrap();
        answer(&stream)
    }

    #[test]
    fn a_text_is_served_byte_by_byte_and_larger_than_any_buffer() {
        let large = "x".repeat(8 * 1024 * 1024);
        let (_server, address) = serve(large.clone());
        let mut slow = connect(address);
        slow.set_nodelay(true).unwrap();
        for byte in REQUEST {
            slow.write_all(&[*byte]).unwrap();
        }
        assert!(answer(&slow).ends_with(&format!("\r\n\r\n{large}")));
    }

    #[test]
    fn a_foreign_name_for_this_host_is_refused_where_only_this_host_is_served() {
        let (_server, address) = serve("served".to_owned());
        let told = ask(address, b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n");
        assert!(
            told.starts_with("HTTP/1.1 421 ") && !told.contains("served\n") && told.contains("localhost"),
            "{told}"
        );
        assert!(
            ask(address, format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).ends_with("served")
        );
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _server = MetricsServer::start(listener, |method| request::answer(method, "text/plain", "to all")).unwrap();
        let told = ask(([127, 0, 0, 1], port).into(), b"GET /metrics HTTP/1.1\r\nHost: host.example\r\n\r\n");
        assert!(told.ends_with("to all"), "{told}");
    }

    #[test]
    fn the_silent_and_the_half_asking_hold_nobody_up() {
        let (_server, address) = serve("served".to_owned());
        let silent: Vec<TcpStream> = (0..3).map(|_| connect(address)).collect();
        for mut half in &silent {
            half.write_all(&REQUEST[..5]).unwrap();
        }
        assert!(ask(address, REQUEST).ends_with("served"));
        let more: Vec<TcpStream> = (0..3 * MOST_CONNECTIONS).map(|_| connect(address)).collect();
        assert!(ask(address, REQUEST).ends_with("served"));
        // The oldest was closed without an answer.
        assert!(is_closed(&silent[0]));
        drop(more);
    }

    #[test]
    fn who_takes_too_long_is_let_go() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let large = vec![b'x'; 64 * 1024 * 1024];
        let _server = MetricsServer::start_with(listener, Duration::from_millis(20), move |_| large.clone()).unwrap();
        let mut half = connect(address);
        half.write_all(&REQUEST[..5]).unwrap();
        assert!(is_closed(&half));
        // A client never reads; a later client's answer breaks off, too, since both take too long.
        let mut unread = connect(address);
        unread.write_all(REQUEST).unwrap();
        assert!(is_closed(&connect(address)));
        let mut received = Vec::new();
        let _ = unread.read_to_end(&mut received);
        assert!(received.len() < 64 * 1024 * 1024, "the whole answer was waited for");
    }

    #[test]
    fn who_sends_more_than_is_read_still_gets_the_answer() {
        let (_server, address) = serve(String::new());
        let post = [b"POST /metrics HTTP/1.0\r\n\r\n".as_slice(), &vec![b'x'; 200_000]].concat();
        assert!(ask(address, &post).starts_with("HTTP/1.1 405 "));
        assert!(ask(address, &vec![b'x'; 20_000]).starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn who_only_stops_writing_is_answered_and_who_says_nothing_is_let_go() {
        let (_server, address) = serve("served".to_owned());
        let mut stream = connect(address);
        stream.write_all(REQUEST).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert!(answer(&stream).ends_with("served"));
        let stream = connect(address);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(answer(&stream), "");
    }

    #[test]
    fn the_port_is_closed_once_it_is_dropped() {
        let (server, address) = serve(String::new());
        let open = connect(address);
        drop(server);
        assert!(TcpStream::connect(address).is_err());
        assert!(is_closed(&open));
    }
}
