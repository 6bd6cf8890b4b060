//! PostgreSQL's URLs, variables and files, by the rules of libpq.
//!
//! Not supported: service files, several hosts, keywords that set server parameters, Kerberos. Unlike libpq, verifying
//! modes trust the system's certificates if no others are named.

use super::password_file::{self, WantedLine};
use super::url::Url;
use super::{Address, AddressError, Environment, choice, port, wrong_value};
use crate::remote::{Binding, ClientCertificate, LoginMethod, Remote, Tls, TlsMode};
use crate::secret::Secret;
use crate::server::Endpoint;
use std::path::{Path, PathBuf};

const SCHEME: &str = "postgres";

const PARAMETERS: &[&str] = &[
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "channel_binding",
    "require_auth",
];

const MODES: &[(&str, TlsMode)] = &[
    ("disable", TlsMode::Disable),
    ("prefer", TlsMode::Prefer),
    ("require", TlsMode::Require),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

const BINDINGS: &[(&str, Binding)] =
    &[("disable", Binding::Disable), ("prefer", Binding::Prefer), ("require", Binding::Require)];

/// libpq knows these words. `None` marks those that are not supported here.
const METHODS: &[(&str, Option<LoginMethod>)] = &[
    ("none", Some(LoginMethod::None)),
    ("password", Some(LoginMethod::Password)),
    ("md5", Some(LoginMethod::Md5)),
    ("scram-sha-256", Some(LoginMethod::ScramSha256)),
    ("gss", None),
    ("sspi", None),
    ("oauth", None),
];

/// The folder of the socket of Debian's PostgreSQL.
const SOCKET_FOLDER: &str = "/var/run/postgresql";
const PORT: u16 = 5432;

/// Access for anybody but the owner. libpq does not read passwords from a file that others can access.
const OTHERS: u32 = 0o077;

pub fn address(url: &Url, around: &Environment<'_>) -> Result<Address, AddressError> {
    url.check_parameters(SCHEME, PARAMETERS)?;
    let mut warnings = Vec::new();
    // Parameters override the other parts of the URL, and the URL overrides variables.
    let given = |name: &str, part: Option<&String>, variable: &str| {
        let found = url.parameter(name).or_else(|| part.cloned()).or_else(|| (around.variable)(variable));
        found.filter(|value| !value.is_empty())
    };
    let host = given("host", url.host.as_ref(), "PGHOST");
    let address = given("hostaddr", None, "PGHOSTADDR");
    let address = address
        .map(|text| text.parse().map_err(|_| wrong_value("hostaddr", &text, "a numeric address")))
        .transpose()?;
    let port = given("port", url.port.as_ref(), "PGPORT").map_or(Ok(PORT), |text| port(&text))?;
    let user = given("user", url.user.as_ref(), "PGUSER").or_else(|| around.account.clone());
    let user = user.ok_or(AddressError::Missing { name: "the user", example: "postgres://user@host/database" })?;
    let database = given("dbname", url.database.as_ref(), "PGDATABASE").unwrap_or_else(|| user.clone());
    let host = host.or_else(|| address.map(|address: std::net::IpAddr| address.to_string()));
    let host = host.unwrap_or_else(|| SOCKET_FOLDER.to_owned());
    if host.contains(',') {
        return Err(AddressError::SeveralHosts);
    }
    let mut remote =
        Remote { host, address, port, user, database, password: None, tls: tls(url, around)?, own_sql: false };
    remote.password = password(url, &remote, around, &mut warnings);
    Ok(Address { endpoint: Endpoint::Postgres(remote), warnings })
}

fn tls(url: &Url, around: &Environment<'_>) -> Result<Tls, AddressError> {
    let given = |name: &str, variable: &str| url.parameter(name).or_else(|| (around.variable)(variable));
    let ca = given("sslrootcert", "PGSSLROOTCERT");
    let of_system = ca.as_deref() == Some("system");
    let mode = match given("sslmode", "PGSSLMODE") {
        Some(word) => choice("sslmode", &word, MODES)?,
        // The system's authorities certify everybody, so the name must be verified too.
        None if of_system => TlsMode::VerifyFull,
        None => TlsMode::Prefer,
    };
    let ca = if of_system { None } else { ca.map(PathBuf::from).or_else(|| own_file(around, "root.crt")) };
    let certificate = given("sslcert", "PGSSLCERT").map(PathBuf::from).or_else(|| own_file(around, "postgresql.crt"));
    let key = given("sslkey", "PGSSLKEY").map(PathBuf::from).or_else(|| own_file(around, "postgresql.key"));
    let identity = certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key });
    let binding = given("channel_binding", "PGCHANNELBINDING");
    let binding = binding.map_or(Ok(Binding::Prefer), |word| choice("channel_binding", &word, BINDINGS))?;
    let required = given("require_auth", "PGREQUIREAUTH").filter(|words| !words.is_empty());
    let methods = required.as_deref().map(methods).transpose()?;
    // Only a list that names this method allows it. A list that only excludes others does not.
    let clear_password = required.is_some_and(|words| words.split(',').any(|word| word.trim() == "password"));
    Ok(Tls { mode, ca, identity, binding, methods, clear_password })
}

