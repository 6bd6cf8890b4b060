//! URLs, variables and files of MySQL and MariaDB, by the rules of their clients. The URL overrides the file, and the
//! file overrides variables.
//!
//! Not read: the system's own option files, which name the system's own server, and encrypted ones (`.mylogin.cnf`).

use super::option_file::Options;
use super::url::Url;
use super::{Address, AddressError, Environment, choice, port};
use crate::remote::{Binding, ClientCertificate, Remote, Tls, TlsMode};
use crate::secret::Secret;
use crate::server::Endpoint;
use std::path::PathBuf;

const SCHEME: &str = "mysql";

const PARAMETERS: &[&str] = &[
    "host",
    "port",
    "socket",
    "user",
    "password",
    "database",
    "ssl-mode",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-verify-server-cert",
    "enable-cleartext-plugin",
];

/// The order in the file decides which group wins, not the order here.
const GROUPS: &[&str] = &["client", "client-mariadb", "client-server", "bakeoff"];

/// MySQL's words, and PostgreSQL's words for the same modes.
const MODES: &[(&str, TlsMode)] = &[
    ("disabled", TlsMode::Disable),
    ("preferred", TlsMode::Prefer),
    ("required", TlsMode::Require),
    ("verify_ca", TlsMode::VerifyCa),
    ("verify_identity", TlsMode::VerifyFull),
    ("disable", TlsMode::Disable),
    ("prefer", TlsMode::Prefer),
    ("require", TlsMode::Require),
    ("verify-ca", TlsMode::VerifyCa),
    ("verify-full", TlsMode::VerifyFull),
];

/// Values of a switch. An option without a value is on.
const SWITCH: &[(&str, bool)] =
    &[("", true), ("1", true), ("on", true), ("true", true), ("0", false), ("off", false), ("false", false)];

/// The path of the socket of Debian's MariaDB.
const SOCKET: &str = "/run/mysqld/mysqld.sock";
const PORT: u16 = 3306;

/// Clients ignore a file that everybody can write.
const WRITABLE_BY_ALL: u32 = 0o002;

/// The places that may give a value, in the order of precedence.
struct Given<'a> {
    url: &'a Url,
    options: Options,
    around: &'a Environment<'a>,
}

impl Given<'_> {
    fn value(&self, name: &str, part: Option<&String>, variable: &str) -> Option<String> {
        let found = self.url.parameter(name).or_else(|| part.cloned()).or_else(|| self.options.get(name));
        let found = found.or_else(|| (self.around.variable)(variable).filter(|_| !variable.is_empty()));
        found.filter(|value| !value.is_empty())
    }
}

pub fn address(url: &Url, around: &Environment<'_>) -> Result<Address, AddressError> {
    url.check_parameters(SCHEME, PARAMETERS)?;
    let mut warnings = Vec::new();
    let given = Given { url, options: options(around, &mut warnings), around };
    let written_port = given.value("port", url.port.as_ref(), "MYSQL_TCP_PORT");
    let host = host(&given, written_port.is_some());
    let port = written_port.map_or(Ok(PORT), |text| port(&text))?;
    let user = given.value("user", url.user.as_ref(), "").or_else(|| around.account.clone());
    let user = user.ok_or(AddressError::Missing { name: "the user", example: "mysql://user@host/database" })?;
    let database = given.value("database", url.database.as_ref(), "");
    let missing = AddressError::Missing { name: "the database", example: "mysql://user@host/database" };
    let database = database.ok_or(missing)?;
    let password = password(&given, &mut warnings);
    let tls = tls(&given)?;
    let remote = Remote { host, address: None, port, user, database, password, tls, own_sql: false };
    Ok(Address { endpoint: Endpoint::Mysql(remote), warnings })
}

/// `localhost` means the socket, unless a port is given. These databases' own clients do the same.
fn host(given: &Given<'_>, with_port: bool) -> String {
    let named = given.url.parameter("host").or_else(|| given.url.host.clone());
    let socket_in_url = given.url.parameter("socket");
    if let Some(socket) = socket_in_url {
        return socket;
    }
    let host = named.or_else(|| given.value("host", None, "MYSQL_HOST"));
    match host {
        Some(host) if host != "localhost" || with_port => host,
        _ => given.value("socket", None, "MYSQL_UNIX_PORT").unwrap_or_else(|| SOCKET.to_owned()),
    }
}

fn options(around: &Environment<'_>, warnings: &mut Vec<String>) -> Options {
    let Some(path) = around.home.as_ref().map(|home| home.join(".my.cnf")) else { return Options::default() };
    let Ok(file) = (around.file)(&path) else { return Options::default() };
    let path = path.display();
    if file.mode & WRITABLE_BY_ALL != 0 {
        warnings.push(format!("{path} is not used, because everybody may write it; chmod 0600 {path} mends that"));
        return Options::default();
    }
    let options = Options::read(&file.text, GROUPS);
    if options.includes {
        warnings.push(format!("{path}: the files that it includes are not read"));
    }
    options
}

fn password(given: &Given<'_>, warnings: &mut Vec<String>) -> Option<Secret> {
    let in_url = given.url.parameter("password").map(Secret::new).or_else(|| given.url.password.clone());
    if in_url.is_some() {
        warnings.push(
            "a password on the command line can be seen by everybody on this host; MYSQL_PWD or ~/.my.cnf hide it"
                .to_owned(),
        );
        return in_url;
    }
    given.value("password", None, "MYSQL_PWD").map(Secret::new)
}

fn tls(given: &Given<'_>) -> Result<Tls, AddressError> {
    let ca = given.value("ssl-ca", None, "").map(PathBuf::from);
    let certificate = given.value("ssl-cert", None, "").map(PathBuf::from);
    let key = given.value("ssl-key", None, "").map(PathBuf::from);
    // MariaDB's clients have two switches where MySQL's have a mode.
    let verifies = given.value("ssl-verify-server-cert", None, "").is_some_and(|value| value != "0");
    let mode = match given.value("ssl-mode", None, "") {
        Some(word) => choice("ssl-mode", &word.to_lowercase(), MODES)?,
        None if given.options.get("skip-ssl").is_some() => TlsMode::Disable,
        None if verifies => TlsMode::VerifyFull,
        None if ca.is_some() => TlsMode::VerifyCa,
        None => TlsMode::Prefer,
    };
    let identity = certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key });
    Ok(Tls { mode, ca, identity, binding: Binding::Disable, methods: None, clear_password: clear_password(given)? })
}

/// Takes the option of MySQL's clients. MariaDB's clients accept it, but send the password in any case.
fn clear_password(given: &Given<'_>) -> Result<bool, AddressError> {
    const NAME: &str = "enable-cleartext-plugin";
    let written = given.url.parameter(NAME).or_else(|| given.options.get(NAME));
    match written {
        Some(word) => choice(NAME, &word.to_lowercase(), SWITCH),
        // Those clients take any value with such a beginning as yes.
        None => Ok((given.around.variable)("LIBMYSQL_ENABLE_CLEARTEXT_PLUGIN")
            .is_some_and(|value| value.starts_with(['1', 'Y', 'y']))),
    }
}
