//! The answer to a request: the text at one path, and a reason for refusing everything else.
//!
//! A foreign web page may make a browser on this host send requests here, by giving its own host name an address of this
//! host. The request then carries that name. So metrics for this host only are refused to requests with a foreign name.

use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use std::net::IpAddr;

/// The only path.
pub const PATH: &str = "/metrics";

/// Which host names in a request are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostNames {
    /// Only this host's own names for itself.
    Loopback,
    Any,
}

/// `text` is only made for a request that is not refused.
pub fn answer<B>(
    request: &Request<B>,
    names: HostNames,
    content_type: &'static str,
    text: impl FnOnce() -> String,
) -> Response<String> {
    let refused = |status, why: &str| response(status, "text/plain; charset=utf-8", why.to_owned());
    let host = match host(request) {
        Ok(host) => host,
        Err(status) => return refused(status, "a request names one host\n"),
    };
    // Every browser sends a host name; a program that sends none was given the address.
    if names == HostNames::Loopback && !host.is_none_or(is_of_loopback) {
        let why = "these metrics are for this host only; ask for them at localhost, or serve them elsewhere by --metrics=ADDRESS:PORT\n";
        return refused(StatusCode::MISDIRECTED_REQUEST, why);
    }
    if request.uri().authority().is_some() || request.uri().path() != PATH {
        return refused(StatusCode::NOT_FOUND, "there is /metrics and nothing else\n");
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refusal = refused(StatusCode::METHOD_NOT_ALLOWED, "this can only be read\n");
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    response(StatusCode::OK, content_type, text())
}

/// The host name that the request carries, if any. It is an error if there is none where there must be one, or several.
fn host<B>(request: &Request<B>) -> Result<Option<&str>, StatusCode> {
    let mut names = request.headers().get_all(HOST).iter();
    match (names.next(), names.next()) {
        (None, _) if request.version() < Version::HTTP_11 => Ok(None),
        (Some(name), None) => name.to_str().map(|name| Some(name.trim())).map_err(|_| StatusCode::BAD_REQUEST),
        _ => Err(StatusCode::BAD_REQUEST),
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

fn response(status: StatusCode, content_type: &'static str, text: String) -> Response<String> {
    let mut response = Response::new(text);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(method: &str, target: &str, version: Version, hosts: &[&str], names: HostNames) -> Response<String> {
        let mut request = Request::builder().method(method).uri(target).version(version);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        answer(&request.body(()).unwrap(), names, "a/b", || "xyz".to_owned())
    }

    #[test]
    fn everything_but_the_text_is_refused_for_its_reason() {
        for (request, status) in [
            ("GET /metrics", 200),
            ("HEAD /metrics?x=%20", 200),
            ("GET /", 404),
            ("POST /elsewhere", 404),
            ("GET /metrics/", 404),
            ("GET http://127.0.0.1/metrics", 404),
            ("OPTIONS *", 404),
            ("POST /metrics", 405),
            ("OPTIONS /metrics", 405),
            ("get /metrics", 405),
        ] {
            let (method, target) = request.split_once(' ').unwrap();
            let found = of(method, target, Version::HTTP_10, &[], HostNames::Any);
            assert_eq!(found.status(), status, "{request}");
            assert_eq!(found.headers().contains_key(ALLOW), status == 405, "{request}");
            assert_eq!(found.body() == "xyz", status == 200, "{request}");
        }
    }

    #[test]
    fn a_request_has_one_host_name_at_most_and_in_http_1_1_exactly_one() {
        let status = |version, hosts: &[&str]| of("GET", PATH, version, hosts, HostNames::Any).status();
        assert_eq!(status(Version::HTTP_10, &[]), StatusCode::OK);
        assert_eq!(status(Version::HTTP_11, &["a"]), StatusCode::OK);
        for (version, hosts) in
            [(Version::HTTP_11, &[][..]), (Version::HTTP_11, &["a", "a"]), (Version::HTTP_10, &["a", "b"])]
        {
            assert_eq!(status(version, hosts), StatusCode::BAD_REQUEST, "{hosts:?}");
        }
    }

    /// Names that lead to this host for other systems are not this host's own.
    #[test]
    fn metrics_for_this_host_only_are_served_under_its_own_names_only() {
        let status = |host: &str, names| of("GET", PATH, Version::HTTP_11, &[host], names).status();
        let own = ["localhost", "LOCALHOST:9464", "localhost.", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:9464"];
        for host in own.into_iter().chain(["[::ffff:127.0.0.1]:1"]) {
            assert_eq!(status(host, HostNames::Loopback), StatusCode::OK, "{host}");
        }
        let foreign =
            ["evil.example", "evil.example:9464", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.7"];
        for host in foreign.into_iter().chain(["[2001:db8::1]:1", "::1", "127.0.0.1:", "", "127.0.0.1 evil.example"]) {
            assert_eq!(status(host, HostNames::Loopback), StatusCode::MISDIRECTED_REQUEST, "{host}");
            assert_eq!(status(host, HostNames::Any), StatusCode::OK, "{host}");
        }
        assert_eq!(of("GET", PATH, Version::HTTP_10, &[], HostNames::Loopback).status(), StatusCode::OK);
    }
}