/// The methods of a list. If each has an exclamation mark before it, all other methods.
fn methods(words: &str) -> Result<Vec<LoginMethod>, AddressError> {
    let words: Vec<&str> = words.split(',').map(str::trim).collect();
    let unwanted: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix('!')).collect();
    if !unwanted.is_empty() && unwanted.len() < words.len() {
        return Err(wrong_value(
            "require_auth",
            &words.join(","),
            "methods all with or all without an exclamation mark",
        ));
    }
    let is_list_of_unwanted = !unwanted.is_empty();
    let named = if is_list_of_unwanted { unwanted } else { words };
    let named = named.iter().map(|word| choice("require_auth", word, METHODS)).collect::<Result<Vec<_>, _>>()?;
    let known = METHODS.iter().filter_map(|(_, method)| *method);
    Ok(known.filter(|method| named.contains(&Some(*method)) != is_list_of_unwanted).collect())
}

/// A file that the user keeps for all of PostgreSQL's programs, if it exists.
fn own_file(around: &Environment<'_>, name: &str) -> Option<PathBuf> {
    let path = around.home.as_ref()?.join(".postgresql").join(name);
    (around.file)(&path).is_ok().then_some(path)
}

fn password(url: &Url, remote: &Remote, around: &Environment<'_>, warnings: &mut Vec<String>) -> Option<Secret> {
    let written = url.parameter("password").map(Secret::new).or_else(|| url.password.clone());
    if written.is_some() {
        warnings.push(
            "a password on the command line can be seen by everybody on this host; PGPASSWORD or ~/.pgpass hide it"
                .to_owned(),
        );
        return written;
    }
    if let Some(password) = (around.variable)("PGPASSWORD").filter(|password| !password.is_empty()) {
        return Some(Secret::new(password));
    }
    let named = url.parameter("passfile").or_else(|| (around.variable)("PGPASSFILE")).map(PathBuf::from);
    let path = named.clone().or_else(|| Some(around.home.as_ref()?.join(".pgpass")))?;
    from_file(&path, named.is_some(), remote, around, warnings)
}

fn from_file(
    path: &Path,
    is_named: bool,
    remote: &Remote,
    around: &Environment<'_>,
    warnings: &mut Vec<String>,
) -> Option<Secret> {
    let file = match (around.file)(path) {
        Ok(file) => file,
        Err(error) => {
            if is_named {
                warnings.push(format!("the password file {}: {error}", path.display()));
            }
            return None;
        }
    };
    if file.mode & OTHERS != 0 {
        let path = path.display();
        warnings.push(format!("{path} is not used, because others may read it; chmod 0600 {path} mends that"));
        return None;
    }
    // libpq looks up the default socket under this name.
    let host = if remote.host == SOCKET_FOLDER { "localhost" } else { &remote.host };
    let Remote { port, database, user, .. } = remote;
    password_file::find(&file.text, &WantedLine { host, port: *port, database, user })
}
