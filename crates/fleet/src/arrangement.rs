//! The file that describes a fleet: where its server is, how to log in, and how its agents are started.

use machines::token::{TokenError, private_text};
use serde::Deserialize;
use std::fs::File;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An agent that has no server for this long ends.
const AWAY: Duration = Duration::from_mins(10);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arrangement {
    /// Distinguishes fleets that share a server.
    pub name: String,
    /// `nats://host:port` or `tls://host:port`; several for a cluster.
    server: Servers,
    token_file: Option<PathBuf>,
    /// A user's file, as `nsc` writes it.
    credentials: Option<PathBuf>,
    /// A file with the seed of an nkey.
    nkey: Option<PathBuf>,
    /// Who has signed the server's certificate, if the system does not know it.
    ca: Option<PathBuf>,
    /// Our own certificate, if the server wants one, and its key.
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    #[serde(default, with = "humane")]
    away: Option<Duration>,
    #[serde(default)]
    pub placement: Option<AgentStarter>,
    /// The file itself.
    #[serde(skip)]
    path: PathBuf,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Servers {
    One(String),
    Several(Vec<String>),
}

/// What starts agents.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AgentStarter {
    /// On each of these hosts, over ssh.
    Ssh {
        hosts: Vec<String>,
        #[serde(default)]
        ssh_options: Vec<String>,
    },
    /// As one job of Slurm, with a node for each agent.
    Slurm {
        nodes: u32,
        /// Further options of `sbatch`, such as a partition.
        #[serde(default)]
        options: Vec<String>,
    },
    /// As a job of Kubernetes, with a pod on each of so many nodes.
    Kubernetes {
        nodes: u32,
        /// Of the pods, as the cluster finds it.
        image: String,
        /// For each pod, whole, so that its CPUs can be its own.
        cpus: u32,
        /// In the cluster's words, such as 8Gi.
        memory: String,
        /// May they do what root on the node may?
        #[serde(default)]
        privileged: bool,
        /// The cluster ends them after this.
        #[serde(default, with = "humane")]
        deadline: Option<Duration>,
    },
}

mod humane {
    use serde::{Deserialize, Deserializer, de::Error};
    use std::time::Duration;

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = String::deserialize(from)?;
        humantime::parse_duration(&text).map(Some).map_err(D::Error::custom)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ArrangementError {
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: {}", .path.display(), .source.to_string().trim_end())]
    Form { path: PathBuf, source: toml::de::Error },
    #[error("{}: {why}", .path.display())]
    Wrong { path: PathBuf, why: String },
    #[error(transparent)]
    Secret(#[from] TokenError),
}

/// What proves to the server who we are.
pub(crate) enum Login {
    Nobody,
    Token(String),
    Credentials { path: PathBuf, text: String },
    Nkey(String),
}

impl Arrangement {
    pub fn read(path: &Path) -> Result<Self, ArrangementError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ArrangementError::Io { path: path.to_owned(), source })?;
        let read: Self =
            toml::from_str(&text).map_err(|source| ArrangementError::Form { path: path.to_owned(), source })?;
        // It is found again when the folder has changed.
        let path =
            std::path::absolute(path).map_err(|source| ArrangementError::Io { path: path.to_owned(), source })?;
        let read = Self { path, ..read };
        read.problem().map_or(Ok(()), |why| Err(read.wrong(why)))?;
        Ok(read)
    }

    fn wrong(&self, why: String) -> ArrangementError {
        ArrangementError::Wrong { path: self.path.clone(), why }
    }

    fn problem(&self) -> Option<String> {
        let is_word = |word: char| word.is_ascii_alphanumeric() || word == '-' || word == '_';
        if self.name.is_empty() || !self.name.chars().all(is_word) {
            return Some(format!("name is \"{}\"; use letters, digits, - and _", self.name));
        }
        let servers = self.servers();
        if servers.is_empty() {
            return Some("server is empty".to_owned());
        }
        if let Some(server) =
            servers.iter().find(|server| !server.starts_with("nats://") && !server.starts_with("tls://"))
        {
            return Some(format!("server is \"{server}\"; it begins with nats:// or tls://"));
        }
        if servers.iter().any(|server| server.contains('@')) {
            return Some("server contains a login; name a file instead: token_file, credentials or nkey".to_owned());
        }
        let logins = [&self.token_file, &self.credentials, &self.nkey];
        if logins.into_iter().flatten().count() > 1 {
            return Some("give one of token_file, credentials and nkey".to_owned());
        }
        if self.certificate.is_some() != self.key.is_some() {
            return Some("certificate and key are given together".to_owned());
        }
        let is_anybodys = self.certificate.is_none() && logins.into_iter().all(Option::is_none);
        if let Some(server) = servers.iter().find(|server| is_anybodys && !is_loopback(server)) {
            return Some(format!(
                "any program that reaches {server} could run commands on every host of the fleet; give token_file, credentials or nkey"
            ));
        }
        match &self.placement {
            Some(AgentStarter::Ssh { hosts, .. }) if hosts.is_empty() => Some("placement.hosts is empty".to_owned()),
            Some(AgentStarter::Slurm { nodes: 0, .. } | AgentStarter::Kubernetes { nodes: 0, .. }) => {
                Some("placement.nodes is 0".to_owned())
            }
            Some(AgentStarter::Kubernetes { cpus: 0, .. }) => Some("placement.cpus is 0".to_owned()),
            _ => None,
        }
    }

