//! A server for one text over HTTP, by hyper: one thread, a few connections, and no waiting for any single one of them.
//!
//! The text is made when somebody asks; otherwise the thread sleeps in the kernel. Every answer ends its connection.

use super::address;
use super::request::{HostNames, answer};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::{select, spawn, time};

/// With this many, a new connection closes the oldest one, so that a flood cannot block anybody for long.
const MOST_CONNECTIONS: usize = 16;
/// From accepting to the end of the answer: far longer than any scraper waits.
const LONGEST: Duration = Duration::from_secs(10);
/// Without a free file descriptor, connections stay in the kernel's queue for this long.
const REST: Duration = Duration::from_secs(1);
/// Far more than the head of any scraper's request.
const MOST_HEAD_BYTES: usize = 8 * 1024;
/// How much is read after a request. Closing a connection with unread data would make the client lose the answer.
const MOST_UNHEARD_BYTES: u64 = 1024 * 1024;

/// Serves until it is dropped.
pub struct MetricsServer {
    /// Closing it ends the thread.
    alive: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The type of the text, and how to make it.
struct Served<Text> {
    names: HostNames,
    content_type: &'static str,
    text: Text,
}

impl MetricsServer {
    pub fn start(
        listener: TcpListener,
        content_type: &'static str,
        text: impl Fn() -> String + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::start_with(listener, LONGEST, content_type, text)
    }

    fn start_with(
        listener: TcpListener,
        longest: Duration,
        content_type: &'static str,
        text: impl Fn() -> String + Send + Sync + 'static,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let names = if address::is_loopback(listener.local_addr()?) { HostNames::Loopback } else { HostNames::Any };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (alive, ended) = oneshot::channel();
        let served = Arc::new(Served { names, content_type, text });
        // If it cannot serve, the run goes on: it matters more than its observers.
        let body = move || {
            runtime.block_on(async {
                select! { _ = ended => {}, _ = accept_all(listener, longest, served) => {} }
            });
        };
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

async fn accept_all<Text: Fn() -> String + Send + Sync + 'static>(
    listener: TcpListener,
    longest: Duration,
    served: Arc<Served<Text>>,
) -> io::Result<Infallible> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    // The oldest first.
    let mut connections: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            // The client went away before it was accepted.
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
            Err(_) => {
                time::sleep(REST).await;
                continue;
            }
        };
        let task = spawn(time::timeout(longest, serve(stream, Arc::clone(&served))));
        // Most have sent their request by now. So a flood ends none of them unanswered.
        tokio::task::yield_now().await;
        connections.retain(|connection| !connection.is_finished());
        if connections.len() == MOST_CONNECTIONS {
            connections.pop_front().inspect(AbortHandle::abort);
        }
        connections.push_back(task.abort_handle());
    }
}

/// Answers one request, and reads the rest of what the client sends. If the client has gone, nobody can be answered.
async fn serve<Text: Fn() -> String + Send + Sync>(stream: TcpStream, served: Arc<Served<Text>>) -> io::Result<()> {
    let Served { names, content_type, text } = &*served;
    let service =
        service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(&request, *names, content_type, text))));
    let mut http = http1::Builder::new();
    let http = http.keep_alive(false).half_close(true).max_buf_size(MOST_HEAD_BYTES);
    let mut connection = http.serve_connection(TokioIo::new(stream), service);
    // hyper itself refuses what it cannot parse.
    let _ = poll_fn(|context| connection.poll_without_shutdown(context)).await;
    let mut stream = connection.into_parts().io.into_inner();
    stream.shutdown().await?;
    copy(&mut stream.take(MOST_UNHEARD_BYTES), &mut sink()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{Shutdown, SocketAddr, TcpStream};

    const LIMIT: Duration = Duration::from_secs(20);
    const REQUEST: &[u8] = b"GET /metrics HTTP/1.0\r\n\r\n";

    fn serve(text: String) -> (MetricsServer, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (MetricsServer::start(listener, "text/plain", move || text.clone()).unwrap(), address)
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
        let _server = MetricsServer::start(listener, "text/plain", || "to all".to_owned()).unwrap();
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
        let large = move || "x".repeat(64 * 1024 * 1024);
        let _server = MetricsServer::start_with(listener, Duration::from_millis(20), "text/plain", large).unwrap();
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
        assert!(ask(address, &post).starts_with("HTTP/1.0 405 "));
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
    fn an_answer_says_how_long_it_is_and_that_it_is_the_last() {
        let (_server, address) = serve("xyz".to_owned());
        let ask = |method: &str| {
            let text = ask(address, format!("{method} /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes());
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            (head.to_lowercase(), body.to_owned())
        };
        for (method, expected) in [("GET", "xyz"), ("HEAD", "")] {
            let (head, body) = ask(method);
            assert_eq!(body, expected, "{method}");
            for field in ["content-type: text/plain", "content-length: 3", "connection: close"] {
                assert!(head.lines().any(|line| line == field), "{method}: {head}");
            }
        }
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
