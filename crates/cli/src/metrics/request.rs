//! One HTTP request and its answer, as bytes: GET and HEAD of one path, and a reason for refusing everything else.
//!
//! Pure. Every answer ends the connection, so nothing after the head of a request is read.
//!
//! A foreign web page may make a browser on this host send requests here, by giving its own host name an address of this
//! host. The request then carries that name. So metrics for this host only are refused to requests with a foreign name.

use std::net::IpAddr;

/// The only path.
pub const PATH: &str = "/metrics";
/// Far more than the head of any scraper's request.
const MOST_HEAD_BYTES: usize = 8 * 1024;
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// Which host names in a request are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostNames {
    /// Only this host's own names for itself.
    Loopback,
    Any,
}

/// The result of parsing what was received so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// The head is not complete yet.
    Part,
    Asked(Method),
    Refused(RequestRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    /// The same without the text.
    Head,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestRefusal {
    NotUnderstood,
    NoSuchPath,
    NotThisMethod,
    NotByThisName,
    TooLong,
}

pub fn received(bytes: &[u8], names: HostNames) -> Received {
    let end = bytes.windows(END_OF_HEAD.len()).position(|window| window == END_OF_HEAD);
    match end {
        Some(end) if end <= MOST_HEAD_BYTES => match asked(&bytes[..end], names) {
            Ok(method) => Received::Asked(method),
            Err(refusal) => Received::Refused(refusal),
        },
        None if bytes.len() <= MOST_HEAD_BYTES => Received::Part,
        _ => Received::Refused(RequestRefusal::TooLong),
    }
}

fn asked(head: &[u8], names: HostNames) -> Result<Method, RequestRefusal> {
    let head = std::str::from_utf8(head).map_err(|_| RequestRefusal::NotUnderstood)?;
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = first.as_slice() else { return Err(RequestRefusal::NotUnderstood) };
    let fields: Option<Vec<(&str, &str)>> = lines.map(|line| line.split_once(':').filter(is_field)).collect();
    let fields = fields.ok_or(RequestRefusal::NotUnderstood)?;
    let mut hosts = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, host)| host.trim());
    let (host, is_one) = (hosts.next(), hosts.next().is_none());
    let is_version = *version == "HTTP/1.0" || (*version == "HTTP/1.1" && host.is_some());
    if !is_version || !is_one || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(RequestRefusal::NotUnderstood);
    }
    // Every browser sends a host name; a program that sends none was given the address.
    if names == HostNames::Loopback && !host.is_none_or(is_of_loopback) {
        return Err(RequestRefusal::NotByThisName);
    }
    if target.split('?').next() != Some(PATH) {
        return Err(RequestRefusal::NoSuchPath);
    }
    match *method {
        "GET" => Ok(Method::Get),
        "HEAD" => Ok(Method::Head),
        _ => Err(RequestRefusal::NotThisMethod),
    }
}

/// `localhost`, `127.0.0.1:9464`, `[::1]`: with or without a port.
fn is_of_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    // With or without the dot that ends a fully qualified name.
    let name = name.strip_suffix('.').unwrap_or(name);
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let address: Option<IpAddr> = match inner {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    };
    name.eq_ignore_ascii_case("localhost") || address.is_some_and(|address| address.to_canonical().is_loopback())
}

/// Names of fields end directly at the colon, so that all parsers read the same.
fn is_field(field: &(&str, &str)) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !field.0.is_empty() && field.0.bytes().all(is_plain)
}

/// The answer to a request for the text.
pub fn answer(method: Method, content_type: &str, text: &str) -> Vec<u8> {
    let shown = if method == Method::Get { text } else { "" };
    response("200 OK", content_type, "", text.len(), shown)
}

