//! Turns what a person writes into the way to reach a server: a URL, completed from the variables and files that the
//! database's own programs read, in their order of precedence.
//!
//! It is pure: variables and files are passed in. No error repeats a part of the URL that could belong to a password.

mod mysql;
mod option_file;
mod password_file;
mod postgres;
mod sqlite;
mod url;

#[cfg(test)]
mod tests;

use crate::server::Endpoint;
use settings::Problem;
use std::io;
use std::path::{Path, PathBuf};
use url::Url;

/// The environment in which a program is started.
pub struct Environment<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    pub file: &'a dyn Fn(&Path) -> io::Result<FileText>,
    pub home: Option<PathBuf>,
    /// The user's account name here, which databases use as the default name there.
    pub account: Option<String>,
    pub memory_bytes: u64,
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    pub text: String,
    /// Who may read and write it: the lowest nine bits of its mode.
    pub mode: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Address {
    pub endpoint: Endpoint,
    /// Notes for the user: files that were not used, passwords that others can see.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("there is no database called {found:?}{}; known are {}", hint(nearest.as_ref()), SCHEMES.join(", "))]
    Scheme { found: String, nearest: Option<String> },
    #[error("a URL is expected, as in postgres://user@host:5432/database or sqlite:file.db")]
    NoScheme,
    #[error("a URL begins with the kind of database: write {meant}")]
    NoKind { meant: String },
    #[error("{scheme} has no parameter {name:?}{}; known are {known}", hint(nearest.as_ref()))]
    Parameter { scheme: &'static str, name: String, known: String, nearest: Option<String> },
    #[error("{}: {}; expected {}{}", .0.path, .0.found, .0.expected, hint(.0.nearest.as_ref()))]
    Value(Problem),
    #[error("{place}: % must be followed by two hexadecimal digits, and what it stands for must be UTF-8")]
    Encoding { place: &'static str },
    #[error("the port is no number from 1 to 65535; in a password, write : / ? # @ as %3A %2F %3F %23 %40")]
    Port,
    #[error("several hosts are named; a drive has one server")]
    SeveralHosts,
    #[error("{name} is missing; name it as in {example}")]
    Missing { name: &'static str, example: &'static str },
}

fn hint(nearest: Option<&String>) -> String {
    nearest.map(|nearest| format!("; did you mean {nearest:?}?")).unwrap_or_default()
}

const SCHEMES: [&str; 5] = ["postgres", "postgresql", "mysql", "mariadb", "sqlite"];

/// Returns how to reach the server at `url`.
pub fn parse(url: &str, around: &Environment<'_>) -> Result<Address, AddressError> {
    let Some((scheme, rest)) = url.split_once(':') else { return Err(AddressError::NoScheme) };
    match scheme {
        "sqlite" => sqlite::address(rest, around),
        "postgres" | "postgresql" => postgres::address(&Url::parse(rest)?, around),
        "mysql" | "mariadb" => mysql::address(&Url::parse(rest)?, around),
        // `host:port` without a scheme.
        _ if rest.starts_with(|letter: char| letter.is_ascii_digit()) => Err(host_and_port(url, rest)),
        _ => Err(AddressError::Scheme {
            found: scheme.to_owned(),
            nearest: settings::nearest(scheme, SCHEMES).map(str::to_owned),
        }),
    }
}

/// The error for a host with its port and no scheme. A password may stand before an @ or behind a
/// question mark; it is not repeated.
fn host_and_port(text: &str, port: &str) -> AddressError {
    let scheme = if port.starts_with("3306") { "mysql" } else { "postgres" };
    if text.contains(['@', '?']) {
        AddressError::NoScheme
    } else {
        AddressError::NoKind { meant: format!("{scheme}://{text}") }
    }
}

fn wrong_value(name: &str, found: &str, expected: &str) -> AddressError {
    AddressError::Value(problem(name, found, expected))
}

fn problem(name: &str, found: &str, expected: &str) -> Problem {
    Problem::new(name, format!("found {found:?}"), expected)
}

/// The meaning of one of these words, or an error that suggests the nearest one.
fn choice<T: Copy>(name: &str, found: &str, words: &[(&str, T)]) -> Result<T, AddressError> {
    words.iter().find(|(word, _)| *word == found).map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known = || words.iter().map(|(word, _)| *word);
        let problem = problem(name, found, &known().collect::<Vec<_>>().join(" or "));
        AddressError::Value(Problem { nearest: settings::nearest(found, known()).map(str::to_owned), ..problem })
    })
}

fn port(text: &str) -> Result<u16, AddressError> {
    text.parse().ok().filter(|port| *port > 0).ok_or(AddressError::Port)
}
