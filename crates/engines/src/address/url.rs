//! The parts of a URL, decoded. The rules are libpq's, which are looser than those of the web.

use super::AddressError;
use crate::secret::Secret;
use std::fmt;

/// `//user:password@host:port/database?name=value&…`. Each part is decoded; an empty part is `None`.
#[derive(Default, PartialEq, Eq)]
pub struct Url {
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub host: Option<String>,
    pub port: Option<String>,
    pub database: Option<String>,
    parameters: Vec<(String, String)>,
}

impl fmt::Debug for Url {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Url(hidden)")
    }
}

impl Url {
    /// Reads the text after the scheme and its colon.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.strip_prefix("//").ok_or(AddressError::NoScheme)?;
        let (front, query) = text.split_once('?').unwrap_or((text, ""));
        let (authority, path) = front.split_once('/').unwrap_or((front, ""));
        // It splits at the last @, so an @ in a password does no harm.
        let (credentials, server) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let (host, port) = host_and_port(server)?;
        Ok(Self {
            user: part("user", user)?,
            password: part("password", password)?.map(Secret::new),
            host: part("host", host)?,
            port: (!port.is_empty()).then(|| port.to_owned()),
            database: part("database", path)?,
            parameters: parameters(query)?,
        })
    }

    /// The last value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// Refuses parameters that are not `known`.
    pub fn check_parameters(&self, scheme: &'static str, known: &[&str]) -> Result<(), AddressError> {
        check_parameters(&self.parameters, scheme, known)
    }
}

pub fn check_parameters(
    parameters: &[(String, String)],
    scheme: &'static str,
    known: &[&str],
) -> Result<(), AddressError> {
    let stray = parameters.iter().find(|(name, _)| !known.contains(&name.as_str()));
    stray.map_or(Ok(()), |(name, _)| {
        let nearest = settings::nearest(name, known.iter().copied()).map(str::to_owned);
        Err(AddressError::Parameter { scheme, name: name.clone(), known: known.join(", "), nearest })
    })
}

fn host_and_port(server: &str) -> Result<(&str, &str), AddressError> {
    if server.contains(',') {
        return Err(AddressError::SeveralHosts);
    }
    // Brackets separate the colons of an IPv6 address from the one before the port.
    if let Some(bracketed) = server.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or(AddressError::Port)?;
        let port = rest.strip_prefix(':').unwrap_or(rest);
        return Ok((host, port));
    }
    Ok(server.split_once(':').unwrap_or((server, "")))
}

pub fn parameters(query: &str) -> Result<Vec<(String, String)>, AddressError> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded("parameter", name)?, decoded("parameter", value)?))
        })
        .collect()
}

fn part(place: &'static str, text: &str) -> Result<Option<String>, AddressError> {
    Ok(Some(decoded(place, text)?).filter(|text| !text.is_empty()))
}

/// Replaces every escape such as "%2F" by the byte that it stands for.
pub fn decoded(place: &'static str, text: &str) -> Result<String, AddressError> {
    let wrong = || AddressError::Encoding { place };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>().ok_or_else(wrong)?;
        let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
        let value = high.ok_or_else(wrong)? * 16 + low.ok_or_else(wrong)?;
        bytes.push(u8::try_from(value).map_err(|_| wrong())?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}