pub fn refusal(refusal: RequestRefusal) -> Vec<u8> {
    let (status, fields, why) = match refusal {
        RequestRefusal::NotUnderstood => ("400 Bad Request", "", "this is no request of HTTP 1\n"),
        RequestRefusal::NoSuchPath => ("404 Not Found", "", "there is /metrics and nothing else\n"),
        RequestRefusal::NotThisMethod => ("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "this can only be read\n"),
        RequestRefusal::NotByThisName => (
            "421 Misdirected Request",
            "",
            "these metrics are for this host only; ask for them at localhost, or serve them elsewhere by --metrics=ADDRESS:PORT\n",
        ),
        RequestRefusal::TooLong => ("431 Request Header Fields Too Large", "", "the request is too long\n"),
    };
    response(status, "text/plain; charset=utf-8", fields, why.len(), why)
}

fn response(status: &str, content_type: &str, fields: &str, length: usize, text: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{fields}Connection: close\r\n\r\n"
    );
    [head.as_bytes(), text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Received {
        received(text.as_bytes(), HostNames::Any)
    }

    #[test]
    fn a_text_is_asked_for_by_get_and_head() {
        let prometheus = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9464\r\nUser-Agent: Prometheus/2.42.0\r\nAccept: \
                          application/openmetrics-text;version=1.0.0,*/*;q=0.1\r\nAccept-Encoding: gzip\r\n\r\n";
        assert_eq!(of(prometheus), Received::Asked(Method::Get));
        assert_eq!(of("HEAD /metrics?x=%20 HTTP/1.0\r\n\r\n"), Received::Asked(Method::Head));
        for cut in 0..prometheus.len() {
            assert_eq!(of(&prometheus[..cut]), Received::Part, "{cut}");
        }
    }

    #[test]
    fn everything_else_is_refused_for_its_reason() {
        use RequestRefusal::{NoSuchPath, NotThisMethod, NotUnderstood};
        for (head, refusal) in [
            ("GET / HTTP/1.0", NoSuchPath),
            ("POST /elsewhere HTTP/1.0", NoSuchPath),
            ("GET /metrics/ HTTP/1.0", NoSuchPath),
            ("GET http://127.0.0.1/metrics HTTP/1.0", NoSuchPath),
            ("POST /metrics HTTP/1.0", NotThisMethod),
            ("OPTIONS /metrics HTTP/1.0", NotThisMethod),
            ("get /metrics HTTP/1.0", NotUnderstood),
            ("GET /metrics HTTP/1.1", NotUnderstood),
            ("GET /metrics HTTP/2.0", NotUnderstood),
            ("GET /metrics", NotUnderstood),
            ("GET  /metrics HTTP/1.0", NotUnderstood),
            ("GET /metrics HTTP/1.0\r\nno field", NotUnderstood),
            ("GET /metrics HTTP/1.0\r\nfolded : x", NotUnderstood),
            ("GET /metrics HTTP/1.0\r\n: x", NotUnderstood),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\nhost: a", NotUnderstood),
            ("", NotUnderstood),
        ] {
            assert_eq!(of(&format!("{head}\r\n\r\n")), Received::Refused(refusal), "{head}");
        }
        assert_eq!(received(b"GET /\xff HTTP/1.0\r\n\r\n", HostNames::Any), Received::Refused(NotUnderstood));
    }

    /// Names that lead to this host for other systems are not this host's own.
    #[test]
    fn what_is_for_this_host_only_is_told_to_who_calls_it_so() {
        let asked =
            |host: &str, names| received(format!("GET /metrics HTTP/1.1\r\nHost:{host}\r\n\r\n").as_bytes(), names);
        let own = ["localhost", "LOCALHOST:9464", "localhost.", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:9464"];
        for host in own.into_iter().chain(["[::ffff:127.0.0.1]:1"]) {
            assert_eq!(asked(&format!(" {host} "), HostNames::Loopback), Received::Asked(Method::Get), "{host}");
        }
        let foreign =
            ["evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.7"];
        for host in foreign.into_iter().chain(["[2001:db8::1]:1", "::1", "127.0.0.1:", "", "127.0.0.1 evil.example"]) {
            assert_eq!(asked(host, HostNames::Loopback), Received::Refused(RequestRefusal::NotByThisName), "{host}");
            assert_eq!(asked(host, HostNames::Any), Received::Asked(Method::Get), "{host}");
        }
        assert_eq!(received(b"GET /metrics HTTP/1.0\r\n\r\n", HostNames::Loopback), Received::Asked(Method::Get));
        assert!(refusal(RequestRefusal::NotByThisName).starts_with(b"HTTP/1.1 421 "));
    }

    #[test]
    fn a_head_without_end_is_too_long_at_some_point() {
        let long = "GET /metrics HTTP/1.0\r\nx: ".to_owned() + &"y".repeat(MOST_HEAD_BYTES);
        assert_eq!(of(&long), Received::Refused(RequestRefusal::TooLong));
        assert_eq!(of(&format!("{long}\r\n\r\n")), Received::Refused(RequestRefusal::TooLong));
    }

    #[test]
    fn answers_say_how_long_they_are_and_that_they_are_the_last() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
        assert_eq!(text(answer(Method::Get, "a/b", "xyz")), format!("{expected}xyz"));
        assert_eq!(text(answer(Method::Head, "a/b", "xyz")), expected);
        let told = text(refusal(RequestRefusal::NotThisMethod));
        assert!(told.starts_with("HTTP/1.1 405 ") && told.contains("\r\nAllow: GET, HEAD\r\n"), "{told}");
    }
}