    pub(crate) fn servers(&self) -> Vec<String> {
        match &self.server {
            Servers::One(one) => vec![one.clone()],
            Servers::Several(several) => several.clone(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Files that an agent needs besides, by the keys that name them.
    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let named = [
            ("token_file", &self.token_file),
            ("credentials", &self.credentials),
            ("nkey", &self.nkey),
            ("ca", &self.ca),
            ("certificate", &self.certificate),
            ("key", &self.key),
        ];
        named.into_iter().filter_map(|(key, file)| Some((key, self.beside(file.as_ref()?)))).collect()
    }

    /// Names in the file are relative to its folder.
    fn beside(&self, name: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("/")).join(name)
    }

    pub(crate) fn login(&self) -> Result<Login, ArrangementError> {
        let text = |file: &PathBuf| private_text(&self.beside(file));
        let secret = |file: &PathBuf| text(file).map(|text| text.trim().to_owned());
        Ok(match (&self.token_file, &self.credentials, &self.nkey) {
            (Some(file), _, _) => Login::Token(secret(file)?),
            (_, Some(file), _) => Login::Credentials { path: self.beside(file), text: text(file)? },
            (_, _, Some(file)) => Login::Nkey(secret(file)?),
            _ => Login::Nobody,
        })
    }

    pub(crate) fn ca(&self) -> Result<Option<PathBuf>, ArrangementError> {
        self.ca.as_ref().map(|file| self.readable(file)).transpose()
    }

    pub(crate) fn certificate(&self) -> Result<Option<(PathBuf, PathBuf)>, ArrangementError> {
        let both = self.certificate.as_ref().zip(self.key.as_ref());
        both.map(|(file, key)| Ok((self.readable(file)?, self.readable(key)?))).transpose()
    }

    /// A file that another program will read, which would not say which one it could not.
    fn readable(&self, name: &Path) -> Result<PathBuf, ArrangementError> {
        let path = self.beside(name);
        match File::open(&path) {
            Ok(_) => Ok(path),
            Err(source) => Err(ArrangementError::Io { path, source }),
        }
    }

    /// An agent that has no server for this long ends.
    pub fn away(&self) -> Duration {
        self.away.unwrap_or(AWAY)
    }
}

/// Whether only programs of this host reach the server.
fn is_loopback(server: &str) -> bool {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_this_host_are_known() {
        for server in ["nats://127.0.0.1:4222", "nats://127.8.0.1", "tls://localhost:4222", "nats://[::1]:4222"] {
            assert!(is_loopback(server), "{server}");
        }
        for server in
            ["nats://10.0.0.1:4222", "tls://localhost.lab", "nats://[fe80::1]:4222", "nats://0.0.0.0:4222", "nats://"]
        {
            assert!(!is_loopback(server), "{server}");
        }
    }

    fn told(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let error = Arrangement::read(file.path()).unwrap_err().to_string();
        error.replace(&file.path().display().to_string(), "lab.toml")
    }

    #[test]
    fn what_is_wrong_is_told_with_its_file() {
        let server = "server = \"nats://127.0.0.1:4222\"\n";
        assert!(told("name = \"lab\"\nsever = \"x\"\n").contains("unknown field `sever`"));
        assert!(told("name = \"lab\"\n").contains("missing field `server`"));
        let cases = [
            (format!("name = \"a.b\"\n{server}"), "name is \"a.b\"; use letters, digits, - and _"),
            (
                "name = \"lab\"\nserver = \"10.0.0.1\"".to_owned(),
                "server is \"10.0.0.1\"; it begins with nats:// or tls://",
            ),
            (
                "name = \"lab\"\nserver = \"nats://me:secret@host\"".to_owned(),
                "server contains a login; name a file instead: token_file, credentials or nkey",
            ),
            (
                format!("name = \"lab\"\n{server}nkey = \"a\"\ntoken_file = \"b\""),
                "give one of token_file, credentials and nkey",
            ),
            (format!("name = \"lab\"\n{server}key = \"a\""), "certificate and key are given together"),
            (
                "name = \"lab\"\nserver = [\"nats://127.0.0.1:4222\", \"tls://10.0.0.1:4222\"]".to_owned(),
                "any program that reaches tls://10.0.0.1:4222 could run commands on every host of the fleet; give token_file, \
                 credentials or nkey",
            ),
            (format!("name = \"lab\"\n{server}[placement]\nkind = \"ssh\"\nhosts = []"), "placement.hosts is empty"),
        ];
        for (text, expected) in cases {
            assert_eq!(told(&text), format!("lab.toml: {expected}"));
        }
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lab.toml");
        std::fs::write(&file, "name = \"lab\"\nserver = \"nats://h\"\ntoken_file = \"token\"\n").unwrap();
        std::fs::write(folder.path().join("token"), "secret\n").unwrap();
        let arrangement = Arrangement::read(&file).unwrap();
        assert!(arrangement.login().is_err());
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(folder.path().join("token"), mode).unwrap();
        assert!(matches!(arrangement.login(), Ok(Login::Token(token)) if token == "secret"));
    }
}
